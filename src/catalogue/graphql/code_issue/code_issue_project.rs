//! Code issue projects: what a custom integration scans.
//! [`code_issue_project_resource`](super::code_issue_project_resource) connects them to services and repositories.

use sea_orm::sea_query::OnConflict;

use super::code_issue_project_resource::place;
use crate::engine::page::{Edge, Page};
use crate::entity::code_issue_project::{ActiveModel, Column};
use crate::entity::code_issue_project_resource::{self as resource, Column as Link};
use crate::entity::field_rule::FieldRules;
use crate::entity::timestamp::touched;
use crate::entity::{code_issue_project, integration, repository, row_lock, service};
use crate::graphql::field::identifier::{OneOf, exactly_one, given};
use crate::graphql::integration::require_custom;
use crate::graphql::list::relation::present;
use crate::graphql::prelude::*;

impl CodeIssueProjectResolver for CodeIssueProject {
    async fn integration(projects: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Integration>> {
        let ids = projects.iter().map(|project| Some(project.integration_id));
        let rows = present(integration::Entity::by_ids(ctx.db(), ids).await?)?;
        Ok(rows.into_iter().map(Integration::from).collect())
    }

    async fn resources(
        projects: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<CodeIssueProjectResourceConnectionType>> {
        let db = ctx.db();
        let ids = projects.iter().map(|project| project.id);
        let links = List::<resource::Entity>::new(Link::Id).of_parents(Link::CodeIssueProjectId, ids);
        let pages = links.pages(ctx, &args.request()?).await?;

        let links = || pages.iter().flat_map(|page| page.edges.iter().map(|edge| &edge.node));
        let services = service::Entity::by_ids(db, links().map(|link| link.service_id)).await?;
        let repositories = repository::Entity::by_ids(db, links().map(|link| link.repository_id)).await?;
        let found = services.into_iter().zip(repositories);
        let mut found = found.map(|(service, repository)| service.map(Into::into).or(repository.map(Into::into)));
        let mut page = |Page { edges, info, total_count }| {
            // A foreign key guarantees the resource. Without it, the edge would be left out.
            let edge =
                |Edge { node: _, cursor }: Edge<resource::Model>| Some(Edge { node: found.next().flatten()?, cursor });
            Page { edges: Vec::into_iter(edges).filter_map(edge).collect(), info, total_count }
        };
        Ok(pages.into_iter().map(&mut page).collect())
    }
}

/// Finds the project that a client names, for a query.
pub(in crate::graphql) async fn find(
    ctx: &Ctx<'_>,
    args: &AccountCodeIssueProjectArgs,
) -> Result<Option<CodeIssueProject>> {
    let AccountCodeIssueProjectArgs { id, identifier } = args;
    match exactly_one(("id", given(id)), ("identifier", identifier.value()))? {
        OneOf::First(id) => id::find::<code_issue_project::Entity>(ctx.db(), id).await,
        OneOf::Second(CodeIssueProjectIdentifierInput { integration, external_id }) => {
            let IdentifierInput { id, alias: _ } = integration;
            let number = id.value().and_then(|id| id::number::<integration::Entity>(id));
            match number {
                Some(number) => Ok(code_issue_project::by_external_id(ctx.db(), number, external_id).await?),
                None => Ok(None),
            }
        }
    }
}

/// All projects, a page at a time.
pub(in crate::graphql) async fn page(ctx: &Ctx<'_>, request: &PageRequest) -> Result<CodeIssueProjectConnectionType> {
    List::<code_issue_project::Entity>::new(code_issue_project::Column::Id).page(ctx, request).await
}

/// Resolves an identifier to the key of the custom integration and the project's id in the source system. The project
/// itself need not exist.
async fn key(db: &dyn ReadHandle, identifier: &CodeIssueProjectIdentifierInput) -> Result<(i64, String)> {
    let CodeIssueProjectIdentifierInput { integration, external_id } = identifier;
    let mut problems = Problems::default();
    let integration = require_custom(db, integration).await;
    let integration = integration.map_err(|error| error.map_user(|error| error.within("integration")));
    let integration = problems.take_any(integration)?.map(|row| row.id);
    let external_id = problems.take(code_issue_project::Entity::rule(Column::ExternalId).required_text(external_id));
    problems.none()?;
    Ok((integration.unwrap_or_default(), external_id.unwrap_or_default()))
}

/// Finds the project that a mutation names by its integration and its id in the source system.
pub(in crate::graphql) async fn require(
    db: &dyn ReadHandle,
    identifier: &CodeIssueProjectIdentifierInput,
) -> Result<CodeIssueProject> {
    let (integration_id, external_id) = key(db, identifier).await?;
    let found = code_issue_project::by_external_id(db, integration_id, &external_id).await?;
    Ok(found.ok_or_else(|| {
        let what = format!("code issue project of the integration with the externalId {}", quoted(&external_id));
        UserError::new("externalId", id::absent(&what)).not_found()
    })?)
}

impl CodeIssueProjectUpsertMutation for Mutation {
    async fn code_issue_project_upsert(
        ctx: &MutationCtx<'_>,
        input: CodeIssueProjectUpsertInput,
    ) -> Result<CodeIssueProjectUpsertPayload> {
        let CodeIssueProjectUpsertInput { identifier, name, url } = input;
        let db = ctx.db();
        let mut draft = Draft::<code_issue_project::Entity>::new();
        let key = key(db, &identifier).await.map_err(|error| error.map_user(|error| error.within("identifier")));
        let key = draft.problems.take_any(key)?;
        draft.set_required(Column::Name, &name);
        draft.set(Column::ExternalUrl, &url);

        let (changes, (integration_id, external_id)) = (draft.done()?, key.unwrap_or_default());
        row_lock::row::<integration::Entity>(db, integration_id, LockType::KeyShare).await?;
        let before = code_issue_project::by_external_id(db, integration_id, &external_id).await?;
        let renamed = before.is_none_or(|before| before.name != name);
        let project = upsert(db, integration_id, external_id, changes).await?;
        place(db, &project, renamed).await?;
        Ok(CodeIssueProjectUpsertPayload { code_issue_project: Some(project), ..Default::default() })
    }
}

async fn upsert(
    db: &Transaction,
    integration_id: i64,
    external_id: String,
    changes: ActiveModel,
) -> Result<CodeIssueProject> {
    let mut update = OnConflict::columns([Column::IntegrationId, Column::ExternalId]);
    update.update_column(Column::Name).value(Column::UpdatedAt, touched(Column::UpdatedAt));
    if changes.external_url.is_set() {
        update.update_column(Column::ExternalUrl);
    }
    let now = Timestamp::now();
    let row = ActiveModel {
        integration_id: Set(integration_id),
        external_id: Set(external_id),
        created_at: Set(now),
        updated_at: Set(now),
        ..changes
    };
    Ok(db.insert_or(code_issue_project::Entity::insert(row).on_conflict(update)).await?)
}

impl CodeIssueProjectDeleteMutation for Mutation {
    async fn code_issue_project_delete(
        ctx: &MutationCtx<'_>,
        input: CodeIssueProjectIdentifierInput,
    ) -> Result<CodeIssueProjectDeletePayload> {
        let db = ctx.db();
        let project = require(db, &input).await?;
        ctx.shed_first::<code_issue_project::Entity>(project.id).await?;
        let deleted_id = Some(CodeIssueProjectResolver::id(&project));
        let deleted_alias = Some(project.external_id.clone());
        db.delete(project).await?;
        Ok(CodeIssueProjectDeletePayload { deleted_id, deleted_alias, ..Default::default() })
    }
}
