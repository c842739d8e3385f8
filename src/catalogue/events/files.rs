//! Events of service files that were refused.

use serde_json::json;

use super::{Wanted, by, of_service};
use crate::db::{self, Write, WriteHandle};
use crate::entity::audit::Actor;
use crate::entity::event::{self, Kind, What};
use crate::entity::service;

/// The events of refused service files, for the transaction that notes them.
#[derive(Debug, Default)]
pub struct OfFiles {
    rows: Vec<event::ActiveModel>,
}

/// A service file that was refused.
#[derive(Debug, Clone, Copy)]
pub struct RefusedFile<'f> {
    /// The file.
    pub path: &'f str,
    /// Its repository.
    pub repository: Option<&'f str>,
    /// Its commit.
    pub commit: Option<&'f str>,
    /// The first mistakes.
    pub mistakes: &'f [String],
    /// The number of all mistakes.
    pub count: usize,
}

impl OfFiles {
    /// Whether a subscription may want them.
    pub fn are_wanted(wanted: &Wanted) -> bool {
        wanted.any(&[Kind::ServiceFileRejected])
    }

    /// Adds the event that a file of a service was refused.
    pub fn add(&mut self, service: &service::Model, actor: &Actor, file: RefusedFile<'_>) {
        let RefusedFile { path, repository, commit, mistakes, count } = file;
        let file = json!({
            "path": path, "repository": repository, "commit": commit, "mistakes": mistakes, "mistakeCount": count,
        });
        let detail = json!({ "alias": service.slug, "by": by(actor), "file": file });
        self.rows.push(of_service(service, What::FileRejected, &detail));
    }

    /// Stores them.
    pub async fn store(self, db: &dyn WriteHandle) -> Result<(), db::Error> {
        db.insert_all(self.rows).await
    }
}
