//! Refused attempts are in the audit whatever becomes of the request, and of the first write.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use rollcall::app::refusals::Refusals;
use rollcall::db::{Db, Write};
use rollcall::entity::audit::Actor;
use tokio::time::{sleep, timeout};

use crate::harness::database::{Database, texts};

const REFUSED: &str = "SELECT action FROM audit ORDER BY id";

async fn start() -> (Db, Arc<Refusals>, Database) {
    let database = Database::new().await;
    let db = database.open().await;
    (db.clone(), Arc::new(Refusals::new(db)), database)
}

async fn attempt(refusals: &Arc<Refusals>) {
    refusals.note(Actor::visitor("192.0.2.1"), "tokenRefused", "The token is not valid.").await;
}

#[tokio::test]
async fn a_refused_attempt_is_audited_although_its_client_has_gone() {
    let (db, refusals, _database) = start().await;
    // On SQLite, the entry waits for this transaction.
    let before = db.begin_write().await.expect("a transaction");
    assert!(attempt(&refusals).now_or_never().is_none(), "the client leaves before it is answered");
    db.roll_back(before).await.expect("it is rolled back");
    let written = async {
        while texts(&db, REFUSED).await != ["tokenRefused"] {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(10), written).await.expect("an entry");
}

#[tokio::test]
async fn a_refused_attempt_that_cannot_be_audited_leaves_that_to_the_next_one() {
    let (db, refusals, _database) = start().await;
    let rename = async |from: &str, to: &str| {
        let rename = format!("ALTER TABLE {from} RENAME TO {to}");
        db.write(async |tx| tx.script(&rename).await).await.expect("a table");
    };
    rename("audit", "elsewhere").await;
    attempt(&refusals).await;
    rename("elsewhere", "audit").await;
    attempt(&refusals).await;
    assert_eq!(texts(&db, REFUSED).await, ["tokenRefused"]);
}
