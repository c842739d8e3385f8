//! Component types: what a service is, such as a library or a website.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::field_rule::{FieldRule, FieldRules};
use super::{Timestamp, text};
use crate::db::Read;

/// A row of `component_type`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "component_type")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// What services name it by; unique.
    pub alias: String,
    /// What people call it.
    pub name: String,
    /// What services of this type have in common.
    pub description: Option<String>,
    /// The name of its icon.
    pub icon_name: Option<String>,
    /// The colour of its icon.
    pub icon_color: Option<String>,
    /// The management rules for owners, as a JSON list.
    pub owner_rules: String,
    /// The management rules for systems, as a JSON list.
    pub system_rules: String,
    /// Whether a service that names no type is of this one. One row is.
    pub is_default: bool,
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

/// The key of the type of a service that names this one: the default type where it names none.
pub async fn or_default<C: Read>(db: &C, named: Option<i64>) -> Result<Option<i64>, DbErr> {
    match named {
        None => Ok(default(db).await?.map(|found| found.id)),
        own => Ok(own),
    }
}

/// The type of services that name none.
pub async fn default<C: Read>(db: &C) -> Result<Option<Model>, DbErr> {
    db.one(Entity::find().filter(Column::IsDefault.eq(true)).order_by_asc(Column::Id)).await
}
