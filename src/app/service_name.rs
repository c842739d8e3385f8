//! How pages name services that they are not about: the address of a service's page, and names by id.

use std::collections::HashMap;

use super::Fault;
use super::visit::path;
use catalogue::db::ReadHandle;
use catalogue::entity::service::{self, Label};

/// The path of a service's page. Any alias would do; a service always has one.
pub fn address(aliases: &[String]) -> String {
    path(["services", aliases.first().map_or("", String::as_str)])
}

/// The names and aliases of services, by id.
pub async fn labels(db: &dyn ReadHandle, ids: &[i64]) -> Result<HashMap<i64, Label>, Fault> {
    Ok(service::labels(db, ids).await?.into_iter().map(|label| (label.id, label)).collect())
}
