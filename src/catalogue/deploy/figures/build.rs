//! Gives periods their figures, and takes stale figures away.
//!
//! Every server does this each minute. Only one of them succeeds at a time: whoever finds another version of the
//! figures when it writes than it has read has come second, and does nothing. Reading takes no lock, and only a few
//! periods are written in one transaction.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use futures_util::future::BoxFuture;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait, Order, Query};
use tokio::time::sleep;
use tracing::warn;

use super::super::recoveries::next_success;
use super::period::{Figures, FiguresLimits};
use super::stale::{change, periods_with};
use super::{ALL, CHANGE, CHANGES, FIGURES, MANY, PERIOD, Period, VERSION, period_of, start_of, time};
use crate::db::{self, Backend, Db, Read, ReadHandle, Write, WriteHandle};
use crate::deploy::days::DAY;
use crate::entity::Timestamp;
use crate::entity::deploy::{self, Column};
use crate::retention::PAUSE;

/// The approximate interval between runs.
const INTERVAL: Duration = Duration::from_secs(60);
/// How many periods of the past have figures: those of ten years. Bounds what a run looks at, whatever dates deploys have.
pub const PERIODS: Period = 3_653 * DAY / PERIOD;
/// The longest series of periods without deploys that get figures, all 0, so that there are few gaps between periods with
/// figures: those of 31 days. A longer one costs less than its periods.
const EMPTY: Period = 31 * DAY / PERIOD;
/// How many periods get figures in one transaction, if they have few deploys.
const PERIODS_AT_ONCE: usize = 64;
/// How many deploys these can have. One period can have more.
const DEPLOYS_AT_ONCE: i64 = 5_000;
/// How many periods can lose their figures in one transaction, so that other writers do not wait long for it.
const STALE: usize = 100;

/// Keeps the figures up to date. Runs until dropped, which is safe at any await.
pub fn run(db: Db) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        loop {
            if let Err(error) = update(&db, Timestamp::now()).await {
                warn!(%error, "the figures of deploys are not up to date; metrics read the deploys until the next run");
            }
            // Jitter, so that processes started together drift apart.
            sleep(INTERVAL.mul_f64(0.9 + 0.2 * fastrand::f64())).await;
        }
    })
}

/// Brings the figures up to date with all deploys of periods before that of `now`, the newest first. Returns how many
/// periods have got figures. Ends early if another process does the same.
pub fn update(db: &Db, now: Timestamp) -> BoxFuture<'_, Result<u64, db::Error>> {
    Box::pin(async move { update_within(db, now, &FiguresLimits::default()).await })
}

/// Does the same as [`update`] with other limits of a period.
pub async fn update_within(db: &Db, now: Timestamp, limits: &FiguresLimits) -> Result<u64, db::Error> {
    let mut built = 0;
    // Only falls, so that a run ends: somebody may write to a period all the time.
    let mut end = period_of(now);
    loop {
        let is_rest = match forget(db).await? {
            Forgotten::All => true,
            Forgotten::Some => false,
            Forgotten::ByAnother => return Ok(built),
        };
        // New posts leave changes all the time, so this does not wait until there are none.
        if is_rest {
            match build(db, period_of(now) - PERIODS..end, limits).await? {
                None => return Ok(built),
                Some(Built { number, first }) => (built, end) = (built + number, first),
            }
        }
        sleep(PAUSE / 10).await;
    }
}

/// Removes all figures and changes. For an import, which replaces all deploys in the transaction `db`.
pub async fn forget_all(db: &dyn WriteHandle) -> Result<(), db::Error> {
    db.execute::<super::Tables>(&raise_version()).await?;
    for table in [FIGURES, CHANGE] {
        db.execute::<super::Tables>(Query::delete().from_table(table)).await?;
    }
    Ok(())
}

/// What a step of [`forget`] has done.
enum Forgotten {
    /// It has removed all changes that it saw.
    All,
    /// It has removed some changes.
    Some,
    /// Another process came first.
    ByAnother,
}

/// What a step of [`build`] has done.
struct Built {
    /// How many periods have got figures.
    number: u64,
    /// The first of these periods.
    first: Period,
}

/// Removes the figures that changes concern, and these changes.
async fn forget(db: &Db) -> Result<Forgotten, db::Error> {
    let snapshot = db.begin_read(None).await?;
    let version = version(&snapshot).await?;
    let last = Query::select().expr(Expr::col("period").max()).from(FIGURES).take();
    let last = snapshot.rows(&last, |row| row.get::<Option<Period>>(0)).await?.pop().flatten();
    // A change after the last period with figures concerns none.
    let last = last.map_or(i64::MIN, |last| start_of(last + 1));
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
    if changes.is_empty() {
        return Ok(Forgotten::All);
    }
    let with_figures = with_figures(&snapshot, Period::MIN..Period::MAX).await?;
    drop(snapshot);
    let is_page = changes.len() as u64 == CHANGES;
    let (mut numbers, mut stale, seen) = (Vec::with_capacity(changes.len()), BTreeSet::new(), changes.len());
    for (number, periods) in changes {
        if stale.len() >= STALE {
            break;
        }
        numbers.push(number);
        stale.extend(periods.into_iter().flatten().filter(|period| with_figures.contains(period)));
    }
    let is_some = is_page || numbers.len() < seen;
    let stale = Vec::from_iter(stale);
    let written = write(db, version, async |tx| {
        let backend = tx.backend();
        let stale = db::is_any(backend, Expr::col("period"), &stale);
        tx.execute::<super::Tables>(Query::delete().from_table(FIGURES).and_where(stale)).await?;
        let numbers = db::is_any(backend, Expr::col("number"), &numbers);
        tx.execute::<super::Tables>(Query::delete().from_table(CHANGE).and_where(numbers)).await?;
        Ok(())
    });
    Ok(match (written.await?, is_some) {
        (false, _) => Forgotten::ByAnother,
        (true, true) => Forgotten::Some,
        (true, false) => Forgotten::All,
    })
}

/// Gives figures to the newest of these periods that have deploys and no figures, and to the periods without deploys
/// between and after them. `None` if there is none, or if another process came first.
async fn build(db: &Db, among: Range<Period>, limits: &FiguresLimits) -> Result<Option<Built>, db::Error> {
    let snapshot = db.begin_read(None).await?;
    let version = version(&snapshot).await?;
    let with_figures = with_figures(&snapshot, among.clone()).await?;
    let (mut periods, mut deploys, mut end) = (BTreeMap::new(), 0, among.end);
    while periods.len() < PERIODS_AT_ONCE && deploys < DEPLOYS_AT_ONCE {
        let Some((period, empty)) = missing(&snapshot, &with_figures, among.start..end).await? else { break };
        end = period.unwrap_or(empty.start);
        periods.extend(empty.map(|period| (period, Some(Figures::default()))));
        if let Some(period) = period {
            let figures = Figures::compute(&snapshot, period, limits).await?;
            // A period with too many deploys has cost as much as the limit allows.
            deploys += figures.as_ref().map_or(DEPLOYS_AT_ONCE, Figures::deploys);
            periods.insert(period, figures);
        }
    }
    drop(snapshot);
    if periods.is_empty() {
        return Ok(None);
    }
    let built = Built { number: periods.len() as u64, first: end };
    let written = write(db, version, async |tx| {
        for (period, figures) in periods {
            Figures::write(figures, tx, period, limits).await?;
        }
        Ok(())
    });
    Ok(written.await?.then_some(built))
}

/// Writes, unless the figures have another version by now. Returns whether it has.
async fn write(
    db: &Db,
    version: i64,
    work: impl AsyncFnOnce(&crate::db::Transaction) -> Result<(), db::Error>,
) -> Result<bool, db::Error> {
    let written = db.write::<_, db::Error>(async |tx| {
        // On PostgreSQL the second of two waits here for the first, and nobody else does.
        let raised = tx.execute::<super::Tables>(raise_version().and_where(Expr::col("version").eq(version))).await?;
        if raised == 0 {
            return Ok(false);
        }
        work(tx).await?;
        Ok(true)
    });
    written.await
}

fn raise_version() -> sea_orm::sea_query::UpdateStatement {
    Query::update().table(VERSION).value("version", Expr::col("version").add(1)).take()
}

async fn version(snapshot: &dyn ReadHandle) -> Result<i64, db::Error> {
    let query = Query::select().column("version").from(VERSION).take();
    let version = snapshot.rows(&query, |row| row.get(0)).await?.pop();
    version.ok_or_else(|| db::Error::fault("the version of the figures of deploys"))
}

/// Returns the periods with figures, stale ones and those above a limit included.
async fn with_figures(snapshot: &dyn ReadHandle, periods: Range<Period>) -> Result<BTreeSet<Period>, db::Error> {
    periods_with(snapshot, &[ALL, MANY], periods).await
}

/// Finds the newest of these periods that has deploys and no figures, and the periods without deploys and figures up to the
/// next period with figures, if they are few.
async fn missing(
    snapshot: &dyn ReadHandle,
    with_figures: &BTreeSet<Period>,
    among: Range<Period>,
) -> Result<Option<(Option<Period>, Range<Period>)>, db::Error> {
    let mut end = among.end;
    for period in with_figures.range(among.clone()).rev().copied().chain([among.start - 1]) {
        if period + 1 < end {
            let newest = newest(snapshot, period + 1, end).await?;
            let mut empty = newest.unwrap_or(period) + 1..end;
            // The periods before the first deploy are no series between others.
            if empty.end - empty.start > EMPTY {
                empty = end..end;
            }
            if newest.is_some() || !empty.is_empty() {
                return Ok(Some((newest, empty)));
            }
        }
        end = period;
    }
    Ok(None)
}

/// Returns the period of the last deploy from the start of a period to the start of another.
async fn newest(snapshot: &dyn ReadHandle, from: Period, until: Period) -> Result<Option<Period>, db::Error> {
    let query = Query::select()
        .column(Column::DeployedAt)
        .from(deploy::Entity)
        .and_where(Column::DeployedAt.gte(start_of(from)))
        .and_where(Column::DeployedAt.lt(start_of(until)))
        .order_by(Column::DeployedAt, Order::Desc)
        .limit(1)
        .take();
    Ok(snapshot.rows(&query, |row| row.get(0)).await?.pop().map(time).map(period_of))
}
