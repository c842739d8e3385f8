//! Binds SDL types to Rust types.
//!
//! The build reads the names from this file. A bound object type gets a resolver trait, which the noun's file
//! implements. An unbound one becomes a struct with public fields. Scalars are bound too.
//!
//! For a type bound to the row of a table (`Model`), the trait provides the methods that follow from its columns: a
//! scalar of the same name and type, `id`, another row by the key in the column `NAME_id`, and the lists of
//! `@relation`. The noun's file writes the other methods, and may override these.
//!
//! Of a row with groups of columns (`GROUPS` in its entity), lists leave out the groups that no selected field reads. There
//! a method written by hand gets the row, and reads all groups, unless `parts!` says which part it gets:
//!
//! - `core`: the columns that every list reads;
//! - the name of a group: these, and the group;
//! - `row`: the row. This is for fields that follow from a column and are written all the same, which a noun's file cannot
//!   override otherwise.

/// The fields whose methods get a part of a row. The build reads them from here.
macro_rules! parts {
    ($($fields:tt)*) => {};
}

parts! {
    Service {
        core: alias, aliases, managedAliases, locked, configErrors, htmlUrl, timestamps, contacts, impact, repositories,
            repos, defaultServiceRepository, deploys, lastDeploy, deployMetrics, codeIssues, property, documents, onCalls,
            favourite;
        details: serviceFile, apiDocumentPull, preferredApiDocumentSource, preferredApiDocument;
        keys: parent, type, dependencies, dependents;
    }
}

pub use super::account::Account;
pub use super::field::id::Id as ID;
pub use super::field::json::{Json as JSON, Json as JSONSchema, JsonText as JsonString};
pub use super::field::reference::{IntegrationTypeName, ServiceReference};
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
