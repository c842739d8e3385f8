//! Repositories, and the links that say which services' code they hold.

use async_graphql::MaybeUndefined;
use sea_orm::sea_query::{OnConflict, Query};
use sea_orm::{ActiveModelTrait, ColumnTrait, DatabaseTransaction, EntityTrait, ModelTrait, Set};

use super::context::{Ctx, MutationCtx};
use super::hold::hold;
use super::id;
use super::identifier::Identifier;
use super::list::List;
use super::schema::*;
use super::service::{refuse_where_locked, set};
use super::types::{Repository, ServiceRepository};
use super::{service as services, text};
use crate::db::Read;
use crate::engine::page::{PageArguments, PageRequest};
use crate::entity::service::Writable;
use crate::entity::timestamp::touch;
use crate::entity::{Timestamp, code_issue, code_issue_project_resource, repository, service, service_repository};
use crate::error::{Error, Problems, Result, UserError, quoted};

impl RepositoryResolver for Repository {
    async fn html_url(repositories: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<String>> {
        // By number: an alias holds slashes and colons.
        let app_url = &ctx.settings().app_url;
        Ok(repositories.iter().map(|repository| format!("{app_url}/repositories/{}", repository.id)).collect())
    }

    async fn code_issues(
        repositories: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<CodeIssueConnectionType>> {
        let issues = List::<code_issue::Entity>::new(code_issue::Column::Id).related(
            (code_issue::Column::CodeIssueProjectId, code_issue_project_resource::Column::CodeIssueProjectId),
            code_issue_project_resource::Column::RepositoryId,
            repositories.iter().map(|repository| repository.id),
        );
        issues.pages(ctx, &args.request()?).await
    }
}

impl ServiceRepositoryResolver for ServiceRepository {}

/// The repository that a client names, or nothing: for queries.
pub(super) async fn find(db: &impl Read, identifier: Identifier<'_>) -> Result<Option<Repository>> {
    match identifier {
        Identifier::Id(id) => id::find::<repository::Entity>(db, id).await,
        Identifier::Alias(alias) => Ok(repository::by_alias(db, alias).await?),
    }
}

/// The repository that a mutation names.
pub(super) async fn require(db: &impl Read, identifier: Identifier<'_>) -> Result<Repository> {
    match identifier {
        Identifier::Id(id) => id::require::<repository::Entity>(db, id, "id").await,
        Identifier::Alias(alias) => {
            let found = repository::by_alias(db, alias).await?;
            Ok(found.ok_or_else(|| {
                UserError::new("alias", format!("no repository has the alias {}", quoted(alias))).not_found()
            })?)
        }
    }
}

/// All repositories, a page at a time.
pub(super) async fn page(ctx: &Ctx<'_>, request: &PageRequest) -> Result<RepositoryConnectionType> {
    List::<repository::Entity>::new(repository::Column::Id).page(ctx, request).await
}

/// The address of a repository at its host, as an update reads it.
fn address(url: &MaybeUndefined<String>) -> Result<Option<Option<String>>, UserError> {
    let url = text::changed("url", url, text::URL)?;
    url.iter().flatten().try_for_each(|url| repository::check_url(url))?;
    Ok(url)
}

/// A truth value that can be changed but not cleared.
fn flag(field: &'static str, value: &MaybeUndefined<bool>) -> Result<Option<bool>, UserError> {
    match value {
        MaybeUndefined::Undefined => Ok(None),
        MaybeUndefined::Null => Err(UserError::new(field, format!("{field} must not be null"))),
        MaybeUndefined::Value(value) => Ok(Some(*value)),
    }
}

impl RepositoryCreateMutation for Mutation {
    async fn repository_create(ctx: &MutationCtx<'_>, input: RepositoryCreateInput) -> Result<RepositoryCreatePayload> {
        let RepositoryCreateInput { name, default_alias, default_branch, private, url, visible } = input;
        let mut problems = Problems::default();
        let name = problems.take(text::required("name", &name, text::SHORT)).unwrap_or_default();
        let url = problems.take(address(&url)).flatten().flatten();
        let default_alias = match default_alias.take() {
            Some(alias) => problems.take(text::required("defaultAlias", &alias, text::SHORT)),
            None => match url.as_deref().and_then(repository::alias_of) {
                Some(alias) => problems.take(text::at_most("defaultAlias", &alias, text::SHORT)),
                None => Some(name.clone()),
            },
        };
        let default_branch = problems.take(text::optional("defaultBranch", &default_branch, text::SHORT));
        problems.none()?;

        let db = ctx.db();
        let now = Timestamp::now();
        let default_alias = default_alias.unwrap_or_default();
        let row = repository::ActiveModel {
            name: Set(name),
            default_alias: Set(default_alias.clone()),
            default_branch: Set(default_branch.flatten()),
            url: Set(url),
            private: Set(private.take().unwrap_or(false)),
            visible: Set(visible.take().unwrap_or(true)),
            archived_at: Set(None),
            created_at: Set(now),
            updated_at: Set(now),
            ..Default::default()
        };
        let unless_taken = OnConflict::column(repository::Column::DefaultAlias).do_nothing().to_owned();
        let made = repository::Entity::insert(row).on_conflict(unless_taken).exec_with_returning_many(db);
        let repository = made.await?.into_iter().next().ok_or_else(|| {
            UserError::new("defaultAlias", format!("another repository has the alias {}", quoted(&default_alias)))
        })?;
        Ok(RepositoryCreatePayload { repository: Some(repository), ..Default::default() })
    }
}

impl RepositoryUpdateMutation for Mutation {
    async fn repository_update(ctx: &MutationCtx<'_>, input: RepositoryUpdateInput) -> Result<RepositoryUpdatePayload> {
        let RepositoryUpdateInput { id, alias, name, default_branch, private, url, visible, archived_at } = input;
        let db = ctx.db();
        let repository = require(db, Identifier::new(&id, &alias)?).await?;

        let mut problems = Problems::default();
        let name = problems.take(text::renamed("name", &name)).flatten();
        let default_branch = problems.take(text::changed("defaultBranch", &default_branch, text::SHORT));
        let private = problems.take(flag("private", &private)).flatten();
        let url = problems.take(address(&url)).flatten();
        let visible = problems.take(flag("visible", &visible)).flatten();
        problems.none()?;

        let mut row: repository::ActiveModel = repository.into();
        set(&mut row.name, name);
        set(&mut row.default_branch, default_branch.flatten());
        set(&mut row.private, private);
        set(&mut row.url, url);
        set(&mut row.visible, visible);
        set(&mut row.archived_at, (!archived_at.is_undefined()).then(|| archived_at.take()));
        touch(&mut row.updated_at);
        let repository = row.update(db).await?;
        Ok(RepositoryUpdatePayload { repository: Some(repository), ..Default::default() })
    }
}

impl RepositoryDeleteMutation for Mutation {
    async fn repository_delete(ctx: &MutationCtx<'_>, input: RepositoryDeleteInput) -> Result<RepositoryDeletePayload> {
        let RepositoryDeleteInput { id, alias } = input;
        let db = ctx.db();
        let repository = require(db, Identifier::new(&id, &alias)?).await?;
        let repository = hold::<repository::Entity>(db, repository.id).await?;
        let deleted_repository_id = Some(RepositoryResolver::id(&repository));
        let deleted_repository_alias = Some(repository.default_alias.clone());
        let linked = Query::select()
            .column(service_repository::Column::ServiceId)
            .from(service_repository::Entity)
            .and_where(service_repository::Column::RepositoryId.eq(repository.id))
            .take();
        refuse_where_locked(db, service::Column::Id.in_subquery(linked)).await?;
        repository.delete(db).await?;
        Ok(RepositoryDeletePayload { deleted_repository_id, deleted_repository_alias, ..Default::default() })
    }
}

impl ServiceRepositoryCreateMutation for Mutation {
    async fn service_repository_create(
        ctx: &MutationCtx<'_>,
        input: ServiceRepositoryCreateInput,
    ) -> Result<ServiceRepositoryCreatePayload> {
        let ServiceRepositoryCreateInput { service, repository, base_directory, display_name } = input;
        let db = ctx.db();
        let mut problems = Problems::default();
        let service = problems.take_any(writable_service(db, &service).await)?;
        let repository = problems.take_any(named_repository(db, &repository).await)?;
        let base_directory = problems.take(text::optional("baseDirectory", &base_directory, text::SHORT)).flatten();
        let display_name = problems.take(text::optional("displayName", &display_name, text::SHORT)).flatten();
        problems.none()?;

        // Both are there, or there is a problem.
        let (Some(service), Some(repository)) = (service, repository) else {
            return Err(Error::internal("a service or a repository was neither found nor missed"));
        };
        let link = service_repository::link(db, &service, repository, base_directory, display_name).await?;
        let link = link.ok_or_else(|| UserError::base("the service and the repository are linked already"))?;
        Ok(ServiceRepositoryCreatePayload { service_repository: Some(link), ..Default::default() })
    }
}

/// The service that is to be linked.
async fn writable_service(db: &DatabaseTransaction, named: &IdentifierInput) -> Result<Writable> {
    let found = async { services::require(db, Identifier::new(&named.id, &named.alias)?).await };
    service::writable(db, found.await.map_err(|error| error.map_user(|error| error.within("service")))?).await
}

/// The key of the repository that is to be linked.
async fn named_repository(db: &impl Read, named: &IdentifierInput) -> Result<i64> {
    let found = async { require(db, Identifier::new(&named.id, &named.alias)?).await };
    Ok(found.await.map_err(|error| error.map_user(|error| error.within("repository")))?.id)
}

impl ServiceRepositoryDeleteMutation for Mutation {
    async fn service_repository_delete(
        ctx: &MutationCtx<'_>,
        input: DeleteInput,
    ) -> Result<ServiceRepositoryDeletePayload> {
        let DeleteInput { id } = input;
        let db = ctx.db();
        let link = id::require::<service_repository::Entity>(db, &id, "id").await?;
        services::owner_writable(db, link.service_id).await?;
        let deleted_id = Some(ServiceRepositoryResolver::id(&link));
        link.delete(db).await?;
        Ok(ServiceRepositoryDeletePayload { deleted_id, ..Default::default() })
    }
}
