//! How services stood: what checks said of them, and since when.
//!
//! Clients read results that are evaluated as they are read. Beside that, a background task stores the last result of each
//! check for each service, so that changes are noticed, kept and told.
//!
//! - A transaction leaves [marks](check_due) of what it has changed. The task evaluates what they name, and removes them
//!   once the results are stored. So after a kill nothing is forgotten.
//! - What time changes, and whatever no mark names, is found by evaluating everything, every minute, or less often if that
//!   takes long: at most a twentieth of the time is spent on it.
//! - Several processes may do this at the same time. Results are stored only if no others were stored since they were read
//!   ([`remembered::next_check_round`]), so an older result never replaces a newer one.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;

use self::found::{Asked, Scope};
use self::round::Round;
use crate::db::Db;
use crate::entity::check_due::{self, CAUSE, Marks, Part, TIME, What};
use crate::entity::{
    check, code_issue_project_resource as project_resource, remembered, service, service_repository, standing_change,
};
use crate::events::Wanted;
use crate::graphql::prelude::*;

mod days;
mod found;
mod read;
mod round;
mod store;
mod stored;
mod trends;

pub use read::MOST_DAYS;
pub(in crate::graphql) use read::{changes_of, days_of, days_of_sets, level_days, status_since};
pub(in crate::graphql) use stored::{By, level_counts, levels_of, missed_checks};
pub(in crate::graphql) use trends::{days_of_categories, level_days_by};

/// The pause between two looks at what is to be evaluated.
const PAUSE: Duration = Duration::from_millis(300);

/// The pause as long as there are no checks.
const PAUSE_WITHOUT_CHECKS: Duration = Duration::from_secs(1);

/// The pause after an error.
const PAUSE_AFTER_ERROR: Duration = Duration::from_secs(10);

/// How often everything is evaluated, at most.
const EVERYTHING: Duration = Duration::from_secs(60);

/// How often the figures of the present day are stored, at most.
const DAYS: Duration = Duration::from_secs(2);

/// How often old changes are removed.
const REMOVAL: Duration = Duration::from_secs(3_600);

/// The part of the time that repeated work may take: one in so many.
const SHARE: u32 = 20;

/// The part of the time that may be spent on everything because it is marked, again and again: one in so many.
const SHARE_OF_MARKED: u32 = 4;

/// How often marks are taken before something else has its turn.
const ROUNDS: u32 = 20;

/// How many marks there may be while they cannot be evaluated. Then one of everything takes their place.
const MOST: u64 = 10_000;

/// How many marks are taken at once.
const MARKS: u64 = 1_000;

/// How many old changes a transaction removes.
const REMOVED: u64 = 500;

/// Evaluates what has changed, again and again. Runs until dropped, which is safe at any await.
pub fn run(db: Db, wanted: Wanted) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut turns = Turns::new();
        loop {
            let pause = match turns.next(&db, &wanted).await {
                Ok(()) if turns.has_checks => PAUSE,
                Ok(()) => PAUSE_WITHOUT_CHECKS,
                Err(error) => {
                    tracing::warn!(%error, "results of checks cannot be stored; trying again");
                    PAUSE_AFTER_ERROR
                }
            };
            tokio::time::sleep(pause).await;
        }
    })
}

/// Evaluates and stores all that is marked.
///
/// # Errors
/// The database fails.
pub fn settle<'f>(db: &'f Db, wanted: &'f Wanted) -> BoxFuture<'f, Result<()>> {
    Box::pin(async move {
        let mut changed = BTreeSet::new();
        while drain(db, wanted, true, &mut changed).await?.is_some() {}
        days::store(db, Some(&changed), today()).await?;
        Ok(())
    })
}

/// Evaluates everything, whether it is marked or not, as is done every minute. `last` is when that was done before. Returns
/// the number of results and levels that were not as stored.
///
/// # Errors
/// The database fails.
pub async fn evaluate_all(db: &Db, wanted: &Wanted, last: Timestamp) -> Result<usize> {
    let mut changed = BTreeSet::new();
    let found = everything(db, wanted, last, &mut changed).await?;
    days::store(db, None, today()).await?;
    Ok(found)
}

async fn everything(db: &Db, wanted: &Wanted, last: Timestamp, changed: &mut BTreeSet<i64>) -> Result<usize> {
    let (round, now) = (Round::new(db, wanted), Timestamp::now());
    // Of a check that has begun to count, nobody is told what follows.
    let has_begun = |check: &check::Model| check.enable_at.is_some_and(|from| from > last && from <= now);
    for check in super::evaluate::all_checks(db.read()).await?.into_iter().filter(has_begun) {
        let cause = format!("the check {} counts from now on", check.name);
        let cause = cause.chars().take(CAUSE).collect();
        let scope = Scope { asked: Asked::Check(check.id), leaves_marked: true, cause, is_quiet: true };
        round.everything(&scope, changed).await?;
    }
    let cause = TIME.to_owned();
    let scope = Scope { asked: Asked::About(Part::Any), leaves_marked: true, cause, is_quiet: false };
    round.everything(&scope, changed).await
}

/// Returns how many results and levels are not as stored, and of how many services: 0 if all is well and nothing is marked.
/// After a time, compares no more services.
///
/// # Errors
/// The database fails.
pub fn differences(db: &Db, patience: Duration) -> BoxFuture<'_, Result<(usize, usize)>> {
    Box::pin(async move { Round::new(db, &Wanted::default()).differences(patience).await })
}

/// The number of the present day.
fn today() -> i32 {
    const DAY: i64 = 86_400_000_000;
    i32::try_from(Timestamp::now().as_micros().div_euclid(DAY)).unwrap_or_default()
}

/// When the task does what.
struct Turns {
    has_checks: bool,
    /// The checks with results that have changed since the figures of the day were stored.
    changed: BTreeSet<i64>,
    everything: Instant,
    /// When everything may be evaluated because it is marked.
    all: Instant,
    days: Instant,
    removal: Instant,
}

impl Turns {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            has_checks: false,
            changed: BTreeSet::new(),
            everything: now + EVERYTHING,
            all: now,
            days: now,
            removal: now,
        }
    }

    async fn next(&mut self, db: &Db, wanted: &Wanted) -> Result<()> {
        wanted.read(db.read()).await?;
        let has_checks = wanted.has_checks();
        if has_checks && !self.has_checks {
            // Until now, changes have left no marks.
            db.write(async |tx| Marks::all().store(tx, "the first check, or a start of the server").await).await?;
        }
        self.has_checks = has_checks;
        let drained = self.drain(db, wanted).await;
        if drained.is_err() {
            // What cannot be evaluated must not pile up.
            db.write(async |tx| check_due::shrink(tx, MOST).await).await?;
        }
        let start = Instant::now();
        if has_checks && start >= self.everything {
            self.everything = start + EVERYTHING;
            self.evaluate_everything(db, wanted).await?;
            self.everything = next_time(start, EVERYTHING, SHARE);
        }
        let start = Instant::now();
        if !self.changed.is_empty() && start >= self.days {
            if days::store(db, Some(&self.changed), today()).await? {
                self.changed.clear();
            }
            self.days = next_time(start, DAYS, SHARE);
        }
        if Instant::now() >= self.removal {
            remove(db).await?;
            self.removal = Instant::now() + REMOVAL;
        }
        drained
    }

    /// Evaluates what is marked: everything only if that was not done just now.
    async fn drain(&mut self, db: &Db, wanted: &Wanted) -> Result<()> {
        for _ in 0..ROUNDS {
            let start = Instant::now();
            match drain(db, wanted, start >= self.all, &mut self.changed).await? {
                None => break,
                Some(true) => self.all = next_time(start, Duration::ZERO, SHARE_OF_MARKED),
                Some(false) => {}
            }
        }
        Ok(())
    }

    /// Evaluates everything, unless another process does.
    async fn evaluate_everything(&mut self, db: &Db, wanted: &Wanted) -> Result<()> {
        let Some(last) = claim(db).await? else { return Ok(()) };
        everything(db, wanted, last, &mut self.changed).await?;
        days::store(db, None, today()).await?;
        Ok(())
    }
}

/// When work is repeated that began at `start` and has ended now.
fn next_time(start: Instant, pause: Duration, share: u32) -> Instant {
    let now = Instant::now();
    now + pause.max((now - start) * share)
}

/// If this process is the one that evaluates everything now, returns when that was done last.
async fn claim(db: &Db) -> Result<Option<Timestamp>> {
    let now = Timestamp::now();
    let last = remembered::checked_at(db.read()).await?;
    let pause = i64::try_from(EVERYTHING.as_micros()).unwrap_or(i64::MAX);
    let at = last.as_ref().and_then(|at| at.parse::<i64>().ok());
    if at.is_some_and(|at| (0..pause / 2).contains(&(now.as_micros() - at))) {
        return Ok(None);
    }
    let is_own = db.write(async |tx| remembered::set_checked_at(tx, last.as_deref(), now).await).await?;
    Ok(is_own.then(|| at.map_or(now, Timestamp::from_micros)))
}

/// Evaluates some of what is marked, and removes the marks. Returns whether everything was among it; `None` if nothing is
/// marked. Notes the checks with results that have changed.
async fn drain(db: &Db, wanted: &Wanted, with_all: bool, changed: &mut BTreeSet<i64>) -> Result<Option<bool>> {
    let marks = check_due::oldest(db.read(), MARKS, with_all).await?;
    if marks.is_empty() {
        return Ok(None);
    }
    let mut parts = Parts::default();
    for mark in &marks {
        match mark.what {
            What::All => louder(&mut parts.all, mark),
            What::Check => louder(parts.checks.entry(mark.row_id).or_default(), mark),
            _ => {
                for service in services(db, mark).await? {
                    let (part, cause) = parts.services.entry(service).or_insert((mark.part, None));
                    if *part != mark.part {
                        *part = Part::Any;
                    }
                    louder(cause, mark);
                }
            }
        }
    }
    let has_all = parts.all.is_some();
    evaluate(&Round::new(db, wanted), parts, changed).await?;
    let done: Vec<i64> = marks.iter().map(|mark| mark.id).collect();
    db.write(async |tx| check_due::remove(tx, &done).await).await?;
    Ok(Some(has_all))
}

/// What marks name, and why it is evaluated: whether nobody is told, and the cause.
#[derive(Default)]
struct Parts {
    services: BTreeMap<i64, (Part, Option<(bool, String)>)>,
    checks: BTreeMap<i64, Option<(bool, String)>>,
    all: Option<(bool, String)>,
}

/// Of several marks of the same thing, those count of which somebody is told. All of them are its cause, as far as there is
/// room.
fn louder(own: &mut Option<(bool, String)>, mark: &check_due::Model) {
    match own {
        Some((is_quiet, causes)) if *is_quiet == mark.is_quiet => {
            let is_known = causes.split("; ").any(|cause| cause == mark.cause);
            if !is_known && causes.chars().count() + mark.cause.chars().count() < CAUSE {
                *causes = format!("{causes}; {}", mark.cause);
            }
        }
        Some((false, _)) => {}
        _ => *own = Some((mark.is_quiet, mark.cause.clone())),
    }
}

async fn evaluate(round: &Round, parts: Parts, changed: &mut BTreeSet<i64>) -> Result<()> {
    let Parts { services, checks, all } = parts;
    // Those of which somebody is told come first: then the others are as stored.
    let mut causes: BTreeMap<((bool, String), Part), Vec<i64>> = BTreeMap::new();
    // Whatever is evaluated below leaves out services with marks, so these are evaluated in full.
    let is_whole = all.is_some() || !checks.is_empty();
    for (service, (part, cause)) in services {
        let part = if is_whole { Part::Any } else { part };
        causes.entry((cause.unwrap_or_default(), part)).or_default().push(service);
    }
    for (((is_quiet, cause), part), services) in causes {
        round
            .services(&services, &Scope { asked: Asked::About(part), leaves_marked: false, cause, is_quiet }, changed)
            .await?;
    }
    let all = all.map(|cause| (None, cause));
    let rest: Vec<(Option<i64>, (bool, String))> = match all {
        Some(all) => vec![all],
        None => checks.into_iter().map(|(check, cause)| (Some(check), cause.unwrap_or_default())).collect(),
    };
    for (check, (is_quiet, cause)) in rest {
        let asked = check.map_or(Asked::About(Part::Any), Asked::Check);
        round.everything(&Scope { asked, leaves_marked: true, cause, is_quiet }, changed).await?;
    }
    Ok(())
}

/// The services that a mark is about.
async fn services(db: &Db, mark: &check_due::Model) -> Result<Vec<i64>> {
    let db = db.read();
    let ids = match mark.what {
        What::Service => return Ok(vec![mark.row_id]),
        What::Team => {
            let own = service::Entity::find().select_only().column(service::Column::Id);
            own.filter(db::any(db, service::Column::OwnerId, &[mark.row_id])).into_query()
        }
        What::Repository => {
            use service_repository::Column::{RepositoryId, ServiceId};
            let own = service_repository::Entity::find().select_only().column(ServiceId);
            own.filter(db::any(db, RepositoryId, &[mark.row_id])).into_query()
        }
        What::CodeIssueProject => return of_project(db, mark.row_id).await,
        What::Check | What::All => return Ok(Vec::new()),
    };
    Ok(db.rows(&ids, |row| row.get(0)).await?)
}

/// The services of a project of code issues, and of its repositories.
async fn of_project(db: &db::Reader, project: i64) -> Result<Vec<i64>> {
    let own = project_resource::Entity::find();
    let own = db.all(own.filter(db::any(db, project_resource::Column::CodeIssueProjectId, &[project]))).await?;
    let mut services: HashSet<i64> = own.iter().filter_map(|one| one.service_id).collect();
    let repositories: Vec<i64> = own.iter().filter_map(|one| one.repository_id).collect();
    if !repositories.is_empty() {
        use service_repository::Column::RepositoryId;
        let links = service_repository::Entity::find().filter(db::any(db, RepositoryId, &repositories));
        services.extend(db.all(links).await?.into_iter().map(|link| link.service_id));
    }
    Ok(services.into_iter().collect())
}

/// Removes what is older than it is kept.
async fn remove(db: &Db) -> Result<()> {
    let day = today() - i32::try_from(standing_change::KEPT).unwrap_or(i32::MAX);
    let before = Timestamp::from_micros(i64::from(day) * 86_400_000_000);
    loop {
        let removed = db.write(async |tx| standing_change::remove(tx, before, REMOVED).await).await?;
        if removed == 0 {
            break;
        }
        tokio::time::sleep(crate::retention::PAUSE).await;
    }
    days::remove(db, day).await
}
