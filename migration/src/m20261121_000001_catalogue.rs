//! Users, teams, tiers, lifecycles, services, repositories, their aliases and their tags.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, exactly_one, index, partial, set_null};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        people(manager).await?;
        grades(manager).await?;
        services(manager).await?;
        repositories(manager).await?;
        tags(manager).await
    })
}

async fn people(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let user = Table::create()
        .table("user")
        .col(big_pk_auto("id"))
        .col(text("name"))
        .col(text("email"))
        // The email address in lower case. It must be unique, and deployers are matched by it.
        .col(text("email_key"))
        .col(text("role"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .take();
    let team = Table::create()
        .table("team")
        .col(big_pk_auto("id"))
        .col(text("name"))
        // The slug of the current name; also a row of team_alias.
        .col(text("alias"))
        .col(text_null("responsibilities"))
        .col(big_integer_null("manager_id"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .foreign_key(&mut set_null("team", "manager_id", "user"))
        .take();
    let alias = Table::create()
        .table("team_alias")
        .col(big_pk_auto("id"))
        .col(big_integer("team_id"))
        .col(text("value"))
        .col(text("kind"))
        .foreign_key(&mut cascade("team_alias", "team_id", "team"))
        .take();
    let membership = Table::create()
        .table("team_membership")
        .col(big_pk_auto("id"))
        .col(big_integer("team_id"))
        .col(big_integer("user_id"))
        .col(text_null("role"))
        .foreign_key(&mut cascade("team_membership", "team_id", "team"))
        .foreign_key(&mut cascade("team_membership", "user_id", "user"))
        .take();
    for table in [user, team, alias, membership] {
        manager.create_table(table).await?;
    }
    create(
        manager,
        [
            index("user_by_email", "user", ["email_key"]).unique().take(),
            index("team_by_name", "team", ["name"]).unique().take(),
            index("team_by_manager", "team", ["manager_id"]),
            index("team_alias_by_value", "team_alias", ["value"]).unique().take(),
            index("team_alias_by_team", "team_alias", ["team_id", "id"]),
            index("team_membership_by_team", "team_membership", ["team_id", "user_id"]).unique().take(),
            index("team_membership_by_age", "team_membership", ["team_id", "id"]),
            index("team_membership_by_user", "team_membership", ["user_id", "team_id"]),
        ],
    )
    .await
}

async fn grades(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    for name in ["tier", "lifecycle"] {
        let table = Table::create()
            .table(name)
            .col(big_pk_auto("id"))
            .col(text("alias"))
            .col(text("name"))
            .col(text_null("description"))
            .col(integer("index"))
            .take();
        manager.create_table(table).await?;
    }
    create(
        manager,
        [
            index("tier_by_alias", "tier", ["alias"]).unique().take(),
            index("lifecycle_by_alias", "lifecycle", ["alias"]).unique().take(),
        ],
    )
    .await
}

async fn services(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let service = Table::create()
        .table("service")
        .col(big_pk_auto("id"))
        .col(text("name"))
        // The slug of the current name; also a row of service_alias.
        .col(text("slug"))
        .col(text_null("description"))
        .col(text_null("language"))
        .col(text_null("framework"))
        .col(text_null("product"))
        .col(text_null("note"))
        .col(big_integer_null("owner_id"))
        .col(big_integer_null("tier_id"))
        .col(big_integer_null("lifecycle_id"))
        // The name of the service file that governs the service; null if the service is not locked.
        .col(text_null("locked_by"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .foreign_key(&mut set_null("service", "owner_id", "team"))
        .foreign_key(&mut set_null("service", "tier_id", "tier"))
        .foreign_key(&mut set_null("service", "lifecycle_id", "lifecycle"))
        .take();
    let alias = Table::create()
        .table("service_alias")
        .col(big_pk_auto("id"))
        .col(big_integer("service_id"))
        .col(text("value"))
        .col(text("kind"))
        .foreign_key(&mut cascade("service_alias", "service_id", "service"))
        .take();
    manager.create_table(service).await?;
    manager.create_table(alias).await?;
    create(
        manager,
        [
            index("service_by_name", "service", ["name", "id"]),
            index("service_by_owner", "service", ["owner_id", "id"]),
            index("service_by_tier", "service", ["tier_id", "id"]),
            index("service_by_lifecycle", "service", ["lifecycle_id", "id"]),
            index("service_by_language", "service", ["language", "id"]),
            index("service_by_framework", "service", ["framework", "id"]),
            index("service_by_product", "service", ["product", "id"]),
            index("service_alias_by_value", "service_alias", ["value"]).unique().take(),
            index("service_alias_by_service", "service_alias", ["service_id", "id"]),
        ],
    )
    .await
}

async fn repositories(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let repository = Table::create()
        .table("repository")
        .col(big_pk_auto("id"))
        .col(text("name"))
        .col(text("default_alias"))
        .col(text_null("default_branch"))
        .col(text_null("url"))
        .col(boolean("private"))
        .col(boolean("visible"))
        .col(big_integer_null("archived_at"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .take();
    let link = Table::create()
        .table("service_repository")
        .col(big_pk_auto("id"))
        .col(big_integer("service_id"))
        .col(big_integer("repository_id"))
        .col(text("base_directory"))
        .col(text_null("display_name"))
        .foreign_key(&mut cascade("service_repository", "service_id", "service"))
        .foreign_key(&mut cascade("service_repository", "repository_id", "repository"))
        .take();
    manager.create_table(repository).await?;
    manager.create_table(link).await?;
    create(
        manager,
        [
            index("repository_by_default_alias", "repository", ["default_alias"]).unique().take(),
            index("repository_by_name", "repository", ["name", "id"]),
            index("service_repository_by_service", "service_repository", ["service_id", "repository_id"])
                .unique()
                .take(),
            index("service_repository_by_age", "service_repository", ["service_id", "id"]),
            index("service_repository_by_repository", "service_repository", ["repository_id", "service_id"]),
        ],
    )
    .await
}

/// A tag has one owner out of four. Each index covers the tags of one kind of owner, so that writing a service's tag
/// does not touch the indexes of teams.
async fn tags(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let tag = Table::create()
        .table("tag")
        .col(big_pk_auto("id"))
        .col(text("key"))
        .col(text("value"))
        .col(big_integer_null("service_id"))
        .col(big_integer_null("repository_id"))
        .col(big_integer_null("team_id"))
        .col(big_integer_null("user_id"))
        .check(exactly_one(["service_id", "repository_id", "team_id", "user_id"]))
        .foreign_key(&mut cascade("tag", "service_id", "service"))
        .foreign_key(&mut cascade("tag", "repository_id", "repository"))
        .foreign_key(&mut cascade("tag", "team_id", "team"))
        .foreign_key(&mut cascade("tag", "user_id", "user"))
        .take();
    manager.create_table(tag).await?;
    create(
        manager,
        [
            // Unique. The key comes first, so that the same index lists the services that have a key.
            partial("tag_by_key_service", "tag", ["key", "service_id"], "service_id").unique().take(),
            partial("tag_by_key_repository", "tag", ["key", "repository_id"], "repository_id").unique().take(),
            partial("tag_by_key_team", "tag", ["key", "team_id"], "team_id").unique().take(),
            partial("tag_by_key_user", "tag", ["key", "user_id"], "user_id").unique().take(),
            partial("tag_by_service", "tag", ["service_id", "id"], "service_id"),
            partial("tag_by_repository", "tag", ["repository_id", "id"], "repository_id"),
            partial("tag_by_team", "tag", ["team_id", "id"], "team_id"),
            partial("tag_by_user", "tag", ["user_id", "id"], "user_id"),
            partial("tag_by_key_value_service", "tag", ["key", "value", "service_id"], "service_id"),
            partial("tag_by_value_service", "tag", ["value", "service_id"], "service_id"),
        ],
    )
    .await
}
