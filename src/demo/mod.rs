//! Fills an empty catalogue with a believable company, to try the pages with: teams in a tree, services with links,
//! contacts and dependencies, who is on call, deploys of the last weeks with some failures, code issues, suggestions, and
//! standards that not all services meet.
//!
//! Invariant: it fills only a catalogue without services, and refuses any other.

use sea_orm::{EntityTrait, QuerySelect, Set};
use serde_json::{Value, json};

use crate::db::{Db, Read, Write};
use crate::deploy::{Deploys, Failure, Post, Record};
use crate::entity::audit::Actor;
use crate::entity::integration::{self, Kind};
use crate::entity::user::{self, ProvisionedBy, Role};
use crate::entity::{
    ByAlias, Timestamp, code_issue, code_issue_project, code_issue_project_resource, on_call, service,
};
use crate::error::{Error, Result, UserError};
use crate::events::Wanted;
use crate::service_file::{self, File, Options, Origin, Refused};

mod company;
mod standards;

use company::{PEOPLE, SERVICES, SYSTEMS, Service, TEAMS};

/// The time that the deploys cover, in days.
const DAYS: i64 = 60;
const HOUR: i64 = 3_600 * 1_000_000;
/// The deploys that are committed together.
const GROUP: usize = 64;

/// Names of deploys that no service has.
const UNKNOWN: &[&str] =
    &["sms-gateway", "cart-worker", "fraud-rules", "image-resizer", "returns-portal", "gift-card-api"];

const CHANGES: &[&str] = &[
    "Bump dependencies",
    "Log less",
    "Faster cold start",
    "Retry on timeout",
    "Fix rounding of totals",
    "Drop the old endpoint",
    "Cache the price list",
    "Show the delivery date",
    "Rename a metric",
    "Use the new client",
    "Handle empty answers",
    "Tidy the configuration",
    "Add a health check",
    "Shorter transactions",
];

/// Fills the catalogue. Returns the number of services and of deploys.
///
/// # Errors
/// The catalogue has services already.
pub async fn fill(db: &Db, now: Timestamp) -> Result<(usize, usize)> {
    if db.read().one(service::Entity::find().limit(1)).await?.is_some() {
        return Err(UserError::base("this catalogue has services already; the demo needs an empty one").into());
    }
    people(db, now).await?;
    describe(db).await?;
    let endpoint = db.write(async |tx| integration::create(tx, Kind::Deploy, "CI".to_owned(), now).await).await?;
    on_call(db, now).await?;
    let deploys = deploys(db, endpoint.id, now).await?;
    issues(db, now).await?;
    Box::pin(standards::create(db, now)).await?;
    Ok((SERVICES.len(), deploys))
}

fn email(name: &str) -> String {
    format!("{name}@example.com")
}

async fn people(db: &Db, now: Timestamp) -> Result<()> {
    db.write(async |tx| {
        for (name, short) in PEOPLE {
            let email = email(short);
            if user::by_email(tx, &email).await?.is_none() {
                user::create(tx, &email, Some(name), Role::User, ProvisionedBy::CommandLine, now).await?;
            }
        }
        Ok(())
    })
    .await
}

/// Applies a service file with all that such files can describe, and releases its services, so that they can be edited.
async fn describe(db: &Db) -> Result<()> {
    let mut documents: Vec<Value> = Vec::new();
    for (name, alias, parent, manager, about, members) in TEAMS {
        let members: Vec<String> = members.iter().copied().chain([*manager]).map(email).collect();
        documents.push(json!({ "version": 1, "team": {
            "name": name, "parent_team": parent, "manager": email(manager), "responsibilities": about,
            "members": members, "contacts": [{ "type": "slack", "address": format!("#team-{}", alias.replace('_', "-")) }],
        } }));
    }
    let domain = json!({ "name": "Shop", "description": "All that customers see", "owner": "commerce" });
    documents.push(json!({ "version": 1, "domain": domain }));
    for (name, alias, owner, about) in SYSTEMS {
        let domain = (*alias != "foundation").then_some("shop");
        let system = json!({ "name": name, "description": about, "owner": owner, "domain": domain });
        documents.push(json!({ "version": 1, "system": system }));
    }
    let repository = |one: &Service| {
        let name = format!("example/{}", one.alias.replace('_', "-"));
        json!({ "version": 1, "repository": { "name": name, "url": format!("https://github.com/{name}") } })
    };
    documents.extend(SERVICES.iter().map(repository));
    documents.extend(SERVICES.iter().map(document));
    let text: Vec<String> = documents.iter().map(Value::to_string).collect();
    let file = File { path: "demo.yml".to_owned(), content: Ok(text.join("\n---\n")), is_found: false };
    let options = Options {
        origin: Origin::default(),
        is_dry_run: false,
        releases_missing: false,
        bounds: None,
        permit: None,
        events: None,
        progress: None,
    };
    match service_file::apply(db, &Actor::command_line(), &[file], &options).await {
        Ok(_) => {}
        Err(Refused::Failed(error)) => return Err(error),
        Err(Refused::Problems(notes)) => {
            let first = notes.first().map_or_else(String::new, ToString::to_string);
            return Err(Error::internal(format!("the demo's service file is wrong: {first}")));
        }
    }
    for one in SERVICES {
        service_file::release(db, one.alias).await?;
    }
    Ok(())
}

fn document(one: &Service) -> Value {
    let Service { name, alias, owner, tier, lifecycle, system, language, description, needs } = one;
    let slug = alias.replace('_', "-");
    let mut tools = vec![
        json!({ "name": "Dashboard", "category": "metrics", "url": format!("https://metrics.example.com/d/{slug}") }),
        json!({ "name": "Logs", "category": "logs", "url": format!("https://logs.example.com/{slug}") }),
    ];
    if *tier == Some(1) {
        tools.insert(0, json!({ "name": "Runbook", "category": "runbooks", "url": format!("https://wiki.example.com/runbooks/{slug}") }));
    }
    json!({ "version": 1, "service": {
        "name": name, "description": description, "owner": owner, "tier": tier.map(|tier| format!("tier_{tier}")),
        "lifecycle": lifecycle, "system": system, "language": language, "aliases": [format!("shop/{slug}")],
        "tags": { "env": "production" }, "tools": tools, "dependencies": needs,
        "repositories": [format!("https://github.com/example/{slug}")],
        "contacts": [{ "type": "slack", "address": format!("#{slug}") }],
    } })
}

/// Says who is on call for the services of three teams.
async fn on_call(db: &Db, now: Timestamp) -> Result<()> {
    let shifts = [
        ("payments", "Lena Fischer", "lena", 6),
        ("platform", "Sam Whitlock", "sam", 70),
        ("commerce", "Maya Okafor", "maya", 30),
    ];
    db.write(async |tx| {
        for (team, name, short, hours) in shifts {
            for one in SERVICES.iter().filter(|one| one.owner == Some(team)) {
                let Some(service) = service::Entity::by_alias(tx, one.alias).await? else { continue };
                let row = on_call::ActiveModel {
                    service_id: Set(service.id),
                    name: Set(name.to_owned()),
                    external_email: Set(Some(email(short))),
                    schedule: Set(Some(format!("{team} primary"))),
                    ends_at: Set(Some(Timestamp::from_micros(now.as_micros() + hours * HOUR))),
                    ..Default::default()
                };
                tx.insert(row).await?;
            }
        }
        Ok(())
    })
    .await
}

/// Records the deploys. Returns their number.
async fn deploys(db: &Db, integration_id: i64, now: Timestamp) -> Result<usize> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut posts: Vec<Value> = Vec::new();
    for one in SERVICES {
        let every = random.i64(2..7) * 24 * HOUR;
        let mut at = now.as_micros() - DAYS * 24 * HOUR + random.i64(0..every);
        while at < now.as_micros() - 5 * HOUR {
            release(&mut posts, one.alias, at, &mut random);
            at += every + random.i64(-20..20) * HOUR;
        }
    }
    // One service fails now.
    let two_hours_ago = now.as_micros() - 2 * HOUR;
    posts.push(post("cart", two_hours_ago, "production", "failed", ("Faster cold start", "f68c4d7a90")));
    for (place, name) in UNKNOWN.iter().enumerate() {
        for day in 0..=place as i64 {
            let at = now.as_micros() - (day + 1) * 24 * HOUR - place as i64 * HOUR;
            posts.push(post(name, at, "production", "succeeded", ("First steps", "0c0ffee000")));
        }
    }
    posts.sort_by_key(|post| post["deployed_at"].as_str().map(str::to_owned));
    let recorder = Deploys::start(db.clone(), Wanted::default(), GROUP);
    for (number, mut post) in posts.iter().cloned().enumerate() {
        post["dedup_id"] = json!(format!("demo-{number}"));
        let reading = Record::read(&post.to_string(), false);
        let record = reading.map_err(|_| Error::internal("a deploy of the demo is wrong"))?.record;
        recorder.record(Post { integration_id, record }).await.map_err(|failure| match failure {
            Failure::Internal(cause) => Error::internal(cause),
            _ => UserError::base("the deploys of the demo could not be recorded").into(),
        })?;
    }
    Ok(posts.len())
}

/// A commit that goes to staging and then to production. Some fail there, and are followed by a fix.
fn release(posts: &mut Vec<Value>, alias: &str, at: i64, random: &mut fastrand::Rng) {
    let change = CHANGES[random.usize(..CHANGES.len())];
    let commit = format!("{:010x}", random.u64(..) >> 24);
    posts.push(post(alias, at, "staging", "succeeded", (change, &commit)));
    let fails = random.u8(..100) < 9;
    let status = if fails { "failed" } else { "succeeded" };
    posts.push(post(alias, at + HOUR / 2, "production", status, (change, &commit)));
    if fails {
        let fixed = at + HOUR + random.i64(1..4) * HOUR / 2;
        let commit = format!("{:010x}", random.u64(..) >> 24);
        posts.push(post(alias, fixed, "production", "succeeded", (&format!("Revert \"{change}\""), &commit)));
    }
}

fn post(alias: &str, at: i64, environment: &str, status: &str, (change, commit): (&str, &str)) -> Value {
    let moment = |micros: i64| Timestamp::from_micros(micros).to_string();
    let person = PEOPLE[(at / HOUR).unsigned_abs() as usize % PEOPLE.len()];
    json!({
        "service": alias, "description": change, "environment": environment, "status": status,
        "deployed_at": moment(at), "started_at": moment(at - HOUR / 15),
        "deployer": { "name": person.0, "email": email(person.1) },
        "commit": { "sha": commit, "message": change, "branch": "main", "date": moment(at - 20 * HOUR) },
    })
}

/// Code issues of two services.
async fn issues(db: &Db, now: Timestamp) -> Result<()> {
    let found = [
        ("ledger", "CVE in a JSON parser", "critical"),
        ("ledger", "Outdated base image", "medium"),
        ("web_shop", "Prototype pollution", "high"),
        ("web_shop", "Missing security header", "low"),
    ];
    db.write(async |tx| {
        let scanner = integration::create(tx, Kind::Custom, "Scanner".to_owned(), now).await?;
        for (number, (alias, name, severity)) in found.into_iter().enumerate() {
            let Some(service) = service::Entity::by_alias(tx, alias).await? else { continue };
            let project = match code_issue_project::by_external_id(tx, scanner.id, alias).await? {
                Some(project) => project,
                None => {
                    let row = code_issue_project::ActiveModel {
                        integration_id: Set(scanner.id),
                        external_id: Set(alias.to_owned()),
                        name: Set(service.name.clone()),
                        created_at: Set(now),
                        updated_at: Set(now),
                        ..Default::default()
                    };
                    let project = tx.insert(row).await?;
                    let link = code_issue_project_resource::ActiveModel {
                        code_issue_project_id: Set(project.id),
                        service_id: Set(Some(service.id)),
                        ..Default::default()
                    };
                    tx.insert(link).await?;
                    project
                }
            };
            let issue = code_issue::ActiveModel {
                code_issue_project_id: Set(project.id),
                external_id: Set(format!("demo-{number}")),
                name: Set(name.to_owned()),
                issue_category: Set("Vulnerability".to_owned()),
                severity: Set(Some(severity.to_owned())),
                created_at: Set(now),
                updated_at: Set(now),
                ..Default::default()
            };
            tx.insert(issue).await?;
        }
        Ok(())
    })
    .await
}
