//! Shares a limited resource among owners: blocking threads, connections, memory for bodies and responses.
//!
//! A taker waits until there is enough for it, within the total and its owner's share, or until its deadline. Dropping
//! the [`Hold`] returns its amount. The amount that is waited for is limited too, because a waiting taker also uses
//! memory.

use std::collections::HashMap;
use std::hash::Hash;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// The limits of a resource.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// For all owners together.
    pub most: usize,
    /// For one owner.
    pub share: usize,
    /// The amount that all owners together may wait for.
    pub waiting: usize,
    /// The amount that one owner may wait for.
    pub waiting_share: usize,
}

/// A limited resource.
#[derive(Debug)]
pub struct Shares<K: Eq + Hash + Copy> {
    state: Mutex<State<K>>,
    freed: Notify,
}

#[derive(Debug)]
struct State<K> {
    held: Tally<K>,
    waiting: Tally<K>,
}

/// The amount of each owner.
#[derive(Debug)]
struct Tally<K> {
    most: usize,
    share: usize,
    total: usize,
    by_owner: HashMap<K, usize>,
}

/// An amount held by an owner. Returned when dropped.
#[derive(Debug)]
pub struct Hold<K: Eq + Hash + Copy> {
    shares: Arc<Shares<K>>,
    owner: K,
    amount: usize,
}

impl<K: Eq + Hash + Copy> Shares<K> {
    /// Creates the resource with nothing held.
    pub fn new(bounds: Bounds) -> Arc<Self> {
        let Bounds { most, share, waiting, waiting_share } = bounds;
        let tally = |most, share| Tally { most, share, total: 0, by_owner: HashMap::new() };
        let state = State { held: tally(most, share), waiting: tally(waiting, waiting_share) };
        Arc::new(Self { state: Mutex::new(state), freed: Notify::new() })
    }

    /// Takes `amount` for `owner`, waiting until `deadline`. Returns `None` if it is not free by then, or if too much
    /// is being waited for. An amount larger than a limit is granted when nothing else is held.
    pub async fn take(self: &Arc<Self>, owner: K, amount: usize, deadline: Instant) -> Option<Hold<K>> {
        if let Some(hold) = self.take_now(owner, amount) {
            return Some(hold);
        }
        let _waiting = Waiting::begin(self, owner, amount)?;
        loop {
            let mut freed = pin!(self.freed.notified());
            // Register before checking, so that an amount returned in between is not missed.
            freed.as_mut().enable();
            if let Some(hold) = self.take_now(owner, amount) {
                return Some(hold);
            }
            timeout_at(deadline, freed).await.ok()?;
        }
    }

    /// Takes `amount` for `owner` without waiting. Returns `None` if it is not free. An amount larger than a limit is
    /// granted when nothing else is held.
    pub fn take_now(self: &Arc<Self>, owner: K, amount: usize) -> Option<Hold<K>> {
        let taken = self.lock().held.add(owner, amount);
        taken.then(|| Hold { shares: Arc::clone(self), owner, amount })
    }

    fn lock(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash + Copy> Tally<K> {
    fn add(&mut self, owner: K, amount: usize) -> bool {
        let own = self.by_owner.get(&owner).copied().unwrap_or(0);
        let fits = |held: usize, most: usize| held == 0 || held.saturating_add(amount) <= most;
        let added = fits(own, self.share) && fits(self.total, self.most);
        if added {
            self.by_owner.insert(owner, own + amount);
            self.total += amount;
        }
        added
    }

    fn give_back(&mut self, owner: K, amount: usize) {
        self.total -= amount;
        if let Some(own) = self.by_owner.get_mut(&owner) {
            *own -= amount;
            if *own == 0 {
                self.by_owner.remove(&owner);
            }
        }
    }
}

impl<K: Eq + Hash + Copy> Hold<K> {
    /// Takes more without waiting. Returns whether it was free.
    pub fn grow(&mut self, amount: usize) -> bool {
        let is_free = self.shares.lock().held.add(self.owner, amount);
        if is_free {
            self.amount += amount;
        }
        is_free
    }

    /// Merges another hold of the same owner into this one.
    pub fn join(&mut self, mut other: Self) {
        self.amount += std::mem::take(&mut other.amount);
    }
}

impl<K: Eq + Hash + Copy> Drop for Hold<K> {
    fn drop(&mut self) {
        if self.amount > 0 {
            let mut state = self.shares.lock();
            state.held.give_back(self.owner, self.amount);
            // Whoever begins to wait later finds it.
            let is_awaited = state.waiting.total > 0;
            drop(state);
            if is_awaited {
                self.shares.freed.notify_waiters();
            }
        }
    }
}

/// The amount that a taker waits for.
struct Waiting<'s, K: Eq + Hash + Copy> {
    shares: &'s Shares<K>,
    owner: K,
    amount: usize,
}

impl<'s, K: Eq + Hash + Copy> Waiting<'s, K> {
    fn begin(shares: &'s Shares<K>, owner: K, amount: usize) -> Option<Self> {
        let may_wait = shares.lock().waiting.add(owner, amount);
        may_wait.then(|| Self { shares, owner, amount })
    }
}

impl<K: Eq + Hash + Copy> Drop for Waiting<'_, K> {
    fn drop(&mut self) {
        self.shares.lock().waiting.give_back(self.owner, self.amount);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt;

    use super::*;

    fn shares() -> Arc<Shares<char>> {
        Shares::new(Bounds { most: 8, share: 4, waiting: 3, waiting_share: 2 })
    }

    fn now(shares: &Arc<Shares<char>>, owner: char, amount: usize) -> Option<Hold<char>> {
        shares.take_now(owner, amount)
    }

    #[test]
    fn an_owner_gets_its_share_and_all_of_them_what_there_is() {
        let shares = shares();
        let a = now(&shares, 'a', 4).expect("a share");
        assert!(now(&shares, 'a', 1).is_none(), "beyond the share");
        let _b = now(&shares, 'b', 3).expect("a part of a share");
        assert!(now(&shares, 'c', 2).is_none(), "beyond what there is");
        drop(a);
        let mut c = now(&shares, 'c', 2).expect("what was given back");
        c.join(now(&shares, 'c', 2).expect("the rest of the share"));
        assert!(now(&shares, 'c', 1).is_none());
        drop(c);
        assert_eq!(shares.lock().held.total, 3);
        assert_eq!(shares.lock().held.by_owner.len(), 1, "nothing is remembered of owners who hold nothing");
    }

    #[test]
    fn what_is_larger_than_any_bound_is_taken_alone() {
        let shares = shares();
        let small = now(&shares, 'b', 1);
        assert!(now(&shares, 'a', 100).is_none());
        drop(small);
        let large = now(&shares, 'a', 100).expect("nothing else is held");
        assert!(now(&shares, 'b', 1).is_none());
        drop(large);
        assert!(now(&shares, 'b', 1).is_some());
    }

    #[tokio::test]
    async fn a_taker_waits_for_what_is_given_back_and_no_longer_than_its_deadline() {
        let shares = shares();
        let held = now(&shares, 'a', 4).expect("a share");
        let far = Instant::now() + Duration::from_secs(3600);
        let mut waiting = pin!(shares.take('a', 2, far));
        assert!(waiting.as_mut().now_or_never().is_none());
        assert!(shares.take('a', 2, Instant::now()).await.is_none(), "nobody may wait for more");
        assert!(shares.take('a', 1, Instant::now()).await.is_none(), "its owner waits for enough");
        drop(held);
        let taken = waiting.await;
        assert!(taken.is_some());
        let _rest = now(&shares, 'a', 2);
        assert!(shares.take('a', 1, Instant::now()).await.is_none(), "the deadline");
        assert_eq!(shares.lock().waiting.total, 0);
    }
}
