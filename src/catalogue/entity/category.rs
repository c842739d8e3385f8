//! Categories of maturity, such as Security.

use super::prelude::*;

super::table! {
    "category", Alone("Category"), StandardsAdministrators;

    /// The display name; unique among the categories of the rubric.
    pub name: String,
    /// What the category covers.
    pub description: Option<String>,
    /// The scorecard that it belongs to; `None` for one of the rubric.
    pub scorecard_id: Option<i64>,
    /// The name of the standards file that governs it; `None` if it is not locked.
    pub locked_by: Option<String>,
}

super::rules![
    FieldRule::text("name", Column::Name, text::SHORT).required(),
    FieldRule::text("description", Column::Description, text::DESCRIPTION),
];
