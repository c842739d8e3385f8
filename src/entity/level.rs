//! Levels of maturity, such as Bronze.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::field_rule::{FieldRule, FieldRules, ValueRule};
use super::text;

/// A row of `level`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "level")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// A slug of the first name; unique.
    pub alias: String,
    /// What people call it.
    pub name: String,
    /// What a service of this level has reached.
    pub description: Option<String>,
    /// Its place among the levels.
    pub index: i32,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl FieldRules for Entity {
    const FIELDS: &'static [FieldRule<Column>] = &[
        FieldRule::text("name", Column::Name, text::SHORT).required(),
        FieldRule::text("description", Column::Description, text::DESCRIPTION),
        FieldRule::new("index", Column::Index, ValueRule::Place).required(),
    ];
}
