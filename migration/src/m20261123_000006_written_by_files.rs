//! Which properties and relationships a service file wrote, so that a file that no longer has them removes those alone.

use sea_orm_migration::{prelude::*, schema::*};

/// This migration.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["property", "relationship"] {
            manager.alter_table(Table::alter().table(table).add_column(text_null("written_by")).take()).await?;
        }
        Ok(())
    }
}
