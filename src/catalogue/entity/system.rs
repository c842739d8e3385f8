//! Systems: groups of services that serve one purpose.

use super::prelude::*;

super::table! {
    "system", Alone("System"), |row| Owner::team(row.owner_id);

    /// The display name; not unique.
    pub name: String,
    /// The slug of the current name; also a row of `system_alias`.
    pub slug: String,
    /// What the system is for.
    pub description: Option<String>,
    /// Longer notes about it.
    pub note: Option<String>,
    /// The team that owns it.
    pub owner_id: Option<i64>,
    /// The domain it belongs to.
    pub domain_id: Option<i64>,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

super::rules![
    FieldRule::text("name", Column::Name, text::SHORT).required(),
    FieldRule::text("description", Column::Description, text::DESCRIPTION),
    FieldRule::new("ownerId", Column::OwnerId, ValueRule::Id(Reference::Team)),
    FieldRule::new("parent", Column::DomainId, ValueRule::Identified(Reference::Domain)),
    FieldRule::text("note", Column::Note, text::NOTE).not_in_files(),
];
