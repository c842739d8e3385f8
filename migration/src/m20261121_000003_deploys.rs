//! Deploys, their numbers, and the suggestions that follow from them.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, exactly_one, index, partial, set_null};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        deploys(manager).await?;
        numbers(manager).await?;
        suggestions(manager).await
    })
}

/// A deploy outlives its service, its integration and its user, because it records what took place.
async fn deploys(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let deploy = Table::create()
        .table("deploy")
        .col(big_pk_auto("id"))
        .col(big_integer_null("integration_id"))
        // Null while no service has the alias.
        .col(big_integer_null("service_id"))
        // As sent, whatever happened to the alias later.
        .col(text("service_alias"))
        .col(big_integer_null("associated_user_id"))
        .col(text("description"))
        .col(big_integer("deployed_at"))
        .col(big_integer_null("started_at"))
        .col(text_null("deploy_url"))
        .col(text_null("dedup_id"))
        .col(text("deploy_number"))
        .col(text_null("environment"))
        // The environment in lower case, for filters.
        .col(text_null("environment_key"))
        // The status as sent, and the normalised one.
        .col(text_null("status"))
        .col(text_null("deploy_status"))
        .col(text_null("deployer_id"))
        .col(text_null("deployer_name"))
        .col(text_null("deployer_email"))
        .col(text_null("commit_sha"))
        .col(text_null("commit_message"))
        .col(text_null("commit_branch"))
        .col(big_integer_null("committed_at"))
        .col(text_null("committer_name"))
        .col(text_null("committer_email"))
        .col(text_null("commit_author_name"))
        .col(text_null("commit_author_email"))
        .col(big_integer_null("commit_authoring_date"))
        .col(big_integer("created_at"))
        .foreign_key(&mut set_null("deploy", "integration_id", "integration"))
        .foreign_key(&mut set_null("deploy", "service_id", "service"))
        .foreign_key(&mut set_null("deploy", "associated_user_id", "user"))
        .take();
    manager.create_table(deploy).await?;
    create(
        manager,
        [
            index("deploy_by_time", "deploy", ["deployed_at", "id"]),
            partial("deploy_by_service", "deploy", ["service_id", "deployed_at", "id"], "service_id"),
            partial("deploy_by_environment", "deploy", ["environment_key", "deployed_at", "id"], "environment_key"),
            // Covers every row, so that it serves the foreign key too. Nulls do not conflict.
            index("deploy_by_dedup_id", "deploy", ["integration_id", "dedup_id"]).unique().take(),
            partial("deploy_by_user", "deploy", ["associated_user_id"], "associated_user_id"),
            // The deploys without a service.
            index("deploy_by_unknown_alias", "deploy", ["service_alias", "id"])
                .and_where(Expr::col("service_id").is_null())
                .take(),
        ],
    )
    .await
}

/// The last number taken, for each service and for each alias without a service. In a table of its own, so that a
/// deploy does not rewrite the service's row.
async fn numbers(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let number = Table::create()
        .table("deploy_number")
        .col(big_pk_auto("id"))
        .col(big_integer_null("service_id"))
        .col(text_null("alias"))
        .col(big_integer("last"))
        .check(exactly_one(["service_id", "alias"]))
        .foreign_key(&mut cascade("deploy_number", "service_id", "service"))
        .take();
    manager.create_table(number).await?;
    create(
        manager,
        [
            index("deploy_number_by_service", "deploy_number", ["service_id"]).unique().take(),
            index("deploy_number_by_alias", "deploy_number", ["alias"]).unique().take(),
        ],
    )
    .await
}

async fn suggestions(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let suggestion = Table::create()
        .table("suggestion")
        .col(big_pk_auto("id"))
        // The alias that no service has, or the name of the project that is connected to nothing.
        .col(text("alias"))
        .col(big_integer_null("code_issue_project_id"))
        .col(text("state"))
        .col(integer("deploy_count"))
        .col(big_integer("first_seen_at"))
        .col(big_integer("last_seen_at"))
        // The service it was accepted for.
        .col(big_integer_null("service_id"))
        .foreign_key(&mut cascade("suggestion", "code_issue_project_id", "code_issue_project"))
        .foreign_key(&mut set_null("suggestion", "service_id", "service"))
        .take();
    let seen_by = Table::create()
        .table("suggestion_integration")
        .col(big_pk_auto("id"))
        .col(big_integer("suggestion_id"))
        .col(big_integer("integration_id"))
        .foreign_key(&mut cascade("suggestion_integration", "suggestion_id", "suggestion"))
        .foreign_key(&mut cascade("suggestion_integration", "integration_id", "integration"))
        .take();
    manager.create_table(suggestion).await?;
    manager.create_table(seen_by).await?;
    create(
        manager,
        [
            // Unique among suggestions from deploys. A project may have the same name as such an alias.
            index("suggestion_by_alias", "suggestion", ["alias"])
                .unique()
                .and_where(Expr::col("code_issue_project_id").is_null())
                .take(),
            index("suggestion_by_project", "suggestion", ["code_issue_project_id"]).unique().take(),
            index("suggestion_by_state", "suggestion", ["state", "id"]),
            partial("suggestion_by_service", "suggestion", ["service_id"], "service_id"),
            index(
                "suggestion_integration_by_suggestion",
                "suggestion_integration",
                ["suggestion_id", "integration_id"],
            )
            .unique()
            .take(),
            index("suggestion_integration_by_integration", "suggestion_integration", ["integration_id"]),
        ],
    )
    .await
}
