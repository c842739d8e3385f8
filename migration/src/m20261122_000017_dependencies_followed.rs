//! The indexes of dependencies contain both services, so that following thousands of dependencies reads no rows.

use sea_orm_migration::prelude::*;

use crate::ddl::{create, index};

/// This migration.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for name in ["service_dependency_by_source", "service_dependency_by_destination"] {
            manager.drop_index(Index::drop().name(name).table("service_dependency").to_owned()).await?;
        }
        let (table, source, destination) = ("service_dependency", "source_id", "destination_id");
        create(
            manager,
            [
                index("service_dependency_from", table, [source, "id", destination]),
                index("service_dependency_to", table, [destination, "id", source]),
            ],
        )
        .await
    }
}
