//! A database in memory with the tables of the real one, in which a change is rehearsed: it is written there, with all
//! that the tables forbid, and nobody waits for it. The one who rehearses copies the rows that the change needs.
//!
//! It is SQLite on either backend, and has neither triggers nor foreign keys: the rows that others refer to need not be
//! there.

use sea_orm::{DbBackend, Statement};
use tokio::sync::OnceCell;

use super::Error;
use super::migrating::Migrating;
use super::read::{Backend, Read, ReadHandle, Reader, Snapshot};
use super::sqlite::embedded;
use super::table::reads_from_its_own;
use super::transaction::{Transaction, TransactionKind};

/// The statements that make the tables, once the first rehearsal has asked for them.
static TABLES: OnceCell<Vec<String>> = OnceCell::const_new();

/// The tables and their indexes, without those that a virtual table makes for itself.
const SELECT_TABLES: &str = "SELECT sql FROM sqlite_schema WHERE type IN ('table', 'index') AND sql IS NOT NULL \
     AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
     AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow') ORDER BY type = 'index', rowid";

/// Begins a transaction on a new database in memory, which is lost with the transaction.
pub async fn rehearse() -> Result<Transaction, Error> {
    empty(TABLES.get_or_try_init(tables).await?).await
}

/// Runs the migrations on a database in memory, and returns the statements that make its tables.
async fn tables() -> Result<Vec<String>, Error> {
    let migrating = Migrating::new(empty(&[]).await?);
    migrating.run(async |connection| migration::Migrator::complete(connection).await).await?;
    let statement = Statement::from_string(DbBackend::Sqlite, SELECT_TABLES);
    migrating.transaction().rows_by(statement, |row| row.get(0)).await
}

/// Begins a transaction on a new database in memory that has these tables.
async fn empty(tables: &'static [String]) -> Result<Transaction, Error> {
    let transaction = embedded::Transaction::in_memory(tables).await?;
    Ok(Transaction::new(TransactionKind::Embedded(Box::new(transaction))))
}

/// The database as it was before a change: what others see while the change is written, or what the one who rehearses
/// it has seen.
#[derive(Debug, Clone, Copy)]
pub enum Before<'d> {
    /// While a transaction writes: [`super::Db::committed`].
    Committed(&'d Reader),
    /// During a rehearsal.
    Seen(&'d Snapshot),
}

reads_from_its_own!(Before: Committed Seen);
