//! Services: what the catalogue is about.

use sea_orm::sea_query::Expr;
use sea_orm::{DatabaseTransaction, DbErr, EntityTrait, ModelTrait, QueryFilter, QueryOrder, QuerySelect};

use super::context::{Ctx, MutationCtx};
use super::draft::Draft;
use super::id::{self};
use super::identifier::Identifier;
use super::list::List;
use super::schema::*;
use super::types::{Deploy, Service};
use super::{alias, deploy, deploy_metrics};
use crate::db::Read;
use crate::engine::page::PageArguments;
use crate::entity::service::{Column, Writable};
use crate::entity::{
    code_issue, code_issue_project, code_issue_project_resource, deploy_number, repository, service, service_alias,
    service_repository, tag,
};
use crate::error::{Result, UserError, quoted};

impl ServiceResolver for Service {
    async fn aliases(services: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<String>>> {
        alias::all::<service_alias::Entity>(ctx.db(), services.iter().map(|service| service.id)).await
    }

    async fn managed_aliases(services: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<String>>> {
        alias::managed::<service_alias::Entity>(ctx.db(), services.iter().map(|service| service.id)).await
    }

    fn locked(&self) -> bool {
        self.locked_by.is_some()
    }

    async fn html_url(services: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<String>> {
        let app_url = &ctx.settings().app_url;
        Ok(services.iter().map(|service| format!("{app_url}/services/{}", service.slug)).collect())
    }

    async fn timestamps(services: &[&Self], _: &Ctx<'_>) -> Result<Vec<Timestamps>> {
        let of = |service: &&Self| Timestamps { created_at: service.created_at, updated_at: service.updated_at };
        Ok(services.iter().map(of).collect())
    }

    async fn tags(services: &[&Self], args: &PageArguments, ctx: &Ctx<'_>) -> Result<Vec<TagConnectionType>> {
        let ids = services.iter().map(|service| service.id);
        let tags = List::<tag::Entity>::new(tag::Column::Id).of(tag::Column::ServiceId, ids);
        tags.pages(ctx, &args.request()?).await
    }

    async fn repositories(
        services: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<RepositoryConnectionType>> {
        let repositories = List::<repository::Entity>::new(repository::Column::Id).linked(
            (repository::Column::Id, service_repository::Column::RepositoryId),
            service_repository::Column::Id,
            service_repository::Column::ServiceId,
            services.iter().map(|service| service.id),
        );
        repositories.pages(ctx, &args.request()?).await
    }

    async fn service_repositories(
        services: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<ServiceRepositoryConnectionType>> {
        let ids = services.iter().map(|service| service.id);
        let links = List::<service_repository::Entity>::new(service_repository::Column::Id);
        links.of(service_repository::Column::ServiceId, ids).pages(ctx, &args.request()?).await
    }

    async fn deploys(
        services: &[&Self],
        args: &ServiceDeploysArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<DeployConnectionType>> {
        deploy::of_services(services, args, ctx).await
    }

    async fn last_deploy(services: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<Deploy>>> {
        deploy::last_of_services(services, ctx).await
    }

    async fn deploy_metrics(
        services: &[&Self],
        args: &ServiceDeployMetricsArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<DeployMetrics>> {
        deploy_metrics::of_services(services, args, ctx).await
    }

    async fn code_issue_projects(
        services: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<CodeIssueProjectConnectionType>> {
        let projects = List::<code_issue_project::Entity>::new(code_issue_project::Column::Id).linked(
            (code_issue_project::Column::Id, code_issue_project_resource::Column::CodeIssueProjectId),
            code_issue_project_resource::Column::Id,
            code_issue_project_resource::Column::ServiceId,
            services.iter().map(|service| service.id),
        );
        projects.pages(ctx, &args.request()?).await
    }

    async fn code_issues(
        services: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<CodeIssueConnectionType>> {
        // Issues are reached through their project's links; an issue stands once below a service, because a project
        // is linked to it once.
        let issues = List::<code_issue::Entity>::new(code_issue::Column::Id).related(
            (code_issue::Column::CodeIssueProjectId, code_issue_project_resource::Column::CodeIssueProjectId),
            code_issue_project_resource::Column::ServiceId,
            services.iter().map(|service| service.id),
        );
        issues.pages(ctx, &args.request()?).await
    }
}

/// The service that a client names, or nothing: for queries.
pub(super) async fn find(db: &impl Read, identifier: Identifier<'_>) -> Result<Option<Service>> {
    match identifier {
        Identifier::Id(id) => id::find::<service::Entity>(db, id).await,
        Identifier::Alias(alias) => Ok(service::by_alias(db, alias).await?),
    }
}

/// The service that a mutation names.
pub(super) async fn require(db: &impl Read, identifier: Identifier<'_>) -> Result<Service> {
    match identifier {
        Identifier::Id(id) => id::require::<service::Entity>(db, id, "id").await,
        Identifier::Alias(alias) => {
            let found = service::by_alias(db, alias).await?;
            Ok(found.ok_or_else(|| {
                UserError::new("alias", format!("no service has the alias {}", quoted(alias))).not_found()
            })?)
        }
    }
}

/// The service that a mutation names and may write.
pub(super) async fn require_writable(db: &DatabaseTransaction, identifier: Identifier<'_>) -> Result<Writable> {
    service::writable(db, require(db, identifier).await?).await
}

/// The service that owns something which is about to be changed, as one that may be written.
pub(super) async fn owner_writable(db: &DatabaseTransaction, id: i64) -> Result<Writable> {
    // Deleted with all that it owns, since that was found: the mutation has lost a race, and runs again.
    let found = service::Entity::find_by_id(id).one(db).await?.ok_or(DbErr::RecordNotUpdated)?;
    service::writable(db, found).await
}

/// Refuses to delete what a locked service refers to, which would change the service. The caller holds what it deletes, so
/// that no service comes to refer to it meanwhile; the services that do are held here, so that none is locked meanwhile.
pub(super) async fn refuse_where_locked(db: &DatabaseTransaction, refers: impl Into<Expr>) -> Result<()> {
    let services = service::Entity::find().select_only().columns([service::Column::Slug, service::Column::LockedBy]);
    let services = services.filter(refers.into()).order_by_asc(service::Column::Id).lock_exclusive();
    let services: Vec<(String, Option<String>)> = services.into_tuple().all(db).await?;
    match services.into_iter().find_map(|(slug, file)| Some((slug, file?))) {
        None => Ok(()),
        Some((slug, file)) => {
            let message =
                format!("the service {slug} refers to this and is locked: change its service file {file} first");
            Err(UserError::new("locked", message).into())
        }
    }
}

impl ServiceCreateMutation for Mutation {
    async fn service_create(ctx: &MutationCtx<'_>, input: ServiceCreateInput) -> Result<ServiceCreatePayload> {
        let ServiceCreateInput {
            name,
            description,
            language,
            framework,
            product,
            note,
            tier_alias,
            lifecycle_alias,
            owner_input,
        } = input;
        let db = ctx.db();
        let mut draft = Draft::<service::Entity>::new();
        draft.set_required(Column::Name, &name);
        draft.set(Column::Description, &description);
        draft.set(Column::Language, &language);
        draft.set(Column::Framework, &framework);
        draft.set(Column::Product, &product);
        draft.set(Column::Note, &note);
        draft.refer(db, Column::TierId, &tier_alias).await?;
        draft.refer(db, Column::LifecycleId, &lifecycle_alias).await?;
        draft.refer(db, Column::OwnerId, &owner_input).await?;

        let service = service::create(db, draft.done()?).await?;
        Ok(ServiceCreatePayload { service: Some(service.into()), ..Default::default() })
    }
}

impl ServiceUpdateMutation for Mutation {
    async fn service_update(ctx: &MutationCtx<'_>, input: ServiceUpdateInput) -> Result<ServiceUpdatePayload> {
        let ServiceUpdateInput {
            id,
            alias,
            name,
            description,
            language,
            framework,
            product,
            note,
            tier_alias,
            lifecycle_alias,
            owner_input,
        } = input;
        let db = ctx.db();
        let service = require_writable(db, Identifier::new(&id, &alias)?).await?;
        let mut draft = Draft::<service::Entity>::of(service.clone().into());
        draft.set(Column::Name, &name);
        draft.set(Column::Description, &description);
        draft.set(Column::Language, &language);
        draft.set(Column::Framework, &framework);
        draft.set(Column::Product, &product);
        draft.set(Column::Note, &note);
        draft.refer(db, Column::TierId, &tier_alias).await?;
        draft.refer(db, Column::LifecycleId, &lifecycle_alias).await?;
        draft.refer(db, Column::OwnerId, &owner_input).await?;

        let service = service::update(db, &service, draft.done()?).await?;
        Ok(ServiceUpdatePayload { service: Some(service), ..Default::default() })
    }
}

impl ServiceDeleteMutation for Mutation {
    async fn service_delete(ctx: &MutationCtx<'_>, input: ServiceDeleteInput) -> Result<ServiceDeletePayload> {
        let ServiceDeleteInput { id, alias } = input;
        let db = ctx.db();
        let identifier = Identifier::new(&id, &alias)?;
        let service = require_writable(db, identifier).await?;
        let named_by = match identifier {
            Identifier::Alias(alias) => alias.to_owned(),
            Identifier::Id(_) => service.slug.clone(),
        };
        let deleted_service_id = Some(ServiceResolver::id(&*service));
        deploy_number::leave_to_aliases(db, service.id).await?;
        Service::from(service).delete(db).await?;
        Ok(ServiceDeletePayload { deleted_service_id, deleted_service_alias: Some(named_by), ..Default::default() })
    }
}
