//! Component types, dependencies, tools, contacts, and parents of teams.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, exactly_one, index, partial};

/// The component types of a new catalogue: alias, name, description, icon. The first one is the default.
const TYPES: [[&str; 4]; 6] = [
    ["service", "Service", "A program that runs and answers requests.", "PhGear"],
    ["library", "Library", "Code that other programs are built with.", "PhBooks"],
    ["job", "Job", "A program that runs at times and ends.", "PhClock"],
    ["website", "Website", "Pages that people open in a browser.", "PhBrowser"],
    ["app", "Application", "A program that people install.", "PhDeviceMobile"],
    ["database", "Database", "A store of data that other programs use.", "PhDatabase"],
];

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        types(manager).await?;
        let db = manager.get_connection();
        for column in [
            "type_id bigint NULL REFERENCES component_type (id) ON DELETE SET NULL",
            "api_document_path text NULL",
            "preferred_api_document_source text NULL",
        ] {
            db.execute_unprepared(&format!("ALTER TABLE service ADD COLUMN {column}")).await?;
        }
        db.execute_unprepared(
            "ALTER TABLE team ADD COLUMN parent_team_id bigint NULL REFERENCES team (id) ON DELETE SET NULL",
        )
        .await?;
        create(
            manager,
            [
                partial("service_by_type", "service", ["type_id", "id"], "type_id"),
                partial("team_by_parent_team", "team", ["parent_team_id", "id"], "parent_team_id"),
            ],
        )
        .await?;
        tools(manager).await?;
        contacts(manager).await?;
        dependencies(manager).await
    })
}

async fn types(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let table = Table::create()
        .table("component_type")
        .col(big_pk_auto("id"))
        .col(text("alias"))
        .col(text("name"))
        .col(text_null("description"))
        .col(text_null("icon_name"))
        .col(text_null("icon_color"))
        .col(boolean("is_default"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .take();
    manager.create_table(table).await?;
    let by_alias = index("component_type_by_alias", "component_type", ["alias"]).unique().take();
    create(manager, [by_alias]).await?;
    let mut insert = Query::insert();
    let columns = ["alias", "name", "description", "icon_name", "is_default", "created_at", "updated_at"];
    insert.into_table("component_type").columns(columns);
    for ([alias, name, description, icon], place) in TYPES.into_iter().zip(0..) {
        let now = Expr::val(0_i64);
        insert.values_panic([
            alias.into(),
            name.into(),
            description.into(),
            icon.into(),
            Expr::val(place == 0),
            now.clone(),
            now,
        ]);
    }
    manager.execute(insert).await
}

async fn tools(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let table = Table::create()
        .table("tool")
        .col(big_pk_auto("id"))
        .col(big_integer("service_id"))
        .col(text("category"))
        .col(text("display_name"))
        .col(text("url"))
        .col(text_null("environment"))
        .foreign_key(&mut cascade("tool", "service_id", "service"))
        .take();
    manager.create_table(table).await?;
    create(manager, [index("tool_by_service", "tool", ["service_id", "id"])]).await
}

/// A contact has one owner out of three.
async fn contacts(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let table = Table::create()
        .table("contact")
        .col(big_pk_auto("id"))
        .col(text("type"))
        .col(text("address"))
        .col(text_null("display_name"))
        .col(text_null("display_type"))
        .col(text_null("external_id"))
        .col(boolean("is_default"))
        .col(big_integer_null("service_id"))
        .col(big_integer_null("team_id"))
        .col(big_integer_null("user_id"))
        .check(exactly_one(["service_id", "team_id", "user_id"]))
        .foreign_key(&mut cascade("contact", "service_id", "service"))
        .foreign_key(&mut cascade("contact", "team_id", "team"))
        .foreign_key(&mut cascade("contact", "user_id", "user"))
        .take();
    manager.create_table(table).await?;
    create(
        manager,
        [
            partial("contact_by_service", "contact", ["service_id", "id"], "service_id"),
            partial("contact_by_team", "contact", ["team_id", "id"], "team_id"),
            partial("contact_by_user", "contact", ["user_id", "id"], "user_id"),
        ],
    )
    .await
}

async fn dependencies(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let table = Table::create()
        .table("service_dependency")
        .col(big_pk_auto("id"))
        // The service that depends.
        .col(big_integer("source_id"))
        // The service that it depends on.
        .col(big_integer("destination_id"))
        .col(text_null("notes"))
        .foreign_key(&mut cascade("service_dependency", "source_id", "service"))
        .foreign_key(&mut cascade("service_dependency", "destination_id", "service"))
        .take();
    manager.create_table(table).await?;
    create(
        manager,
        [
            index("service_dependency_once", "service_dependency", ["source_id", "destination_id"]).unique().take(),
            index("service_dependency_by_source", "service_dependency", ["source_id", "id"]),
            index("service_dependency_by_destination", "service_dependency", ["destination_id", "id"]),
        ],
    )
    .await
}
