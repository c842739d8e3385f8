//! What an address is about: a service, a team, a system or a domain, by name or alias, and the services that belong to it.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait};

use super::Fault;
use super::offers::Offered;
use super::parts::short;
use super::visit::path;
use crate::db::{Read, ReadHandle, any};
use crate::deploy::list::SERVICES;
use crate::entity::{ByAlias, domain, service, system, team};

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

/// Finds what has this alias.
pub async fn find(db: &dyn ReadHandle, noun: &str, alias: &str) -> Result<Option<Scope>, Fault> {
    let most = SERVICES as u64;
    Ok(match noun {
        "service" => service::Entity::by_alias(db, alias).await?.map(|service| Scope {
            address: path(["services", &service.slug]),
            name: service.name,
            services: vec![service.id],
        }),
        "team" => match team::Entity::by_alias(db, alias).await? {
            Some(team) => {
                let services = service::ids_of(db, service::Column::OwnerId, team.id, most).await?;
                Some(Scope { address: path(["teams", &team.alias]), name: team.name, services })
            }
            None => None,
        },
        "system" => match system::Entity::by_alias(db, alias).await? {
            Some(system) => {
                let services = service::ids_of(db, service::Column::SystemId, system.id, most).await?;
                Some(Scope { address: path(["systems", &system.slug]), name: system.name, services })
            }
            None => None,
        },
        _ => match domain::Entity::by_alias(db, alias).await? {
            Some(domain) => {
                let services = of_domain(db, domain.id, most).await?;
                Some(Scope { address: path(["domains", &domain.slug]), name: domain.name, services })
            }
            None => None,
        },
    })
}

/// The services of the systems of a domain.
async fn of_domain(db: &dyn ReadHandle, id: i64, most: u64) -> Result<Vec<i64>, Fault> {
    let systems = system::Entity::find().select_only().column(system::Column::Id);
    let systems = systems.filter(system::Column::DomainId.eq(id)).limit(most);
    let systems: Vec<i64> = db.rows(systems.as_query(), |row| row.get(0)).await?;
    let services = service::Entity::find().select_only().column(service::Column::Id);
    let services = services.filter(any(db, service::Column::SystemId, &systems)).limit(most);
    Ok(db.rows(services.as_query(), |row| row.get(0)).await?)
}

/// Says that nothing is found by this name or alias.
pub fn unknown(noun: &str, text: &str) -> String {
    format!("No {noun}, or more than one, is called “{}”.", short(text))
}
