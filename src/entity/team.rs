//! Teams: the owners of services.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::Query;

use super::{Timestamp, team_alias};

/// A row of `team`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
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
    /// When the row was made.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// The team that has this alias, of whatever kind.
pub async fn by_alias<C: ConnectionTrait>(db: &C, alias: &str) -> Result<Option<Model>, DbErr> {
    let id = Query::select()
        .column(team_alias::Column::TeamId)
        .from(team_alias::Entity)
        .and_where(team_alias::Column::Value.eq(alias))
        .take();
    Entity::find().filter(Column::Id.in_subquery(id)).one(db).await
}
