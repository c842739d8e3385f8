//! What the catalogue lacks, as learnt from what was pushed: an alias that deploys name and no service has, or a code
//! issue project that is connected to nothing. There is one row for each such alias, and one for each such project.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::Timestamp;

/// A row of `suggestion`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "suggestion")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The unknown alias, or the project's name.
    pub alias: String,
    /// The project; `None` where the alias was learnt from deploys.
    pub code_issue_project_id: Option<i64>,
    /// What was decided about it.
    pub state: State,
    /// How many deploys named the alias while no service had it.
    pub deploy_count: i32,
    /// When it was first pushed.
    pub first_seen_at: Timestamp,
    /// When it was last pushed.
    pub last_seen_at: Timestamp,
    /// The service it was accepted for.
    pub service_id: Option<i64>,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// What was decided about a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nothing yet.
    Open,
    /// A service was made for it, or has it now.
    Accepted,
    /// It is not to be asked about again.
    Ignored,
}

/// What a suggestion was learnt from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Deploys of an alias that no service has.
    Deploy,
    /// A code issue project that is connected to nothing.
    CodeIssueProject,
}

impl Model {
    /// What it was learnt from.
    pub fn kind(&self) -> Kind {
        if self.code_issue_project_id.is_some() { Kind::CodeIssueProject } else { Kind::Deploy }
    }
}
