//! Tools: where a service's runbooks, dashboards, logs and the like are.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::field_rule::{FieldRule, FieldRules};
use super::{repository, text};

/// A row of `tool`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "tool")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The service.
    pub service_id: i64,
    /// What it is for: a word of the SDL's `ToolCategory`.
    pub category: String,
    /// What people call it.
    pub display_name: String,
    /// Its address on the web.
    pub url: String,
    /// The environment that it is of.
    pub environment: Option<String>,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// What tools are for: the words of the SDL's `ToolCategory`.
pub const CATEGORIES: &[&str] = &[
    "admin",
    "api_documentation",
    "architecture_diagram",
    "backlog",
    "code",
    "continuous_integration",
    "deployment",
    "design_documentation",
    "errors",
    "feature_flag",
    "health_checks",
    "incidents",
    "issue_tracking",
    "logs",
    "metrics",
    "observability",
    "orchestrator",
    "other",
    "resiliency",
    "runbooks",
    "security_scans",
    "status_page",
    "wiki",
];

impl FieldRules for Entity {
    const FIELDS: &'static [FieldRule<Column>] = &[
        FieldRule::text("displayName", Column::DisplayName, text::SHORT).required(),
        FieldRule::text("url", Column::Url, text::URL).required().checked(repository::check_url),
        FieldRule::text("environment", Column::Environment, text::SHORT),
    ];
}
