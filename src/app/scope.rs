//! What an address is about: a service, a team, a system or a domain, by name or alias, and the services that belong to it.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait};

use super::Fault;
use super::offers::Offered;
use super::parts::short;
use super::picker::{self, Noun};
use super::visit::path;
use crate::db::{Read, ReadHandle, any};
use crate::deploy::list::SERVICES;
use crate::entity::{service, system};

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

/// Finds what has this alias, or is the only one with this name.
pub async fn find(db: &dyn ReadHandle, noun: &str, text: &str) -> Result<Option<Scope>, Fault> {
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
