//! The level that a service had when it was last evaluated in the background.

use super::prelude::*;

super::table! {
    "service_level", unrecorded, left_out("derived from it");

    /// The service: at most one row for each.
    pub service_id: i64,
    /// Its level over all categories.
    pub level_id: i64,
    /// Since when.
    pub since: Timestamp,
}
