//! The kinds of checks: the parameters of each, what it asks, and what it says.
//!
//! Invariant: a kind never evaluates itself. It makes a question, which `evaluate` puts to the database.

mod alert;
mod branch;
mod deploy;
mod documentation;
mod event;
mod file;
mod issue;
mod manual;
mod metrics;
mod owner;
mod package;
mod property;
mod relationship;
mod rows;
mod search;
mod tag;
mod tier;
mod tool;

pub(super) use alert::AlertSourceUsage;
pub(super) use branch::GitBranchProtection;
pub use deploy::DAYS;
pub(super) use deploy::HasRecentDeploy;
pub(super) use documentation::HasDocumentation;
pub(super) use event::CustomEvent;
pub(super) use file::RepositoryFile;
pub(super) use issue::CodeIssue;
pub(super) use manual::Manual;
pub(super) use metrics::DeployMetrics;
pub use metrics::{LEAD_HOURS, METRIC_DAYS};
pub(super) use owner::ServiceOwnership;
pub(super) use package::PackageVersion;
pub(super) use property::ServiceProperty;
pub(super) use relationship::Relationship;
pub(super) use rows::{RepositoryIntegrated, ServiceConfiguration, ServiceDependency};
pub(super) use search::{RepositoryGrep, RepositorySearch};
pub(super) use tag::TagDefined;
pub(super) use tier::DependencyTier;
pub(super) use tool::ToolUsage;
