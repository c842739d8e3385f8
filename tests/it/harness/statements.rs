//! The statements that a database runs, and their plans.

use std::sync::{Arc, Mutex};

use rollcall::db::{Db, Read, Write};
use sea_orm::Statement;

use crate::harness::database::is_postgres;

/// The statements that a database runs from now on.
pub struct Statements(Arc<Mutex<Vec<Statement>>>);

impl Statements {
    pub fn of(db: &mut Db) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&kept);
        db.observe(move |info| told.lock().expect("no panic").push(info.statement.clone()));
        Self(kept)
    }

    /// Those that ran since they were taken last.
    pub fn take(&self) -> Vec<Statement> {
        std::mem::take(&mut *self.0.lock().expect("no panic"))
    }

    /// The same as texts.
    pub fn take_texts(&self) -> Vec<String> {
        self.take().into_iter().map(|statement| statement.sql).collect()
    }
}

/// Returns the plan of a statement.
pub async fn plan(db: &Db, statement: Statement) -> String {
    let (explain, column) = if is_postgres() { ("EXPLAIN", 0) } else { ("EXPLAIN QUERY PLAN", 3) };
    let explained = Statement { sql: format!("{explain} {}", statement.sql), ..statement };
    let transaction = db.begin_write().await.expect("a transaction");
    if is_postgres() {
        // A table this small is quicker to read as a whole. With this setting, that happens only if nothing else is
        // possible.
        transaction.script("SET LOCAL enable_seqscan = off").await.expect("a setting");
    }
    transaction.rows_by(explained, move |row| row.get::<String>(column)).await.expect("a plan").join("\n")
}
