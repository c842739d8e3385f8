//! Systems: groups of services that do one thing together.

use super::deploy::deploy_metrics;
use super::field::alias;
use super::list::relation::to_one;
use super::list::sort::{Ordered, Sort};
use super::service;
use super::standards::check;
use crate::deploy::metrics::Whose;
use crate::entity::alias::AliasTable;
use crate::entity::system::Column;
use crate::entity::{domain, pages, service as services, system, system_alias, team};
use crate::graphql::prelude::*;

fn ids_of(systems: &[&System]) -> Vec<i64> {
    systems.iter().map(|system| system.id).collect()
}

/// The services that belong to systems.
fn parts_of(ids: &[i64]) -> check::By<'_> {
    check::By { column: services::Column::SystemId, ids }
}

impl SystemResolver for System {
    async fn html_url(systems: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<String>> {
        let app_url = &ctx.settings().app_url;
        Ok(systems.iter().map(|system| pages::url(app_url, ["systems", &system.slug])).collect())
    }

    relations! { |systems: Self, args, ctx|
        aliases() -> Vec<String> = alias::all::<system_alias::Entity>(ctx.db(), ids_of(systems)).await;
        managed_aliases() -> Vec<String> = alias::managed::<system_alias::Entity>(ctx.db(), ids_of(systems)).await;
        level_counts() -> Vec<LevelCount> = check::level_counts(parts_of(&ids_of(systems)), ctx).await;
        level_history(SystemLevelHistoryArgs) -> Vec<LevelDay> =
            check::level_days_by(parts_of(&ids_of(systems)), &args.days, ctx).await;
        missed_checks() -> Vec<MissedCheck> = check::missed_checks(parts_of(&ids_of(systems)), ctx).await;
        parent() -> Option<Domain> = to_one(ctx, systems.iter().map(|system| system.domain_id).collect()).await;
        deploy_metrics(SystemDeployMetricsArgs) -> DeployMetrics = {
            let SystemDeployMetricsArgs { start, end, environments } = args;
            deploy_metrics::of_each(Whose::Systems, &ids_of(systems), (start, end, environments), ctx).await
        };
    }
}

/// All systems, a page at a time.
pub(super) async fn page(args: &AccountSystemsArgs, ctx: &Ctx<'_>) -> Result<SystemConnectionType> {
    let AccountSystemsArgs { sort_by, first, after } = args;
    let request = PageRequest::new(first, after)?;
    List::<system::Entity>::new(Column::Id).page_in(sort_by.value().copied().map(order), ctx, &request).await
}

/// Converts a sort order of the SDL.
fn order(sort: SystemSortEnum) -> Sort {
    use SystemSortEnum as By;
    let order = match sort {
        By::NameAsc | By::NameDesc => Sort::by_text(Column::Name),
        By::OwnerAsc | By::OwnerDesc => Sort::by_text_of(Column::OwnerId, team::Column::Id, team::Column::Name),
        By::DomainAsc | By::DomainDesc => Sort::by_text_of(Column::DomainId, domain::Column::Id, domain::Column::Name),
    };
    order.in_list(Ordered::Systems, sort as u8, matches!(sort, By::NameDesc | By::OwnerDesc | By::DomainDesc))
}

/// Checks an input. Returns the row to write and, if one is given, the new name.
async fn draft(
    db: &Transaction,
    mut draft: Draft<system::Entity>,
    input: SystemInput,
) -> Result<(system::ActiveModel, Option<String>)> {
    let SystemInput { name, owner_id, parent, texts } = input;
    draft.set(Column::Name, &name);
    draft.set_texts(&texts);
    draft.refer(db, Column::OwnerId, &owner_id).await?;
    draft.refer(db, Column::DomainId, &parent).await?;
    Ok((draft.done()?, name.take()))
}

impl SystemCreateMutation for Mutation {
    async fn system_create(ctx: &MutationCtx<'_>, mut input: SystemInput) -> Result<SystemPayload> {
        let db = ctx.db();
        // A new row needs a name. An absent one is treated as blank, so that the same error is reported.
        if input.name.is_undefined() {
            input.name = MaybeUndefined::Value(String::new());
        }
        let (row, name) = draft(db, Draft::new(), input).await?;
        let now = Timestamp::now();
        let row = system::ActiveModel { slug: Set(String::new()), created_at: Set(now), updated_at: Set(now), ..row };
        let system = db.insert(row).await?;
        let slug = system_alias::Entity::claim_slug(db, &system.id, &name.unwrap_or_default()).await?;
        let row = system::ActiveModel { slug: Set(slug), ..system.into() };
        Ok(SystemPayload { system: Some(db.update(row).await?), ..Default::default() })
    }
}

impl SystemUpdateMutation for Mutation {
    async fn system_update(
        ctx: &MutationCtx<'_>,
        system: IdentifierInput,
        input: SystemInput,
    ) -> Result<SystemPayload> {
        let db = ctx.db();
        let system = identifier::locked::<System>(db, "system", &system, LockType::Update).await?;
        let id = system.id;
        let (mut row, name) = draft(db, Draft::from_row(system), input).await?;
        if let Some(name) = name {
            row.slug = Set(system_alias::Entity::claim_slug(db, &id, &name).await?);
        }
        Ok(SystemPayload { system: Some(db.update(row).await?), ..Default::default() })
    }
}

impl SystemDeleteMutation for Mutation {
    async fn system_delete(ctx: &MutationCtx<'_>, resource: IdentifierInput) -> Result<SystemDeletePayload> {
        let db = ctx.db();
        let system = identifier::locked::<System>(db, "resource", &resource, LockType::Update).await?;
        service::refuse_locked(db, services::Column::SystemId.eq(system.id)).await?;
        ctx.shed_first::<system::Entity>(system.id).await?;
        service::refuse_where_locked(db, services::Column::SystemId.eq(system.id)).await?;
        let deleted_system_id = Some(SystemResolver::id(&system));
        db.delete(system).await?;
        Ok(SystemDeletePayload { deleted_system_id, ..Default::default() })
    }
}

impl SystemChildAssignMutation for Mutation {
    async fn system_child_assign(
        ctx: &MutationCtx<'_>,
        system: IdentifierInput,
        child_services: Vec<IdentifierInput>,
    ) -> Result<SystemPayload> {
        let db = ctx.db();
        let system = identifier::locked::<System>(db, "system", &system, LockType::Update).await?;
        if child_services.len() > text::FEW {
            let message = format!("at most {} services can be assigned at once", text::FEW);
            return Err(UserError::new("childServices", message).into());
        }
        let mut problems = Problems::default();
        let mut children = Vec::with_capacity(child_services.len());
        for (place, child) in child_services.iter().enumerate() {
            let found = async { service::require_writable(db, Identifier::from_input(child)?).await };
            let within = |error: UserError| {
                service::unless_locked(error, |error| error.within(place.to_string()).within("childServices"))
            };
            let child = found.await.map_err(|error: Error| error.map_user(within));
            children.extend(problems.take_any(child)?);
        }
        problems.none()?;
        // Update in the order of the ids. The services are locked already, in the order of the input: two mutations
        // that name them in different orders can deadlock, and PostgreSQL ends one, which is retried.
        children.sort_unstable_by_key(|child| child.id);
        for child in children {
            let row = services::ActiveModel {
                system_id: Set(Some(system.id)),
                ..services::Model::from(child.clone()).into()
            };
            services::update(db, &child, row).await?;
        }
        Ok(SystemPayload { system: Some(system), ..Default::default() })
    }
}
