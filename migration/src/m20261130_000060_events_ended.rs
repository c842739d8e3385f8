//! Finds the deliveries that have ended, beside thousands that wait.

use sea_orm_migration::prelude::*;

use crate::ddl::{create, partial};

/// This migration.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let columns = ["subscription_id", "created_at", "id"];
        create(manager, [partial("event_delivery_ended", "event_delivery", columns, "ended_at")]).await
    }
}
