//! Scorecards, with their aliases. Each has a category of its own. From now on, only the names of the rubric's
//! categories are unique.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, index, partial, restrict, set_null};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let scorecard = Table::create()
            .table("scorecard")
            .col(big_pk_auto("id"))
            .col(text("name"))
            // The slug of the current name; also a row of `scorecard_alias`.
            .col(text("slug"))
            .col(text_null("description"))
            .col(boolean("affects_overall_service_levels"))
            .col(big_integer_null("owner_id"))
            .col(big_integer_null("filter_id"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .foreign_key(&mut set_null("scorecard", "owner_id", "team"))
            .foreign_key(&mut restrict("scorecard", "filter_id", "filter"))
            .take();
        let alias = Table::create()
            .table("scorecard_alias")
            .col(big_pk_auto("id"))
            .col(big_integer("scorecard_id"))
            .col(text("value"))
            .col(text("kind"))
            .foreign_key(&mut cascade("scorecard_alias", "scorecard_id", "scorecard"))
            .take();
        manager.create_table(scorecard).await?;
        manager.create_table(alias).await?;
        let db = manager.get_connection();
        db.execute_unprepared(
            "ALTER TABLE category ADD COLUMN scorecard_id bigint NULL REFERENCES scorecard (id) ON DELETE CASCADE",
        )
        .await?;
        db.execute_unprepared("DROP INDEX category_by_name").await?;
        let by_name = index("category_by_name", "category", ["name"]).unique().take();
        create(
            manager,
            [
                partial("scorecard_by_owner", "scorecard", ["owner_id"], "owner_id"),
                partial("scorecard_by_filter", "scorecard", ["filter_id"], "filter_id"),
                index("scorecard_alias_by_value", "scorecard_alias", ["value"]).unique().take(),
                index("scorecard_alias_by_scorecard", "scorecard_alias", ["scorecard_id", "id"]),
                by_name.clone().and_where(Expr::col("scorecard_id").is_null()).take(),
                partial("category_by_scorecard", "category", ["scorecard_id", "id"], "scorecard_id"),
            ],
        )
        .await
    })
}
