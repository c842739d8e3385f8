//! Sums the figures of periods, and what is read beside them. Each row of figures is counted when it arrives. Percentiles of
//! durations take a round or two, so their bytes are kept if they are few; otherwise they are read again.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use sea_orm::sea_query::{Expr, ExprTrait, Query, SelectStatement};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::durations::{self, Ended, PERIOD_SECONDS, Round, Search};
use super::{ALL, FIGURES, Period, name, seconds};
use crate::db::{self, Read, ReadHandle, Row};
use crate::deploy::metrics::{self, Metrics, Wanted};
use crate::entity::deploy::Environments;

/// Which figures can be used, and how many of them are kept.
pub struct Usable {
    /// The periods with figures that are not stale. After the window too: a failure in it can be recovered later.
    pub with_figures: Arc<BTreeSet<Period>>,
    /// Those of them in the window.
    pub inside: Inside,
    /// How many bytes of recovery times are kept.
    pub kept: usize,
}

/// How many bytes of lead times are kept, and no more than of recovery times: those of about 300,000 deploys.
pub const KEPT_LEAD_TIMES: usize = 1 << 20;

/// The number of requests that sum figures at the same time. Each holds up to 7 MiB.
pub const AT_ONCE: usize = 2;

static PLACES: Semaphore = Semaphore::const_new(AT_ONCE);

/// Waits until figures can be summed. No more than [`AT_ONCE`] have a place.
pub async fn place() -> Result<SemaphorePermit<'static>, db::Error> {
    PLACES.acquire().await.map_err(|closed| db::Error::fault(closed.to_string()))
}

/// Sums the figures of these periods, as far as they are usable, and what was read beside them.
pub async fn sum(
    db: &dyn ReadHandle,
    environments: &Environments,
    periods: Range<Period>,
    usable: Usable,
    beside: Beside,
    wanted: Wanted,
) -> Result<Metrics, db::Error> {
    let _place = place().await?;
    let mut left = Left {
        lead_times: wanted.lead_time.then(Search::of_short),
        recovery_times: wanted.recovery_time.then(Search::of_long),
    };
    let (usable, mut metrics) = (Arc::new(usable), None);
    loop {
        let query = figures(db, environments, periods.clone(), left.wanted());
        let (shared, start) = (Arc::clone(&usable), left.clone());
        let add = move |rounds: &mut Rounds, row: &Row<'_>| rounds.add(row, &shared);
        let mut counted = db.fold(&query, move || start.rounds(), add).await?;
        counted.add_durations(&beside);
        let metrics = metrics.get_or_insert_with(|| counted.counts.sum(&beside.counts));
        left = counted.end(metrics, &beside, &usable.inside)?;
        if matches!(left, Left { lead_times: None, recovery_times: None }) {
            return Ok(metrics.clone());
        }
    }
}

/// The durations whose percentiles are not found yet.
#[derive(Clone, Default)]
struct Left {
    lead_times: Option<Search>,
    recovery_times: Option<Search>,
}

impl Left {
    fn wanted(&self) -> Wanted {
        Wanted { lead_time: self.lead_times.is_some(), recovery_time: self.recovery_times.is_some() }
    }

    fn rounds(&self) -> Rounds {
        Rounds {
            counts: Counts::default(),
            lead_times: self.lead_times.as_ref().map(Search::round),
            recovery_times: self.recovery_times.as_ref().map(Search::round),
            kept_lead_times: Kept::default(),
            kept_recovery_times: Kept::default(),
        }
    }
}

/// Selects the figures of these periods that have any, with the durations that are wanted: the period, the counts, the lead
/// times and the recovery times.
pub fn figures(
    db: &dyn ReadHandle,
    environments: &Environments,
    periods: Range<Period>,
    wanted: Wanted,
) -> SelectStatement {
    let mut names: Vec<String> = environments.keys().iter().map(|key| name(Some(key))).collect();
    names.extend(match names.is_empty() {
        true => Some(ALL.to_owned()),
        false => environments.contain(None).then(|| name(None)),
    });
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut query = Query::select();
    query.columns(["period", "failures", "deploys", "successes"]);
    query.columns(wanted.lead_time.then_some("lead_times"));
    query.columns(wanted.recovery_time.then_some("recovery_times"));
    query
        .from(FIGURES)
        .and_where(db::is_any_text(db.backend(), Expr::col("environment"), &names))
        .and_where(Expr::col("period").gte(periods.start))
        .and_where(Expr::col("period").lt(periods.end))
        .take()
}

/// The numbers of deploys.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    failures: i64,
    deploys: i64,
    successes: i64,
}

impl Counts {
    /// Adds those of a row of [`figures`].
    pub fn add_row(&mut self, row: &Row<'_>) -> Result<(), db::Error> {
        self.failures += row.get::<i64>(1)?;
        self.deploys += row.get::<i64>(2)?;
        self.successes += row.get::<i64>(3)?;
        Ok(())
    }

    pub fn add(&mut self, other: &Self) {
        self.failures += other.failures;
        self.deploys += other.deploys;
        self.successes += other.successes;
    }

    /// The metrics of both, without durations.
    pub fn sum(&self, other: &Self) -> Metrics {
        Metrics {
            failed: self.failures + other.failures,
            deploys: self.deploys + other.deploys,
            succeeded: self.successes + other.successes,
            ..Metrics::default()
        }
    }
}

/// What is read beside the figures.
#[derive(Default)]
pub struct Beside {
    pub counts: Counts,
    pub lead_times: Vec<u64>,
    /// In seconds.
    pub recovery_times: Vec<u64>,
}

impl Beside {
    /// Adds deploys of a period without figures.
    pub fn add_rows(&mut self, rows: impl IntoIterator<Item = metrics::Each>) {
        for metrics::Each { has_failed, is_explicit, duration } in rows {
            let duration = duration.map(seconds);
            match has_failed {
                true => {
                    self.counts.failures += 1;
                    self.recovery_times.extend(duration);
                }
                false => {
                    self.counts.deploys += 1;
                    self.counts.successes += i64::from(is_explicit);
                    self.lead_times.extend(duration);
                }
            }
        }
    }
}

/// The periods with figures in a window.
pub struct Inside {
    first: Period,
    /// For the first period and each of the next ones: how many periods up to this one are inside, without a gap.
    runs: Vec<u64>,
}

impl Inside {
    pub fn new(first: Period, periods: &[Period]) -> Self {
        let last = periods.last().copied().unwrap_or(first);
        let mut runs = vec![0; usize::try_from(last.saturating_sub(first) + 1).unwrap_or_default()];
        for period in periods {
            let place = (period - first) as usize;
            runs[place] = 1 + place.checked_sub(1).map_or(0, |before| runs[before]);
        }
        Self { first, runs }
    }

    /// Whether all of them follow a period.
    pub fn follows(&self, period: Period) -> bool {
        period < self.first
    }

    /// The run of a period; 0 outside.
    pub fn run(&self, period: Period) -> u64 {
        let place = usize::try_from(period.saturating_sub(self.first)).ok();
        place.and_then(|place| self.runs.get(place)).copied().unwrap_or_default()
    }
}

/// What is counted while figures are read.
struct Rounds {
    counts: Counts,
    lead_times: Option<Round>,
    recovery_times: Option<Round>,
    kept_lead_times: Kept,
    /// With the periods of the successes.
    kept_recovery_times: Kept,
}

/// Encoded durations of periods, unless they are too many.
struct Kept {
    rows: Option<Vec<(Period, Vec<u8>)>>,
    bytes: usize,
}

impl Default for Kept {
    fn default() -> Self {
        Self { rows: Some(Vec::new()), bytes: 0 }
    }
}

impl Kept {
    fn push(&mut self, period: Period, encoded: Vec<u8>, most: usize) {
        self.bytes += encoded.len();
        match &mut self.rows {
            Some(rows) if self.bytes <= most => rows.push((period, encoded)),
            rows => *rows = None,
        }
    }

    /// Ends a round. If the durations are kept, further rounds add them and those `beside`, until the percentiles are found.
    fn end(
        &self,
        mut round: Round,
        beside: &[u64],
        add: impl Fn(&mut Round, Period, &[u8]) -> Result<(), db::Error>,
    ) -> Result<Ended, db::Error> {
        loop {
            let search = match (round.end()?, &self.rows) {
                (Ended::Again(search), Some(_)) => search,
                (ended, _) => return Ok(ended),
            };
            round = search.round();
            for (period, encoded) in self.rows.iter().flatten() {
                add(&mut round, *period, encoded)?;
            }
            beside.iter().for_each(|duration| round.add(*duration));
        }
    }
}

impl Rounds {
    /// Adds a row of [`figures`].
    fn add(&mut self, row: &Row<'_>, Usable { with_figures, inside, kept: most }: &Usable) -> Result<(), db::Error> {
        let period = row.get(0)?;
        if !with_figures.contains(&period) {
            return Ok(());
        }
        if inside.run(period) > 0 {
            self.counts.add_row(row)?;
            if let Some(round) = &mut self.lead_times {
                let encoded: Vec<u8> = row.get(4)?;
                add_lead_times(round, &encoded)?;
                self.kept_lead_times.push(period, encoded, Ord::min(KEPT_LEAD_TIMES, *most));
            }
        }
        if let Some(round) = &mut self.recovery_times {
            let encoded: Vec<u8> = row.get(4 + usize::from(self.lead_times.is_some()))?;
            add_recovery_times(round, period, &encoded, inside)?;
            self.kept_recovery_times.push(period, encoded, *most);
        }
        Ok(())
    }

    fn add_durations(&mut self, beside: &Beside) {
        for (round, durations) in
            [(&mut self.lead_times, &beside.lead_times), (&mut self.recovery_times, &beside.recovery_times)]
        {
            if let Some(round) = round {
                durations.iter().for_each(|duration| round.add(*duration));
            }
        }
    }

    /// Ends the rounds, and notes what they have found.
    fn end(self, found: &mut Metrics, beside: &Beside, inside: &Inside) -> Result<Left, db::Error> {
        let mut left = Left::default();
        if let Some(round) = self.lead_times {
            let add = |round: &mut Round, _, encoded: &[u8]| add_lead_times(round, encoded);
            match self.kept_lead_times.end(round, &beside.lead_times, add)? {
                Ended::Found(percentiles) => found.lead_time = percentiles,
                Ended::Again(search) => left.lead_times = Some(search),
            }
        }
        if let Some(round) = self.recovery_times {
            let add = |round: &mut Round, period, encoded: &[u8]| add_recovery_times(round, period, encoded, inside);
            match self.kept_recovery_times.end(round, &beside.recovery_times, add)? {
                Ended::Found(percentiles) => found.recovery_time = percentiles,
                Ended::Again(search) => left.recovery_times = Some(search),
            }
        }
        Ok(left)
    }
}

/// Adds the lead times of a period.
pub fn add_lead_times(round: &mut Round, encoded: &[u8]) -> Result<(), db::Error> {
    durations::read(encoded, |duration| round.add(duration))
}

/// Adds the recovery times of a period of successes, as far as the failures are inside.
pub fn add_recovery_times(
    round: &mut Round,
    recovered: Period,
    encoded: &[u8],
    inside: &Inside,
) -> Result<(), db::Error> {
    // Of most failures, a comparison shows that they are in the same run as their recovery.
    let within_run = durations::recovery(inside.run(recovered).saturating_sub(1) * PERIOD_SECONDS, 0);
    durations::read(encoded, |recovery| {
        let (duration, periods) = durations::duration_and_periods(recovery);
        if recovery < within_run || inside.run(recovered.saturating_sub_unsigned(periods)) > 0 {
            round.add(duration);
        }
    })
}
