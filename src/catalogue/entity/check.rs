//! Checks: rules that services are measured by.

use super::check_due::Part;
use super::prelude::*;

/// The maximum number of checks.
pub const MOST: usize = 500;

super::table! {
    "check", Alone("Check"), StandardsAdministrators;

    /// What it asks.
    pub kind: Kind,
    /// The display name.
    pub name: String,
    /// Whether it counts. See [`counts`](Model::counts).
    pub enabled: bool,
    /// When it begins to count.
    pub enable_at: Option<Timestamp>,
    /// How to pass it.
    pub notes: Option<String>,
    /// The category that it belongs to.
    pub category_id: i64,
    /// The level that a service cannot reach without passing it.
    pub level_id: i64,
    /// The filter of the services that it is for; `None` for all services.
    pub filter_id: Option<i64>,
    /// The team that is responsible for it.
    pub owner_id: Option<i64>,
    /// The campaign that it belongs to, in place of the category's scorecard or the rubric.
    pub campaign_id: Option<i64>,
    /// The parameters of its kind, as JSON.
    pub parameters: String,
    /// The property definition that it names; `None` once that is deleted.
    pub property_definition_id: Option<i64>,
    /// The relationship definition that it names; `None` once that is deleted.
    pub relationship_definition_id: Option<i64>,
    /// The integration whose events it judges; `None` once that is deleted.
    pub integration_id: Option<i64>,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
    /// The name of the standards file that governs it; `None` if it is not locked.
    pub locked_by: Option<String>,
}

super::called!(class "Check");

super::rules![
    FieldRule::text("name", Column::Name, text::SHORT).required(),
    FieldRule::text("notes", Column::Notes, text::NOTE),
    FieldRule::new("enableOn", Column::EnableAt, ValueRule::Moment),
    FieldRule::new("ownerId", Column::OwnerId, ValueRule::Id(Reference::Team)),
];

/// What a check asks: a value of the SDL's `CheckType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The service has an alert source.
    AlertSourceUsage,
    /// The service has few code issues.
    CodeIssue,
    /// The service depends on none that is less critical.
    DependencyTier,
    /// Few deploys of the service fail, or its changes are deployed soon.
    DeployMetrics,
    /// Events that a tool has posted say whether the service passes.
    Generic,
    /// The repository of the service protects its default branch.
    GitBranchProtection,
    /// The service has documentation.
    HasDocumentation,
    /// The service has an owner.
    HasOwner,
    /// The service was deployed recently.
    HasRecentDeploy,
    /// The service has a repository.
    HasRepository,
    /// A service file describes the service.
    HasServiceConfig,
    /// A person says whether the service passes.
    Manual,
    /// The repository of the service uses a package.
    PackageVersion,
    /// The service has relationships.
    Relationship,
    /// The repository of the service has a file.
    RepoFile,
    /// Certain files in the repository of the service have certain contents.
    RepoGrep,
    /// The files in the repository of the service have certain contents.
    RepoSearch,
    /// The service has a dependency.
    ServiceDependency,
    /// The service has a value in a field.
    ServiceProperty,
    /// The service has a tag.
    TagDefined,
    /// The service has a tool.
    ToolUsage,
}

impl Kind {
    /// Whether it asks about a part of services, without a filter.
    pub fn asks_about(self, part: Part) -> bool {
        use Kind::{
            DependencyTier, DeployMetrics, HasDocumentation, HasOwner, HasRecentDeploy, HasServiceConfig, Manual,
            ServiceProperty, TagDefined, ToolUsage,
        };
        match part {
            Part::Fields => matches!(self, DependencyTier | HasOwner | HasServiceConfig | ServiceProperty),
            Part::Tags => matches!(self, TagDefined),
            Part::Deploys => matches!(self, DeployMetrics | HasRecentDeploy),
            Part::Tools => matches!(self, ToolUsage | HasDocumentation),
            Part::Reports => matches!(self, Manual | Kind::Generic) || self.is_of_repository(),
            Part::Any => true,
        }
    }

    /// Whether a pipeline evaluates it in the repository of a service, and reports the result.
    pub fn is_of_repository(self) -> bool {
        use Kind::{GitBranchProtection, PackageVersion, RepoFile, RepoGrep, RepoSearch};
        matches!(self, GitBranchProtection | PackageVersion | RepoFile | RepoGrep | RepoSearch)
    }
}

impl Model {
    /// Whether the check counts. A moment from which it counts, once it has passed, is as good as `enabled`.
    pub fn counts(&self, now: Timestamp) -> bool {
        self.enable_at.map_or(self.enabled, |from| from <= now)
    }

    /// Whether the check will count, but does not yet.
    pub fn is_upcoming(&self, now: Timestamp) -> bool {
        self.enable_at.is_some_and(|from| from > now)
    }
}
