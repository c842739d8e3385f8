//! The account: the root of every query. Its fields lead to every noun.

use super::code_issue::code_issue_project;
use super::deploy::deploy_metrics;
use super::event::event_subscription;
use super::field::id::Id;
use super::field::identifier::{OneOf, exactly_one};
use super::integration::alert_source;
use super::property::component_type;
use super::property::property_definition;
use super::relationship::relationship_definition;
use super::repository::RepositoryConnectionType;
use super::repository::suggestion;
use super::service::service_document;
use super::service::service_file;
use super::service::service_list;
use super::standards::campaign;
use super::standards::check;
use super::standards::scorecard;
use super::team::user;
use super::{
    deploy, domain, filter, grade, infrastructure_resource, integration, property, relationship, repository,
    saved_view, search, system, team,
};
use crate::entity;
use crate::graphql::prelude::*;

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

/// Wraps the answer for the only account.
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
        only(accounts, identifier::find::<Service>(ctx.db(), Identifier::new(id, alias)?).await?)
    }

    async fn services(
        accounts: &[&Self],
        args: &AccountServicesArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<ServiceConnectionType>> {
        only(accounts, service_list::page(args, ctx).await?)
    }

    async fn all_services(
        accounts: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<ServiceConnectionType>> {
        only(accounts, service_list::all(&args.request()?, ctx).await?)
    }

    async fn config_file(
        accounts: &[&Self],
        args: &AccountConfigFileArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<ConfigFile>>> {
        only(accounts, service_file::config_file(&args.id, ctx).await?)
    }

    async fn team(accounts: &[&Self], args: &AccountTeamArgs, ctx: &Ctx<'_>) -> Result<Vec<Option<Team>>> {
        let AccountTeamArgs { alias, id } = args;
        only(accounts, Some(identifier::require::<Team>(ctx.db(), Identifier::new(id, alias)?).await?))
    }

    async fn teams(accounts: &[&Self], args: &AccountTeamsArgs, ctx: &Ctx<'_>) -> Result<Vec<TeamConnectionType>> {
        only(accounts, team::page(args, ctx).await?)
    }

    async fn rubric(accounts: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Rubric>>> {
        only(accounts, Some(Rubric))
    }

    async fn level(accounts: &[&Self], args: &AccountLevelArgs, ctx: &Ctx<'_>) -> Result<Vec<Option<Level>>> {
        only(accounts, id::find::<entity::level::Entity>(ctx.db(), id::argument(&args.id)?).await?)
    }

    async fn category(accounts: &[&Self], args: &AccountCategoryArgs, ctx: &Ctx<'_>) -> Result<Vec<Option<Category>>> {
        only(accounts, id::find::<entity::category::Entity>(ctx.db(), id::argument(&args.id)?).await?)
    }

    async fn check(accounts: &[&Self], args: &AccountCheckArgs, ctx: &Ctx<'_>) -> Result<Vec<Option<Check>>> {
        only(accounts, check::find(ctx, id::argument(&args.id)?).await?)
    }

    async fn check_report(
        accounts: &[&Self],
        args: &AccountCheckReportArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<CheckReport>>> {
        only(accounts, check::report(ctx, id::argument(&args.id)?).await?)
    }

    async fn custom_event_check_preview(
        accounts: &[&Self],
        args: &AccountCustomEventCheckPreviewArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<CustomEventCheckPreview>>> {
        let AccountCustomEventCheckPreviewArgs { integration_id, result_message, service_selector, success_condition } =
            args;
        let tried = check::Tried {
            integration: integration_id,
            selector: service_selector,
            condition: success_condition,
            message: result_message.value().map(String::as_str),
        };
        only(accounts, check::preview(tried, ctx).await?)
    }

    async fn campaign(accounts: &[&Self], args: &AccountCampaignArgs, ctx: &Ctx<'_>) -> Result<Vec<Option<Campaign>>> {
        only(accounts, id::find::<entity::campaign::Entity>(ctx.db(), id::argument(&args.id)?).await?)
    }

    async fn campaigns(
        accounts: &[&Self],
        args: &AccountCampaignsArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<CampaignConnectionType>> {
        only(accounts, campaign::page(args, ctx).await?)
    }

    async fn event_subscription(
        accounts: &[&Self],
        args: &AccountEventSubscriptionArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<EventSubscription>>> {
        only(accounts, id::find::<entity::event_subscription::Entity>(ctx.db(), id::argument(&args.id)?).await?)
    }

    async fn event_subscriptions(
        accounts: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<EventSubscriptionConnectionType>> {
        only(accounts, event_subscription::page(args, ctx).await?)
    }

    async fn scorecard(
        accounts: &[&Self],
        args: &AccountScorecardArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<Scorecard>>> {
        let identifier = Identifier::of_argument("input", &args.input)?;
        only(accounts, identifier::find::<Scorecard>(ctx.db(), identifier).await?)
    }

    async fn scorecards(
        accounts: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<ScorecardConnectionType>> {
        only(accounts, scorecard::page(args, ctx).await?)
    }

    async fn services_report(accounts: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<ServicesReport>>> {
        only(accounts, Some(check::services_report(ctx).await?))
    }

    async fn level_history(
        accounts: &[&Self],
        args: &AccountLevelHistoryArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Vec<LevelDay>>> {
        only(accounts, check::level_days(ctx, &args.days).await?)
    }

    async fn relationship(
        accounts: &[&Self],
        args: &AccountRelationshipArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<RelationshipType>>> {
        only(accounts, relationship::find(ctx.db(), id::argument(&args.id)?).await?)
    }

    async fn relationship_definition(
        accounts: &[&Self],
        args: &AccountRelationshipDefinitionArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<RelationshipDefinitionType>>> {
        let identifier = Identifier::of_argument("input", &args.input)?;
        only(accounts, identifier::find::<RelationshipDefinitionType>(ctx.db(), identifier).await?)
    }

    async fn relationship_definitions(
        accounts: &[&Self],
        args: &AccountRelationshipDefinitionsArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<RelationshipDefinitionConnectionType>> {
        let AccountRelationshipDefinitionsArgs { first, after, component_type, resource } = args;
        let request = PageRequest::new(first, after)?;
        only(accounts, relationship_definition::page(ctx, &request, component_type, resource).await?)
    }

    async fn component_type(
        accounts: &[&Self],
        args: &AccountComponentTypeArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<ComponentType>>> {
        only(
            accounts,
            identifier::find::<ComponentType>(ctx.db(), Identifier::of_argument("input", &args.input)?).await?,
        )
    }

    async fn component_types(
        accounts: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<ComponentTypeConnectionType>> {
        only(accounts, component_type::page(ctx, &args.request()?).await?)
    }

    async fn property(accounts: &[&Self], args: &AccountPropertyArgs, ctx: &Ctx<'_>) -> Result<Vec<Option<Property>>> {
        only(accounts, property::find(ctx, args).await?)
    }

    async fn property_definition(
        accounts: &[&Self],
        args: &AccountPropertyDefinitionArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<PropertyDefinition>>> {
        only(
            accounts,
            identifier::find::<PropertyDefinition>(ctx.db(), Identifier::of_argument("input", &args.input)?).await?,
        )
    }

    async fn property_definitions(
        accounts: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<PropertyDefinitionConnectionType>> {
        only(accounts, property_definition::page(ctx, &args.request()?).await?)
    }

    async fn team_property_definition(
        accounts: &[&Self],
        args: &AccountTeamPropertyDefinitionArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<TeamPropertyDefinition>>> {
        let identifier = Identifier::of_argument("input", &args.input)?;
        only(accounts, property_definition::find_of_teams(ctx.db(), identifier).await?)
    }

    async fn team_property_definitions(
        accounts: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<TeamPropertyDefinitionConnectionType>> {
        only(accounts, property_definition::team_page(ctx, &args.request()?).await?)
    }

    async fn system(accounts: &[&Self], args: &AccountSystemArgs, ctx: &Ctx<'_>) -> Result<Vec<Option<System>>> {
        only(
            accounts,
            Some(identifier::require::<System>(ctx.db(), Identifier::of_argument("input", &args.input)?).await?),
        )
    }

    async fn systems(
        accounts: &[&Self],
        args: &AccountSystemsArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<SystemConnectionType>> {
        only(accounts, system::page(args, ctx).await?)
    }

    async fn domain(accounts: &[&Self], args: &AccountDomainArgs, ctx: &Ctx<'_>) -> Result<Vec<Option<Domain>>> {
        only(
            accounts,
            Some(identifier::require::<Domain>(ctx.db(), Identifier::of_argument("input", &args.input)?).await?),
        )
    }

    async fn domains(
        accounts: &[&Self],
        args: &AccountDomainsArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<DomainConnectionType>> {
        only(accounts, domain::page(args, ctx).await?)
    }

    async fn filter(accounts: &[&Self], args: &AccountFilterArgs, ctx: &Ctx<'_>) -> Result<Vec<Option<Filter>>> {
        only(accounts, id::find::<entity::filter::Entity>(ctx.db(), id::argument(&args.id)?).await?)
    }

    async fn filters(accounts: &[&Self], args: &PageArguments, ctx: &Ctx<'_>) -> Result<Vec<FilterConnectionType>> {
        only(accounts, filter::page(ctx, &args.request()?).await?)
    }

    async fn saved_view(
        accounts: &[&Self],
        args: &AccountSavedViewArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<SavedView>>> {
        only(accounts, saved_view::find(id::argument(&args.id)?, ctx).await?)
    }

    async fn saved_views(accounts: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<SavedView>>> {
        only(accounts, saved_view::all(ctx).await?)
    }

    async fn document(
        accounts: &[&Self],
        args: &AccountDocumentArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<ServiceDocument>>> {
        only(accounts, service_document::find(ctx.db(), id::argument(&args.id)?).await?)
    }

    async fn documents(
        accounts: &[&Self],
        args: &AccountDocumentsArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<ServiceDocumentConnectionType>> {
        only(accounts, service_document::page(args, ctx).await?)
    }

    async fn alert_source(
        accounts: &[&Self],
        args: &AccountAlertSourceArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<AlertSource>>> {
        only(accounts, alert_source::find(ctx.db(), args).await?)
    }

    async fn infrastructure_resource(
        accounts: &[&Self],
        args: &AccountInfrastructureResourceArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<InfrastructureResource>>> {
        only(
            accounts,
            identifier::find::<InfrastructureResource>(ctx.db(), Identifier::of_argument("input", &args.input)?)
                .await?,
        )
    }

    async fn infrastructure_resources(
        accounts: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<InfrastructureResourceConnectionType>> {
        only(accounts, infrastructure_resource::page(ctx, &args.request()?).await?)
    }

    async fn infrastructure_resource_schemas(
        accounts: &[&Self],
        args: &PageArguments,
        _: &Ctx<'_>,
    ) -> Result<Vec<InfrastructureResourceSchemaConnectionType>> {
        only(accounts, infrastructure_resource::schemas(&args.request()?))
    }

    async fn user(accounts: &[&Self], args: &AccountUserArgs, ctx: &Ctx<'_>) -> Result<Vec<Option<User>>> {
        let AccountUserArgs { id, input } = args;
        let by_id = UserIdentifierInput { id: id.clone(), email: MaybeUndefined::Undefined };
        let named = match exactly_one(("id", id.value()), ("input", input.value()))? {
            OneOf::First(_) => &by_id,
            OneOf::Second(input) => input,
        };
        only(accounts, user::find(ctx.db(), named).await?)
    }

    async fn users(accounts: &[&Self], args: &AccountUsersArgs, ctx: &Ctx<'_>) -> Result<Vec<UserConnectionType>> {
        only(accounts, user::page(args, ctx).await?)
    }

    async fn tiers(accounts: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<Tier>>> {
        only(accounts, grade::all::<entity::tier::Entity>(ctx.db()).await?)
    }

    async fn lifecycles(accounts: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<Lifecycle>>> {
        only(accounts, grade::all::<entity::lifecycle::Entity>(ctx.db()).await?)
    }

    async fn repository(
        accounts: &[&Self],
        args: &AccountRepositoryArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<Repository>>> {
        let AccountRepositoryArgs { alias, id } = args;
        only(accounts, identifier::find::<Repository>(ctx.db(), Identifier::new(id, alias)?).await?)
    }

    async fn repositories(
        accounts: &[&Self],
        args: &AccountRepositoriesArgs,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<RepositoryConnectionType>> {
        only(accounts, repository::page(args, ctx).await?)
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
    async fn search(accounts: &[&Self], args: &AccountSearchArgs, ctx: &Ctx<'_>) -> Result<Vec<Vec<SearchResult>>> {
        only(accounts, search::search(args, ctx).await?)
    }
}
