//! Connects code issue projects to services and repositories: by their exact name, or by a mutation.
//!
//! A project that is connected to nothing becomes a suggestion.
//!
//! Lock order: the integration, its project, the project's suggestion. Deletions lock in the same order. Otherwise two
//! mutations could deadlock.

use std::collections::HashSet;

use sea_orm::sea_query::{ExprTrait, OnConflict, Order, Query, SelectStatement};

use crate::entity::code_issue_project_resource::{self as resource, Column as Link};
use crate::entity::{
    ByAlias, code_issue_project, integration, repository, row_lock, service, suggestion, suggestion_integration,
};
use crate::error::shortened;
use crate::graphql::field::id::Id;
use crate::graphql::prelude::*;

/// Connects a project to everything with its name. If it is connected to nothing, suggests it.
pub(in crate::graphql) async fn place(db: &Transaction, project: &CodeIssueProject, renamed: bool) -> Result<()> {
    let known = suggestion::Entity::find().filter(suggestion::Column::CodeIssueProjectId.eq(project.id));
    // Somebody has ignored the suggestion. A tool that pushes the project every night must not overrule that.
    let declined =
        db.one(known.lock(LockType::Update)).await?.is_some_and(|known| known.state == suggestion::State::Ignored);
    let mut connected = is_connected(db, project.id).await?;
    if renamed || !(connected || declined) {
        connected |= connect_by_name(db, project).await?;
    }
    match connected {
        true => forget_suggestions(db, &[project.id]).await,
        false => suggest(db, project, suggestion::State::Open).await,
    }
}

async fn is_connected(db: &Transaction, project_id: i64) -> Result<bool> {
    Ok(db.one(resource::Entity::find().filter(Link::CodeIssueProjectId.eq(project_id))).await?.is_some())
}

/// Connects a project to each service and repository with its name, to the first [`text::ENTRIES`] of both. Returns
/// whether any link was added.
async fn connect_by_name(db: &Transaction, project: &CodeIssueProject) -> Result<bool> {
    let pairs = || Query::select().expr(Expr::value(project.id)).take();
    let services = pairs()
        .column(service::Column::Id)
        .from(service::Entity)
        .and_where(service::Column::Name.eq(project.name.as_str()))
        .order_by(service::Column::Id, Order::Asc)
        .limit(text::ENTRIES as u64)
        .take();
    let repositories = pairs()
        .column(repository::Column::Id)
        .from(repository::Entity)
        .and_where(repository::Column::Name.eq(project.name.as_str()))
        .order_by(repository::Column::Id, Order::Asc)
        .limit(text::ENTRIES as u64)
        .take();
    let made = connect(db, Link::ServiceId, services).await? + connect(db, Link::RepositoryId, repositories).await?;
    Ok(made > 0)
}

/// Inserts links for the selected pairs of a project and a resource, except those that exist. Returns their number.
async fn connect(db: &Transaction, resource: Link, pairs: SelectStatement) -> Result<u64> {
    let mut links = Query::insert();
    links.into_table(resource::Entity).columns([Link::CodeIssueProjectId, resource]);
    links.select_from(pairs).map_err(Error::internal)?.on_conflict(OnConflict::new().do_nothing().to_owned());
    Ok(db.stored_by::<resource::Entity>(false, links).await?.len() as u64)
}

/// Deletes the suggestions of projects that are connected now. Accepted ones stay.
async fn forget_suggestions(db: &Transaction, project_ids: &[i64]) -> Result<()> {
    let unaccepted = suggestion::Column::State.ne(suggestion::State::Accepted);
    let of_projects = db::any(db, suggestion::Column::CodeIssueProjectId, project_ids);
    db.exec(suggestion::Entity::delete_many().filter(of_projects).filter(unaccepted)).await?;
    Ok(())
}

/// Stores that a project is connected to nothing. The suggestion gets the state `state`, unless it is ignored: then it
/// stays so. An accepted one loses its service, because the project is no longer connected to it.
async fn suggest(db: &Transaction, project: &CodeIssueProject, state: suggestion::State) -> Result<()> {
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
    let suggestion = db.insert_or(Entity::insert(row).on_conflict(seen)).await?;

    let through = suggestion_integration::ActiveModel {
        suggestion_id: Set(suggestion.id),
        integration_id: Set(project.integration_id),
        ..Default::default()
    };
    let once = OnConflict::new().do_nothing().to_owned();
    db.exec(suggestion_integration::Entity::insert(through).on_conflict(once)).await?;
    Ok(())
}

/// Finds the service or repository that a mutation names.
async fn require_resource(db: &dyn ReadHandle, id: &str) -> Result<CodeIssueProjectResource> {
    const FIELD: &str = "resourceId";
    const NOUN: &str = "service or repository";
    let Some((class, _)) = id::decode(id) else {
        return match service::Entity::by_alias(db, id).await? {
            Some(service) => Ok(service.into()),
            None => match repository::Entity::by_alias(db, id).await? {
                Some(repository) => Ok(repository.into()),
                None => Err(id::absent_name(FIELD, NOUN, id).into()),
            },
        };
    };
    match &*class {
        "Service" => Ok(id::require::<service::Entity>(db, id, FIELD).await?.into()),
        "Repository" => Ok(id::require::<repository::Entity>(db, id, FIELD).await?.into()),
        _ => Err(UserError::new(FIELD, id::stray(id, NOUN)).not_found().into()),
    }
}

/// Returns the links' column for a resource, and the resource's key, name and global id.
fn parts(resource: &CodeIssueProjectResource) -> (Link, i64, &str, Id) {
    match resource {
        CodeIssueProjectResource::Service(row) => {
            (Link::ServiceId, row.id, &row.name, Id::new::<service::Entity>(row.id))
        }
        CodeIssueProjectResource::Repository(row) => {
            (Link::RepositoryId, row.id, &row.name, RepositoryResolver::id(row))
        }
    }
}

impl CodeIssueProjectResourceConnectMutation for Mutation {
    async fn code_issue_project_resource_connect(
        ctx: &MutationCtx<'_>,
        input: CodeIssueProjectResourceConnectInput,
    ) -> Result<CodeIssueProjectResourceConnectPayload> {
        let CodeIssueProjectResourceConnectInput { code_issue_project_ids, resource_id } = input;
        let db = ctx.db();
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
            forget_suggestions(db, &projects).await?;
            connect(db, column, pairs).await?;
        }
        Ok(CodeIssueProjectResourceConnectPayload { resource, ..Default::default() })
    }
}

/// Finds and locks the projects that a mutation names. Fails at the first id without a project.
async fn require_all(db: &Transaction, ids: &[String]) -> Result<Vec<i64>> {
    const FIELD: &str = "codeIssueProjectIds";
    if ids.is_empty() {
        return Err(UserError::new(FIELD, "codeIssueProjectIds must name at least one project").into());
    }
    if ids.len() > text::ENTRIES {
        let message = format!("at most {} projects can be connected at once", text::ENTRIES);
        return Err(UserError::new(FIELD, message).into());
    }
    let number = |id: &String| id::number::<code_issue_project::Entity>(id);
    let numbers: Vec<_> = ids.iter().filter_map(number).collect();
    let found = db
        .all(
            code_issue_project::Entity::find()
                .filter(db::any(db, code_issue_project::Column::Id, &numbers))
                .order_by_asc(code_issue_project::Column::Id)
                .lock(LockType::KeyShare),
        )
        .await?;
    let found: HashSet<_> = found.into_iter().map(|project| project.id).collect();
    if let Some(id) = ids.iter().find(|id| number(id).is_none_or(|number| !found.contains(&number))) {
        // The error says why. Several ids were given, so the message must also say which.
        let name_it =
            |error: UserError| UserError { message: format!("{}: {}", shortened(id), error.message).into(), ..error };
        let complaint = id::require::<code_issue_project::Entity>(db, id, FIELD).await;
        complaint.map_err(|error| error.map_user(name_it))?;
    }
    Ok(numbers)
}

impl CodeIssueProjectResourceDisconnectMutation for Mutation {
    async fn code_issue_project_resource_disconnect(
        ctx: &MutationCtx<'_>,
        input: CodeIssueProjectResourceDisconnectInput,
    ) -> Result<CodeIssueProjectResourceDisconnectPayload> {
        let CodeIssueProjectResourceDisconnectInput { code_issue_project_id, resource_id } = input;
        let db = ctx.db();
        let mut problems = Problems::default();
        let project = id::require::<code_issue_project::Entity>(db, &code_issue_project_id, "codeIssueProjectId");
        let project = problems.take_any(project.await)?;
        let resource = problems.take_any(require_resource(db, &resource_id).await)?;
        problems.none()?;
        let (Some(project), Some(resource)) = (project, resource) else {
            return Err(Error::internal("what is required was neither found nor complained of"));
        };

        row_lock::row::<integration::Entity>(db, project.integration_id, LockType::KeyShare).await?;
        row_lock::row::<code_issue_project::Entity>(db, project.id, LockType::KeyShare).await?;
        let (column, key, name, id) = parts(&resource);
        let link = resource::Entity::delete_many().filter(Link::CodeIssueProjectId.eq(project.id));
        if db.exec(link.filter(column.eq(key))).await? == 0 {
            let message = "a connection between the code issue project and this service or repository does not exist on this account";
            return Err(UserError::new("resourceId", message).not_found().into());
        }
        // Ignored: otherwise the next push would connect the project to the same name again.
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
