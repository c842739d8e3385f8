//! Bounds the memory of responses that wait for slow clients.

use std::sync::Arc;

use bytes::Bytes;
use tokio::time::Instant;

use super::limits::Key;
use crate::shares::{Bounds, Hold, Shares};

/// Responses of at most this many bytes are not counted if nothing else happens on their connection: there is one of them
/// for each connection.
pub const SMALL: usize = 16 * 1024;

/// Limits on the bytes of unsent responses, in total and per caller, and on the bytes waiting for room.
pub const BOUNDS: Bounds = Bounds {
    most: 128 * 1024 * 1024,
    share: 32 * 1024 * 1024,
    waiting: 32 * 1024 * 1024,
    waiting_share: 16 * 1024 * 1024,
};

/// What a request that shares its connection is counted for beside its head and its response: what HTTP/2 and its task
/// need.
pub const REQUEST: usize = 4 * 1024;

/// Limits on the bytes of requests that share their connections, with their short responses, until these are sent: in total
/// and per address. Nobody waits for them.
pub const SHARED: Bounds = Bounds { most: 64 * 1024 * 1024, share: 8 * 1024 * 1024, waiting: 0, waiting_share: 0 };

/// The error when there is no room.
pub const FULL: &str = "Too many large responses are waiting to be sent. Try again soon, or ask for less at once.";

/// The error when an address has too many requests that share connections.
pub const CROWDED: &str = "Too many requests of this address are in progress, or their responses are not read.";

/// The unsent responses of the process.
#[derive(Debug, Clone)]
pub struct Outbox {
    large: Arc<Shares<Key>>,
    shared: Arc<Shares<Key>>,
}

/// A response that is counted until it is sent or dropped.
struct Counted {
    bytes: Bytes,
    _hold: Hold<Key>,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Default for Outbox {
    fn default() -> Self {
        Self { large: Shares::new(BOUNDS), shared: Shares::new(SHARED) }
    }
}

impl Outbox {
    /// Whether a response is counted: it is large and has its own memory, unlike static files.
    pub fn counts(answer: &Bytes) -> bool {
        answer.len() > SMALL && answer.is_unique()
    }

    /// Counts a response for `owner`, waiting for room. Returns `None` if there is no room by `deadline`.
    pub async fn count(&self, answer: Bytes, owner: Key, deadline: Instant) -> Option<Bytes> {
        let hold = self.large.take(owner, answer.len(), deadline).await?;
        Some(Self::holding(answer, hold))
    }

    /// Counts a request that shares its connection, with a head of so many bytes. Returns `None` if there is no room.
    pub fn begin(&self, owner: Key, head: usize) -> Option<Hold<Key>> {
        self.shared.take_now(owner, REQUEST + head)
    }

    /// Counts a short response to such a request. Returns whether there is room.
    pub fn has_room(room: &mut Hold<Key>, answer: &Bytes) -> bool {
        !answer.is_unique() || answer.is_empty() || room.grow(answer.len())
    }

    /// A response that holds its room until it is sent or dropped.
    pub fn holding(answer: Bytes, room: Hold<Key>) -> Bytes {
        Bytes::from_owner(Counted { bytes: answer, _hold: room })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_is_counted_until_all_of_it_is_gone() {
        let (outbox, owner) = (Outbox::default(), Key::Token(1));
        let answer = || Bytes::from(vec![b'x'; BOUNDS.share]);
        let mut first = outbox.count(answer(), owner, Instant::now()).await.expect("room");
        let tail = first.split_off(BOUNDS.share - 1);
        drop(first);
        assert!(outbox.count(answer(), owner, Instant::now()).await.is_none(), "a byte is not sent yet");
        assert!(outbox.count(answer(), Key::Token(2), Instant::now()).await.is_some(), "another caller's share");
        drop(tail);
        assert!(outbox.count(answer(), owner, Instant::now()).await.is_some());
    }

    #[test]
    fn parts_of_the_program_and_short_answers_are_not_counted() {
        assert!(!Outbox::counts(&Bytes::from_static(&[b'x'; SMALL + 1])));
        assert!(!Outbox::counts(&Bytes::from(vec![b'x'; SMALL])));
        assert!(Outbox::counts(&Bytes::from(vec![b'x'; SMALL + 1])));
    }
}
