//! Code issue projects: what a custom integration scans, and the services and repositories each is connected to.
//!
//! A project that is pushed finds its place by its exact name; one that finds none becomes a suggestion.

use sea_orm::sea_query::{Expr, ExprTrait, OnConflict, Query, SelectStatement};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, ModelTrait, QueryFilter, Set};

use super::context::Ctx;
use super::id::{self, Id};
use super::integration::{self as integrations, require_custom};
use super::list::List;
use super::page::{Edge, Page, PageArguments, PageRequest};
use super::repository::{meanwhile, present};
use super::schema::*;
use super::text;
use super::types::CodeIssueProject;
use crate::db;
use crate::entity::code_issue_project_resource::{self as resource, Column as Link};
use crate::entity::{
    ByIds, Timestamp, code_issue, code_issue_project, integration, repository, service, suggestion,
    suggestion_integration,
};
use crate::error::{Error, Problems, Result, UserError};

impl CodeIssueProjectResolver for CodeIssueProject {
    fn id(&self) -> Id {
        Id::of::<code_issue_project::Entity>(self.id)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn external_id(&self) -> &str {
        &self.external_id
    }

    fn external_url(&self) -> Option<&str> {
        self.external_url.as_deref()
    }

    async fn integration(projects: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Integration>> {
        let ids = projects.iter().map(|project| Some(project.integration_id));
        let rows = present(integration::Entity::by_ids(&ctx.db(), ids).await?)?;
        Ok(rows.into_iter().map(integrations::of).collect())
    }

    async fn resources(
        projects: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<CodeIssueProjectResourceConnectionType>> {
        let db = &ctx.db();
        let ids = projects.iter().map(|project| project.id);
        let links = List::<resource::Entity>::new(Link::Id).of(db, Link::CodeIssueProjectId, ids);
        let pages = links.pages(ctx, &args.request()?).await?;

        let links = || pages.iter().flat_map(|page| page.edges.iter().map(|edge| &edge.node));
        let services = service::Entity::by_ids(db, links().map(|link| link.service_id)).await?;
        let repositories = repository::Entity::by_ids(db, links().map(|link| link.repository_id)).await?;
        let found = services.into_iter().zip(repositories);
        let mut found = found.map(|(service, repository)| service.map(Into::into).or(repository.map(Into::into)));
        let mut page = |Page { edges, info, total_count }| {
            // A resource that was deleted since its link was read is left out.
            let edge =
                |Edge { node: _, cursor }: Edge<resource::Model>| Some(Edge { node: found.next().flatten()?, cursor });
            Page { edges: Vec::into_iter(edges).filter_map(edge).collect(), info, total_count }
        };
        Ok(pages.into_iter().map(&mut page).collect())
    }

    async fn code_issues(
        projects: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<CodeIssueConnectionType>> {
        let ids = projects.iter().map(|project| project.id);
        let issues = List::<code_issue::Entity>::new(code_issue::Column::Id);
        issues.of(&ctx.db(), code_issue::Column::CodeIssueProjectId, ids).pages(ctx, &args.request()?).await
    }
}

/// The project that a client names, or nothing: for queries.
pub(super) async fn find(ctx: &Ctx<'_>, args: &AccountCodeIssueProjectArgs) -> Result<Option<CodeIssueProject>> {
    let AccountCodeIssueProjectArgs { id, identifier } = args;
    match (id.value().filter(|id| !id.is_empty()), identifier.value()) {
        (Some(id), None) => id::find::<code_issue_project::Entity>(&ctx.db(), id).await,
        (None, Some(CodeIssueProjectIdentifierInput { integration, external_id })) => {
            let IdentifierInput { id, alias: _ } = integration;
            let number = id.value().and_then(|id| id::number::<integration::Entity>(id));
            match number {
                Some(number) => Ok(code_issue_project::by_external_id(&ctx.db(), number, external_id).await?),
                None => Ok(None),
            }
        }
        _ => Err(UserError::base("exactly one of id and identifier must be given").into()),
    }
}

/// All projects, a page at a time.
pub(super) async fn page(ctx: &Ctx<'_>, request: &PageRequest) -> Result<CodeIssueProjectConnectionType> {
    List::<code_issue_project::Entity>::new(code_issue_project::Column::Id).page(ctx, request).await
}

/// What an identifier stands for, whether there is such a project or not: the custom integration's key, and the id in
/// the source system.
async fn key(db: &impl ConnectionTrait, identifier: &CodeIssueProjectIdentifierInput) -> Result<(i64, String)> {
    let CodeIssueProjectIdentifierInput { integration, external_id } = identifier;
    let mut problems = Problems::default();
    let integration = require_custom(db, integration).await;
    let integration = integration.map_err(|error| error.map_user(|error| error.within("integration")));
    let integration = problems.take_any(integration)?.map(|row| row.id);
    let external_id = problems.take(text::required("externalId", external_id, text::SHORT));
    problems.none()?;
    Ok((integration.unwrap_or_default(), external_id.unwrap_or_default()))
}

/// The project that a mutation names by where it comes from.
pub(super) async fn require(
    db: &impl ConnectionTrait,
    identifier: &CodeIssueProjectIdentifierInput,
) -> Result<CodeIssueProject> {
    let (integration_id, external_id) = key(db, identifier).await?;
    let found = code_issue_project::by_external_id(db, integration_id, &external_id).await?;
    Ok(found.ok_or_else(|| {
        let message = format!("the integration has no code issue project with the externalId \"{external_id}\"");
        UserError::new("externalId", message).not_found()
    })?)
}

impl CodeIssueProjectUpsertMutation for Mutation {
    async fn code_issue_project_upsert(
        ctx: &Ctx<'_>,
        input: CodeIssueProjectUpsertInput,
    ) -> Result<CodeIssueProjectUpsertPayload> {
        let CodeIssueProjectUpsertInput { identifier, name, url } = input;
        let db = &ctx.db();
        let mut problems = Problems::default();
        let key = key(db, &identifier).await.map_err(|error| error.map_user(|error| error.within("identifier")));
        let key = problems.take_any(key)?;
        let name = problems.take(text::required("name", &name, text::SHORT));
        let url = problems.take(text::changed("url", &url, text::URL)).flatten();
        problems.none()?;

        let ((integration_id, external_id), name) = (key.unwrap_or_default(), name.unwrap_or_default());
        let before = code_issue_project::by_external_id(db, integration_id, &external_id).await?;
        let renamed = before.is_none_or(|before| before.name != name);
        let project = upsert(db, integration_id, external_id, name, url).await?;
        place(db, &project, renamed).await?;
        Ok(CodeIssueProjectUpsertPayload { code_issue_project: Some(project), ..Default::default() })
    }
}

async fn upsert(
    db: &impl ConnectionTrait,
    integration_id: i64,
    external_id: String,
    name: String,
    url: Option<Option<String>>,
) -> Result<CodeIssueProject> {
    use code_issue_project::{ActiveModel, Column, Entity};
    let mut update = OnConflict::columns([Column::IntegrationId, Column::ExternalId]);
    update.update_columns([Column::Name, Column::UpdatedAt]);
    if url.is_some() {
        update.update_column(Column::ExternalUrl);
    }
    let now = Timestamp::now();
    let row = ActiveModel {
        integration_id: Set(integration_id),
        external_id: Set(external_id),
        name: Set(name),
        external_url: Set(url.flatten()),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    Entity::insert(row).on_conflict(update).exec_with_returning(db).await.map_err(meanwhile)
}

/// Connects a project to what bears its name, and suggests it where it is connected to nothing.
async fn place(db: &impl ConnectionTrait, project: &CodeIssueProject, renamed: bool) -> Result<()> {
    let known = suggestion::Entity::find().filter(suggestion::Column::CodeIssueProjectId.eq(project.id));
    // Somebody decided that it needs no connection: a tool that pushes it every night does not overrule them.
    let declined = known.one(db).await?.is_some_and(|known| known.state == suggestion::State::Ignored);
    let mut connected = is_connected(db, project.id).await?;
    if renamed || !(connected || declined) {
        connected |= connect_by_name(db, project).await?;
    }
    match connected {
        true => forget_suggestions(db, &[project.id]).await,
        false => suggest(db, project, suggestion::State::Open).await,
    }
}

async fn is_connected(db: &impl ConnectionTrait, project_id: i64) -> Result<bool> {
    Ok(resource::Entity::find().filter(Link::CodeIssueProjectId.eq(project_id)).one(db).await?.is_some())
}

/// Connects a project to each service and repository of its name, and says whether it was to any.
async fn connect_by_name(db: &impl ConnectionTrait, project: &CodeIssueProject) -> Result<bool> {
    let pairs = || Query::select().expr(Expr::value(project.id)).take();
    let services = pairs()
        .column(service::Column::Id)
        .from(service::Entity)
        .and_where(service::Column::Name.eq(project.name.as_str()))
        .take();
    let repositories = pairs()
        .column(repository::Column::Id)
        .from(repository::Entity)
        .and_where(repository::Column::Name.eq(project.name.as_str()))
        .take();
    let made = connect(db, Link::ServiceId, services).await? + connect(db, Link::RepositoryId, repositories).await?;
    Ok(made > 0)
}

/// Makes links of selected pairs of a project and a resource, those left out that are linked already.
async fn connect(db: &impl ConnectionTrait, resource: Link, pairs: SelectStatement) -> Result<u64> {
    let mut links = Query::insert();
    links.into_table(resource::Entity).columns([Link::CodeIssueProjectId, resource]);
    links.select_from(pairs).map_err(Error::internal)?.on_conflict(OnConflict::new().do_nothing().to_owned());
    Ok(db.execute(&links).await.map_err(meanwhile)?.rows_affected())
}

/// What is connected is no longer lacking.
async fn forget_suggestions(db: &impl ConnectionTrait, project_ids: &[i64]) -> Result<()> {
    let unaccepted = suggestion::Column::State.ne(suggestion::State::Accepted);
    let of_projects = db::any(db, suggestion::Column::CodeIssueProjectId, project_ids);
    suggestion::Entity::delete_many().filter(of_projects).filter(unaccepted).exec(db).await?;
    Ok(())
}

/// Stores that a project is connected to nothing. One that was ignored stays so; one that was accepted is open again,
/// because what it was accepted for is gone.
async fn suggest(db: &impl ConnectionTrait, project: &CodeIssueProject, state: suggestion::State) -> Result<()> {
    use suggestion::{ActiveModel, Column, Entity, State};
    let now = Timestamp::now();
    let row = ActiveModel {
        alias: Set(project.name.clone()),
        code_issue_project_id: Set(Some(project.id)),
        state: Set(state),
        deploy_count: Set(0),
        first_seen_at: Set(now),
        last_seen_at: Set(now),
        service_id: Set(None),
        ..Default::default()
    };
    let given = Expr::col(("excluded", Column::State));
    let present = Expr::col((Entity, Column::State));
    let is_ignored = present.eq(State::Ignored);
    let mut seen = OnConflict::column(Column::CodeIssueProjectId);
    seen.update_columns([Column::Alias, Column::LastSeenAt, Column::ServiceId]);
    seen.value(Column::State, Expr::case(is_ignored, Expr::value(State::Ignored)).finally(given));
    let suggestion = Entity::insert(row).on_conflict(seen).exec_with_returning(db).await.map_err(meanwhile)?;

    let through = suggestion_integration::ActiveModel {
        suggestion_id: Set(suggestion.id),
        integration_id: Set(project.integration_id),
        ..Default::default()
    };
    let once = OnConflict::new().do_nothing().to_owned();
    suggestion_integration::Entity::insert(through)
        .on_conflict(once)
        .exec_without_returning(db)
        .await
        .map_err(meanwhile)?;
    Ok(())
}

impl CodeIssueProjectDeleteMutation for Mutation {
    async fn code_issue_project_delete(
        ctx: &Ctx<'_>,
        input: CodeIssueProjectIdentifierInput,
    ) -> Result<CodeIssueProjectDeletePayload> {
        let db = &ctx.db();
        let project = require(db, &input).await?;
        let deleted_id = Some(CodeIssueProjectResolver::id(&project));
        let deleted_alias = Some(project.external_id.clone());
        project.delete(db).await?;
        Ok(CodeIssueProjectDeletePayload { deleted_id, deleted_alias, ..Default::default() })
    }
}

/// The service or repository that a mutation names.
async fn require_resource(db: &impl ConnectionTrait, id: &str) -> Result<CodeIssueProjectResource> {
    const FIELD: &str = "resourceId";
    let class = id::decode(id).map(|(class, _)| class);
    let complaint = match class.as_deref() {
        Some("Service") => return Ok(id::require::<service::Entity>(db, id, FIELD).await?.into()),
        Some("Repository") => return Ok(id::require::<repository::Entity>(db, id, FIELD).await?.into()),
        Some(class) => format!("this is an id of the class {class}; that of a service or repository is needed"),
        None => "this is not the id of a service or repository: no global id of this catalogue reads like it".into(),
    };
    Err(UserError::new(FIELD, complaint).not_found().into())
}

/// The column of the links that names a resource, its key, its name and its global id.
fn parts(resource: &CodeIssueProjectResource) -> (Link, i64, &str, Id) {
    match resource {
        CodeIssueProjectResource::Service(row) => (Link::ServiceId, row.id, &row.name, ServiceResolver::id(row)),
        CodeIssueProjectResource::Repository(row) => {
            (Link::RepositoryId, row.id, &row.name, RepositoryResolver::id(row))
        }
    }
}

impl CodeIssueProjectResourceConnectMutation for Mutation {
    async fn code_issue_project_resource_connect(
        ctx: &Ctx<'_>,
        input: CodeIssueProjectResourceConnectInput,
    ) -> Result<CodeIssueProjectResourceConnectPayload> {
        let CodeIssueProjectResourceConnectInput { code_issue_project_ids, resource_id } = input;
        let db = &ctx.db();
        let mut problems = Problems::default();
        let projects = problems.take_any(require_all(db, &code_issue_project_ids).await)?.unwrap_or_default();
        let resource = problems.take_any(require_resource(db, &resource_id).await)?;
        problems.none()?;

        if let Some(resource) = &resource {
            let (column, id, ..) = parts(resource);
            let pairs = Query::select()
                .column(code_issue_project::Column::Id)
                .expr(Expr::value(id))
                .from(code_issue_project::Entity)
                .and_where(db::any(db, code_issue_project::Column::Id, &projects))
                .take();
            connect(db, column, pairs).await?;
            forget_suggestions(db, &projects).await?;
        }
        Ok(CodeIssueProjectResourceConnectPayload { resource, ..Default::default() })
    }
}

/// The keys of the projects that a mutation names; the first that is none is the error.
async fn require_all(db: &impl ConnectionTrait, ids: &[String]) -> Result<Vec<i64>> {
    const FIELD: &str = "codeIssueProjectIds";
    if ids.is_empty() {
        return Err(UserError::new(FIELD, "codeIssueProjectIds must name at least one project").into());
    }
    let numbers = || ids.iter().map(|id| id::number::<code_issue_project::Entity>(id));
    let found = code_issue_project::Entity::by_ids(db, numbers()).await?;
    for (id, _) in ids.iter().zip(&found).filter(|(_, found)| found.is_none()) {
        // Says why; the caller gave several, so it also says which.
        let name_it = |error: UserError| UserError { message: format!("{id}: {}", error.message).into(), ..error };
        let complaint = id::require::<code_issue_project::Entity>(db, id, FIELD).await;
        complaint.map_err(|error| error.map_user(name_it))?;
    }
    Ok(numbers().flatten().collect())
}

impl CodeIssueProjectResourceDisconnectMutation for Mutation {
    async fn code_issue_project_resource_disconnect(
        ctx: &Ctx<'_>,
        input: CodeIssueProjectResourceDisconnectInput,
    ) -> Result<CodeIssueProjectResourceDisconnectPayload> {
        let CodeIssueProjectResourceDisconnectInput { code_issue_project_id, resource_id } = input;
        let db = &ctx.db();
        let mut problems = Problems::default();
        let project = id::require::<code_issue_project::Entity>(db, &code_issue_project_id, "codeIssueProjectId");
        let project = problems.take_any(project.await)?;
        let resource = problems.take_any(require_resource(db, &resource_id).await)?;
        problems.none()?;
        let (Some(project), Some(resource)) = (project, resource) else {
            return Err(Error::internal("what is required was neither found nor complained of"));
        };

        let (column, key, name, id) = parts(&resource);
        let link = resource::Entity::delete_many().filter(Link::CodeIssueProjectId.eq(project.id));
        if link.filter(column.eq(key)).exec(db).await?.rows_affected == 0 {
            let message = "the code issue project is not connected to this service or repository";
            return Err(UserError::new("resourceId", message).not_found().into());
        }
        // The next push would find the same name again.
        if name == project.name && !is_connected(db, project.id).await? {
            suggest(db, &project, suggestion::State::Ignored).await?;
        }
        Ok(CodeIssueProjectResourceDisconnectPayload {
            disconnected_code_issue_project_resource_id: Some(id),
            code_issue_project: Some(project),
            ..Default::default()
        })
    }
}
