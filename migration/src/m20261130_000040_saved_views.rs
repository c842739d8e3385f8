//! What people keep of the list of services: saved views, and their favourites.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, index};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let saved_view = Table::create()
            .table("saved_view")
            .col(big_pk_auto("id"))
            .col(big_integer("user_id"))
            .col(text("name"))
            .col(text("query"))
            .col(boolean("shared"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .foreign_key(&mut cascade("saved_view", "user_id", "user"))
            .take();
        manager.create_table(saved_view).await?;
        let favourite = Table::create()
            .table("favourite")
            .col(big_pk_auto("id"))
            .col(big_integer("user_id"))
            .col(big_integer("service_id"))
            .col(big_integer("created_at"))
            .foreign_key(&mut cascade("favourite", "user_id", "user"))
            .foreign_key(&mut cascade("favourite", "service_id", "service"))
            .take();
        manager.create_table(favourite).await?;
        let indexes = [
            index("saved_view_by_user_name", "saved_view", ["user_id", "name"]).unique().take(),
            index("saved_view_by_shared", "saved_view", ["shared"]),
            index("favourite_by_user_service", "favourite", ["user_id", "service_id"]).unique().take(),
            index("favourite_by_service", "favourite", ["service_id"]),
        ];
        create(manager, indexes).await
    })
}
