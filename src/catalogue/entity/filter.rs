//! Saved filters of services. Their predicates are rows of `filter_predicate`.

use super::prelude::*;

super::table! {
    "filter", Alone("Filter"), Members;

    /// The display name.
    pub name: String,
    /// Whether a service must match all predicates or only one: a value of the SDL's `ConnectiveEnum`.
    pub connective: Option<String>,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
    /// The name of the standards file that governs it; `None` if it is not locked.
    pub locked_by: Option<String>,
}

super::rules![FieldRule::text("name", Column::Name, text::SHORT).required()];
