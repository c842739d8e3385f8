//! The teams as a tree, and what a team or a person has beside services.

use std::collections::{HashMap, HashSet};

use maud::{Markup, html};
use sea_orm::sea_query::{Asterisk, Expr, ExprTrait, Func, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};

use super::Fault;
use super::parts::{count, owner};
use super::reading::{Reading, too_long};
use super::visit::path;
use catalogue::db::{Read, ReadHandle, Row, any};
use catalogue::entity::{domain, on_call, service, system, team, team_membership, user};

/// The maximum number of teams in the tree. With more, the list of teams is flat.
pub const TEAMS: usize = 500;
/// The maximum number of systems, of domains, of led teams, and of services with a shift, that a page shows.
pub const OWNED: u64 = 50;

/// A team in the tree.
struct Node {
    id: i64,
    name: String,
    alias: String,
    parent: Option<i64>,
}

/// The whole tree, if any team is a part of another, and if there are not too many teams.
pub async fn tree(reading: &Reading) -> Result<Option<Markup>, Fault> {
    let nodes = reading.optional(nodes).await?.unwrap_or_default();
    if nodes.len() > TEAMS || nodes.iter().all(|node| node.parent.is_none()) {
        return Ok(None);
    }
    let counts = reading.optional(async |db| {
        let services = counts(db, service::Column::OwnerId, service::Entity).await?;
        let members = counts(db, team_membership::Column::TeamId, team_membership::Entity).await?;
        Ok::<_, Fault>([members, services])
    });
    let counts = counts.await?.unwrap_or_default();
    let mut children = HashMap::<Option<i64>, Vec<&Node>>::new();
    let known: HashSet<i64> = nodes.iter().map(|node| node.id).collect();
    for node in &nodes {
        children.entry(node.parent.filter(|parent| known.contains(parent))).or_default().push(node);
    }
    Ok(Some(branch(None, &children, &counts, team::MAX_DEPTH + 1)))
}

async fn nodes(db: &dyn ReadHandle) -> Result<Vec<Node>, Fault> {
    use team::Column;
    let select =
        team::Entity::find().select_only().columns([Column::Id, Column::Name, Column::Alias, Column::ParentTeamId]);
    let select = select.order_by_asc(Column::Name).order_by_asc(Column::Id).limit(TEAMS as u64 + 1);
    let node = |row: &Row<'_>| Ok(Node { id: row.get(0)?, name: row.get(1)?, alias: row.get(2)?, parent: row.get(3)? });
    Ok(db.rows(select.as_query(), node).await?)
}

/// The number of rows for each value of a column.
async fn counts<E: EntityTrait>(
    db: &dyn ReadHandle,
    column: impl ColumnTrait,
    _: E,
) -> Result<HashMap<i64, i64>, Fault> {
    let parent = || Expr::col(column.as_column_ref());
    let mut select = Query::select();
    select.expr(parent()).expr(Func::count(Expr::col(Asterisk))).from(E::default().table_ref());
    select.and_where(parent().is_not_null()).group_by_col(column.as_column_ref());
    Ok(db.rows(&select, |row| Ok((row.get(0)?, row.get(1)?))).await?.into_iter().collect())
}

/// The teams below one, with those below them to this depth.
fn branch(
    parent: Option<i64>,
    children: &HashMap<Option<i64>, Vec<&Node>>,
    counts: &[HashMap<i64, i64>; 2],
    depth: usize,
) -> Markup {
    let number = |at: usize, id: i64| counts[at].get(&id).copied().unwrap_or_default();
    html! {
        @if let Some(nodes) = children.get(&parent).filter(|_| depth > 0) {
            ul.tree { @for node in nodes {
                li {
                    a href=(path(["teams", &node.alias])) { (node.name) } " "
                    span.soft { (count(number(0, node.id), "member")) ", " (count(number(1, node.id), "service")) }
                    (branch(Some(node.id), children, counts, depth - 1))
                }
            } }
        }
    }
}

/// The systems and domains that a team owns.
pub async fn owned(reading: &Reading, team: i64) -> Result<Markup, Fault> {
    let found = reading.optional(async |db| {
        let systems = system::Entity::find().filter(system::Column::OwnerId.eq(team));
        let systems = db.all(systems.order_by_asc(system::Column::Id).limit(OWNED)).await?;
        let domains = domain::Entity::find().filter(domain::Column::OwnerId.eq(team));
        let domains = db.all(domains.order_by_asc(domain::Column::Id).limit(OWNED)).await?;
        Ok::<_, Fault>((systems, domains))
    });
    let Some((systems, domains)) = found.await? else { return Ok(too_long()) };
    let list = |title: &str, part: &str, all: Vec<(String, String)>| {
        html! {
            @if !all.is_empty() {
                section.card {
                    h2 { (title) }
                    ul.marks { @for (slug, name) in &all { li { a.mark href=(path([part, slug])) { (name) } } } }
                    @if all.len() as u64 >= OWNED { p.soft { "and perhaps more" } }
                }
            }
        }
    };
    Ok(html! {
        (list("Systems", "systems", systems.into_iter().map(|one| (one.slug, one.name)).collect()))
        (list("Domains", "domains", domains.into_iter().map(|one| (one.slug, one.name)).collect()))
    })
}

/// What a person leads, and what they are on call for.
pub struct Duties {
    /// The teams that they lead.
    pub led: Vec<team::Model>,
    /// The services of these teams.
    pub services: Vec<service::Label>,
    /// The services that they are on call for.
    pub on_call: Vec<service::Label>,
}

impl Duties {
    /// Reads the duties of the user with this id.
    pub async fn read(db: &dyn ReadHandle, id: i64) -> Result<Self, Fault> {
        let user = db.one(user::Entity::find_by_id(id)).await?.ok_or(Fault::NotFound)?;
        let led = team::Entity::find().filter(team::Column::ManagerId.eq(user.id));
        let led = db.all(led.order_by_asc(team::Column::Name).limit(OWNED)).await?;
        let teams: Vec<i64> = led.iter().map(|team| team.id).collect();
        let services = service::Entity::find().select_only().column(service::Column::Id);
        let services = services.filter(any(db, service::Column::OwnerId, &teams)).limit(OWNED);
        let services: Vec<i64> = db.rows(services.as_query(), |row| row.get(0)).await?;
        let shifts = on_call::Entity::find().select_only().column(on_call::Column::ServiceId);
        let emails = [user.email.as_str(), user.email_key.as_str()];
        let shifts = shifts.filter(on_call::Column::ExternalEmail.is_in(emails)).limit(OWNED);
        let shifts: Vec<i64> = db.rows(shifts.as_query(), |row| row.get(0)).await?;
        let (services, on_call) = (service::labels(db, &services).await?, service::labels(db, &shifts).await?);
        Ok(Self { led, services, on_call })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.led.is_empty() && self.on_call.is_empty()
    }

    /// The cards with the duties.
    pub fn show(&self) -> Markup {
        let services = |title: &str, all: &[service::Label]| {
            html! {
                @if !all.is_empty() {
                    section.card {
                        h2 { (title) }
                        ul.marks { @for one in all { li { a.mark href=(path(["services", &one.slug])) { (one.name) } } } }
                        @if all.len() as u64 >= OWNED { p.soft { "and perhaps more" } }
                    }
                }
            }
        };
        html! {
            @if !self.led.is_empty() {
                section.card {
                    h2 { "Leads" }
                    ul.marks { @for team in &self.led { li { (owner(Some((&team.alias, &team.name)))) } } }
                }
            }
            (services("Services of these teams", &self.services))
            (services("On call for", &self.on_call))
        }
    }
}
