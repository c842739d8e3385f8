//! Places limit how many requests run concurrently, in total and for each caller.
//!
//! A query starts in the quick queue. If it turns out to be slow, it gives up its place and restarts from the beginning
//! in the slow queue. While it waits there, it holds no connection and no memory, so slow requests delay only slow
//! requests. A caller first waits for a place in its own share, so nobody waits behind another caller's queue.
//!
//! Mutations have places of their own. A request takes one before it claims an idempotency key, and holds it for all its
//! mutations, because their payloads take memory too. A request with one mutation exchanges its place for one of those that
//! only wait for the disk and then answer: so others write meanwhile, and share the flush.
//!
//! A request with several mutations, or with one that changes many things, takes one of the places for long changes, so
//! that those with one small mutation never wait for it. Only one mutation that changes many things writes at a time, and
//! whoever waits to write comes before the next one ([`Places::turn`]).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::db::{QUICK_READS, SLOW_READS};
use crate::entity::audit::ActorKind;

/// The maximum number of one caller's quick requests that run concurrently.
pub const QUICK_SHARE: usize = QUICK_READS / 2;

/// The maximum number of one caller's slow requests that run concurrently.
pub const SLOW_SHARE: usize = 1;

/// The maximum number of requests with mutations that run concurrently.
pub const CHANGES: usize = 6;

/// The maximum number of them for one caller.
pub const CHANGES_SHARE: usize = 4;

/// The maximum number of requests with several mutations, or with one that changes many things, that run concurrently.
pub const LONG_CHANGES: usize = 2;

/// The maximum number of them for one caller.
pub const LONG_CHANGES_SHARE: usize = 1;

/// The maximum number of requests whose only mutation has written, and waits for the disk or is being answered.
pub const COMMITS: usize = 64;

/// The maximum number of them for one caller.
pub const COMMITS_SHARE: usize = 32;

/// The number of known callers at which idle ones are forgotten.
const KNOWN: usize = 1024;

/// Identifies a caller: the kind, and the id of the token or the user.
pub type CallerKey = (ActorKind, Option<i64>);

/// The queue that a request waits in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// For requests that are expected to be quick.
    Quick,
    /// For requests that may use their whole budget.
    Slow,
    /// For requests with one small mutation.
    Change,
    /// For requests with several mutations, or with one that changes many things.
    LongChange,
    /// For requests whose only mutation waits for the disk or is being answered.
    Commit,
}

/// The places of all callers together, and each caller's share.
pub struct Places {
    all: Lanes,
    shares: Mutex<HashMap<CallerKey, Weak<Lanes>>>,
    turn: Arc<Semaphore>,
}

/// The places of each queue.
#[derive(Debug)]
struct Lanes {
    quick: Arc<Semaphore>,
    slow: Arc<Semaphore>,
    change: Arc<Semaphore>,
    long_change: Arc<Semaphore>,
    commit: Arc<Semaphore>,
}

impl Lanes {
    fn new(places: [usize; 5]) -> Self {
        let [quick, slow, change, long_change, commit] = places.map(|places| Arc::new(Semaphore::new(places)));
        Self { quick, slow, change, long_change, commit }
    }

    fn semaphore(&self, lane: Lane) -> Arc<Semaphore> {
        Arc::clone(match lane {
            Lane::Quick => &self.quick,
            Lane::Slow => &self.slow,
            Lane::Change => &self.change,
            Lane::LongChange => &self.long_change,
            Lane::Commit => &self.commit,
        })
    }
}

/// A place. Dropping it frees the place.
#[derive(Debug)]
pub struct Place {
    // Field order matters: the place among all callers is freed first. A request that waits for one already holds a
    // place of its share, so it can run at once.
    _place: Option<OwnedSemaphorePermit>,
    _permit: Option<OwnedSemaphorePermit>,
    _share: Arc<Lanes>,
}

/// The turn of a mutation that changes many things. Dropping it lets the next one begin.
#[derive(Debug)]
pub struct Turn {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Default for Places {
    fn default() -> Self {
        let all = Lanes::new([QUICK_READS, SLOW_READS, CHANGES, LONG_CHANGES, COMMITS]);
        Self { all, shares: Mutex::default(), turn: Arc::new(Semaphore::new(1)) }
    }
}

impl Places {
    /// Waits for a place. Cancel safe: dropping the future only gives up the position in the queue.
    pub async fn take(&self, lane: Lane, key: CallerKey) -> Place {
        let share = self.share(key);
        // Cannot fail: the semaphores are never closed.
        let permit = share.semaphore(lane).acquire_owned().await.ok();
        let place = self.all.semaphore(lane).acquire_owned().await.ok();
        Place { _place: place, _permit: permit, _share: share }
    }

    /// Exchanges a place for one of those that wait for the disk, if one is free.
    pub fn exchange(&self, place: Place) -> Place {
        let share = Arc::clone(&place._share);
        let free = |lanes: &Lanes| lanes.semaphore(Lane::Commit).try_acquire_owned().ok();
        match free(&share).and_then(|permit| Some((permit, free(&self.all)?))) {
            Some((permit, all)) => Place { _place: Some(all), _permit: Some(permit), _share: share },
            None => place,
        }
    }

    /// Waits for the turn of a mutation that changes many things to begin its transaction. Whoever has begun to wait for
    /// the database meanwhile is served before it, because it waits there only once it has its turn.
    pub async fn turn(&self) -> Turn {
        Turn { _permit: Arc::clone(&self.turn).acquire_owned().await.ok() }
    }

    fn share(&self, key: CallerKey) -> Arc<Lanes> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(&key).and_then(Weak::upgrade) {
            return share;
        }
        if shares.len() >= KNOWN {
            shares.retain(|_, share| share.strong_count() > 0);
        }
        let share = Arc::new(Lanes::new([QUICK_SHARE, SLOW_SHARE, CHANGES_SHARE, LONG_CHANGES_SHARE, COMMITS_SHARE]));
        shares.insert(key, Arc::downgrade(&share));
        share
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const ADA: CallerKey = (ActorKind::Token, Some(1));
    const BOB: CallerKey = (ActorKind::Token, Some(2));

    /// Takes a place if one is free.
    fn now(places: &Places, lane: Lane, key: CallerKey) -> Option<Place> {
        places.take(lane, key).now_or_never()
    }

    #[test]
    fn a_caller_has_a_share_and_leaves_the_rest_to_others() {
        let places = Places::default();
        for (lane, share) in [
            (Lane::Quick, QUICK_SHARE),
            (Lane::Slow, SLOW_SHARE),
            (Lane::Change, CHANGES_SHARE),
            (Lane::LongChange, LONG_CHANGES_SHARE),
        ] {
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
    fn a_place_that_is_exchanged_is_free_for_others_while_there_are_others_to_have() {
        let places = Places::default();
        let free = || {
            let lanes = places.share(ADA);
            [lanes.change.available_permits(), lanes.commit.available_permits()]
        };
        let mut exchanged = Vec::new();
        for left in (0..COMMITS_SHARE).rev() {
            let place = now(&places, Lane::Change, ADA).expect("it is free");
            exchanged.push(places.exchange(place));
            assert_eq!(free(), [CHANGES_SHARE, left]);
        }
        let kept = places.exchange(now(&places, Lane::Change, ADA).expect("it is free"));
        assert_eq!(free(), [CHANGES_SHARE - 1, 0], "it is kept");
        exchanged.pop();
        let _exchanged = places.exchange(kept);
        assert_eq!(free(), [CHANGES_SHARE, 0]);
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
    fn small_changes_wait_for_small_changes_alone_and_long_ones_write_one_after_the_other() {
        let places = Places::default();
        let long: Vec<_> =
            (0..9).filter_map(|n| now(&places, Lane::LongChange, (ActorKind::Token, Some(10 + n)))).collect();
        assert_eq!(long.len(), LONG_CHANGES);
        assert!(now(&places, Lane::LongChange, ADA).is_none());
        assert!(now(&places, Lane::Change, ADA).is_some());
        let turn = places.turn().now_or_never().expect("nobody has a turn");
        assert!(places.turn().now_or_never().is_none());
        drop(turn);
        assert!(places.turn().now_or_never().is_some());
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
