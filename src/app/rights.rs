//! What the pages offer to change. The API decides what may be changed: a page only leaves out what it would refuse.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};

use super::visit::{Session, Visit};
use super::{Fault, Site};
use crate::db::Read;
use crate::entity::user::Role;
use crate::entity::{team, team_membership};
use crate::graphql::id;

/// Whether the visitor may change what the team with this id owns. A member changes everything; a team member what the
/// teams own that they belong to or lead.
pub async fn may_change(site: &Site, visit: &Visit, session: &Session, owner: Option<&str>) -> Result<bool, Fault> {
    if session.user.role != Role::TeamMember {
        return Ok(session.user.role >= Role::User);
    }
    let Some(team) = owner.and_then(id::number::<team::Entity>) else { return Ok(false) };
    let user = session.user.id;
    site.reading(visit).await?.whole(|db| is_of(db, user, team)).await
}

/// Whether the user is a member or the manager of the team.
async fn is_of(db: &impl Read, user: i64, team: i64) -> Result<bool, Fault> {
    use team_membership::Column;
    let found = db.one(team::Entity::find_by_id(team)).await?;
    if found.is_some_and(|team| team.manager_id == Some(user)) {
        return Ok(true);
    }
    let membership = team_membership::Entity::find().filter(Column::TeamId.eq(team)).filter(Column::UserId.eq(user));
    Ok(db.one(membership.limit(1)).await?.is_some())
}
