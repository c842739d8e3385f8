//! Checks whose results are reported: by a pipeline that has looked at the code of a service.
//!
//! A result counts as long as the check asks what it asked when it was evaluated ([`fingerprint`]), and the repository
//! where it was found holds code of the service.

use std::collections::{HashMap, HashSet};

use data_encoding::HEXLOWER;
use sea_orm::ActiveEnum;
use sea_orm::sea_query::{BinOper, ExprTrait, Func, Order, Query as Select};
use sha2::{Digest, Sha256};

use super::home::Placed;
use super::question::{Facts, Question, first};
use super::{evaluate, gathered};
use crate::entity::check::{self, Model};
use crate::entity::check_reported::{ActiveModel, Column, Entity};
use crate::entity::{service, service_repository};
use crate::graphql::field::id::Id;
use crate::graphql::filter::predicate::Rows;
use crate::graphql::prelude::*;

/// The maximum number of results in a report.
pub const RESULTS: usize = 200;

/// The maximum length of what was found, in characters.
pub const MESSAGE: usize = 500;

/// The maximum number of services of a repository, each with a folder, that a pipeline looks at.
pub const PLACES: usize = text::ENTRIES;

/// The maximum length of a fingerprint or of the hash of a commit, in characters.
const HASH: usize = 64;

/// What a check asks, as a short text.
pub(super) fn fingerprint(check: &Model) -> String {
    let mut asked = format!("{} {}", check.kind.to_value(), check.parameters);
    if let Some(integration) = check.integration_id {
        asked.push_str(&format!(" {integration}"));
    }
    HEXLOWER.encode(&Sha256::digest(asked)[..8])
}

/// The question of a check whose results are reported. A service passes if it passes in all repositories that have
/// reported.
pub(super) fn question(check: &Model) -> Question {
    let reported = || {
        let is_linked = Select::select()
            .expr(Expr::value(1))
            .from(service_repository::Entity)
            .and_where(service_repository::Column::ServiceId.into_expr().eq(Column::ServiceId.into_expr()))
            .and_where(service_repository::Column::RepositoryId.into_expr().eq(Column::RepositoryId.into_expr()))
            .take();
        Rows::new(Entity, Column::ServiceId)
            .and_where(Column::CheckId.eq(check.id))
            .and_where(Column::Fingerprint.eq(fingerprint(check)))
            .and_where(Column::RepositoryId.is_null().or(Expr::exists(is_linked)))
    };
    let is_known = reported().exist_where(None);
    let has_failed = reported().exist_where(Some(Column::Passed.eq(false)));
    // What failed comes first.
    let mut worst_first = reported();
    worst_first.from.order_by(Column::Passed, Order::Asc).order_by(Column::Id, Order::Asc);
    let found = [
        Column::ReportedAt.into_expr().cast_as("text"),
        Func::coalesce([Column::CommitHash.into_expr(), Expr::value("")]).into(),
        Column::Message.into_expr(),
    ];
    let [at, commit, message] = found;
    let join = |left: Expr, right: Expr| {
        left.binary(BinOper::Custom("||"), Expr::value(" ")).binary(BinOper::Custom("||"), right)
    };
    Question {
        passed: is_known.clone().and(has_failed.not()),
        pending: Some(is_known.not()),
        found: first(&worst_first, join(join(at, commit), message)),
    }
}

/// When something was reported, for which commit, and what: from what [`question`] has found.
pub(super) fn parts(found: Option<&str>) -> Option<(Timestamp, &str, &str)> {
    let mut parts = found?.splitn(3, ' ');
    let (at, commit, message) = (parts.next()?, parts.next()?, parts.next()?);
    Some((Timestamp::from_micros(at.parse().unwrap_or_default()), commit, message))
}

/// Says what was reported, from what [`question`] has found.
pub(super) fn said(found: Option<&str>) -> String {
    let Some((at, commit, message)) = parts(found) else {
        return "Nothing was reported yet: rollcall check reports it from a pipeline.".to_owned();
    };
    let commit: String = commit.chars().take(12).collect();
    let of = if commit.is_empty() { String::new() } else { format!(" for the commit {commit}") };
    format!("{message} Reported on {}{of}.", at.minute())
}

/// The checks to evaluate in the code of repositories.
pub(in crate::graphql) async fn of_repositories(
    repositories: &[&Repository],
    ctx: &Ctx<'_>,
) -> Result<Vec<RepositoryChecks>> {
    let mut checks = Vec::with_capacity(repositories.len());
    for repository in repositories {
        checks.push(of_repository(repository, ctx).await?);
    }
    Ok(checks)
}

async fn of_repository(repository: &Repository, ctx: &Ctx<'_>) -> Result<RepositoryChecks> {
    use service_repository::Column as Link;
    let (db, now) = (ctx.db(), Timestamp::now());
    let links = Select::select()
        .expr(service::Column::Id.into_expr())
        .expr(service::Column::Slug.into_expr())
        .expr(Link::BaseDirectory.into_expr())
        .from(service_repository::Entity)
        .inner_join(service::Entity, service::Column::Id.into_expr().eq(Link::ServiceId.into_expr()))
        .and_where(Link::RepositoryId.eq(repository.id))
        .order_by_expr(Link::Id.into_expr(), Order::Asc)
        .limit(PLACES as u64)
        .take();
    let links = db.scan(&links, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let links: Vec<(i64, String, String)> = links.await?;
    let mut ids: Vec<i64> = links.iter().map(|(service, ..)| *service).collect();
    ids.sort_unstable();
    ids.dedup();
    let is_asked = |one: &&Placed| {
        let (check, is_over) = (&one.check, one.home.is_over());
        check.kind.is_of_repository() && !is_over && (check.counts(now) || check.is_upcoming(now))
    };
    let all = gathered::all(ctx).await?.iter().filter(is_asked).cloned().collect();
    let prepared = evaluate::prepare(all, Facts { db, only: Some(&ids), now }).await?;
    let mut concerned = vec![Vec::new(); prepared.len()];
    if !ids.is_empty() {
        let mut results = evaluate::results(db, &prepared, &ids).await?;
        for service in &ids {
            for outcome in results.remove(service).unwrap_or_default() {
                db.charge::<Id>(0)?;
                concerned[outcome.check].push(Id::new::<service::Entity>(*service));
            }
        }
    }
    let checks =
        prepared.iter().zip(concerned).filter(|(one, services)| !services.is_empty() && one.can_be_evaluated());
    let checks = checks.map(|(one, service_ids)| RepositoryCheckToEvaluate {
        check: Check::from((*one.check).clone()),
        fingerprint: fingerprint(&one.check),
        service_ids,
    });
    let service = |(id, service_alias, base_directory)| RepositoryCheckedService {
        service_id: Id::new::<service::Entity>(id),
        service_alias,
        base_directory,
    };
    Ok(RepositoryChecks { checks: checks.collect(), services: links.into_iter().map(service).collect() })
}

/// A result of a report, once its texts are checked.
struct Given {
    place: usize,
    check: i64,
    service: i64,
    row: ActiveModel,
}

/// Reads an id.
fn numbered<E: id::Class>(text: &str, field: &'static str) -> Result<i64, UserError> {
    id::number::<E>(text).ok_or_else(|| id::missing::<E>(text, field))
}

/// The error for an id that no row has.
fn absent<E: id::Class>(field: &'static str) -> UserError {
    UserError::new(field, id::absent(&format!("{} with this id", E::NOUN))).not_found()
}

/// Adds the place of a result to the path of an error.
fn within(place: usize) -> impl Fn(UserError) -> UserError {
    move |error| error.within(place.to_string()).within("results")
}

/// Checks the texts of a result, and reads its ids.
fn given(place: usize, result: RepositoryCheckResultInput) -> Result<Given> {
    let RepositoryCheckResultInput { check_id, fingerprint, message, passed, path, service_id } = result;
    let mut problems = Problems::default();
    let check = problems.take(numbered::<check::Entity>(&check_id, "checkId"));
    let service = problems.take(numbered::<service::Entity>(&service_id, "serviceId"));
    let fingerprint = problems.take(text::required("fingerprint", &fingerprint, HASH));
    let message = problems.take(text::required("message", &message, MESSAGE));
    let path = path.value().map_or(Ok(None), |path| text::optional("path", path, text::SHORT));
    let path = problems.take(path);
    problems.none()?;
    let (check, service) = (check.unwrap_or_default(), service.unwrap_or_default());
    let row = ActiveModel {
        check_id: Set(check),
        service_id: Set(service),
        fingerprint: Set(fingerprint.unwrap_or_default()),
        passed: Set(passed),
        message: Set(message.unwrap_or_default()),
        path: Set(path.flatten()),
        ..Default::default()
    };
    Ok(Given { place, check, service, row })
}

/// Checks the hash of a commit.
fn hash(commit: &str) -> Result<Option<String>, UserError> {
    let commit = text::optional("commit", commit, HASH)?;
    match commit {
        Some(commit) if !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            Err(UserError::new("commit", "commit must be the hash of a commit: hexadecimal digits"))
        }
        commit => Ok(commit.map(|commit| commit.to_lowercase())),
    }
}

/// Checks a report without the database.
fn read(commit: Option<&String>, results: Vec<RepositoryCheckResultInput>) -> Result<(Option<String>, Vec<Given>)> {
    let mut problems = Problems::default();
    let commit = problems.take(commit.map_or(Ok(None), |commit| hash(commit))).flatten();
    if results.is_empty() || results.len() > RESULTS {
        let message = format!("results has {} entries; 1 to {RESULTS} are allowed", results.len());
        problems.push(UserError::new("results", message));
    }
    let mut all = Vec::with_capacity(results.len());
    let mut seen = HashSet::with_capacity(results.len());
    for (place, result) in results.into_iter().enumerate().take(RESULTS) {
        let one = given(place, result).map_err(|error| error.map_user(within(place)));
        let Some(one) = problems.take_any(one)? else { continue };
        if !seen.insert((one.check, one.service)) {
            let message = "an earlier result is about the same check and service";
            problems.push(within(place)(UserError::new("checkId", message)));
        }
        all.push(one);
    }
    problems.none()?;
    Ok((commit, all))
}

/// Locks the services of the results, so that no other report about them comes between, and refuses those whose code the
/// repository does not hold.
async fn lock_services(db: &Transaction, repository: i64, results: &[Given]) -> Result<()> {
    use service_repository::Column as Link;
    let named: Vec<i64> = results.iter().map(|one| one.service).collect();
    // In the order of their ids, so that two reports cannot deadlock.
    let locked = service::Entity::find()
        .select_only()
        .column(service::Column::Id)
        .filter(db::any(db, service::Column::Id, &named))
        .order_by_asc(service::Column::Id)
        .lock(LockType::NoKeyUpdate);
    let locked: Vec<i64> = db.rows(locked.as_query(), |row| row.get(0)).await?;
    let links = service_repository::Entity::find().filter(Link::RepositoryId.eq(repository)).filter(db::any(
        db,
        Link::ServiceId,
        &locked,
    ));
    let linked: HashSet<i64> = db.all(links).await?.into_iter().map(|link| link.service_id).collect();
    let mut problems = Problems::default();
    for one in results {
        if !locked.contains(&one.service) {
            problems.push(within(one.place)(absent::<service::Entity>("serviceId")));
        } else if !linked.contains(&one.service) {
            let message = "the repository holds no code of this service";
            problems.push(within(one.place)(UserError::new("serviceId", message)));
        }
    }
    problems.none()
}

/// Reads the checks of the results, and refuses those that no pipeline evaluates. Returns their fingerprints.
async fn fingerprints(db: &Transaction, results: &[Given]) -> Result<HashMap<i64, String>> {
    let named: Vec<i64> = results.iter().map(|one| one.check).collect();
    let checks = check::Entity::find().filter(db::any(db, check::Column::Id, &named));
    let checks = db.locking(LockType::KeyShare).all(checks.order_by_asc(check::Column::Id)).await?;
    let checks: HashMap<i64, Model> = checks.into_iter().map(|check| (check.id, check)).collect();
    let mut problems = Problems::default();
    for one in results {
        match checks.get(&one.check) {
            None => {
                problems.push(within(one.place)(absent::<check::Entity>("checkId")));
            }
            Some(check) if !check.kind.is_of_repository() => {
                let message = "this check is not evaluated in a repository";
                problems.push(within(one.place)(UserError::new("checkId", message)));
            }
            Some(_) => {}
        }
    }
    problems.none()?;
    Ok(checks.into_iter().map(|(id, check)| (id, fingerprint(&check))).collect())
}

impl RepositoryCheckResultsReportMutation for Mutation {
    async fn repository_check_results_report(
        ctx: &MutationCtx<'_>,
        input: RepositoryCheckResultsReportInput,
    ) -> Result<RepositoryCheckResultsReportPayload> {
        let RepositoryCheckResultsReportInput { commit, repository, results } = input;
        let db = ctx.db();
        let (commit, results) = read(commit.value(), results)?;
        let repository: Repository = identifier::locked(db, "repository", &repository, LockType::KeyShare).await?;
        lock_services(db, repository.id, &results).await?;
        let current = fingerprints(db, &results).await?;
        let (now, by) = (Timestamp::now(), ctx.caller().actor.name.chars().take(text::SHORT).collect::<String>());
        let all = results.len();
        let mut recorded = Vec::with_capacity(all);
        for Given { check, row, .. } in results {
            if current.get(&check) != row.fingerprint.try_as_ref() {
                continue;
            }
            recorded.push(ActiveModel {
                repository_id: Set(Some(repository.id)),
                commit_hash: Set(commit.clone()),
                reported_by: Set(by.clone()),
                reported_at: Set(now),
                ..row
            });
        }
        let count = recorded.len();
        for row in &recorded {
            let keys = [(Column::CheckId, row.check_id.clone()), (Column::ServiceId, row.service_id.clone())];
            let of_it = Entity::delete_many().filter(Column::RepositoryId.eq(repository.id));
            let of_it = keys.into_iter().fold(of_it, |delete, (column, key)| delete.filter(column.eq(key.unwrap())));
            db.exec(of_it).await?;
        }
        db.exec(Entity::insert_many(recorded)).await?;
        let shown = |count: usize| i32::try_from(count).ok();
        Ok(RepositoryCheckResultsReportPayload {
            recorded: shown(count),
            outdated: shown(all - count),
            ..Default::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_what_was_found_and_when() {
        for (found, expected) in [
            (None, "Nothing was reported yet: rollcall check reports it from a pipeline."),
            (Some("1000000  It has a."), "It has a. Reported on 1 Jan 1970 00:00 UTC."),
            (
                Some("1000000 0123456789abcdef It has a."),
                "It has a. Reported on 1 Jan 1970 00:00 UTC for the commit 0123456789ab.",
            ),
        ] {
            assert_eq!(said(found), expected);
        }
    }
}
