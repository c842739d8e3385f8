//! Tools: where a service's runbooks, dashboards, logs and the like are.

use super::prelude::*;
use super::{repository, service};

super::table! {
    "tool";

    /// The service.
    pub service_id: i64,
    /// The category: a value of the SDL's `ToolCategory`.
    pub category: String,
    /// The display name.
    pub display_name: String,
    /// The URL.
    pub url: String,
    /// The environment that it belongs to.
    pub environment: Option<String>,
}

impl Table for Entity {
    const TOLD: Told = Told::Alone("Tool");
    const LIST: Option<&'static str> = Some("tools");

    fn owner(row: &Model) -> Owner {
        Owner::Row(RowOf::new::<service::Entity>(row.service_id))
    }

    fn entry(row: &Model) -> Entry {
        let Model { category, display_name, url, environment, .. } = row;
        let of = environment.as_ref().map_or(String::new(), |environment| format!(", {environment}"));
        Entry::text(format!("{display_name} ({category}{of}): {url}"))
    }
}

/// The categories of tools: the values of the SDL's `ToolCategory`.
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

super::rules![
    FieldRule::text("displayName", Column::DisplayName, text::SHORT).required(),
    FieldRule::text("url", Column::Url, text::URL).required().checked(repository::check_url),
    FieldRule::text("environment", Column::Environment, text::SHORT),
];
