//! On SQLite, the index that lists the deploys of a service holds what its metrics are computed from. SQLite then reads
//! the index alone, instead of looking up each deploy in the table. PostgreSQL keeps its index: it looks up rows by their
//! place, not by a search.

use sea_orm_migration::{prelude::*, sea_orm};

use sea_orm::{ConnectionTrait, DbBackend};

use crate::ddl::{create, partial};

/// This migration.
#[derive(DeriveMigrationName)]
pub struct Migration;

/// The first three are those of the index that is replaced, so the new one serves all that it did.
const COLUMNS: [&str; 8] = [
    "service_id",
    "deployed_at",
    "id",
    "environment_key",
    "deploy_status",
    "status",
    "commit_authoring_date",
    "committed_at",
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.get_database_backend() != DbBackend::Sqlite {
            return Ok(());
        }
        manager.get_connection().execute_unprepared("DROP INDEX deploy_by_service").await?;
        create(manager, [partial("deploy_by_service", "deploy", COLUMNS, "service_id")]).await
    }
}
