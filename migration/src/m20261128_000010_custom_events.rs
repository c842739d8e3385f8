//! The last custom events of each integration that takes them.

use sea_orm_migration::{prelude::*, schema::*};

use crate::ddl::{cascade, create, index};

/// This migration.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let event = Table::create()
            .table("custom_event")
            .col(big_pk_auto("id"))
            .col(big_integer("integration_id"))
            .col(big_integer("at"))
            .col(text("payload"))
            .foreign_key(&mut cascade("custom_event", "integration_id", "integration"))
            .take();
        manager.create_table(event).await?;
        create(manager, [index("custom_event_by_integration", "custom_event", ["integration_id", "id"])]).await
    }
}
