//! Migrations that only add a column.

use sea_orm_migration::prelude::*;

/// Adds a column to a table. Older rows have null, or the column's default.
pub(super) struct NewColumn {
    name: &'static str,
    table: &'static str,
    column: ColumnDef,
}

impl NewColumn {
    /// The migration `name`, which adds a column of [`sea_orm_migration::schema`].
    pub(super) fn boxed(
        name: &'static str,
        table: &'static str,
        column: impl Into<ColumnDef>,
    ) -> Box<dyn MigrationTrait> {
        Box::new(Self { name, table, column: column.into() })
    }
}

impl MigrationName for NewColumn {
    fn name(&self) -> &str {
        self.name
    }
}

#[async_trait::async_trait]
impl MigrationTrait for NewColumn {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.alter_table(Table::alter().table(self.table).add_column(self.column.clone()).take()).await
    }
}
