//! Repositories: where the source of services is kept.

use async_graphql::MaybeUndefined;
use sea_orm::sea_query::{LockType, OnConflict, Query};
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, ModelTrait, Set};

use super::context::{Ctx, MutationCtx};
use super::draft::Draft;
use super::id;
use super::identifier::Identifier;
use super::list::List;
use super::schema::*;
use super::service::refuse_where_locked;
use super::types::Repository;
use crate::db::Read;
use crate::engine::page::{PageArguments, PageRequest};
use crate::entity::repository::Column;
use crate::entity::timestamp::touch;
use crate::entity::{
    Timestamp, code_issue, code_issue_project_resource, repository, row_lock, service, service_repository,
};
use crate::error::{Result, UserError, quoted};

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

/// The alias of a new repository that is given none: of its address, else its name.
fn follows_from(row: &repository::ActiveModel) -> Option<String> {
    let url = row.url.try_as_ref().and_then(Option::as_deref);
    url.and_then(repository::alias_of).or_else(|| row.name.try_as_ref().cloned())
}

impl RepositoryCreateMutation for Mutation {
    async fn repository_create(ctx: &MutationCtx<'_>, input: RepositoryCreateInput) -> Result<RepositoryCreatePayload> {
        let RepositoryCreateInput { name, default_alias, default_branch, private, url, visible } = input;
        let mut draft = Draft::<repository::Entity>::new();
        draft.set_required(Column::Name, &name);
        draft.set(Column::Url, &url);
        let default_alias = default_alias.take().or_else(|| follows_from(&draft.row));
        if let Some(alias) = &default_alias {
            draft.set_required(Column::DefaultAlias, alias);
        }
        draft.set(Column::DefaultBranch, &default_branch);
        draft.set(Column::Private, &MaybeUndefined::Value(private.take().unwrap_or(false)));
        draft.set(Column::Visible, &MaybeUndefined::Value(visible.take().unwrap_or(true)));

        let db = ctx.db();
        let now = Timestamp::now();
        let row = repository::ActiveModel { created_at: Set(now), updated_at: Set(now), ..draft.done()? };
        let unless_taken = OnConflict::column(repository::Column::DefaultAlias).do_nothing().to_owned();
        let made = repository::Entity::insert(row).on_conflict(unless_taken).exec_with_returning_many(db);
        let repository = made.await?.into_iter().next().ok_or_else(|| {
            let alias = default_alias.unwrap_or_default();
            UserError::new("defaultAlias", format!("another repository has the alias {}", quoted(&alias)))
        })?;
        Ok(RepositoryCreatePayload { repository: Some(repository), ..Default::default() })
    }
}

impl RepositoryUpdateMutation for Mutation {
    async fn repository_update(ctx: &MutationCtx<'_>, input: RepositoryUpdateInput) -> Result<RepositoryUpdatePayload> {
        let RepositoryUpdateInput { id, alias, name, default_branch, private, url, visible, archived_at } = input;
        let db = ctx.db();
        let repository = require(db, Identifier::new(&id, &alias)?).await?;

        let mut draft = Draft::<repository::Entity>::of(repository);
        draft.set(Column::Name, &name);
        draft.set(Column::DefaultBranch, &default_branch);
        draft.set(Column::Private, &private);
        draft.set(Column::Url, &url);
        draft.set(Column::Visible, &visible);
        draft.set(Column::ArchivedAt, &archived_at);

        let mut row = draft.done()?;
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
        let repository = row_lock::row::<repository::Entity>(db, repository.id, LockType::Update).await?;
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
