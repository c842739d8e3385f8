//! Sums the figures of several windows from one read of them. All that any of the windows needs is held as it is stored, and
//! each window is counted from it. [`count`] reads the figures of one window, and holds less.
//!
//! This takes no more than one window of the same span: bytes of durations as [`count`] keeps them, few rows of counts, and
//! the round of one kind of duration at a time. Windows that need more are read one by one.

use std::ops::Range;

use tokio::sync::SemaphorePermit;

use super::Period;
use super::count::{self, Beside, Counts, Inside, KEPT_LEAD_TIMES, Usable};
use super::durations::{Ended, Round, Search};
use crate::db::{self, Read, ReadHandle, Row};
use crate::deploy::metrics::{Metrics, Percentiles, Wanted};
use crate::entity::deploy::Environments;

/// The maximum number of rows of which the counts are held, 32 bytes each: those of a year of an environment are 2,920.
const ROWS: usize = 1 << 13;

/// The figures that several windows need.
pub struct Together {
    held: Held,
    _place: SemaphorePermit<'static>,
}

#[derive(Default)]
struct Held {
    counts: Vec<(Period, Counts)>,
    /// As they are stored.
    lead_times: Vec<(Period, Vec<u8>)>,
    /// The same, with the periods of the successes.
    recovery_times: Vec<(Period, Vec<u8>)>,
    /// The bytes of durations.
    bytes: usize,
    /// Whether there is too much, so that nothing is held any more.
    is_full: bool,
}

impl Together {
    /// Reads the figures of these periods, as far as they are usable: the counts and lead times of those inside any window.
    /// `None` if they are too many.
    pub async fn read(
        db: &dyn ReadHandle,
        environments: &Environments,
        periods: Range<Period>,
        usable: Usable,
        wanted: Wanted,
    ) -> Result<Option<Self>, db::Error> {
        let place = count::place().await?;
        let query = count::figures(db, environments, periods, wanted);
        let add = move |held: &mut Held, row: &Row<'_>| held.add(row, &usable, wanted);
        let held = db.fold(&query, Held::default, add).await?;
        Ok(if held.is_full { None } else { Some(Self { held, _place: place }) })
    }

    /// Sums the figures of a window, and what was read beside them.
    pub fn sum(&self, inside: &Inside, beside: &Beside, wanted: Wanted) -> Result<Metrics, db::Error> {
        let Held { counts, lead_times, recovery_times, .. } = &self.held;
        let mut sum = Counts::default();
        for (period, some) in counts {
            if inside.run(*period) > 0 {
                sum.add(some);
            }
        }
        let mut metrics = sum.sum(&beside.counts);
        if wanted.lead_time {
            metrics.lead_time = percentiles(Search::of_short(), &beside.lead_times, |round| {
                for (period, encoded) in lead_times {
                    if inside.run(*period) > 0 {
                        count::add_lead_times(round, encoded)?;
                    }
                }
                Ok(())
            })?;
        }
        if wanted.recovery_time {
            metrics.recovery_time = percentiles(Search::of_long(), &beside.recovery_times, |round| {
                for (recovered, encoded) in recovery_times {
                    // A failure precedes its recovery.
                    if !inside.follows(*recovered) {
                        count::add_recovery_times(round, *recovered, encoded, inside)?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(metrics)
    }
}

impl Held {
    /// Adds a row of [`count::figures`].
    fn add(&mut self, row: &Row<'_>, usable: &Usable, wanted: Wanted) -> Result<(), db::Error> {
        let Usable { with_figures, inside, kept } = usable;
        let period: Period = row.get(0)?;
        if self.is_full || !with_figures.contains(&period) {
            return Ok(());
        }
        if inside.run(period) > 0 {
            let mut counts = Counts::default();
            counts.add_row(row)?;
            self.counts.push((period, counts));
            if wanted.lead_time {
                let encoded: Vec<u8> = row.get(4)?;
                self.bytes += encoded.len();
                self.lead_times.push((period, encoded));
            }
        }
        if wanted.recovery_time {
            let encoded: Vec<u8> = row.get(4 + usize::from(wanted.lead_time))?;
            self.bytes += encoded.len();
            self.recovery_times.push((period, encoded));
        }
        if self.bytes > kept + Ord::min(KEPT_LEAD_TIMES, *kept)
            || self.recovery_times.len().max(self.counts.len()) > ROWS
        {
            *self = Self { is_full: true, ..Self::default() };
        }
        Ok(())
    }
}

/// Finds the percentiles of durations: those that `add` adds to a round, as often as it is called, and those `beside`.
fn percentiles(
    search: Search,
    beside: &[u64],
    add: impl Fn(&mut Round) -> Result<(), db::Error>,
) -> Result<Option<Percentiles>, db::Error> {
    let mut search = search.unless_few();
    loop {
        let mut round = search.round();
        add(&mut round)?;
        beside.iter().for_each(|duration| round.add(*duration));
        search = match round.end()? {
            Ended::Found(percentiles) => return Ok(percentiles),
            Ended::Again(next) => next,
        };
    }
}
