//! Limits concurrent code exchanges with the provider. Each blocks a thread until the provider responds, and anyone can
//! start one. So there is a limit in total, a lower one per address, and one exchange per sign-in.

use std::collections::{HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use catalogue::shares::{Bounds, Hold, Shares};

/// Limits on running exchanges, in total and per address, and on waiting ones.
pub const BOUNDS: Bounds = Bounds { most: 8, share: 4, waiting: 64, waiting_share: 16 };

/// How long an exchange waits for its turn.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// How long a sign-in is remembered: the lifetime of its cookie.
const REMEMBERED: Duration = Duration::from_secs(10 * 60);
/// The maximum number of remembered sign-ins, about 8 MB. The oldest are forgotten first.
const MOST_REMEMBERED: usize = 1 << 16;

/// The exchanges of a process.
#[derive(Debug)]
pub struct Exchanges {
    places: Arc<Shares<IpAddr>>,
    begun: Mutex<Begun>,
}

/// The sign-ins whose exchange has started, oldest first.
#[derive(Debug, Default)]
struct Begun {
    known: HashSet<String>,
    order: VecDeque<(Instant, String)>,
}

/// The permit of an exchange, released when dropped.
#[derive(Debug)]
pub struct Turn {
    _place: Hold<IpAddr>,
}

/// Why an exchange is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Too many are running.
    Busy,
    /// The sign-in has already had its exchange.
    Again,
}

impl Default for Exchanges {
    fn default() -> Self {
        Self { places: Shares::new(BOUNDS), begun: Mutex::default() }
    }
}

impl Exchanges {
    /// Waits for a permit for the sign-in with this `state`, from `client`.
    pub async fn turn(&self, client: IpAddr, state: &str) -> Result<Turn, Refused> {
        // Checked before waiting, so that a repeated request does not take another place in the queue.
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
    /// Remembers a sign-in. Returns false if it was already known.
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
    fn sign_ins_are_remembered_for_the_lifetime_of_their_cookie_and_up_to_a_maximum_number() {
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
