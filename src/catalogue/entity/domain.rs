//! Domains: groups of systems that serve one part of the business.

use super::prelude::*;

super::table! {
    "domain", Alone("Domain"), |row| Owner::team(row.owner_id);

    /// The display name; not unique.
    pub name: String,
    /// The slug of the current name; also a row of `domain_alias`.
    pub slug: String,
    /// What the domain is for.
    pub description: Option<String>,
    /// Longer notes about it.
    pub note: Option<String>,
    /// The team that owns it.
    pub owner_id: Option<i64>,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

super::rules![
    FieldRule::text("name", Column::Name, text::SHORT).required(),
    FieldRule::text("description", Column::Description, text::DESCRIPTION),
    FieldRule::new("ownerId", Column::OwnerId, ValueRule::Id(Reference::Team)),
    FieldRule::text("note", Column::Note, text::NOTE).not_in_files(),
];
