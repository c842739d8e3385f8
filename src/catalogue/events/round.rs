//! A round of messages to one receiver. A few threads send them, each one subject after another, so that a message costs no
//! change of threads.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::runtime::{Builder, Runtime};

use super::message::{self, Message};
use super::outcome::Outcome;
use super::page::Pages;
use crate::entity::event::Model as Event;
use crate::entity::event_delivery::Model as Delivery;
use crate::entity::event_subscription::{self as subscription, Form};

/// How many messages are sent to a receiver at a time, but for [mails](super::mail::OF_SUBSCRIPTION).
pub const AT_ONCE: usize = 4;

/// How many messages are sent at a time, but for mails: so many that none waits for the receiver of another.
pub const MOST_AT_ONCE: usize = AT_ONCE * subscription::MOST;

/// How long more of these are begun, before it is stored what has become of them: what is not stored is sent again after a
/// crash.
const UNSTORED: Duration = Duration::from_secs(1);

/// How much lower the priority of the threads is that send: they leave the processor to requests.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// What is sent about one subject, in order.
type Subject = Vec<(Delivery, Event)>;

/// Sends a message, and waits for what becomes of it: `None` if it was not offered to the receiver.
pub(super) type HandOver = Box<dyn Fn(Message) -> Option<Outcome> + Send + Sync>;

/// A round of messages.
pub(super) struct Round {
    form: Form,
    pages: Pages,
    /// The subjects that no thread has taken.
    subjects: Mutex<VecDeque<Subject>>,
    /// Whether nothing more is begun: the receiver is down, or nobody waits for the round any more.
    is_over: AtomicBool,
    begun: Instant,
    hand_over: HandOver,
}

impl Round {
    pub(super) fn new(form: Form, pages: Pages, subjects: VecDeque<Subject>, hand_over: HandOver) -> Self {
        let (subjects, is_over) = (Mutex::new(subjects), AtomicBool::new(false));
        Self { form, pages, subjects, is_over, begun: Instant::now(), hand_over }
    }

    /// Sends the messages, `at_once` at a time, until a failure or for [`UNSTORED`]. Returns what became of those that were
    /// sent, and whether the receiver is down.
    pub(super) async fn run(self, threads: &Threads, at_once: usize) -> (Vec<(Delivery, Outcome)>, bool) {
        let lanes = self.subjects().len().min(at_once);
        let round = Abandoned(Arc::new(self));
        let lanes = (0..lanes).map(|_| {
            let round = Arc::clone(&round.0);
            threads.run(move || round.send())
        });
        let ended = join_all(lanes).await;
        let is_down = round.0.is_over.load(Ordering::Relaxed) || ended.iter().any(Result::is_err);
        (ended.into_iter().flatten().flatten().collect(), is_down)
    }

    /// Sends what one thread sends.
    fn send(&self) -> Vec<(Delivery, Outcome)> {
        let mut outcomes = Vec::new();
        while let Some(subject) = self.next() {
            for (delivery, event) in subject {
                if !self.goes_on() {
                    break;
                }
                let message = message::compose(&event, delivery.kind, self.form, &self.pages);
                let outcome = catch_unwind(AssertUnwindSafe(|| (self.hand_over)(message)));
                let outcome = outcome.unwrap_or_else(|_| Some(Outcome::down("the sender panicked")));
                if matches!(outcome, None | Some(Outcome::Down { .. })) {
                    self.is_over.store(true, Ordering::Relaxed);
                }
                let is_taken = matches!(outcome, Some(Outcome::Taken(_)));
                outcomes.extend(outcome.map(|outcome| (delivery, outcome)));
                if !is_taken {
                    break;
                }
            }
        }
        outcomes
    }

    fn next(&self) -> Option<Subject> {
        if self.goes_on() { self.subjects().pop_front() } else { None }
    }

    fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed) && self.begun.elapsed() < UNSTORED
    }

    fn subjects(&self) -> std::sync::MutexGuard<'_, VecDeque<Subject>> {
        self.subjects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a round that nobody waits for, so that not more is sent again than was being sent.
struct Abandoned(Arc<Round>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

/// The threads that send messages, of which each waits for a receiver: at most [`MOST_AT_ONCE`]. They are made when they are
/// needed and end when they are not. They are separate from the program's other threads, so slow receivers cannot use those up.
pub(super) struct Threads(Option<Runtime>);

impl Default for Threads {
    fn default() -> Self {
        let mut threads = Builder::new_current_thread();
        threads.thread_name("events").max_blocking_threads(MOST_AT_ONCE);
        #[cfg(target_os = "linux")]
        threads.on_thread_start(|| {
            // There, it is the priority of the thread alone. Without it, they send all the same.
            let _ = rustix::process::nice(NICE);
        });
        Self(threads.build().ok())
    }
}

impl Threads {
    /// Runs this on one of the threads. `Err` says why it has no result.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, &'static str> {
        let Some(threads) = &self.0 else { return Err("there are no threads that send") };
        threads.spawn_blocking(work).await.map_err(|_| "the sender panicked")
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(threads) = self.0.take() {
            threads.shutdown_background();
        }
    }
}
