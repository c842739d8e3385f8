//! Places for requests: so many run at a time, and of each caller no more than a share.
//!
//! A request begins among the quick ones. One that turns out to take its time gives its place up and is run again,
//! from its beginning, among the slow ones: while it waits there it holds no connection and no memory, so that slow
//! requests wait for slow requests alone. A caller waits for its own share first, so that nobody waits for another's
//! queue.
//!
//! Mutations have places of their own, each for all mutations of a request: what they answer is memory too.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::db::{QUICK_READS, SLOW_READS};
use crate::entity::audit::ActorKind;

/// How many quick requests of one caller are run at one time.
pub const QUICK_SHARE: usize = QUICK_READS / 2;

/// How many slow requests of one caller are run at one time.
pub const SLOW_SHARE: usize = 1;

/// How many requests with mutations are run at one time.
pub const CHANGES: usize = 6;

/// How many of them are one caller's.
pub const CHANGES_SHARE: usize = 4;

/// Callers are forgotten, when nothing of theirs runs, once there are so many.
const KNOWN: usize = 1024;

/// Who asks: what kind of caller, and the token's or session's number.
pub type Who = (ActorKind, Option<i64>);

/// How long a request may take its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Not long.
    Quick,
    /// For as long as its budget lasts.
    Slow,
    /// Mutations.
    Change,
}

/// All places.
pub struct Places {
    all: Lanes,
    shares: Mutex<HashMap<Who, Weak<Lanes>>>,
}

/// Places of each kind.
struct Lanes {
    quick: Arc<Semaphore>,
    slow: Arc<Semaphore>,
    change: Arc<Semaphore>,
}

impl Lanes {
    fn new(quick: usize, slow: usize, change: usize) -> Self {
        let [quick, slow, change] = [quick, slow, change].map(|places| Arc::new(Semaphore::new(places)));
        Self { quick, slow, change }
    }

    fn of(&self, lane: Lane) -> Arc<Semaphore> {
        Arc::clone(match lane {
            Lane::Quick => &self.quick,
            Lane::Slow => &self.slow,
            Lane::Change => &self.change,
        })
    }
}

/// A place; free again when it is dropped.
pub struct Place {
    // Dropped in this order: whoever waits for a place of all has a share already.
    _place: Option<OwnedSemaphorePermit>,
    _permit: Option<OwnedSemaphorePermit>,
    _share: Arc<Lanes>,
}

impl Default for Places {
    fn default() -> Self {
        Self { all: Lanes::new(QUICK_READS, SLOW_READS, CHANGES), shares: Mutex::default() }
    }
}

impl Places {
    /// Waits for a place. Whoever stops waiting loses nothing but the turn.
    pub async fn take(&self, lane: Lane, who: Who) -> Place {
        let share = self.share(who);
        // The semaphores are never closed.
        let permit = share.of(lane).acquire_owned().await.ok();
        let place = self.all.of(lane).acquire_owned().await.ok();
        Place { _place: place, _permit: permit, _share: share }
    }

    fn share(&self, who: Who) -> Arc<Lanes> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(&who).and_then(Weak::upgrade) {
            return share;
        }
        if shares.len() >= KNOWN {
            shares.retain(|_, share| share.strong_count() > 0);
        }
        let share = Arc::new(Lanes::new(QUICK_SHARE, SLOW_SHARE, CHANGES_SHARE));
        shares.insert(who, Arc::downgrade(&share));
        share
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const ADA: Who = (ActorKind::Token, Some(1));
    const BOB: Who = (ActorKind::Token, Some(2));

    /// Takes a place that is free, or nothing.
    fn now(places: &Places, lane: Lane, who: Who) -> Option<Place> {
        places.take(lane, who).now_or_never()
    }

    #[test]
    fn a_caller_has_a_share_and_leaves_the_rest_to_others() {
        let places = Places::default();
        for (lane, share) in [(Lane::Quick, QUICK_SHARE), (Lane::Slow, SLOW_SHARE), (Lane::Change, CHANGES_SHARE)] {
            let taken: Vec<_> = (0..share).map_while(|_| now(&places, lane, ADA)).collect();
            assert_eq!(taken.len(), share);
            assert!(now(&places, lane, ADA).is_none());
            let others = now(&places, lane, BOB);
            assert!(others.is_some());
            drop(taken);
            assert!(now(&places, lane, ADA).is_some());
        }
    }

    #[test]
    fn slow_requests_wait_for_slow_requests_alone() {
        let places = Places::default();
        let slow: Vec<_> =
            (0..SLOW_READS as i64).filter_map(|n| now(&places, Lane::Slow, (ActorKind::Session, Some(n)))).collect();
        assert_eq!(slow.len(), SLOW_READS);
        assert!(now(&places, Lane::Slow, ADA).is_none());
        assert!(now(&places, Lane::Quick, ADA).is_some());
    }

    #[test]
    fn callers_that_ask_nothing_are_forgotten() {
        let places = Places::default();
        for number in 0..3 * KNOWN as i64 {
            drop(now(&places, Lane::Quick, (ActorKind::Token, Some(number))));
        }
        assert!(places.shares.lock().expect("no panic").len() <= KNOWN);
    }
}
