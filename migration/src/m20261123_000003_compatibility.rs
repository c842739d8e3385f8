//! Which programs may use the database: those that know a certain migration. A program that is older than the database
//! reads this table. A program writes `crate::NEEDED` here.

use sea_orm_migration::{prelude::*, sea_orm};

use sea_orm::ConnectionTrait;

use crate::Done;

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let table = Table::create()
            .table("compatibility")
            // There is only one row.
            .col(ColumnDef::new("id").integer().not_null().primary_key().check(Expr::col("id").eq(1)))
            .col(ColumnDef::new("needed_step").text().not_null())
            .take();
        manager.create_table(table).await?;
        let row = format!("INSERT INTO compatibility (id, needed_step) VALUES (1, '{}')", crate::SAYS_WHAT_IT_NEEDS);
        manager.get_connection().execute_unprepared(&row).await?;
        Ok(())
    })
}
