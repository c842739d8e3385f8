//! How services stood, and since when: each change of what a check says of a service, and of a service's level.

use super::prelude::*;

/// How long a change is kept, in days.
pub const KEPT: i64 = 400;

super::table! {
    "standing_change", unrecorded, left_out("how services stood in the other installation");

    /// The service.
    pub service_id: i64,
    /// The check; `None` for a change of the level.
    pub check_id: Option<i64>,
    /// When it was noticed.
    pub at: Timestamp,
    /// The status before, or the name of the level; `None` if there was none.
    pub before: Option<String>,
    /// The status or the level since then.
    pub after: Option<String>,
    /// What the check found then.
    pub message: Option<String>,
    /// Who changed what, or that time has passed.
    pub cause: String,
}

/// Removes the oldest changes before a time, at most `most`. Returns their number.
pub async fn remove(db: &dyn WriteHandle, before: Timestamp, most: u64) -> Result<u64, db::Error> {
    let old = Entity::find().select_only().column(Column::Id).filter(Column::At.lt(before));
    let old: Vec<i64> = db.rows(old.order_by_asc(Column::At).limit(most).as_query(), |row| row.get(0)).await?;
    db.exec(Entity::delete_many().filter(db::any(db, Column::Id, &old))).await
}
