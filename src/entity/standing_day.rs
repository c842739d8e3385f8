//! How services stood at the end of a day: with each check, and at each level. Days on which nothing differs from the day
//! before have no row.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

/// A row of `standing_day`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "standing_day")]
pub struct Model {
    /// Primary key; never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The day in UTC: the number of days since 1 January 1970.
    pub day: i32,
    /// The check; `None` for a level.
    pub check_id: Option<i64>,
    /// The level; `None` for a check.
    pub level_id: Option<i64>,
    /// The services that the check concerns, or that have the level.
    pub services: i64,
    /// Those that pass the check.
    pub passed: i64,
    /// Those of which the check knows nothing yet.
    pub pending: i64,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

crate::unrecorded!(Entity);
