//! Binds SDL types to Rust types, and says how their fields are found.
//!
//! The build reads the names from this file. A bound object type gets a resolver trait, which the noun's file
//! implements. An unbound one becomes a struct with public fields. Scalars are bound too.
//!
//! For a type bound to the row of a table (`Model`), the trait provides the methods that follow from its columns: a
//! scalar of the same name and type, `id`, and another row by the key in the column `NAME_id`. The noun's file writes the
//! other methods, and may override these. `fields!` says what neither the SDL nor the columns do:
//!
//! - `key COLUMN`: lists of rows whose column refers to the parent. The trait provides their methods.
//! - `through TABLE`: lists of rows that a table of links connects with the parent, by its columns `PARENT_id` and
//!   `NODE_id`, named after the two types. The trait provides their methods.
//! - `computed`: scalars without arguments that are resolved for all parents of a page at once, because their values are
//!   not in the row: some contain a URL of this installation, others are read from other tables.
//!
//! Of a row with groups of columns (`GROUPS` in its entity), lists leave out the groups that no selected field reads. There
//! a method written by hand gets the row, and reads all groups, unless `fields!` says which part it gets:
//!
//! - `core`: the columns that every list reads;
//! - the name of a group: these, and the group;
//! - `row`: the row. This is for fields that follow from a column and are written all the same, which a noun's file cannot
//!   override otherwise. It is also for another row that is never null although its key may be, of any type.

/// How fields are found. The build reads it from here, and refuses what the SDL or the entities do not support.
macro_rules! fields {
    ($($declarations:tt)*) => {};
}

pub use super::account::Account;
pub use super::field::id::Id as ID;
pub use super::field::json::{Json as JSON, Json as JSONSchema, JsonText as JsonString};
pub use super::field::reference::{IntegrationTypeName, ServiceReference};
pub use super::history::Change;
pub use super::infrastructure_resource::InfrastructureResourceSchema;
pub use super::integration::cloud_integration::Yaml as YAML;
pub use super::integration::{
    ApiDocIntegration, AwsIntegration, AzureResourcesIntegration, CustomIntegration, DeployIntegration,
    GoogleCloudIntegration, KubernetesIntegration, NewRelicIntegration,
};
pub use super::list::relation::{list, list_through, partial_list, partial_list_through, to_its_one, to_one};
pub use super::property::component_type::ComponentTypeIconEnum;
pub use super::property::property_definition::{TeamPropertyDefinition, TeamPropertyDefinitionsAssignPayload};
pub use super::relationship::related_resource::RelatedResourceEdge;
pub use super::repository::RepositoryConnectionType;
pub use super::request::context::State;
pub use super::search::SearchResult;
pub use super::service::service_dependency::{ServiceDependenciesEdge, ServiceDependentsEdge};
pub use super::service::service_repository::{RepositoryPath, RepositoryServiceEdge, ServiceReposEdge};
pub use super::standards::check::{
    AlertSourceUsageCheck, CheckReport, CheckResult, CheckResultsByLevel, CodeIssueCheck, CustomEventCheck,
    DependencyTierCheck, DeployMetricsCheck, GitBranchProtectionCheck, HasDocumentationCheck, HasRecentDeployCheck,
    ManualCheck, PackageVersionCheck, RelationshipCheck, RepositoryFileCheck, RepositoryGrepCheck,
    RepositoryIntegratedCheck, RepositorySearchCheck, ServiceCheckResults, ServiceConfigurationCheck,
    ServiceDependencyCheck, ServiceOwnershipCheck, ServicePropertyCheck, StandardsPreview, TagDefinedCheck,
    ToolUsageCheck,
};
pub use super::standards::rubric::Rubric;
pub use crate::entity::Timestamp as ISO8601DateTime;
pub use crate::entity::alert_source::Model as AlertSource;
pub use crate::entity::alert_source_service::Model as AlertSourceService;
pub use crate::entity::campaign::Model as Campaign;
pub use crate::entity::category::Model as Category;
pub use crate::entity::code_issue::Model as CodeIssue;
pub use crate::entity::code_issue_project::Model as CodeIssueProject;
pub use crate::entity::component_type::Model as ComponentType;
pub use crate::entity::contact::Model as Contact;
pub use crate::entity::deploy::Model as Deploy;
pub use crate::entity::domain::Model as Domain;
pub use crate::entity::event_delivery::Model as EventDelivery;
pub use crate::entity::event_subscription::Model as EventSubscription;
pub use crate::entity::filter::Model as Filter;
pub use crate::entity::filter_predicate::Model as FilterPredicate;
pub use crate::entity::infrastructure_resource::Model as InfrastructureResource;
pub use crate::entity::level::Model as Level;
pub use crate::entity::lifecycle::Model as Lifecycle;
pub use crate::entity::on_call::Model as OnCall;
pub use crate::entity::property::Model as Property;
pub use crate::entity::property_definition::Model as PropertyDefinition;
pub use crate::entity::relationship::Model as RelationshipType;
pub use crate::entity::relationship_definition::Model as RelationshipDefinitionType;
pub use crate::entity::repository::Model as Repository;
pub use crate::entity::saved_view::Model as SavedView;
pub use crate::entity::scorecard::Model as Scorecard;
pub use crate::entity::service::Model as Service;
pub use crate::entity::service_dependency::Model as ServiceDependency;
pub use crate::entity::service_document::Model as ServiceDocument;
pub use crate::entity::service_repository::Model as ServiceRepository;
pub use crate::entity::standing_change::Model as StandingChange;
pub use crate::entity::suggestion::Model as ServiceSuggestion;
pub use crate::entity::system::Model as System;
pub use crate::entity::tag::Model as Tag;
pub use crate::entity::team::Model as Team;
pub use crate::entity::team_membership::Model as TeamMembership;
pub use crate::entity::tier::Model as Tier;
pub use crate::entity::tool::Model as Tool;
pub use crate::entity::user::Model as User;

fields! {
    AlertSourceService {
        computed: status;
    }
    ApiDocIntegration {
        computed: webhookUrl;
    }
    AwsIntegration {
        computed: webhookUrl;
    }
    AzureResourcesIntegration {
        computed: webhookUrl;
    }
    Campaign {
        computed: htmlUrl;
    }
    CheckReport {
        computed: services, passed, failed, pending;
    }
    CheckResult {
        computed: since;
    }
    CodeIssueProject {
        key code_issue_project_id: codeIssues;
    }
    ComponentType {
        computed: href;
        key component_type_id: properties;
    }
    CustomIntegration {
        computed: webhookUrl;
    }
    Deploy {
        computed: providerName, providerType, serviceId;
    }
    DeployIntegration {
        computed: webhookUrl;
    }
    Domain {
        computed: htmlUrl;
        key domain_id: childSystems, tags;
        key source_domain_id: relationships;
        key target_domain_id: incomingRelationships;
    }
    EventSubscription {
        computed: htmlUrl;
    }
    Filter {
        computed: htmlUrl;
    }
    GoogleCloudIntegration {
        computed: webhookUrl;
    }
    InfrastructureResource {
        computed: href;
        key infrastructure_resource_id: tags;
        key source_infrastructure_resource_id: relationships;
        key target_infrastructure_resource_id: incomingRelationships;
    }
    KubernetesIntegration {
        computed: webhookUrl;
    }
    NewRelicIntegration {
        computed: webhookUrl;
    }
    Property {
        computed: locked;
    }
    Repository {
        computed: ownerAlias, htmlUrl;
        key repository_id: tags;
        through code_issue_project_resource: codeIssueProjects;
    }
    RepositoryConnectionType {
        computed: hiddenCount, organizationCount, ownedCount, visibleCount;
    }
    RepositoryPath {
        computed: href;
    }
    RepositoryServiceEdge {
        computed: atRoot;
    }
    SavedView {
        computed: own, problem, htmlUrl;
    }
    Scorecard {
        computed: href, passingChecks, passingChecksPercentage, serviceCount, totalChecks;
    }
    SearchResult {
        computed: htmlUrl;
    }
    Service {
        core: alias, aliases, managedAliases, locked, configErrors, htmlUrl, timestamps, contacts, impact, repositories,
            repos, defaultServiceRepository, deploys, lastDeploy, lastProductionDeploy, deployMetrics, codeIssues, property,
            documents, onCalls, favourite;
        details: serviceFile, apiDocumentPull, preferredApiDocumentSource, preferredApiDocument;
        keys: parent, type, dependencies, dependents;
        computed: favourite, htmlUrl;
        key service_id: tags, tools, serviceRepositories, properties, alertSourceServices;
        key source_service_id: relationships;
        key target_service_id: incomingRelationships;
        through code_issue_project_resource: codeIssueProjects;
        through alert_source_service: alertSources;
    }
    ServiceDependenciesEdge {
        computed: onLessCriticalTier;
    }
    ServiceDependentsEdge {
        computed: onLessCriticalTier;
    }
    ServiceDocument {
        computed: htmlUrl, content;
    }
    System {
        computed: htmlUrl;
        key system_id: childServices, tags;
        key source_system_id: relationships;
        key target_system_id: incomingRelationships;
    }
    Team {
        computed: htmlUrl;
        key team_id: memberships, tags, properties;
        key owner_id: services;
        key source_team_id: relationships;
        key target_team_id: incomingRelationships;
        through team_membership: members;
    }
    User {
        computed: htmlUrl;
        key user_id: tags;
        through team_membership: teams;
    }
}
