//! Which integrations pushed what a suggestion is about.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

/// A row of `suggestion_integration`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "suggestion_integration")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The suggestion.
    pub suggestion_id: i64,
    /// The integration; once per suggestion.
    pub integration_id: i64,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
