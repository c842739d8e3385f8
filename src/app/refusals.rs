//! Records refused attempts in the audit: sign-ins, tokens, and forbidden actions.
//!
//! Anyone can cause these entries, so they are limited. Attempts by the same actor at the same action share one entry
//! per minute, which counts them. There are at most [`ENTRIES`] an hour; attempts beyond that share one entry for the
//! hour. An entry's count is written whenever it doubles, so most attempts write nothing.
//!
//! A client that disconnects cannot keep its attempt out of the audit: a task of its own writes it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tracing::warn;

use catalogue::db::{Db, Write as _};
use catalogue::entity::Timestamp;
use catalogue::entity::audit::{self, Actor, Subject};
use catalogue::spans;

/// The maximum number of entries in an hour.
pub const ENTRIES: usize = 60;

/// The maximum number of tasks that write, or wait for their turn to write: no fewer than an hour has entries. Beyond
/// that, an attempt is left to the next one.
const WRITERS: usize = ENTRIES;

const MINUTE: i64 = 60 * 1_000_000;
const HOUR: i64 = 60 * MINUTE;

/// Records refused attempts.
pub struct Refusals {
    db: Db,
    hour: Mutex<Hour>,
    writers: Arc<Semaphore>,
}

/// An actor and an action.
type Key = (Actor, &'static str);

/// The entries of one hour.
#[derive(Default)]
struct Hour {
    number: i64,
    entries: HashMap<Key, Entry>,
    made: usize,
}

/// The latest entry of an actor and an action.
struct Entry {
    minute: i64,
    /// The id of its row, once written.
    id: Option<i64>,
    attempts: u64,
}

/// What to write.
#[derive(Debug, PartialEq, Eq)]
enum Write {
    Nothing,
    /// An entry that begins in this minute.
    New(Key, i64),
    /// The count of a row.
    Count(i64, u64),
}

impl Refusals {
    /// Records refused attempts in `db`.
    pub fn new(db: Db) -> Self {
        Self { db, hour: Mutex::default(), writers: Arc::new(Semaphore::new(WRITERS)) }
    }

    fn hour(&self) -> MutexGuard<'_, Hour> {
        self.hour.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that `actor` was refused, and returns once that is written. It is written even if the future is dropped.
    /// `why` is shown in the audit.
    pub async fn note(self: &Arc<Self>, actor: Actor, action: &'static str, why: &str) {
        if let Some(written) = self.begin(actor, action, why) {
            // Fails only if the task has panicked.
            let _ = written.await;
        }
    }

    /// Like [`note`](Self::note), without waiting: whoever may not change anything is told so at once, even while others
    /// write.
    pub fn note_aside(self: &Arc<Self>, actor: Actor, action: &'static str, why: &str) {
        drop(self.begin(actor, action, why));
    }

    /// Begins to write, if there is anything to write.
    fn begin(self: &Arc<Self>, actor: Actor, action: &'static str, why: &str) -> Option<JoinHandle<()>> {
        let write = self.hour().count(actor, action, Timestamp::now());
        if write == Write::Nothing {
            return None;
        }
        let Ok(writer) = Arc::clone(&self.writers).try_acquire_owned() else {
            warn!("a refused attempt cannot be noted in the audit: too many others wait for that");
            if let Write::New(key, minute) = &write {
                self.hour().settle(key, *minute, None);
            }
            return None;
        };
        let (this, why, parent) = (Arc::clone(self), why.to_owned(), spans::current());
        Some(tokio::spawn(async move {
            let _writer = writer;
            parent.instrument(this.write(write, &why)).await;
        }))
    }

    async fn write(&self, write: Write, why: &str) {
        let written = match write {
            Write::Nothing => Ok(()),
            Write::Count(id, attempts) => {
                let detail = json!({ "why": why, "attempts": attempts });
                self.db.write(async |tx| audit::rewrite(tx, id, &detail).await).await
            }
            Write::New(key, minute) => {
                let detail = json!({ "why": why, "attempts": 1 });
                let entry = audit::entry(&key.0, key.1, Subject::default(), &detail);
                let made = self.db.write(async |tx| tx.insert(entry).await).await;
                self.hour().settle(&key, minute, made.as_ref().ok().map(|entry| entry.id));
                made.map(drop)
            }
        };
        if let Err(error) = written {
            warn!(%error, "a refused attempt cannot be noted in the audit");
        }
    }
}

impl Hour {
    fn count(&mut self, actor: Actor, action: &'static str, now: Timestamp) -> Write {
        let (number, minute) = (now.as_micros() / HOUR, now.as_micros() / MINUTE);
        if self.number != number {
            *self = Self { number, ..Self::default() };
        }
        let known = |hour: &Self, key: &Key, minute| hour.entries.get(key).is_some_and(|entry| entry.minute == minute);
        let mut key = (actor, action);
        let mut minute = minute;
        if !known(self, &key, minute) && self.made >= ENTRIES {
            // Beyond the limit, one entry for the whole hour.
            (key, minute) = ((Actor::visitor("many addresses"), "refused"), number);
        }
        if known(self, &key, minute) {
            let Some(entry) = self.entries.get_mut(&key) else { return Write::Nothing };
            entry.attempts += 1;
            return match entry.id {
                Some(id) if entry.attempts.is_power_of_two() => Write::Count(id, entry.attempts),
                _ => Write::Nothing,
            };
        }
        self.made += 1;
        self.entries.insert(key.clone(), Entry { minute, id: None, attempts: 1 });
        Write::New(key, minute)
    }

    /// Notes the row of a new entry. Forgets the entry if it was not written, so that the next attempt writes it.
    fn settle(&mut self, key: &Key, minute: i64, row: Option<i64>) {
        let Some(entry) = self.entries.get_mut(key).filter(|entry| entry.minute == minute) else { return };
        entry.id = row;
        if row.is_none() {
            self.entries.remove(key);
            self.made -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_micros(minute * MINUTE)
    }

    #[test]
    fn attempts_of_one_address_in_one_minute_are_one_entry_whose_count_is_written_when_it_doubles() {
        let mut hour = Hour::default();
        let mut writes = 0;
        for attempt in 1..=1_000_u64 {
            let write = hour.count(Actor::visitor("192.0.2.1"), "signInRefused", at(7));
            match (attempt, &write) {
                (1, write) => assert_eq!(*write, Write::New((Actor::visitor("192.0.2.1"), "signInRefused"), 7)),
                (attempt, Write::Count(7, counted)) => assert_eq!(*counted, attempt),
                (_, write) => assert_eq!(*write, Write::Nothing),
            }
            writes += u32::from(write != Write::Nothing);
            hour.entries.values_mut().for_each(|entry| entry.id = Some(7));
        }
        assert_eq!(writes, 10);
        let next = hour.count(Actor::visitor("192.0.2.1"), "signInRefused", at(8));
        assert_eq!(next, Write::New((Actor::visitor("192.0.2.1"), "signInRefused"), 8));
    }

    #[test]
    fn an_entry_that_was_not_written_is_left_to_the_next_attempt() {
        let mut hour = Hour::default();
        let key = (Actor::visitor("192.0.2.1"), "tokenRefused");
        let attempt = |hour: &mut Hour, minute| hour.count(Actor::visitor("192.0.2.1"), "tokenRefused", at(minute));
        assert_eq!(attempt(&mut hour, 7), Write::New(key.clone(), 7));
        assert_eq!(attempt(&mut hour, 7), Write::Nothing);
        hour.settle(&key, 7, None);
        assert_eq!((attempt(&mut hour, 7), hour.made), (Write::New(key.clone(), 7), 1));
        // The next minute has an entry of its own.
        assert_eq!(attempt(&mut hour, 8), Write::New(key.clone(), 8));
        hour.settle(&key, 7, Some(1));
        assert_eq!(attempt(&mut hour, 8), Write::Nothing);
        hour.settle(&key, 8, Some(2));
        assert_eq!(attempt(&mut hour, 8), Write::Nothing);
        assert_eq!(attempt(&mut hour, 8), Write::Count(2, 4));
    }

    #[test]
    fn a_stranger_with_many_addresses_cannot_fill_the_table() {
        let mut hour = Hour::default();
        let mut entries = 0;
        for number in 0..100_000 {
            let write = hour.count(Actor::visitor(&number.to_string()), "tokenRefused", at(number % 60));
            entries += usize::from(matches!(write, Write::New(..)));
        }
        assert_eq!((entries, hour.entries.len()), (ENTRIES + 1, ENTRIES + 1));
        assert!(matches!(hour.count(Actor::visitor("a"), "tokenRefused", at(60)), Write::New(..)), "the next hour");
    }
}
