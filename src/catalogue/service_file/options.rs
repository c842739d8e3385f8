//! How files are applied, and how far that is.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Bounds, Origin, Permit};
use crate::events::Wanted;

/// How to apply files.
#[derive(Clone, Default)]
pub struct Options<'p> {
    /// Where the files come from.
    pub origin: Origin,
    /// Whether to change nothing, and only return what would change.
    pub is_dry_run: bool,
    /// Whether to release the services that other files of the repository govern and no document describes.
    pub releases_missing: bool,
    /// The maximum numbers, for the files of a request. `None` allows any, for files of this machine.
    pub bounds: Option<Bounds>,
    /// The caller's permissions. `None` allows every change.
    pub permit: Option<&'p dyn Permit>,
    /// The kinds of events that somebody wants. `None` if nobody wants any.
    pub events: Option<&'p Wanted>,
    /// Who is told how far it is. `None` if nobody is.
    pub progress: Option<&'p Progress>,
}

/// How far files are applied.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    all: AtomicU64,
}

impl Progress {
    /// The documents that were looked at, and all of them.
    pub fn get(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed))
    }

    /// Begins, perhaps again: none of so many documents was looked at.
    pub(super) fn begin(&self, all: usize) {
        self.all.store(all as u64, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
    }

    /// Notes that more documents were looked at.
    pub(super) fn add(&self, more: usize) {
        self.done.fetch_add(more as u64, Ordering::Relaxed);
    }
}
