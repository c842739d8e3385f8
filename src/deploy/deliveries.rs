//! Notes what an endpoint answered to posts that did not become deploys. It is a help, not a record: nobody waits for it,
//! notes that come together are written together, and those that would have to wait long are left out.

use bytes::Bytes;
use tokio::sync::mpsc;
use tracing::warn;

use crate::db::Db;
use crate::entity::{Timestamp, delivery, integration};

/// The most notes that wait.
const QUEUE: usize = 256;

/// Where answers are noted. Cheap to clone.
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
    /// Begins to write to a migrated database. Needs a running tokio.
    pub fn start(db: Db) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        tokio::spawn(write_all(db, waiting));
        Self { queue }
    }

    /// Notes what an endpoint answers: the status, and the body's text.
    pub fn note(&self, integration_id: i64, status: u16, answer: &Bytes) {
        // Where hundreds wait already, the page that shows the last twenty is full of them.
        let _ = self.queue.try_send(Note { integration_id, at: Timestamp::now(), status, answer: answer.clone() });
    }
}

async fn write_all(db: Db, mut queue: mpsc::Receiver<Note>) {
    let mut notes = Vec::with_capacity(QUEUE);
    while queue.recv_many(&mut notes, QUEUE).await > 0 {
        let written = db.write(async |transaction| {
            // An endpoint may be deleted while its notes wait; what is noted of it would undo all the others.
            let named: Vec<i64> = notes.iter().map(|note| note.integration_id).collect();
            let endpoints = integration::lock_present(transaction, &named).await?;
            let notes = notes.iter().filter(|note| endpoints.contains(&note.integration_id));
            for Note { integration_id, at, status, answer } in notes {
                delivery::note(transaction, *integration_id, *status, &String::from_utf8_lossy(answer), *at).await?;
            }
            Ok::<(), sea_orm::DbErr>(())
        });
        if let Err(error) = written.await {
            warn!(%error, "answers to deliveries cannot be noted");
        }
        notes.clear();
    }
}
