//! The time of each service's last deploy, for an order of services. Triggers keep it: nothing else writes it.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::Timestamp;

/// A row of `service_last_deploy`. Every service has one.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "service_last_deploy")]
pub struct Model {
    /// The service.
    #[sea_orm(primary_key, auto_increment = false)]
    pub service_id: i64,
    /// The latest `deployed_at` of its deploys; `None` without any.
    pub deployed_at: Option<Timestamp>,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
