//! The list of services: its filters and its orders.

use sea_orm::sea_query::{ExprTrait, Query as Select};

use super::service_filter;
use crate::db::Ids;
use crate::entity::service::{self, Column};
use crate::entity::{
    component_type, id_of, level, lifecycle, service_last_deploy, service_level, tag, team, team_alias, tier,
};
use crate::graphql::list::sort::{Ordered, Sort};
use crate::graphql::prelude::*;
use crate::graphql::saved_view;

/// The services that meet every condition that is given, a page at a time.
pub(in crate::graphql) async fn page(args: &AccountServicesArgs, ctx: &Ctx<'_>) -> Result<ServiceConnectionType> {
    let AccountServicesArgs {
        sort_by,
        first,
        after,
        language,
        framework,
        tag: _,
        owner_alias,
        tier_alias,
        lifecycle_alias,
        product,
        component_category,
        search: _,
        has_owner,
        not_deployed_since: _,
        of_my_teams,
        favourite: _,
        filter_identifier,
        filter,
    } = args;
    let request = PageRequest::new(first, after)?;
    // The filter that fewest services meet, as a rule, comes first: it is looked up in an index.
    let mut conditions = Vec::new();
    let mut meet = |column: Column, condition: &dyn Fn(Expr) -> Expr| {
        let is_first = conditions.is_empty();
        let own = if is_first { Expr::col(column.as_column_ref()) } else { db::unindexed(ctx.db(), column) };
        conditions.push(condition(own));
    };
    if let Some(alias) = owner_alias.value() {
        let team = id_of(team_alias::Column::TeamId, team_alias::Column::Value, alias);
        meet(Column::OwnerId, &|own| own.eq(team.clone()));
    }
    for (column, given) in [(Column::Product, product), (Column::Framework, framework), (Column::Language, language)] {
        if let Some(text) = given.value() {
            meet(column, &|own| own.eq(text.as_str()));
        }
    }
    if let Some(alias) = lifecycle_alias.value() {
        let lifecycle = id_of(lifecycle::Column::Id, lifecycle::Column::Alias, alias);
        meet(Column::LifecycleId, &|own| own.eq(lifecycle.clone()));
    }
    if let Some(alias) = tier_alias.value() {
        let tier = id_of(tier::Column::Id, tier::Column::Alias, alias);
        meet(Column::TierId, &|own| own.eq(tier.clone()));
    }
    if let Some(has_owner) = has_owner.value() {
        meet(Column::OwnerId, &|own| if *has_owner { own.is_not_null() } else { own.is_null() });
    }
    if let Some(is_own) = saved_view::teams(of_my_teams, ctx)? {
        meet(Column::OwnerId, &is_own);
    }
    conditions.extend(component_category.value().map(|category| is_of_category(category)));
    conditions.extend(service_filter::condition(ctx.db(), filter_identifier.value(), filter.value()).await?);
    let ids = ids(args, &mut conditions, &request, ctx).await?;
    let services = conditions.into_iter().fold(List::<service::Entity>::new(Column::Id), List::filter);
    let services = ids.into_iter().fold(services, List::with_ids);
    services.partial_page(sort_by.value().copied().map(order), ctx, &request).await
}

/// All services, a page at a time.
pub(in crate::graphql) async fn all(request: &PageRequest, ctx: &Ctx<'_>) -> Result<ServiceConnectionType> {
    List::<service::Entity>::new(Column::Id).partial_page(None, ctx, request).await
}

/// The condition that the type of a service has this category. A service without a type has the default type.
fn is_of_category(category: &str) -> Expr {
    use component_type::Column as Type;
    let types =
        Select::select().column(Type::Id).from(component_type::Entity).and_where(Type::Category.eq(category)).take();
    let is_default = Type::IsDefault.eq(true).and(Type::Category.eq(category));
    let default = Select::select().expr(Expr::value(1)).from(component_type::Entity).and_where(is_default).take();
    let own = || Expr::col(Column::TypeId.as_column_ref());
    own().in_subquery(types).or(own().is_null().and(Expr::exists(default)))
}

/// The term of a search. `None` if it is empty.
fn term(given: Option<&str>) -> Result<Option<String>> {
    let Some(given) = given else { return Ok(None) };
    let term = text::at_most("search", text::trim(given), text::SHORT)?;
    Ok((!term.is_empty()).then_some(term))
}

/// The conditions of the services' tags, deploys and texts, as selections of ids where an index has these.
async fn ids(
    args: &AccountServicesArgs,
    conditions: &mut Vec<Expr>,
    request: &PageRequest,
    ctx: &Ctx<'_>,
) -> Result<Vec<Ids>> {
    let AccountServicesArgs { sort_by, tag, search, not_deployed_since, favourite, .. } = args;
    let tagged = tag.value().and_then(has_tag);
    let mut ids: Vec<Ids> = saved_view::favourites(favourite, ctx)?.into_iter().chain(tagged).collect();
    let term = term(search.value().map(String::as_str))?;
    // Whether nothing else narrows or orders the list. Its page is then one of ids, in their order.
    let is_alone = conditions.is_empty() && ids.is_empty() && sort_by.value().is_none();
    match (not_deployed_since.value(), term) {
        // Beside other conditions, one look at the last deploy of each service that meets them is cheaper.
        (Some(since), None) if is_alone => ids.push(not_deployed(*since)),
        (since, term) => {
            let is_alone = is_alone && since.is_none();
            conditions.extend(since.map(|since| has_no_deploy_since(*since)));
            if let Some(term) = term {
                ids.insert(0, found(&term, is_alone, request, ctx).await?);
            }
        }
    }
    Ok(ids)
}

/// Selects the services that a search finds. `is_alone` says that nothing else narrows or orders the list.
async fn found(term: &str, is_alone: bool, request: &PageRequest, ctx: &Ctx<'_>) -> Result<Ids> {
    let mut found = db::search::containing(ctx.db(), term);
    if is_alone {
        let after = request.after.as_ref().map_or(i64::MIN, |after| after.id);
        found.page = db::search::page(ctx.db(), term, after, request.first + 1).await?;
    }
    Ok(found)
}

/// Converts a sort order of the SDL.
fn order(sort: ServiceSortEnum) -> Sort {
    use ServiceSortEnum as By;
    let order = match sort {
        By::NameAsc | By::NameDesc => Sort::by_text(Column::Name),
        By::OwnerAsc | By::OwnerDesc => Sort::by_text_of(Column::OwnerId, team::Column::Id, team::Column::Name),
        By::TierAsc | By::TierDesc => Sort::by_number_of(Column::TierId, tier::Column::Id, tier::Column::Index),
        By::LifecycleAsc | By::LifecycleDesc => {
            Sort::by_number_of(Column::LifecycleId, lifecycle::Column::Id, lifecycle::Column::Index)
        }
        By::LanguageAsc | By::LanguageDesc => Sort::by_text(Column::Language),
        By::ProductAsc | By::ProductDesc => Sort::by_text(Column::Product),
        By::LastDeployAsc | By::LastDeployDesc => {
            use service_last_deploy::Column::{DeployedAt, ServiceId};
            Sort::by_number_beside(ServiceId, DeployedAt)
        }
        By::LevelAsc | By::LevelDesc => {
            use service_level::Column::{LevelId, ServiceId};
            Sort::by_number_by_way_of(ServiceId, LevelId, level::Column::Id, level::Column::Index)
        }
    };
    let is_descending = match sort {
        By::NameDesc | By::OwnerDesc | By::TierDesc | By::LifecycleDesc | By::LanguageDesc => true,
        By::ProductDesc | By::LastDeployDesc | By::LevelDesc => true,
        By::NameAsc | By::OwnerAsc | By::TierAsc | By::LifecycleAsc | By::LanguageAsc => false,
        By::ProductAsc | By::LastDeployAsc | By::LevelAsc => false,
    };
    order.in_list(Ordered::Services, sort as u8, is_descending)
}

/// The condition that a service has no deploy at or after a time. Costs one lookup of its last one.
fn has_no_deploy_since(since: Timestamp) -> Expr {
    use service_last_deploy::Column::{DeployedAt, ServiceId};
    let id = Expr::col(Column::Id.as_column_ref());
    let last = Select::select()
        .expr(Expr::value(1))
        .from(service_last_deploy::Entity)
        .and_where(Expr::col(ServiceId.as_column_ref()).eq(id))
        .and_where(DeployedAt.gte(since))
        .take();
    Expr::exists(last).not()
}

/// Selects the services that have no deploy at or after a time, as a page in the order of their ids, and as ranges of an
/// index to count them.
fn not_deployed(since: Timestamp) -> Ids {
    use service_last_deploy::Column::{DeployedAt, ServiceId};
    let select = Select::select()
        .column(ServiceId)
        .from(service_last_deploy::Entity)
        .and_where(DeployedAt.is_null().or(DeployedAt.lt(since)))
        .take();
    Ids { select, id: Expr::col(ServiceId.as_column_ref()), may_repeat: false, page: None }
}

/// Selects the services that have a tag with this key and value. `None` if neither is given.
fn has_tag(args: &TagArgs) -> Option<Ids> {
    let TagArgs { key, value } = args;
    let parts = [(tag::Column::Key, key), (tag::Column::Value, value)];
    let parts: Vec<Expr> = parts.into_iter().filter_map(|(column, part)| Some(column.eq(part.value()?))).collect();
    if parts.is_empty() {
        return None;
    }
    let owner = tag::Column::ServiceId;
    let mut owners = Select::select();
    owners.column(owner).from(tag::Entity).and_where(owner.is_not_null());
    for part in parts {
        owners.and_where(part);
    }
    // Tags with different keys may have the same value, so a service may occur twice.
    Some(Ids { select: owners, id: Expr::col(owner.as_column_ref()), may_repeat: true, page: None })
}
