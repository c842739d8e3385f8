//! Deliveries: an event, for a subscription that wants it. The deliveries of a subscription are in the order of their
//! events, by their ids.

use std::collections::BTreeMap;

use sea_orm::Condition;
use sea_orm::sea_query::{Alias, ExprTrait};

use super::event::Kind;
use super::prelude::*;

/// How many deliveries may wait for a subscription. Further events are not kept for it.
pub const MOST_WAITING: u64 = 10_000;

/// How many deliveries that have ended are kept for a subscription.
pub const KEPT: u64 = 200;

super::table! {
    "event_delivery", unrecorded, left_out("what is sent to these");

    /// The subscription.
    pub subscription_id: i64,
    /// The event.
    pub event_id: i64,
    /// The kind of event that the subscription wants.
    pub kind: Kind,
    /// The thing whose events keep their order.
    pub subject: String,
    /// What has become of it.
    pub state: State,
    /// When it is sent, at the earliest; `None` once it has ended.
    pub next_at: Option<Timestamp>,
    /// The time of the digest that tells it; `None` if it has a message of its own.
    pub digest_at: Option<Timestamp>,
    /// How often it was sent.
    pub attempts: i32,
    /// The status of the last response.
    pub status: Option<i32>,
    /// What went wrong the last time.
    pub error: Option<String>,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

super::called!(noun "delivery");

/// What has become of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is to be sent, for the first time or again.
    Waiting,
    /// The receiver has taken it.
    Delivered,
    /// It is not tried any more.
    Failed,
}

/// What of a subscription's deliveries can be sent now, each in a message of its own.
#[derive(Debug, Default)]
pub struct Due {
    /// By subjects: of each all that was found, in the order of the events.
    pub subjects: Vec<Vec<Model>>,
    /// The deliveries that are tried later than others of the same subject, which must wait for them.
    pub delayed: Vec<Model>,
    /// Whether there may be more.
    pub is_full: bool,
}

/// Looks for what can be sent now: the oldest deliveries, at most `most`.
///
/// Those of one subject are sent one after another. If the first of them is tried later, they all wait: see [`hold_back`]. If
/// it is of a kind that this version does not [know](super::known), they wait for a newer process.
pub async fn due(db: &dyn ReadHandle, subscription: i64, now: Timestamp, most: u64) -> Result<Due, db::Error> {
    let other = Alias::new("earlier");
    let of = |column| Expr::col((other.clone(), column));
    let own = |column| Expr::col((Entity, column));
    let first = Query::select()
        .expr(of(Column::Id).min())
        .from_as(Entity, other.clone())
        .and_where(of(Column::SubscriptionId).eq(own(Column::SubscriptionId)))
        .and_where(of(Column::Subject).eq(own(Column::Subject)))
        .and_where(of(Column::NextAt).is_not_null())
        .and_where(of(Column::DigestAt).is_null())
        .take();
    let found = Entity::find()
        .select_only()
        .expr(Expr::from(first))
        .filter(Column::SubscriptionId.eq(subscription))
        .filter(Column::NextAt.is_not_null())
        .filter(Column::NextAt.lte(now))
        .filter(Column::DigestAt.is_null())
        .filter(super::known::<Kind>(Column::Kind));
    let found = found.order_by_asc(Column::NextAt).order_by_asc(Column::Id).limit(most);
    let found: Vec<i64> = db.rows(found.as_query(), |row| row.get(0)).await?;
    let mut numbers = BTreeMap::<i64, u64>::new();
    for first in &found {
        *numbers.entry(*first).or_default() += 1;
    }
    let mut due = Due { is_full: found.len() as u64 == most, ..Due::default() };
    let ids: Vec<i64> = numbers.keys().copied().collect();
    let firsts = Entity::find().filter(db::any(db, Column::Id, &ids)).filter(super::known::<Kind>(Column::Kind));
    for first in db.all(firsts.order_by_asc(Column::Id)).await? {
        let number = numbers.get(&first.id).copied().unwrap_or(1);
        match first.next_at {
            Some(at) if at > now => due.delayed.push(first),
            _ if number == 1 => due.subjects.push(vec![first]),
            _ => {
                let all = of_subject(subscription, &first.subject).order_by_asc(Column::Id).limit(number);
                due.subjects.push(db.all(all).await?);
            }
        }
    }
    Ok(due)
}

/// Makes what has the subject of this delivery wait for it.
pub async fn hold_back(db: &dyn WriteHandle, delayed: &Model) -> Result<(), db::Error> {
    let others = Entity::update_many()
        .col_expr(Column::NextAt, Expr::value(delayed.next_at))
        .filter(Column::SubscriptionId.eq(delayed.subscription_id))
        .filter(Column::Subject.eq(&*delayed.subject))
        .filter(Column::NextAt.is_not_null())
        .filter(Column::NextAt.lt(delayed.next_at))
        .filter(Column::DigestAt.is_null());
    db.exec(others).await.map(drop)
}

/// The deliveries that wait about this subject, but for those of digests.
fn of_subject(subscription: i64, subject: &str) -> Select<Entity> {
    Entity::find()
        .filter(Column::SubscriptionId.eq(subscription))
        .filter(Column::Subject.eq(subject))
        .filter(Column::NextAt.is_not_null())
        .filter(Column::DigestAt.is_null())
        .filter(super::known::<Kind>(Column::Kind))
}

/// The deliveries of a subscription that wait for a digest whose time has come.
pub fn of_digests(subscription: i64, now: Timestamp) -> Condition {
    Condition::all()
        .add(Column::SubscriptionId.eq(subscription))
        .add(Column::DigestAt.is_not_null())
        .add(Column::DigestAt.lte(now))
        .add(Column::NextAt.is_not_null())
        .add(Column::NextAt.lte(now))
}

/// The time of the oldest digest of a subscription that can be sent now.
pub async fn digest_due(
    db: &dyn ReadHandle,
    subscription: i64,
    now: Timestamp,
) -> Result<Option<Timestamp>, db::Error> {
    let due = Entity::find().select_only().column(Column::DigestAt).filter(of_digests(subscription, now));
    let due = due.order_by_asc(Column::DigestAt).limit(1);
    let due: Vec<i64> = db.rows(due.as_query(), |row| row.get(0)).await?;
    Ok(due.first().copied().map(Timestamp::from_micros))
}

/// The deliveries that a digest tells, oldest first: at most [`MOST_WAITING`].
pub async fn collected(
    db: &dyn ReadHandle,
    subscription: i64,
    digest: Timestamp,
    now: Timestamp,
) -> Result<Vec<Model>, db::Error> {
    let own = Entity::find().filter(of_digests(subscription, now)).filter(Column::DigestAt.eq(digest));
    db.all(own.order_by_asc(Column::Id).limit(MOST_WAITING)).await
}

/// Gives each delivery that waits for a digest whose time has come a message of its own: whoever gets them is now a program.
pub async fn scatter(db: &dyn WriteHandle, subscription: i64, now: Timestamp) -> Result<(), db::Error> {
    let scatter = Entity::update_many()
        .col_expr(Column::DigestAt, Expr::value(None::<i64>))
        .filter(of_digests(subscription, now));
    db.exec(scatter).await.map(drop)
}

/// Puts what waits for a later digest into the one at `at`.
pub async fn reschedule(
    db: &dyn WriteHandle,
    subscription: i64,
    now: Timestamp,
    at: Timestamp,
) -> Result<(), db::Error> {
    let later = Entity::update_many()
        .col_expr(Column::DigestAt, Expr::value(at))
        .col_expr(Column::NextAt, Expr::value(at))
        .filter(Column::SubscriptionId.eq(subscription))
        .filter(Column::DigestAt.gt(now))
        .filter(Column::NextAt.is_not_null());
    db.exec(later).await.map(drop)
}

/// The number of deliveries that wait for a subscription.
pub async fn waiting(db: &dyn ReadHandle, subscription: i64) -> Result<u64, db::Error> {
    let waiting = Entity::find().filter(Column::SubscriptionId.eq(subscription)).filter(Column::NextAt.is_not_null());
    db.count(waiting).await
}

/// Sends the deliveries that failed again: at most [`MOST_WAITING`] and [`KEPT`]. What digests were to tell is in one now.
/// Returns their number.
pub async fn send_again(db: &db::Transaction, subscription: i64, now: Timestamp) -> Result<u64, db::Error> {
    let told =
        Expr::case(Expr::col(Column::DigestAt).is_not_null(), Expr::value(now)).finally(Expr::value(None::<i64>));
    let again = Entity::update_many()
        .col_expr(Column::State, Expr::value(State::Waiting))
        .col_expr(Column::NextAt, Expr::value(now))
        .col_expr(Column::DigestAt, told.into())
        .col_expr(Column::CreatedAt, Expr::value(now))
        .col_expr(Column::Attempts, Expr::value(0))
        .col_expr(Column::EndedAt, Expr::value(None::<i64>))
        .filter(Column::SubscriptionId.eq(subscription))
        .filter(Column::State.eq(State::Failed));
    db.exec(again).await
}

/// Removes the oldest deliveries that have ended, but for [`KEPT`] of the subscription, at most `most`. All of the newest
/// digest that was given up are kept too, at most [`MOST_WAITING`], so that it can be sent again. Returns the ids of their
/// events.
pub async fn prune(db: &dyn WriteHandle, subscription: i64, most: u64) -> Result<Vec<i64>, db::Error> {
    let ended = || Column::SubscriptionId.eq(subscription).and(Column::EndedAt.is_not_null());
    let failed = ended().and(Column::State.eq(State::Failed)).and(Column::DigestAt.is_not_null());
    let digest = Entity::find().select_only().column(Column::DigestAt).filter(failed);
    let digest = digest.order_by_desc(Column::DigestAt).limit(1);
    let digest: Vec<i64> = db.rows(digest.as_query(), |row| row.get(0)).await?;
    let old = Entity::find().select_only().columns([Column::Id, Column::EventId]).filter(ended());
    let old = digest.first().map(|at| Timestamp::from_micros(*at)).into_iter().fold(old, |old, at| {
        let others = Column::DigestAt.is_null().or(Column::DigestAt.ne(at)).or(Column::State.ne(State::Failed));
        old.filter(others)
    });
    let old = old.order_by_desc(Column::CreatedAt).order_by_desc(Column::Id).offset(KEPT).limit(most);
    let old: Vec<(i64, i64)> = db.rows(old.as_query(), |row| Ok((row.get(0)?, row.get(1)?))).await?;
    let (ids, events): (Vec<i64>, Vec<i64>) = old.into_iter().unzip();
    super::delete_by_ids::<Entity>(db, Column::Id, &ids).await?;
    Ok(events)
}
