//! Sends deliveries to their receivers.
//!
//! Of several processes, one sends to a receiver at a time: it holds a lease. Deliveries about one subject are sent one
//! after another, those about different subjects a few at a time. A receiver that does not answer is asked again after a
//! while with one delivery, whatever else waits for it; one that refuses a message holds back only the subject of that. A
//! digest is one message about many deliveries, which have one fate.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use tokio::runtime::Handle;
use tokio::time::sleep;
use tracing::{info, warn};
use ureq::Agent;

use super::fan_out::Waited;
use super::mail::{self, Mailer, Untaken};
use super::message::Message;
use super::outcome::{Outcome, after, cut, ended, pause};
use super::page::Pages;
use super::receiver::{agent, send};
use super::round::{HandOver, Round, Threads};
use super::{Wanted, digest, fan_out, message, note_expiring_tokens, overdue, page_of, signature};
use crate::api_document::hosts::Hosts;
use crate::db::{self, Db, Read, Transaction, Write};
use crate::entity::event::Kind;
use crate::entity::event_delivery::{self as delivery, Due, Model as Delivery};
use crate::entity::event_receiver::{self as receiver, Model as Receiver};
use crate::entity::event_subscription::{self as subscription, Form, Model as Subscription};
use crate::entity::{ByIds, Timestamp, event, known};

pub use super::outcome::{GIVEN_UP_AFTER, LONGEST_PAUSE};
pub use super::round::{AT_ONCE, MOST_AT_ONCE};

/// The pause when there is nothing to do.
const PAUSE: Duration = Duration::from_millis(500);
/// The pause after some events, so that those of many changes are read together.
const GATHERING: Duration = Duration::from_millis(250);
/// The number of deliveries that are taken at once.
const BATCH: u64 = 100;
/// How long a process may take for these: a second until the last one is begun, its
/// [`TIMEOUT`](super::receiver::TIMEOUT), and as long again until others make [place](super::mail::PLACE) and to store the
/// result.
const LEASE: Duration = Duration::from_secs(30);
/// How many deliveries are removed at once.
const PRUNED: u64 = 500;
/// How often old events, tokens that expire and issues that are overdue are looked for.
pub const LOOK: Duration = Duration::from_secs(300);
/// How long a critical code issue is open before it is overdue, unless the settings say otherwise: 30 days.
pub const OVERDUE_AFTER: Duration = Duration::from_secs(30 * 86_400);
/// Why mail waits that was subscribed to while there was a mail server.
const NO_SERVER: &str = "this server sends no mail any more: --smtp-url is not set";

/// What a server needs to send events.
#[derive(Clone)]
pub struct Sender {
    db: Db,
    wanted: Wanted,
    agent: Agent,
    threads: Arc<Threads>,
    mail: Option<Mailer>,
    app_url: Arc<str>,
    /// Tells this process from others.
    process: Arc<str>,
    /// The receivers to which something is sent at the moment.
    busy: Arc<Mutex<HashSet<i64>>>,
    /// How long a critical code issue is open before it is overdue.
    overdue_after: Duration,
}

impl Sender {
    /// Sends to public hosts, and to those that may be `private`.
    pub fn new(db: Db, wanted: Wanted, private: &Hosts, app_url: &str) -> Self {
        let process = format!("{:032x}", fastrand::u128(..)).into();
        let (agent, threads, app_url, busy) = (agent(private), Arc::default(), app_url.into(), Arc::default());
        Self { db, wanted, agent, threads, mail: None, app_url, process, busy, overdue_after: OVERDUE_AFTER }
    }

    /// Sends mail by this server, if there is one.
    pub fn with_mail(self, mail: Option<Mailer>) -> Self {
        Self { mail, ..self }
    }

    /// Tells of critical code issues that are open for longer than this.
    pub fn overdue_after(self, overdue_after: Duration) -> Self {
        Self { overdue_after, ..self }
    }

    /// What somebody wants to know of changes.
    pub fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    /// Makes out deliveries and sends them, again and again. Runs until dropped, which is safe at any await: what was being
    /// sent is sent again.
    pub fn run(self) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let (mut is_failing, mut looked) = (false, None::<Instant>);
            loop {
                if looked.is_none_or(|looked| looked.elapsed() >= LOOK) {
                    looked = Some(Instant::now());
                    if let Err(error) = self.look_round().await {
                        warn!(%error, "old events, tokens that expire and overdue issues cannot be looked for; trying again");
                    }
                }
                match self.turn().await {
                    Ok(Waited::None) => sleep(PAUSE).await,
                    Ok(Waited::Some) => sleep(GATHERING).await,
                    Ok(Waited::More) => {}
                    Err(error) => {
                        if !is_failing {
                            warn!(%error, "events cannot be read; trying again");
                        }
                        is_failing = true;
                        sleep(PAUSE * 4).await;
                        continue;
                    }
                }
                is_failing = false;
            }
        })
    }

    /// Removes events that nobody needs, because their subscription was deleted, and finds tokens that expire soon and issues
    /// that are overdue.
    async fn look_round(&self) -> Result<(), db::Error> {
        self.wanted.read(self.db.read()).await?;
        self.db
            .write(async |tx| {
                event::sweep(tx).await?;
                note_expiring_tokens(tx, &self.wanted).await
            })
            .await?;
        overdue::note(&self.db, &self.wanted, self.overdue_after).await
    }

    /// Makes out the next deliveries, and begins to send what is due. Returns which events waited.
    async fn turn(&self) -> Result<Waited, db::Error> {
        self.wanted.read(self.db.read()).await?;
        let events = fan_out::next(&self.db).await?;
        if self.wanted.is_none() {
            return Ok(events);
        }
        for receiver in self.due().await? {
            if self.busy().insert(receiver.id) {
                let sender = self.clone();
                tokio::spawn(async move {
                    let _busy = Busy { of: &sender, id: receiver.id };
                    if let Err(error) = sender.serve(&receiver).await {
                        warn!(%error, subscription = receiver.subscription_id, "events cannot be sent; trying again");
                    }
                });
            }
        }
        Ok(events)
    }

    fn busy(&self) -> std::sync::MutexGuard<'_, HashSet<i64>> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The receivers for which something waits, and which may be tried now.
    async fn due(&self) -> Result<Vec<Receiver>, db::Error> {
        use receiver::Column::{Id, RetryAt, SubscriptionId};
        let now = Timestamp::now();
        let own = || Expr::col((receiver::Entity, SubscriptionId));
        let enabled = Query::select()
            .expr(Expr::value(1))
            .from(subscription::Entity)
            .and_where(own().equals((subscription::Entity, subscription::Column::Id)))
            .and_where(subscription::Column::Enabled.eq(true))
            .and_where(known::<Form>(subscription::Column::Form))
            .take();
        let waiting = Query::select()
            .expr(Expr::value(1))
            .from(delivery::Entity)
            .and_where(own().equals((delivery::Entity, delivery::Column::SubscriptionId)))
            .and_where(delivery::Column::NextAt.lte(now))
            .and_where(known::<Kind>(delivery::Column::Kind))
            .take();
        let due = receiver::Entity::find()
            .filter(RetryAt.is_null().or(RetryAt.lte(now)))
            .filter(Expr::exists(enabled))
            .filter(Expr::exists(waiting))
            .order_by_asc(Id);
        self.db.read().all(due).await
    }

    /// Sends what is due to a receiver, unless another process does.
    async fn serve(&self, receiver: &Receiver) -> Result<(), db::Error> {
        let id = receiver.id;
        if self.db.is_shared() {
            let (now, until) = (Timestamp::now(), after(LEASE));
            let leased = self.db.write(async |tx| receiver::lease(tx, id, &self.process, now, until).await).await?;
            if !leased {
                return Ok(());
            }
        }
        while self.batch(receiver.subscription_id).await? {}
        if self.db.is_shared() {
            self.db.write(async |tx| receiver::release(tx, id, &self.process).await).await?;
        }
        Ok(())
    }

    /// Sends some deliveries. Returns whether there may be more that are due.
    async fn batch(&self, subscription: i64) -> Result<bool, db::Error> {
        let db = self.db.read();
        let own = subscription::Entity::find_by_id(subscription).filter(subscription::Column::Enabled.eq(true));
        let (Some(own), Some(receiver)) = (db.one(own).await?, receiver::of_subscription(db, subscription).await?)
        else {
            return Ok(false);
        };
        if let Some(is_taken) = self.digest(&own, &receiver).await? {
            return Ok(is_taken);
        }
        // One that has failed is tried with one message.
        let most = if receiver.failures > 0 { 1 } else { BATCH };
        let Due { subjects, delayed, is_full } = delivery::due(db, subscription, Timestamp::now(), most).await?;
        if subjects.is_empty() && delayed.is_empty() {
            return Ok(false);
        }
        let number: usize = subjects.iter().map(Vec::len).sum();
        let (outcomes, is_down) = self.send_all(&own, &receiver, subjects).await?;
        self.db
            .write(async |tx| {
                let now = Timestamp::now();
                for delayed in &delayed {
                    delivery::hold_back(tx, delayed).await?;
                }
                store(tx, &outcomes, now).await?;
                let outcomes: Vec<&Outcome> = outcomes.iter().map(|(_, outcome)| outcome).collect();
                self.note(tx, &receiver, &outcomes).await?;
                prune(tx, own.id).await
            })
            .await?;
        let is_taken = |(_, outcome): &(Delivery, Outcome)| matches!(outcome, Outcome::Taken(_));
        let is_left = outcomes.len() < number && outcomes.iter().any(is_taken);
        Ok(!is_down && (is_full || !delayed.is_empty() || is_left))
    }

    /// Sends these deliveries: those of a subject one after another, until one is not taken. Returns what became of them,
    /// and whether the receiver is down.
    async fn send_all(
        &self,
        own: &Subscription,
        receiver: &Receiver,
        subjects: Vec<Vec<Delivery>>,
    ) -> Result<(Vec<(Delivery, Outcome)>, bool), db::Error> {
        let ids = subjects.iter().flatten().map(|one| Some(one.event_id));
        let events = event::Entity::by_ids(self.db.read(), ids).await?;
        let pages = Pages::find(self.db.read(), &self.app_url, &events.iter().flatten().collect::<Vec<_>>()).await?;
        let mut events = events.into_iter();
        let subjects = subjects.into_iter().map(|subject| {
            let events = events.by_ref().take(subject.len()).collect::<Vec<_>>();
            subject.into_iter().zip(events).filter_map(|(delivery, event)| Some((delivery, event?))).collect()
        });
        let at_once = if own.form == Form::Email { mail::OF_SUBSCRIPTION } else { AT_ONCE };
        let hand_over = self.hand_over(own, receiver);
        Ok(Round::new(own.form, pages, subjects.collect(), hand_over).run(&self.threads, at_once).await)
    }

    /// Sends the oldest digest that is due, if there is one. Returns whether it was taken.
    async fn digest(&self, own: &Subscription, receiver: &Receiver) -> Result<Option<bool>, db::Error> {
        let (db, id, now) = (self.db.read(), own.id, Timestamp::now());
        let Some(at) = delivery::digest_due(db, id, now).await? else { return Ok(None) };
        if !own.form.is_for_people() {
            self.db.write(async |tx| delivery::scatter(tx, id, now).await).await?;
            return Ok(Some(true));
        }
        let collected = delivery::collected(db, id, at, now).await?;
        let (Some(first), Some(last)) = (collected.first(), collected.last()) else { return Ok(None) };
        let (attempts, ids) = (first.attempts, [first.id, last.id]);
        let message = digest::message(db, own, collected, &self.app_url).await?;
        let hand_over = self.hand_over(own, receiver);
        let handed_over = self.threads.run(move || hand_over(message)).await;
        let Some(outcome) = handed_over.unwrap_or_else(|error| Some(Outcome::down(error))) else {
            return Ok(Some(false));
        };
        self.db
            .write(async |tx| {
                let told = ended(&outcome, attempts, at, Timestamp::now())
                    .filter(delivery::of_digests(id, now))
                    .filter(delivery::Column::DigestAt.eq(at))
                    .filter(delivery::Column::Id.between(ids[0], ids[1]));
                tx.exec(told).await?;
                self.note(tx, receiver, &[&outcome]).await
            })
            .await?;
        // As many have ended at once as can wait.
        while self.db.write(async |tx| prune(tx, id).await).await? {}
        Ok(Some(matches!(outcome, Outcome::Taken(_))))
    }

    /// What sends a message, as its form is sent, and waits for what becomes of it: `None` if it was not offered to the receiver.
    fn hand_over(&self, own: &Subscription, receiver: &Receiver) -> HandOver {
        let (sender, own, receiver, runtime) = (self.clone(), own.clone(), receiver.clone(), Handle::current());
        Box::new(move |message| match (&own.email, own.form) {
            (Some(to), Form::Email) => runtime.block_on(sender.mail(&own, to, message)),
            _ => Some(sender.post(&receiver, &message)),
        })
    }

    async fn mail(&self, own: &Subscription, to: &str, message: Message) -> Option<Outcome> {
        let Some(mail) = &self.mail else {
            return Some(Outcome::down(NO_SERVER));
        };
        let footer = format!(
            "\n-- \nYou get this because the subscription \"{}\" of the service catalogue sends events to this address. \
             Whoever may change the subscription can change or delete it:\n{}\n",
            message::plain(Form::Email)(&own.name),
            page_of(&self.app_url, own.id)
        );
        let message = Message { body: message.body + &footer, ..message };
        match mail.send(own, to, &message, &self.app_url).await {
            Ok(status) => Some(Outcome::Taken(status)),
            Err(Untaken::Refused { status, error }) => Some(Outcome::Refused { status, error }),
            Err(Untaken::Down { status, error }) => Some(Outcome::Down { status, error, after: None }),
            Err(Untaken::Untried) => None,
        }
    }

    /// Posts a message, and waits for the response.
    fn post(&self, receiver: &Receiver, message: &Message) -> Outcome {
        let now = Timestamp::now();
        let seconds = now.as_micros() / 1_000_000;
        let signature = signature::header(receiver, &message.id, seconds, &message.body, now);
        let seconds = seconds.to_string();
        let headers = [
            ("content-type", message.content_type),
            ("webhook-id", &*message.id),
            ("webhook-timestamp", &*seconds),
            ("webhook-signature", &*signature),
        ];
        match send(&self.agent, &receiver.url, &headers, &message.body) {
            Ok(response) => Outcome::from(response),
            Err(error) => Outcome::down(&error),
        }
    }

    /// Stores how the receiver does.
    async fn note(&self, tx: &Transaction, receiver: &Receiver, outcomes: &[&Outcome]) -> Result<(), db::Error> {
        let now = Timestamp::now();
        use receiver::Column::{DeliveredAt, Error, Failures, Id, LeasedUntil, RetryAt};
        let mut update = receiver::Entity::update_many().filter(Id.eq(receiver.id));
        let failed = outcomes.iter().find_map(|outcome| match outcome {
            Outcome::Down { error, after, .. } => Some((error, after)),
            _ => None,
        });
        if let Some((error, after_it)) = failed {
            let failures = receiver.failures.saturating_add(1);
            let pause = after_it.unwrap_or_else(|| pause(failures)).min(LONGEST_PAUSE);
            info!(subscription = receiver.subscription_id, error, "a receiver of events failed");
            update = update
                .col_expr(Failures, Expr::value(failures))
                .col_expr(RetryAt, Expr::value(after(pause)))
                .col_expr(Error, Expr::value(cut(error)));
        } else if outcomes.iter().any(|outcome| matches!(outcome, Outcome::Taken(_))) {
            update = update
                .col_expr(Failures, Expr::value(0))
                .col_expr(RetryAt, Expr::value(None::<i64>))
                .col_expr(Error, Expr::value(None::<String>))
                .col_expr(DeliveredAt, Expr::value(now));
        } else if let Some(Outcome::Refused { error, .. }) = outcomes.first() {
            update = update
                .col_expr(Failures, Expr::value(0))
                .col_expr(RetryAt, Expr::value(None::<i64>))
                .col_expr(Error, Expr::value(cut(error)));
        } else {
            return Ok(());
        }
        if self.db.is_shared() {
            update = update.col_expr(LeasedUntil, Expr::value(after(LEASE)));
        }
        tx.exec(update).await.map(drop)
    }
}

/// Stores what became of these deliveries. Those that were taken with one status are one statement.
async fn store(tx: &Transaction, outcomes: &[(Delivery, Outcome)], now: Timestamp) -> Result<(), db::Error> {
    let mut taken = BTreeMap::<u16, Vec<i64>>::new();
    for (sent, outcome) in outcomes {
        match outcome {
            Outcome::Taken(status) => taken.entry(*status).or_default().push(sent.id),
            _ => {
                let update = ended(outcome, sent.attempts, sent.created_at, now);
                tx.exec(update.filter(delivery::Column::Id.eq(sent.id))).await?;
            }
        }
    }
    for (status, ids) in taken {
        let update = ended(&Outcome::Taken(status), 0, now, now);
        tx.exec(update.filter(db::any(tx, delivery::Column::Id, &ids))).await?;
    }
    Ok(())
}

/// Removes old deliveries that have ended, and their events. Returns whether there may be more of them.
async fn prune(tx: &Transaction, subscription: i64) -> Result<bool, db::Error> {
    let events = delivery::prune(tx, subscription, PRUNED).await?;
    if !events.is_empty() {
        event::forget(tx, &events).await?;
    }
    Ok(events.len() as u64 == PRUNED)
}

/// A receiver to which something is being sent.
struct Busy<'s> {
    of: &'s Sender,
    id: i64,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.of.busy().remove(&self.id);
    }
}
