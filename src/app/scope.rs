//! What an address is about: a service, a team, a system or a domain, by name or alias, and the services that belong to it.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait};

use super::Fault;
use super::offers::Offered;
use super::parts::short;
use super::picker::{self, Noun};
use super::visit::{Fields, path};
use catalogue::db::{Read, ReadHandle, any};
use catalogue::deploy::list::SERVICES;
use catalogue::entity::{service, system};

/// The nouns that an address can be about: its field, what the field offers, and the field's label.
pub const NOUNS: [(&str, Offered, &str); 4] = [
    ("service", Offered::Services, "Service (name or alias)"),
    ("team", Offered::Teams, "Team (name or alias)"),
    ("system", Offered::Systems, "System (name or alias)"),
    ("domain", Offered::Domains, "Domain (name or alias)"),
];

/// What fields of all these nouns offer.
pub const OFFERED: [Offered; 4] = [Offered::Services, Offered::Teams, Offered::Systems, Offered::Domains];

/// What an address is about.
pub struct Scope {
    /// Its name.
    pub name: String,
    /// The path of its page.
    pub address: String,
    /// Its services, at most [`SERVICES`].
    pub services: Vec<i64>,
}

impl Scope {
    /// Whether there may be more services.
    pub fn is_cut(&self) -> bool {
        self.services.len() >= SERVICES
    }
}

/// A noun, and the name or alias of one.
pub type Name<'q> = (&'static str, &'q str);

/// The number of things of a kind that an address may name, such as teams: a page is about all of them.
pub const NAMED: usize = 20;

/// What an address names of all these nouns.
#[derive(Default)]
pub struct Named<'q> {
    /// What is found.
    pub found: Vec<(Name<'q>, Scope)>,
    /// The names that nothing has.
    pub unknown: Vec<Name<'q>>,
    /// The nouns of which the address names more than [`NAMED`]. The others are not looked for.
    pub short: Vec<&'static str>,
}

/// The names of a noun in an address.
fn names<'q>(query: &'q Fields, noun: &'static str) -> impl Iterator<Item = &'q str> {
    query.get_all(noun).filter(|name| !name.is_empty())
}

impl<'q> Named<'q> {
    /// Whether the address names anything, so that there is something to find.
    pub fn is_any(query: &Fields) -> bool {
        NOUNS.into_iter().any(|(noun, ..)| names(query, noun).next().is_some())
    }

    /// Finds what the address names.
    pub async fn find(db: &dyn ReadHandle, query: &'q Fields) -> Result<Self, Fault> {
        let mut named = Self::default();
        for (noun, ..) in NOUNS {
            let mut names = names(query, noun);
            for name in names.by_ref().take(NAMED) {
                match find(db, noun, name).await? {
                    Some(scope) => named.found.push(((noun, name), scope)),
                    None => named.unknown.push((noun, name)),
                }
            }
            named.short.extend(names.next().map(|_| noun));
        }
        Ok(named)
    }

    /// The services that belong to any of several names of a noun, and to every noun that is named; at most [`SERVICES`].
    /// Also whether there may be more. None if nothing is named.
    pub fn services(&self) -> (Option<Vec<i64>>, bool) {
        let mut is_cut = self.found.iter().any(|(_, scope)| scope.is_cut());
        let mut shared: Option<Vec<i64>> = None;
        for (noun, ..) in NOUNS {
            let of_noun: Vec<_> = self.found.iter().filter(|((own, _), _)| *own == noun).collect();
            if of_noun.is_empty() && !self.unknown.iter().any(|(own, _)| *own == noun) {
                continue;
            }
            let mut ids: Vec<i64> = of_noun.iter().flat_map(|(_, scope)| &scope.services).copied().collect();
            ids.sort_unstable();
            ids.dedup();
            shared = Some(match shared {
                Some(known) => known.into_iter().filter(|id| ids.binary_search(id).is_ok()).collect(),
                None => ids,
            });
        }
        if let Some(services) = &mut shared {
            is_cut |= services.len() > SERVICES;
            services.truncate(SERVICES);
        }
        (shared, is_cut)
    }
}

/// Finds what has this alias, or is the only one with this name.
async fn find(db: &dyn ReadHandle, noun: &str, text: &str) -> Result<Option<Scope>, Fault> {
    let most = SERVICES as u64;
    let (kind, part) = match noun {
        "service" => (Noun::Service, "services"),
        "team" => (Noun::Team, "teams"),
        "system" => (Noun::System, "systems"),
        _ => (Noun::Domain, "domains"),
    };
    let Some(found) = picker::named(db, kind, text).await? else { return Ok(None) };
    let services = match kind {
        Noun::Service => vec![found.id],
        Noun::Team => service::ids_of(db, service::Column::OwnerId, found.id, most).await?,
        Noun::System => service::ids_of(db, service::Column::SystemId, found.id, most).await?,
        _ => of_domain(db, found.id, most).await?,
    };
    Ok(Some(Scope { address: path([part, &found.alias]), name: found.name, services }))
}

/// The services of the systems of a domain, at most `most`.
pub(super) async fn of_domain(db: &dyn ReadHandle, id: i64, most: u64) -> Result<Vec<i64>, Fault> {
    let systems = system::Entity::find().select_only().column(system::Column::Id);
    let systems = systems.filter(system::Column::DomainId.eq(id)).limit(most);
    let systems: Vec<i64> = db.rows(systems.as_query(), |row| row.get(0)).await?;
    let services = service::Entity::find().select_only().column(service::Column::Id);
    let services = services.filter(any(db, service::Column::SystemId, &systems)).limit(most);
    Ok(db.rows(services.as_query(), |row| row.get(0)).await?)
}

/// Says that nothing is found by this name or alias.
pub fn unknown(noun: &str, text: &str) -> String {
    format!("No {noun} is called “{}”, or several are.", short(text))
}
