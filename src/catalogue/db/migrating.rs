//! Lets sea-orm run migrations in one of our transactions.
//!
//! sea-orm sees a database of its own, whose statements it does not run ([`ProxyDatabaseTrait`]). All of them run in the
//! transaction, one after another; the transactions that sea-orm begins in it are parts of that one, so a failure
//! changes nothing. A statement without parameters may be a script of several.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rusqlite::types::ValueRef;
use sea_orm::entity::prelude::async_trait::async_trait;
use sea_orm::{DatabaseConnection, DbErr, ProxyDatabaseTrait, ProxyExecResult, ProxyRow, Statement, Value};

use super::lock::lock;
use super::row::{Collect, Row, Work};
use super::{Backend as _, Error, ReadHandle, Transaction, Write, WriteHandle};

/// A transaction in which sea-orm runs statements.
#[derive(Debug, Clone)]
pub(super) struct Migrating(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    transaction: Transaction,
    /// The first error, which sea-orm keeps only as a text.
    error: Mutex<Option<Error>>,
}

impl Migrating {
    pub(super) fn new(transaction: Transaction) -> Self {
        Self(Arc::new(Shared { transaction, error: Mutex::default() }))
    }

    /// Runs `work` on a database of sea-orm, whose statements run in the transaction.
    pub(super) async fn run<T>(
        &self,
        work: impl AsyncFnOnce(&DatabaseConnection) -> Result<T, DbErr>,
    ) -> Result<T, Error> {
        let proxy: Arc<Box<dyn ProxyDatabaseTrait>> = Arc::new(Box::new(self.clone()));
        let connection = sea_orm::Database::connect_proxy(self.transaction().backend(), proxy).await?;
        let done = work(&connection).await;
        done.map_err(|error| lock(&self.0.error).take().unwrap_or_else(|| error.into()))
    }

    /// Returns the transaction. `None` while sea-orm has a part of it.
    pub(super) fn into_transaction(self) -> Option<Transaction> {
        Arc::into_inner(self.0).map(|shared| shared.transaction)
    }

    pub(super) fn transaction(&self) -> &Transaction {
        &self.0.transaction
    }

    fn noted<T>(&self, done: Result<T, Error>) -> Result<T, DbErr> {
        done.map_err(|error| {
            lock(&self.0.error).get_or_insert_with(|| error.clone());
            error.into()
        })
    }
}

#[async_trait]
impl ProxyDatabaseTrait for Migrating {
    async fn query(&self, statement: Statement) -> Result<Vec<ProxyRow>, DbErr> {
        self.noted(rows(self.transaction(), statement).await)
    }

    async fn execute(&self, statement: Statement) -> Result<ProxyExecResult, DbErr> {
        self.noted(execute(self.transaction(), statement).await)
    }
}

/// Runs a statement, or a script without parameters, and returns the number of rows that it changed.
pub(super) async fn execute(db: &dyn WriteHandle, statement: Statement) -> Result<ProxyExecResult, Error> {
    let rows_affected = match &statement.values {
        None => db.script(&statement.sql).await.map(|()| 0)?,
        Some(_) => db.change_untyped(statement).await?,
    };
    Ok(ProxyExecResult { last_insert_id: 0, rows_affected })
}

/// Runs a statement and returns its rows. Their columns have names, in alphabetical order, and no positions.
pub(super) async fn rows(db: &dyn ReadHandle, statement: Statement) -> Result<Vec<ProxyRow>, Error> {
    let writes = statement.sql.contains(" RETURNING ");
    let work = if writes { Work::writing(statement, false) } else { Work::new(statement) };
    let rows: Box<dyn std::any::Any> = db.collect(work, Box::new(Named::default())).await?;
    rows.downcast::<Named>().map(|rows| rows.0).map_err(|_| Error::fault("the rows of another statement"))
}

/// Collects rows by the names of their columns.
#[derive(Default)]
struct Named(Vec<ProxyRow>);

impl Collect for Named {
    fn row(&mut self, row: &Row<'_>) -> Result<usize, Error> {
        let mut values = BTreeMap::new();
        for (place, name) in row.names().into_iter().enumerate() {
            let value = match row.cell(place)? {
                ValueRef::Null => Value::String(None),
                ValueRef::Integer(number) => number.into(),
                ValueRef::Real(number) => number.into(),
                ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
                ValueRef::Blob(bytes) => bytes.to_vec().into(),
            };
            values.insert(name, value);
        }
        self.0.push(ProxyRow::new(values));
        Ok(0)
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn count(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use sea_orm::ConnectionTrait as _;

    use super::*;
    use crate::db::Constraint;
    use crate::db::sqlite::embedded;
    use crate::db::transaction::TransactionKind;

    #[tokio::test]
    async fn sea_orm_reads_rows_by_name_and_its_errors_are_the_database_s_own() {
        let transaction = embedded::Transaction::in_memory(&[]).await.expect("a database");
        let migrating = Migrating::new(Transaction::new(TransactionKind::Embedded(Box::new(transaction))));
        let read = migrating.run(async |db| {
            let script = "CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO team VALUES (1, 'one')";
            db.execute_unprepared(script).await?;
            let select = Statement::from_string(db.get_database_backend(), "SELECT id, name, NULL AS none FROM team");
            let row = db.query_one_raw(select).await?.expect("a row");
            Ok((row.try_get("", "id")?, row.try_get("", "name")?, row.try_get("", "none")?))
        });
        assert_eq!(read.await, Ok((1_i64, "one".to_owned(), None::<i64>)));
        let twice = migrating.run(async |db| db.execute_unprepared("INSERT INTO team VALUES (1, 'two')").await);
        let twice = twice.await.expect_err("the id is taken");
        assert!(matches!(twice.violation(), Some(Constraint::Unique(_))), "{twice:?}");
        assert!(migrating.into_transaction().is_some(), "nothing of sea-orm's is left");
    }
}
