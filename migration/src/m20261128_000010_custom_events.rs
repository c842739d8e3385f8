//! The last custom events of each integration that takes them.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let event = Table::create()
            .table("custom_event")
            .col(big_pk_auto("id"))
            .col(big_integer("integration_id"))
            .col(big_integer("at"))
            .col(text("payload"))
            .foreign_key(&mut cascade("custom_event", "integration_id", "integration"))
            .take();
        manager.create_table(event).await?;
        create(manager, [index("custom_event_by_integration", "custom_event", ["integration_id", "id"])]).await
    })
}
