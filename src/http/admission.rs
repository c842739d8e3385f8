//! Which connections a listener keeps: at most so many, a share for each address, and room for whoever has none.
//!
//! When all places are taken, the connection that has been idle for longest is closed for the next one: one of the
//! address that has most, as long as any of those is idle. Nothing is noted while a connection works. The order by which
//! they are looked through is brought up to date only where it matters, so that a search looks at [`LOOKED_AT`]
//! connections at most, at the price of a few steps in a tree for each.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

use super::activity::{Activity, Standing};
use super::limits::network;

/// How many connections are looked at for one that may be closed.
const LOOKED_AT: usize = 256;

/// How many addresses are passed over because all of their connections work.
const PASSED_OVER: usize = 64;

/// A trusted proxy may have all connections, and any other address a quarter: so many of a proxy's weigh as one of
/// another's.
const OF_PROXY: usize = 4;

/// How soon room is looked for again when every connection works.
const AGAIN: Duration = Duration::from_millis(50);

/// Whose a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Owner {
    address: IpAddr,
    has_share: bool,
}

impl Owner {
    /// A client: an IPv4 address, or an IPv6 network of 64 bits.
    pub(super) fn client(address: IpAddr) -> Self {
        Self { address: network(address.to_canonical()), has_share: true }
    }

    /// A trusted proxy or a Unix socket, which bring all clients from one address: a share would bound the whole service.
    pub(super) fn of_many(address: IpAddr) -> Self {
        Self { address: address.to_canonical(), has_share: false }
    }

    /// Its address, if that has a share.
    pub(super) fn with_share(self) -> Option<IpAddr> {
        self.has_share.then_some(self.address)
    }

    /// How much of the room so many of its connections take.
    fn weight(self, connections: usize) -> usize {
        if self.has_share { connections } else { connections.div_ceil(OF_PROXY) }
    }
}

/// Why a connection gets no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Its address has its share.
    Share,
    /// All are taken, and all work.
    Full,
}

/// The places of a listener.
#[derive(Debug)]
pub(super) struct Admission {
    most: usize,
    share: usize,
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The id of the next connection.
    next: u64,
    members: HashMap<u64, Member>,
    /// The connections of each owner by the time since when they may be idle. They may have been active since, so each
    /// time is the earliest possible.
    queues: HashMap<Owner, BTreeSet<(Instant, u64)>>,
    /// The owners: the one that has most first, and of several the one with the earliest time.
    order: BTreeSet<(Reverse<usize>, Instant, Owner)>,
}

#[derive(Debug)]
struct Member {
    owner: Owner,
    /// Its time in the queue.
    since: Instant,
    activity: Arc<Activity>,
    /// Closes it.
    end: Option<AbortHandle>,
}

/// The place of a connection, until dropped.
#[derive(Debug)]
pub(super) struct ConnectionGuard {
    admission: Arc<Admission>,
    id: u64,
}

impl Admission {
    /// At most `most` connections, and `share` of one address.
    pub(super) fn new(most: usize, share: usize) -> Arc<Self> {
        Arc::new(Self { most, share, state: Mutex::default(), freed: Notify::new() })
    }

    /// Gives a connection a place. Returns whether another one was closed for it.
    pub(super) fn admit(
        self: &Arc<Self>,
        owner: Owner,
        activity: &Arc<Activity>,
        now: Instant,
    ) -> Result<(ConnectionGuard, bool), Refusal> {
        let mut state = self.lock();
        if self.has_share(&state, owner) {
            return Err(Refusal::Share);
        }
        let is_full = state.members.len() >= self.most;
        if is_full {
            let id = state.longest_idle(owner, now).ok_or(Refusal::Full)?;
            if let Some(end) = state.remove(id).and_then(|member| member.end) {
                end.abort();
            }
        }
        let id = state.next;
        state.next += 1;
        state.members.insert(id, Member { owner, since: now, activity: Arc::clone(activity), end: None });
        state.change(owner, |queue| queue.insert((now, id)));
        Ok((ConnectionGuard { admission: Arc::clone(self), id }, is_full))
    }

    /// Tells how a connection is closed.
    pub(super) fn is_closed_by(&self, id: u64, end: AbortHandle) {
        // It may have ended already.
        if let Some(member) = self.lock().members.get_mut(&id) {
            member.end = Some(end);
        }
    }

    /// Waits until there may be room.
    pub(super) async fn room(&self) {
        let _ = timeout(AGAIN, self.freed.notified()).await;
    }

    fn has_share(&self, state: &State, owner: Owner) -> bool {
        owner.has_share && state.connections(owner) >= self.share
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionGuard {
    /// Its id among those of its listener.
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Makes another its owner. Returns whether that one may have it.
    pub(super) fn give_to(&self, owner: Owner) -> bool {
        let mut state = self.admission.lock();
        if self.admission.has_share(&state, owner) {
            return false;
        }
        if let Some(member) = state.remove(self.id) {
            let since = member.since;
            state.members.insert(self.id, Member { owner, ..member });
            state.change(owner, |queue| queue.insert((since, self.id)));
        }
        true
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.admission.lock().remove(self.id);
        self.admission.freed.notify_one();
    }
}

impl State {
    fn connections(&self, owner: Owner) -> usize {
        self.queues.get(&owner).map_or(0, BTreeSet::len)
    }

    /// Changes the queue of an owner, and its place in the order.
    fn change(&mut self, owner: Owner, change: impl FnOnce(&mut BTreeSet<(Instant, u64)>) -> bool) {
        let rank = |queue: &BTreeSet<(Instant, u64)>| {
            queue.first().map(|(since, _)| (Reverse(owner.weight(queue.len())), *since, owner))
        };
        let queue = self.queues.entry(owner).or_default();
        if let Some(rank) = rank(queue) {
            self.order.remove(&rank);
        }
        change(queue);
        match rank(queue) {
            Some(rank) => drop(self.order.insert(rank)),
            None => drop(self.queues.remove(&owner)),
        }
    }

    fn remove(&mut self, id: u64) -> Option<Member> {
        let member = self.members.remove(&id)?;
        self.change(member.owner, |queue| queue.remove(&(member.since, id)));
        Some(member)
    }

    /// Moves a connection in its queue.
    fn put_off(&mut self, id: u64, until: Instant) {
        let Some(member) = self.members.get_mut(&id) else { return };
        let (owner, since) = (member.owner, std::mem::replace(&mut member.since, until));
        self.change(owner, |queue| queue.remove(&(since, id)) && queue.insert((until, id)));
    }

    /// The connection to close for one of `newcomer`: never one of an owner that has fewer. One that waits for the body
    /// of a request is taken if none is idle; one that works, never.
    fn longest_idle(&mut self, newcomer: Owner, now: Instant) -> Option<u64> {
        let least = newcomer.weight(self.connections(newcomer));
        let mut best: Option<(bool, Instant, u64)> = None;
        for _ in 0..LOOKED_AT {
            // Whoever was put off until now works.
            let next = self.order.iter().take(PASSED_OVER).find(|(_, since, _)| *since < now);
            let Some(&(Reverse(weight), _, owner)) = next else { break };
            if weight < least {
                break;
            }
            let (since, id) = *self.queues.get(&owner)?.first()?;
            let (moved, standing) = self.members.get(&id)?.activity.standing();
            if standing != Standing::Works {
                let found = (standing == Standing::Waits, moved, id);
                best = Some(best.map_or(found, |best| best.min(found)));
            }
            match standing {
                Standing::Idle if moved <= since => return Some(id),
                Standing::Idle => self.put_off(id, moved),
                Standing::Waits | Standing::Works => self.put_off(id, now),
            }
        }
        best.map(|(_, _, id)| id)
    }
}

#[cfg(test)]
mod tests {
    use hyper::Version;

    use super::*;
    use crate::http::heads::{self, Head};
    use crate::shares::Shares;

    fn client(last: u8) -> Owner {
        Owner::client(IpAddr::from([192, 0, 2, last]))
    }

    /// A listener whose clock is ours.
    struct Listener {
        admission: Arc<Admission>,
        start: Instant,
    }

    impl Listener {
        fn new(most: usize, share: usize) -> Self {
            Self { admission: Admission::new(most, share), start: Instant::now() }
        }

        /// A connection that has its last byte when it is opened.
        fn open(&self, owner: Owner, second: u64) -> Result<(ConnectionGuard, Arc<Activity>), Refusal> {
            let now = self.start + Duration::from_secs(second);
            let activity = Activity::begin(now, Head::new(&Shares::new(heads::BOUNDS), owner));
            self.admission.admit(owner, &activity, now).map(|(place, _)| (place, activity))
        }

        fn is_open(&self, place: &ConnectionGuard) -> bool {
            self.admission.lock().members.contains_key(&place.id)
        }
    }

    #[test]
    fn the_longest_idle_one_of_whoever_has_most_is_closed() {
        let listener = Listener::new(5, 3);
        let (lone, _) = listener.open(client(1), 0).expect("room");
        let several: Vec<_> = (1..=3).map(|second| listener.open(client(2), second).expect("room").0).collect();
        let (other, _) = listener.open(client(3), 4).expect("room");
        let (newcomer, _) = listener.open(client(4), 10).expect("room is made");
        assert!(!listener.is_open(&several[0]) && listener.is_open(&several[1]));
        assert!([&lone, &other, &newcomer].iter().all(|place| listener.is_open(place)));
        assert_eq!(listener.admission.lock().members.len(), 5);
    }

    #[test]
    fn an_address_beyond_its_share_is_refused_and_takes_nobodys_place() {
        let listener = Listener::new(8, 2);
        let v6 = |text: &str| Owner::client(text.parse().expect("an address"));
        let first = listener.open(v6("2001:db8::1"), 0).expect("room");
        let _second = listener.open(v6("2001:db8::2"), 0).expect("room");
        assert_eq!(listener.open(v6("2001:db8::3"), 1).err(), Some(Refusal::Share));
        assert!(listener.open(v6("2001:db8:0:1::1"), 1).is_ok());
        drop(first);
        assert!(listener.open(v6("2001:db8::3"), 2).is_ok());
    }

    #[test]
    fn activity_counts_and_work_is_never_closed() {
        let listener = Listener::new(3, 3);
        let (works, activity) = listener.open(client(1), 0).expect("room");
        let _request = activity.request(Version::HTTP_11);
        let (active, activity) = listener.open(client(1), 1).expect("room");
        activity.received(1, listener.start + Duration::from_secs(5)).expect("it is no flood");
        let (idle, _) = listener.open(client(1), 2).expect("room");
        let (_first, _) = listener.open(client(2), 10).expect("room is made");
        assert!(listener.is_open(&works) && listener.is_open(&active) && !listener.is_open(&idle));
        let (_second, _) = listener.open(client(3), 11).expect("room is made");
        assert!(listener.is_open(&works) && !listener.is_open(&active));
    }

    #[test]
    fn while_every_connection_works_there_is_no_room() {
        let listener = Listener::new(2, 2);
        let (first, activity) = listener.open(client(1), 0).expect("room");
        let request = activity.request(Version::HTTP_11);
        let (_second, other) = listener.open(client(1), 0).expect("room");
        let _request = other.request(Version::HTTP_11);
        assert_eq!(listener.open(client(2), 1).err(), Some(Refusal::Full));
        drop(request);
        assert!(listener.open(client(2), 1_000_000).is_ok());
        assert!(!listener.is_open(&first));
    }

    #[test]
    fn whoever_has_more_takes_nothing_from_whoever_has_less() {
        let listener = Listener::new(3, 3);
        let (lone, _) = listener.open(client(1), 0).expect("room");
        let working: Vec<_> = (0..2).map(|_| listener.open(client(2), 1).expect("room")).collect();
        let _requests: Vec<_> = working.iter().map(|(_, activity)| activity.request(Version::HTTP_11)).collect();
        assert_eq!(listener.open(client(2), 2).err(), Some(Refusal::Full));
        assert!(listener.is_open(&lone));
    }

    #[test]
    fn a_proxy_may_have_all_and_gives_way_when_it_has_far_more() {
        let listener = Listener::new(8, 2);
        let proxy = Owner::of_many(IpAddr::from([10, 0, 0, 1]));
        let of_proxy: Vec<_> = (0..8).map(|second| listener.open(proxy, second).expect("room").0).collect();
        let (client_of_other, _) = listener.open(client(1), 8).expect("room is made");
        let (ninth, _) = listener.open(proxy, 9).expect("room is made");
        assert!(!listener.is_open(&of_proxy[0]) && !listener.is_open(&of_proxy[1]) && listener.is_open(&of_proxy[2]));
        assert!(listener.is_open(&client_of_other) && listener.is_open(&ninth));
    }

    #[test]
    fn a_search_among_ten_thousand_looks_at_few_and_finds_one_although_all_were_active() {
        let listener = Listener::new(10_000, 2_500);
        let now = listener.start + Duration::from_secs(50);
        let open: Vec<_> = (0..10_000_u32)
            .map(|number| {
                let opened = listener.open(client((number % 4) as u8), u64::from(number / 1_000)).expect("room");
                opened.1.received(1, now).expect("it is no flood");
                opened
            })
            .collect();
        for newcomer in 0..100 {
            assert!(listener.open(client(100 + newcomer), 60).is_ok(), "{newcomer}");
        }
        let state = listener.admission.lock();
        let looked_at = state.members.values().filter(|member| member.since == now).count();
        assert!(looked_at <= 100 * LOOKED_AT, "{looked_at}");
        drop(state);
        drop(open);
        let state = listener.admission.lock();
        assert!(state.members.is_empty() && state.queues.is_empty() && state.order.is_empty());
    }
}
