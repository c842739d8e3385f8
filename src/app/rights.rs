//! Whether a page offers to change something. The API decides; a page only leaves out what the API would refuse.

use super::visit::{Session, Visit};
use super::{Fault, Site};
use crate::entity::user::Role;
use crate::entity::{team, team_membership};
use crate::graphql::id;

/// Whether the visitor may change what the team with this id owns. A team member may if they belong to the team or lead
/// it; everybody with a higher role may, and nobody with a lower one.
pub async fn may_change(site: &Site, visit: &Visit, session: &Session, owner: Option<&str>) -> Result<bool, Fault> {
    if session.user.role != Role::TeamMember {
        return Ok(session.user.role >= Role::User);
    }
    let Some(team) = owner.and_then(id::number::<team::Entity>) else { return Ok(false) };
    let user = session.user.id;
    site.reading(visit).await?.whole(|db| team_membership::is_of(db, user, team)).await
}
