//! Commits with a last row, by which the outcome is found if PostgreSQL does not confirm the commit.

use std::time::{Duration, Instant};

use futures_util::future::join;
use sea_orm::sea_query::{Condition, Query, SelectStatement};
use sea_orm::{
    ActiveModelTrait, ActiveValue, ColumnTrait, DbBackend, EntityTrait, Iterable, PrimaryKeyToColumn, QueryFilter,
    QuerySelect, QueryTrait, Statement,
};
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::COMMIT;
use super::server;
use crate::db::error::Unconfirmed;
use crate::db::row::Work;
use crate::db::transaction::TransactionKind;
use crate::db::{Db, Error, Read, Table, Transaction, Write};

/// How long to look for the outcome. The server may have to restart first.
const SEARCH: Duration = Duration::from_secs(5);

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(100);

impl Db {
    /// Stores a last row and commits a transaction from [`Db::begin_change`]. On PostgreSQL both are sent together,
    /// which saves a round trip, unless no statement has returned the transaction's id yet. Fails with the row's
    /// error if it is refused. If the server does not confirm the commit, this looks for the row, and fails as
    /// unavailable if the transaction was rolled back, and as [uncertain](crate::db::uncertain) if its outcome cannot be
    /// found. Nobody else may remove the row, and no other row may be the same.
    ///
    /// Calls `on_written` as [`Db::commit_and`] does.
    pub async fn commit_with<A>(
        &self,
        transaction: Transaction,
        row: A,
        on_written: impl FnOnce() + Send,
    ) -> Result<(), Error>
    where
        A: ActiveModelTrait<Entity: Table> + Send,
    {
        let TransactionKind::Server(server) = &transaction.kind else {
            transaction.exec(A::Entity::insert(row)).await?;
            return self.commit_and(transaction, on_written).await;
        };
        let committed = match server.id() {
            Some(_) => {
                let insert = A::Entity::insert(row.clone()).build(DbBackend::Postgres);
                self.store_and_commit(server, &insert).await
            }
            // No statement has returned the transaction's id. This one does, so it is answered before the commit.
            None => {
                let mut insert = A::Entity::insert(row.clone()).into_query();
                insert.returning(Query::returning().columns(keys::<A::Entity>()));
                self.until(
                    Instant::now() + COMMIT,
                    transaction.run(Work::writing(DbBackend::Postgres.build(&insert), true), |_| Ok(())),
                )
                .await?;
                self.in_span("COMMIT", server.commit()).await
            }
        };
        self.writes.note(committed.as_ref().copied());
        let id = server.id().cloned();
        drop(transaction);
        match (&committed, id) {
            (Err(error), Some(id)) if error.uncertain().is_some() => {
                Box::pin(self.outcome(&id, &select_like(&row))).await
            }
            _ => committed,
        }
    }

    /// Sends a statement that stores a row, and COMMIT after it.
    async fn store_and_commit(&self, server: &server::Transaction, statement: &Statement) -> Result<(), Error> {
        let (tell, sent) = oneshot::channel();
        let store = self.in_span(&statement.sql, server.last(statement, tell));
        let commit = async {
            match sent.await {
                Ok(()) => Some(self.in_span("COMMIT", server.commit()).await),
                Err(_) => None,
            }
        };
        match Box::pin(join(store, commit)).await {
            (Ok(()), Some(committed)) => committed,
            // Nothing was sent. The transaction is rolled back when it is dropped.
            (Err(error), None) => Err(error),
            // PostgreSQL has rolled back, and answers COMMIT without an error.
            (Err(error), Some(Ok(()))) if matches!(error, Error::Answered(_)) => Err(error),
            (Err(_), Some(_)) | (Ok(()), None) => Err(Error::Uncertain(Unconfirmed::Connection)),
        }
    }

    /// Finds out whether a transaction whose commit was not confirmed was committed. `row` selects a row that it has
    /// stored.
    async fn outcome(&self, transaction: &str, row: &SelectStatement) -> Result<(), Error> {
        let (db, began) = (self.reserved(), Instant::now());
        while began.elapsed() < SEARCH {
            // The row decides: after a failover, the number may be another transaction's.
            if db.read.rows(row, |_| Ok(())).await.is_ok_and(|rows| !rows.is_empty()) {
                return Ok(());
            }
            if db.was_rolled_back(transaction).await.unwrap_or_default() {
                return Err(Error::Stalled);
            }
            sleep(PAUSE).await;
        }
        Err(Error::Uncertain(Unconfirmed::Connection))
    }

    async fn was_rolled_back(&self, transaction: &str) -> Result<bool, Error> {
        let query = "SELECT pg_xact_status($1::xid8)";
        let query = Statement::from_sql_and_values(DbBackend::Postgres, query, [transaction.into()]);
        let status = self.read.rows_by(query, |row| row.get::<Option<String>>(0)).await?.pop();
        Ok(status.flatten().as_deref() == Some("aborted"))
    }
}

/// Selects the primary key of rows that have the values which are set in this one.
fn select_like<A: ActiveModelTrait>(row: &A) -> SelectStatement {
    let set = <A::Entity as EntityTrait>::Column::iter().filter_map(|column| match row.get(column) {
        ActiveValue::Set(value) if value == value.as_null() => Some(column.is_null()),
        ActiveValue::Set(value) => Some(column.eq(value)),
        _ => None,
    });
    A::Entity::find()
        .select_only()
        .columns(keys::<A::Entity>())
        .filter(set.fold(Condition::all(), Condition::add))
        .into_query()
}

/// The columns of the primary key.
fn keys<E: EntityTrait>() -> impl Iterator<Item = E::Column> {
    E::PrimaryKey::iter().map(PrimaryKeyToColumn::into_column)
}
