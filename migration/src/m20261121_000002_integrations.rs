//! Integrations, and the code issue projects and code issues that custom ones push.

use sea_orm_migration::{prelude::*, schema::*};

use crate::Done;
use crate::ddl::{cascade, create, exactly_one, index, partial};

pub(crate) fn up<'m>(manager: &'m SchemaManager<'m>) -> Done<'m> {
    Box::pin(async move {
        integrations(manager).await?;
        projects(manager).await?;
        issues(manager).await
    })
}

async fn integrations(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let integration = Table::create()
        .table("integration")
        .col(big_pk_auto("id"))
        .col(text("type"))
        .col(text("name"))
        // The secret last part of a deploy endpoint's URL.
        .col(text_null("webhook_id"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .take();
    manager.create_table(integration).await?;
    create(
        manager,
        [
            index("integration_by_type", "integration", ["type", "id"]),
            index("integration_by_webhook", "integration", ["webhook_id"]).unique().take(),
        ],
    )
    .await
}

async fn projects(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let project = Table::create()
        .table("code_issue_project")
        .col(big_pk_auto("id"))
        .col(big_integer("integration_id"))
        .col(text("external_id"))
        .col(text("name"))
        .col(text_null("external_url"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .foreign_key(&mut cascade("code_issue_project", "integration_id", "integration"))
        .take();
    let resource = Table::create()
        .table("code_issue_project_resource")
        .col(big_pk_auto("id"))
        .col(big_integer("code_issue_project_id"))
        .col(big_integer_null("service_id"))
        .col(big_integer_null("repository_id"))
        .check(exactly_one(["service_id", "repository_id"]))
        .foreign_key(&mut cascade("code_issue_project_resource", "code_issue_project_id", "code_issue_project"))
        .foreign_key(&mut cascade("code_issue_project_resource", "service_id", "service"))
        .foreign_key(&mut cascade("code_issue_project_resource", "repository_id", "repository"))
        .take();
    manager.create_table(project).await?;
    manager.create_table(resource).await?;
    let link = "code_issue_project_resource";
    create(
        manager,
        [
            index("code_issue_project_by_external_id", "code_issue_project", ["integration_id", "external_id"])
                .unique()
                .take(),
            index("code_issue_project_by_integration", "code_issue_project", ["integration_id", "id"]),
            index("code_issue_project_by_name", "code_issue_project", ["name", "id"]),
            index("code_issue_project_resource_by_project", link, ["code_issue_project_id", "id"]),
            partial(
                "code_issue_project_resource_by_service",
                link,
                ["service_id", "code_issue_project_id"],
                "service_id",
            )
            .unique()
            .take(),
            partial(
                "code_issue_project_resource_by_repository",
                link,
                ["repository_id", "code_issue_project_id"],
                "repository_id",
            )
            .unique()
            .take(),
        ],
    )
    .await
}

async fn issues(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let issue = Table::create()
        .table("code_issue")
        .col(big_pk_auto("id"))
        .col(big_integer("code_issue_project_id"))
        .col(text("external_id"))
        .col(text("name"))
        .col(text("issue_category"))
        .col(text_null("issue_type"))
        .col(text_null("severity"))
        .col(text_null("external_url"))
        .col(big_integer_null("introduced_at"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .foreign_key(&mut cascade("code_issue", "code_issue_project_id", "code_issue_project"))
        .take();
    manager.create_table(issue).await?;
    for name in ["code_issue_cve", "code_issue_cwe"] {
        let table = Table::create()
            .table(name)
            .col(big_pk_auto("id"))
            .col(big_integer("code_issue_id"))
            .col(text("identifier"))
            .col(text_null("url"))
            .foreign_key(&mut cascade(name, "code_issue_id", "code_issue"))
            .take();
        manager.create_table(table).await?;
    }
    create(
        manager,
        [
            index("code_issue_by_external_id", "code_issue", ["code_issue_project_id", "external_id"]).unique().take(),
            index("code_issue_by_project", "code_issue", ["code_issue_project_id", "id"]),
            index("code_issue_cve_by_issue", "code_issue_cve", ["code_issue_id", "id"]),
            index("code_issue_cwe_by_issue", "code_issue_cwe", ["code_issue_id", "id"]),
        ],
    )
    .await
}
