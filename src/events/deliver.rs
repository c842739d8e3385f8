//! Sends deliveries to their receivers.
//!
//! Of several processes, one sends to a receiver at a time: it holds a lease. Deliveries about one subject are sent one
//! after another, those about different subjects a few at a time. A receiver that does not answer is asked again after a
//! while with one delivery, whatever else waits for it; one that refuses a message holds back only the subject of that.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::stream::{FuturesOrdered, StreamExt};
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use tokio::time::sleep;
use tracing::{info, warn};
use ureq::Agent;

use super::receiver::{Response, TIMEOUT, agent, send};
use super::{Wanted, fan_out, message, note_expiring_tokens, signature};
use crate::api_document::hosts::Hosts;
use crate::db::{self, Db, Read, Transaction, Write};
use crate::entity::event_delivery::{self as delivery, Model as Delivery, State};
use crate::entity::event_receiver::{self as receiver, Model as Receiver};
use crate::entity::event_subscription::{self as subscription, Model as Subscription};
use crate::entity::{ByIds, Timestamp, event};

/// How long a message is sent again before it is given up.
pub const GIVEN_UP_AFTER: Duration = Duration::from_secs(3 * 86_400);

/// How many messages are sent to a receiver at a time.
pub const AT_ONCE: usize = 2;

/// The longest pause before a receiver that does not answer is tried again, or a message that it refuses.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// The pause when there is nothing to do.
const PAUSE: Duration = Duration::from_millis(500);
/// The pause after the first failure. Each next one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The number of deliveries that are taken at once.
const BATCH: u64 = 20;
/// How long a process may take for these: [`TIMEOUT`] until the last one is begun, as long again for its response, and as
/// long again to store the result.
const LEASE: Duration = Duration::from_secs(30);
/// How many deliveries are removed at once.
const PRUNED: u64 = 500;
/// After how many turns old events and tokens that expire are looked for: every five minutes, if nothing happens.
const SWEEP: u32 = 600;
/// The longest error that is stored, in characters.
const ERROR: usize = 300;

/// What a server needs to send events.
#[derive(Clone)]
pub struct Sender {
    db: Db,
    wanted: Wanted,
    agent: Agent,
    app_url: Arc<str>,
    /// Tells this process from others.
    process: Arc<str>,
    /// The receivers to which something is sent at the moment.
    busy: Arc<Mutex<HashSet<i64>>>,
}

impl Sender {
    /// Sends to public hosts, and to those that may be `private`.
    pub fn new(db: Db, wanted: Wanted, private: &Hosts, app_url: &str) -> Self {
        let process = format!("{:032x}", fastrand::u128(..)).into();
        Self { db, wanted, agent: agent(private), app_url: app_url.into(), process, busy: Arc::default() }
    }

    /// What somebody wants to know of changes.
    pub fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    /// Makes out deliveries and sends them, again and again. Runs until dropped, which is safe at any await: what was being
    /// sent is sent again.
    pub async fn run(self) {
        let (mut is_failing, mut turns) = (false, 0_u32);
        loop {
            if turns.is_multiple_of(SWEEP)
                && let Err(error) = self.look_round().await
            {
                warn!(%error, "old events and tokens that expire cannot be looked for; trying again");
            }
            turns = turns.wrapping_add(1);
            match self.turn().await {
                Ok(0) => sleep(PAUSE).await,
                Ok(_) => {}
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
    }

    /// Removes events that nobody needs, because their subscription was deleted, and finds tokens that expire soon.
    async fn look_round(&self) -> Result<(), db::Error> {
        self.wanted.read(self.db.read()).await?;
        self.db
            .write(async |tx| {
                event::sweep(tx).await?;
                note_expiring_tokens(tx, &self.wanted).await
            })
            .await
    }

    /// Makes out the next deliveries, and begins to send what is due. Returns the number of events.
    async fn turn(&self) -> Result<u64, db::Error> {
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
            .take();
        let waiting = Query::select()
            .expr(Expr::value(1))
            .from(delivery::Entity)
            .and_where(own().equals((delivery::Entity, delivery::Column::SubscriptionId)))
            .and_where(delivery::Column::NextAt.lte(now))
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
        let (Some(own), Some(receiver)) = (db.one(own).await?, receiver::of(db, subscription).await?) else {
            return Ok(false);
        };
        // One that has failed is tried with one message.
        let most = if receiver.failures > 0 { 1 } else { BATCH };
        let due = delivery::due(db, subscription, Timestamp::now(), most).await?;
        if due.is_empty() {
            return Ok(false);
        }
        let is_full = due.len() as u64 == most;
        let events = event::Entity::by_ids(db, due.iter().map(|one| Some(one.event_id))).await?;
        let mut left = due.into_iter().zip(events).filter_map(|(delivery, event)| Some((delivery, event?)));
        let (begun, mut is_down, mut outcomes) = (Instant::now(), false, Vec::new());
        let mut sent = FuturesOrdered::new();
        loop {
            // Nothing more is begun after a failure, nor so late that the lease could end before the response.
            while sent.len() < AT_ONCE && !is_down && begun.elapsed() < TIMEOUT {
                let Some((delivery, event)) = left.next() else { break };
                sent.push_back(self.send(&own, &receiver, delivery, event));
            }
            let Some((delivery, outcome)) = sent.next().await else { break };
            is_down |= matches!(outcome, Outcome::Down { .. });
            outcomes.push((delivery, outcome));
        }
        self.db.write(async |tx| self.store(tx, &receiver, &outcomes).await).await?;
        let is_taken = |(_, outcome): &(Delivery, Outcome)| matches!(outcome, Outcome::Taken(_));
        Ok(!is_down && (is_full || outcomes.iter().any(is_taken)))
    }

    /// Sends a delivery.
    async fn send(
        &self,
        own: &Subscription,
        receiver: &Receiver,
        delivery: Delivery,
        event: event::Model,
    ) -> (Delivery, Outcome) {
        let message = message::of(&event, delivery.kind, own.form, &self.app_url);
        let now = Timestamp::now();
        let seconds = now.as_micros() / 1_000_000;
        let signature = signature::header(receiver, &message.id, seconds, &message.body, now);
        let (agent, url) = (self.agent.clone(), receiver.url.clone());
        let sent = tokio::task::spawn_blocking(move || {
            let seconds = seconds.to_string();
            let headers = [
                ("content-type", message.content_type),
                ("webhook-id", &*message.id),
                ("webhook-timestamp", &*seconds),
                ("webhook-signature", &*signature),
            ];
            send(&agent, &url, &headers, &message.body)
        });
        let outcome = match sent.await {
            Ok(Ok(response)) => Outcome::of(response),
            Ok(Err(error)) => Outcome::Down { status: None, error, after: None },
            Err(_) => Outcome::Down { status: None, error: "the sender panicked".to_owned(), after: None },
        };
        (delivery, outcome)
    }

    /// Stores what became of deliveries.
    async fn store(
        &self,
        tx: &Transaction,
        receiver: &Receiver,
        outcomes: &[(Delivery, Outcome)],
    ) -> Result<(), db::Error> {
        let now = Timestamp::now();
        for (sent, outcome) in outcomes {
            store_one(tx, sent, outcome, now).await?;
        }
        use receiver::Column::{DeliveredAt, Error, Failures, Id, LeasedUntil, RetryAt};
        let mut update = receiver::Entity::update_many().filter(Id.eq(receiver.id));
        let failed = outcomes.iter().find_map(|(_, outcome)| match outcome {
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
        } else if outcomes.iter().any(|(_, outcome)| matches!(outcome, Outcome::Taken(_))) {
            update = update
                .col_expr(Failures, Expr::value(0))
                .col_expr(RetryAt, Expr::value(None::<i64>))
                .col_expr(Error, Expr::value(None::<String>))
                .col_expr(DeliveredAt, Expr::value(now));
        } else if let Some((_, Outcome::Refused { error, .. })) = outcomes.first() {
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
        tx.exec(update).await?;
        let events = delivery::prune(tx, receiver.subscription_id, PRUNED).await?;
        if events.is_empty() { Ok(()) } else { event::forget(tx, &events).await }
    }
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

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Outcome {
    /// The receiver has taken it, with this status.
    Taken(u16),
    /// The receiver does not take this message.
    Refused { status: u16, error: String },
    /// The receiver takes no message at the moment.
    Down { status: Option<u16>, error: String, after: Option<Duration> },
}

impl Outcome {
    fn of(Response { status, retry_after, body }: Response) -> Self {
        let error = match body.is_empty() {
            true => format!("the receiver answered {status}"),
            false => format!("the receiver answered {status}: {body}"),
        };
        match status {
            200..=299 => Self::Taken(status),
            408 | 425 | 429 => Self::Down { status: Some(status), error, after: retry_after.map(Duration::from_secs) },
            300..=399 => {
                let error = format!("the receiver answered {status}; redirects are not followed");
                Self::Refused { status, error }
            }
            400..=499 => Self::Refused { status, error },
            _ => Self::Down { status: Some(status), error, after: retry_after.map(Duration::from_secs) },
        }
    }
}

async fn store_one(tx: &Transaction, sent: &Delivery, outcome: &Outcome, now: Timestamp) -> Result<(), db::Error> {
    use delivery::Column::{Attempts, EndedAt, Error, Id, NextAt, State as StateColumn, Status};
    let attempts = sent.attempts.saturating_add(1);
    let (status, error) = match outcome {
        Outcome::Taken(status) => (Some(*status), None),
        Outcome::Refused { status, error } => (Some(*status), Some(error)),
        Outcome::Down { status, error, .. } => (*status, Some(error)),
    };
    let is_over = now.as_micros() - sent.created_at.as_micros() > micros(GIVEN_UP_AFTER);
    let state = match outcome {
        Outcome::Taken(_) => State::Delivered,
        _ if is_over => State::Failed,
        _ => State::Waiting,
    };
    let next = match (state, outcome) {
        (State::Waiting, Outcome::Refused { .. }) => Some(after(pause(attempts))),
        // The receiver has a pause of its own.
        (State::Waiting, _) => Some(now),
        _ => None,
    };
    let update = delivery::Entity::update_many()
        .col_expr(Attempts, Expr::value(attempts))
        .col_expr(Status, Expr::value(status.map(i32::from)))
        .col_expr(Error, Expr::value(error.map(|error| cut(error))))
        .col_expr(StateColumn, Expr::value(state))
        .col_expr(NextAt, Expr::value(next))
        .col_expr(EndedAt, Expr::value(next.is_none().then_some(now)))
        .filter(Id.eq(sent.id));
    tx.exec(update).await.map(drop)
}

fn cut(error: &str) -> String {
    match error.char_indices().nth(ERROR) {
        Some((end, _)) => format!("{}…", &error[..end]),
        None => error.to_owned(),
    }
}

/// The pause after this many failures, give or take a fifth, so that processes drift apart.
fn pause(failures: i32) -> Duration {
    let doubled = FIRST_PAUSE * 2_u32.pow(failures.clamp(1, 12).unsigned_abs() - 1);
    doubled.min(LONGEST_PAUSE).mul_f64(0.8 + 0.4 * fastrand::f64())
}

fn after(time: Duration) -> Timestamp {
    Timestamp::from_micros(Timestamp::now().as_micros() + micros(time))
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: u16, retry_after: Option<u64>) -> Outcome {
        Outcome::of(Response { status, retry_after, body: "no".to_owned() })
    }

    #[test]
    fn a_status_says_whether_the_message_or_the_receiver_is_at_fault() {
        assert_eq!(answered(204, None), Outcome::Taken(204));
        let error = "the receiver answered 400: no".to_owned();
        assert_eq!(answered(400, None), Outcome::Refused { status: 400, error });
        for status in [301, 302, 307, 308, 401, 404, 410, 413, 422] {
            assert!(matches!(answered(status, None), Outcome::Refused { .. }), "{status}");
        }
        for status in [408, 425, 429, 500, 502, 503, 504] {
            let after = Some(Duration::from_secs(7));
            assert!(matches!(answered(status, Some(7)), Outcome::Down { after: own, .. } if own == after), "{status}");
        }
    }

    #[test]
    fn pauses_become_longer_up_to_a_bound() {
        for (failures, least, most) in
            [(1, 800, 1_200), (2, 1_600, 2_400), (11, 480_000, 720_000), (99, 480_000, 720_000)]
        {
            let pause = pause(failures).as_millis();
            assert!((least..=most).contains(&pause), "{failures}: {pause}");
        }
    }
}
