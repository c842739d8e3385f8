//! Relationship definitions: which things the services of a component type are related to, and what that means.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::field_rule::{FieldRule, FieldRules, Reference, ValueRule};
use super::{Timestamp, text};
use crate::db::Read;

/// The most management rules of one definition, and of one component type for owners or systems.
pub const RULES: usize = 20;

/// A row of `relationship_definition`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "relationship_definition")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// What clients name it by; unique.
    pub alias: String,
    /// What people call it.
    pub name: String,
    /// What it means.
    pub description: Option<String>,
    /// The type of the services that have such relationships.
    pub component_type_id: i64,
    /// What their targets may be, as a JSON list of words; empty for anything.
    pub allowed_types: String,
    /// The categories that were given for it, as a JSON list of words.
    pub allowed_categories: String,
    /// Its management rules, as a JSON list.
    pub management_rules: String,
    /// How many of them a service should have at least.
    pub min_items: Option<i32>,
    /// How many of them a service can have at most.
    pub max_items: Option<i32>,
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
        FieldRule::text("alias", Column::Alias, text::SHORT).required(),
        FieldRule::new("componentType", Column::ComponentTypeId, ValueRule::Identified(Reference::ComponentType))
            .required(),
        FieldRule::text("description", Column::Description, text::DESCRIPTION),
        FieldRule::text("name", Column::Name, text::SHORT).required(),
    ];
}

impl super::ByAlias for Entity {
    async fn by_alias<C: Read>(db: &C, alias: &str) -> Result<Option<Model>, DbErr> {
        super::by_unique::<Entity>(db, Column::Alias, alias).await
    }
}
