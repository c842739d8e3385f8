//! Checks of services, and the answers to those that people answer.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, index, partial, restrict, set_null};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let check = Table::create()
            .table("check")
            .col(big_pk_auto("id"))
            .col(text("kind"))
            .col(text("name"))
            .col(boolean("enabled"))
            .col(big_integer_null("enable_at"))
            .col(text_null("notes"))
            .col(big_integer("category_id"))
            .col(big_integer("level_id"))
            .col(big_integer_null("filter_id"))
            .col(big_integer_null("owner_id"))
            .col(text("parameters"))
            .col(big_integer_null("property_definition_id"))
            .col(big_integer_null("relationship_definition_id"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .foreign_key(&mut restrict("check", "category_id", "category"))
            .foreign_key(&mut restrict("check", "level_id", "level"))
            .foreign_key(&mut restrict("check", "filter_id", "filter"))
            .foreign_key(&mut set_null("check", "owner_id", "team"))
            .foreign_key(&mut set_null("check", "property_definition_id", "property_definition"))
            .foreign_key(&mut set_null("check", "relationship_definition_id", "relationship_definition"))
            .take();
        let answer = Table::create()
            .table("check_answer")
            .col(big_pk_auto("id"))
            .col(big_integer("check_id"))
            .col(big_integer("service_id"))
            .col(big_integer_null("user_id"))
            .col(boolean("passed"))
            .col(text_null("comment"))
            .col(big_integer("answered_at"))
            .foreign_key(&mut cascade("check_answer", "check_id", "check"))
            .foreign_key(&mut cascade("check_answer", "service_id", "service"))
            .foreign_key(&mut set_null("check_answer", "user_id", "user"))
            .take();
        manager.create_table(check).await?;
        manager.create_table(answer).await?;
        let referring = |name, column| partial(name, "check", [column], column);
        create(
            manager,
            [
                index("check_by_category", "check", ["category_id", "id"]),
                index("check_by_level", "check", ["level_id", "id"]),
                referring("check_by_filter", "filter_id"),
                referring("check_by_owner", "owner_id"),
                referring("check_by_property_definition", "property_definition_id"),
                referring("check_by_relationship_definition", "relationship_definition_id"),
                index("check_answer_once", "check_answer", ["service_id", "check_id"]).unique().take(),
                index("check_answer_by_check", "check_answer", ["check_id"]),
                partial("check_answer_by_user", "check_answer", ["user_id"], "user_id"),
            ],
        )
        .await
    })
}
