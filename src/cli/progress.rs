//! How far a long command is. On a terminal, a line says it that is written again and again; elsewhere, such as in the log
//! of a pipeline, a line every ten seconds. A command that is quick says nothing of it.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::entity::text::one_line;

/// How often the line on a terminal is written again.
const LIVE: Duration = Duration::from_millis(200);

/// How often a line is written elsewhere.
const LINES: Duration = Duration::from_secs(10);

/// The width of the line on a terminal, in characters. A longer one is cut.
const WIDTH: usize = 79;

/// How far a command is. What it says ends when this is dropped.
pub(crate) struct Progress {
    shared: Arc<Shared>,
    began: Instant,
    ticker: Option<(Sender<()>, JoinHandle<()>)>,
}

struct Shared {
    phase: Mutex<Phase>,
    has_said: AtomicBool,
}

/// What the command does at present.
struct Phase {
    what: String,
    /// What it counts.
    unit: &'static str,
    measure: Box<dyn Fn() -> Counted + Send>,
    began: Instant,
}

/// How much is done.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Counted {
    /// The number.
    pub(crate) done: u64,
    /// The number of all, if it is known.
    pub(crate) all: Option<u64>,
    /// The part that is done, if it is known though the number of all is not.
    pub(crate) part: Option<f64>,
}

/// Counts for a phase.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counter(Arc<AtomicU64>);

impl Counter {
    pub(crate) fn set(&self, done: u64) {
        self.0.store(done, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A command that has ended.
pub(crate) struct Ended {
    /// Whether anything was said of its progress.
    pub(crate) has_said: bool,
    took: Duration,
}

impl Ended {
    /// How much was done, in which time, and the rate: `1,200 rows in 2.4 s, 500 a second`.
    pub(crate) fn sum(&self, done: u64, unit: &str) -> String {
        let (took, rate) = (time(self.took), grouped(rate(done, self.took)));
        format!("{} {unit} in {took}, {rate} a second", grouped(done))
    }

    /// In which time.
    pub(crate) fn took(&self) -> String {
        time(self.took)
    }
}

impl Progress {
    /// Begins with a phase that counts nothing.
    pub(crate) fn begin(what: &str) -> Self {
        match io::stderr().is_terminal() {
            true => Self::to(what, io::stderr(), true, LIVE),
            false => Self::to(what, io::stderr(), false, LINES),
        }
    }

    fn to(what: &str, out: impl Write + Send + 'static, is_live: bool, interval: Duration) -> Self {
        let shared = Arc::new(Shared { phase: Mutex::new(Phase::of_nothing(what)), has_said: AtomicBool::new(false) });
        let (stop, stopped) = mpsc::channel();
        let mut said = Said { out, is_live, shared: Arc::clone(&shared), width: 0 };
        let run = move || {
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                said.say();
            }
            said.clear();
        };
        // Progress is optional, so that there is no thread for it is no failure.
        let ticker = std::thread::Builder::new().name("progress".to_owned()).spawn(run).ok();
        Self { shared, began: Instant::now(), ticker: ticker.map(|ticker| (stop, ticker)) }
    }

    /// Begins another phase, which is measured each time that its progress is said.
    pub(crate) fn measured(&self, what: &str, unit: &'static str, measure: impl Fn() -> Counted + Send + 'static) {
        let what = one_line(what).to_string();
        *self.shared.phase() = Phase { what, unit, measure: Box::new(measure), began: Instant::now() };
    }

    /// Begins another phase, for which the caller counts.
    pub(crate) fn counted(&self, what: &str, unit: &'static str, all: Option<u64>) -> Counter {
        let counter = Counter::default();
        let own = counter.clone();
        self.measured(what, unit, move || Counted { done: own.get(), all, part: None });
        counter
    }

    /// The same, if the number of all is known only later: it is the second counter.
    pub(crate) fn counted_of(&self, what: &str, unit: &'static str) -> (Counter, Counter) {
        let (done, all) = (Counter::default(), Counter::default());
        let (own, of) = (done.clone(), all.clone());
        self.measured(what, unit, move || Counted { done: own.get(), all: Some(of.get()), part: None });
        (done, all)
    }

    /// Begins another phase, which counts nothing.
    pub(crate) fn phase(&self, what: &str) {
        *self.shared.phase() = Phase::of_nothing(what);
    }

    /// Ends what is said.
    pub(crate) fn end(mut self) -> Ended {
        let took = self.began.elapsed();
        self.stop();
        Ended { has_said: self.shared.has_said.load(Ordering::Relaxed), took }
    }

    fn stop(&mut self) {
        if let Some((stop, ticker)) = self.ticker.take() {
            drop(stop);
            let _ = ticker.join();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Phase {
    fn of_nothing(what: &str) -> Self {
        let what = one_line(what).to_string();
        Self { what, unit: "", measure: Box::new(Counted::default), began: Instant::now() }
    }

    fn line(&self) -> String {
        line(&self.what, self.unit, (self.measure)(), self.began.elapsed())
    }
}

/// What is said, and where.
struct Said<W> {
    out: W,
    is_live: bool,
    shared: Arc<Shared>,
    /// The width of the line that is shown.
    width: usize,
}

impl<W: Write> Said<W> {
    fn say(&mut self) {
        let line = self.shared.phase().line();
        self.shared.has_said.store(true, Ordering::Relaxed);
        // Whoever does not see the progress of a command still wants its result, so errors are ignored.
        let _ = match self.is_live {
            true => {
                let line: String = line.chars().take(WIDTH).collect();
                let (before, now) = (self.width, line.chars().count());
                self.width = now;
                write!(self.out, "\r{line:<before$}").and_then(|()| self.out.flush())
            }
            false => writeln!(self.out, "{line}"),
        };
    }

    /// Takes the line on a terminal away.
    fn clear(&mut self) {
        if self.is_live && self.width > 0 {
            let _ = write!(self.out, "\r{:1$}\r", "", self.width).and_then(|()| self.out.flush());
        }
    }
}

/// Says how far a phase is: `storing: 12,000 of 100,000 rows (12 %), 3,400 a second, 26 s left`.
fn line(what: &str, unit: &str, counted: Counted, took: Duration) -> String {
    let Counted { done, all, part } = counted;
    let all = all.filter(|all| *all > 0);
    let part = all.map(|all| done.min(all) as f64 / all as f64).or(part).map(|part| part.clamp(0.0, 1.0));
    let percent = part.map(|part| (part * 100.0).floor());
    if unit.is_empty() {
        return format!("{what}: {}", time(took));
    }
    let mut line = match (all, percent) {
        (Some(all), Some(percent)) => {
            format!("{what}: {} of {} {unit} ({percent} %)", grouped(done), grouped(all))
        }
        (_, Some(percent)) => format!("{what}: {} {unit} ({percent} %)", grouped(done)),
        (_, None) => format!("{what}: {} {unit}", grouped(done)),
    };
    if done > 0 && took >= Duration::from_secs(1) {
        line += &format!(", {} a second", grouped(rate(done, took)));
        // Before that, it is a guess.
        if let Some(part) = part.filter(|part| (0.01..1.0).contains(part)) {
            line += &format!(", {} left", time(took.mul_f64((1.0 - part) / part)));
        }
    }
    line
}

/// How many a second.
fn rate(done: u64, took: Duration) -> u64 {
    (done as f64 / took.max(Duration::from_millis(1)).as_secs_f64()).round() as u64
}

/// A time: `0.4 s`, `26 s`, `3 min 5 s`, `2 h 3 min`.
fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        10..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
    }
}

/// Groups digits: `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// What was written, for several threads.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Kept {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().expect("no panic").clone()).expect("text")
        }
    }

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no panic").extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_says_the_phase_the_total_the_rate_and_what_is_left() {
        let of = |done, all, part| Counted { done, all, part };
        for (counted, took, expected) in [
            (of(0, None, None), SECOND, "storing: 0 rows"),
            (of(12_000, None, None), 4 * SECOND, "storing: 12,000 rows, 3,000 a second"),
            (of(10, Some(100), None), SECOND / 2, "storing: 10 of 100 rows (10 %)"),
            (of(10, Some(100), None), 4 * SECOND, "storing: 10 of 100 rows (10 %), 3 a second, 36 s left"),
            (of(100, Some(100), None), 4 * SECOND, "storing: 100 of 100 rows (100 %), 25 a second"),
            (of(120, Some(100), None), 4 * SECOND, "storing: 120 of 100 rows (100 %), 30 a second"),
            (of(1_200, None, Some(0.25)), 40 * SECOND, "storing: 1,200 rows (25 %), 30 a second, 2 min 0 s left"),
            (of(0, Some(0), None), SECOND, "storing: 0 rows"),
            (of(1, Some(1_000), None), 2 * SECOND, "storing: 1 of 1,000 rows (0 %), 1 a second"),
        ] {
            assert_eq!(line("storing", "rows", counted, took), expected);
        }
        assert_eq!(line("building indexes", "", Counted::default(), 75 * SECOND), "building indexes: 1 min 15 s");
        let ended = Ended { has_said: false, took: Duration::from_millis(2_400) };
        assert_eq!(ended.sum(1_200, "rows"), "1,200 rows in 2.4 s, 500 a second");
        assert_eq!([time(SECOND * 26), time(SECOND * 7_380)], ["26 s", "2 h 3 min"]);
    }

    /// Lets a command say its progress, and returns what it said.
    fn said(is_live: bool, until: &str) -> String {
        let kept = Kept::default();
        let progress = Progress::to("opening", kept.clone(), is_live, Duration::from_millis(1));
        while !kept.text().contains("opening: ") {
            std::thread::yield_now();
        }
        let counter = progress.counted("storing", "rows", Some(8));
        counter.set(1);
        counter.add(2);
        while !kept.text().contains(until) {
            std::thread::yield_now();
        }
        assert!(progress.end().has_said);
        kept.text()
    }

    #[test]
    fn a_terminal_has_one_line_that_is_taken_away_in_the_end() {
        let text = said(true, "\rstoring: 3 of 8 rows (37 %)");
        assert!(!text.contains('\n') && text.ends_with('\r'), "{text:?}");
        let last = text.trim_end_matches('\r').rsplit('\r').next().expect("a line");
        assert!(!last.is_empty() && last.trim().is_empty(), "{text:?}");
    }

    #[test]
    fn elsewhere_each_line_stays() {
        let text = said(false, "storing: 3 of 8 rows (37 %)\n");
        assert!(!text.contains('\r') && text.lines().all(|line| line.contains(": ")), "{text:?}");
    }

    #[test]
    fn a_quick_command_says_nothing() {
        let kept = Kept::default();
        let progress = Progress::to("opening", kept.clone(), true, 60 * SECOND);
        progress.phase("closing");
        assert!(!progress.end().has_said);
        assert_eq!(kept.text(), "");
    }
}
