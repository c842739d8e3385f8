//! Domains: groups of systems that serve one part of the business.

use super::deploy::deploy_metrics;
use super::field::alias;
use super::list::sort::{Ordered, Sort};
use crate::deploy::metrics::Whose;
use crate::entity::alias::AliasTable;
use crate::entity::domain::Column;
use crate::entity::{domain, domain_alias, pages, row_lock, service, system as systems, team};
use crate::graphql::prelude::*;

fn ids_of(domains: &[&Domain]) -> Vec<i64> {
    domains.iter().map(|domain| domain.id).collect()
}

impl DomainResolver for Domain {
    async fn descendant_services(
        domains: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<ServiceConnectionType>> {
        let services = List::<service::Entity>::new(service::Column::Id).related(
            (service::Column::SystemId, systems::Column::Id),
            systems::Column::DomainId,
            domains.iter().map(|domain| domain.id),
        );
        services.partial_pages(ctx, &args.request()?).await
    }

    async fn html_url(domains: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<String>> {
        let app_url = &ctx.settings().app_url;
        Ok(domains.iter().map(|domain| pages::url(app_url, ["domains", &domain.slug])).collect())
    }

    relations! { |domains: Self, args, ctx|
        aliases() -> Vec<String> = alias::all::<domain_alias::Entity>(ctx.db(), ids_of(domains)).await;
        managed_aliases() -> Vec<String> = alias::managed::<domain_alias::Entity>(ctx.db(), ids_of(domains)).await;
        deploy_metrics(DomainDeployMetricsArgs) -> DeployMetrics = {
            let DomainDeployMetricsArgs { start, end, environments } = args;
            deploy_metrics::of_each(Whose::Domains, &ids_of(domains), (start, end, environments), ctx).await
        };
    }
}

/// All domains, a page at a time.
pub(super) async fn page(args: &AccountDomainsArgs, ctx: &Ctx<'_>) -> Result<DomainConnectionType> {
    let AccountDomainsArgs { sort_by, first, after } = args;
    let request = PageRequest::new(first, after)?;
    List::<domain::Entity>::new(Column::Id).page_in(sort_by.value().copied().map(order), ctx, &request).await
}

/// Converts a sort order of the SDL.
fn order(sort: DomainSortEnum) -> Sort {
    use DomainSortEnum as By;
    let order = match sort {
        By::NameAsc | By::NameDesc => Sort::by_text(Column::Name),
        By::OwnerAsc | By::OwnerDesc => Sort::by_text_of(Column::OwnerId, team::Column::Id, team::Column::Name),
    };
    order.in_list(Ordered::Domains, sort as u8, matches!(sort, By::NameDesc | By::OwnerDesc))
}

/// Checks an input. Returns the row to write and, if one is given, the new name.
async fn draft(
    db: &Transaction,
    mut draft: Draft<domain::Entity>,
    input: DomainInput,
) -> Result<(domain::ActiveModel, Option<String>)> {
    let DomainInput { name, owner_id, texts } = input;
    draft.set(Column::Name, &name);
    draft.set_texts(&texts);
    draft.refer(db, Column::OwnerId, &owner_id).await?;
    Ok((draft.done()?, name.take()))
}

impl DomainCreateMutation for Mutation {
    async fn domain_create(ctx: &MutationCtx<'_>, mut input: DomainInput) -> Result<DomainPayload> {
        let db = ctx.db();
        // A new row needs a name. An absent one is treated as blank, so that the same error is reported.
        if input.name.is_undefined() {
            input.name = MaybeUndefined::Value(String::new());
        }
        let (row, name) = draft(db, Draft::new(), input).await?;
        let now = Timestamp::now();
        let row = domain::ActiveModel { slug: Set(String::new()), created_at: Set(now), updated_at: Set(now), ..row };
        let domain = db.insert(row).await?;
        let slug = domain_alias::Entity::claim_slug(db, &domain.id, &name.unwrap_or_default()).await?;
        let row = domain::ActiveModel { slug: Set(slug), ..domain.into() };
        Ok(DomainPayload { domain: Some(db.update(row).await?), ..Default::default() })
    }
}

impl DomainUpdateMutation for Mutation {
    async fn domain_update(
        ctx: &MutationCtx<'_>,
        domain: IdentifierInput,
        input: DomainInput,
    ) -> Result<DomainPayload> {
        let db = ctx.db();
        let domain = identifier::locked::<Domain>(db, "domain", &domain, LockType::Update).await?;
        let id = domain.id;
        let (mut row, name) = draft(db, Draft::from_row(domain), input).await?;
        if let Some(name) = name {
            row.slug = Set(domain_alias::Entity::claim_slug(db, &id, &name).await?);
        }
        Ok(DomainPayload { domain: Some(db.update(row).await?), ..Default::default() })
    }
}

impl DomainDeleteMutation for Mutation {
    async fn domain_delete(ctx: &MutationCtx<'_>, resource: IdentifierInput) -> Result<DomainDeletePayload> {
        let db = ctx.db();
        let domain = identifier::locked::<Domain>(db, "resource", &resource, LockType::Update).await?;
        ctx.shed_first::<domain::Entity>(domain.id).await?;
        let deleted_domain_id = Some(DomainResolver::id(&domain));
        db.delete(domain).await?;
        Ok(DomainDeletePayload { deleted_domain_id, ..Default::default() })
    }
}

impl DomainChildAssignMutation for Mutation {
    async fn domain_child_assign(
        ctx: &MutationCtx<'_>,
        domain: IdentifierInput,
        child_systems: Vec<IdentifierInput>,
    ) -> Result<DomainPayload> {
        let db = ctx.db();
        let domain = identifier::locked::<Domain>(db, "domain", &domain, LockType::Update).await?;
        if child_systems.len() > text::FEW {
            let message = format!("at most {} systems can be assigned at once", text::FEW);
            return Err(UserError::new("childSystems", message).into());
        }
        let mut problems = Problems::default();
        let mut children = Vec::with_capacity(child_systems.len());
        for (place, child) in child_systems.iter().enumerate() {
            let found = async { identifier::require::<System>(db, Identifier::from_input(child)?).await };
            let within = |error: UserError| error.within(place.to_string()).within("childSystems");
            let child = found.await.map_err(|error: Error| error.map_user(within));
            children.extend(problems.take_any(child)?);
        }
        problems.none()?;
        // Lock the rows in the order of their ids, so that two mutations cannot deadlock.
        children.sort_unstable_by_key(|child| child.id);
        for child in children {
            let mut row: systems::ActiveModel =
                row_lock::row::<systems::Entity>(db, child.id, LockType::Update).await?.into();
            row.domain_id = Set(Some(domain.id));
            db.update(row).await?;
        }
        Ok(DomainPayload { domain: Some(domain), ..Default::default() })
    }
}
