//! What servers remember from one start to the next, by name: the address of the application.

use sea_orm_migration::{prelude::*, schema::*};

/// This migration.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let table = Table::create().table("remembered").col(text("name").primary_key()).col(text("value")).take();
        manager.create_table(table).await
    }
}
