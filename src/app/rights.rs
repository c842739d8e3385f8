//! Whether a page offers to change something, and what it says instead. The API decides; a page only leaves out what the API
//! would refuse.

use maud::{Markup, html};

use super::operations::OwnerTeam;
use super::visit::{Session, Visit, path};
use super::{Fault, Site};
use catalogue::entity::user::Role;
use catalogue::entity::{team, team_membership};
use catalogue::graphql::field::id;

/// The team that owns a thing.
#[derive(Debug, Clone, Copy)]
pub struct Owner<'t> {
    /// Its id.
    pub id: &'t str,
    /// Its alias.
    pub alias: &'t str,
    /// Its name.
    pub name: &'t str,
}

impl<'t> From<&'t OwnerTeam> for Owner<'t> {
    fn from(OwnerTeam { id, alias, name }: &'t OwnerTeam) -> Self {
        Self { id, alias, name }
    }
}

/// What a visitor wants to change.
#[derive(Debug)]
pub struct Thing<'t> {
    /// What people call it: a service, a team, a system, a domain or a subscription.
    pub noun: &'static str,
    /// The path of its page.
    pub page: String,
    /// The team that owns it. A team is its own owner.
    pub owner: Option<Owner<'t>>,
}

/// What a visitor may do with a thing. A team member may change what their teams own: those that they belong to or lead.
/// Everybody with a higher role may change everything, and nobody with a lower one anything.
#[derive(Debug)]
pub struct Rights<'t> {
    may: May,
    thing: Thing<'t>,
    is_held_to_own: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum May {
    /// Change it.
    Change,
    /// Make one of their teams the owner of what has none.
    Take,
    /// Read it. The visitor may change other things.
    Read,
    /// Read everything, and change nothing.
    Nothing,
}

impl<'t> Rights<'t> {
    /// Finds what the visitor may do.
    pub async fn read(site: &Site, visit: &Visit, thing: Thing<'t>) -> Result<Self, Fault> {
        let session = visit.session.as_ref().ok_or(Fault::SignInFirst)?;
        let (user, role) = (session.user.id, session.user.role);
        let is_held_to_own = session.is_held_to_own;
        if role != Role::TeamMember {
            let may = if role >= Role::User { May::Change } else { May::Nothing };
            return Ok(Self { may, thing, is_held_to_own });
        }
        let reading = site.reading(visit).await?;
        let may = match thing.owner.map(|owner| id::number::<team::Entity>(owner.id)) {
            None if reading.required(|db| team_membership::teams_of(db, user)).await?.is_empty() => May::Read,
            None => May::Take,
            Some(Some(team)) if reading.required(|db| team_membership::is_of(db, user, team)).await? => May::Change,
            Some(_) => May::Read,
        };
        Ok(Self { may, thing, is_held_to_own })
    }

    /// Whether the visitor may change the thing.
    pub fn may_change(&self) -> bool {
        self.may == May::Change
    }

    /// Whether the visitor may save the thing's own form, if only to give it to one of their teams.
    pub fn may_edit(&self) -> bool {
        matches!(self.may, May::Change | May::Take)
    }

    /// Fails unless the visitor may change the thing.
    pub fn to_change(&self) -> Result<(), Fault> {
        if self.may_change() { Ok(()) } else { Err(self.fault()) }
    }

    /// Fails unless the visitor may save the thing's own form.
    pub fn to_edit(&self) -> Result<(), Fault> {
        if self.may_edit() { Ok(()) } else { Err(self.fault()) }
    }

    fn fault(&self) -> Fault {
        match self.may {
            May::Nothing => Fault::Forbidden(Role::User),
            _ => Fault::NotOwn(html! {
                (self.note())
                p { a href=(self.thing.page) { "Back to the " (self.thing.noun) } }
            }),
        }
    }

    /// Says whose the thing is, in place of what changes it. Nothing for whoever may change it, and for whoever may change
    /// nothing at all.
    pub fn note(&self) -> Markup {
        match (self.may, self.thing.owner) {
            (May::Change | May::Nothing, _) => html! {},
            (_, Some(owner)) => html! { div.notice { p { (self.owned(owner)) } } },
            (May::Take, None) => html! {
                div.notice { p {
                    "Nobody owns this " (self.thing.noun) ". To change it, first "
                    a href={ (self.thing.page) "/edit" } { "make one of your teams its owner" } "."
                } }
            },
            (May::Read, None) => html! {
                div.notice { p {
                    "Nobody owns this " (self.thing.noun) ". Only members of a team can make that team its owner. "
                    (self.others()) " can change it."
                } }
            },
        }
    }

    /// Says above the thing's own form which owner it takes.
    pub fn taking(&self) -> Markup {
        html! {
            @if self.may == May::Take { div.notice { p {
                "Nobody owns this " (self.thing.noun) ". To save it, choose one of your teams as its owner."
            } } }
        }
    }

    fn owned(&self, owner: Owner<'_>) -> Markup {
        let page = path(["teams", owner.alias]);
        html! {
            @if self.thing.noun == "team" { "You are not in this team. " } @else {
                a href=(page) { (owner.name) } " owns this " (self.thing.noun) ". "
            }
            @if self.is_held_to_own {
                "On this server, only its members and administrators can change it. "
            } @else {
                "Only its members, and people with a higher role than yours, can change it. "
            }
            a href={ (page) "/contacts" } { "How to reach " (owner.name) }
        }
    }

    /// Who may change everything.
    fn others(&self) -> &'static str {
        if self.is_held_to_own { "On this server, administrators" } else { "People with a higher role than yours" }
    }
}

/// The teams whose things the visitor may change: for pages that offer it for many. [`Rights`] answers for one thing.
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

/// Refuses whoever may create nothing that a team owns: viewers, and team members of no team.
pub async fn to_create(site: &Site, session: &Session) -> Result<(), Fault> {
    match Reach::read(site, session).await?.is_empty() {
        true => Err(Fault::Forbidden(Role::User)),
        false => Ok(()),
    }
}

/// Says above the form of something new which owner it takes.
pub fn own_owner(visit: &Visit) -> Markup {
    let is_held = visit.session.as_ref().is_some_and(|session| session.user.role == Role::TeamMember);
    html! { @if is_held { p.soft { "Choose one of your teams as the owner." } } }
}
