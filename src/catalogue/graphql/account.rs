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
    deploy, domain, filter, grade, history, infrastructure_resource, integration, property, relationship, repository,
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

/// What the argument `input` names.
fn named(input: &MaybeUndefined<IdentifierInput>) -> Result<Identifier<'_>, UserError> {
    Identifier::of_argument("input", input)
}

/// Defines methods of the account's resolver. A line such as `teams(AccountTeamsArgs) -> TeamConnectionType = …;` becomes
/// `async fn teams(accounts: &[&Self], args: &AccountTeamsArgs, ctx: &Ctx<'_>) -> Result<Vec<TeamConnectionType>>`, which
/// answers `…` for the only account. The first line names what `…` may use.
macro_rules! answers {
    (|$args:ident, $ctx:ident| $($field:ident($($given:ty)?) -> $answer:ty = $value:expr;)*) => {$(
        async fn $field(accounts: &[&Self], $($args: &$given,)? $ctx: &Ctx<'_>) -> Result<Vec<$answer>> {
            only(accounts, $value)
        }
    )*};
}

impl AccountResolver for Account {
    fn id(&self) -> Id {
        Id { class: "Account", number: 1 }
    }

    fn name(&self) -> &str {
        &self.name
    }

    async fn rubric(accounts: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Rubric>>> {
        only(accounts, Some(Rubric))
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

    answers! { |args, ctx|
        service(AccountServiceArgs) -> Option<Service> =
            identifier::find::<Service>(ctx.db(), Identifier::new(&args.id, &args.alias)?).await?;
        services(AccountServicesArgs) -> ServiceConnectionType = service_list::page(args, ctx).await?;
        all_services(PageArguments) -> ServiceConnectionType = service_list::all(&args.request()?, ctx).await?;
        config_file(AccountConfigFileArgs) -> Option<ConfigFile> = service_file::config_file(&args.id, ctx).await?;
        team(AccountTeamArgs) -> Option<Team> =
            Some(identifier::require::<Team>(ctx.db(), Identifier::new(&args.id, &args.alias)?).await?);
        teams(AccountTeamsArgs) -> TeamConnectionType = team::page(args, ctx).await?;
        level(AccountLevelArgs) -> Option<Level> =
            id::find::<entity::level::Entity>(ctx.db(), id::argument(&args.id)?).await?;
        category(AccountCategoryArgs) -> Option<Category> =
            id::find::<entity::category::Entity>(ctx.db(), id::argument(&args.id)?).await?;
        check(AccountCheckArgs) -> Option<Check> = check::find(ctx, id::argument(&args.id)?).await?;
        check_report(AccountCheckReportArgs) -> Option<CheckReport> =
            check::report(ctx, id::argument(&args.id)?).await?;
        campaign(AccountCampaignArgs) -> Option<Campaign> =
            id::find::<entity::campaign::Entity>(ctx.db(), id::argument(&args.id)?).await?;
        campaigns(AccountCampaignsArgs) -> CampaignConnectionType = campaign::page(args, ctx).await?;
        event_subscription(AccountEventSubscriptionArgs) -> Option<EventSubscription> =
            id::find::<entity::event_subscription::Entity>(ctx.db(), id::argument(&args.id)?).await?;
        event_subscriptions(PageArguments) -> EventSubscriptionConnectionType =
            event_subscription::page(args, ctx).await?;
        scorecard(AccountScorecardArgs) -> Option<Scorecard> =
            identifier::find::<Scorecard>(ctx.db(), named(&args.input)?).await?;
        scorecards(PageArguments) -> ScorecardConnectionType = scorecard::page(args, ctx).await?;
        services_report() -> Option<ServicesReport> = Some(check::services_report(ctx).await?);
        level_history(AccountLevelHistoryArgs) -> Vec<LevelDay> = check::level_days(ctx, &args.days).await?;
        relationship(AccountRelationshipArgs) -> Option<RelationshipType> =
            relationship::find(ctx.db(), id::argument(&args.id)?).await?;
        relationship_definition(AccountRelationshipDefinitionArgs) -> Option<RelationshipDefinitionType> =
            identifier::find::<RelationshipDefinitionType>(ctx.db(), named(&args.input)?).await?;
        relationship_definitions(AccountRelationshipDefinitionsArgs) -> RelationshipDefinitionConnectionType =
            relationship_definition::page(ctx, args).await?;
        component_type(AccountComponentTypeArgs) -> Option<ComponentType> =
            identifier::find::<ComponentType>(ctx.db(), named(&args.input)?).await?;
        component_types(PageArguments) -> ComponentTypeConnectionType =
            component_type::page(ctx, &args.request()?).await?;
        property(AccountPropertyArgs) -> Option<Property> = property::find(ctx, args).await?;
        property_definition(AccountPropertyDefinitionArgs) -> Option<PropertyDefinition> =
            identifier::find::<PropertyDefinition>(ctx.db(), named(&args.input)?).await?;
        property_definitions(PageArguments) -> PropertyDefinitionConnectionType =
            property_definition::page(ctx, &args.request()?).await?;
        team_property_definition(AccountTeamPropertyDefinitionArgs) -> Option<TeamPropertyDefinition> =
            property_definition::find_of_teams(ctx.db(), named(&args.input)?).await?;
        team_property_definitions(PageArguments) -> TeamPropertyDefinitionConnectionType =
            property_definition::team_page(ctx, &args.request()?).await?;
        system(AccountSystemArgs) -> Option<System> =
            Some(identifier::require::<System>(ctx.db(), named(&args.input)?).await?);
        systems(AccountSystemsArgs) -> SystemConnectionType = system::page(args, ctx).await?;
        domain(AccountDomainArgs) -> Option<Domain> =
            Some(identifier::require::<Domain>(ctx.db(), named(&args.input)?).await?);
        domains(AccountDomainsArgs) -> DomainConnectionType = domain::page(args, ctx).await?;
        filter(AccountFilterArgs) -> Option<Filter> =
            id::find::<entity::filter::Entity>(ctx.db(), id::argument(&args.id)?).await?;
        filters(PageArguments) -> FilterConnectionType = filter::page(ctx, &args.request()?).await?;
        saved_view(AccountSavedViewArgs) -> Option<SavedView> = saved_view::find(id::argument(&args.id)?, ctx).await?;
        saved_views() -> Vec<SavedView> = saved_view::all(ctx).await?;
        history(AccountHistoryArgs) -> ChangeConnectionType = history::page(args, ctx).await?;
        document(AccountDocumentArgs) -> Option<ServiceDocument> =
            service_document::find(ctx.db(), id::argument(&args.id)?).await?;
        documents(AccountDocumentsArgs) -> ServiceDocumentConnectionType = service_document::page(args, ctx).await?;
        alert_source(AccountAlertSourceArgs) -> Option<AlertSource> = alert_source::find(ctx.db(), args).await?;
        infrastructure_resource(AccountInfrastructureResourceArgs) -> Option<InfrastructureResource> =
            identifier::find::<InfrastructureResource>(ctx.db(), named(&args.input)?).await?;
        infrastructure_resources(PageArguments) -> InfrastructureResourceConnectionType =
            infrastructure_resource::page(ctx, &args.request()?).await?;
        users(AccountUsersArgs) -> UserConnectionType = user::page(args, ctx).await?;
        tiers() -> Vec<Tier> = grade::all::<entity::tier::Entity>(ctx.db()).await?;
        lifecycles() -> Vec<Lifecycle> = grade::all::<entity::lifecycle::Entity>(ctx.db()).await?;
        repository(AccountRepositoryArgs) -> Option<Repository> =
            identifier::find::<Repository>(ctx.db(), Identifier::new(&args.id, &args.alias)?).await?;
        repositories(AccountRepositoriesArgs) -> RepositoryConnectionType = repository::page(args, ctx).await?;
        integration(AccountIntegrationArgs) -> Option<Integration> = integration::find(ctx.db(), &args.id).await?;
        integrations(AccountIntegrationsArgs) -> IntegrationConnectionType = integration::page(args, ctx).await?;
        code_issue_project(AccountCodeIssueProjectArgs) -> Option<CodeIssueProject> =
            code_issue_project::find(ctx, args).await?;
        code_issue_projects(PageArguments) -> CodeIssueProjectConnectionType =
            code_issue_project::page(ctx, &args.request()?).await?;
        deploys(AccountDeploysArgs) -> DeployConnectionType = deploy::of_account(args, ctx).await?;
        deploy_metrics(AccountDeployMetricsArgs) -> DeployMetrics = deploy_metrics::of_account(args, ctx).await?;
        service_suggestions(AccountServiceSuggestionsArgs) -> ServiceSuggestionConnectionType =
            suggestion::of_account(args, ctx).await?;
        search(AccountSearchArgs) -> Vec<SearchResult> = search::search(args, ctx).await?;
    }
}
