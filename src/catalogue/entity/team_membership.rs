//! The members of teams.

use super::prelude::*;
use super::{team, user};

super::table! {
    "team_membership";

    /// The team.
    pub team_id: i64,
    /// The member; at most once per team.
    pub user_id: i64,
    /// The member's role, in the team's own words.
    pub role: Option<String>,
}

impl Table for Entity {
    const TOLD: Told = Told::In("members");

    fn owner(row: &Model) -> Owner {
        Owner::Row(RowOf::new::<team::Entity>(row.team_id))
    }

    fn entry(row: &Model) -> Entry {
        let role = row.role.as_ref().map_or(String::new(), |role| format!(" ({role})"));
        Entry { name: vec![Word::NameOf(RowOf::new::<user::Entity>(row.user_id)), Word::Text(role)], value: None }
    }
}

super::rules![FieldRule::text("role", Column::Role, text::SHORT)];

/// The ids of the teams of which the user is a member or the manager.
pub async fn teams_of(db: &dyn ReadHandle, user: i64) -> Result<Vec<i64>, db::Error> {
    let joined = Entity::find().select_only().column(Column::TeamId).filter(Column::UserId.eq(user));
    let mut teams: Vec<i64> = db.rows(joined.as_query(), |row| row.get(0)).await?;
    let led = team::Entity::find().select_only().column(team::Column::Id).filter(team::Column::ManagerId.eq(user));
    teams.extend(db.rows(led.as_query(), |row| row.get::<i64>(0)).await?);
    Ok(teams)
}

/// Whether the user is a member or the manager of the team.
pub async fn is_of(db: &dyn ReadHandle, user: i64, team: i64) -> Result<bool, db::Error> {
    let membership = Entity::find().filter(Column::TeamId.eq(team)).filter(Column::UserId.eq(user));
    if db.one(membership.limit(1)).await?.is_some() {
        return Ok(true);
    }
    let found = db.one(team::Entity::find_by_id(team)).await?;
    Ok(found.is_some_and(|team| team.manager_id == Some(user)))
}
