//! The levels and categories that services are to be measured by.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let level = Table::create()
            .table("level")
            .col(big_pk_auto("id"))
            .col(text("alias"))
            .col(text("name"))
            .col(text_null("description"))
            .col(integer("index"))
            .take();
        let category = Table::create()
            .table("category")
            .col(big_pk_auto("id"))
            .col(text("name"))
            .col(text_null("description"))
            .take();
        manager.create_table(level).await?;
        manager.create_table(category).await?;
        create(
            manager,
            [
                index("level_by_alias", "level", ["alias"]).unique().take(),
                index("level_by_index", "level", ["index", "id"]),
                index("category_by_name", "category", ["name"]).unique().take(),
            ],
        )
        .await
    })
}
