//! What was told already: that an issue is overdue, and that a file of a service was refused.

use sea_orm_migration::{prelude::*, schema::*, sea_orm};

use sea_orm::ConnectionTrait;

use crate::Done;
use crate::ddl::cascade;

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let told = big_integer_null("overdue_told_at");
        manager.alter_table(Table::alter().table("code_issue").add_column(told).take()).await?;
        // Issues that are told are no longer in it.
        let untold = "CREATE INDEX code_issue_untold ON code_issue (lower(severity), coalesce(introduced_at, created_at)) \
             WHERE overdue_told_at IS NULL";
        manager.get_connection().execute_unprepared(untold).await?;
        let refusal = Table::create()
            .table("service_file_refusal")
            .col(big_integer("service_id").primary_key())
            .col(text("content"))
            .col(big_integer("told_at"))
            .foreign_key(&mut cascade("service_file_refusal", "service_id", "service"))
            .take();
        manager.create_table(refusal).await
    })
}
