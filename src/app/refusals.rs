//! Records refused attempts in the audit: sign-ins, tokens, and forbidden actions.
//!
//! Anyone can cause these entries, so they are limited. Attempts by the same actor at the same action share one entry
//! per minute, which counts them. There are at most [`ENTRIES`] an hour; attempts beyond that share one entry for the
//! hour. An entry's count is written whenever it doubles, so most attempts write nothing.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde_json::json;
use tracing::warn;

use crate::db::Db;
use crate::entity::Timestamp;
use crate::entity::audit::{self, Actor, Subject};

/// The maximum number of entries in an hour.
pub const ENTRIES: usize = 60;

const MINUTE: i64 = 60 * 1_000_000;
const HOUR: i64 = 60 * MINUTE;

/// Records refused attempts.
pub struct Refusals {
    db: Db,
    hour: Mutex<Hour>,
}

/// The entries of one hour.
#[derive(Default)]
struct Hour {
    number: i64,
    entries: HashMap<(Actor, &'static str), Entry>,
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
    New(Actor, &'static str),
    Count(i64, u64),
}

impl Refusals {
    /// Records refused attempts in `db`.
    pub fn new(db: Db) -> Self {
        Self { db, hour: Mutex::default() }
    }

    /// Records that `actor` was refused. `why` is shown in the audit.
    pub async fn note(&self, actor: Actor, action: &'static str, why: &str) {
        let now = Timestamp::now();
        let write = self.hour.lock().unwrap_or_else(PoisonError::into_inner).count(actor, action, now);
        let written = match write {
            Write::Nothing => Ok(()),
            Write::Count(id, attempts) => {
                let detail = json!({ "why": why, "attempts": attempts });
                self.db.write(async |tx| audit::rewrite(tx, id, &detail).await).await
            }
            Write::New(actor, action) => {
                let detail = json!({ "why": why, "attempts": 1 });
                let made = self
                    .db
                    .write(async |tx| audit::insert(tx, &actor, action, Subject::default(), &detail).await)
                    .await;
                made.map(|written| {
                    let mut hour = self.hour.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some(entry) = hour.entries.get_mut(&(actor, action)) {
                        entry.id = Some(written.id);
                    }
                })
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
        let known = |hour: &Self, key: &(Actor, &'static str), minute| {
            hour.entries.get(key).is_some_and(|entry| entry.minute == minute)
        };
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
        Write::New(key.0, key.1)
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
                (1, write) => assert_eq!(*write, Write::New(Actor::visitor("192.0.2.1"), "signInRefused")),
                (attempt, Write::Count(7, counted)) => assert_eq!(*counted, attempt),
                (_, write) => assert_eq!(*write, Write::Nothing),
            }
            writes += u32::from(write != Write::Nothing);
            hour.entries.values_mut().for_each(|entry| entry.id = Some(7));
        }
        assert_eq!(writes, 10);
        let next = hour.count(Actor::visitor("192.0.2.1"), "signInRefused", at(8));
        assert_eq!(next, Write::New(Actor::visitor("192.0.2.1"), "signInRefused"));
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
