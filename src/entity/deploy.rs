//! Deploys, as the webhook recorded them.
//!
//! Most columns hold what was sent, unchanged. `*_key` and `deploy_status` are derived, for the filters.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait, Func};
use serde::Deserialize;

use super::Timestamp;

/// A row of `deploy`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "deploy")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The deploy endpoint it came in by; `None` once that is deleted.
    pub integration_id: Option<i64>,
    /// The service; `None` while none has the alias, and once it is deleted.
    pub service_id: Option<i64>,
    /// The alias that was sent.
    pub service_alias: String,
    /// The user whose address the deployer has.
    pub associated_user_id: Option<i64>,
    /// The text shown with the deploy.
    pub description: String,
    /// When it took place.
    pub deployed_at: Timestamp,
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// Where its record is.
    pub deploy_url: Option<String>,
    /// The sender's id for it; unique within the endpoint.
    pub dedup_id: Option<String>,
    /// The number that was sent, or the next one of the service.
    pub deploy_number: String,
    /// The environment.
    pub environment: Option<String>,
    /// The environment in lower case, by [`environment_key`].
    pub environment_key: Option<String>,
    /// The status that was sent.
    pub status: Option<String>,
    /// The status it was understood as; `None` for an unknown word.
    pub deploy_status: Option<Status>,
    /// The deployer's id in the pipeline.
    pub deployer_id: Option<String>,
    /// The deployer's name.
    pub deployer_name: Option<String>,
    /// The deployer's address.
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
    /// The committer's address.
    pub committer_email: Option<String>,
    /// The author's name.
    pub commit_author_name: Option<String>,
    /// The author's address.
    pub commit_author_email: Option<String>,
    /// When the commit was authored.
    pub commit_authoring_date: Option<Timestamp>,
    /// When the deploy was recorded.
    pub created_at: Timestamp,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// How a deploy went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is done and live.
    Succeeded,
    /// It did not work.
    Failed,
    /// Somebody stopped it.
    Cancelled,
    /// It has yet to start.
    Queued,
    /// It is under way.
    Running,
}

/// What environments are compared by: lower case.
pub fn environment_key(environment: &str) -> String {
    environment.to_lowercase()
}

/// Of which environments deploys are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environments {
    keys: Vec<String>,
    with_unnamed: bool,
}

impl Environments {
    /// Those with these names, whatever the letter case; all when none is named.
    pub fn named(names: &[String]) -> Self {
        Self { keys: environment_keys(names), with_unnamed: false }
    }

    /// Those with these names, whatever the letter case, and the one of deploys that name none.
    pub fn production(names: &[String]) -> Self {
        Self { keys: environment_keys(names), with_unnamed: true }
    }

    /// Whether deploys to this environment are counted.
    pub fn contain(&self, environment: Option<&str>) -> bool {
        match environment {
            _ if self.keys.is_empty() => true,
            Some(name) => self.keys.contains(&environment_key(name)),
            None => self.with_unnamed,
        }
    }

    /// That the key of an environment is one of theirs; nothing where all are counted.
    pub fn condition(&self, key: Expr) -> Option<Expr> {
        let first = self.keys.first()?;
        let key = if self.with_unnamed { Func::coalesce([key, first.as_str().into()]).into() } else { key };
        Some(key.is_in(&self.keys))
    }
}

/// The keys of environments, each once.
pub fn environment_keys(environments: &[String]) -> Vec<String> {
    let mut keys: Vec<String> = environments.iter().map(|environment| environment_key(environment)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}
