//! Generates a large, lifelike catalogue for benchmarks and demonstrations: the same rows for the same size, on any
//! machine.
//!
//! Service number n has the alias `svc-n`; a fifth of the services have a second one. There is a team for every hundred
//! services and a system for every twenty, and a team has four members; a service has about three dependencies, five tools, a
//! property and a lifecycle. The services and what belongs to them are written in one transaction, the deploys in another.
//!
//! Invariants: every random number comes from a fixed seed. [`catalogue`] fills only one without services.

use std::ops::RangeInclusive;

use sea_orm::{ActiveModelTrait, EntityName, EntityTrait, QueryOrder, QuerySelect, Set};

use crate::db::{self, Bulk, Db, Prepared, Read, Write, WriteHandle};
use crate::entity::alias::{AliasKind, AliasTable, slug};
use crate::entity::{
    Timestamp, lifecycle, repository, service, service_alias, service_last_deploy, service_repository, tag, team,
    team_alias, tier, user,
};
use crate::error::{Result, UserError};

mod deploys;
mod graph;
mod members;

pub use deploys::deploys;

/// The number of services whose rows are made before what belongs to them, and of deploys that are numbered together.
/// Another number makes another catalogue.
const BATCH: u64 = 10_000;
/// The number of rows stored at once.
const ROWS: usize = 1_000;
/// The creation time of every row.
const EPOCH: i64 = 1_760_000_000_000_000;

const LANGUAGES: &[&str] =
    &["Rust", "Go", "Java", "Kotlin", "Python", "Ruby", "TypeScript", "JavaScript", "C#", "Elixir", "Scala", "PHP"];
const FRAMEWORKS: &[&str] = &[
    "axum",
    "gin",
    "spring-boot",
    "ktor",
    "django",
    "rails",
    "nestjs",
    "express",
    "aspnet",
    "phoenix",
    "play",
    "laravel",
    "fastapi",
    "flask",
    "actix",
    "fastify",
    "koa",
    "micronaut",
    "quarkus",
    "tonic",
];
const QUALITIES: &[&str] = &[
    "amber", "brisk", "calm", "dusky", "eager", "frosty", "gentle", "hollow", "ivory", "jade", "kind", "lively",
    "mellow", "nimble", "olive", "proud", "quiet", "rapid", "sunny", "tidy",
];
const WORKS: &[&str] = &[
    "billing", "cart", "catalog", "checkout", "search", "ledger", "payments", "profile", "orders", "shipping",
    "invoice", "audit", "gateway", "proxy", "events", "media", "notify", "pricing", "quota", "report",
];
const KEYS: &[&str] = &[
    "env",
    "team",
    "region",
    "pci",
    "lang",
    "oncall",
    "cost-center",
    "data-class",
    "runtime",
    "lifecycle",
    "domain",
    "sla",
];

/// Fills an empty catalogue with `services` services. Calls `progress` with the number done.
///
/// # Errors
/// When there are services already: their numbers would collide.
pub async fn catalogue(db: &Db, services: u64, mut progress: impl FnMut(u64)) -> Result<()> {
    if db.read().one(service::Entity::find().limit(1)).await?.is_some() {
        return Err(UserError::base(
            "there are services in this catalogue; generate fills only an empty one: name another with --database-url",
        )
        .into());
    }
    let tiers: Vec<i64> = db.read().all(tier::Entity::find()).await?.into_iter().map(|tier| tier.id).collect();
    let lifecycles = db.read().all(lifecycle::Entity::find().order_by_asc(lifecycle::Column::Index)).await?;
    let lifecycles: Vec<i64> = lifecycles.into_iter().map(|lifecycle| lifecycle.id).collect();
    let mut random = fastrand::Rng::with_seed(7);
    let mut ids = Ids::after_the_last(db).await?;
    db.write_bulk(async |tx| {
        let mut prepared = Prepared::default();
        for table in TABLES {
            tx.prepare(table, &mut prepared).await?;
        }
        let teams = people(tx, services.div_ceil(100), &mut random).await?;
        graph::contacts(tx, &teams, &mut ids).await?;
        members::members(tx, &teams, &mut ids).await?;
        let systems = graph::systems(tx, services, &teams, &mut ids).await?;
        let (first, mut done) = (ids.last::<service::Entity>() + 1, 0);
        while done < services {
            let numbers = done + 1..=services.min(done + BATCH);
            done = *numbers.end();
            let of_services =
                some_services(tx, numbers.clone(), (&teams, &tiers, &lifecycles, &systems), &mut ids, &mut random)
                    .await?;
            what_belongs_to(tx, numbers.zip(of_services), &mut ids, &mut random).await?;
            progress(done);
        }
        graph::around(tx, first..=ids.last::<service::Entity>(), &mut ids).await?;
        tx.complete(prepared).await.map_err(db::Error::from)?;
        service_last_deploy::derive_all(tx).await?;
        ids.give(tx).await?;
        Ok(db::search::rebuild(tx).await?)
    })
    .await
}

/// The tables that are filled in bulk.
const TABLES: [&str; 15] = [
    "contact",
    "team_membership",
    "domain",
    "domain_alias",
    "system",
    "system_alias",
    "service",
    "service_alias",
    "tag",
    "repository",
    "service_repository",
    "service_dependency",
    "tool",
    "property",
    "on_call",
];

/// The last id given in each of [`TABLES`]. A bulk insert does not return ids.
struct Ids([(&'static str, i64); TABLES.len()]);

impl Ids {
    async fn after_the_last(db: &Db) -> Result<Self> {
        let mut ids = TABLES.map(|table| (table, 0));
        for (table, last) in &mut ids {
            *last = db::last_id(db.read(), table).await?;
        }
        Ok(Self(ids))
    }

    /// The next id of a table.
    fn next<E: EntityName + Default>(&mut self) -> i64 {
        let last = self.last_mut::<E>();
        *last += 1;
        *last
    }

    /// The last id given in a table.
    fn last<E: EntityName + Default>(&mut self) -> i64 {
        *self.last_mut::<E>()
    }

    fn last_mut<E: EntityName + Default>(&mut self) -> &mut i64 {
        let table = E::default();
        let last = self.0.iter_mut().find(|(name, _)| *name == table.table_name());
        last.map(|(_, last)| last).expect("a table that is filled in bulk")
    }

    /// Notes the ids as given.
    async fn give(&self, db: &Bulk) -> Result<()> {
        for (table, last) in self.0 {
            db::give_ids_after(db, table, last).await?;
        }
        Ok(())
    }
}

/// Creates teams, each with a manager. Returns the teams' ids.
async fn people(db: &dyn WriteHandle, count: u64, random: &mut fastrand::Rng) -> Result<Vec<i64>> {
    let now = Timestamp::from_micros(EPOCH);
    let mut keys = Vec::new();
    for number in 1..=count {
        let email = format!("manager{number}@example.com");
        let manager = user::ActiveModel {
            name: Set(format!("Manager {number}")),
            email: Set(email.clone()),
            email_key: Set(user::email_key(&email)),
            role: Set(user::Role::User),
            created_at: Set(now),
            updated_at: Set(now),
            ..Default::default()
        };
        let manager = db.insert(manager).await?;
        let name = format!("Team {number} {}", pick(random, WORKS));
        let team = team::ActiveModel {
            alias: Set(slug(&name, team_alias::Entity::NOUN)),
            name: Set(name.clone()),
            manager_id: Set(Some(manager.id)),
            created_at: Set(now),
            updated_at: Set(now),
            ..Default::default()
        };
        let team = db.insert(team).await?;
        team_alias::Entity::claim_slug(db, &team.id, &name).await?;
        team_alias::Entity::claim(db, &team.id, &format!("team-{number}"), AliasKind::Managed).await?;
        keys.push(team.id);
    }
    Ok(keys)
}

/// Creates the services with these numbers. Returns the id, the name and the slug of each.
async fn some_services(
    db: &Bulk,
    numbers: RangeInclusive<u64>,
    (teams, tiers, lifecycles, systems): (&[i64], &[i64], &[i64], &[i64]),
    ids: &mut Ids,
    random: &mut fastrand::Rng,
) -> Result<Vec<Created>> {
    let now = Timestamp::from_micros(EPOCH);
    let (mut rows, mut created) = (Waiting::<service::Entity>::default(), Vec::new());
    for number in numbers {
        let name = format!("{}-{}-{number}", pick(random, QUALITIES), pick(random, WORKS));
        let description = format!(
            "{name} looks after {} for the {} domain, in about {},000 lines of code.",
            pick(random, WORKS),
            pick(random, WORKS),
            random.u32(1..90)
        );
        let (id, slug) = (ids.next::<service::Entity>(), slug(&name, service_alias::Entity::NOUN));
        created.push((id, name.clone(), slug.clone()));
        rows.0.push(service::ActiveModel {
            id: Set(id),
            slug: Set(slug),
            name: Set(name),
            description: Set(Some(description)),
            language: Set(Some(pick(random, LANGUAGES).to_owned())),
            framework: Set(Some(pick(random, FRAMEWORKS).to_owned())),
            owner_id: Set(Some(teams[random.usize(..teams.len())])),
            system_id: Set(Some(systems[graph::system_of(number)])),
            lifecycle_id: Set(lifecycle_of(number, lifecycles)),
            tier_id: Set((!tiers.is_empty()).then(|| tiers[random.usize(..tiers.len())])),
            created_at: Set(now),
            updated_at: Set(now),
            ..Default::default()
        });
        rows.store_if_many(db).await?;
    }
    rows.store(db).await?;
    Ok(created)
}

/// The lifecycle of a service: most have the last but one, such as *Generally Available*. It takes no random number, so that
/// all else stays as it is without lifecycles.
fn lifecycle_of(number: u64, lifecycles: &[i64]) -> Option<i64> {
    let place = match number % 20 {
        0 => 0,
        1 => 1,
        2 | 3 => 2,
        4 => 4,
        _ => 3,
    };
    lifecycles.get(place).or(lifecycles.last()).copied()
}

/// The id, the name and the slug of a service.
type Created = (i64, String, String);

/// What belongs to services, until it is stored.
#[derive(Default)]
struct Belongings {
    aliases: Waiting<service_alias::Entity>,
    tags: Waiting<tag::Entity>,
    repositories: Waiting<repository::Entity>,
    links: Waiting<service_repository::Entity>,
}

impl Belongings {
    async fn store_if_many(&mut self, db: &Bulk) -> Result<()> {
        self.aliases.store_if_many(db).await?;
        self.tags.store_if_many(db).await?;
        // A link refers to its repository.
        if self.repositories.0.len() >= ROWS { self.store(db).await } else { Ok(()) }
    }

    async fn store(&mut self, db: &Bulk) -> Result<()> {
        self.aliases.store(db).await?;
        self.tags.store(db).await?;
        self.repositories.store(db).await?;
        self.links.store(db).await
    }
}

/// Creates the aliases, tags and repositories of services, which come with their numbers.
async fn what_belongs_to(
    db: &Bulk,
    services: impl Iterator<Item = (u64, Created)>,
    ids: &mut Ids,
    random: &mut fastrand::Rng,
) -> Result<()> {
    let mut rows = Belongings::default();
    for (number, (service, service_name, slug)) in services {
        let mut alias = |value: String, kind| {
            let id = Set(ids.next::<service_alias::Entity>());
            let (service_id, value, kind) = (Set(service), Set(value), Set(kind));
            rows.aliases.0.push(service_alias::ActiveModel { id, service_id, value, kind });
        };
        alias(slug, AliasKind::Slug);
        alias(format!("svc-{number}"), AliasKind::Managed);
        if number % 5 == 0 {
            alias(format!("{service_name}-alt"), AliasKind::Managed);
        }
        let mut keys = KEYS.to_vec();
        random.shuffle(&mut keys);
        for key in &keys[..*pick(random, &[&1, &2, &3, &3, &3, &4, &5])] {
            let value = format!("{key}-{}", random.u32(1..=40));
            rows.tags.0.push(tag::ActiveModel {
                id: Set(ids.next::<tag::Entity>()),
                key: Set((*key).to_owned()),
                value: Set(value),
                service_id: Set(Some(service)),
                ..Default::default()
            });
        }
        for copy in 0..*pick(random, &[&0, &1, &1, &1, &2]) {
            let id = ids.next::<repository::Entity>();
            rows.repositories.0.push(repository_of(id, format!("org/{service_name}-{copy}"), number % 2 == 0));
            rows.links.0.push(service_repository::ActiveModel {
                id: Set(ids.next::<service_repository::Entity>()),
                service_id: Set(service),
                repository_id: Set(id),
                base_directory: Set(String::new()),
                ..Default::default()
            });
        }
        rows.store_if_many(db).await?;
    }
    rows.store(db).await
}

fn repository_of(id: i64, name: String, is_private: bool) -> repository::ActiveModel {
    let now = Timestamp::from_micros(EPOCH);
    repository::ActiveModel {
        id: Set(id),
        default_alias: Set(format!("git.example.com:{name}")),
        url: Set(Some(format!("https://git.example.com/{name}"))),
        name: Set(name),
        default_branch: Set(Some("main".to_owned())),
        private: Set(is_private),
        visible: Set(true),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    }
}

/// The rows of a table that wait to be stored.
struct Waiting<E: EntityTrait>(Vec<E::ActiveModel>);

impl<E: EntityTrait> Default for Waiting<E> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<E: EntityTrait> Waiting<E>
where
    E::ActiveModel: ActiveModelTrait<Entity = E>,
{
    /// Stores the rows once there are [`ROWS`].
    async fn store_if_many(&mut self, db: &Bulk) -> Result<()> {
        if self.0.len() >= ROWS { self.store(db).await } else { Ok(()) }
    }

    async fn store(&mut self, db: &Bulk) -> Result<()> {
        db.insert_models::<E>(&self.0).await?;
        self.0.clear();
        Ok(())
    }
}

fn pick<'a, T: ?Sized>(random: &mut fastrand::Rng, choices: &'a [&'a T]) -> &'a T {
    choices[random.usize(..choices.len())]
}
