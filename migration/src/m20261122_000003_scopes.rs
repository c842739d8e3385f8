//! Tokens that could do everything keep that under its new name: until now the scope `write` included what `admin` is for.

use sea_orm_migration::prelude::*;

/// This step.
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
