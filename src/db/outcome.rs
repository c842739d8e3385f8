//! Commits with a last row, by which the outcome is found if PostgreSQL does not confirm the commit.

use std::time::{Duration, Instant};

use futures_util::future::join;
use sea_orm::sea_query::{Condition, Expr, Query, SelectStatement};
use sea_orm::{
    ActiveModelTrait, ActiveValue, ColumnTrait, DbBackend, DbErr, EntityTrait, Iterable, PrimaryKeyToColumn,
    QueryFilter, QuerySelect, QueryTrait, Statement, sqlx,
};
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::refusal::{STALLED, UNCERTAIN, is_broken, sqlx_error, uncertain};
use super::server_session::Process;
use super::transaction::Kind;
use super::{Db, Read, Row, Transaction, Write, server};

/// How long to look for the outcome. The server may have to restart first.
const SEARCH: Duration = Duration::from_secs(5);

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(100);

/// A stored row, and the transaction that has stored it.
struct Mark {
    id: i64,
    transaction: String,
}

impl Db {
    /// Stores a last row, whose primary key is an id, and commits. On PostgreSQL both are sent together, which saves a
    /// round trip. If the server then does not confirm the commit, this looks for the row, and fails as unavailable if
    /// the transaction was rolled back, and as [uncertain](super::uncertain) if its outcome cannot be found. Nobody else
    /// may remove the row, and no other row may be the same.
    ///
    /// Calls `on_written` as [`Db::commit_and`] does.
    pub async fn commit_with<A>(
        &self,
        transaction: Transaction,
        row: A,
        on_written: impl FnOnce() + Send,
    ) -> Result<(), DbErr>
    where
        A: ActiveModelTrait + Send,
    {
        let Kind::Server(server) = &transaction.kind else {
            transaction.exec(A::Entity::insert(row)).await?;
            return self.commit_and(transaction, on_written).await;
        };
        let id = id_of::<A::Entity>();
        let mut insert = A::Entity::insert(row.clone()).into_query();
        let returned = [Expr::col(id.as_column_ref()), Expr::cust("pg_current_xact_id()::text")];
        insert.returning(Query::returning().exprs(returned));
        let (mark, committed) = self.store_and_commit(server, DbBackend::Postgres.build(&insert)).await;
        self.writes.note(committed.as_ref().copied());
        let process = server.process();
        drop(transaction);
        if !committed.as_ref().is_err_and(|error| uncertain(error).is_some()) {
            return committed;
        }
        let select = A::Entity::find().select_only().column(id);
        let (row, trace) = match (mark, process) {
            (Some(Mark { id: number, transaction }), _) => {
                (select.filter(id.eq(number)), Trace::Transaction(transaction))
            }
            (None, Some(process)) => (select.filter(is_like(&row)), Trace::Process(process)),
            (None, None) => return committed,
        };
        Box::pin(self.outcome(&trace, row.as_query())).await
    }

    /// Sends a statement that stores a row, and COMMIT after it. Returns what the statement has returned, and whether the
    /// transaction was committed.
    async fn store_and_commit(
        &self,
        server: &server::Transaction,
        statement: Statement,
    ) -> (Option<Mark>, Result<(), DbErr>) {
        let (tell, sent) = oneshot::channel();
        let text = statement.sql.clone();
        let read = |row: &Row<'_>| Ok(Mark { id: row.get(0)?, transaction: row.get(1)? });
        let store = self.in_span(&text, server.last(statement, tell, read));
        let commit = async {
            match sent.await {
                Ok(()) => Some(self.in_span("COMMIT", server.commit()).await),
                Err(_) => None,
            }
        };
        match Box::pin(join(store, commit)).await {
            (Ok(mark), Some(committed)) => (Some(mark), committed),
            // Nothing was sent, so the transaction is rolled back when it is dropped.
            (Err(error), None) => (None, Err(error)),
            // A statement that fails makes PostgreSQL roll back when it is told to commit.
            (Err(error), Some(_)) if is_refused(&error) => (None, Err(error)),
            (_, committed) => (None, committed.unwrap_or_else(|| Err(DbErr::Custom(UNCERTAIN.to_owned())))),
        }
    }

    /// Finds out whether a transaction whose commit was not confirmed was committed. `row` selects a row that it has
    /// stored.
    async fn outcome(&self, trace: &Trace, row: &SelectStatement) -> Result<(), DbErr> {
        let (db, began) = (self.reserved(), Instant::now());
        while began.elapsed() < SEARCH {
            // First: it could commit between the two.
            let is_over = db.is_over(trace).await.unwrap_or_default();
            // The row decides: after a failover, the number may be another transaction's.
            match db.read.rows(row, |_| Ok(())).await {
                Ok(rows) if !rows.is_empty() => return Ok(()),
                Ok(_) if is_over => return Err(DbErr::Custom(STALLED.to_owned())),
                _ => sleep(PAUSE).await,
            }
        }
        Err(DbErr::Custom(UNCERTAIN.to_owned()))
    }

    /// Whether a transaction was rolled back, or its process has ended.
    async fn is_over(&self, trace: &Trace) -> Result<bool, DbErr> {
        let (query, values) = match trace {
            Trace::Transaction(id) => ("SELECT pg_xact_status($1::xid8) = 'aborted'", vec![id.clone().into()]),
            Trace::Process(Process { id, started }) => (
                // A standby may not have replayed the commit yet.
                "SELECT NOT pg_is_in_recovery() AND NOT EXISTS \
                 (SELECT FROM pg_stat_activity WHERE pid = $1 AND backend_start = $2::timestamptz)",
                vec![(*id).into(), started.clone().into()],
            ),
        };
        let query = Statement::from_sql_and_values(DbBackend::Postgres, query, values);
        let is_over = self.read.rows_by(query, |row| row.get::<Option<bool>>(0)).await?.pop();
        Ok(is_over.flatten().unwrap_or_default())
    }
}

/// What tells whether a transaction is over.
enum Trace {
    Transaction(String),
    /// The process of its connection.
    Process(Process),
}

/// Whether PostgreSQL has answered a statement with an error, and the connection goes on.
fn is_refused(error: &DbErr) -> bool {
    matches!(sqlx_error(error), Some(sqlx::Error::Database(_))) && !is_broken(error)
}

/// The column of a table's id.
fn id_of<E: EntityTrait>() -> E::Column {
    E::PrimaryKey::iter().next().expect("a table has a primary key").into_column()
}

/// The condition that a row has the values that are set in another.
fn is_like<A: ActiveModelTrait>(row: &A) -> Condition {
    let set = <A::Entity as EntityTrait>::Column::iter().filter_map(|column| match row.get(column) {
        ActiveValue::Set(value) if value == value.as_null() => Some(column.is_null()),
        ActiveValue::Set(value) => Some(column.eq(value)),
        _ => None,
    });
    set.fold(Condition::all(), Condition::add)
}
