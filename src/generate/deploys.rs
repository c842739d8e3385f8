//! Generates a year of deploys for the existing services.

use std::collections::{BTreeMap, HashMap};

use sea_orm::{EntityTrait, QueryOrder, QuerySelect, QueryTrait, Set};

use super::{BATCH, Waiting, pick};
use crate::db::{self, Bulk, Db, Prepared, Read};
use crate::deploy::derive_all;
use crate::entity::deploy::{self, Status};
use crate::entity::{Timestamp, deploy_number, service};
use crate::error::{Result, UserError};

const YEAR: i64 = 365 * 86_400 * 1_000_000;
const MINUTE: i64 = 60 * 1_000_000;

const ENVIRONMENTS: &[&str] = &["production", "production", "production", "staging", "Staging", "test"];
const STATUSES: &[(&str, Status)] = &[
    ("success", Status::Succeeded),
    ("success", Status::Succeeded),
    ("success", Status::Succeeded),
    ("succeeded", Status::Succeeded),
    ("succeeded", Status::Succeeded),
    ("succeeded", Status::Succeeded),
    ("failed", Status::Failed),
    ("failure", Status::Failed),
    ("cancelled", Status::Cancelled),
];

/// Adds `count` deploys in the year before `end`, oldest first. A few services have many, most have few. Calls
/// `progress` with the number done.
///
/// # Errors
/// When there are no services.
pub async fn deploys(db: &Db, count: u64, end: Timestamp, mut progress: impl FnMut(u64)) -> Result<()> {
    let services = service::Entity::find().select_only().column(service::Column::Id).column(service::Column::Slug);
    let services = services.order_by_asc(service::Column::Id).into_query();
    let services: Vec<(i64, String)> = db.read().rows(&services, |row| Ok((row.get(0)?, row.get(1)?))).await?;
    if services.is_empty() {
        return Err(UserError::base("there are no services in this catalogue to generate deploys for").into());
    }
    let mut random = fastrand::Rng::with_seed(11);
    let step = YEAR / i64::try_from(count.max(1)).unwrap_or(i64::MAX);
    let mut moment = end.as_micros() - YEAR;
    let mut last_id = db::last_id(db.read(), TABLE).await?;
    db.write_bulk(async |tx| {
        let mut prepared = Prepared::default();
        tx.prepare(TABLE, &mut prepared).await?;
        let mut done = 0;
        while done < count {
            let chosen = choose(&services, BATCH.min(count - done), &mut random);
            done += chosen.len() as u64;
            let mut rows = Waiting::<deploy::Entity>::default();
            for (service, slug, number) in numbered(tx, chosen).await? {
                moment += step;
                last_id += 1;
                let row = row(service, slug, number, Timestamp::from_micros(moment), &mut random);
                rows.0.push(deploy::ActiveModel { id: Set(last_id), ..row });
                rows.store_if_many(tx).await?;
            }
            rows.store(tx).await?;
            progress(done);
        }
        tx.complete(prepared).await.map_err(db::Error::from)?;
        derive_all(tx).await?;
        Ok(db::give_ids_after(tx, TABLE, last_id).await?)
    })
    .await
}

/// The table of deploys.
const TABLE: &str = "deploy";

/// Chooses the services of the next deploys.
fn choose<'s>(services: &'s [(i64, String)], count: u64, random: &mut fastrand::Rng) -> Vec<&'s (i64, String)> {
    let choose = |_| {
        // Cubed, so that the first services are chosen often.
        let place = random.f64().powi(3) * services.len() as f64;
        &services[(place as usize).min(services.len() - 1)]
    };
    (0..count).map(choose).collect()
}

/// Takes a deploy number for each.
async fn numbered<'s>(db: &Bulk, chosen: Vec<&'s (i64, String)>) -> Result<Vec<(i64, &'s str, i64)>> {
    let mut counts = BTreeMap::new();
    for (service, _) in &chosen {
        *counts.entry(*service).or_insert(0) += 1;
    }
    let last = deploy_number::take_of_services(db, &counts).await?;
    let mut next: HashMap<i64, i64> =
        counts.iter().map(|(service, count)| (*service, last.get(service).unwrap_or(count) - count)).collect();
    let numbered = chosen.into_iter().map(|(service, slug)| {
        let number = next.entry(*service).or_default();
        *number += 1;
        (*service, &**slug, *number)
    });
    Ok(numbered.collect())
}

fn row(service: i64, slug: &str, number: i64, moment: Timestamp, random: &mut fastrand::Rng) -> deploy::ActiveModel {
    let before = |minutes: i64| Some(Timestamp::from_micros(moment.as_micros() - minutes * MINUTE));
    let (status, deploy_status) = STATUSES[random.usize(..STATUSES.len())];
    let environment = pick(random, ENVIRONMENTS);
    let person = random.u32(1..200);
    deploy::ActiveModel {
        service_id: Set(Some(service)),
        service_alias: Set(slug.to_owned()),
        description: Set(format!("Release {number} of {slug}")),
        deployed_at: Set(moment),
        started_at: Set(before(random.i64(1..40))),
        deploy_number: Set(number.to_string()),
        environment: Set(Some(environment.to_owned())),
        environment_key: Set(Some(deploy::environment_key(environment))),
        status: Set(Some(status.to_owned())),
        deploy_status: Set(Some(deploy_status)),
        deployer_name: Set(Some(format!("Person {person}"))),
        deployer_email: Set(Some(format!("person{person}@example.com"))),
        commit_sha: Set(Some(format!("{:016x}{:016x}{:08x}", random.u64(..), random.u64(..), random.u32(..)))),
        commit_message: Set(Some(format!("Change {number}"))),
        commit_branch: Set(Some("main".to_owned())),
        committed_at: Set(before(random.i64(60..6_000))),
        created_at: Set(moment),
        ..Default::default()
    }
}
