//! Tells of every statement, for spans and tests.

use std::sync::Arc;
use std::time::Instant;

use sea_orm::{Statement, metric};

/// Is told of every statement, with the time that it took and whether it failed.
pub(super) type Observer = Arc<dyn Fn(&metric::Info<'_>) + Send + Sync>;

/// Tells the observer, if there is one, of a statement that has ended.
pub(super) fn observe(observer: Option<&Observer>, started: Option<Instant>, statement: &Statement, failed: bool) {
    if let (Some(observer), Some(started)) = (observer, started) {
        observer(&metric::Info { elapsed: started.elapsed(), statement, failed });
    }
}
