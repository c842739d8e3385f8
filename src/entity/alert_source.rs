//! What raises alerts in another system: a monitor, a schedule, a rule.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::field_rule::{FieldRule, FieldRules};
use super::{Timestamp, repository, text};

/// A row of `alert_source`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "alert_source")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The integration that it was pushed through.
    pub integration_id: i64,
    /// Its id in the other system; once per integration.
    pub external_id: String,
    /// The other system: a word of the SDL's `AlertSourceTypeEnum`.
    pub r#type: String,
    /// What people call it.
    pub name: String,
    /// What it watches.
    pub description: Option<String>,
    /// Where it is on the web.
    pub url: Option<String>,
    /// What the other system says of it, as text.
    pub metadata: Option<String>,
    /// Whether it raises an alert: a word of the SDL's `AlertSourceStatusTypeEnum`.
    pub status: String,
    /// When the row was made.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl FieldRules for Entity {
    const FIELDS: &'static [FieldRule<Column>] = &[
        FieldRule::text("externalId", Column::ExternalId, text::SHORT).required(),
        FieldRule::text("name", Column::Name, text::SHORT).required(),
        FieldRule::text("description", Column::Description, text::DESCRIPTION),
        FieldRule::text("url", Column::Url, text::URL).checked(repository::check_url),
        FieldRule::text("metadata", Column::Metadata, text::DESCRIPTION),
    ];
}
