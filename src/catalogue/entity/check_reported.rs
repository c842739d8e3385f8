//! What was reported for checks that the catalogue cannot evaluate by itself: at most one result for each check, service
//! and repository.

use super::prelude::*;
use super::{check, repository, service};

super::table! {
    "check_reported";

    /// The check.
    pub check_id: i64,
    /// The service.
    pub service_id: i64,
    /// The repository where it was found, if it was found in one.
    pub repository_id: Option<i64>,
    /// What the check asked when it was evaluated. The result counts as long as the check asks the same.
    pub fingerprint: String,
    /// Whether the service passes.
    pub passed: bool,
    /// What was found.
    pub message: String,
    /// The path of the file that decided.
    pub path: Option<String>,
    /// The commit that was looked at.
    pub commit_hash: Option<String>,
    /// The name of the token or user who reported it.
    pub reported_by: String,
    /// When it was reported.
    pub reported_at: Timestamp,
}

impl Table for Entity {
    const TOLD: Told = Told::In("checkResults");

    fn owner(row: &Model) -> Owner {
        Owner::Row(RowOf::new::<service::Entity>(row.service_id))
    }

    fn entry(row: &Model) -> Entry {
        let mut name = vec![Word::NameOf(RowOf::new::<check::Entity>(row.check_id))];
        if let Some(repository) = row.repository_id {
            name.extend([Word::Text(" in ".to_owned()), Word::NameOf(RowOf::new::<repository::Entity>(repository))]);
        }
        // Without the commit and the time: the same result, reported again, is no change.
        Entry { name, value: Some(format!("{}: {}", if row.passed { "passed" } else { "failed" }, row.message)) }
    }
}
