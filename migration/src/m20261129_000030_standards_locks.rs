//! Which standards file governs a level, a category, a filter, a scorecard, a check or a campaign.

use sea_orm_migration::{prelude::*, schema::*};

/// This migration.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["level", "category", "filter", "scorecard", "check", "campaign"] {
            manager.alter_table(Table::alter().table(table).add_column(text_null("locked_by")).take()).await?;
        }
        Ok(())
    }
}
