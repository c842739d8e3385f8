//! The figures of whole periods of three hours, from which the account's metrics are summed: reading a year of them is far
//! quicker than reading its deploys.
//!
//! A period that is over has figures for all deploys and for each environment: the counts, the lead times, and the
//! recovery times of failures that were *recovered* in it. A recovery belongs to the period of its success, because a
//! period that is over then changes only if somebody writes to the past. Were it kept with the failure, most successes
//! would change an older period.
//!
//! A request reads the figures of the whole periods in its window, and the deploys at its two ends. Shorter periods mean
//! fewer deploys and more figures: with 13,700 deploys a day, figures of days took 71 ms for a year, because a window
//! ends with up to a day of deploys. Several windows are read together: the figures and the deploys that they share once, and
//! each is counted from these ([`together`]).
//!
//! **No answer contains stale figures.** Whatever changes a deploy also leaves a row in `deploy_change`, in the same
//! transaction, because a trigger does it. In a snapshot, a period's figures are used only if no change in the snapshot
//! concerns the period ([`without_changed`]). A change of a deploy concerns its own period and that of the next success of
//! its service and environment, as the snapshot has it.
//!
//! This is enough even if two writers do not see each other's deploys. Take a success S in a period with figures that
//! recovers other failures in the snapshot than the figures counted. Then, between those failures and S, a failure or a
//! success of the same service and environment was added or removed. The last of these in time left a change. S is the
//! next success after it in the snapshot, so the change concerns the period of S, and its figures are not used.
//!
//! [`build`] computes figures and removes changes. It works on a snapshot too, and writes only if nobody else has
//! changed figures since ([`VERSION`]). So of the changes it removes only those whose periods have lost their
//! figures, and those who write deploys never wait for it, nor for each other.
//!
//! Three shorter forms give up something. Reading the deploys takes 1.5 s of processor time for a year of a million.
//! Sums or histograms of a period cannot tell a median exactly: it needs every duration, which is why [`durations`] packs
//! them. Counting in the transaction of a deploy needs no triggers and no changes, but a deploy of the past then changes
//! periods that others count at that moment: writers would wait for each other.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait, Query};

pub use self::count::AT_ONCE;
use self::count::{Beside, Inside, Usable};
use self::stale::{periods_with_figures, without_changed};
use self::together::Together;
use super::metrics::{self, Metrics, Wanted, Whose, Window};
use super::recoveries::{FAILURE, SUCCESS, recoveries_of_earlier};
use crate::db::{self, Read, ReadHandle};
use crate::entity::Timestamp;
use crate::entity::deploy::{self, Column, Environments};

pub mod build;
mod count;
pub mod durations;
pub mod period;
mod stale;
mod together;

/// The maximum number of deploys that are read beside the figures: those of periods without figures. If there are more,
/// the database computes the metrics from all deploys.
pub const ROWS: i64 = 50_000;
/// The maximum number of changes that are taken into account. If there are more, no figures are used.
pub const CHANGES: u64 = 10_000;
/// The maximum number of changes that there may be, with those of new deploys, which concern no figures but are read as well.
/// If there are more, because nobody has removed them for long, no figures are used.
pub const SEEN: u64 = 100_000;

/// How many bytes of recovery times a request keeps: those of about two million failures. If there are more, they are read
/// again.
pub const KEPT: usize = 4 << 20;

/// The tables of figures and of changes.
struct Tables;

impl crate::db::Unrecorded for Tables {}

const FIGURES: &str = "deploy_period_figures";
const CHANGE: &str = "deploy_change";
const VERSION: &str = "deploy_period_figures_version";
/// The environment of the figures of all deploys.
const ALL: &str = "*";
/// The environment of a row that says that the period is above a limit: it has no figures of environments, and perhaps
/// none of all deploys either.
const MANY: &str = "!";

/// The length of a period in microseconds. A day (UTC) is a whole number of periods.
pub const PERIOD: i64 = 3 * 3_600 * 1_000_000;

/// A period, as the number of periods since 1970.
type Period = i64;

/// A span of time in microseconds.
type Span = Range<i64>;

/// Returns the period of a time.
fn period_of(time: Timestamp) -> Period {
    time.as_micros().div_euclid(PERIOD)
}

/// Returns the start of a period.
fn start_of(period: Period) -> i64 {
    period.saturating_mul(PERIOD)
}

/// The name of an environment in the table of figures.
fn name(environment_key: Option<&str>) -> String {
    environment_key.map(|key| format!("={key}")).unwrap_or_default()
}

/// Returns the metrics of all services together. Durations that are not wanted are `None`.
pub async fn measure(db: &dyn ReadHandle, window: &Window, wanted: Wanted) -> Result<Metrics, db::Error> {
    measure_keeping(db, window, wanted, KEPT).await
}

/// Does the same as [`measure`], and keeps up to so many bytes of recovery times instead of [`KEPT`].
pub async fn measure_keeping(
    db: &dyn ReadHandle,
    window: &Window,
    wanted: Wanted,
    kept: usize,
) -> Result<Metrics, db::Error> {
    let Window { start, end, environments } = window;
    Ok(measure_each(db, &[*start..*end], environments, wanted, kept).await?.remove(0))
}

/// Does the same for several windows, and reads once what they share.
pub async fn measure_each(
    db: &dyn ReadHandle,
    windows: &[Range<Timestamp>],
    environments: &Environments,
    wanted: Wanted,
    kept: usize,
) -> Result<Vec<Metrics>, db::Error> {
    let shared = Shared::read(db, windows, environments, wanted).await?;
    if let Some(shared) = &shared
        && let Some(measured) = shared.sum_together(db, windows, environments, wanted, kept).await?
    {
        return Ok(measured);
    }
    let mut measured = Vec::with_capacity(windows.len());
    for window in windows {
        let window = Window { start: window.start, end: window.end, environments: environments.clone() };
        let summed = match &shared {
            Some(shared) => shared.sum(db, &window, wanted, kept).await?,
            None => None,
        };
        measured.push(match summed {
            Some(metrics) => metrics,
            None => metrics::measure(db, Whose::All, &window, wanted).await?.remove(&0).unwrap_or_default(),
        });
    }
    Ok(measured)
}

/// The whole periods of a window.
fn whole_periods(window: &Range<Timestamp>) -> Range<Period> {
    (window.start.as_micros() + PERIOD - 1).div_euclid(PERIOD)..period_of(window.end)
}

/// What is read once for several windows.
struct Shared {
    /// The periods with figures that are not stale, in the windows and, if recovery times are wanted, after them.
    with_figures: Arc<BTreeSet<Period>>,
    /// The failures in the windows that were recovered in periods without figures: when they failed, and when they were
    /// recovered.
    recoveries: Vec<(Timestamp, Timestamp)>,
}

impl Shared {
    /// `None` if there are no figures, or too many deploys beside them.
    async fn read(
        db: &dyn ReadHandle,
        windows: &[Range<Timestamp>],
        environments: &Environments,
        wanted: Wanted,
    ) -> Result<Option<Self>, db::Error> {
        let periods = windows.iter().map(whole_periods).filter(|periods| !periods.is_empty());
        let periods = periods.reduce(|all, some| Ord::min(all.start, some.start)..Ord::max(all.end, some.end));
        let Some(periods) = periods else { return Ok(None) };
        // A failure can be recovered after the window.
        let until = if wanted.recovery_time { Period::MAX } else { periods.end };
        let with_figures = periods_with_figures(db, environments, periods.start..until).await?;
        let Some(with_figures) = without_changed(db, with_figures).await? else { return Ok(None) };
        let Some(first) = with_figures.first().copied() else { return Ok(None) };

        let mut recoveries = Vec::new();
        if wanted.recovery_time {
            let later = gaps(start_of(first)..i64::MAX, &with_figures);
            if are_more(db, later.iter()).await? {
                return Ok(None);
            }
            let failures = start_of(first)..start_of(periods.end);
            for gap in &later {
                let mut some = self::recoveries(db, gap, failures.clone(), environments).await?;
                if some.len() as i64 > ROWS {
                    return Ok(None);
                }
                recoveries.append(&mut some);
            }
        }
        Ok(Some(Self { with_figures: Arc::new(with_figures), recoveries }))
    }

    /// Sums the figures of the periods in each window, and reads once what the windows share. `None` for a single window, if
    /// there are no figures in any, or if all of it together is too much: then each is summed by itself.
    ///
    /// This is exact, because each window takes the figures and the deploys that it would read by itself. A period with
    /// figures which a window does not contain whole is a gap of that window, so its deploys are read for the window,
    /// although its figures may be read for another one.
    async fn sum_together(
        &self,
        db: &dyn ReadHandle,
        windows: &[Range<Timestamp>],
        environments: &Environments,
        wanted: Wanted,
        kept: usize,
    ) -> Result<Option<Vec<Metrics>>, db::Error> {
        if windows.len() < 2 {
            return Ok(None);
        }
        // What a window consists of is not held: there can be any number of windows.
        let (mut inside, mut gaps, mut one_by_one) = (BTreeSet::<Period>::new(), Vec::<Span>::new(), 0);
        for window in windows {
            let mut parts = self.parts(window);
            one_by_one += parts.periods();
            inside.extend(parts.inside);
            gaps.append(&mut parts.gaps);
            gaps = joined(gaps);
        }
        let (Some(first), Some(last)) = (inside.first().copied(), inside.last().copied()) else { return Ok(None) };
        let periods = first..last + 1;
        // Windows far from each other have more periods between them. Recovery times are read of all later periods anyway.
        if !wanted.recovery_time && periods.end - periods.start > one_by_one {
            return Ok(None);
        }
        if are_more(db, gaps.iter()).await? {
            return Ok(None);
        }
        let mut deploys = Vec::new();
        for gap in &gaps {
            let some = Window { start: time(gap.start), end: time(gap.end), environments: environments.clone() };
            deploys.append(&mut metrics::each(db, &some, wanted).await?);
        }
        let inside: Vec<Period> = inside.into_iter().collect();
        let usable = Usable { with_figures: Arc::clone(&self.with_figures), inside: Inside::new(first, &inside), kept };
        let periods = first..if wanted.recovery_time { Period::MAX } else { periods.end };
        let Some(read) = Together::read(db, environments, periods, usable, wanted).await? else { return Ok(None) };
        let mut measured = Vec::with_capacity(windows.len());
        for window in windows {
            db.pause().await?;
            let parts = self.parts(window);
            let mut beside = self.beside(&parts);
            beside.add_rows(deploys.iter().filter(|(at, _)| parts.is_in_gap(*at)).map(|(_, deploy)| *deploy));
            let inside = Inside::new(parts.inside.first().copied().unwrap_or(first), &parts.inside);
            measured.push(read.sum(&inside, &beside, wanted)?);
        }
        Ok(Some(measured))
    }

    /// Sums the figures of the periods in the window, and reads its other deploys. `None` if there are no figures, or too
    /// many other deploys.
    async fn sum(
        &self,
        db: &dyn ReadHandle,
        window: &Window,
        wanted: Wanted,
        kept: usize,
    ) -> Result<Option<Metrics>, db::Error> {
        let parts = self.parts(&(window.start..window.end));
        let (Some(first), Some(last)) = (parts.inside.first(), parts.inside.last()) else { return Ok(None) };
        if are_more(db, parts.gaps.iter()).await? {
            return Ok(None);
        }
        let mut beside = self.beside(&parts);
        for gap in &parts.gaps {
            let some = Window { start: time(gap.start), end: time(gap.end), environments: window.environments.clone() };
            beside.add_rows(metrics::each(db, &some, wanted).await?.into_iter().map(|(_, deploy)| deploy));
        }
        let periods = *first..if wanted.recovery_time { Period::MAX } else { *last + 1 };
        let with_figures = Arc::clone(&self.with_figures);
        let usable = Usable { with_figures, inside: Inside::new(*first, &parts.inside), kept };
        count::sum(db, &window.environments, periods, usable, beside, wanted).await.map(Some)
    }

    /// Says what of a window is read from figures.
    fn parts(&self, window: &Range<Timestamp>) -> Parts {
        let periods = whole_periods(window);
        // A window within a period has none.
        let periods = periods.start..Ord::max(periods.start, periods.end);
        let inside: Vec<Period> = self.with_figures.range(periods).copied().collect();
        let gaps = gaps(window.start.as_micros()..window.end.as_micros(), &inside);
        Parts { inside, gaps }
    }

    /// The recoveries of a window that are in no figures, though their failures are.
    fn beside(&self, parts: &Parts) -> Beside {
        let mut beside = Beside::default();
        for (failed, recovered) in &self.recoveries {
            if parts.inside.binary_search(&period_of(*failed)).is_ok() {
                beside.recovery_times.push(seconds(recovered.as_micros() - failed.as_micros()));
            }
        }
        beside
    }
}

/// What a window consists of.
struct Parts {
    /// Its whole periods with figures, in order.
    inside: Vec<Period>,
    /// The spans between them, in order. Their deploys are read.
    gaps: Vec<Span>,
}

impl Parts {
    /// The number of periods from the first with figures to the last.
    fn periods(&self) -> Period {
        self.inside.first().zip(self.inside.last()).map_or(0, |(first, last)| last - first + 1)
    }

    /// Whether a deploy of this time is read for the window.
    fn is_in_gap(&self, at: Timestamp) -> bool {
        let at = at.as_micros();
        let place = self.gaps.partition_point(|gap| gap.end <= at);
        self.gaps.get(place).is_some_and(|gap| gap.start <= at)
    }
}

/// Joins spans that overlap, or follow each other, so that nothing is read twice.
fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable_by_key(|span| span.start);
    let mut joined: Vec<Span> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.start <= last.end => last.end = Ord::max(last.end, span.end),
            _ => joined.push(span),
        }
    }
    joined
}

fn time(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

/// Converts a duration from microseconds.
fn seconds(micros: i64) -> u64 {
    u64::try_from(micros / 1_000_000).unwrap_or_default()
}

/// Returns the parts of a span of time, in microseconds, that lie in none of these periods.
fn gaps<'d>(span: Range<i64>, periods: impl IntoIterator<Item = &'d Period>) -> Vec<Span> {
    let (mut gaps, mut start) = (Vec::new(), span.start);
    for period in periods {
        if start < start_of(*period) {
            gaps.push(start..start_of(*period));
        }
        start = start_of(*period + 1);
    }
    if start < span.end {
        gaps.push(start..span.end);
    }
    gaps
}

/// Returns whether these spans have more than [`ROWS`] deploys, and looks at no more than these.
async fn are_more(db: &dyn ReadHandle, spans: impl Iterator<Item = &Span>) -> Result<bool, db::Error> {
    let mut left = ROWS;
    for span in spans {
        let some = Query::select()
            .column(Column::Id)
            .from(deploy::Entity)
            .and_where(Column::DeployedAt.gte(span.start))
            .and_where(Column::DeployedAt.lt(span.end))
            .limit(left.unsigned_abs() + 1)
            .take();
        left -= db.count_rows(some).await?.cast_signed();
        if left < 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the times of the failures in a span that successes in another span recovered, and of these successes. Only of
/// failures before the latter span. Reads little more than [`ROWS`] of them.
async fn recoveries(
    db: &dyn ReadHandle,
    successes: &Span,
    failures: Span,
    environments: &Environments,
) -> Result<Vec<(Timestamp, Timestamp)>, db::Error> {
    let mut recoveries = Vec::new();
    for is_named in [true, false] {
        let success = |column: Column| Expr::col((SUCCESS, column));
        let failed_at = || Expr::col((FAILURE, Column::DeployedAt));
        let mut query = recoveries_of_earlier(is_named, time(successes.start));
        query
            .and_where(success(Column::DeployedAt).lt(successes.end))
            .and_where(failed_at().gte(failures.start))
            .and_where(failed_at().lt(failures.end))
            .limit(ROWS.unsigned_abs() + 1);
        if let Some(condition) = environments.condition(success(Column::EnvironmentKey)) {
            query.and_where(condition);
        }
        recoveries.append(&mut db.rows(&query, |row| Ok((time(row.get(2)?), time(row.get(3)?)))).await?);
    }
    Ok(recoveries)
}
