//! The integrations that pushed what suggestions are about.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

/// A row of `suggestion_integration`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "suggestion_integration")]
pub struct Model {
    /// Primary key; never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The suggestion.
    pub suggestion_id: i64,
    /// The integration; at most once per suggestion.
    pub integration_id: i64,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

crate::unrecorded!(Entity);
