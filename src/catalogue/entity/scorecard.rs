//! Scorecards: sets of checks of one team, for the services of one filter. Its checks belong to its category.

use super::prelude::*;

/// The maximum number of scorecards.
pub const MOST: usize = 500;

super::table! {
    "scorecard", Alone("Scorecard"), StandardsAdministrators;

    /// The display name; not unique.
    pub name: String,
    /// The slug of the current name; also a row of `scorecard_alias`.
    pub slug: String,
    /// What it is about.
    pub description: Option<String>,
    /// Whether its checks count towards the overall levels of services.
    pub affects_overall_service_levels: bool,
    /// The team that owns it; `None` once that is deleted.
    pub owner_id: Option<i64>,
    /// The filter of the services that it is for; `None` for all services.
    pub filter_id: Option<i64>,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
    /// The name of the standards file that governs it; `None` if it is not locked.
    pub locked_by: Option<String>,
}

super::rules![
    FieldRule::text("name", Column::Name, text::SHORT).required(),
    FieldRule::text("description", Column::Description, text::DESCRIPTION),
    FieldRule::new("ownerId", Column::OwnerId, ValueRule::Id(Reference::Team)),
    FieldRule::new("affectsOverallServiceLevels", Column::AffectsOverallServiceLevels, ValueRule::Flag).required(),
];
