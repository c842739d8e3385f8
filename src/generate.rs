//! Generates a large, lifelike catalogue for benchmarks and demonstrations: the same rows for the same size, on any
//! machine.
//!
//! Service number n has the alias `svc-n`; a fifth of the services have a second one. There is a team for every hundred
//! services. Everything is written in a few large transactions.

use std::ops::RangeInclusive;

use sea_orm::{ActiveModelTrait, ConnectionTrait, EntityTrait, IntoActiveModel, QuerySelect, Set};

use crate::db::{self, Db};
use crate::entity::alias::{AliasTable, Kind, slug};
use crate::entity::{
    Timestamp, repository, service, service_alias, service_repository, service_search, tag, team, team_alias, tier,
    user,
};
use crate::error::{Result, UserError};

mod deploys;

pub use deploys::deploys;

/// Rows per `INSERT`.
const BATCH: usize = 500;
/// Services, or deploys, per transaction.
const TRANSACTION: u64 = 10_000;
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
    let teams = db.write(async |tx| people(tx, services.div_ceil(100), &mut random).await).await?;
    let mut done = 0;
    while done < services {
        let numbers = done + 1..=services.min(done + TRANSACTION);
        done = *numbers.end();
        db.write(async |tx| some_services(tx, numbers, &teams, &tiers, &mut random).await).await?;
        progress(done);
    }
    db.write(async |tx| {
        db::search::take_statistics(tx).await?;
        Ok(db::find::take_statistics(tx).await?)
    })
    .await
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
    db::find::refresh(db).await?;
    Ok(keys)
}

async fn some_services(
    db: &impl ConnectionTrait,
    numbers: RangeInclusive<u64>,
    teams: &[i64],
    tiers: &[i64],
    random: &mut fastrand::Rng,
) -> Result<()> {
    let now = Timestamp::from_micros(EPOCH);
    let mut rows = Vec::new();
    for number in numbers.clone() {
        let name = format!("{}-{}-{number}", pick(random, QUALITIES), pick(random, WORKS));
        let description = format!(
            "{name} looks after {} for the {} domain, in about {},000 lines of code.",
            pick(random, WORKS),
            pick(random, WORKS),
            random.u32(1..90)
        );
        rows.push(service::ActiveModel {
            slug: Set(slug(&name, service_alias::Entity::NOUN)),
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
    let services = insert::<service::Entity>(db, rows).await?;
    what_belongs_to(db, numbers.zip(&services), random).await?;
    let ids: Vec<i64> = services.iter().map(|service| service.id).collect();
    service_search::refresh_many(db, &ids).await?;
    db::find::refresh(db).await?;
    Ok(())
}

/// Creates the aliases, tags and repositories of services, which come with their numbers.
async fn what_belongs_to(
    db: &impl ConnectionTrait,
    services: impl Iterator<Item = (u64, &service::Model)>,
    random: &mut fastrand::Rng,
) -> Result<()> {
    let now = Timestamp::from_micros(EPOCH);
    let (mut aliases, mut tags, mut repositories, mut owners) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (number, service) in services {
        let mut alias = |value: String, kind| {
            aliases.push(service_alias::ActiveModel {
                service_id: Set(service.id),
                value: Set(value),
                kind: Set(kind),
                ..Default::default()
            });
        };
        alias(service.slug.clone(), Kind::Slug);
        alias(format!("svc-{number}"), Kind::Managed);
        if number % 5 == 0 {
            alias(format!("{}-alt", service.name), Kind::Managed);
        }
        let mut keys = KEYS.to_vec();
        random.shuffle(&mut keys);
        for key in &keys[..*pick(random, &[&1, &2, &3, &3, &3, &4, &5])] {
            let value = format!("{key}-{}", random.u32(1..=40));
            tags.push(tag::ActiveModel {
                key: Set((*key).to_owned()),
                value: Set(value),
                service_id: Set(Some(service.id)),
                ..Default::default()
            });
        }
        for copy in 0..*pick(random, &[&0, &1, &1, &1, &2]) {
            let name = format!("org/{}-{copy}", service.name);
            repositories.push(repository::ActiveModel {
                default_alias: Set(format!("git.example.com:{name}")),
                url: Set(Some(format!("https://git.example.com/{name}"))),
                name: Set(name),
                default_branch: Set(Some("main".to_owned())),
                private: Set(number % 2 == 0),
                visible: Set(true),
                created_at: Set(now),
                updated_at: Set(now),
                ..Default::default()
            });
            owners.push(service.id);
        }
    }
    insert::<service_alias::Entity>(db, aliases).await?;
    insert::<tag::Entity>(db, tags).await?;
    let repositories = insert::<repository::Entity>(db, repositories).await?;
    let links = repositories.iter().zip(owners).map(|(repository, service)| service_repository::ActiveModel {
        service_id: Set(service),
        repository_id: Set(repository.id),
        base_directory: Set(String::new()),
        ..Default::default()
    });
    insert::<service_repository::Entity>(db, links.collect()).await?;
    Ok(())
}

/// Inserts rows in batches and returns them in order, with their ids.
async fn insert<E>(db: &impl ConnectionTrait, rows: Vec<E::ActiveModel>) -> Result<Vec<E::Model>>
where
    E: EntityTrait,
    E::ActiveModel: ActiveModelTrait<Entity = E> + Send,
    E::Model: IntoActiveModel<E::ActiveModel>,
{
    let mut inserted = Vec::with_capacity(rows.len());
    let mut rows = rows.into_iter().peekable();
    while rows.peek().is_some() {
        let batch: Vec<_> = rows.by_ref().take(BATCH).collect();
        inserted.extend(E::insert_many(batch).exec_with_returning(db).await?);
    }
    Ok(inserted)
}

fn pick<'a, T: ?Sized>(random: &mut fastrand::Rng, choices: &'a [&'a T]) -> &'a T {
    choices[random.usize(..choices.len())]
}
