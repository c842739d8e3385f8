//! Property definitions: what is recorded of services and teams beside the fields that all of them have.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::field_rule::{FieldRule, FieldRules};
use super::{Timestamp, text};
use crate::db::Read;

/// A row of `property_definition`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "property_definition")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// What values name it by; unique.
    pub alias: String,
    /// What people call it.
    pub name: String,
    /// What it says of a service or a team.
    pub description: Option<String>,
    /// The JSON Schema of its values, as JSON text.
    pub schema: String,
    /// Whether service files may set it.
    pub allowed_in_config_files: bool,
    /// Whether pages show it: a word of the SDL's `PropertyDisplayStatusEnum`.
    pub property_display_status: String,
    /// Whether people may change its values on pages: a word of the SDL's `PropertyLockedStatusEnum`.
    pub locked_status: String,
    /// Whether it is of teams alone.
    pub is_of_teams: bool,
    /// The type whose services alone have it.
    pub component_type_id: Option<i64>,
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
        FieldRule::text("name", Column::Name, text::SHORT).required(),
        FieldRule::text("alias", Column::Alias, text::SHORT).required(),
        FieldRule::text("description", Column::Description, text::DESCRIPTION),
    ];
}

impl super::ByAlias for Entity {
    async fn by_alias<C: Read>(db: &C, alias: &str) -> Result<Option<Model>, DbErr> {
        super::by_unique::<Entity>(db, Column::Alias, alias).await
    }
}
