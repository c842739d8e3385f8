//! The levels and categories that services are to be measured by.

use sea_orm_migration::{prelude::*, schema::*};

use crate::ddl::{create, index};

/// This migration.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let level = Table::create()
            .table("level")
            .col(big_pk_auto("id"))
            .col(text("alias"))
            .col(text("name"))
            .col(text_null("description"))
            .col(integer("index"))
            .take();
        let category = Table::create()
            .table("category")
            .col(big_pk_auto("id"))
            .col(text("name"))
            .col(text_null("description"))
            .take();
        manager.create_table(level).await?;
        manager.create_table(category).await?;
        create(
            manager,
            [
                index("level_by_alias", "level", ["alias"]).unique().take(),
                index("level_by_index", "level", ["index", "id"]),
                index("category_by_name", "category", ["name"]).unique().take(),
            ],
        )
        .await
    }
}
