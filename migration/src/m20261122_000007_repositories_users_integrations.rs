//! More columns of repositories, users and integrations, and several links between a service and a repository.

use sea_orm_migration::prelude::*;

use crate::Done;
use crate::ddl::{create, index, partial};

/// The new columns, each with its table.
const COLUMNS: &[(&str, &str)] = &[
    ("repository", "owner_id bigint NULL REFERENCES team (id) ON DELETE SET NULL"),
    ("repository", "last_owner_changed_at bigint NULL"),
    ("repository", "description text NULL"),
    ("repository", "forked boolean NULL"),
    // A list of objects, as JSON.
    ("repository", "languages text NULL"),
    ("repository", "sbom_state text NULL"),
    // "user" is a keyword of SQL.
    ("\"user\"", "last_sign_in_at bigint NULL"),
    // The kind of system that posts to a deploy integration; null for `deploy`.
    ("integration", "event_type text NULL"),
    ("integration", "installed_at bigint NULL"),
    // The settings of the five kinds of connections with a cloud or a cluster, as JSON.
    ("integration", "settings text NULL"),
];

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let db = manager.get_connection();
        for (table, column) in COLUMNS {
            db.execute_unprepared(&format!("ALTER TABLE {table} ADD COLUMN {column}")).await?;
        }
        db.execute_unprepared("UPDATE integration SET installed_at = created_at").await?;
        // Folders are stored without slashes at either end, so that the same folder is not linked twice.
        db.execute_unprepared("UPDATE service_repository SET base_directory = trim(base_directory, '/')").await?;
        db.execute_unprepared("DROP INDEX service_repository_by_service").await?;
        create(
            manager,
            [
                partial("repository_by_owner", "repository", ["owner_id", "id"], "owner_id"),
                index(
                    "service_repository_by_service",
                    "service_repository",
                    ["service_id", "repository_id", "base_directory"],
                )
                .unique()
                .take(),
            ],
        )
        .await
    })
}
