//! The budget of a request: objects, bytes, processor time and time.
//!
//! All work is charged to the budget: the database charges the rows it reads, the executor the objects it collects and
//! the text it writes. The first charge beyond a limit is remembered, all later ones fail, and the response consists of
//! that one error ([`Budget::exceeded`]).
//!
//! Processor time is measured in slices: a poll of the request's future ([`Budget::metered`]), or a statement on a
//! blocking thread ([`Budget::slice`]). Slices of the same request rarely overlap, so their sum is its cost.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

pub use crate::excess::{Excess, Limits};

/// The processor time after which a request is no longer quick and restarts in the slow queue. Unoptimised builds take
/// many times as long for the same work.
pub const QUICK: Duration = Duration::from_millis(if cfg!(debug_assertions) { 1_000 } else { 20 });

/// The time in which a database server must respond for a request to count as quick.
const SERVED_QUICKLY: Duration = Duration::from_millis(250);

/// The most that a slice measured by the wall clock counts, in nanoseconds. A longer one was probably preempted.
const SLICE: u64 = 2_000_000;

/// How long a request may occupy its thread before it yields. Most requests finish earlier. Yielding costs: the request
/// keeps its database connection, so the next one uses another, with a colder cache.
const TURN: Duration = Duration::from_millis(5);

/// The overhead of a row besides its columns and text, in bytes: allocator rounding, its place in lists.
const ROW: usize = 128;

/// The resources that a request has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    /// Objects in the response.
    pub objects: u64,
    /// Bytes of the rows read.
    pub rows: u64,
    /// Processor time.
    pub processor: Duration,
}

/// The remaining budget of a request.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    /// Nanoseconds of processor time beyond the limit.
    more: AtomicU64,
    is_quick: bool,
    /// The origin of all other times.
    began: Instant,
    deadline: Instant,
    objects: AtomicU64,
    rows: AtomicU64,
    /// Nanoseconds of processor time in finished slices.
    work: AtomicU64,
    /// Nanoseconds spent waiting for a database server: an upper bound of its work.
    served: AtomicU64,
    /// When the current poll began: nanoseconds since `began`, or of the thread's clock. `u64::MAX` between polls.
    slice: AtomicU64,
    /// Whether `slice` uses the thread's clock.
    by_thread: AtomicBool,
    /// Nanoseconds since `began` at the last yield.
    turn: AtomicU64,
    excess: AtomicU8,
}

impl Budget {
    /// Creates a budget that ends at its deadline. `used` is the processor time of an earlier run of the same request.
    pub fn new(limits: Limits, deadline: Instant, is_quick: bool, used: Duration) -> Self {
        let began = Instant::now();
        Self {
            limits,
            more: AtomicU64::new(0),
            is_quick,
            began,
            deadline,
            objects: AtomicU64::new(0),
            rows: AtomicU64::new(0),
            work: AtomicU64::new(nanos(used)),
            served: AtomicU64::new(0),
            slice: AtomicU64::new(u64::MAX),
            by_thread: AtomicBool::new(false),
            turn: AtomicU64::new(0),
            excess: AtomicU8::new(0),
        }
    }

    /// The budget of internal work.
    pub fn unlimited() -> &'static Self {
        static UNLIMITED: LazyLock<Budget> =
            LazyLock::new(|| Budget::new(Limits::NONE, Instant::now() + Limits::NONE.time, false, Duration::ZERO));
        &UNLIMITED
    }

    /// The limits.
    pub fn limits(&self) -> Limits {
        Limits { processor: Duration::from_nanos(self.most_work()), ..self.limits }
    }

    /// Raises the limit of the processor time by this much, or leaves it where it was raised more: for work that has a
    /// limit of its own.
    pub fn allow(&self, more: Duration) {
        self.more.fetch_max(nanos(more), Relaxed);
    }

    /// The most processor time, in nanoseconds.
    fn most_work(&self) -> u64 {
        nanos(self.limits.processor).saturating_add(self.more.load(Relaxed))
    }

    /// The time at which the request is cancelled.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The first limit that was exceeded, if any.
    pub fn exceeded(&self) -> Option<Excess> {
        match self.excess.load(Relaxed) {
            1 => Some(Excess::Objects),
            2 => Some(Excess::Answer),
            3 => Some(Excess::Rows),
            4 => Some(Excess::Processor),
            5 => Some(Excess::Time),
            6 => Some(Excess::Quick),
            7 => Some(Excess::Statement),
            _ => None,
        }
    }

    /// Records that a limit was exceeded, unless one was before. Returns the first.
    pub fn exceed(&self, excess: Excess) -> Excess {
        let first = self.excess.compare_exchange(0, excess as u8, Relaxed, Relaxed);
        if first.is_ok() { excess } else { self.exceeded().unwrap_or(excess) }
    }

    /// The resources used so far.
    pub fn used(&self) -> Used {
        let processor = Duration::from_nanos(self.work.load(Relaxed) + self.served.load(Relaxed));
        Used { objects: self.objects.load(Relaxed), rows: self.rows.load(Relaxed), processor }
    }

    /// Charges objects of the response.
    pub fn charge_objects(&self, objects: usize) -> Result<(), Excess> {
        let objects = objects as u64;
        let before = self.objects.fetch_add(objects, Relaxed);
        if before.saturating_add(objects) > self.limits.objects {
            return Err(self.exceed(Excess::Objects));
        }
        self.exceeded().map_or(Ok(()), Err)
    }

    /// Charges a row, or a copy of one. `bytes` includes its text. May be called from any thread.
    pub fn charge_row(&self, bytes: usize) -> Result<(), Excess> {
        self.charge_rows(Self::row(bytes))
    }

    /// What a row of this many bytes is charged as.
    pub fn row(bytes: usize) -> usize {
        ROW + bytes
    }

    /// Charges several rows. `bytes` is the sum of what each [is charged as](Self::row).
    pub fn charge_rows(&self, bytes: usize) -> Result<(), Excess> {
        let bytes = bytes as u64;
        let before = self.rows.fetch_add(bytes, Relaxed);
        if before.saturating_add(bytes) > self.limits.rows { Err(self.exceed(Excess::Rows)) } else { Ok(()) }
    }

    /// Resets the charges for rows to `before`, because the rows will be read again.
    pub fn charge_rows_from(&self, before: u64) {
        self.rows.store(before, Relaxed);
    }

    /// Fails if any limit was exceeded, including time and processor time. Must be called on the thread that polls the
    /// request.
    pub fn check(&self) -> Result<(), Excess> {
        self.check_at(Instant::now())
    }

    fn check_at(&self, now: Instant) -> Result<(), Excess> {
        if let Some(excess) = self.exceeded() {
            return Err(excess);
        }
        if now >= self.deadline {
            return Err(self.exceed(Excess::Time));
        }
        self.check_work(self.work.load(Relaxed) + self.running(now))
    }

    fn check_work(&self, work: u64) -> Result<(), Excess> {
        if work > self.most_work() {
            Err(self.exceed(Excess::Processor))
        } else if self.is_quick && work > nanos(QUICK) {
            Err(self.exceed(Excess::Quick))
        } else {
            Ok(())
        }
    }

    /// Checks the budget, and yields if the request has used up its turn.
    pub async fn pause(&self) -> Result<(), Excess> {
        let now = Instant::now();
        self.check_at(now)?;
        let since_turn = nanos(now.saturating_duration_since(self.began)).saturating_sub(self.turn.load(Relaxed));
        if since_turn > nanos(TURN) {
            tokio::task::yield_now().await;
            self.turn.store(nanos(self.began.elapsed()), Relaxed);
        }
        Ok(())
    }

    /// Wraps a future. Each poll of it is charged as a slice.
    pub async fn metered<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|context| {
            self.begin_slice();
            let polled = future.as_mut().poll(context);
            self.work.fetch_add(self.running(Instant::now()), Relaxed);
            self.slice.store(u64::MAX, Relaxed);
            polled
        })
        .await
    }

    /// Runs a future until the deadline, then drops it and returns the exceeded limit.
    pub async fn within<T>(&self, future: impl Future<Output = T>) -> Result<T, Excess> {
        let in_time = tokio::time::timeout_at(self.deadline.into(), future).await;
        in_time.map_err(|_| self.exceed(Excess::Time))
    }

    /// Begins a slice on a blocking thread.
    pub fn slice(self: &Arc<Self>) -> Slice {
        Slice { budget: Arc::clone(self), began: thread_clock(), charged: 0 }
    }

    /// Charges the time that a database server took to respond. Its actual work is unknown, so this does not end a
    /// quick request: restarting requests because everything is slow would only add work. What was read is of use,
    /// however long it took.
    pub fn charge_server(&self, took: Duration) {
        self.served.fetch_add(nanos(took), Relaxed);
    }

    /// Fails if the processor time is used up, the time of a database server included. Call it before each statement.
    pub fn check_server(&self) -> Result<(), Excess> {
        let work = self.work.load(Relaxed).saturating_add(self.served.load(Relaxed));
        if work > self.most_work() { Err(self.exceed(Excess::Processor)) } else { Ok(()) }
    }

    /// Whether the finished request should start in the slow queue next time.
    pub fn was_slow(&self) -> bool {
        self.work.load(Relaxed) > nanos(QUICK) || self.served.load(Relaxed) > nanos(SERVED_QUICKLY)
    }

    /// The wall clock is ten times cheaper to read than the thread's clock, but also counts preemption. So it measures
    /// only the first slices of a request, which for most requests are all.
    fn begin_slice(&self) {
        let by_thread = self.work.load(Relaxed) >= 2 * SLICE;
        let now = if by_thread { thread_clock() } else { nanos(self.began.elapsed()) };
        self.by_thread.store(by_thread, Relaxed);
        self.slice.store(now, Relaxed);
    }

    /// The duration of the current slice so far.
    fn running(&self, now: Instant) -> u64 {
        let began = self.slice.load(Relaxed);
        if self.by_thread.load(Relaxed) {
            thread_clock().saturating_sub(began)
        } else {
            nanos(now.saturating_duration_since(self.began)).saturating_sub(began).min(SLICE)
        }
    }
}

/// Work on a blocking thread. Charged at each check and when it ends.
#[derive(Debug)]
pub struct Slice {
    budget: Arc<Budget>,
    began: u64,
    charged: u64,
}

impl Slice {
    /// Charges the work so far, and fails if a limit was exceeded.
    pub fn check(&mut self) -> Result<(), Excess> {
        if let Some(excess) = self.budget.exceeded() {
            return Err(excess);
        }
        self.charge();
        if Instant::now() >= self.budget.deadline {
            return Err(self.budget.exceed(Excess::Time));
        }
        self.budget.check_work(self.budget.work.load(Relaxed))
    }

    fn charge(&mut self) {
        let so_far = thread_clock().saturating_sub(self.began);
        self.budget.work.fetch_add(so_far.saturating_sub(self.charged), Relaxed);
        self.charged = so_far;
    }
}

impl Drop for Slice {
    fn drop(&mut self) {
        self.charge();
    }
}

/// The processor time of this thread, in nanoseconds.
pub fn thread_clock() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(limits: Limits, is_quick: bool) -> Arc<Budget> {
        Arc::new(Budget::new(limits, Instant::now() + limits.time, is_quick, Duration::ZERO))
    }

    /// Works for this long by the thread's clock.
    fn work(time: Duration) {
        let began = thread_clock();
        while thread_clock() - began < nanos(time) {}
    }

    #[test]
    fn the_first_limit_that_is_reached_is_remembered() {
        let budget = budget(Limits { objects: 10, rows: 1_000, ..Limits::NONE }, false);
        assert_eq!(budget.charge_objects(10), Ok(()));
        assert_eq!(budget.charge_row(100), Ok(()));
        assert_eq!(budget.charge_row(1_000), Err(Excess::Rows));
        assert_eq!(budget.charge_objects(1), Err(Excess::Rows));
        assert_eq!((budget.exceeded(), budget.check()), (Some(Excess::Rows), Err(Excess::Rows)));
    }

    #[test]
    fn work_that_has_a_limit_of_its_own_may_take_more() {
        let budget = budget(Limits { processor: Duration::from_millis(1), ..Limits::NONE }, false);
        budget.allow(Duration::from_millis(20));
        budget.allow(Duration::from_millis(10));
        budget.charge_server(Duration::from_millis(20));
        assert_eq!(budget.check_server(), Ok(()));
        budget.charge_server(Duration::from_millis(2));
        assert_eq!(budget.check_server(), Err(Excess::Processor));
        assert!(Excess::Processor.sentence(&budget.limits()).contains(" more than 21ms of processor time"));
    }

    #[test]
    fn rows_that_are_read_again_are_charged_once() {
        let budget = budget(Limits { rows: 1_000, ..Limits::NONE }, false);
        assert_eq!(budget.charge_row(400), Ok(()));
        budget.charge_rows_from(0);
        assert_eq!(budget.charge_row(400), Ok(()));
        assert_eq!(budget.used().rows, 400 + ROW as u64);
    }

    #[test]
    fn work_on_a_blocking_thread_is_charged_and_ended() {
        let budget = budget(Limits { processor: Duration::from_millis(5), ..Limits::NONE }, false);
        let mut slice = budget.slice();
        assert_eq!(slice.check(), Ok(()));
        work(Duration::from_millis(6));
        assert_eq!(slice.check(), Err(Excess::Processor));
        drop(slice);
        assert!(budget.used().processor >= Duration::from_millis(6));
    }

    #[tokio::test]
    async fn a_request_that_works_long_gives_others_a_turn_and_is_ended() {
        let budget = budget(Limits { processor: 20 * TURN, ..Limits::NONE }, false);
        let (mut polls, turns) = (0, AtomicU64::new(0));
        let ended = budget.metered(async {
            while budget.pause().await.is_ok() {
                work(TURN + Duration::from_millis(1));
                turns.fetch_add(1, Relaxed);
            }
        });
        let mut ended = pin!(ended);
        poll_fn(|context| {
            polls += 1;
            ended.as_mut().poll(context)
        })
        .await;
        assert_eq!(budget.exceeded(), Some(Excess::Processor));
        let turns = turns.load(Relaxed);
        assert!(polls > turns / 2, "{polls} polls for {turns} turns");
    }

    #[tokio::test]
    async fn waiting_takes_time_and_no_processor_time() {
        let budget = budget(Limits { time: Duration::from_millis(20), ..Limits::NONE }, false);
        let ended = budget.within(budget.metered(std::future::pending::<()>())).await;
        assert_eq!(ended, Err(Excess::Time));
        assert!(budget.used().processor < Duration::from_millis(10));
    }

    #[test]
    fn what_a_server_took_long_to_read_is_of_use_but_no_further_statement_is() {
        let budget = budget(Limits { processor: Duration::from_secs(1), ..Limits::NONE }, true);
        budget.charge_server(Duration::from_secs(2));
        assert_eq!((budget.check(), budget.exceeded()), (Ok(()), None));
        assert_eq!((budget.check_server(), budget.exceeded()), (Err(Excess::Processor), Some(Excess::Processor)));
    }

    #[test]
    fn a_quick_request_is_not_quick_for_long() {
        let budget = budget(Limits::NONE, true);
        let mut slice = budget.slice();
        assert_eq!(slice.check(), Ok(()));
        work(QUICK + Duration::from_millis(1));
        assert_eq!(slice.check(), Err(Excess::Quick));
    }
}
