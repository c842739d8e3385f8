//! Teams: the owners of services.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::LockType;
use serde::Deserialize;

use super::field_rule::{FieldRule, FieldRules, Reference, ValueRule};
use super::{Timestamp, row_lock, team_alias, text};
use crate::db::Read;
use crate::error::{Result, UserError};

/// A row of `team`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "team")]
pub struct Model {
    /// Primary key; never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The display name; unique.
    pub name: String,
    /// The slug of the current name; also a row of `team_alias`.
    pub alias: String,
    /// What the team looks after.
    pub responsibilities: Option<String>,
    /// The user who manages the team.
    pub manager_id: Option<i64>,
    /// The parent team.
    pub parent_team_id: Option<i64>,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl FieldRules for Entity {
    const FIELDS: &'static [FieldRule<Column>] = &[
        FieldRule::text("name", Column::Name, text::SHORT).required(),
        FieldRule::new("managerEmail", Column::ManagerId, ValueRule::Named(Reference::User)),
        FieldRule::new("parentTeam", Column::ParentTeamId, ValueRule::Identified(Reference::Team)),
        FieldRule::text("responsibilities", Column::Responsibilities, text::DESCRIPTION),
    ];
}

impl super::ByAlias for Entity {
    async fn by_alias<C: Read>(db: &C, alias: &str) -> Result<Option<Model>, DbErr> {
        super::by_own_alias::<Entity, team_alias::Entity>(db, Column::Id, alias).await
    }
}

/// A parent is refused if a team would have at least this many teams above it.
const LEVELS: usize = 20;

/// Checks that making `parent` the parent of `team` does not close a cycle.
///
/// # Errors
/// `parent` is `team` itself or below it, or there would be too many teams above `team`.
pub async fn refuse_circle(db: &impl ConnectionTrait, team: i64, parent: i64) -> Result<()> {
    let mut above = Some(parent);
    for _ in 0..LEVELS {
        let Some(id) = above else { return Ok(()) };
        if id == team {
            return Err(
                UserError::new("parentTeam", "a team cannot be a part of itself, or of one of its parts").into()
            );
        }
        // Locked, so that two mutations cannot close a cycle together.
        above = row_lock::row::<Entity>(db, id, LockType::NoKeyUpdate).await?.parent_team_id;
    }
    Err(UserError::new("parentTeam", format!("there are at most {LEVELS} teams above a team")).into())
}
