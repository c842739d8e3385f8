//! The services and repositories that code issue projects are connected to.
//!
//! The database enforces that exactly one of `service_id` and `repository_id` is set, and that each pair occurs once.

use super::prelude::*;
use super::{code_issue_project, repository, service};

super::table! {
    "code_issue_project_resource";

    /// The project.
    pub code_issue_project_id: i64,
    /// The service, if the project is connected to a service.
    pub service_id: Option<i64>,
    /// The repository, if the project is connected to a repository.
    pub repository_id: Option<i64>,
}

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
