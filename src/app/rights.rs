//! Whether a page offers to change something. The API decides; a page only leaves out what the API would refuse.

use super::visit::{Session, Visit};
use super::{Fault, Site};
use crate::entity::user::Role;
use crate::entity::{team, team_membership};
use crate::graphql::field::id;

/// Whether the visitor may change what the team with this id owns. A team member may if they belong to the team or lead
/// it; everybody with a higher role may, and nobody with a lower one.
pub async fn may_change(site: &Site, visit: &Visit, session: &Session, owner: Option<&str>) -> Result<bool, Fault> {
    if session.user.role != Role::TeamMember {
        return Ok(session.user.role >= Role::User);
    }
    let Some(team) = owner.and_then(id::number::<team::Entity>) else { return Ok(false) };
    let user = session.user.id;
    site.reading(visit).await?.required(|db| team_membership::is_of(db, user, team)).await
}

/// The teams whose things the visitor may change: for pages that offer it for many. [`may_change`] answers for one team.
pub struct Reach {
    /// `None` for all teams, and for what no team owns.
    teams: Option<Vec<i64>>,
}

impl Reach {
    /// Reads the teams of a team member.
    pub async fn read(site: &Site, session: &Session) -> Result<Self, Fault> {
        let user = session.user.id;
        let teams = match session.user.role {
            Role::TeamMember => Some(team_membership::teams_of(site.db.read(), user).await?),
            role => (role < Role::User).then(Vec::new),
        };
        Ok(Self { teams })
    }

    /// Whether there is nothing that the visitor may change.
    pub fn is_empty(&self) -> bool {
        self.teams.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether the visitor may change what the team with this id owns.
    pub fn includes(&self, owner: Option<&str>) -> bool {
        self.includes_number(owner.and_then(id::number::<team::Entity>))
    }

    /// The same for the number of the team.
    pub fn includes_number(&self, owner: Option<i64>) -> bool {
        let Some(teams) = &self.teams else { return true };
        owner.is_some_and(|team| teams.contains(&team))
    }
}
