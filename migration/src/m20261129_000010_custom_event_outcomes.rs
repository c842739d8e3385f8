//! Checks of custom events: the integration of each, and what became of each event.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, index, partial};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let outcome = Table::create()
            .table("custom_event_outcome")
            .col(big_pk_auto("id"))
            .col(big_integer("event_id"))
            .col(big_integer("check_id"))
            .col(text("fingerprint"))
            .col(integer("passed"))
            .col(integer("failed"))
            .col(integer("unknown"))
            .col(text_null("fault"))
            .foreign_key(&mut cascade("custom_event_outcome", "event_id", "custom_event"))
            .foreign_key(&mut cascade("custom_event_outcome", "check_id", "check"))
            .take();
        manager.create_table(outcome).await?;
        let db = manager.get_connection();
        db.execute_unprepared(
            "ALTER TABLE \"check\" ADD COLUMN integration_id bigint NULL REFERENCES integration (id) ON DELETE SET NULL",
        )
        .await?;
        let mut once = index("custom_event_outcome_once", "custom_event_outcome", ["event_id", "check_id"]);
        create(
            manager,
            [
                once.unique().take(),
                index("custom_event_outcome_by_check", "custom_event_outcome", ["check_id"]),
                partial("check_by_integration", "check", ["integration_id"], "integration_id"),
            ],
        )
        .await
    })
}
