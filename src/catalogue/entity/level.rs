//! Levels of maturity, such as Bronze.

use super::prelude::*;

super::table! {
    "level", Alone("Level"), StandardsAdministrators;

    /// The slug of the name that the level was created with; unique.
    pub alias: String,
    /// The display name.
    pub name: String,
    /// What a service of this level has reached.
    pub description: Option<String>,
    /// The position among the levels.
    pub index: i32,
    /// The name of the standards file that governs it; `None` if it is not locked.
    pub locked_by: Option<String>,
}

super::rules![
    FieldRule::text("name", Column::Name, text::SHORT).required(),
    FieldRule::text("description", Column::Description, text::DESCRIPTION),
    FieldRule::new("index", Column::Index, ValueRule::Place).required(),
];
