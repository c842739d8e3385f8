//! Results of checks that are reported: what a pipeline found in the code of a service.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, index, partial};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let reported = Table::create()
            .table("check_reported")
            .col(big_pk_auto("id"))
            .col(big_integer("check_id"))
            .col(big_integer("service_id"))
            .col(big_integer_null("repository_id"))
            .col(text("fingerprint"))
            .col(boolean("passed"))
            .col(text("message"))
            .col(text_null("path"))
            .col(text_null("commit_hash"))
            .col(text("reported_by"))
            .col(big_integer("reported_at"))
            .foreign_key(&mut cascade("check_reported", "check_id", "check"))
            .foreign_key(&mut cascade("check_reported", "service_id", "service"))
            .foreign_key(&mut cascade("check_reported", "repository_id", "repository"))
            .take();
        manager.create_table(reported).await?;
        let mut once = index("check_reported_once", "check_reported", ["service_id", "check_id", "repository_id"]);
        create(
            manager,
            [
                once.unique().take(),
                index("check_reported_by_check", "check_reported", ["check_id"]),
                partial("check_reported_by_repository", "check_reported", ["repository_id"], "repository_id"),
            ],
        )
        .await
    })
}
