//! Levels of maturity, such as Bronze.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::field_rule::{FieldRule, FieldRules, ValueRule};
use super::text;
use crate::db::{Owner, Table, Told};

/// A row of `level`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "level")]
pub struct Model {
    /// Primary key; never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The slug of the name that the level was created with; unique.
    pub alias: String,
    /// The display name.
    pub name: String,
    /// What a service of this level has reached.
    pub description: Option<String>,
    /// The position among the levels.
    pub index: i32,
    /// The name of the standards file that governs it; `None` if it is not locked.
    pub locked_by: Option<String>,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Table for Entity {
    const TOLD: Told = Told::Alone("Level");

    fn owner(_: &Model) -> Owner {
        Owner::Nobody
    }
}

impl FieldRules for Entity {
    const FIELDS: &'static [FieldRule<Column>] = &[
        FieldRule::text("name", Column::Name, text::SHORT).required(),
        FieldRule::text("description", Column::Description, text::DESCRIPTION),
        FieldRule::new("index", Column::Index, ValueRule::Place).required(),
    ];
}
