//! Rate limits by token and by address: fixed windows. docs/limits.md lists them.
//!
//! A window begins with the first request in it. A [`Store`] keeps the counts: in the process, or in a database that
//! several processes share. [`reply`](super::reply) builds the refusal.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use tracing::debug;

use crate::db::{Counted, Db, LONGEST_WINDOW};

/// Whose requests are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// A token, by the id of its row.
    Token(i64),
    /// A signed-in user who calls the API from the application, by the id of the session's row.
    Session(i64),
    /// A feed, by the id of its row.
    Feed(i64),
    /// An address. All addresses of an IPv6 /64 network count as one.
    Address(IpAddr),
}

impl Key {
    /// The key of a client's address.
    pub fn of_address(address: IpAddr) -> Self {
        Self::Address(network(address))
    }

    /// The length of a window.
    pub fn window(self) -> Duration {
        match self {
            Self::Token(_) | Self::Session(_) | Self::Feed(_) => TOKEN_WINDOW,
            Self::Address(_) => LONGEST_WINDOW,
        }
    }
}

/// The key in the database.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(id) => write!(f, "{TOKEN} {id}"),
            Self::Session(id) => write!(f, "session {id}"),
            Self::Feed(id) => write!(f, "feed {id}"),
            Self::Address(address) => write!(f, "address {address}"),
        }
    }
}

/// The prefix of the keys of tokens in the database.
pub const TOKEN: &str = "token";

/// The window of a token, a session or a feed.
pub const TOKEN_WINDOW: Duration = Duration::from_secs(60);

/// The address that is counted: an IPv4 address itself, or the first address of an IPv6 /64 network.
pub fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
    }
}

/// A limit is divided into this many portions.
const PORTIONS: u32 = 400;

/// In this many of the last portions, each request is reported by itself.
const LAST_PORTIONS: u32 = 16;

/// The number of requests that a process reports to the database at once, while `known` are known to be in the window.
fn portion(limit: u32, known: u32) -> u32 {
    let portion = limit / PORTIONS;
    let is_near = limit.saturating_sub(known) <= LAST_PORTIONS * portion;
    if is_near { 1 } else { portion.max(1) }
}

/// Whether each request is reported by itself, so that the limit is exact over all processes.
pub fn is_exact(limit: u32) -> bool {
    portion(limit, 0) == 1
}

/// Counts requests.
pub trait Store: Send + Sync {
    /// Counts a request at the instant `now` and returns the state of its window.
    fn count(&self, key: Key, limit: u32, now: Instant) -> BoxFuture<'_, Window>;
}

/// The state of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The requests in it, including refused ones.
    pub requests: u32,
    /// The time until it ends.
    pub rest: Duration,
}

impl From<Counted> for Window {
    fn from(Counted { requests, rest }: Counted) -> Self {
        Self { requests, rest }
    }
}

/// The limits of an installation.
pub struct RateLimits {
    token: u32,
    address: u32,
    store: Box<dyn Store>,
}

/// The remaining allowance of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Whether this request is allowed.
    pub allowed: bool,
    /// The requests left in the window.
    pub remaining: u32,
    /// The seconds to wait before another request: 0 while there are requests left, else at least 1.
    pub retry_after: u64,
}

impl RateLimits {
    /// The limits of a token and of an address, in requests per window. 0 means no limit.
    pub fn new(token: u32, address: u32, store: Box<dyn Store>) -> Self {
        Self { token, address, store }
    }

    /// The limits of all processes that serve `db`.
    pub fn over(db: Db, token: u32, address: u32) -> Self {
        let store: Box<dyn Store> =
            if db.is_shared() { Box::new(Shared::new(&db)) } else { Box::new(InProcess::default()) };
        Self::new(token, address, store)
    }

    /// Counts a request at the instant `now`, and returns the caller's standing. Returns `None` if there is no limit.
    /// If the request was counted when its token was read, `counted` is its window, and it is not counted again.
    pub async fn count(&self, key: Key, counted: Option<Window>, now: Instant) -> Option<Standing> {
        let limit = match key {
            Key::Token(_) | Key::Session(_) | Key::Feed(_) => self.token,
            Key::Address(_) => self.address,
        };
        if limit == 0 {
            return None;
        }
        let window = match counted {
            Some(window) => window,
            None => self.store.count(key, limit, now).await,
        };
        let Window { requests, rest } = window;
        let remaining = limit.saturating_sub(requests);
        let retry_after = if remaining > 0 { 0 } else { (rest.as_secs_f64().ceil() as u64).max(1) };
        Some(Standing { allowed: requests <= limit, remaining, retry_after })
    }
}

/// Counts in the memory of this process.
#[derive(Debug, Default)]
pub struct InProcess {
    tokens: Mutex<Windows>,
    addresses: Mutex<Windows>,
}

impl InProcess {
    /// The windows among which that of a key is.
    fn windows(&self, key: Key) -> MutexGuard<'_, Windows> {
        let windows = match key {
            Key::Token(_) | Key::Session(_) | Key::Feed(_) => &self.tokens,
            Key::Address(_) => &self.addresses,
        };
        windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for InProcess {
    fn count(&self, key: Key, _: u32, now: Instant) -> BoxFuture<'_, Window> {
        ready(self.windows(key).current(key, now).count(now)).boxed()
    }
}

/// Counts in the database, across all processes.
///
/// Requests are counted here and reported to the database in [portions](portion), so that a process which has not heard
/// of the others' last requests lets through about a portion above the limit. A limit whose portion is one request is
/// exact, and most requests of a token are then counted by the statement that reads it. A caller that is over its limit,
/// or has made few requests, costs no statement.
pub struct Shared {
    db: Db,
    /// What this process knows.
    here: InProcess,
}

impl Shared {
    /// The pause after a report that failed, so that few requests wait for a database that is away.
    const PAUSE: Duration = Duration::from_secs(5);

    fn new(db: &Db) -> Self {
        // Through connections that long work never occupies.
        Self { db: db.reserved(), here: InProcess::default() }
    }

    async fn count_request(&self, key: Key, limit: u32, now: Instant) -> Window {
        let (by, here) = {
            let mut windows = self.here.windows(key);
            let window = windows.current(key, now);
            let here = window.count(now);
            if window.known >= limit || window.unreported < portion(limit, window.known) || now < window.not_before {
                return here;
            }
            (std::mem::take(&mut window.unreported), here)
        };
        let counted = self.db.count(&key.to_string(), by, key.window()).await;
        let mut windows = self.here.windows(key);
        let window = windows.current(key, now);
        match counted {
            Ok(Counted { requests, rest }) => {
                (window.known, window.ends) = (requests, now + rest);
                Window { requests, rest }
            }
            // While the database is away, each process counts for itself.
            Err(error) => {
                debug!(%error, "requests are not counted over all processes");
                window.unreported = window.unreported.saturating_add(by);
                window.not_before = now + Self::PAUSE;
                here
            }
        }
    }
}

impl Store for Shared {
    fn count(&self, key: Key, limit: u32, now: Instant) -> BoxFuture<'_, Window> {
        self.count_request(key, limit, now).boxed()
    }
}

/// The windows that this process knows, in the order in which it first saw them.
///
/// Ended windows are dropped. Beyond [`Windows::CAPACITY`], the oldest window is dropped and its caller starts a new
/// one. To exploit that, an attacker would need more addresses than that, each of which has its own limit anyway.
#[derive(Debug, Default)]
struct Windows {
    open: HashMap<Key, Open>,
    order: VecDeque<Key>,
}

/// An open window.
#[derive(Debug, Clone, Copy)]
struct Open {
    ends: Instant,
    /// The requests of all processes at the last report to the database. 0 without one.
    known: u32,
    /// The requests of this process since then.
    unreported: u32,
    /// No report before this time, because the last one failed.
    not_before: Instant,
}

impl Windows {
    /// The maximum number of windows. They take about 10 MB.
    const CAPACITY: usize = 1 << 16;

    /// Returns the open window of a key. Opens one if there is none or the last has ended.
    fn current(&mut self, key: Key, now: Instant) -> &mut Open {
        while let Some(first) = self.order.front() {
            let has_ended = self.open.get(first).is_none_or(|window| window.ends <= now);
            if !has_ended && (self.order.len() < Self::CAPACITY || self.open.contains_key(&key)) {
                break;
            }
            self.open.remove(first);
            self.order.pop_front();
        }
        let new = Open { ends: now + key.window(), known: 0, unreported: 0, not_before: now };
        let window = self.open.entry(key).or_insert_with(|| {
            self.order.push_back(key);
            new
        });
        // The database may end a window earlier than those before it.
        if window.ends <= now {
            *window = new;
        }
        window
    }
}

impl Open {
    /// Counts a request.
    fn count(&mut self, now: Instant) -> Window {
        self.unreported = self.unreported.saturating_add(1);
        let requests = self.known.saturating_add(self.unreported);
        Window { requests, rest: self.ends.saturating_duration_since(now) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(limits: &RateLimits, key: Key, now: Instant) -> Standing {
        limits.count(key, None, now).now_or_never().flatten().expect("a limit")
    }

    fn limits(token: u32, address: u32) -> RateLimits {
        RateLimits::new(token, address, Box::new(InProcess::default()))
    }

    #[test]
    fn the_request_after_the_last_of_a_window_is_refused() {
        let (limits, start) = (limits(400, 0), Instant::now());
        for request in 1..=400 {
            let standing = count(&limits, Key::Token(1), start + Duration::from_millis(request));
            assert!(standing.allowed);
            assert_eq!(u64::from(standing.remaining), 400 - request);
        }
        let refused = count(&limits, Key::Token(1), start + Duration::from_millis(30_001));
        assert_eq!(refused, Standing { allowed: false, remaining: 0, retry_after: 30 });
        let last = count(&limits, Key::Token(1), start + Duration::from_micros(60_000_999));
        assert_eq!(last, Standing { allowed: false, remaining: 0, retry_after: 1 });
        let next = count(&limits, Key::Token(1), start + Duration::from_millis(60_001));
        assert_eq!(next, Standing { allowed: true, remaining: 399, retry_after: 0 });
    }

    #[test]
    fn the_last_request_of_a_window_says_how_long_to_wait() {
        let (limits, now) = (limits(1, 0), Instant::now());
        assert_eq!(count(&limits, Key::Token(1), now), Standing { allowed: true, remaining: 0, retry_after: 60 });
    }

    #[test]
    fn every_token_and_every_address_has_its_own_window() {
        let (limits, now) = (limits(5, 5), Instant::now());
        let v4 = |last| Key::of_address(IpAddr::from([192, 0, 2, last]));
        for key in [Key::Token(1), Key::Token(2), v4(1), v4(2)] {
            assert_eq!(count(&limits, key, now).remaining, 4, "{key:?}");
        }
    }

    #[test]
    fn addresses_of_one_ipv6_network_of_64_bits_share_a_window() {
        let (limits, now) = (limits(0, 5), Instant::now());
        let key = |address: &str| Key::of_address(address.parse().expect("an address"));
        assert_eq!(count(&limits, key("2001:db8:0:1::1"), now).remaining, 4);
        assert_eq!(count(&limits, key("2001:db8:0:1:ffff::2"), now).remaining, 3);
        assert_eq!(count(&limits, key("2001:db8:0:2::1"), now).remaining, 4);
    }

    #[test]
    fn a_limit_of_0_means_no_limit() {
        assert_eq!(limits(0, 0).count(Key::Token(1), None, Instant::now()).now_or_never(), Some(None));
    }

    #[test]
    fn a_small_limit_is_exact() {
        assert!(is_exact(1) && is_exact(400) && is_exact(799) && !is_exact(800));
        assert_eq!((portion(2_000, 0), portion(u32::MAX, 0)), (5, 10_737_418));
    }

    #[test]
    fn near_a_large_limit_each_request_is_reported() {
        assert_eq!([1_919, 1_920, 2_000, 2_001].map(|known| portion(2_000, known)), [5, 1, 1, 1]);
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_windows_go_first() {
        let (mut windows, start) = (Windows::default(), Instant::now());
        for id in 0..Windows::CAPACITY as i64 + 1000 {
            windows.current(Key::Token(id), start).count(start);
        }
        assert_eq!((windows.open.len(), windows.order.len()), (Windows::CAPACITY, Windows::CAPACITY));
        assert_eq!(windows.current(Key::Token(1000), start).count(start).requests, 2);
        assert_eq!(windows.current(Key::Token(999), start).count(start).requests, 1);
        windows.current(Key::Token(0), start + Duration::from_secs(60));
        assert_eq!((windows.open.len(), windows.order.len()), (1, 1));
    }
}
