//! Places for requests that read: so many at a time, and of each caller no more than a share.
//!
//! A request begins among the quick ones. One that turns out to take its time gives its place up and is run again,
//! from its beginning, among the slow ones: while it waits there it holds no connection and no memory, so that slow
//! requests wait for slow requests alone. A caller waits for its own share first, so that nobody waits for another's
//! queue.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::db::{QUICK_READS, SLOW_READS};
use crate::entity::audit::ActorKind;

/// How many quick requests of one caller are run at one time.
pub const QUICK_SHARE: usize = QUICK_READS / 2;

/// How many slow requests of one caller are run at one time.
pub const SLOW_SHARE: usize = 1;

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
}

/// All places.
pub struct Places {
    quick: Arc<Semaphore>,
    slow: Arc<Semaphore>,
    shares: Mutex<HashMap<Who, Weak<Share>>>,
}

struct Share {
    quick: Arc<Semaphore>,
    slow: Arc<Semaphore>,
}

/// A place; free again when it is dropped.
pub struct Place {
    // Dropped in this order: whoever waits for a place of all has a share already.
    _place: Option<OwnedSemaphorePermit>,
    _permit: Option<OwnedSemaphorePermit>,
    _share: Arc<Share>,
}

impl Default for Places {
    fn default() -> Self {
        let (quick, slow) = (Arc::new(Semaphore::new(QUICK_READS)), Arc::new(Semaphore::new(SLOW_READS)));
        Self { quick, slow, shares: Mutex::default() }
    }
}

impl Places {
    /// Waits for a place. Whoever stops waiting loses nothing but the turn.
    pub async fn take(&self, lane: Lane, who: Who) -> Place {
        let share = self.share(who);
        let (own, all) = match lane {
            Lane::Quick => (&share.quick, &self.quick),
            Lane::Slow => (&share.slow, &self.slow),
        };
        // The semaphores are never closed.
        let permit = Arc::clone(own).acquire_owned().await.ok();
        let place = Arc::clone(all).acquire_owned().await.ok();
        Place { _place: place, _permit: permit, _share: share }
    }

    fn share(&self, who: Who) -> Arc<Share> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(&who).and_then(Weak::upgrade) {
            return share;
        }
        if shares.len() >= KNOWN {
            shares.retain(|_, share| share.strong_count() > 0);
        }
        let (quick, slow) = (Arc::new(Semaphore::new(QUICK_SHARE)), Arc::new(Semaphore::new(SLOW_SHARE)));
        let share = Arc::new(Share { quick, slow });
        shares.insert(who, Arc::downgrade(&share));
        share
    }
}
