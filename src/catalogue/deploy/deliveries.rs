//! Records the responses to posts that did not become deploys. This is a debugging aid: callers do not wait for it,
//! queued entries are written together, and entries that do not fit the queue are dropped.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{Mutex, mpsc};
use tracing::warn;

use crate::background::spawn_again;
use crate::db::{self, Db};
use crate::entity::{Timestamp, delivery, integration};

/// The maximum number of queued entries.
const QUEUE: usize = 256;

/// Records responses. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Deliveries {
    queue: mpsc::Sender<Note>,
}

#[derive(Debug)]
struct Note {
    integration_id: i64,
    at: Timestamp,
    status: u16,
    answer: Bytes,
}

impl Deliveries {
    /// Starts the task that writes to a migrated database. Must be called within a tokio runtime.
    pub fn start(db: Db) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        // Shared, because a panic must not lose the queue.
        let waiting = Arc::new(Mutex::new(waiting));
        spawn_again("notes of deliveries", move || write_all(db.clone(), Arc::clone(&waiting)));
        Self { queue }
    }

    /// Records an endpoint's response: its status and body.
    pub fn note(&self, integration_id: i64, status: u16, answer: &Bytes) {
        // If the queue is full, its entries already fill the page, which shows the last twenty.
        let _ = self.queue.try_send(Note { integration_id, at: Timestamp::now(), status, answer: answer.clone() });
    }
}

async fn write_all(db: Db, queue: Arc<Mutex<mpsc::Receiver<Note>>>) {
    let mut queue = queue.lock().await;
    let mut notes = Vec::with_capacity(QUEUE);
    while queue.recv_many(&mut notes, QUEUE).await > 0 {
        let written = db.write(async |transaction| {
            // An endpoint may have been deleted meanwhile. Its entries would violate the foreign key and fail the whole
            // transaction.
            let named: Vec<i64> = notes.iter().map(|note| note.integration_id).collect();
            let endpoints = integration::lock_present(transaction, &named).await?;
            let notes = notes.iter().filter(|note| endpoints.contains(&note.integration_id));
            for Note { integration_id, at, status, answer } in notes {
                delivery::note(transaction, *integration_id, *status, &String::from_utf8_lossy(answer), *at).await?;
            }
            Ok::<(), db::Error>(())
        });
        if let Err(error) = written.await {
            warn!(%error, "answers to deliveries cannot be noted");
        }
        notes.clear();
    }
}
