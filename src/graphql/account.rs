//! The account: the root of every query. It leads to every noun; only the list of services, for its filters, is made
//! here.

use async_graphql::MaybeUndefined;
use sea_orm::ColumnTrait;
use sea_orm::sea_query::{Expr, ExprTrait, Query as Select};

use super::context::Ctx;
use super::id::Id;
use super::identifier::Identifier;
use super::list::List;
use super::schema::*;
use super::types::{CodeIssueProject, Lifecycle, Repository, Service, Team, Tier, User};
use super::{
    code_issue_project, deploy, deploy_metrics, integration, repository, service, suggestion, team, tier, user,
};
use crate::db::{self, Ids};
use crate::engine::page::{PageArguments, PageRequest};
use crate::entity::{self, Timestamp, lifecycle, tag, team_alias};
use crate::error::{Result, UserError};

/// The one account of this installation.
#[derive(Debug, Clone)]
pub struct Account {
    /// Its name.
    pub name: String,
}

impl AccountQuery for Query {
    async fn account(ctx: &Ctx<'_>) -> Result<Account> {
        Ok(Account { name: ctx.settings().account_name.clone() })
    }
}

/// The answer for all accounts: there is one.
fn only<T>(accounts: &[&Account], answer: T) -> Result<Vec<T>> {
    debug_assert_eq!(accounts.len(), 1, "the account is reached from the root alone");
    Ok(vec![answer])
}

impl AccountResolver for Account {
    fn id(&self) -> Id {
        Id { class: "Account", number: 1 }
    }

    fn name(&self) -> &str {
        &self.name
    }

    async fn service(accounts: &[&Self], args: &AccountServiceArgs, ctx: &Ctx<'_>) -> Result<Vec<Option<Service>>> {
        let AccountServiceArgs { alias, id } = args;
        only(accounts, service::find(ctx.db(), Identifier::new(id, alias)?).await?)
    }

    async fn services(
        accounts: &[&Self],
        args: &AccountServicesArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<ServiceConnectionType>> {
        only(accounts, services(args, ctx).await?)
    }

    async fn team(accounts: &[&Self], args: &AccountTeamArgs, ctx: &Ctx<'_>) -> Result<Vec<Option<Team>>> {
        let AccountTeamArgs { alias, id } = args;
        only(accounts, Some(team::require(ctx.db(), Identifier::new(id, alias)?).await?))
    }

    async fn teams(accounts: &[&Self], args: &PageArguments, ctx: &Ctx<'_>) -> Result<Vec<TeamConnectionType>> {
        only(accounts, team::page(ctx, &args.request()?).await?)
    }

    async fn user(accounts: &[&Self], args: &AccountUserArgs, ctx: &Ctx<'_>) -> Result<Vec<Option<User>>> {
        let AccountUserArgs { id, input } = args;
        let by_id = UserIdentifierInput { id: id.clone(), email: MaybeUndefined::Undefined };
        let named = match (id.value(), input.value()) {
            (Some(_), None) => &by_id,
            (None, Some(input)) => input,
            _ => return Err(UserError::base("exactly one of id and input must be given").into()),
        };
        only(accounts, user::find(ctx.db(), named).await?)
    }

    async fn users(accounts: &[&Self], args: &PageArguments, ctx: &Ctx<'_>) -> Result<Vec<UserConnectionType>> {
        only(accounts, user::page(ctx, &args.request()?).await?)
    }

    async fn tiers(accounts: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<Tier>>> {
        only(accounts, tier::all::<entity::tier::Entity>(ctx.db()).await?)
    }

    async fn lifecycles(accounts: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<Lifecycle>>> {
        only(accounts, tier::all::<lifecycle::Entity>(ctx.db()).await?)
    }

    async fn repository(
        accounts: &[&Self],
        args: &AccountRepositoryArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<Repository>>> {
        let AccountRepositoryArgs { alias, id } = args;
        only(accounts, repository::find(ctx.db(), Identifier::new(id, alias)?).await?)
    }

    async fn repositories(
        accounts: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<RepositoryConnectionType>> {
        only(accounts, repository::page(ctx, &args.request()?).await?)
    }

    async fn integration(
        accounts: &[&Self],
        args: &AccountIntegrationArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<Integration>>> {
        let AccountIntegrationArgs { id } = args;
        only(accounts, integration::find(ctx.db(), id).await?)
    }

    async fn integrations(
        accounts: &[&Self],
        args: &AccountIntegrationsArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<IntegrationConnectionType>> {
        only(accounts, integration::page(args, ctx).await?)
    }

    async fn code_issue_project(
        accounts: &[&Self],
        args: &AccountCodeIssueProjectArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<CodeIssueProject>>> {
        only(accounts, code_issue_project::find(ctx, args).await?)
    }

    async fn code_issue_projects(
        accounts: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<CodeIssueProjectConnectionType>> {
        only(accounts, code_issue_project::page(ctx, &args.request()?).await?)
    }

    async fn deploys(
        accounts: &[&Self],
        args: &AccountDeploysArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<DeployConnectionType>> {
        only(accounts, deploy::of_account(args, ctx).await?)
    }

    async fn deploy_metrics(
        accounts: &[&Self],
        args: &AccountDeployMetricsArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<DeployMetrics>> {
        only(accounts, deploy_metrics::of_account(args, ctx).await?)
    }

    async fn service_suggestions(
        accounts: &[&Self],
        args: &AccountServiceSuggestionsArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<ServiceSuggestionConnectionType>> {
        only(accounts, suggestion::of_account(args, ctx).await?)
    }
}

/// The services that meet every condition that is given.
async fn services(args: &AccountServicesArgs, ctx: &Ctx<'_>) -> Result<ServiceConnectionType> {
    use entity::service::Column;

    let AccountServicesArgs {
        first,
        after,
        language,
        framework,
        tag,
        owner_alias,
        tier_alias,
        lifecycle_alias,
        product,
        search,
        has_owner,
        not_deployed_since,
    } = args;
    let request = PageRequest::new(first, after)?;
    let exact = [(Column::Language, language), (Column::Framework, framework), (Column::Product, product)];
    let exact = exact.into_iter().filter_map(|(column, given)| Some(column.eq(given.value()?)));
    let mut conditions: Vec<Expr> = exact.collect();
    if let Some(alias) = owner_alias.value() {
        conditions.push(is_named(Column::OwnerId, team_alias::Column::TeamId, team_alias::Column::Value, alias));
    }
    if let Some(alias) = tier_alias.value() {
        conditions.push(is_named(Column::TierId, entity::tier::Column::Id, entity::tier::Column::Alias, alias));
    }
    if let Some(alias) = lifecycle_alias.value() {
        conditions.push(is_named(Column::LifecycleId, lifecycle::Column::Id, lifecycle::Column::Alias, alias));
    }
    if let Some(has_owner) = has_owner.value() {
        let owner = Column::OwnerId;
        conditions.push(if *has_owner { owner.is_not_null() } else { owner.is_null() });
    }
    if let Some(since) = not_deployed_since.value() {
        conditions.push(has_no_deploy_since(*since));
    }
    let services = conditions.into_iter().fold(List::<entity::service::Entity>::new(Column::Id), List::filter);
    let searched = match search.value() {
        Some(text) => Some(entity::text::at_most("search", text, entity::text::SHORT)?).filter(|text| !text.is_empty()),
        None => None,
    };
    let found = searched.map(|text| db::search::containing(ctx.db(), &text));
    let tagged = tag.value().and_then(has_tag);
    found.into_iter().chain(tagged).fold(services, List::with_ids).page(ctx, &request).await
}

/// That a service's `own` key is that of the row which has the alias. An equation, unlike `IN`, lets the index keep the
/// order of the list.
fn is_named<C: ColumnTrait>(own: entity::service::Column, key: C, alias: C, given: &str) -> Expr {
    let named = Select::select().column(key).from(key.entity_name()).and_where(alias.eq(given)).take();
    Expr::col(own.as_column_ref()).eq(Expr::SubQuery(None, Box::new(named.into())))
}

/// That a service has no deploy at or after a moment: one look into the index of its deploys.
fn has_no_deploy_since(since: Timestamp) -> Expr {
    let id = Expr::col(entity::service::Column::Id.as_column_ref());
    let deploys = Select::select()
        .expr(Expr::value(1))
        .from(entity::deploy::Entity)
        .and_where(Expr::col(entity::deploy::Column::ServiceId.as_column_ref()).eq(id))
        .and_where(entity::deploy::Column::DeployedAt.gte(since))
        .take();
    Expr::exists(deploys).not()
}

/// The services that have a tag with these parts; nothing when neither is given.
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
    // Two keys may have the same value.
    Some(Ids { select: owners, id: Expr::col(owner.as_column_ref()), may_repeat: true })
}
