//! A write transaction on either backend.

use std::sync::{Mutex, MutexGuard};

use futures_util::future::BoxFuture;
use sea_orm::sea_query::LockType;
use sea_orm::{DbBackend, Statement};

use super::Error;
use super::lock::lock;
use super::postgres::server;
use super::read::{Backend, Collecting, ReadHandle};
use super::record::{Change, MOST_CHANGED, Record, Side};
use super::row::{Collect, Work};
use super::said::MayChange;
use super::sqlite::embedded;
use super::table::RowOf;
use super::write::WriteHandle;

/// A write transaction. Rolled back when dropped without a [commit](super::Db::commit).
#[derive(Debug)]
pub struct Transaction {
    pub(super) kind: TransactionKind,
    record: Mutex<Record>,
}

#[derive(Debug)]
pub(super) enum TransactionKind {
    Server(Box<server::Transaction>),
    Embedded(Box<embedded::Transaction>),
}

impl Transaction {
    pub(super) fn new(kind: TransactionKind) -> Self {
        Self { kind, record: Mutex::default() }
    }

    /// The same transaction, which keeps a record of its [changes](Self::changes) from now on.
    pub fn recorded(self) -> Self {
        self.keep_record(MOST_CHANGED);
        self
    }

    /// Keeps a record of the [changes](Self::changes) from now on: of at most this many rows.
    pub fn keep_record(&self, most: usize) {
        self.record().most = most;
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        lock(&self.record)
    }

    /// The rows that it has stored, changed or deleted, in the order in which they were first changed. Rows that follow by
    /// foreign keys are not among them. `None` if there are more than the record may have.
    ///
    /// # Errors
    /// Rows were changed that [follow](super::Follows) from a change which was not made.
    pub fn changes(&self) -> Result<Option<Vec<Change>>, Error> {
        let record = self.record();
        if record.is_over {
            return Ok(None);
        }
        match record.unfounded() {
            Some(row) => Err(Error::fault(format!("rows follow from a change of {row:?}, which was not made"))),
            None => Ok(Some(record.changes())),
        }
    }

    /// Who may change what it has changed without a record of the rows. `None` if there is nothing of that kind.
    pub fn may_change_unseen(&self) -> Option<MayChange> {
        self.record().may_change
    }

    /// The row as it was before this transaction, and as others see it until this transaction ends, if that is known.
    pub fn before(&self, row: RowOf) -> Side {
        self.record().before(row)
    }

    /// The row as this transaction has stored it last, if that is known.
    pub fn after(&self, row: RowOf) -> Side {
        self.record().after(row)
    }

    /// Reads rows and locks them in the same statement, until the transaction ends. For statements that read one table.
    /// On SQLite, which has one writer at a time, it only reads.
    pub fn locking(&self, lock: LockType) -> Locking<'_> {
        Locking { transaction: self, lock }
    }
}

/// Locks what it reads. See [`Transaction::locking`].
#[derive(Debug)]
pub struct Locking<'t> {
    transaction: &'t Transaction,
    lock: LockType,
}

impl ReadHandle for Locking<'_> {
    fn as_read(&self) -> &(dyn ReadHandle + '_) {
        self
    }

    fn collect(&self, mut work: Work, rows: Box<dyn Collect>) -> Collecting<'_> {
        if self.backend() == DbBackend::Postgres {
            work.statement.sql.push_str(match self.lock {
                LockType::NoKeyUpdate => " FOR NO KEY UPDATE",
                LockType::Share => " FOR SHARE",
                LockType::KeyShare => " FOR KEY SHARE",
                // The strongest.
                _ => " FOR UPDATE",
            });
        }
        self.transaction.collect(work, rows)
    }

    fn is_embedded(&self) -> bool {
        self.transaction.is_embedded()
    }

    fn holds_in(&self) -> Option<&Mutex<Record>> {
        // With the other locks, others can change the row.
        matches!(self.lock, LockType::Update | LockType::NoKeyUpdate).then_some(&self.transaction.record)
    }
}

impl Backend for Locking<'_> {
    fn backend(&self) -> DbBackend {
        self.transaction.backend()
    }
}

impl ReadHandle for Transaction {
    fn as_read(&self) -> &(dyn ReadHandle + '_) {
        self
    }

    fn collect(&self, work: Work, rows: Box<dyn Collect>) -> Collecting<'_> {
        Box::pin(async move {
            match &self.kind {
                TransactionKind::Server(transaction) => transaction.rows(work, rows, None).await,
                TransactionKind::Embedded(transaction) => transaction.rows(work, rows, None).await,
            }
        })
    }

    fn is_embedded(&self) -> bool {
        matches!(self.kind, TransactionKind::Embedded(_))
    }

    fn holds_in(&self) -> Option<&Mutex<Record>> {
        // It is the only one that writes.
        self.is_embedded().then_some(&self.record)
    }
}

impl WriteHandle for Transaction {
    fn as_write(&self) -> &(dyn WriteHandle + '_) {
        self
    }

    fn execute_change(&self, statement: Statement) -> BoxFuture<'_, Result<u64, Error>> {
        Box::pin(async move {
            match &self.kind {
                TransactionKind::Server(transaction) => transaction.change(statement).await,
                TransactionKind::Embedded(transaction) => transaction.change(statement).await,
            }
        })
    }

    fn execute_script<'w>(&'w self, sql: &'w str) -> BoxFuture<'w, Result<(), Error>> {
        Box::pin(async move {
            match &self.kind {
                TransactionKind::Server(transaction) => transaction.script(sql).await,
                TransactionKind::Embedded(transaction) => transaction.script(sql).await,
            }
        })
    }

    fn record(&self) -> Option<&Mutex<Record>> {
        Some(&self.record)
    }
}

impl Backend for Transaction {
    fn backend(&self) -> DbBackend {
        match &self.kind {
            TransactionKind::Server(_) => DbBackend::Postgres,
            TransactionKind::Embedded(_) => DbBackend::Sqlite,
        }
    }
}
