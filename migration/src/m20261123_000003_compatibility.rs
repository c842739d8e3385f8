//! Which programs may use the database: those that know a certain step. A program that is older than the database asks
//! this. `crate::NEEDED` says what a program writes here.

use sea_orm_migration::{prelude::*, sea_orm};

use sea_orm::ConnectionTrait;

/// This step.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let table = Table::create()
            .table("compatibility")
            // One row.
            .col(ColumnDef::new("id").integer().not_null().primary_key().check(Expr::col("id").eq(1)))
            .col(ColumnDef::new("needed_step").text().not_null())
            .take();
        manager.create_table(table).await?;
        let row = format!("INSERT INTO compatibility (id, needed_step) VALUES (1, '{}')", self.name());
        manager.get_connection().execute_unprepared(&row).await?;
        Ok(())
    }
}
