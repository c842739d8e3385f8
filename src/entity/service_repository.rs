//! Which repositories a service's source is in.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

/// A row of `service_repository`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "service_repository")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The service.
    pub service_id: i64,
    /// The repository; once per service.
    pub repository_id: i64,
    /// The folder of the repository that holds the service; `/` is all of it.
    pub base_directory: String,
    /// What the link is called.
    pub display_name: Option<String>,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
