//! The repository and the commit that a service's file comes from.

use sea_orm_migration::prelude::*;

use crate::ddl::{create, partial};

/// This migration.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        for column in ["locked_repository", "locked_commit"] {
            db.execute_unprepared(&format!("ALTER TABLE service ADD COLUMN {column} text NULL")).await?;
        }
        let columns = ["locked_repository", "id"];
        create(manager, [partial("service_by_locked_repository", "service", columns, "locked_repository")]).await
    }
}
