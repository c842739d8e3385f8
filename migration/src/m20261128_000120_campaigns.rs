//! Campaigns, and the checks that belong to them.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{create, partial, restrict, set_null};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let campaign = Table::create()
            .table("campaign")
            .col(big_pk_auto("id"))
            .col(text("name"))
            .col(text_null("project_brief"))
            .col(big_integer_null("owner_id"))
            .col(big_integer_null("filter_id"))
            .col(big_integer_null("start_at"))
            .col(big_integer_null("target_at"))
            .col(big_integer_null("ended_at"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .foreign_key(&mut set_null("campaign", "owner_id", "team"))
            .foreign_key(&mut restrict("campaign", "filter_id", "filter"))
            .take();
        manager.create_table(campaign).await?;
        let db = manager.get_connection();
        db.execute_unprepared(
            "ALTER TABLE \"check\" ADD COLUMN campaign_id bigint NULL REFERENCES campaign (id) ON DELETE CASCADE",
        )
        .await?;
        create(
            manager,
            [
                partial("campaign_by_owner", "campaign", ["owner_id"], "owner_id"),
                partial("campaign_by_filter", "campaign", ["filter_id"], "filter_id"),
                partial("check_by_campaign", "check", ["campaign_id", "id"], "campaign_id"),
            ],
        )
        .await
    })
}
