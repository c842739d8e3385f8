//! How services stood at the end of a day: with each check, and at each level. Days on which nothing differs from the day
//! before have no row.

use super::prelude::*;

super::table! {
    "standing_day", unrecorded, left_out("how services stood there on each day");

    /// The day in UTC: the number of days since 1 January 1970.
    pub day: i32,
    /// The check; `None` for a level.
    pub check_id: Option<i64>,
    /// The level; `None` for a check.
    pub level_id: Option<i64>,
    /// The services that the check concerns, or that have the level.
    pub services: i64,
    /// Those that pass the check.
    pub passed: i64,
    /// Those of which the check knows nothing yet.
    pub pending: i64,
}
