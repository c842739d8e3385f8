//! Teams: the owners of services.

use super::prelude::*;
use super::row_lock;

super::table! {
    "team", Alone("Team"), |row| Owner::Team(row.id);

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

super::rules![
    FieldRule::text("name", Column::Name, text::SHORT).required(),
    FieldRule::new("managerEmail", Column::ManagerId, ValueRule::Named(Reference::User)),
    FieldRule::new("parentTeam", Column::ParentTeamId, ValueRule::Identified(Reference::Team)),
    FieldRule::text("responsibilities", Column::Responsibilities, text::DESCRIPTION),
];

/// The maximum number of teams above a team.
pub const MAX_DEPTH: usize = 20;

/// Checks that making `parent` the parent of `team`, or of a new team, closes no cycle and keeps the maximum depth.
///
/// # Errors
/// `parent` is `team` itself or below it, or there would be too many teams above `team` or above a team below it.
pub async fn check_parent(db: &Transaction, team: Option<i64>, parent: i64) -> Result<()> {
    let (mut above, mut levels) = (Some(parent), 0);
    while let Some(id) = above {
        if Some(id) == team {
            return Err(
                UserError::new("parentTeam", "a team cannot be a part of itself, or of one of its parts").into()
            );
        }
        levels += 1;
        if levels > MAX_DEPTH {
            return Err(too_deep());
        }
        // Locked, so that two mutations cannot close a cycle together.
        above = row_lock::row::<Entity>(db, id, LockType::NoKeyUpdate).await?.parent_team_id;
    }
    match team {
        Some(team) => check_parts(db, team, levels).await,
        None => Ok(()),
    }
}

/// Checks that the teams below `team` keep the maximum depth with this many teams above `team`. The caller has locked
/// `team` and all teams above it: whoever adds a team below it locks these too.
///
/// # Errors
/// There would be too many teams above `team` or above a team below it.
pub async fn check_parts(db: &Transaction, team: i64, above: usize) -> Result<()> {
    let (mut below, mut levels) = (vec![team], above);
    while !below.is_empty() {
        if levels > MAX_DEPTH {
            return Err(too_deep());
        }
        let parts = Entity::find().select_only().column(Column::Id);
        let parts = parts.filter(db::any(db, Column::ParentTeamId, &below));
        below = db.rows(parts.as_query(), |row| row.get(0)).await?;
        levels += 1;
    }
    Ok(())
}

fn too_deep() -> Error {
    UserError::new("parentTeam", format!("a team can have at most {MAX_DEPTH} teams above it")).into()
}
