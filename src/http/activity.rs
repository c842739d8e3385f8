//! What happens on a connection: how long it has been idle, what it still sends, and what it sends beside requests.
//!
//! A connection pays for the bytes that it receives by what comes of them: a request, bytes of a body that somebody
//! reads, answers that are taken. Whatever costs work and leads to nothing (pings, settings, windows, priorities, empty
//! frames, blank lines) is never paid for, so a connection that sends more than [`UNPAID`] bytes of it is closed.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hyper::Version;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::admission::Owner;
use super::connection::Patience;
use super::heads::{self, Head};
use super::outgoing::{Outgoing, Stream};
use super::streamed::Chunks;

/// How much of its responses a peer must take within the idle timeout. Otherwise a peer that takes a byte now and then
/// would keep all the rest in memory.
pub const PIECE: usize = 64 * 1024;

/// How many bytes a connection may receive from which nothing comes. More than what a client has under way, in the flow
/// control window of its connection, when the body that it sends is refused.
pub const UNPAID: usize = 512 * 1024;

/// How much of that a request pays for: its head.
const OF_REQUEST: usize = 64 * 1024;

/// How much of that a byte of a body pays for: its chunk and its TLS record may be for it alone.
const OF_BODY: usize = 16;

/// Of so many bytes that are sent, one pays for a byte that is received: a client makes its windows larger again.
const SENT: usize = 8;

/// How many more requests a client may cancel than it lets be answered.
pub const CANCELLED: u32 = 256;

/// The longest time a peer gets to notice that a connection is closing.
pub(super) const FAREWELL: Duration = Duration::from_secs(1);

/// Why a connection is closed before its client has finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// Its place is for another one.
    Room,
    /// It has sent too much from which nothing came.
    Flood,
    /// Its client does not take the answers.
    Stalled,
    /// What its address has in memory is too much.
    Memory,
}

impl Closed {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Room, Self::Flood, Self::Stalled, Self::Memory];

    /// The name in the metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Room => "room",
            Self::Flood => "flood",
            Self::Stalled => "stalled",
            Self::Memory => "memory",
        }
    }
}

/// What a connection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It has no request in progress. Answers may still wait to be taken.
    Idle,
    /// All of its requests wait for more of their bodies.
    Waits,
    /// A request is carried out.
    Works,
}

/// The activity on a connection.
#[derive(Debug)]
pub(super) struct Activity {
    state: Mutex<State>,
    ended: Notify,
}

#[derive(Debug)]
struct State {
    /// Requests in progress.
    open: usize,
    /// Of these, how many wait for more of their bodies.
    waiting: usize,
    /// Requests so far.
    requests: u64,
    /// When the connection was accepted.
    began: Instant,
    /// When a response, or [`PIECE`] bytes of one, was last sent.
    last: Instant,
    /// The bytes sent since then, over HTTP/1.
    left: usize,
    /// When a byte was last received or sent.
    moved: Instant,
    /// The bytes received from which nothing has come yet.
    unpaid: usize,
    /// How many more requests were cancelled than answered.
    cancelled: u32,
    is_http2: bool,
    /// Streams of HTTP/2 that are not over, with answers that wait.
    streams: usize,
    /// Pieces of answers that HTTP/2 has taken over and not sent yet, with the time when it did.
    pieces: BTreeMap<u64, Instant>,
    next_piece: u64,
    /// The request of HTTP/2 that has begun last, until somebody runs it.
    begun: Option<Arc<Stream>>,
    head: Head,
    end: Option<Closed>,
}

impl Activity {
    /// That of a new connection.
    pub(super) fn begin(now: Instant, head: Head) -> Arc<Self> {
        let state = State {
            open: 0,
            waiting: 0,
            requests: 0,
            began: now,
            last: now,
            left: 0,
            moved: now,
            unpaid: 0,
            cancelled: 0,
            is_http2: false,
            streams: 0,
            pieces: BTreeMap::new(),
            next_piece: 0,
            begun: None,
            head,
            end: None,
        };
        Arc::new(Self { state: Mutex::new(state), ended: Notify::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When the connection was accepted.
    pub(super) fn began(&self) -> Instant {
        self.lock().began
    }

    /// Whether it has had a request.
    pub(super) fn has_begun(&self) -> bool {
        self.lock().requests > 0
    }

    /// When a byte was last received or sent, and what it does now.
    pub(super) fn standing(&self) -> (Instant, Standing) {
        let state = self.lock();
        let standing = match (state.open, state.waiting) {
            (0, _) => Standing::Idle,
            (open, waiting) if open == waiting => Standing::Waits,
            _ => Standing::Works,
        };
        (state.moved, standing)
    }

    /// Notes bytes that have arrived.
    ///
    /// # Errors
    /// The connection has sent too many of which nothing came, or its address has too many heads that do not end.
    pub(super) fn received(&self, bytes: usize, now: Instant) -> io::Result<()> {
        let mut state = self.lock();
        state.moved = now;
        state.unpaid += bytes;
        if state.unpaid <= heads::FREE {
            return Ok(());
        }
        let is_flood = state.unpaid > UNPAID;
        if !is_flood && (state.open > 0 || state.head.has_room()) {
            return Ok(());
        }
        state.end = Some(if is_flood { Closed::Flood } else { Closed::Memory });
        Err(io::Error::other("it sends too much without a request"))
    }

    /// Makes another address pay for its heads.
    pub(super) fn belongs_to(&self, owner: Owner) {
        self.lock().head.belongs_to(owner);
    }

    /// Notes bytes of a body that somebody has read, and whether more is waited for: before and now.
    pub(super) fn read(&self, was_waiting: bool, is_waiting: bool, bytes: usize) {
        let mut state = self.lock();
        state.pay(bytes.saturating_mul(OF_BODY));
        match (was_waiting, is_waiting) {
            (false, true) => state.waiting += 1,
            (true, false) => state.waiting -= 1,
            _ => {}
        }
    }

    /// Notes bytes that were sent. HTTP/2 also sends frames that a peer can provoke forever, so there the pieces of answers
    /// count.
    pub(super) fn sent(&self, bytes: usize) {
        let mut state = self.lock();
        state.moved = Instant::now();
        state.pay(bytes / SENT);
        if !state.is_http2 {
            state.note(bytes);
        }
    }

    /// Begins a request.
    pub(super) fn request(self: &Arc<Self>, version: Version) -> Answering {
        let mut state = self.lock();
        state.open += 1;
        state.requests += 1;
        state.pay(OF_REQUEST);
        state.is_http2 = version == Version::HTTP_2;
        let is_alone = state.streams == 0;
        let stream = state.is_http2.then(|| {
            state.streams += 1;
            Stream::new(self)
        });
        let before = std::mem::replace(&mut state.begun, stream.clone());
        drop(state);
        drop(before);
        Answering { activity: Arc::clone(self), stream, is_alone, is_answered: false }
    }

    /// The request that has begun last, for whoever runs it.
    pub(super) fn take_begun(&self) -> Option<Arc<Stream>> {
        self.lock().begun.take()
    }

    /// Notes that HTTP/2 has taken over a piece of an answer. Returns the piece's number.
    pub(super) fn piece_begins(&self) -> u64 {
        let mut state = self.lock();
        let number = state.next_piece;
        state.next_piece += 1;
        state.pieces.insert(number, Instant::now());
        number
    }

    /// Notes that a piece of an answer is sent.
    pub(super) fn piece_ends(&self, number: u64) {
        let mut state = self.lock();
        state.pieces.remove(&number);
        state.rest();
    }

    /// Notes that a chunk of an answer was made: until then the client waited for us.
    pub(super) fn chunk_begins(&self) {
        self.lock().rest();
    }

    /// Notes that all of an answer over HTTP/2 is sent.
    pub(super) fn stream_ends(&self) {
        self.lock().streams -= 1;
    }

    /// Ends the connection: it takes no more requests, and is closed when those that it has are answered.
    pub(super) fn end(&self, why: Closed) {
        self.lock().end.get_or_insert(why);
        self.ended.notify_one();
    }

    /// Waits until it is to end.
    pub(super) async fn ended(&self) {
        self.ended.notified().await;
    }

    /// Why it ends before its client has finished.
    pub(super) fn why(&self) -> Option<Closed> {
        self.lock().end
    }

    /// When the connection is to be closed, as far as is known now. `ending` is when that began.
    pub(super) fn due(&self, ending: Option<Instant>, patience: Patience) -> Option<Instant> {
        let state = self.lock();
        let if_idle = |due: Instant| (state.open == 0).then_some(due);
        if let Some(ending) = ending {
            let farewell = FAREWELL.min(patience.idle);
            return match state.end {
                None => if_idle(ending.max(state.last) + farewell),
                Some(_) => Some(ending + if state.open == 0 { farewell } else { patience.idle }),
            };
        }
        if state.requests == 0 {
            // Bytes sent before the first response are protocol frames.
            return Some(state.began + patience.head);
        }
        let idle = if_idle(state.last + patience.idle);
        idle.into_iter().chain(state.stalls(patience)).min()
    }

    /// Whether its client has not taken a piece of an answer in time.
    pub(super) fn is_stalled(&self, patience: Patience) -> bool {
        self.lock().stalls(patience).is_some_and(|due| due <= Instant::now())
    }
}

impl State {
    /// Until when its client must take a piece of an answer. A stream that can be reset is by then.
    fn stalls(&self, patience: Patience) -> Option<Instant> {
        let (_, since) = self.pieces.first_key_value()?;
        Some(*since + patience.idle + FAREWELL.min(patience.idle))
    }

    fn pay(&mut self, bytes: usize) {
        self.unpaid = self.unpaid.saturating_sub(bytes);
    }

    fn note(&mut self, bytes: usize) {
        self.left = self.left.saturating_add(bytes);
        if self.left >= PIECE {
            self.rest();
        }
    }

    fn rest(&mut self) {
        (self.last, self.left) = (Instant::now(), 0);
    }
}

/// A request in progress.
pub(super) struct Answering {
    activity: Arc<Activity>,
    /// Over HTTP/2.
    stream: Option<Arc<Stream>>,
    /// Whether the connection has no other request, and no answer that waits.
    pub(super) is_alone: bool,
    is_answered: bool,
}

impl Answering {
    /// The request of HTTP/2.
    pub(super) fn stream(&self) -> Option<Arc<Stream>> {
        self.stream.clone()
    }

    /// The response as a body. The answer to a request that its client has cancelled does not count as one.
    pub(super) fn answered(mut self, answer: Bytes) -> Outgoing {
        self.is_answered = self.stream.as_ref().is_none_or(|stream| !stream.is_cancelled());
        Outgoing::new(answer, self.stream.take())
    }

    /// The same, for a response whose body is written while it is sent.
    pub(super) fn streamed(self, answer: Bytes, more: Chunks) -> Outgoing {
        let activity = Arc::clone(&self.activity);
        self.answered(answer).followed_by(more, activity)
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        let mut state = self.activity.lock();
        state.open -= 1;
        state.rest();
        if state.open == 0 {
            state.head.ends();
        }
        state.cancelled =
            if self.is_answered { state.cancelled.saturating_sub(1) } else { state.cancelled.saturating_add(1) };
        if state.cancelled > CANCELLED {
            drop(state);
            self.activity.end(Closed::Flood);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use hyper::body::Body;

    use super::*;
    use crate::shares::Shares;

    fn begin(now: Instant) -> Arc<Activity> {
        Activity::begin(now, Head::new(&Shares::new(heads::BOUNDS), Owner::of_many(IpAddr::from([127, 0, 0, 1]))))
    }

    #[test]
    fn heads_that_do_not_end_count_for_their_address() {
        let (all, now) = (Shares::new(heads::BOUNDS), Instant::now());
        let connection = |last| Activity::begin(now, Head::new(&all, Owner::client(IpAddr::from([192, 0, 2, last]))));
        let most = heads::BOUNDS.share / crate::http::connection::HEAD_BYTES;
        let open: Vec<_> = (0..most).map(|_| connection(1)).collect();
        for one in &open {
            one.received(heads::FREE + 1, now).expect("there is room");
        }
        let more = connection(1);
        more.received(heads::FREE, now).expect("a short head needs none");
        more.received(1, now).expect_err("its address has its share");
        assert_eq!(more.why(), Some(Closed::Memory));
        connection(2).received(heads::FREE + 1, now).expect("another address has a share of its own");
        drop(open[0].request(Version::HTTP_11).answered(Bytes::new()));
        connection(1).received(heads::FREE + 1, now).expect("a head has ended");
    }

    const PATIENCE: Patience = Patience { head: Duration::from_secs(10), idle: Duration::from_secs(60) };

    #[test]
    fn whoever_takes_a_little_now_and_then_takes_nothing() {
        let began = Instant::now();
        let activity = begin(began);
        drop(activity.request(Version::HTTP_11));
        activity.lock().last = began;
        activity.sent(PIECE - 1);
        let sent = |activity: &Activity| {
            let state = activity.lock();
            (state.last, state.left)
        };
        assert_eq!(sent(&activity), (began, PIECE - 1));
        activity.sent(1);
        assert!(sent(&activity) >= (began, 0));
        assert_eq!(sent(&activity).1, 0);
    }

    #[test]
    fn over_http_2_only_answers_that_are_taken_put_off_the_end() {
        let activity = begin(Instant::now());
        let answering = activity.request(Version::HTTP_2);
        drop(activity.take_begun());
        let mut answer = answering.answered(Bytes::from(vec![b'x'; PIECE + 1]));
        let then = Instant::now();
        activity.lock().last = then;
        activity.sent(100 * PIECE);
        assert_eq!(activity.due(None, PATIENCE), Some(then + PATIENCE.idle));
        let mut next = || {
            let mut context = Context::from_waker(Waker::noop());
            let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut answer).poll_frame(&mut context) else {
                panic!("a piece")
            };
            frame.into_data().expect("data")
        };
        let (first, second) = (next(), next());
        assert_eq!((first.len(), second.len()), (PIECE, 1));
        let early = then - Duration::from_secs(30);
        activity.lock().pieces.insert(1, early);
        drop(first);
        let due = early + PATIENCE.idle + FAREWELL;
        assert_eq!(activity.due(None, PATIENCE), Some(due), "a piece that waits is not forgotten");
        drop((second, answer));
        assert!(activity.lock().pieces.is_empty());
        assert_eq!(activity.lock().streams, 0);
        assert!(activity.due(None, PATIENCE) > Some(then + PATIENCE.idle));
    }

    #[test]
    fn bytes_from_which_nothing_comes_are_bounded() {
        let (activity, now) = (begin(Instant::now()), Instant::now());
        activity.received(UNPAID, now).expect("as many as may be");
        drop(activity.request(Version::HTTP_2));
        activity.received(OF_REQUEST, now).expect("a request pays for its head");
        activity.sent(SENT * 17);
        activity.received(17, now).expect("answers pay for windows");
        activity.received(1, now).expect_err("too many");
        assert_eq!(activity.why(), Some(Closed::Flood));
    }

    #[test]
    fn requests_that_are_cancelled_are_bounded() {
        let activity = begin(Instant::now());
        for _ in 0..CANCELLED {
            drop(activity.request(Version::HTTP_2));
        }
        drop(activity.request(Version::HTTP_2).answered(Bytes::new()));
        drop(activity.request(Version::HTTP_2));
        assert_eq!(activity.why(), None);
        drop(activity.request(Version::HTTP_2));
        assert_eq!(activity.why(), Some(Closed::Flood));
    }
}
