//! A write transaction on either backend.

use sea_orm::sea_query::LockType;
use sea_orm::{DbBackend, DbErr, Statement};

use super::read::{Backend, Read};
use super::row::{Collect, Work};
use super::write::Write;
use super::{embedded, server};

/// A write transaction. Rolled back when dropped without a [commit](super::Db::commit).
#[derive(Debug)]
pub struct Transaction(pub(super) Kind);

#[derive(Debug)]
pub(super) enum Kind {
    Server(Box<server::Transaction>),
    Embedded(Box<embedded::Transaction>),
}

impl Transaction {
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

impl Read for Locking<'_> {
    async fn collect(&self, mut work: Work, rows: Box<dyn Collect>) -> Result<Box<dyn Collect>, DbErr> {
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
}

impl Backend for Locking<'_> {
    fn backend(&self) -> DbBackend {
        self.transaction.backend()
    }
}

impl Read for Transaction {
    async fn collect(&self, work: Work, rows: Box<dyn Collect>) -> Result<Box<dyn Collect>, DbErr> {
        match &self.0 {
            Kind::Server(transaction) => transaction.rows(work, rows, None).await,
            Kind::Embedded(transaction) => transaction.rows(work, rows, None).await,
        }
    }

    fn is_embedded(&self) -> bool {
        matches!(self.0, Kind::Embedded(_))
    }
}

impl Write for Transaction {
    async fn change(&self, statement: Statement) -> Result<u64, DbErr> {
        match &self.0 {
            Kind::Server(transaction) => transaction.change(statement).await,
            Kind::Embedded(transaction) => transaction.change(statement).await,
        }
    }

    async fn script(&self, sql: &str) -> Result<(), DbErr> {
        match &self.0 {
            Kind::Server(transaction) => transaction.script(sql).await,
            Kind::Embedded(transaction) => transaction.script(sql).await,
        }
    }
}

impl Backend for Transaction {
    fn backend(&self) -> DbBackend {
        match &self.0 {
            Kind::Server(_) => DbBackend::Postgres,
            Kind::Embedded(_) => DbBackend::Sqlite,
        }
    }
}
