//! Event subscriptions that send mail, or one message for a day or a week.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{create, partial};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        for (table, column) in [
            ("event_subscription", text_null("email")),
            ("event_subscription", text_null("digest")),
            ("event_delivery", big_integer_null("digest_at")),
        ] {
            manager.alter_table(Table::alter().table(table).add_column(column).take()).await?;
        }
        create(
            manager,
            [
                partial("event_delivery_due", "event_delivery", ["subscription_id", "next_at"], "next_at"),
                partial("event_delivery_by_digest", "event_delivery", ["subscription_id", "digest_at"], "digest_at"),
            ],
        )
        .await
    })
}
