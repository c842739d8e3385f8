//! Deploys, as recorded by the webhook.
//!
//! Most columns hold what was sent, unchanged. `*_key` and `deploy_status` are derived, for filters.

use sea_orm::sea_query::{ExprTrait, Func};

use super::prelude::*;
use crate::db::{Following, Follows};

super::table! {
    "deploy", Directly("Deploy"), Members;

    /// The deploy endpoint that received the post; `None` once that endpoint is deleted.
    pub integration_id: Option<i64>,
    /// The service. `None` while no service has the alias, and after the service is deleted.
    pub service_id: Option<i64>,
    /// The alias that was sent.
    pub service_alias: String,
    /// The user who has the deployer's email address.
    pub associated_user_id: Option<i64>,
    /// The text shown with the deploy.
    pub description: String,
    /// When it took place.
    pub deployed_at: Timestamp,
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// The URL of its record elsewhere.
    pub deploy_url: Option<String>,
    /// The sender's id for the deploy; unique within the endpoint.
    pub dedup_id: Option<String>,
    /// The number, as sent, or the next number of the service or alias.
    pub deploy_number: String,
    /// The environment.
    pub environment: Option<String>,
    /// The environment in lower case, from [`environment_key`].
    pub environment_key: Option<String>,
    /// The status that was sent.
    pub status: Option<String>,
    /// The normalised status; `None` for an unknown word.
    #[serde(deserialize_with = "super::known_or_null")]
    pub deploy_status: Option<Status>,
    /// The deployer's id in the pipeline.
    pub deployer_id: Option<String>,
    /// The deployer's name.
    pub deployer_name: Option<String>,
    /// The deployer's email address.
    pub deployer_email: Option<String>,
    /// The commit's hash.
    pub commit_sha: Option<String>,
    /// The commit's message.
    pub commit_message: Option<String>,
    /// The commit's branch.
    pub commit_branch: Option<String>,
    /// The commit's date.
    pub committed_at: Option<Timestamp>,
    /// The committer's name.
    pub committer_name: Option<String>,
    /// The committer's email address.
    pub committer_email: Option<String>,
    /// The author's name.
    pub commit_author_name: Option<String>,
    /// The author's email address.
    pub commit_author_email: Option<String>,
    /// When the commit was authored.
    pub commit_authoring_date: Option<Timestamp>,
    /// When the deploy was recorded.
    pub created_at: Timestamp,
}

// They stay without their endpoint.
impl Follows<super::integration::Entity> for Entity {
    const FROM: Following = Following::Deletion;
}

// They go to the service that a suggestion is mapped to, and are left again when that is undone.
impl Follows<super::suggestion::Entity> for Entity {
    const FROM: Following = Following::Change;
}

/// How a deploy went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The deploy is complete and live.
    Succeeded,
    /// The deploy failed.
    Failed,
    /// Someone stopped the deploy.
    Cancelled,
    /// The deploy has not started yet.
    Queued,
    /// The deploy is in progress.
    Running,
}

/// Returns the form in which environments are compared: lower case.
pub fn environment_key(environment: &str) -> String {
    environment.to_lowercase()
}

/// Selects the environments whose deploys count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environments {
    keys: Vec<String>,
    with_unnamed: bool,
}

/// The environments that count as production unless a server is told others.
pub const PRODUCTION: [&str; 2] = ["production", "prod"];

impl Environments {
    /// Selects the environments with these names, ignoring case. Selects all deploys if there are no names.
    pub fn named(names: &[String]) -> Self {
        Self { keys: environment_keys(names), with_unnamed: false }
    }

    /// Selects the environments with these names, ignoring case, and deploys without an environment. Selects all
    /// deploys if there are no names.
    pub fn production(names: &[String]) -> Self {
        Self { keys: environment_keys(names), with_unnamed: true }
    }

    /// Returns the keys of the named environments. Selects all deploys if there are none.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Returns whether deploys to this environment count.
    pub fn contain(&self, environment: Option<&str>) -> bool {
        match environment {
            _ if self.keys.is_empty() => true,
            Some(name) => self.keys.contains(&environment_key(name)),
            None => self.with_unnamed,
        }
    }

    /// Returns the condition that an environment's key is selected; `None` if all are selected.
    pub fn condition(&self, key: Expr) -> Option<Expr> {
        let first = self.keys.first()?;
        let key = if self.with_unnamed { Func::coalesce([key, first.as_str().into()]).into() } else { key };
        Some(key.is_in(&self.keys))
    }
}

/// Returns the keys of environments, sorted, each once.
pub fn environment_keys(environments: &[String]) -> Vec<String> {
    let mut keys: Vec<String> = environments.iter().map(|environment| environment_key(environment)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}
