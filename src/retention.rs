//! Removes what is older than anybody wants to keep: hourly, and in batches so small that whoever wants to write waits no
//! longer than for another write. Several processes may do this at the same time.

use std::time::Duration;

use sea_orm::DbErr;
use tracing::{info, warn};

use crate::db::Db;
use crate::entity::{Timestamp, audit};

/// How long writers have the database to themselves after each batch.
pub const PAUSE: Duration = Duration::from_millis(50);
/// From one run to the next, more or less.
const INTERVAL: Duration = Duration::from_secs(3_600);
/// Entries of the audit that one transaction removes.
const BATCH: u64 = 500;

/// Removes what is older than `keep`, by `remove`, which says how much that was: now, and then every hour. `what` is its
/// name in the log. Ends only by being dropped, at any moment.
pub async fn hourly<F>(what: &'static str, keep: Duration, remove: impl Fn(Timestamp) -> F)
where
    F: Future<Output = Result<u64, DbErr>>,
{
    let keep = i64::try_from(keep.as_micros()).unwrap_or(i64::MAX);
    loop {
        let before = Timestamp::from_micros(Timestamp::now().as_micros().saturating_sub(keep));
        match remove(before).await {
            Ok(removed) => info!(removed, %before, "removed old {what}"),
            Err(error) => warn!(%error, %before, "not all old {what} were removed; trying again with the next run"),
        }
        // Processes that were started together come apart.
        tokio::time::sleep(INTERVAL.mul_f64(0.9 + 0.2 * fastrand::f64())).await;
    }
}

/// Removes entries of the audit once they are older than `keep`, as [`hourly`] does.
pub async fn run_audit(db: Db, keep: Duration) {
    hourly("audit entries", keep, |before| remove_audit(&db, before)).await;
}

/// Removes the entries of the audit before a moment, and says how many.
pub async fn remove_audit(db: &Db, before: Timestamp) -> Result<u64, DbErr> {
    let mut removed = 0;
    loop {
        let batch = db.write(async |tx| audit::remove(tx, before, BATCH).await).await?;
        removed += batch;
        if batch == 0 {
            return Ok(removed);
        }
        tokio::time::sleep(PAUSE).await;
    }
}
