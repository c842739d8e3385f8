//! The level that a service had when it was last evaluated in the background.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::Timestamp;

/// A row of `service_level`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "service_level")]
pub struct Model {
    /// Primary key; never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The service: at most one row for each.
    pub service_id: i64,
    /// Its level over all categories.
    pub level_id: i64,
    /// Since when.
    pub since: Timestamp,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

crate::unrecorded!(Entity);
