//! What was not taken from the document of each service.

use sea_orm_migration::{prelude::*, schema::*};

use crate::ddl::cascade;

/// This migration.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let note = Table::create()
            .table("service_file_note")
            .col(big_integer("service_id").primary_key())
            .col(text("notes"))
            .foreign_key(&mut cascade("service_file_note", "service_id", "service"))
            .take();
        manager.create_table(note).await
    }
}
