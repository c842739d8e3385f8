//! Generates a large, lifelike catalogue for benchmarks and demonstrations: the same rows for the same size, on any
//! machine.
//!
//! Service number n has the alias `svc-n`; a fifth of the services have a second one. There is a team for every hundred
//! services. The services and what belongs to them are written in one transaction, the deploys in another.

use std::ops::RangeInclusive;

use sea_orm::{ActiveModelTrait, ConnectionTrait, EntityName, EntityTrait, QuerySelect, Set};

use crate::db::{self, Bulk, Db, Dropped};
use crate::entity::alias::{AliasTable, Kind, slug};
use crate::entity::{
    Timestamp, repository, service, service_alias, service_repository, tag, team, team_alias, tier, user,
};
use crate::error::{Result, UserError};

mod deploys;

pub use deploys::deploys;

/// Services, or deploys, that are made before they are stored. Another number makes another catalogue.
const BATCH: u64 = 10_000;
/// Rows stored at once.
const ROWS: usize = 2_000;
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
    if service::Entity::find().limit(1).one(db.read()).await?.is_some() {
        return Err(UserError::base(
            "there are services in this catalogue; generate fills only an empty one: name another with --database-url",
        )
        .into());
    }
    let tiers: Vec<i64> = tier::Entity::find().all(db.read()).await?.into_iter().map(|tier| tier.id).collect();
    let mut random = fastrand::Rng::with_seed(7);
    let mut ids = Ids::after_the_last(db).await?;
    db.write_bulk(async |tx| {
        let mut dropped = Dropped::default();
        for table in TABLES {
            tx.drop_indexes(table, &mut dropped).await?;
        }
        let teams = people(tx, services.div_ceil(100), &mut random).await?;
        let mut done = 0;
        while done < services {
            let numbers = done + 1..=services.min(done + BATCH);
            done = *numbers.end();
            let of_services = some_services(tx, numbers.clone(), (&teams, &tiers), &mut ids, &mut random).await?;
            what_belongs_to(tx, numbers.zip(of_services), &mut ids, &mut random).await?;
            progress(done);
        }
        tx.build(dropped).await?;
        ids.give(tx).await?;
        Ok(db::search::rebuild(tx).await?)
    })
    .await
}

/// The tables that are filled in bulk.
const TABLES: [&str; 5] = ["service", "service_alias", "tag", "repository", "service_repository"];

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
        let table = E::default();
        let last = self.0.iter_mut().find(|(name, _)| *name == table.table_name());
        let (_, last) = last.expect("a table that is filled in bulk");
        *last += 1;
        *last
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
async fn people(db: &impl ConnectionTrait, count: u64, random: &mut fastrand::Rng) -> Result<Vec<i64>> {
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
        let manager = manager.insert(db).await?;
        let name = format!("Team {number} {}", pick(random, WORKS));
        let team = team::ActiveModel {
            alias: Set(slug(&name, team_alias::Entity::NOUN)),
            name: Set(name.clone()),
            manager_id: Set(Some(manager.id)),
            created_at: Set(now),
            updated_at: Set(now),
            ..Default::default()
        };
        let team = team.insert(db).await?;
        team_alias::Entity::claim_slug(db, &team.id, &name).await?;
        team_alias::Entity::claim(db, &team.id, &format!("team-{number}"), Kind::Managed).await?;
        keys.push(team.id);
    }
    Ok(keys)
}

/// Creates the services with these numbers. Returns the id, the name and the slug of each.
async fn some_services(
    db: &Bulk,
    numbers: RangeInclusive<u64>,
    (teams, tiers): (&[i64], &[i64]),
    ids: &mut Ids,
    random: &mut fastrand::Rng,
) -> Result<Vec<Created>> {
    let now = Timestamp::from_micros(EPOCH);
    let (mut rows, mut created) = (Vec::new(), Vec::new());
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
        rows.push(service::ActiveModel {
            id: Set(id),
            slug: Set(slug),
            name: Set(name),
            description: Set(Some(description)),
            language: Set(Some(pick(random, LANGUAGES).to_owned())),
            framework: Set(Some(pick(random, FRAMEWORKS).to_owned())),
            owner_id: Set(Some(teams[random.usize(..teams.len())])),
            tier_id: Set((!tiers.is_empty()).then(|| tiers[random.usize(..tiers.len())])),
            created_at: Set(now),
            updated_at: Set(now),
            ..Default::default()
        });
    }
    insert::<service::Entity>(db, &rows).await?;
    Ok(created)
}

/// The id, the name and the slug of a service.
type Created = (i64, String, String);

/// Creates the aliases, tags and repositories of services, which come with their numbers.
async fn what_belongs_to(
    db: &Bulk,
    services: impl Iterator<Item = (u64, Created)>,
    ids: &mut Ids,
    random: &mut fastrand::Rng,
) -> Result<()> {
    let (mut aliases, mut tags, mut repositories, mut links) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (number, (service, service_name, slug)) in services {
        let mut alias = |value: String, kind| {
            let id = Set(ids.next::<service_alias::Entity>());
            aliases.push(service_alias::ActiveModel {
                id,
                service_id: Set(service),
                value: Set(value),
                kind: Set(kind),
            });
        };
        alias(slug, Kind::Slug);
        alias(format!("svc-{number}"), Kind::Managed);
        if number % 5 == 0 {
            alias(format!("{service_name}-alt"), Kind::Managed);
        }
        let mut keys = KEYS.to_vec();
        random.shuffle(&mut keys);
        for key in &keys[..*pick(random, &[&1, &2, &3, &3, &3, &4, &5])] {
            let value = format!("{key}-{}", random.u32(1..=40));
            tags.push(tag::ActiveModel {
                id: Set(ids.next::<tag::Entity>()),
                key: Set((*key).to_owned()),
                value: Set(value),
                service_id: Set(Some(service)),
                ..Default::default()
            });
        }
        for copy in 0..*pick(random, &[&0, &1, &1, &1, &2]) {
            let id = ids.next::<repository::Entity>();
            repositories.push(repository_of(id, format!("org/{service_name}-{copy}"), number % 2 == 0));
            links.push(service_repository::ActiveModel {
                id: Set(ids.next::<service_repository::Entity>()),
                service_id: Set(service),
                repository_id: Set(id),
                base_directory: Set(String::new()),
                ..Default::default()
            });
        }
    }
    insert::<service_alias::Entity>(db, &aliases).await?;
    insert::<tag::Entity>(db, &tags).await?;
    insert::<repository::Entity>(db, &repositories).await?;
    insert::<service_repository::Entity>(db, &links).await
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

/// Stores rows.
async fn insert<E: EntityTrait>(db: &Bulk, rows: &[E::ActiveModel]) -> Result<()>
where
    E::ActiveModel: ActiveModelTrait<Entity = E>,
{
    for some in rows.chunks(ROWS) {
        db.insert_models::<E>(some).await?;
    }
    Ok(())
}

fn pick<'a, T: ?Sized>(random: &mut fastrand::Rng, choices: &'a [&'a T]) -> &'a T {
    choices[random.usize(..choices.len())]
}
