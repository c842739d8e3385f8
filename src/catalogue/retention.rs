//! Removes expired rows: hourly, first after an hour, in batches so small that a writer never waits longer than for an
//! ordinary write. Several processes may do this at the same time.

use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use tracing::{info, warn};

use crate::db::{self, Db, LONGEST_WINDOW};
use crate::entity::{Timestamp, audit, feed, idempotency_key};

/// The pause after each batch, which leaves the database to other writers.
pub const PAUSE: Duration = Duration::from_millis(50);
/// The approximate interval between runs.
const INTERVAL: Duration = Duration::from_secs(3_600);
/// The number of rows removed in one transaction.
const BATCH: u64 = 500;
/// How far the wall clock may depart from the monotonic clock between two runs.
const TOLERANCE: Duration = Duration::from_secs(600);

/// Who decides how long rows are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// A setting. Runs that remove nothing are logged too, so that the operator sees that the setting works.
    AsSet,
    /// The program. Runs that remove nothing are not logged.
    ByUs,
}

/// What the clocks show at a moment.
#[derive(Debug, Clone, Copy)]
struct Clocks {
    wall: Timestamp,
    /// The monotonic clock, which nobody sets.
    steady: Instant,
}

impl Clocks {
    fn now() -> Self {
        Self { wall: Timestamp::now(), steady: Instant::now() }
    }

    /// Whether the wall clock was set since an earlier moment. A machine may start with a clock that is years ahead,
    /// and set it later.
    fn has_jumped_since(self, earlier: Self) -> bool {
        let passed = self.steady.saturating_duration_since(earlier.steady).as_micros();
        let passed = i64::try_from(passed).unwrap_or(i64::MAX);
        let shown = self.wall.as_micros() - earlier.wall.as_micros();
        u128::from(shown.abs_diff(passed)) > TOLERANCE.as_micros()
    }
}

/// Removes rows older than `keep` every hour, first after an hour. `remove` removes all rows before a time and returns
/// their number. `what` names the rows in the log. Runs until dropped, which is safe at any await.
pub async fn hourly<F>(what: &'static str, kept: Kept, keep: Duration, remove: impl Fn(Timestamp) -> F)
where
    F: Future<Output = Result<u64, db::Error>>,
{
    let mut last = Clocks::now();
    loop {
        // Jitter, so that processes started together drift apart.
        tokio::time::sleep(INTERVAL.mul_f64(0.9 + 0.2 * fastrand::f64())).await;
        let now = Clocks::now();
        run(what, kept, keep, (last, now), &remove).await;
        last = now;
    }
}

/// Removes rows older than `keep`, and logs how many. Leaves them if the clock has jumped between two moments, because
/// their age may then be wrong.
async fn run<F>(
    what: &'static str,
    kept: Kept,
    keep: Duration,
    (last, now): (Clocks, Clocks),
    remove: impl FnOnce(Timestamp) -> F,
) where
    F: Future<Output = Result<u64, db::Error>>,
{
    if now.has_jumped_since(last) {
        warn!("the clock has jumped; old {what} are not removed before the next run");
        return;
    }
    let keep = i64::try_from(keep.as_micros()).unwrap_or(i64::MAX);
    let before = Timestamp::from_micros(now.wall.as_micros().saturating_sub(keep));
    match remove(before).await {
        Ok(0) if kept == Kept::ByUs => {}
        Ok(removed) => info!(removed, %before, "removed old {what}"),
        Err(error) => warn!(%error, %before, "not all old {what} were removed; trying again with the next run"),
    }
}

/// Removes audit entries older than `keep`, hourly.
pub fn run_audit(db: Db, keep: Duration) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        hourly("audit entries", Kept::AsSet, keep, |before| remove_audit(&db, before)).await;
    })
}

/// Removes all audit entries before a time and returns their number.
pub async fn remove_audit(db: &Db, before: Timestamp) -> Result<u64, db::Error> {
    in_batches(|| db.write(async |tx| audit::remove(tx, before, BATCH).await)).await
}

/// Removes expired idempotency keys, hourly.
pub async fn run_idempotency_keys(db: Db) {
    let keep = idempotency_key::LIFETIME;
    hourly("idempotency keys", Kept::ByUs, keep, |before| remove_idempotency_keys(&db, before)).await;
}

/// Removes all idempotency keys before a time and returns their number.
pub async fn remove_idempotency_keys(db: &Db, before: Timestamp) -> Result<u64, db::Error> {
    in_batches(|| db.write(async |tx| idempotency_key::remove(tx, before, BATCH).await)).await
}

/// Removes feeds that nobody reads, hourly.
pub async fn run_feeds(db: Db) {
    hourly("feeds that nobody reads", Kept::ByUs, feed::KEPT, |before| remove_feeds(&db, before)).await;
}

/// Removes all feeds whose stored use is before a time and returns their number.
pub async fn remove_feeds(db: &Db, before: Timestamp) -> Result<u64, db::Error> {
    in_batches(|| db.write(async |tx| feed::remove_unused(tx, before, BATCH).await)).await
}

/// Removes ended windows of rate limits, hourly. Only a database that several processes share has any.
pub async fn run_windows(db: Db) {
    hourly("windows of rate limits", Kept::ByUs, LONGEST_WINDOW, |before| remove_windows(&db, before)).await;
}

/// Removes all windows of rate limits that began before a time and returns their number.
pub async fn remove_windows(db: &Db, before: Timestamp) -> Result<u64, db::Error> {
    in_batches(|| db.remove_windows(before.as_micros())).await
}

/// Calls `remove`, which removes some rows and returns their number, until there are none left.
async fn in_batches<F>(remove: impl Fn() -> F) -> Result<u64, db::Error>
where
    F: Future<Output = Result<u64, db::Error>>,
{
    let mut removed = 0;
    loop {
        let batch = remove().await?;
        removed += batch;
        if batch == 0 {
            return Ok(removed);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::ready;
    use std::io::{Read, Seek};

    use futures_util::FutureExt;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    impl Clocks {
        /// The clocks an hour later, when the wall clock has gone on by `seconds`.
        fn after_an_hour(self, seconds: i64) -> Self {
            let wall = Timestamp::from_micros(self.wall.as_micros() + seconds * 1_000_000);
            Self { wall, steady: self.steady + HOUR }
        }
    }

    #[test]
    fn a_clock_that_departs_from_the_monotonic_one_has_jumped() {
        let start = Clocks::now();
        for (seconds, has_jumped) in [
            (3_600, false),
            (3_600 + 599, false),
            (3_600 - 599, false),
            (3_600 + 601, true),
            (3_600 - 601, true),
            (-86_400, true),
            (10 * 365 * 86_400, true),
            (-10 * 365 * 86_400, true),
        ] {
            assert_eq!(start.after_an_hour(seconds).has_jumped_since(start), has_jumped, "{seconds} s");
        }
    }

    /// Makes a run that finds nothing to remove, an hour after the start, when the wall clock has gone on by `seconds`.
    /// Rows are kept for an hour. Returns how many seconds after the start a row must be older than, and the log.
    fn run_after(seconds: i64, kept: Kept) -> (Option<i64>, String) {
        let start = Clocks::now();
        let before = Cell::new(None);
        let remove = |time: Timestamp| {
            before.set(Some((time.as_micros() - start.wall.as_micros()) / 1_000_000));
            ready(Ok(0))
        };
        let mut log = tempfile::tempfile().expect("a file");
        let writer = log.try_clone().expect("the same file");
        let logs = tracing_subscriber::fmt().with_writer(writer).with_ansi(false).finish();
        let clocks = (start, start.after_an_hour(seconds));
        let ran = tracing::subscriber::with_default(logs, || run("rows", kept, HOUR, clocks, remove).now_or_never());
        assert_eq!(ran, Some(()));
        let mut text = String::new();
        log.rewind().expect("its start");
        log.read_to_string(&mut text).expect("text");
        (before.get(), text)
    }

    #[test]
    fn a_run_logs_how_many_rows_it_removed_if_somebody_has_set_how_long_they_are_kept() {
        let (before, log) = run_after(3_600, Kept::AsSet);
        assert_eq!(before, Some(0));
        assert!(log.contains("removed old rows") && log.contains("removed=0"), "{log}");
        assert_eq!(run_after(3_600, Kept::ByUs), (Some(0), String::new()));
    }

    #[test]
    fn nothing_is_removed_when_the_clock_is_far_ahead() {
        for seconds in [10 * 365 * 86_400, -86_400] {
            let (before, log) = run_after(seconds, Kept::AsSet);
            assert_eq!(before, None, "{log}");
            assert!(log.contains("the clock has jumped; old rows are not removed before the next run"), "{log}");
            assert!(!log.contains("removed="), "{log}");
        }
    }

    #[tokio::test]
    async fn nothing_is_removed_at_the_start() {
        let is_called = Cell::new(false);
        let remove = |_| {
            is_called.set(true);
            ready(Ok(0))
        };
        assert!(hourly("rows", Kept::AsSet, Duration::from_secs(1), remove).now_or_never().is_none());
        assert!(!is_called.get());
    }
}
