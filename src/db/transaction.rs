//! A write transaction on either backend.

use std::sync::{Mutex, MutexGuard};

use sea_orm::sea_query::LockType;
use sea_orm::{DbBackend, Statement};

use super::known::Known;
use super::read::{Backend, Read, Reader};
use super::row::{Collect, Table, Work};
use super::session::lock;
use super::write::Write;
use super::{Error, embedded, server};

/// A write transaction. Rolled back when dropped without a [commit](super::Db::commit).
#[derive(Debug)]
pub struct Transaction {
    pub(super) kind: Kind,
    known: Mutex<Known>,
}

#[derive(Debug)]
pub(super) enum Kind {
    Server(Box<server::Transaction>),
    Embedded(Box<embedded::Transaction>),
}

impl Transaction {
    pub(super) fn new(kind: Kind) -> Self {
        Self { kind, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        lock(&self.known)
    }

    /// The row as it was before this transaction, and as others see it until this transaction ends: `Some(None)` if there
    /// was none. `None` if that must be read with [`super::Db::committed`].
    pub fn before<E: Table>(&self, id: i64) -> Option<Option<E::Model>> {
        self.known().before::<E>(id)
    }

    /// The row as this transaction has stored it last. `None` if that must be read.
    pub fn after<E: Table>(&self, id: i64) -> Option<E::Model> {
        self.known().after::<E>(id)
    }

    /// Whether it shares its commit with transactions before it.
    pub fn is_joined(&self) -> bool {
        matches!(&self.kind, Kind::Embedded(transaction) if transaction.is_joined)
    }

    /// Reads rows and locks them in the same statement, until the transaction ends. For statements that read one table.
    /// On SQLite, which has one writer at a time, it only reads.
    pub fn locking(&self, lock: LockType) -> Locking<'_> {
        Locking { transaction: self, lock }
    }
}

/// Reads committed data while a transaction writes: see [`super::Db::committed`]. If the transaction shares its commit,
/// reading [fails](Error::NeedsOwnCommit): what came before it in the same commit would be missing.
#[derive(Debug, Clone, Copy)]
pub struct Committed<'d> {
    pub(super) reader: &'d Reader,
    pub(super) is_joined: bool,
}

impl Read for Committed<'_> {
    async fn collect(&self, work: Work, rows: Box<dyn Collect>) -> Result<Box<dyn Collect>, Error> {
        match self.is_joined {
            true => Err(Error::NeedsOwnCommit),
            false => self.reader.collect(work, rows).await,
        }
    }

    fn is_embedded(&self) -> bool {
        self.reader.is_embedded()
    }
}

impl Backend for Committed<'_> {
    fn backend(&self) -> DbBackend {
        self.reader.backend()
    }
}

/// Locks what it reads. See [`Transaction::locking`].
#[derive(Debug)]
pub struct Locking<'t> {
    transaction: &'t Transaction,
    lock: LockType,
}

impl Read for Locking<'_> {
    async fn collect(&self, mut work: Work, rows: Box<dyn Collect>) -> Result<Box<dyn Collect>, Error> {
        if self.backend() == DbBackend::Postgres {
            work.statement.sql.push_str(match self.lock {
                LockType::NoKeyUpdate => " FOR NO KEY UPDATE",
                LockType::Share => " FOR SHARE",
                LockType::KeyShare => " FOR KEY SHARE",
                // The strongest.
                _ => " FOR UPDATE",
            });
        }
        self.transaction.collect(work, rows).await
    }

    fn is_embedded(&self) -> bool {
        self.transaction.is_embedded()
    }

    fn note_read<E: Table>(&self, rows: &[E::Model]) {
        // With the other locks, others can change the row.
        if matches!(self.lock, LockType::Update | LockType::NoKeyUpdate) {
            self.transaction.hold::<E>(rows);
        }
    }
}

impl Backend for Locking<'_> {
    fn backend(&self) -> DbBackend {
        self.transaction.backend()
    }
}

impl Read for Transaction {
    async fn collect(&self, work: Work, rows: Box<dyn Collect>) -> Result<Box<dyn Collect>, Error> {
        match &self.kind {
            Kind::Server(transaction) => transaction.rows(work, rows, None).await,
            Kind::Embedded(transaction) => transaction.rows(work, rows, None).await,
        }
    }

    fn is_embedded(&self) -> bool {
        matches!(self.kind, Kind::Embedded(_))
    }

    fn note_read<E: Table>(&self, rows: &[E::Model]) {
        // It is the only one that writes.
        if self.is_embedded() {
            self.hold::<E>(rows);
        }
    }
}

impl Write for Transaction {
    async fn change(&self, statement: Statement) -> Result<u64, Error> {
        self.note_change();
        match &self.kind {
            Kind::Server(transaction) => transaction.change(statement).await,
            Kind::Embedded(transaction) => transaction.change(statement).await,
        }
    }

    async fn script(&self, sql: &str) -> Result<(), Error> {
        self.note_change();
        match &self.kind {
            Kind::Server(transaction) => transaction.script(sql).await,
            Kind::Embedded(transaction) => transaction.script(sql).await,
        }
    }

    fn hold<E: Table>(&self, rows: &[E::Model]) {
        self.known().hold::<E>(rows);
    }

    fn note_stored<E: Table>(&self, rows: &[E::Model], are_new: bool) {
        self.known().store::<E>(rows, are_new);
    }

    fn note_change(&self) {
        self.known().change();
    }
}

impl Backend for Transaction {
    fn backend(&self) -> DbBackend {
        match &self.kind {
            Kind::Server(_) => DbBackend::Postgres,
            Kind::Embedded(_) => DbBackend::Sqlite,
        }
    }
}
