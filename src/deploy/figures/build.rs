//! Gives days their figures, and takes stale figures away.
//!
//! Every server does this each minute. Only one of them succeeds at a time: whoever finds another version of the
//! figures when it writes than it has read has come second, and does nothing. Reading takes no lock, and a day is
//! written in a transaction of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait, Func, Order, Query, SelectStatement};
use sea_orm::{ConnectionTrait, DbErr};
use tokio::time::sleep;
use tracing::warn;

use super::super::recoveries::{SUCCESS, is, next_success, recoveries};
use super::durations;
use super::{ALL, CHANGE, CHANGES, Day, FIGURES, VERSION, change, day_of, name, seconds, start_of, time};
use crate::db::{self, Db, Read, Row, Snapshot};
use crate::entity::Timestamp;
use crate::entity::deploy::{self, Column, Status};
use crate::retention::PAUSE;

/// The approximate interval between runs.
const INTERVAL: Duration = Duration::from_secs(60);
/// How many days of the past have figures: ten years. Bounds what a run looks at, whatever dates deploys have.
pub const DAYS: Day = 3_653;
/// The longest series of days without deploys that get figures, all 0, so that there are few gaps between days with
/// figures. A longer one costs less than its days.
const EMPTY: Day = 31;
/// The number of deploys read at once.
const PAGE: u64 = 5_000;

/// Keeps the figures up to date. Runs until dropped, which is safe at any await.
pub async fn run(db: Db) {
    loop {
        if let Err(error) = update(&db, Timestamp::now()).await {
            warn!(%error, "the figures of deploys are not up to date; metrics read the deploys until the next run");
        }
        // Jitter, so that processes started together drift apart.
        sleep(INTERVAL.mul_f64(0.9 + 0.2 * fastrand::f64())).await;
    }
}

/// Brings the figures up to date with all deploys of days before that of `now`, the newest first. Returns how many days
/// have got figures. Ends early if another process does the same.
pub async fn update(db: &Db, now: Timestamp) -> Result<u64, DbErr> {
    let mut built = 0;
    loop {
        let is_rest = match forget(db).await? {
            Done::Number(changes) => changes < CHANGES,
            Done::ByAnother => return Ok(built),
        };
        // New posts leave changes all the time, so this does not wait until there are none.
        if is_rest {
            match build(db, now).await? {
                Done::Number(0) | Done::ByAnother => return Ok(built),
                Done::Number(days) => built += days,
            }
        }
        sleep(PAUSE / 10).await;
    }
}

/// Removes all figures and changes. For an import, which replaces all deploys in the transaction `db`.
pub async fn forget_all<C: ConnectionTrait>(db: &C) -> Result<(), DbErr> {
    db.execute(&raise_version()).await?;
    for table in [FIGURES, CHANGE] {
        db.execute(Query::delete().from_table(table)).await?;
    }
    Ok(())
}

/// What a step has done.
enum Done {
    /// It has removed this many changes, or given figures to this many days.
    Number(u64),
    /// Another process came first.
    ByAnother,
}

/// Removes the figures that changes concern, and these changes.
async fn forget(db: &Db) -> Result<Done, DbErr> {
    let snapshot = db.begin_read(None).await?;
    let version = version(&snapshot).await?;
    let with_figures = with_figures(&snapshot, Day::MIN).await?;
    // A change after the last day with figures concerns none.
    let last = with_figures.last().map_or(Day::MIN, |day| start_of(*day + 1));
    let next = next_success(|column| Expr::col((CHANGE, column)));
    let is_late = Expr::col((CHANGE, "deployed_at")).lt(last);
    let changes = Query::select()
        .column((CHANGE, "number"))
        .column((CHANGE, "deployed_at"))
        .expr(Expr::case(is_late, next))
        .from(CHANGE)
        .order_by((CHANGE, "number"), Order::Asc)
        .limit(CHANGES)
        .take();
    let changes = snapshot.rows(&changes, change).await?;
    drop(snapshot);
    if changes.is_empty() {
        return Ok(Done::Number(0));
    }
    let (mut numbers, mut stale) = (Vec::with_capacity(changes.len()), BTreeSet::new());
    for (number, days) in changes {
        numbers.push(number);
        stale.extend(days.into_iter().flatten().filter(|day| with_figures.contains(day)));
    }
    let stale = Vec::from_iter(stale);
    write(db, version, numbers.len(), async |tx| {
        let backend = tx.get_database_backend();
        let stale = db::is_any(backend, Expr::col("day"), &stale);
        tx.execute(Query::delete().from_table(FIGURES).and_where(stale)).await?;
        let numbers = db::is_any(backend, Expr::col("number"), &numbers);
        tx.execute(Query::delete().from_table(CHANGE).and_where(numbers)).await?;
        Ok(())
    })
    .await
}

/// Gives figures to the newest day that has deploys and no figures, and to the days without deploys after it.
async fn build(db: &Db, now: Timestamp) -> Result<Done, DbErr> {
    let snapshot = db.begin_read(None).await?;
    let version = version(&snapshot).await?;
    let today = day_of(now);
    let Some((day, empty)) = missing(&snapshot, today).await? else { return Ok(Done::Number(0)) };
    let mut days = BTreeMap::new();
    if let Some(day) = day {
        days.insert(day, figures(&snapshot, day).await?);
    }
    drop(snapshot);
    for day in empty {
        days.insert(day, Figures::default());
    }
    write(db, version, days.len(), async |tx| {
        for (day, figures) in days {
            figures.write(tx, day).await?;
        }
        Ok(())
    })
    .await
}

/// Writes, unless the figures have another version by now. `number` is what it then returns.
async fn write(
    db: &Db,
    version: i64,
    number: usize,
    work: impl AsyncFnOnce(&sea_orm::DatabaseTransaction) -> Result<(), DbErr>,
) -> Result<Done, DbErr> {
    let written = db.write::<_, DbErr>(async |tx| {
        // On PostgreSQL the second of two waits here for the first, and nobody else does.
        let raised = tx.execute(raise_version().and_where(Expr::col("version").eq(version))).await?;
        if raised.rows_affected() == 0 {
            return Ok(Done::ByAnother);
        }
        work(tx).await?;
        Ok(Done::Number(number as u64))
    });
    written.await
}

fn raise_version() -> sea_orm::sea_query::UpdateStatement {
    Query::update().table(VERSION).value("version", Expr::col("version").add(1)).take()
}

async fn version(snapshot: &Snapshot) -> Result<i64, DbErr> {
    let query = Query::select().column("version").from(VERSION).take();
    let version = snapshot.rows(&query, |row| row.get(0)).await?.pop();
    version.ok_or_else(|| DbErr::RecordNotFound("the version of the figures of deploys".to_owned()))
}

/// Returns the days with figures, stale ones included.
async fn with_figures(snapshot: &Snapshot, from: Day) -> Result<BTreeSet<Day>, DbErr> {
    super::days_with_figures(snapshot, from..Day::MAX).await
}

/// Finds the newest day before `today` that has deploys and no figures, and the days without deploys and figures up to
/// the next day with figures, if they are few.
async fn missing(snapshot: &Snapshot, today: Day) -> Result<Option<(Option<Day>, Vec<Day>)>, DbErr> {
    let from = today - DAYS;
    let with_figures = with_figures(snapshot, from).await?;
    let mut end = today;
    for day in with_figures.iter().rev().copied().filter(|day| *day < today).chain([from - 1]) {
        if day + 1 < end {
            let newest = newest(snapshot, day + 1, end).await?;
            let empty = newest.unwrap_or(day) + 1..end;
            // The days before the first deploy are no series between others.
            let is_short = empty.end - empty.start <= EMPTY;
            let empty = Vec::from_iter(is_short.then_some(empty).into_iter().flatten());
            if newest.is_some() || !empty.is_empty() {
                return Ok(Some((newest, empty)));
            }
        }
        end = day;
    }
    Ok(None)
}

/// Returns the day of the last deploy from the start of a day to the start of another.
async fn newest(snapshot: &Snapshot, from: Day, until: Day) -> Result<Option<Day>, DbErr> {
    let query = Query::select()
        .column(Column::DeployedAt)
        .from(deploy::Entity)
        .and_where(Column::DeployedAt.gte(start_of(from)))
        .and_where(Column::DeployedAt.lt(start_of(until)))
        .order_by(Column::DeployedAt, Order::Desc)
        .limit(1)
        .take();
    Ok(snapshot.rows(&query, |row| row.get(0)).await?.pop().map(time).map(day_of))
}

/// The figures of a day, by the name of the environment.
#[derive(Default)]
struct Figures {
    all: OfEnvironment,
    by_environment: BTreeMap<String, OfEnvironment>,
}

/// The figures of a day and an environment.
#[derive(Default)]
struct OfEnvironment {
    failures: i64,
    deploys: i64,
    successes: i64,
    lead_times: Vec<u64>,
    /// Numbers of [`durations::recovery`].
    recovery_times: Vec<u64>,
}

impl Figures {
    /// Applies a change to the figures of all deploys and to those of the environment.
    fn each(&mut self, environment_key: Option<&str>, change: impl Fn(&mut OfEnvironment)) {
        change(&mut self.all);
        change(self.by_environment.entry(name(environment_key)).or_default());
    }

    async fn write<C: ConnectionTrait>(self, db: &C, day: Day) -> Result<(), DbErr> {
        // A row at a time: a day can have many bytes, and there are few environments.
        for (environment, figures) in self.by_environment.into_iter().chain([(ALL.to_owned(), self.all)]) {
            let OfEnvironment { failures, deploys, successes, mut lead_times, mut recovery_times } = figures;
            let mut insert = Query::insert();
            insert.into_table(FIGURES).columns([
                "environment",
                "day",
                "failures",
                "deploys",
                "successes",
                "lead_times",
                "recovery_times",
            ]);
            insert.values_panic([
                environment.into(),
                day.into(),
                failures.into(),
                deploys.into(),
                successes.into(),
                durations::write(&mut lead_times)?.into(),
                durations::write(&mut recovery_times)?.into(),
            ]);
            db.execute(&insert).await?;
        }
        Ok(())
    }
}

/// A deploy of the day.
struct Deploy {
    at: Timestamp,
    id: i64,
    environment_key: Option<String>,
    has_failed: bool,
    has_succeeded: bool,
    /// Whether it failed, succeeded, or was sent without a status.
    counts: bool,
    committed_at: Option<Timestamp>,
}

/// Computes the figures of a day.
async fn figures(snapshot: &Snapshot, day: Day) -> Result<Figures, DbErr> {
    let mut figures = Figures::default();
    let mut after = (Timestamp::from_micros(start_of(day)), i64::MIN);
    loop {
        let page = snapshot.rows(&page(day, after), read).await?;
        let Some(last) = page.last() else { return Ok(figures) };
        let last = (last.at, last.id);
        for Deploy { at, environment_key, has_failed, has_succeeded, committed_at, .. } in
            page.iter().filter(|deploy| deploy.counts)
        {
            let lead_time = committed_at.map(|commit| at.as_micros() - commit.as_micros()).filter(|time| *time >= 0);
            figures.each(environment_key.as_deref(), |figures| match has_failed {
                true => figures.failures += 1,
                false => {
                    figures.deploys += 1;
                    figures.successes += i64::from(*has_succeeded);
                    figures.lead_times.extend(lead_time.map(seconds));
                }
            });
        }
        for is_named in [true, false] {
            let success = |column| Expr::col((SUCCESS, column));
            let successes =
                within(recoveries(is_named), success, day, after).and_where(place(success).lte(values(last))).take();
            let read = |row: &Row<'_>| Ok((row.get(0)?, time(row.get(1)?), time(row.get(2)?)));
            for (environment_key, failed, recovered) in
                snapshot.rows::<(Option<String>, Timestamp, Timestamp), _>(&successes, read).await?
            {
                let days = u64::try_from(day - day_of(failed)).unwrap_or_default();
                let recovery = durations::recovery(seconds(recovered.as_micros() - failed.as_micros()), days);
                figures.each(environment_key.as_deref(), |figures| figures.recovery_times.push(recovery));
            }
        }
        after = last;
    }
}

/// Selects the next deploys of a day after a place in the order of time, for [`read`].
fn page(day: Day, after: (Timestamp, i64)) -> SelectStatement {
    let own = |column: Column| Expr::col((deploy::Entity, column));
    let status = |status| Expr::case(own(Column::DeployStatus).eq(is(status)), 1).finally(0);
    let mut page = Query::select();
    page.columns([Column::DeployedAt, Column::Id, Column::EnvironmentKey])
        .expr(status(Status::Failed))
        .expr(status(Status::Succeeded))
        .expr(Expr::case(own(Column::Status).is_null(), 1).finally(0))
        .expr(Func::coalesce([own(Column::CommitAuthoringDate), own(Column::CommittedAt)]))
        .from(deploy::Entity)
        .and_where(own(Column::ServiceId).is_not_null())
        .order_by(Column::DeployedAt, Order::Asc)
        .order_by(Column::Id, Order::Asc)
        .limit(PAGE);
    within(page, own, day, after)
}

fn read(row: &Row<'_>) -> Result<Deploy, DbErr> {
    let holds = |place| row.get::<i32>(place).map(|number| number != 0);
    let (has_failed, has_succeeded, has_no_status) = (holds(3)?, holds(4)?, holds(5)?);
    Ok(Deploy {
        at: time(row.get(0)?),
        id: row.get(1)?,
        environment_key: row.get(2)?,
        has_failed,
        has_succeeded,
        counts: has_failed || has_succeeded || has_no_status,
        committed_at: row.get::<Option<i64>>(6)?.map(time),
    })
}

/// Limits deploys to those of a day after a place in the order of time.
fn within(
    mut deploys: SelectStatement,
    own: impl Fn(Column) -> Expr,
    day: Day,
    after: (Timestamp, i64),
) -> SelectStatement {
    deploys
        .and_where(place(&own).gt(values(after)))
        // Implied, but an index needs it as its start.
        .and_where(own(Column::DeployedAt).gte(after.0))
        .and_where(own(Column::DeployedAt).lt(start_of(day + 1)))
        .take()
}

fn place(own: impl Fn(Column) -> Expr) -> Expr {
    Expr::tuple([own(Column::DeployedAt), own(Column::Id)])
}

fn values((at, id): (Timestamp, i64)) -> Expr {
    Expr::tuple([Expr::value(at), Expr::value(id)])
}
