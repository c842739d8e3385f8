//! The delivery of some services, or of all, week by week: DORA's metrics of 12 weeks, of each of these weeks, and of the
//! 12 weeks before.

use super::days::DAY;
use super::figures;
use super::metrics::{self, Metrics, Percentiles, Wanted, Whose, Window};
use crate::db::{self, ReadHandle};
use crate::entity::Timestamp;
use crate::entity::deploy::Environments;

/// The number of weeks.
pub const WEEKS: usize = 12;
/// The maximum number of deploys of some services that are read. If there are more, there are fewer weeks.
pub const READ: usize = 20_000;
/// The same of one service, whose page shows much else.
pub const READ_OF_ONE: usize = 2_000;
/// The same of a team, on other pages.
pub const GLANCED: usize = 5_000;

const WEEK: i64 = 7 * DAY;

/// The delivery until a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The metrics of the weeks: [`WEEKS`] of them, or as many as were read.
    pub now: Metrics,
    /// The metrics of as many weeks before them.
    pub before: Metrics,
    /// Each of the weeks, the earliest first.
    pub weeks: Vec<Metrics>,
    /// The start of the first week.
    pub start: Timestamp,
    /// Whether the deploys of all these weeks were read. If not, there are too many even in the last two, and the earliest
    /// are left out.
    pub is_whole: bool,
}

/// The start of the week that is this many weeks before the end.
fn start(end: Timestamp, weeks: usize) -> Timestamp {
    Timestamp::from_micros(end.as_micros() - weeks as i64 * WEEK)
}

/// Measures the deploys of all services to these environments.
pub async fn of_all(db: &dyn ReadHandle, end: Timestamp, environments: &Environments) -> Result<Delivery, db::Error> {
    let window = |from: usize, to: usize| start(end, from)..start(end, to);
    let mut windows = vec![window(WEEKS, 0), window(2 * WEEKS, WEEKS)];
    windows.extend((0..WEEKS).rev().map(|week| window(week + 1, week)));
    let mut measured = figures::measure_each(db, &windows, environments, Wanted::ALL, figures::KEPT).await?.into_iter();
    let (now, before) = (measured.next().unwrap_or_default(), measured.next().unwrap_or_default());
    Ok(Delivery { now, before, weeks: measured.collect(), start: start(end, WEEKS), is_whole: true })
}

/// Measures the last deploys of these services to these environments, at most `most`.
pub async fn of_services(
    db: &dyn ReadHandle,
    services: &[i64],
    end: Timestamp,
    environments: &Environments,
    most: usize,
) -> Result<Delivery, db::Error> {
    let window = Window { start: start(end, 2 * WEEKS), end, environments: environments.clone() };
    let deploys = metrics::last_of(db, Whose::Services(services), &window, most as u64).await?;
    let mut sums: [Sum; 2 * WEEKS] = Default::default();
    // The number of the week of a deploy, the last one first.
    let age = |at: Timestamp| usize::try_from((end.as_micros() - 1 - at.as_micros()) / WEEK).unwrap_or_default();
    // The week of the earliest deploy may not be read whole, if not all were read.
    let whole = match deploys.last() {
        Some((at, _)) if deploys.len() >= most => age(*at),
        _ => 2 * WEEKS,
    };
    for (at, deploy) in deploys {
        sums[2 * WEEKS - 1 - age(at).min(2 * WEEKS - 1)].add(&deploy);
    }
    let (weeks, is_whole) = ((whole / 2).clamp(1, WEEKS), whole >= 2);
    let (before, now) = sums[2 * (WEEKS - weeks)..].split_at(weeks);
    Ok(Delivery {
        weeks: now.iter().map(|week| Sum::metrics(std::slice::from_ref(week))).collect(),
        now: Sum::metrics(now),
        before: Sum::metrics(before),
        start: start(end, weeks),
        is_whole,
    })
}

/// Deploys that are being summed.
#[derive(Debug, Clone, Default)]
struct Sum {
    deploys: i64,
    succeeded: i64,
    failed: i64,
    /// In microseconds.
    lead_times: Vec<i64>,
    recovery_times: Vec<i64>,
}

impl Sum {
    fn add(&mut self, deploy: &metrics::Each) {
        match deploy.has_failed {
            true => {
                self.failed += 1;
                self.recovery_times.extend(deploy.duration);
            }
            false => {
                self.deploys += 1;
                self.succeeded += i64::from(deploy.is_explicit);
                self.lead_times.extend(deploy.duration);
            }
        }
    }

    /// The metrics of all of them together.
    fn metrics(sums: &[Self]) -> Metrics {
        let total = |count: fn(&Self) -> i64| -> i64 { sums.iter().map(count).sum() };
        let all = |times: fn(&Self) -> &Vec<i64>| -> Vec<i64> { sums.iter().flat_map(times).copied().collect() };
        Metrics {
            deploys: total(|sum| sum.deploys),
            succeeded: total(|sum| sum.succeeded),
            failed: total(|sum| sum.failed),
            lead_time: percentiles(all(|sum| &sum.lead_times)),
            recovery_time: percentiles(all(|sum| &sum.recovery_times)),
        }
    }
}

/// The percentiles of durations in microseconds, by nearest rank.
fn percentiles(mut durations: Vec<i64>) -> Option<Percentiles> {
    durations.sort_unstable();
    let at = |percent: usize| durations.get((durations.len() * percent).div_ceil(100).saturating_sub(1));
    Some(Percentiles { count: durations.len() as i64, median: at(50)? / 1_000_000, percentile90: at(90)? / 1_000_000 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_nearest_rank() {
        let seconds = |count: i64| (1..=count).map(|second| second * 1_000_000).collect();
        assert_eq!(percentiles(Vec::new()), None);
        for (count, median, percentile90) in [(1, 1, 1), (2, 1, 2), (10, 5, 9), (11, 6, 10)] {
            assert_eq!(percentiles(seconds(count)), Some(Percentiles { count, median, percentile90 }), "{count}");
        }
    }
}
