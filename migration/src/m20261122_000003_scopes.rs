//! Gives tokens of the scope `write` the scope `admin`. Until now, `write` included what `admin` is for.

use sea_orm_migration::prelude::*;

/// This migration.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let all =
            Query::update().table("token").value("scope", "admin").and_where(Expr::col("scope").eq("write")).take();
        manager.execute(all).await
    }
}
