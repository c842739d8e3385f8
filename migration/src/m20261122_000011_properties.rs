//! Property definitions, and their values for services and teams.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, exactly_one, index, partial};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        let definition = Table::create()
            .table("property_definition")
            .col(big_pk_auto("id"))
            .col(text("alias"))
            .col(text("name"))
            .col(text_null("description"))
            .col(text("schema"))
            .col(boolean("allowed_in_config_files"))
            .col(text("property_display_status"))
            .col(text("locked_status"))
            .col(boolean("is_of_teams"))
            .col(big_integer_null("component_type_id"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .foreign_key(&mut cascade("property_definition", "component_type_id", "component_type"))
            .take();
        let property = Table::create()
            .table("property")
            .col(big_pk_auto("id"))
            .col(big_integer("definition_id"))
            .col(big_integer_null("service_id"))
            .col(big_integer_null("team_id"))
            .col(text("value"))
            .col(text("search_key"))
            .check(exactly_one(["service_id", "team_id"]))
            .foreign_key(&mut cascade("property", "definition_id", "property_definition"))
            .foreign_key(&mut cascade("property", "service_id", "service"))
            .foreign_key(&mut cascade("property", "team_id", "team"))
            .take();
        manager.create_table(definition).await?;
        manager.create_table(property).await?;
        let of_type = ["component_type_id", "id"];
        create(
            manager,
            [
                index("property_definition_by_alias", "property_definition", ["alias"]).unique().take(),
                partial("property_definition_by_type", "property_definition", of_type, "component_type_id"),
                index("property_by_definition", "property", ["definition_id", "search_key", "service_id"]),
                partial("property_of_service", "property", ["service_id", "definition_id"], "service_id")
                    .unique()
                    .take(),
                partial("property_of_team", "property", ["team_id", "definition_id"], "team_id").unique().take(),
                partial("property_by_service", "property", ["service_id", "id"], "service_id"),
                partial("property_by_team", "property", ["team_id", "id"], "team_id"),
            ],
        )
        .await
    })
}
