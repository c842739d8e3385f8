//! Teams: the owners of services.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::field_rule::{FieldRule, FieldRules, Reference, ValueRule};
use super::{Timestamp, team_alias, text};
use crate::db::Read;

/// A row of `team`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "team")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The name as people write it; unique.
    pub name: String,
    /// The slug of the present name; also a row of `team_alias`.
    pub alias: String,
    /// What the team looks after.
    pub responsibilities: Option<String>,
    /// The user who manages the team.
    pub manager_id: Option<i64>,
    /// The team that it is a part of.
    pub parent_team_id: Option<i64>,
    /// When the row was made.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
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

/// The team that has this alias, of whatever kind.
pub async fn by_alias<C: Read>(db: &C, alias: &str) -> Result<Option<Model>, DbErr> {
    super::by_alias::<Entity, team_alias::Entity>(db, Column::Id, alias).await
}
