//! What waits for people: the number of open suggestions, which the navigation of every page shows. It is counted once in a
//! while for everybody, and only up to a number.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait};
use tokio::time::timeout;

use catalogue::db::{Db, Read};
use catalogue::entity::suggestion::{Column, Entity, State};

/// The most open suggestions that are counted.
pub const MOST: usize = 100;

/// How long a count is shown. A form forgets it, so that people see what they did.
pub const PERIOD: Duration = Duration::from_secs(5);

/// How long a page waits for the count.
pub const PATIENCE: Duration = Duration::from_millis(200);

/// The last count.
#[derive(Debug, Default)]
struct Last {
    /// When it was made; `None` if it is to be made again.
    at: Option<Instant>,
    count: usize,
    /// How many forms were carried out.
    changes: u64,
}

/// The number of open suggestions, as it was last counted.
#[derive(Debug, Default)]
pub struct Waiting {
    last: Mutex<Last>,
    /// Held by the page that counts. Others show the last count meanwhile.
    counting: tokio::sync::Mutex<()>,
}

impl Waiting {
    /// The number of open suggestions, at most [`MOST`]. If they cannot be counted, the last count, which is zero at first: no
    /// page fails for it.
    pub async fn suggestions(&self, db: &Db) -> usize {
        let (last, changes) = {
            let Last { at, count, changes } = *self.last();
            if at.is_some_and(|at| at.elapsed() < PERIOD) {
                return count;
            }
            (count, changes)
        };
        let Ok(_counting) = self.counting.try_lock() else { return last };
        let open = Entity::find().select_only().column(Column::Id).filter(Column::State.eq(State::Open));
        let open = open.limit(MOST as u64);
        let found = timeout(PATIENCE, db.read().rows(open.as_query(), |row| row.get::<i64>(0))).await;
        let count = found.ok().and_then(Result::ok).map_or(last, |ids| ids.len());
        let mut last = self.last();
        last.count = count;
        // What was counted before a form was carried out is counted again.
        last.at = Some(Instant::now()).filter(|_| last.changes == changes);
        count
    }

    /// Counts again once the guard is dropped: when a form was carried out.
    pub fn forget_afterwards(&self) -> Forget<'_> {
        Forget(self)
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets the count when it is dropped.
pub struct Forget<'w>(&'w Waiting);

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        let mut last = self.0.last();
        last.at = None;
        last.changes += 1;
    }
}
