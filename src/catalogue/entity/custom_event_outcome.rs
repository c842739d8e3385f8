//! What became of custom events: at most one row for each event and check.

use super::prelude::*;

super::table! {
    "custom_event_outcome", unrecorded, left_out("what became of it there");

    /// The event.
    pub event_id: i64,
    /// The check that was evaluated.
    pub check_id: i64,
    /// What the check asked then. If it asks something else now, the event is evaluated again.
    pub fingerprint: String,
    /// The number of services that passed.
    pub passed: i32,
    /// The number of services that did not pass.
    pub failed: i32,
    /// The number of names that no service has.
    pub unknown: i32,
    /// Why the check could not be evaluated, for all or for some services.
    pub fault: Option<String>,
}

/// The number of outcomes that are shown.
pub const SHOWN: u64 = 200;

/// Returns what became of these events, in the order of the checks.
pub async fn of_events(db: &dyn ReadHandle, events: &[i64]) -> Result<Vec<Model>, db::Error> {
    let outcomes = Entity::find().filter(db::any(db, Column::EventId, events)).order_by_desc(Column::EventId);
    db.all(outcomes.order_by_asc(Column::CheckId).limit(SHOWN)).await
}
