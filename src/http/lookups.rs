//! Reads tokens on PostgreSQL, those of several requests by one statement.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::db::{self, Db};
use crate::entity::token::{self, Hash};
use crate::spans;

/// The most tokens that a statement reads.
const MOST: usize = 256;

/// How long a request waits before it stops relying on a statement that another one has started: its connection may be
/// dead.
const PATIENCE: Duration = Duration::from_millis(50);

/// Reads tokens. While a statement runs, requests that come are collected, and the next statement reads the tokens of all
/// of them. So each token is read after its request has come, and a busy process runs few statements for that.
pub(super) struct Lookups(Arc<Shared>);

struct Shared {
    db: Db,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<Waiting>,
    /// Whether a task reads what waits until nothing is left.
    is_read: bool,
}

struct Waiting {
    hash: Hash,
    tell: oneshot::Sender<Result<Option<token::Model>, db::Error>>,
}

impl Lookups {
    pub(super) fn new(db: Db) -> Self {
        Self(Arc::new(Shared { db, queue: Mutex::default() }))
    }

    /// Finds the token with this hash.
    pub(super) async fn find(&self, hash: Hash) -> Result<Option<token::Model>, db::Error> {
        let span = spans::read_token();
        let (tell, mut told) = oneshot::channel();
        let is_read = {
            let mut queue = self.0.lock();
            queue.waiting.push(Waiting { hash, tell });
            std::mem::replace(&mut queue.is_read, true)
        };
        if !is_read {
            self.begin();
        }
        let found = match timeout(PATIENCE, &mut told).await {
            Ok(found) => found,
            Err(_) => {
                self.begin();
                told.await
            }
        };
        let panicked = |_| Err(db::Error::fault("the statement that reads tokens has panicked"));
        let found = found.unwrap_or_else(panicked);
        span.returned(found.as_ref().ok().map(|token| token.iter().len()));
        found
    }

    fn begin(&self) {
        let reading = Reading(Arc::clone(&self.0));
        tokio::spawn(async move { while reading.batch().await {} });
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task that reads what waits.
struct Reading(Arc<Shared>);

impl Reading {
    /// Reads the tokens of those who wait. Returns whether there were any.
    async fn batch(&self) -> bool {
        let batch: Vec<Waiting> = {
            let mut queue = self.0.lock();
            let some = queue.waiting.len().min(MOST);
            if some == 0 {
                queue.is_read = false;
                return false;
            }
            queue.waiting.drain(..some).collect()
        };
        let mut hashes: Vec<Hash> = batch.iter().map(|waiting| waiting.hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        let found = token::by_hashes(self.0.db.read(), &hashes).await;
        for Waiting { hash, tell } in batch {
            let found = found.as_ref().map(|tokens| tokens.iter().find(|token| token.hash == hash).cloned());
            // Its request may have ended.
            let _ = tell.send(found.map_err(Clone::clone));
        }
        true
    }
}

impl Drop for Reading {
    /// After a panic, the next request begins anew.
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock().is_read = false;
        }
    }
}
