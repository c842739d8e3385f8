//! Bounds the memory of heads that are long, or do not end.

use std::net::IpAddr;
use std::sync::Arc;

use super::admission::Owner;
use super::connection::HEAD_BYTES;
use crate::shares::{Bounds, Hold, Shares};

/// So much of a head needs no room.
pub const FREE: usize = 8 * 1024;

/// Limits on the bytes of longer heads, [`HEAD_BYTES`] for each: in total and per address. Nobody waits for them.
pub const BOUNDS: Bounds = Bounds { most: 64 * 1024 * 1024, share: 16 * 1024 * 1024, waiting: 0, waiting_share: 0 };

/// The room for the head of a connection.
#[derive(Debug)]
pub(super) struct Head {
    heads: Arc<Shares<IpAddr>>,
    /// `None` if all clients come from its address.
    owner: Option<IpAddr>,
    room: Option<Hold<IpAddr>>,
}

impl Head {
    pub(super) fn new(heads: &Arc<Shares<IpAddr>>, owner: Owner) -> Self {
        Self { heads: Arc::clone(heads), owner: owner.with_share(), room: None }
    }

    /// Whose it is.
    pub(super) fn belongs_to(&mut self, owner: Owner) {
        self.owner = owner.with_share();
    }

    /// Takes room for a head that gets long, unless it has some. Returns whether there is any.
    pub(super) fn has_room(&mut self) -> bool {
        let Some(owner) = self.owner else { return true };
        if self.room.is_none() {
            self.room = self.heads.take_now(owner, HEAD_BYTES);
        }
        self.room.is_some()
    }

    /// Gives the room back: the head is read, and its request answered.
    pub(super) fn ends(&mut self) {
        self.room = None;
    }
}
