//! Finds the deliveries that have ended, beside thousands that wait.

use sea_orm_migration::prelude::*;

use crate::Done;
use crate::ddl::{create, partial};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let columns = ["subscription_id", "created_at", "id"];
        create(manager, [partial("event_delivery_ended", "event_delivery", columns, "ended_at")]).await
    })
}
