//! The transaction that records posts. The number of statements does not depend on the number of posts.
//!
//! Reads come first, to keep the statements few; unique indexes and foreign keys decide. If another process records the
//! same post in between, or deletes a service, user or endpoint, the transaction fails and the caller retries it. On
//! PostgreSQL rows are always locked in the same order, which prevents deadlocks: services, suggestions, counters of
//! services, counters of aliases, deploys.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use sea_orm::sea_query::{Expr, ExprTrait, LockType, OnConflict, Query};
use sea_orm::{EntityTrait, Set};

use super::{Outcome, Post, Record};
use crate::db::{self, Read, ReadHandle, Write, WriteHandle, find};
use crate::entity::check_due::{self, Marks, Part};
use crate::entity::deploy::environment_key;
use crate::entity::suggestion::State;
use crate::entity::user::email_key;
use crate::entity::{
    Timestamp, deploy, deploy_number, service, service_alias, suggestion, suggestion_integration, user,
};
use crate::events::{OfDeploys, Wanted};

/// Records all posts or none, and returns the outcome of each.
pub(super) async fn record(
    db: &dyn WriteHandle,
    wanted: &Wanted,
    posts: &[Post],
    now: Timestamp,
) -> Result<Vec<Outcome>, db::Error> {
    let is_new = without_duplicates(posts, stored(db, posts).await?);
    let new: Vec<&Post> = posts.iter().zip(&is_new).filter_map(|(post, is_new)| is_new.then_some(post)).collect();
    let mut services = services(db, new.iter().map(|post| &*post.record.service), Hold::UntilCommit).await?;
    let respelt = respelt(db, &new, &mut services).await?;
    let mut events = OfDeploys::default();
    suggest(db, &new, &services, (wanted, &mut events), now).await?;
    let numbers = numbers(db, &new, &services).await?;
    let users = users(db, &new).await?;
    let rows = new.iter().zip(numbers).map(|(post, number)| {
        let email = post.record.deployer.email.as_deref().map(email_key);
        let user_id = email.and_then(|email| users.get(&email).copied());
        let alias = respelt.get(&post.record.service);
        row(post, (services.get(&post.record.service).copied(), alias), user_id, number, now)
    });
    let rows: Vec<deploy::ActiveModel> = rows.collect();
    rows.iter().for_each(|row| events.add(wanted, row, now));
    insert(db, rows).await?;
    events.store(db).await?;
    if wanted.has_checks() {
        Marks::of_services(services.values().copied(), Part::Deploys).store(db, check_due::DEPLOY).await?;
    }

    let outcome = |(post, is_new): (&Post, bool)| match is_new {
        false => Outcome::Duplicate,
        true if services.contains_key(&post.record.service) => {
            Outcome::Ok { alias: respelt.get(&post.record.service).cloned() }
        }
        true => Outcome::NoServiceFound { alias: post.record.service.clone() },
    };
    Ok(posts.iter().zip(is_new).map(outcome).collect())
}

/// The key that makes a deploy unique, if it was sent.
fn dedup_key(post: &Post) -> Option<(i64, &str)> {
    Some((post.integration_id, post.record.dedup_id.as_deref()?))
}

/// The keys among these posts that are already recorded.
async fn stored(db: &dyn ReadHandle, posts: &[Post]) -> Result<HashSet<(i64, String)>, db::Error> {
    use deploy::Column::{DedupId, IntegrationId};
    let (integrations, ids): (BTreeSet<i64>, BTreeSet<&str>) = posts.iter().filter_map(dedup_key).unzip();
    if ids.is_empty() {
        return Ok(HashSet::new());
    }
    let (integrations, ids) = (Vec::from_iter(integrations), Vec::from_iter(ids));
    let known = Query::select()
        .columns([IntegrationId, DedupId])
        .from(deploy::Entity)
        .and_where(db::any(db, IntegrationId, &integrations))
        .and_where(db::any_text(db, DedupId, &ids))
        .take();
    Ok(db.rows(&known, pair).await?.into_iter().collect())
}

/// Whether each post is the first with its key.
fn without_duplicates(posts: &[Post], stored: HashSet<(i64, String)>) -> Vec<bool> {
    let mut seen: HashSet<(i64, &str)> = stored.iter().map(|(integration, id)| (*integration, &**id)).collect();
    posts.iter().map(|post| dedup_key(post).is_none_or(|key| seen.insert(key))).collect()
}

/// Whether to lock the services against deletion until the transaction ends.
#[derive(PartialEq, Eq)]
enum Hold {
    UntilCommit,
    No,
}

/// The ids of the services with these aliases.
async fn services<'a>(
    db: &dyn ReadHandle,
    aliases: impl Iterator<Item = &'a str>,
    hold: Hold,
) -> Result<HashMap<String, i64>, db::Error> {
    let aliases: Vec<&str> = Vec::from_iter(BTreeSet::from_iter(aliases));
    if aliases.is_empty() {
        return Ok(HashMap::new());
    }
    let mut found = Query::select();
    found
        .column((service_alias::Entity, service_alias::Column::Value))
        .column((service::Entity, service::Column::Id))
        .from(service_alias::Entity)
        .inner_join(
            service::Entity,
            Expr::col((service::Entity, service::Column::Id))
                .equals((service_alias::Entity, service_alias::Column::ServiceId)),
        )
        .and_where(db::any_text(db, service_alias::Column::Value, &aliases));
    if hold == Hold::UntilCommit {
        found.lock_with_tables(LockType::KeyShare, [service::Entity]);
    }
    Ok(db.rows(&found, pair).await?.into_iter().collect())
}

/// Finds the services whose alias some posts spell in other letter case, and adds them to the others. Returns their
/// aliases, by what was sent. Reads nothing if every post names an alias.
async fn respelt(
    db: &dyn ReadHandle,
    posts: &[&Post],
    found: &mut HashMap<String, i64>,
) -> Result<HashMap<String, String>, db::Error> {
    let unknown: BTreeSet<&str> =
        posts.iter().map(|post| &*post.record.service).filter(|alias| !found.contains_key(*alias)).collect();
    if unknown.is_empty() {
        return Ok(HashMap::new());
    }
    let mut respelt = HashMap::new();
    let meant = find::respelt(db, &Vec::from_iter(unknown)).await?;
    let services = services(db, meant.values().map(String::as_str), Hold::UntilCommit).await?;
    for (sent, alias) in meant {
        if let Some(id) = services.get(&alias) {
            found.insert(sent.clone(), *id);
            respelt.insert(sent, alias);
        }
    }
    Ok(respelt)
}

/// The users with the posts' email addresses, by [`email_key`].
async fn users(db: &dyn ReadHandle, posts: &[&Post]) -> Result<HashMap<String, i64>, db::Error> {
    let keys: BTreeSet<String> =
        posts.iter().filter_map(|post| post.record.deployer.email.as_deref()).map(email_key).collect();
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let found = Query::select()
        .columns([user::Column::EmailKey, user::Column::Id])
        .from(user::Entity)
        .and_where(db::any_text(db, user::Column::EmailKey, &keys))
        .take();
    Ok(db.rows(&found, pair).await?.into_iter().collect())
}

/// Reads a row of two columns.
fn pair<A: db::Column, B: db::Column>(row: &db::Row<'_>) -> Result<(A, B), db::Error> {
    Ok((row.get(0)?, row.get(1)?))
}

/// Records suggestions for aliases without a service: how often, and through which endpoints.
async fn suggest(
    db: &dyn WriteHandle,
    posts: &[&Post],
    services: &HashMap<String, i64>,
    (wanted, events): (&Wanted, &mut OfDeploys),
    now: Timestamp,
) -> Result<(), db::Error> {
    let mut unknown: BTreeMap<&str, (i32, BTreeSet<i64>)> = BTreeMap::new();
    for post in posts.iter().filter(|post| !services.contains_key(&post.record.service)) {
        let (count, integrations) = unknown.entry(&post.record.service).or_default();
        *count += 1;
        integrations.insert(post.integration_id);
    }
    if unknown.is_empty() {
        return Ok(());
    }
    let stored = upsert_suggestions(db, &unknown, now).await?;
    for one in &stored {
        // One that was there before counts more deploys.
        if unknown.get(&*one.alias).is_some_and(|(count, _)| *count == one.deploy_count) {
            events.add_suggestion(wanted, one.id, &one.alias, now);
        }
    }
    let ids: HashMap<String, i64> = stored.into_iter().map(|one| (one.alias, one.id)).collect();
    // Accepting a suggestion locks its row. We hold the locks now, so a suggestion accepted in the meantime is visible.
    if !self::services(db, unknown.keys().copied(), Hold::No).await?.is_empty() {
        return Err(db::Error::fault("an alias was added to a service in the meantime"));
    }
    let links = unknown.iter().flat_map(|(alias, (_, integrations))| {
        let id = ids.get(*alias).copied();
        integrations.iter().filter_map(move |integration| Some((id?, *integration)))
    });
    let links = links.map(|(suggestion_id, integration_id)| suggestion_integration::ActiveModel {
        suggestion_id: Set(suggestion_id),
        integration_id: Set(integration_id),
        ..Default::default()
    });
    db.exec(suggestion_integration::Entity::insert_many(links).on_conflict(OnConflict::new().do_nothing().to_owned()))
        .await?;
    Ok(())
}

/// Creates or updates a suggestion for each alias and returns them. An ignored one stays ignored. An accepted one
/// is reopened, because its service has lost the alias or was deleted.
async fn upsert_suggestions(
    db: &dyn WriteHandle,
    unknown: &BTreeMap<&str, (i32, BTreeSet<i64>)>,
    now: Timestamp,
) -> Result<Vec<suggestion::Model>, db::Error> {
    use suggestion::Column::{
        Alias, CodeIssueProjectId, DeployCount, FirstSeenAt, LastSeenAt, ServiceId, State as StateColumn,
    };
    let present = |column| Expr::col((suggestion::Entity, column));
    let given = |column| Expr::col(("excluded", column));
    let state = Expr::case(present(StateColumn).eq(State::Accepted), Expr::value(State::Open));
    let again = OnConflict::column(Alias)
        .target_and_where(Expr::col(CodeIssueProjectId).is_null())
        .value(DeployCount, present(DeployCount).add(given(DeployCount)))
        .value(LastSeenAt, given(LastSeenAt))
        .value(StateColumn, state.finally(present(StateColumn)))
        .value(ServiceId, Expr::value(None::<i64>))
        .to_owned();
    let mut insert = Query::insert();
    insert.into_table(suggestion::Entity).columns([Alias, StateColumn, DeployCount, FirstSeenAt, LastSeenAt]);
    for (alias, (count, _)) in unknown {
        let (count, now) = (Expr::value(*count), Expr::value(now));
        insert.values_panic([Expr::value(*alias), Expr::value(State::Open), count, now.clone(), now]);
    }
    insert.on_conflict(again);
    db.stored_by::<suggestion::Entity>(false, insert).await
}

/// The number of each deploy: as sent, or the next one of its service or alias.
async fn numbers(
    db: &dyn WriteHandle,
    posts: &[&Post],
    services: &HashMap<String, i64>,
) -> Result<Vec<String>, db::Error> {
    let (mut of_services, mut of_aliases) = (BTreeMap::<i64, i64>::new(), BTreeMap::<&str, i64>::new());
    for record in posts.iter().map(|post| &post.record).filter(|record| record.deploy_number.is_none()) {
        match services.get(&record.service) {
            Some(service_id) => *of_services.entry(*service_id).or_default() += 1,
            None => *of_aliases.entry(&record.service).or_default() += 1,
        }
    }
    let mut last_of_services = deploy_number::take_of_services(db, &of_services).await?;
    let mut last_of_aliases = deploy_number::take_of_aliases(db, &of_aliases).await?;
    // In reverse, because the counter holds the last number taken.
    let mut numbers = Vec::with_capacity(posts.len());
    for record in posts.iter().rev().map(|post| &post.record) {
        let number = match (&record.deploy_number, services.get(&record.service)) {
            (Some(sent), _) => Some(sent.clone()),
            (None, Some(service_id)) => last_of_services.get_mut(service_id).map(count_down),
            (None, None) => last_of_aliases.get_mut(&record.service).map(count_down),
        };
        numbers.push(number.ok_or_else(|| db::Error::fault("a counter"))?);
    }
    numbers.reverse();
    Ok(numbers)
}

fn count_down(last: &mut i64) -> String {
    *last -= 1;
    (*last + 1).to_string()
}

fn row(
    Post { integration_id, record }: &Post,
    (service_id, alias): (Option<i64>, Option<&String>),
    associated_user_id: Option<i64>,
    deploy_number: String,
    now: Timestamp,
) -> deploy::ActiveModel {
    let deploy_status = record.deploy_status();
    let Record {
        service,
        description,
        deployed_at,
        deployer,
        started_at,
        deploy_url,
        dedup_id,
        environment,
        deploy_number: _,
        status,
        commit,
    } = record.clone();
    deploy::ActiveModel {
        integration_id: Set(Some(*integration_id)),
        service_id: Set(service_id),
        service_alias: Set(alias.cloned().unwrap_or(service)),
        associated_user_id: Set(associated_user_id),
        description: Set(description),
        deployed_at: Set(deployed_at),
        started_at: Set(started_at),
        deploy_url: Set(deploy_url),
        dedup_id: Set(dedup_id),
        deploy_number: Set(deploy_number),
        environment_key: Set(environment.as_deref().map(environment_key)),
        environment: Set(environment),
        status: Set(status),
        deploy_status: Set(deploy_status),
        deployer_id: Set(deployer.id),
        deployer_name: Set(deployer.name),
        deployer_email: Set(deployer.email),
        commit_sha: Set(commit.sha),
        commit_message: Set(commit.message),
        commit_branch: Set(commit.branch),
        committed_at: Set(commit.date),
        committer_name: Set(commit.committer_name),
        committer_email: Set(commit.committer_email),
        commit_author_name: Set(commit.author_name),
        commit_author_email: Set(commit.author_email),
        commit_authoring_date: Set(commit.authoring_date),
        created_at: Set(now),
        ..Default::default()
    }
}

/// Inserts the rows in batches of powers of two, so that only a few different statements are prepared.
async fn insert(db: &dyn WriteHandle, mut rows: Vec<deploy::ActiveModel>) -> Result<(), db::Error> {
    while let Some(power) = rows.len().checked_ilog2() {
        let rest = rows.split_off(1 << power);
        db.exec(deploy::Entity::insert_many(rows)).await?;
        rows = rest;
    }
    Ok(())
}
