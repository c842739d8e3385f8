//! Where the events of a subscription are sent, with what they are signed, and how the receiver does.

use std::collections::HashMap;

use sea_orm::sea_query::ExprTrait;

use super::prelude::*;

/// A row of `event_receiver`. Each subscription has one.
#[derive(Clone, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "event_receiver")]
pub struct Model {
    /// Primary key; never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The subscription.
    pub subscription_id: i64,
    /// The URL. It can hold a secret. Empty for mail, whose address is in the subscription.
    pub url: String,
    /// The secret with which messages are signed.
    pub secret: String,
    /// The secret before, while both are used.
    pub earlier_secret: Option<String>,
    /// Until when the secret before is used.
    pub earlier_until: Option<Timestamp>,
    /// How often the receiver could not be reached, or failed, since it last took a message.
    pub failures: i32,
    /// When it is tried again.
    pub retry_at: Option<Timestamp>,
    /// What went wrong the last time; `None` if it took the message.
    pub error: Option<String>,
    /// When it last took a message.
    pub delivered_at: Option<Timestamp>,
    /// The number of events that were not kept for it, because too many waited.
    pub missed: i64,
    /// The process that sends to it at the moment.
    pub leased_by: Option<String>,
    /// Until when no other process does.
    pub leased_until: Option<Timestamp>,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Receiver").field("subscription_id", &self.subscription_id).finish_non_exhaustive()
    }
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

crate::unrecorded!(Entity, left_out("the URLs and secrets of these"));

/// How long the secret before a rotation is used beside the new one, in microseconds: a day.
pub const OVERLAP: i64 = 24 * 3_600_000_000;

/// The receiver of a subscription.
pub async fn of_subscription(db: &dyn ReadHandle, subscription: i64) -> Result<Option<Model>, db::Error> {
    Ok(of_subscriptions(db, std::iter::once(subscription)).await?.remove(&subscription))
}

/// The receivers of subscriptions, by the ids of these.
pub async fn of_subscriptions(
    db: &dyn ReadHandle,
    subscriptions: impl Iterator<Item = i64>,
) -> Result<HashMap<i64, Model>, db::Error> {
    let ids: Vec<i64> = subscriptions.collect();
    let found = db.all(Entity::find().filter(db::any(db, Column::SubscriptionId, &ids))).await?;
    Ok(found.into_iter().map(|receiver| (receiver.subscription_id, receiver)).collect())
}

/// Takes the right to send to a receiver until `until`. `false` if another process has it.
pub async fn lease(
    db: &db::Transaction,
    id: i64,
    process: &str,
    now: Timestamp,
    until: Timestamp,
) -> Result<bool, db::Error> {
    let is_free =
        Column::LeasedUntil.is_null().or(Column::LeasedUntil.lt(now)).or(Column::LeasedBy.eq(process.to_owned()));
    let take = Entity::update_many()
        .col_expr(Column::LeasedBy, Expr::value(process.to_owned()))
        .col_expr(Column::LeasedUntil, Expr::value(until))
        .filter(Column::Id.eq(id))
        .filter(is_free);
    Ok(db.exec(take).await? > 0)
}

/// Gives that right back.
pub async fn release(db: &db::Transaction, id: i64, process: &str) -> Result<(), db::Error> {
    let release = Entity::update_many()
        .col_expr(Column::LeasedUntil, Expr::value(None::<i64>))
        .filter(Column::Id.eq(id))
        .filter(Column::LeasedBy.eq(process.to_owned()));
    db.exec(release).await.map(drop)
}

/// A row for the receiver of a new subscription.
pub fn new(subscription_id: i64, url: &str, secret: String) -> ActiveModel {
    ActiveModel {
        subscription_id: Set(subscription_id),
        url: Set(url.to_owned()),
        secret: Set(secret),
        failures: Set(0),
        missed: Set(0),
        ..Default::default()
    }
}
