//! Alert sources: monitors, schedules and rules in another system that raise alerts.

use super::prelude::*;
use super::repository;

super::table! {
    "alert_source", Alone("AlertSource"), Members;

    /// The integration through which the alert source was pushed.
    pub integration_id: i64,
    /// The id in the other system; unique within the integration.
    pub external_id: String,
    /// The other system: a value of the SDL's `AlertSourceTypeEnum`.
    pub r#type: String,
    /// The display name.
    pub name: String,
    /// What the alert source monitors.
    pub description: Option<String>,
    /// The URL in the other system.
    pub url: Option<String>,
    /// Metadata from the other system, as text.
    pub metadata: Option<String>,
    /// The alert status: a value of the SDL's `AlertSourceStatusTypeEnum`.
    pub status: String,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

super::rules![
    FieldRule::text("externalId", Column::ExternalId, text::SHORT).required(),
    FieldRule::text("name", Column::Name, text::SHORT).required(),
    FieldRule::text("description", Column::Description, text::DESCRIPTION),
    FieldRule::text("url", Column::Url, text::URL).checked(repository::check_url),
    FieldRule::text("metadata", Column::Metadata, text::DESCRIPTION),
];
