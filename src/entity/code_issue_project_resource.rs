//! What a code issue project is about: services and repositories.
//!
//! The database keeps that exactly one of `service_id` and `repository_id` has a value, and each pair once.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

/// A row of `code_issue_project_resource`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "code_issue_project_resource")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The project.
    pub code_issue_project_id: i64,
    /// The service it is connected to, or
    pub service_id: Option<i64>,
    /// the repository.
    pub repository_id: Option<i64>,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
