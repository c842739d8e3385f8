//! Suggestions: what the catalogue may lack. There is one for each alias that deploys use and no service has, and one
//! for each code issue project that is connected to nothing.

use super::prelude::*;
use crate::db::{Following, Follows};

super::table! {
    "suggestion", Alone("ServiceSuggestion"), Members;

    /// The unknown alias, or the name of the project.
    pub alias: String,
    /// The project; `None` if the suggestion comes from deploys.
    pub code_issue_project_id: Option<i64>,
    /// The decision.
    pub state: State,
    /// The number of deploys that used the alias while no service had it.
    pub deploy_count: i32,
    /// When it was first pushed.
    pub first_seen_at: Timestamp,
    /// When it was last pushed.
    pub last_seen_at: Timestamp,
    /// The service it was accepted for.
    pub service_id: Option<i64>,
    /// What accepting it did. `None` before that, and if an earlier version accepted it. It means nothing in other states.
    #[serde(deserialize_with = "super::known_or_null")]
    pub acceptance: Option<Acceptance>,
}

// They stay without their service.
impl Follows<super::service::Entity> for Entity {
    const FROM: Following = Following::Deletion;
}

/// The decision about a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// No decision yet.
    Open,
    /// A service was created for it, or an existing one was chosen.
    Accepted,
    /// Never to be suggested again.
    Ignored,
}

/// What accepting a suggestion did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Acceptance {
    /// It created the service.
    Created,
    /// It gave the alias or the project to a service that existed.
    Mapped,
    /// The service had the alias or the project before.
    Known,
}

/// The source of a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SuggestionKind {
    /// Deploys with an alias that no service has.
    Deploy,
    /// A code issue project that is connected to nothing.
    CodeIssueProject,
}

impl Model {
    /// The source of the suggestion.
    pub fn kind(&self) -> SuggestionKind {
        if self.code_issue_project_id.is_some() { SuggestionKind::CodeIssueProject } else { SuggestionKind::Deploy }
    }
}
