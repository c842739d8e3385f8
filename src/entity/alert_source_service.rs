//! Which services an alert source watches.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

/// A row of `alert_source_service`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "alert_source_service")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The alert source.
    pub alert_source_id: i64,
    /// The service; once per alert source.
    pub service_id: i64,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
