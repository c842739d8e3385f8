//! Stops statements on SQLite that take too long.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::InterruptHandle;

use crate::budget::Slice;

/// The number of SQLite VM steps that a statement may take on the calling thread, about a quarter of a millisecond. A
/// page of a hundred rows takes a tenth of that. A slow statement is checked at the same interval.
const STEPS: i64 = 50_000;

/// How many steps pass between two calls of the progress handler.
pub(in crate::db) const COUNTED: i32 = 1000;

/// The state behind SQLite's progress handler.
pub(in crate::db) struct Watch {
    /// The steps left until the next check.
    steps: AtomicI64,
    /// Whether the statement may be slow.
    is_long: AtomicBool,
    /// Whether its caller has given up.
    is_stopped: AtomicBool,
    /// Charges a slow statement to the budget of its request.
    slice: Mutex<Option<Slice>>,
}

impl Watch {
    pub(in crate::db) fn new() -> Self {
        let (is_long, is_stopped) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { steps: AtomicI64::new(STEPS), is_long, is_stopped, slice: Mutex::default() }
    }

    fn slice(&self) -> MutexGuard<'_, Option<Slice>> {
        self.slice.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Before a statement that must not be stopped.
    pub(in crate::db) fn allow_any(&self) {
        self.steps.store(i64::MAX, Ordering::Relaxed);
    }

    /// Before a statement that is stopped as soon as it turns out to be slow.
    pub(in crate::db) fn allow_quick(&self) {
        self.steps.store(STEPS, Ordering::Relaxed);
        self.is_long.store(false, Ordering::Relaxed);
    }

    /// Before a slow statement, which the returned handle stops.
    pub(in crate::db) fn allow_slow(self: &Arc<Self>, handle: InterruptHandle) -> Stop {
        self.is_stopped.store(false, Ordering::Relaxed);
        self.is_long.store(true, Ordering::Relaxed);
        self.steps.store(STEPS, Ordering::Relaxed);
        Stop(Some((Arc::clone(self), handle)))
    }

    /// Sets what a slow statement is charged to. The slice before it is charged the rest.
    pub(in crate::db) fn charge(&self, slice: Option<Slice>) {
        *self.slice() = slice;
    }

    /// Whether the statement must be stopped.
    pub(in crate::db) fn is_over(&self) -> bool {
        let counted = i64::from(COUNTED);
        if self.steps.fetch_sub(counted, Ordering::Relaxed) >= counted {
            return false;
        }
        if !self.is_long.load(Ordering::Relaxed) || self.is_stopped.load(Ordering::Relaxed) {
            return true;
        }
        if self.slice().as_mut().is_some_and(|slice| slice.check().is_err()) {
            return true;
        }
        self.steps.store(STEPS, Ordering::Relaxed);
        false
    }
}

/// Stops the running statement when dropped, unless disarmed.
pub(in crate::db) struct Stop(Option<(Arc<Watch>, InterruptHandle)>);

impl Stop {
    /// Disarms it, because the statement has ended.
    pub(in crate::db) fn disarm(&mut self) {
        self.0 = None;
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        if let Some((watch, handle)) = &self.0 {
            // The flag stops a statement that has not started yet. The interrupt stops one that is within a single long
            // step.
            watch.is_stopped.store(true, Ordering::Relaxed);
            watch.steps.store(0, Ordering::Relaxed);
            handle.interrupt();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::super::connection::Connection;
    use super::super::group_commit::Flushes;

    #[test]
    fn what_stopped_a_statement_stops_neither_the_end_of_its_transaction_nor_the_next_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("rows.db");
        let made = rusqlite::Connection::open(&file).and_then(|made| {
            made.pragma_update(None, "journal_mode", "WAL")?;
            made.execute_batch("CREATE TABLE row (id INTEGER)")
        });
        made.expect("a table");
        let connection = Connection::writing(&file, &Arc::new(Flushes::default())).expect("a connection");
        // SQLite counts the steps of a prepared statement over all its runs, and asks at each thousandth.
        for _ in 0..2_000 {
            drop(connection.begin_long());
            let begun = connection.begin_write(Duration::ZERO).map_err(crate::db::Error::from);
            begun.expect("a transaction");
            drop(connection.begin_long());
            connection.end().expect("it is rolled back");
        }
    }
}
