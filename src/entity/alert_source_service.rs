//! The services that alert sources monitor.

use super::service;
use crate::db::{Owner, RowOf, Table, Told};
use sea_orm::entity::prelude::*;
use serde::Deserialize;

/// A row of `alert_source_service`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "alert_source_service")]
pub struct Model {
    /// Primary key; never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The alert source.
    pub alert_source_id: i64,
    /// The service; at most once per alert source.
    pub service_id: i64,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Table for Entity {
    const TOLD: Told = Told::Alone("AlertSourceService");

    fn owner(row: &Model) -> Owner {
        Owner::Row(RowOf::new::<service::Entity>(row.service_id))
    }
}
