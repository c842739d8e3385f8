//! Events, who subscribes to them, and their deliveries.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, index, partial};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let event = Table::create()
            .table("event")
            .col(big_pk_auto("id"))
            .col(big_integer("at"))
            .col(big_integer_null("waits_since"))
            .col(text("what"))
            .col(text("subject_class"))
            .col(big_integer_null("subject_id"))
            .col(text_null("subject_name"))
            .col(big_integer_null("service_id"))
            .col(big_integer_null("team_id"))
            .col(big_integer_null("earlier_team_id"))
            .col(big_integer_null("tier_id"))
            .col(text_null("environment"))
            .col(text("detail"))
            .take();
        manager.create_table(event).await?;
        let subscription = Table::create()
            .table("event_subscription")
            .col(big_pk_auto("id"))
            .col(text("name"))
            .col(text("form"))
            .col(text("host"))
            .col(text("kinds"))
            .col(big_integer_null("team_id"))
            .col(big_integer_null("service_id"))
            .col(big_integer_null("tier_id"))
            .col(text_null("environment"))
            .col(boolean("enabled"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .foreign_key(&mut cascade("event_subscription", "team_id", "team"))
            .foreign_key(&mut cascade("event_subscription", "service_id", "service"))
            .foreign_key(&mut cascade("event_subscription", "tier_id", "tier"))
            .take();
        manager.create_table(subscription).await?;
        let receiver = Table::create()
            .table("event_receiver")
            .col(big_pk_auto("id"))
            .col(big_integer("subscription_id"))
            .col(text("url"))
            .col(text("secret"))
            .col(text_null("earlier_secret"))
            .col(big_integer_null("earlier_until"))
            .col(integer("failures"))
            .col(big_integer_null("retry_at"))
            .col(text_null("error"))
            .col(big_integer_null("delivered_at"))
            .col(big_integer("missed"))
            .col(text_null("leased_by"))
            .col(big_integer_null("leased_until"))
            .foreign_key(&mut cascade("event_receiver", "subscription_id", "event_subscription"))
            .take();
        manager.create_table(receiver).await?;
        let delivery = Table::create()
            .table("event_delivery")
            .col(big_pk_auto("id"))
            .col(big_integer("subscription_id"))
            .col(big_integer("event_id"))
            .col(text("kind"))
            .col(text("subject"))
            .col(text("state"))
            .col(big_integer_null("next_at"))
            .col(integer("attempts"))
            .col(integer_null("status"))
            .col(text_null("error"))
            .col(big_integer("created_at"))
            .col(big_integer_null("ended_at"))
            .foreign_key(&mut cascade("event_delivery", "subscription_id", "event_subscription"))
            .foreign_key(&mut cascade("event_delivery", "event_id", "event"))
            .take();
        manager.create_table(delivery).await?;
        let db = manager.get_connection();
        db.execute_unprepared("ALTER TABLE token ADD COLUMN expiry_told_at bigint NULL").await?;
        create(
            manager,
            [
                partial("event_waiting", "event", ["id"], "waits_since"),
                partial("event_subscription_by_team", "event_subscription", ["team_id"], "team_id"),
                partial("event_subscription_by_service", "event_subscription", ["service_id"], "service_id"),
                partial("event_subscription_by_tier", "event_subscription", ["tier_id"], "tier_id"),
                index("event_receiver_by_subscription", "event_receiver", ["subscription_id"]).unique().take(),
                index("event_delivery_by_subscription", "event_delivery", ["subscription_id", "created_at", "id"]),
                index("event_delivery_by_event", "event_delivery", ["event_id"]),
                partial("event_delivery_waiting", "event_delivery", ["subscription_id", "subject", "id"], "next_at"),
            ],
        )
        .await
    })
}
