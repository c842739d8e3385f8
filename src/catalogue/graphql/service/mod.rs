//! Services: what the catalogue is about.
//!
//! Invariant: [`service::update`] takes only a `Writable` service: one that is locked, and that no service file governs
//! but the one that is applied.

use super::deploy::deploy_metrics;
use super::field::alias;
use super::field::draft;
use super::field::id::Id;
use super::list::relation::to_one;
use super::property::component_type;
use super::relationship::related_resource;
use super::repository::RepositoryConnectionType;
use super::standards::check;
use super::team::contact;
use super::{deploy, property, repository, saved_view};
use crate::deploy::metrics::Whose;
use crate::entity::field_rule::Reference;
use crate::entity::service::{Column, Writable};
use crate::entity::{
    code_issue, code_issue_project_resource, contact as contacts, deploy_number, pages, property as properties,
    row_lock, service, service_alias,
};
use crate::graphql::prelude::*;
use service_parts::Wanted;

pub(super) mod on_call;
pub(super) mod service_dependency;
pub(super) mod service_document;
pub mod service_file;
pub mod service_filter;
pub(super) mod service_impact;
pub(super) mod service_list;
mod service_parts;
pub(super) mod service_repository;
pub(super) mod services_update;
pub(super) mod tool;

impl ServiceResolver for Service {
    fn alias(service: &impl ServiceCore) -> &str {
        service.slug()
    }

    fn preferred_api_document_source(service: &impl ServiceDetails) -> Option<ApiDocumentSourceEnum> {
        service.preferred_api_document_source().and_then(ApiDocumentSourceEnum::from_word)
    }

    fn locked(service: &impl ServiceCore) -> bool {
        service.locked_by().is_some()
    }

    async fn service_file(services: &[&impl ServiceDetails], _: &Ctx<'_>) -> Result<Vec<Option<ServiceFile>>> {
        Ok(service_file::of_services(services))
    }

    async fn html_url(services: &[&impl ServiceCore], ctx: &Ctx<'_>) -> Result<Vec<String>> {
        let app_url = &ctx.settings().app_url;
        Ok(services.iter().map(|service| pages::url(app_url, ["services", service.slug()])).collect())
    }

    async fn timestamps(services: &[&impl ServiceCore], _: &Ctx<'_>) -> Result<Vec<Timestamps>> {
        let times = services.iter().map(|service| (*service.created_at(), *service.updated_at()));
        Ok(times.map(|(created_at, updated_at)| Timestamps { created_at, updated_at }).collect())
    }

    async fn code_issues(
        services: &[&impl ServiceCore],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<CodeIssueConnectionType>> {
        // Issues are found through the links of their projects. An issue occurs once below a service, because a project
        // is linked to the same service only once.
        let issues = List::<code_issue::Entity>::new(code_issue::Column::Id).related(
            (code_issue::Column::CodeIssueProjectId, code_issue_project_resource::Column::CodeIssueProjectId),
            code_issue_project_resource::Column::ServiceId,
            ids(services),
        );
        issues.pages(ctx, &args.request()?).await
    }

    relations! { |services: impl ServiceCore, args, ctx|
        aliases() -> Vec<String> = alias::all::<service_alias::Entity>(ctx.db(), ids(services)).await;
        managed_aliases() -> Vec<String> = alias::managed::<service_alias::Entity>(ctx.db(), ids(services)).await;
        favourite() -> bool = saved_view::are_favourites(&ids(services), ctx).await;
        repositories(PageArguments) -> RepositoryConnectionType =
            repository::of_services(ids(services), args, ctx).await;
        repos(PageArguments) -> ServiceReposConnectionType =
            service_repository::repositories(ids(services), args, ctx).await;
        default_service_repository() -> Option<ServiceRepository> =
            service_repository::default_links(ids(services), ctx).await;
        documents(ServiceDocumentsArgs) -> ServiceDocumentConnectionType =
            service_document::of_services(ids(services), args, ctx).await;
        on_calls(PageArguments) -> OnCallConnectionType = on_call::of_services(ids(services), args, ctx).await;
        contacts() -> Option<Vec<Contact>> = contact::of_owners(ctx, contacts::Column::ServiceId, ids(services)).await;
        property(ServicePropertyArgs) -> Option<Property> =
            property::of_owners(ctx, properties::Column::ServiceId, ids(services), &args.definition).await;
        impact(ServiceImpactArgs) -> ServiceImpactConnectionType =
            service_impact::of_services(ids(services), args, ctx).await;
        config_errors() -> Vec<ConfigError> = service_file::config_errors(services, ctx).await;
        deploys(ServiceDeploysArgs) -> DeployConnectionType = deploy::of_services(ids(services), args, ctx).await;
        last_deploy() -> Option<Deploy> = deploy::last_of_services(ids(services), ctx).await;
        last_production_deploy() -> Option<Deploy> = deploy::last_in_production(ids(services), ctx).await;
        deploy_metrics(ServiceDeployMetricsArgs) -> DeployMetrics = {
            let ServiceDeployMetricsArgs { start, end, environments } = args;
            deploy_metrics::of_each(Whose::Services, &ids(services), (start, end, environments), ctx).await
        };
    }

    relations! { |services: impl ServiceKeys, args, ctx|
        parent() -> Option<System> = to_one(ctx, services.iter().map(|service| service.system_id()).collect()).await;
        r#type() -> ComponentType =
            component_type::of_services(ctx, services.iter().map(|service| service.type_id()).collect()).await;
        dependencies(PageArguments) -> ServiceDependenciesConnectionType =
            service_dependency::dependencies(services, args, ctx).await;
        dependents(PageArguments) -> ServiceDependentsConnectionType =
            service_dependency::dependents(services, args, ctx).await;
    }

    relations! { |services: impl ServiceDetails, args, ctx|
        preferred_api_document() -> Option<ServiceDocument> = service_document::preferred(services, ctx).await;
        api_document_pull() -> Option<ApiDocumentPull> = service_document::pulls(services, ctx).await;
    }

    relations! { |services: Self, args, ctx|
        maturity_report() -> Option<MaturityReport> = check::maturity(services, ctx).await;
        level() -> Option<Level> = check::levels_of(services, ctx).await;
        standing_changes(PageArguments) -> StandingChangeConnectionType = check::changes_of(services, args, ctx).await;
        service_stats() -> Option<ServiceStats> = check::stats(services, ctx).await;
        check_stats() -> Option<CheckStats> = check::counts(services, ctx).await;
        other_check_results() -> Vec<CheckResult> = check::others(services, ctx).await;
        related_resources(PageArguments) -> RelatedResourceConnectionType =
            related_resource::of_services(services, args, ctx).await;
    }
}

/// The keys of services, for what is read by them.
fn ids(services: &[&impl ServiceCore]) -> Vec<i64> {
    services.iter().map(|service| service.id()).collect()
}

/// Finds and locks the service that a mutation names. Fails if a service file governs it.
pub(super) async fn require_writable(db: &Transaction, identifier: Identifier<'_>) -> Result<Writable> {
    service::writable(identifier::require::<Service>(&db.locking(LockType::Update), identifier).await?)
}

/// Like [`require_writable`], for a service that the input field `field` names. If no service is found, the error is
/// about that field.
pub(super) async fn require_writable_as(
    db: &Transaction,
    identifier: Identifier<'_>,
    field: &'static str,
) -> Result<Writable> {
    let found = identifier::require::<Service>(&db.locking(LockType::Update), identifier).await;
    let found = found.map_err(|error| error.map_user(|error| UserError { path: vec![field.into()], ..error }))?;
    service::writable(found)
}

/// Locks the service that owns something about to be changed. Fails if a service file governs the service.
pub(super) async fn owner_writable(db: &Transaction, id: i64) -> Result<Writable> {
    // The service was deleted, with everything that it owns, after its part was found. The mutation has lost a race and
    // is retried.
    service::writable(row_lock::row::<service::Entity>(db, id, LockType::Update).await?)
}

/// Refuses to delete a row that a service governed by a service file refers to, because the deletion would change the
/// service. `refers` is the condition on such services. The caller must have locked the row, so that no other service
/// can refer to it until the deletion commits. The services that do are locked here, so that no service file can begin
/// to govern one of them.
pub(super) async fn refuse_where_locked(db: &Transaction, refers: impl Into<Expr>) -> Result<()> {
    let services = service::Entity::find().select_only().columns([service::Column::Slug, service::Column::LockedBy]);
    let services = services.filter(refers.into()).order_by_asc(service::Column::Id).lock(LockType::Update);
    let services: Vec<(String, Option<String>)> =
        db.rows(services.as_query(), |row| Ok((row.get(0)?, row.get(1)?))).await?;
    match services.into_iter().find_map(|(slug, file)| Some((slug, file?))) {
        None => Ok(()),
        Some((slug, file)) => {
            let message =
                format!("the service {slug} refers to this and is locked: change its service file {file} first");
            Err(UserError::new("locked", message).into())
        }
    }
}

/// Does the same as [`refuse_where_locked`] for what is locked now. Locks nothing, and stops at the first.
pub(super) async fn refuse_locked(db: &Transaction, refers: impl Into<Expr>) -> Result<()> {
    let locked = service::Entity::find().filter(refers.into()).filter(service::Column::LockedBy.is_not_null());
    match db.one(locked.order_by_asc(service::Column::Id)).await? {
        Some(service) => refuse_where_locked(db, service::Column::Id.eq(service.id)).await,
        None => Ok(()),
    }
}

/// Moves an error to its place in an input. That a service is locked is an error of `locked` wherever it is named.
pub(super) fn unless_locked(error: UserError, within: impl FnOnce(UserError) -> UserError) -> UserError {
    if error.path == ["locked"] { error } else { within(error) }
}

impl ServiceCreateMutation for Mutation {
    async fn service_create(ctx: &MutationCtx<'_>, input: ServiceCreateInput) -> Result<ServiceCreatePayload> {
        let ServiceCreateInput {
            name,
            tier_alias,
            lifecycle_alias,
            owner_input,
            parent,
            r#type,
            tools,
            contacts,
            dependencies,
            repositories,
            properties,
            owner_alias,
            // Ignored: aliases are always validated.
            skip_aliases_validation: _,
            texts,
        } = input;
        let wanted = Wanted::new(tools, contacts, dependencies, repositories, properties);
        let values = wanted.read_values(ctx.database().read()).await?;
        ctx.begin().await?;
        let db = ctx.db();
        let mut draft = Draft::<service::Entity>::new();
        draft.set_required(Column::Name, &name);
        draft.set_texts(&texts);
        service_document::check_host(ctx, &mut draft);
        draft.refer(db, Column::TierId, &tier_alias).await?;
        draft.refer(db, Column::LifecycleId, &lifecycle_alias).await?;
        set_owner(db, &mut draft, &owner_input, &owner_alias).await?;
        draft.refer(db, Column::SystemId, &parent).await?;
        draft.refer(db, Column::TypeId, &r#type).await?;

        let parts = draft.problems.take_any(wanted.check(db, values).await)?;
        let source = if ctx.caller().user.is_some() { "web" } else { "api" };
        let row = service::ActiveModel { creation_source: Set(Some(source.to_owned())), ..draft.done()? };
        let service = service::create(db, row).await?;
        if let Some(parts) = parts {
            parts.write(db, &service).await?;
        }
        Ok(ServiceCreatePayload { service: Some(service.into()), ..Default::default() })
    }
}

/// Sets the owner, which either of two fields may name.
pub(super) async fn set_owner(
    db: &Transaction,
    draft: &mut Draft<service::Entity>,
    input: &MaybeUndefined<IdentifierInput>,
    alias: &MaybeUndefined<String>,
) -> Result<()> {
    let key = match (input.value(), alias) {
        (_, MaybeUndefined::Undefined) | (Some(_), MaybeUndefined::Null) => {
            return draft.refer(db, Column::OwnerId, input).await;
        }
        (Some(_), MaybeUndefined::Value(_)) => {
            let message = "only one of ownerAlias and ownerInput can be given";
            draft.problems.push(UserError::new("ownerAlias", message));
            return Ok(());
        }
        (None, MaybeUndefined::Null) => None,
        (None, MaybeUndefined::Value(alias)) => {
            let found = draft::by_name(db, alias, "ownerAlias", Reference::Team).await;
            match draft.problems.take_any(found)? {
                Some(key) => Some(key),
                None => return Ok(()),
            }
        }
    };
    draft.row.owner_id = Set(key);
    Ok(())
}

impl ServiceNoteUpdateMutation for Mutation {
    async fn service_note_update(ctx: &MutationCtx<'_>, input: ServiceNoteUpdateInput) -> Result<ServiceUpdatePayload> {
        let ServiceNoteUpdateInput { note, service } = input;
        let db = ctx.db();
        let service = require_writable_at(db, &service).await?;
        let mut draft = Draft::<service::Entity>::from_row(service.clone().into());
        let note = if note.is_undefined() { MaybeUndefined::Null } else { note };
        draft.set(Column::Note, &note);
        let service = service::update(db, &service, draft.done()?).await?;
        Ok(ServiceUpdatePayload { service: Some(service), ..Default::default() })
    }
}

impl ServiceApiDocSettingsUpdateMutation for Mutation {
    async fn service_api_doc_settings_update(
        ctx: &MutationCtx<'_>,
        service: IdentifierInput,
        api_document_path: MaybeUndefined<String>,
        api_document_url: MaybeUndefined<String>,
        preferred_api_document_source: MaybeUndefined<ApiDocumentSourceEnum>,
    ) -> Result<ServiceUpdatePayload> {
        let db = ctx.db();
        let service = require_writable_at(db, &service).await?;
        let mut draft = Draft::<service::Entity>::from_row(service.clone().into());
        match api_document_path {
            MaybeUndefined::Undefined => {}
            MaybeUndefined::Null => draft.row.api_document_path = Set(None),
            MaybeUndefined::Value(path) => {
                let path = text::optional("apiDocumentPath", &path, text::URL);
                if let Some(path) = draft.problems.take(path) {
                    draft.row.api_document_path = Set(path);
                }
            }
        }
        draft.set(Column::ApiDocumentUrl, &api_document_url);
        service_document::check_host(ctx, &mut draft);
        if !preferred_api_document_source.is_undefined() {
            let source = preferred_api_document_source.value().map(|source| source.as_str().to_owned());
            draft.row.preferred_api_document_source = Set(source);
        }
        let service = service::update(db, &service, draft.done()?).await?;
        Ok(ServiceUpdatePayload { service: Some(service), ..Default::default() })
    }
}

/// Like [`require_writable`], for the service that the field or argument `service` names.
pub(super) async fn require_writable_at(db: &Transaction, named: &IdentifierInput) -> Result<Writable> {
    service::writable(identifier::locked::<Service>(db, "service", named, LockType::Update).await?)
}

impl ServiceUpdateMutation for Mutation {
    async fn service_update(ctx: &MutationCtx<'_>, input: ServiceUpdateInput) -> Result<ServiceUpdatePayload> {
        let ServiceUpdateInput {
            id,
            alias,
            name,
            tier_alias,
            lifecycle_alias,
            owner_input,
            parent,
            r#type,
            owner_alias,
            // Ignored: aliases are always validated.
            skip_aliases_validation: _,
            texts,
        } = input;
        let db = ctx.db();
        let service = require_writable(db, Identifier::new(&id, &alias)?).await?;
        let mut draft = Draft::<service::Entity>::from_row(service.clone().into());
        draft.set(Column::Name, &name);
        draft.set_texts(&texts);
        service_document::check_host(ctx, &mut draft);
        draft.refer(db, Column::TierId, &tier_alias).await?;
        draft.refer(db, Column::LifecycleId, &lifecycle_alias).await?;
        set_owner(db, &mut draft, &owner_input, &owner_alias).await?;
        draft.refer(db, Column::SystemId, &parent).await?;
        draft.refer(db, Column::TypeId, &r#type).await?;

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
        let deleted_service_id = Some(Id::new::<service::Entity>(service.id));
        ctx.shed_first::<service::Entity>(service.id).await?;
        deploy_number::leave_to_aliases(db, service.id).await?;
        db.delete(Service::from(service)).await?;
        Ok(ServiceDeletePayload { deleted_service_id, deleted_service_alias: Some(named_by), ..Default::default() })
    }
}
