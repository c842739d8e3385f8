//! The services and repositories that code issue projects are connected to.
//!
//! The database enforces that exactly one of `service_id` and `repository_id` is set, and that each pair occurs once.

use super::{code_issue_project, repository, service};
use crate::db::{Entry, Owner, RowOf, Table, Told, Word};
use sea_orm::entity::prelude::*;
use serde::Deserialize;

/// A row of `code_issue_project_resource`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "code_issue_project_resource")]
pub struct Model {
    /// Primary key; never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The project.
    pub code_issue_project_id: i64,
    /// The service, if the project is connected to a service.
    pub service_id: Option<i64>,
    /// The repository, if the project is connected to a repository.
    pub repository_id: Option<i64>,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Table for Entity {
    const TOLD: Told = Told::In("resources");

    fn owner(row: &Model) -> Owner {
        Owner::Row(RowOf::new::<code_issue_project::Entity>(row.code_issue_project_id))
    }

    fn entry(row: &Model) -> Entry {
        let service = row.service_id.map(RowOf::new::<service::Entity>);
        let resource = service.or(row.repository_id.map(RowOf::new::<repository::Entity>));
        Entry { name: resource.into_iter().map(Word::NameOf).collect(), value: None }
    }
}
