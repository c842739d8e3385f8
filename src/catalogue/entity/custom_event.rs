//! The last custom events of each integration that takes them.

use sea_orm::sea_query::Func;

use super::prelude::*;

super::table! {
    "custom_event", unrecorded, left_out("what tools sent to the other installation");

    /// The integration.
    pub integration_id: i64,
    /// When it was received.
    pub at: Timestamp,
    /// The JSON, as it was sent.
    pub payload: String,
}

/// The number of events kept per integration.
pub const KEPT: u64 = 20;

/// How much of an event is shown, in characters.
const SHOWN: i32 = 1_000;

/// Records an event, and removes the oldest of its integration. Fails if the integration no longer exists.
pub async fn record(
    db: &dyn WriteHandle,
    integration_id: i64,
    payload: String,
    now: Timestamp,
) -> Result<(), db::Error> {
    let row =
        ActiveModel { integration_id: Set(integration_id), at: Set(now), payload: Set(payload), ..Default::default() };
    db.insert(row).await?;
    super::keep_newest::<Entity>(db, &Column::IntegrationId.eq(integration_id), Column::Id, KEPT).await
}

/// An event to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Its key.
    pub id: i64,
    /// When it was received.
    pub at: Timestamp,
    /// The beginning of its JSON.
    pub start: String,
    /// The length of its JSON, in characters.
    pub length: i32,
}

/// Returns the events of an integration, newest first.
pub async fn latest(db: &dyn ReadHandle, integration_id: i64) -> Result<Vec<Shown>, db::Error> {
    let payload = || Expr::col(Column::Payload);
    let start = Func::cust("substr").args([payload(), Expr::value(1), Expr::value(SHOWN)]);
    let events = Entity::find()
        .select_only()
        .column(Column::Id)
        .column(Column::At)
        .expr_as(start, "start")
        .expr_as(Func::char_length(payload()), "length")
        .filter(Column::IntegrationId.eq(integration_id))
        .order_by_desc(Column::Id)
        .limit(KEPT);
    db.rows(events.as_query(), |row| {
        let at = Timestamp::from_micros(row.get(1)?);
        Ok(Shown { id: row.get(0)?, at, start: row.get(2)?, length: row.get(3)? })
    })
    .await
}

/// Returns the newest event of an integration.
pub async fn newest(db: &dyn ReadHandle, integration_id: i64) -> Result<Option<Model>, db::Error> {
    let events = Entity::find().filter(Column::IntegrationId.eq(integration_id)).order_by_desc(Column::Id);
    Ok(db.all(events.limit(1)).await?.pop())
}
