//! Tiers: how much depends on a service.

use super::prelude::*;

super::table! {
    "tier", Alone("Tier"), Members;

    /// The alias in the API; unique.
    pub alias: String,
    /// The display name.
    pub name: String,
    /// What the tier means for a service.
    pub description: Option<String>,
    /// The position in the list.
    pub index: i32,
}

super::rules![
    FieldRule::text("name", Column::Name, text::SHORT).required(),
    FieldRule::text("alias", Column::Alias, text::SHORT).required(),
    FieldRule::text("description", Column::Description, text::DESCRIPTION),
    FieldRule::new("index", Column::Index, ValueRule::Place).required(),
];

super::by_alias!(Alias);
