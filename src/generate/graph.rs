//! Generates what is around services: systems and domains, dependencies, tools, contacts, who is on call, a property.

use std::ops::RangeInclusive;

use sea_orm::Set;

use super::{EPOCH, Ids, WORKS, Waiting, pick};
use crate::db::{Bulk, Write};
use crate::entity::alias::{AliasKind, AliasTable, slug};
use crate::entity::{
    Timestamp, contact, domain, domain_alias, on_call, property, property_definition, service_dependency, system,
    system_alias, tool,
};
use crate::error::Result;

/// The services of a system, and the systems of a domain.
const SERVICES: u64 = 20;
const SYSTEMS: u64 = 20;
/// The dependencies of a service, at most: those that were chosen twice are left out.
const DEPENDENCIES: usize = 3;
/// A service in so many has somebody on call.
const ON_CALL: u64 = 10;
/// The tools of a service: the category and its name on pages.
const TOOLS: &[(&str, &str)] = &[
    ("runbooks", "Runbook"),
    ("logs", "Logs"),
    ("metrics", "Dashboard"),
    ("code", "Code"),
    ("issue_tracking", "Issues"),
];
const DATA_CLASSES: &[&str] = &["public", "internal", "internal", "internal", "confidential", "secret"];

/// The place in [`systems`]'s result of the system of a service.
pub(super) fn system_of(number: u64) -> usize {
    ((number - 1) / SERVICES) as usize
}

/// Creates the systems of so many services, and their domains. Returns the systems' ids.
pub(super) async fn systems(db: &Bulk, services: u64, teams: &[i64], ids: &mut Ids) -> Result<Vec<i64>> {
    let mut random = fastrand::Rng::with_seed(17);
    let count = services.div_ceil(SERVICES);
    let domains = domains(db, count.div_ceil(SYSTEMS), teams, ids, &mut random).await?;
    let now = Timestamp::from_micros(EPOCH);
    let (mut rows, mut aliases) = (Waiting::<system::Entity>::default(), Waiting::<system_alias::Entity>::default());
    let mut created = Vec::new();
    for number in 1..=count {
        let (id, name) = (ids.next::<system::Entity>(), format!("System {number} {}", pick(&mut random, WORKS)));
        let slug = slug(&name, system_alias::Entity::NOUN);
        aliases.0.push(system_alias::ActiveModel {
            id: Set(ids.next::<system_alias::Entity>()),
            system_id: Set(id),
            value: Set(slug.clone()),
            kind: Set(AliasKind::Slug),
        });
        rows.0.push(system::ActiveModel {
            id: Set(id),
            slug: Set(slug),
            description: Set(Some(format!("{name} is about {}.", pick(&mut random, WORKS)))),
            name: Set(name),
            owner_id: Set(Some(teams[random.usize(..teams.len())])),
            domain_id: Set(Some(domains[((number - 1) / SYSTEMS) as usize])),
            created_at: Set(now),
            updated_at: Set(now),
            ..Default::default()
        });
        created.push(id);
    }
    rows.store(db).await?;
    aliases.store(db).await?;
    Ok(created)
}

async fn domains(db: &Bulk, count: u64, teams: &[i64], ids: &mut Ids, random: &mut fastrand::Rng) -> Result<Vec<i64>> {
    let now = Timestamp::from_micros(EPOCH);
    let (mut rows, mut aliases) = (Waiting::<domain::Entity>::default(), Waiting::<domain_alias::Entity>::default());
    let mut created = Vec::new();
    for number in 1..=count {
        let (id, name) = (ids.next::<domain::Entity>(), format!("Domain {number} {}", pick(random, WORKS)));
        let slug = slug(&name, domain_alias::Entity::NOUN);
        aliases.0.push(domain_alias::ActiveModel {
            id: Set(ids.next::<domain_alias::Entity>()),
            domain_id: Set(id),
            value: Set(slug.clone()),
            kind: Set(AliasKind::Slug),
        });
        rows.0.push(domain::ActiveModel {
            id: Set(id),
            slug: Set(slug),
            name: Set(name),
            owner_id: Set(Some(teams[random.usize(..teams.len())])),
            created_at: Set(now),
            updated_at: Set(now),
            ..Default::default()
        });
        created.push(id);
    }
    rows.store(db).await?;
    aliases.store(db).await?;
    Ok(created)
}

/// Creates a contact for each team.
pub(super) async fn contacts(db: &Bulk, teams: &[i64], ids: &mut Ids) -> Result<()> {
    let mut rows = Waiting::<contact::Entity>::default();
    for (place, team) in teams.iter().enumerate() {
        rows.0.push(contact::ActiveModel {
            id: Set(ids.next::<contact::Entity>()),
            r#type: Set("slack".to_owned()),
            address: Set(format!("#team-{}", place + 1)),
            is_default: Set(true),
            team_id: Set(Some(*team)),
            ..Default::default()
        });
        rows.store_if_many(db).await?;
    }
    rows.store(db).await
}

/// Creates the property that all services have, and returns its id.
async fn data_class(db: &Bulk) -> Result<i64> {
    let now = Timestamp::from_micros(EPOCH);
    let row = property_definition::ActiveModel {
        alias: Set("data_class".to_owned()),
        name: Set("Data class".to_owned()),
        description: Set(Some("How secret the data of the service is.".to_owned())),
        schema: Set(r#"{"enum":["public","internal","confidential","secret"]}"#.to_owned()),
        allowed_in_config_files: Set(true),
        property_display_status: Set("visible".to_owned()),
        locked_status: Set("unlocked".to_owned()),
        is_of_teams: Set(false),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    Ok(db.insert(row).await?.id)
}

/// Creates what belongs to all services: their ids are consecutive, and a dependency can lead to any of them. Few
/// services have many dependents, most have few.
pub(super) async fn around(db: &Bulk, services: RangeInclusive<i64>, ids: &mut Ids) -> Result<()> {
    let mut random = fastrand::Rng::with_seed(13);
    let definition = data_class(db).await?;
    let (first, count) = (*services.start(), (services.end() - services.start() + 1) as u64);
    let mut rows = Around::default();
    for (place, service) in services.enumerate() {
        let number = place as u64 + 1;
        let mut chosen = Vec::with_capacity(DEPENDENCIES);
        for _ in 0..DEPENDENCIES {
            let other = first + ((random.f64().powi(2) * count as f64) as i64).min(count as i64 - 1);
            if other != service && !chosen.contains(&other) {
                chosen.push(other);
            }
        }
        for destination in chosen {
            rows.dependencies.0.push(service_dependency::ActiveModel {
                id: Set(ids.next::<service_dependency::Entity>()),
                source_id: Set(service),
                destination_id: Set(destination),
                ..Default::default()
            });
        }
        rows.tools(service, number, ids);
        rows.properties.0.push(property_of(ids, (definition, service), pick(&mut random, DATA_CLASSES)));
        if number.is_multiple_of(ON_CALL) {
            let person = random.u32(1..200);
            rows.on_call.0.push(on_call::ActiveModel {
                id: Set(ids.next::<on_call::Entity>()),
                service_id: Set(service),
                name: Set(format!("Person {person}")),
                external_email: Set(Some(format!("person{person}@example.com"))),
                ..Default::default()
            });
        }
        rows.store_if_many(db).await?;
    }
    rows.store(db).await
}

/// What is around services, until it is stored.
#[derive(Default)]
struct Around {
    dependencies: Waiting<service_dependency::Entity>,
    tools: Waiting<tool::Entity>,
    properties: Waiting<property::Entity>,
    on_call: Waiting<on_call::Entity>,
}

impl Around {
    fn tools(&mut self, service: i64, number: u64, ids: &mut Ids) {
        for (category, name) in TOOLS {
            self.tools.0.push(tool::ActiveModel {
                id: Set(ids.next::<tool::Entity>()),
                service_id: Set(service),
                category: Set((*category).to_owned()),
                display_name: Set((*name).to_owned()),
                url: Set(format!("https://{category}.example.com/svc-{number}")),
                ..Default::default()
            });
        }
    }

    async fn store_if_many(&mut self, db: &Bulk) -> Result<()> {
        self.dependencies.store_if_many(db).await?;
        self.tools.store_if_many(db).await?;
        self.properties.store_if_many(db).await?;
        self.on_call.store_if_many(db).await
    }

    async fn store(&mut self, db: &Bulk) -> Result<()> {
        self.dependencies.store(db).await?;
        self.tools.store(db).await?;
        self.properties.store(db).await?;
        self.on_call.store(db).await
    }
}

fn property_of(ids: &mut Ids, (definition, service): (i64, i64), value: &str) -> property::ActiveModel {
    property::ActiveModel {
        id: Set(ids.next::<property::Entity>()),
        definition_id: Set(definition),
        service_id: Set(Some(service)),
        value: Set(format!("\"{value}\"")),
        search_key: Set(value.to_owned()),
        ..Default::default()
    }
}
