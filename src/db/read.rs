//! Reading rows whose type is known before the first is there: what every answer is made of.
//!
//! On SQLite they are read in place ([`super::embedded`]), on PostgreSQL by sea-orm. Statements are built by sea-orm, and
//! one that differs from the last only in the values of its parameters is not built again: its text is remembered by its
//! [`Shape`](super::Shape). Anything else is sea-orm's affair: a [`Reader`] is one of its connections too. A [`Snapshot`] is none,
//! so that nothing is read beside it.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use futures_util::TryStreamExt;
use rusqlite::types::{FromSql, ValueRef};
use sea_orm::entity::prelude::async_trait::async_trait;
use sea_orm::sea_query::{Asterisk, Expr, ExprTrait, Func, JoinType, Query, SelectStatement};
use sea_orm::sqlx::Row as _;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, EntityTrait, ExecResult,
    FromQueryResult, QueryResult, QuerySelect, QueryTrait, Select, Statement, StreamTrait, TryGetable, Value,
};
use serde::de::DeserializeOwned;

use super::cells;
use super::embedded::{self, Embedded};
use super::shape::{How, Shape, statement};
use crate::budget::{Budget, Excess};
use crate::spans::{self, Span};

/// The connections to read by.
#[derive(Clone, Debug)]
pub struct Reader {
    pub(super) pool: DatabaseConnection,
    pub(super) embedded: Option<Embedded>,
}

/// A transaction that reads. Dropped, it is over. What it reads is charged to its budget.
#[derive(Debug)]
pub struct Snapshot {
    pub(super) kind: Kind,
    pub(super) budget: Option<Arc<Budget>>,
}

#[derive(Debug)]
pub(super) enum Kind {
    Pooled(DatabaseTransaction),
    Embedded(Box<embedded::Snapshot>),
}

/// A row of an answer.
pub struct Row<'r> {
    from: From<'r>,
    /// The bytes of the texts that were read from it.
    text: Cell<usize>,
}

enum From<'r> {
    Pool(&'r QueryResult),
    File(&'r rusqlite::Row<'r>),
}

/// What a column may be read as.
pub trait Column: TryGetable + FromSql {}

impl<T: TryGetable + FromSql> Column for T {}

/// A table whose rows can be read from anywhere.
pub trait Table: EntityTrait<Model: DeserializeOwned + 'static> {}

impl<E> Table for E where E: EntityTrait<Model: DeserializeOwned + 'static> {}

impl<'r> Row<'r> {
    pub(super) fn of_pool(row: &'r QueryResult) -> Self {
        Self { from: From::Pool(row), text: Cell::new(pooled_text(row)) }
    }

    pub(super) fn of_file(row: &'r rusqlite::Row<'r>) -> Self {
        Self { from: From::File(row), text: Cell::new(0) }
    }

    /// The value of a column, by its place.
    pub fn get<T: Column>(&self, place: usize) -> Result<T, DbErr> {
        match self.from {
            From::Pool(row) => row.try_get_by_index(place),
            From::File(row) => {
                let value = row.get_ref(place).map_err(super::session::unreadable)?;
                if let ValueRef::Text(text) = value {
                    self.text.set(self.text.get() + text.len());
                }
                T::column_result(value).map_err(|error| DbErr::Type(format!("column {place}: {error}")))
            }
        }
    }

    /// The row of a table whose columns come first, under their names and in their order.
    pub fn model<E: Table>(&self) -> Result<E::Model, DbErr> {
        match self.from {
            From::Pool(row) => E::Model::from_query_result(row, ""),
            From::File(row) => cells::read(row, &self.text),
        }
    }

    /// The bytes of text of what was read from it.
    pub fn text(&self) -> usize {
        self.text.get()
    }
}

/// The bytes that a row of a server holds.
fn pooled_text(row: &QueryResult) -> usize {
    let Some(row) = row.try_as_pg_row() else { return 0 };
    let length = |place| row.try_get_raw(place).ok().and_then(|value| value.as_bytes().ok()).map_or(0, <[u8]>::len);
    (0..row.len()).map(length).sum()
}

/// A statement that selects rows of several keys.
pub struct OfKeys<'s> {
    /// What its text follows from, where that can be said.
    pub shape: Option<Shape>,
    /// Builds it, given the condition for the keys, which holds its first parameter.
    pub build: &'s (dyn Fn(Expr) -> SelectStatement + Sync),
    /// The other parameters' values, in their order.
    pub values: Vec<Value>,
    /// The column of the key.
    pub key: Expr,
    /// The keys.
    pub keys: Vec<i64>,
    /// Whether there is a limit to the rows of each key.
    pub is_limited: bool,
}

/// A statement to run.
#[doc(hidden)]
#[derive(Debug)]
pub struct Work {
    pub(super) statement: Statement,
    /// Embedded, it is run for each of these, which are then its first parameter.
    pub(super) keys: Vec<i64>,
    /// Whether it is known to take its time.
    pub(super) is_long: bool,
}

impl Work {
    fn new(statement: Statement) -> Self {
        Self { statement, keys: Vec::new(), is_long: false }
    }
}

/// Knows which database it is of.
pub trait Backend {
    /// Which it is.
    fn backend(&self) -> DbBackend;
}

impl<C: ConnectionTrait> Backend for C {
    fn backend(&self) -> DbBackend {
        self.get_database_backend()
    }
}

impl Backend for Snapshot {
    fn backend(&self) -> DbBackend {
        match &self.kind {
            Kind::Pooled(transaction) => transaction.backend(),
            Kind::Embedded(_) => DbBackend::Sqlite,
        }
    }
}

/// Reads rows whose type is known.
pub trait Read: Backend + Sync {
    /// What `read` makes of each row. It may be asked twice for the same.
    #[doc(hidden)]
    fn run<T, F>(&self, work: Work, read: F) -> impl Future<Output = Result<Vec<T>, DbErr>> + Send
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, DbErr> + Send + 'static;

    /// Whether a statement costs little enough to be run once for each key.
    #[doc(hidden)]
    fn is_embedded(&self) -> bool;

    /// Charges the copy of a `T` that holds so many bytes of text ([`Row::text`]) to whoever asked for it.
    fn charge<T>(&self, text: usize) -> Result<(), DbErr> {
        let _ = text;
        Ok(())
    }

    /// What `read` makes of each row of a statement.
    fn rows<T, F>(&self, statement: &SelectStatement, read: F) -> impl Future<Output = Result<Vec<T>, DbErr>> + Send
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, DbErr> + Send + 'static,
    {
        self.run(Work::new(self.backend().build(statement)), read)
    }

    /// The same for a statement that may look at a whole table.
    fn rows_at_leisure<T, F>(
        &self,
        statement: &SelectStatement,
        read: F,
    ) -> impl Future<Output = Result<Vec<T>, DbErr>> + Send
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, DbErr> + Send + 'static,
    {
        let statement = self.backend().build(statement);
        self.run(Work { is_long: true, ..Work::new(statement) }, read)
    }

    /// The same for a statement whose text follows from its shape. `values` are those of its parameters, in their order.
    fn rows_like<T, F>(
        &self,
        shape: Shape,
        build: impl FnOnce() -> SelectStatement,
        values: Vec<Value>,
        read: F,
    ) -> impl Future<Output = Result<Vec<T>, DbErr>> + Send
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, DbErr> + Send + 'static,
    {
        let statement = statement(self.backend(), How::Each, Some(shape), build, values);
        self.run(Work::new(statement), read)
    }

    /// The rows of several keys: in the order of the statement for each key, and in no order of the keys. However many
    /// there are, it is one statement, and it looks at no more rows than it answers.
    fn rows_of<T, F>(&self, query: OfKeys<'_>, read: F) -> impl Future<Output = Result<Vec<T>, DbErr>> + Send
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, DbErr> + Clone + Send + Sync + 'static,
    {
        let OfKeys { shape, build, mut values, key, keys, is_limited } = query;
        let backend = self.backend();
        let how = match keys.len() {
            _ if self.is_embedded() => How::Each,
            0 | 1 => How::Each,
            _ if !is_limited => How::All,
            _ if backend == DbBackend::Postgres => How::Lateral,
            // The writer of SQLite reads no pages.
            _ => How::Each,
        };
        let work: Vec<Work> = match how {
            How::Each if self.is_embedded() && !keys.is_empty() => {
                values.insert(0, keys[0].into());
                let statement = statement(backend, how, shape, || build(key.eq(keys[0])), values);
                vec![Work { keys, ..Work::new(statement) }]
            }
            How::Each => {
                let of = |one: &i64| {
                    let values = [Value::from(*one)].into_iter().chain(values.clone()).collect();
                    Work::new(statement(backend, how, shape, || build(key.clone().eq(*one)), values))
                };
                keys.iter().map(of).collect()
            }
            How::All => {
                values.insert(0, super::list(backend, &keys));
                let build = || build(super::is_any(backend, key, &keys));
                vec![Work::new(statement(backend, how, shape, build, values))]
            }
            How::Lateral => {
                values.insert(0, super::list(backend, &keys));
                let all = Func::cust("UNNEST").arg(Expr::value(super::list(backend, &keys)));
                let build = || {
                    let one = build(key.eq(Expr::col(KEY)));
                    Query::select()
                        .column(("one", Asterisk))
                        .from_function(all, KEY)
                        .join_lateral(JoinType::InnerJoin, one, "one", Expr::cust("TRUE"))
                        .take()
                };
                vec![Work::new(statement(backend, how, shape, build, values))]
            }
        };
        async move {
            let mut found = Vec::new();
            for work in work {
                found.append(&mut self.run(work, read.clone()).await?);
            }
            Ok(found)
        }
    }

    /// All rows of a table that a statement selects.
    fn all<E: Table>(&self, select: Select<E>) -> impl Future<Output = Result<Vec<E::Model>, DbErr>> + Send {
        let statement = self.backend().build(select.as_query());
        self.run(Work::new(statement), |row| row.model::<E>())
    }

    /// The first of them.
    fn one<E: Table>(&self, select: Select<E>) -> impl Future<Output = Result<Option<E::Model>, DbErr>> + Send {
        let rows = self.all(select.limit(1));
        async move { Ok(rows.await?.pop()) }
    }
}

/// The name of a key among the keys.
const KEY: &str = "key_of_rows";

async fn pooled<T, F>(connection: &impl ConnectionTrait, statement: Statement, read: F) -> Result<Vec<T>, DbErr>
where
    F: Fn(&Row<'_>) -> Result<T, DbErr>,
{
    connection.query_all_raw(statement).await?.iter().map(|row| read(&Row::of_pool(row))).collect()
}

/// The same, a row at a time, each charged before the next is asked for.
async fn charged<T, F>(
    transaction: &DatabaseTransaction,
    statement: Statement,
    read: F,
    budget: &Budget,
) -> Result<Vec<T>, DbErr>
where
    F: Fn(&Row<'_>) -> Result<T, DbErr>,
{
    let (began, mut found) = (Instant::now(), Vec::new());
    let mut rows = transaction.stream_raw(statement).await?;
    while let Some(row) = rows.try_next().await? {
        let row = Row::of_pool(&row);
        budget.charge_row(size_of::<T>() + row.text()).map_err(over)?;
        found.push(read(&row)?);
    }
    budget.charge_server(began.elapsed()).map_err(over)?;
    Ok(found)
}

/// What a statement fails with when the request has used up its budget. Nobody is told of it: the budget knows.
pub(super) fn over(excess: Excess) -> DbErr {
    DbErr::Custom(excess.to_string())
}

/// Opens the span of a statement.
fn span(work: &Work) -> Span {
    spans::statement(super::system(work.statement.db_backend), &work.statement.sql, work.keys.len())
}

impl Read for DatabaseTransaction {
    async fn run<T, F>(&self, work: Work, read: F) -> Result<Vec<T>, DbErr>
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, DbErr> + Send + 'static,
    {
        let span = span(&work);
        let rows = span.around(pooled(self, work.statement, read)).await;
        span.returned(rows.as_ref().ok().map(Vec::len));
        rows
    }

    fn is_embedded(&self) -> bool {
        false
    }
}

impl Read for Reader {
    async fn run<T, F>(&self, work: Work, read: F) -> Result<Vec<T>, DbErr>
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, DbErr> + Send + 'static,
    {
        let span = span(&work);
        let rows = async {
            match &self.embedded {
                Some(embedded) => embedded.rows(work, read).await,
                None => pooled(&self.pool, work.statement, read).await,
            }
        };
        let rows = span.around(rows).await;
        span.returned(rows.as_ref().ok().map(Vec::len));
        rows
    }

    fn is_embedded(&self) -> bool {
        self.embedded.is_some()
    }
}

impl Read for Snapshot {
    async fn run<T, F>(&self, work: Work, read: F) -> Result<Vec<T>, DbErr>
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, DbErr> + Send + 'static,
    {
        let span = span(&work);
        let rows = async {
            match (&self.kind, &self.budget) {
                (Kind::Pooled(transaction), Some(budget)) => charged(transaction, work.statement, read, budget).await,
                (Kind::Pooled(transaction), None) => pooled(transaction, work.statement, read).await,
                (Kind::Embedded(snapshot), budget) => snapshot.rows(work, read, budget.as_ref()).await,
            }
        };
        let rows = span.around(rows).await;
        span.returned(rows.as_ref().ok().map(Vec::len));
        rows
    }

    fn is_embedded(&self) -> bool {
        matches!(self.kind, Kind::Embedded(_))
    }

    fn charge<T>(&self, text: usize) -> Result<(), DbErr> {
        self.budget.as_ref().map_or(Ok(()), |budget| budget.charge_row(size_of::<T>() + text).map_err(over))
    }
}

#[async_trait]
impl ConnectionTrait for Reader {
    fn get_database_backend(&self) -> DbBackend {
        self.pool.get_database_backend()
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        self.pool.execute_raw(statement).await
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.pool.execute_unprepared(sql).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.pool.query_one_raw(statement).await
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.pool.query_all_raw(statement).await
    }
}
