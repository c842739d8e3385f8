//! Exchanges of codes at the provider: each takes a thread for as long as the provider takes to answer, and anybody can
//! begin one. So there are few at a time, fewer of them for one address, and one for each attempt.

use std::collections::{HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::shares::{Bounds, Hold, Shares};

/// Exchanges at one time: of all, and of one address; those that wait likewise.
pub const BOUNDS: Bounds = Bounds { most: 8, share: 4, waiting: 64, waiting_share: 16 };

/// How long an exchange waits for its turn.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// How long an attempt is remembered, which is as long as a browser keeps it.
const REMEMBERED: Duration = Duration::from_secs(10 * 60);
/// The most attempts that are remembered, some 8 MB. The oldest are forgotten first.
const MOST_REMEMBERED: usize = 1 << 16;

/// The exchanges of a process.
#[derive(Debug)]
pub struct Exchanges {
    places: Arc<Shares<IpAddr>>,
    begun: Mutex<Begun>,
}

/// The attempts whose exchange was begun, the oldest first.
#[derive(Debug, Default)]
struct Begun {
    known: HashSet<String>,
    order: VecDeque<(Instant, String)>,
}

/// The turn of an exchange, until it is dropped.
#[derive(Debug)]
pub struct Turn {
    _place: Hold<IpAddr>,
}

/// Why there is no exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// There are too many.
    Busy,
    /// The attempt has had its exchange.
    Again,
}

impl Default for Exchanges {
    fn default() -> Self {
        Self { places: Shares::new(BOUNDS), begun: Mutex::default() }
    }
}

impl Exchanges {
    /// Waits for the turn of the attempt that `state` names and that came from `client`.
    pub async fn turn(&self, client: IpAddr, state: &str) -> Result<Turn, Refused> {
        // Before the wait, so that one attempt does not wait in several places.
        if self.lock(|begun| begun.known.contains(state)) {
            return Err(Refused::Again);
        }
        let place = self.places.take(client, 1, tokio::time::Instant::now() + PATIENCE).await.ok_or(Refused::Busy)?;
        let is_first = self.lock(|begun| begun.add(state, Instant::now()));
        if is_first { Ok(Turn { _place: place }) } else { Err(Refused::Again) }
    }

    fn lock<T>(&self, look: impl FnOnce(&mut Begun) -> T) -> T {
        look(&mut self.begun.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Begun {
    /// Remembers an attempt; whether it is new.
    fn add(&mut self, state: &str, now: Instant) -> bool {
        while let Some((since, first)) = self.order.front() {
            if now.saturating_duration_since(*since) < REMEMBERED && self.order.len() < MOST_REMEMBERED {
                break;
            }
            self.known.remove(first);
            self.order.pop_front();
        }
        let is_new = self.known.insert(state.to_owned());
        if is_new {
            self.order.push_back((now, state.to_owned()));
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_remembered_as_long_as_a_browser_keeps_them_and_not_without_end() {
        let (mut begun, start) = (Begun::default(), Instant::now());
        assert!(begun.add("a", start));
        assert!(!begun.add("a", start + REMEMBERED - Duration::from_secs(1)));
        assert!(begun.add("a", start + REMEMBERED));
        for number in 0..MOST_REMEMBERED + 100 {
            assert!(begun.add(&number.to_string(), start + REMEMBERED));
        }
        assert_eq!((begun.known.len(), begun.order.len()), (MOST_REMEMBERED, MOST_REMEMBERED));
    }
}
