//! What a check said of a service when it was last evaluated in the background.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::Timestamp;

/// A row of `check_result`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "check_result")]
pub struct Model {
    /// Primary key; never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The check.
    pub check_id: i64,
    /// The service.
    pub service_id: i64,
    /// Whether the service passes.
    pub status: Status,
    /// Since when.
    pub since: Timestamp,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

crate::unrecorded!(Entity);

/// Whether a service passes a check that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It does not.
    Failed,
    /// It does.
    Passed,
    /// Nothing is known yet.
    Pending,
}

impl Status {
    /// The word in the API.
    pub fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Passed => "passed",
            Self::Pending => "pending",
        }
    }
}
