//! Typed row readers.
//!
//! sea-orm builds the statements. It does not run them: on SQLite they run on the calling thread
//! ([`super::sqlite::embedded`]), on PostgreSQL on a connection that is lent ([`super::postgres::server`]). The text of
//! a statement is cached by its [`Shape`](super::Shape), so that a statement which differs only in its parameters is
//! built once.

use std::any::Any;
use std::future::ready;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use sea_orm::sea_query::{Expr, Func, Query, SelectStatement};
use sea_orm::{DbBackend, EntityTrait, QuerySelect, QueryTrait, Select, Statement, Value};

use super::Error;
use super::lock::lock;
use super::observer::Observer;
use super::postgres::server;
use super::postgres::server::Server;
use super::record::Record;
use super::row::{Collect, Collected, Folded, Row, Work, over};
use super::shape::{How, Shape, keyed, of_keys, whole};
use super::sqlite::embedded;
use super::sqlite::embedded::Embedded;
use super::table::Table;
use crate::budget::{Budget, Excess};
use crate::spans;

/// The connections for reading.
#[derive(Clone, Debug)]
pub struct Reader(pub(super) Source);

#[derive(Clone, Debug)]
pub(super) enum Source {
    Server(Server),
    Embedded(Embedded),
}

/// A read transaction. Ends when dropped. Reads are charged to its budget.
#[derive(Debug)]
pub struct Snapshot {
    pub(super) kind: SnapshotKind,
    pub(super) budget: Option<Arc<Budget>>,
    /// The number of its statements so far.
    statements: AtomicUsize,
}

impl Snapshot {
    pub(super) fn new(kind: SnapshotKind, budget: Option<Arc<Budget>>) -> Self {
        Self { kind, budget, statements: AtomicUsize::new(0) }
    }

    /// Whether it has run several statements, so that a transaction is needed.
    pub fn has_run_several(&self) -> bool {
        self.statements.load(Ordering::Relaxed) > 1
    }
}

#[derive(Debug)]
pub(super) enum SnapshotKind {
    Server(server::Transaction),
    /// A single statement outside of any transaction.
    Once(server::Transaction),
    Embedded(Box<embedded::Transaction>),
}

/// A statement that selects the rows for several keys.
pub struct OfKeys<'s> {
    /// The cache key of its text, if it has one. It builds the same statement as `build`.
    pub shape: Option<Shape>,
    /// Builds the statement from the condition on the key, which must hold its first parameter.
    pub build: &'s (dyn Fn(Expr) -> SelectStatement + Sync),
    /// The values of its other parameters, in order.
    pub values: Vec<Value>,
    /// The column of the key, for the condition.
    pub key: Expr,
    /// The same column, as `SELECT` names it. It is selected only where needed, so `build` must not select it.
    pub selected: Expr,
    /// The keys, in any order.
    pub keys: Vec<i64>,
    /// Whether the rows of each key are limited.
    pub is_limited: bool,
}

impl OfKeys<'_> {
    /// Returns the statements to run, in order. `is_embedded` means that a statement is cheap enough to run once for
    /// each key.
    fn work(self, backend: DbBackend, is_embedded: bool) -> Vec<Work> {
        let OfKeys { shape, build, values, key, selected, mut keys, is_limited } = self;
        keys.sort_unstable();
        keys.dedup();
        let how = match keys.len() {
            0 => return Vec::new(),
            _ if is_embedded => How::Again,
            1 => How::Each,
            _ if !is_limited => How::All,
            _ if backend == DbBackend::Postgres => How::Lateral,
            _ => How::Each,
        };
        let statement = |keys: &[i64], first: Value| {
            let built = || backend.build(&of_keys(backend, how, build, (&key, &selected), keys));
            let Some(shape) = shape else { return built() };
            let values = std::iter::once(first).chain(values.iter().cloned()).collect();
            let cached = keyed(backend, how, shape, values);
            debug_assert_eq!(built().sql, cached.sql, "{shape:?} lacks something of its statement");
            cached
        };
        match how {
            How::Again => {
                let statement = statement(&keys, keys[0].into());
                vec![Work { keys, ..Work::new(statement) }]
            }
            How::Each => keys.iter().map(|one| Work::new(statement(&[*one], (*one).into()))).collect(),
            How::All | How::Lateral => vec![Work::new(statement(&keys, super::list(backend, &keys)))],
        }
    }
}

/// A connection that knows its backend.
pub trait Backend {
    /// The backend.
    fn backend(&self) -> DbBackend;
}

impl Backend for Reader {
    fn backend(&self) -> DbBackend {
        match &self.0 {
            Source::Server(_) => DbBackend::Postgres,
            Source::Embedded(_) => DbBackend::Sqlite,
        }
    }
}

impl Backend for Snapshot {
    fn backend(&self) -> DbBackend {
        match &self.kind {
            SnapshotKind::Server(_) | SnapshotKind::Once(_) => DbBackend::Postgres,
            SnapshotKind::Embedded(_) => DbBackend::Sqlite,
        }
    }
}

/// What rows are read from: connections, a snapshot, a transaction. Functions take it as `&dyn ReadHandle`, so that they
/// are compiled once and not once for each of them. Read through [`Read`].
pub trait ReadHandle: Backend + Sync {
    /// The same handle, whatever its type.
    #[doc(hidden)]
    fn as_read(&self) -> &(dyn ReadHandle + '_);

    /// Runs a statement and passes its rows to `rows`, which is returned.
    #[doc(hidden)]
    fn collect(&self, work: Work, rows: Box<dyn Collect>) -> Collecting<'_>;

    /// Whether a statement is cheap enough to run once for each key.
    #[doc(hidden)]
    fn is_embedded(&self) -> bool;

    /// Charges bytes to the budget, if there is one.
    #[doc(hidden)]
    fn charge_bytes(&self, bytes: usize) -> Result<(), Error> {
        let _ = bytes;
        Ok(())
    }

    /// Checks the budget, and yields if the request has used up its turn.
    fn pause(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(ready(Ok(())))
    }

    /// The record of the transaction that this belongs to, if no other transaction can change the rows that are read.
    #[doc(hidden)]
    fn holds_in(&self) -> Option<&Mutex<Record>> {
        None
    }
}

/// Rows that are being collected.
pub type Collecting<'r> = BoxFuture<'r, Result<Box<dyn Collect>, Error>>;

/// Typed reading, from any [`ReadHandle`].
pub trait Read: ReadHandle {
    /// Runs a statement and maps its rows with `read`. `read` may see a row twice if the statement is restarted.
    #[doc(hidden)]
    fn run<T, F>(&self, work: Work, read: F) -> impl Future<Output = Result<Vec<T>, Error>> + Send
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, Error> + Send + 'static,
    {
        run(self.as_read(), work.keys.len(), work, read)
    }

    /// Charges a copy of a `T` that holds `text` bytes of text ([`Row::text`]) to the budget.
    fn charge<T>(&self, text: usize) -> Result<(), Error> {
        self.charge_bytes(size_of::<T>() + text)
    }

    /// Runs a statement and maps its rows with `read`.
    fn rows<T, F>(&self, statement: &SelectStatement, read: F) -> impl Future<Output = Result<Vec<T>, Error>> + Send
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, Error> + Send + 'static,
    {
        self.run(Work::new(self.backend().build(statement)), read)
    }

    /// Like [`rows`](Self::rows), for a statement in the words of the backend.
    fn rows_by<T, F>(&self, statement: Statement, read: F) -> impl Future<Output = Result<Vec<T>, Error>> + Send
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, Error> + Send + 'static,
    {
        self.run(Work::new(statement), read)
    }

    /// Like [`rows`](Self::rows), for a statement that may scan a whole table. Starts on a blocking thread.
    fn scan<T, F>(&self, statement: &SelectStatement, read: F) -> impl Future<Output = Result<Vec<T>, Error>> + Send
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, Error> + Send + 'static,
    {
        self.run(Work { is_long: true, ..Work::new(self.backend().build(statement)) }, read)
    }

    /// Like [`sift`](Self::sift), but each row is charged as if it were held.
    fn fold<T, S, F>(
        &self,
        statement: &SelectStatement,
        start: S,
        add: F,
    ) -> impl Future<Output = Result<T, Error>> + Send
    where
        T: Send + 'static,
        S: Fn() -> T + Send + 'static,
        F: Fn(&mut T, &Row<'_>) -> Result<(), Error> + Send + 'static,
    {
        self.sift(statement, start, move |value, row| add(value, row).map(|()| Budget::row(0)))
    }

    /// Like [`scan`](Self::scan), but holds no row: `add` adds each to a value, which `start` makes, and returns the
    /// bytes by which the value grows. A statement that is restarted starts with a new value.
    fn sift<T, S, F>(
        &self,
        statement: &SelectStatement,
        start: S,
        add: F,
    ) -> impl Future<Output = Result<T, Error>> + Send
    where
        T: Send + 'static,
        S: Fn() -> T + Send + 'static,
        F: Fn(&mut T, &Row<'_>) -> Result<usize, Error> + Send + 'static,
    {
        let work = Work { is_long: true, ..Work::new(self.backend().build(statement)) };
        sift(self.as_read(), work, Folded { value: start(), rows: 0, start, add })
    }

    /// Like [`rows`](Self::rows), for a statement whose text is cached by its shape. `values` are its parameters, in
    /// order. It returns `most` rows or fewer.
    fn rows_like<T, F>(
        &self,
        shape: Shape,
        values: Vec<Value>,
        most: u64,
        read: F,
    ) -> impl Future<Output = Result<Vec<T>, Error>> + Send
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, Error> + Send + 'static,
    {
        let statement = whole(self.backend(), shape, values);
        run(self.as_read(), usize::try_from(most).unwrap_or_default(), Work::new(statement), read)
    }

    /// Reads the rows for many keys, each with its key. Rows of the same key keep the statement's order; keys come in any
    /// order. Takes one statement on PostgreSQL and reads no row that it does not return.
    fn rows_of<T, F>(&self, query: OfKeys<'_>, read: F) -> impl Future<Output = Result<Vec<(i64, T)>, Error>> + Send
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, Error> + Clone + Send + Sync + 'static,
    {
        rows_of(self.as_read(), query.work(self.backend(), self.is_embedded()), read)
    }

    /// Reads all rows of a table that a statement selects.
    fn all<E: Table>(&self, select: Select<E>) -> impl Future<Output = Result<Vec<E::Model>, Error>> + Send {
        self.models::<E>(self.backend().build(select.as_query()))
    }

    /// Runs a statement that selects the columns of a table.
    #[doc(hidden)]
    fn models<E: Table>(&self, statement: Statement) -> impl Future<Output = Result<Vec<E::Model>, Error>> + Send {
        models::<E>(self.as_read(), statement)
    }

    /// Like [`all`](Self::all), for a statement whose text is cached by its shape. `values` are its parameters, in order.
    fn all_like<E: Table>(
        &self,
        shape: Shape,
        values: Vec<Value>,
    ) -> impl Future<Output = Result<Vec<E::Model>, Error>> + Send {
        self.models::<E>(whole(self.backend(), shape, values))
    }

    /// Counts the rows that a statement selects.
    fn count<E: EntityTrait>(&self, select: Select<E>) -> impl Future<Output = Result<u64, Error>> + Send {
        self.count_rows(select.select_only().expr(Expr::cust("1")).into_query())
    }

    /// Counts the rows of any statement that selects.
    fn count_rows(&self, rows: SelectStatement) -> impl Future<Output = Result<u64, Error>> + Send {
        count(self.as_read(), self.backend().build(&count_of(rows)))
    }

    /// Reads the first of the rows that a statement selects.
    fn one<E: Table>(&self, select: Select<E>) -> impl Future<Output = Result<Option<E::Model>, Error>> + Send {
        one::<E>(self.as_read(), self.backend().build(select.limit(1).as_query()))
    }
}

impl<H: ReadHandle + ?Sized> Read for H {}

/// Runs a statement in its own span, passes its rows to `rows`, and returns that.
async fn gather(db: &dyn ReadHandle, work: Work, rows: Box<dyn Collect>) -> Result<Box<dyn Collect>, Error> {
    let span = spans::statement(super::system(db.backend()), &work.statement.sql, work.keys.len());
    let rows = match span.is_open() {
        true => span.instrument(db.collect(work, rows)).await,
        false => db.collect(work, rows).await,
    };
    let rows = rows.inspect_err(|_| span.returned(None))?;
    span.returned(Some(rows.count()));
    Ok(rows)
}

/// Like [`Read::run`], for about `many` rows.
pub(super) async fn run<T, F>(db: &dyn ReadHandle, many: usize, work: Work, read: F) -> Result<Vec<T>, Error>
where
    T: Send + 'static,
    F: Fn(&Row<'_>) -> Result<T, Error> + Send + 'static,
{
    let rows = Box::new(Collected { rows: Vec::with_capacity(many), read });
    Ok(passed_in::<Collected<T, F>>(gather(db, work, rows).await?).rows)
}

async fn sift<T, S, F>(db: &dyn ReadHandle, work: Work, rows: Folded<T, S, F>) -> Result<T, Error>
where
    Folded<T, S, F>: Collect,
{
    Ok(passed_in::<Folded<T, S, F>>(gather(db, work, Box::new(rows)).await?).value)
}

async fn rows_of<T, F>(db: &dyn ReadHandle, all: Vec<Work>, read: F) -> Result<Vec<(i64, T)>, Error>
where
    T: Send + 'static,
    F: Fn(&Row<'_>) -> Result<T, Error> + Clone + Send + Sync + 'static,
{
    let mut found = Vec::new();
    for work in all {
        let read = read.clone();
        let rows = run(db, work.keys.len(), work, move |row| Ok((row.key()?, read(row)?)));
        found.append(&mut rows.await?);
    }
    Ok(found)
}

async fn models<E: Table>(db: &dyn ReadHandle, statement: Statement) -> Result<Vec<E::Model>, Error> {
    let rows = run(db, 0, Work::new(statement), |row| row.model::<E>()).await?;
    if let Some(record) = db.holds_in() {
        lock(record).hold::<E>(&rows);
    }
    Ok(rows)
}

async fn one<E: Table>(db: &dyn ReadHandle, statement: Statement) -> Result<Option<E::Model>, Error> {
    Ok(models::<E>(db, statement).await?.pop())
}

async fn count(db: &dyn ReadHandle, statement: Statement) -> Result<u64, Error> {
    let counted = run(db, 1, Work::new(statement), |row| row.get::<i64>(0)).await?;
    Ok(counted.first().map_or(0, |count| count.cast_unsigned()))
}

/// Selects how many rows a statement selects.
pub fn count_of(rows: SelectStatement) -> SelectStatement {
    Query::select().expr(Func::count(Expr::cust("*"))).from_subquery(rows, "counted").take()
}

/// The value that a statement selects, or null if it selects no row.
pub fn scalar(select: SelectStatement) -> Expr {
    Expr::SubQuery(None, Box::new(select.into()))
}

/// The collector that was passed in.
fn passed_in<C: Collect>(rows: Box<dyn Collect>) -> C {
    let rows: Box<dyn Any> = rows;
    *rows.downcast().expect("the collector that was passed in")
}

impl Reader {
    /// Calls `observer` after every statement.
    pub(super) fn observe(&mut self, observer: &Observer) {
        match &mut self.0 {
            Source::Server(server) => server.observer = Some(Arc::clone(observer)),
            Source::Embedded(file) => file.observer = Some(Arc::clone(observer)),
        }
    }

    /// Waits for running reads, then closes the connections.
    pub(super) async fn close(&self) {
        match &self.0 {
            Source::Server(server) => server.close().await,
            Source::Embedded(file) => file.close().await,
        }
    }
}

impl ReadHandle for Reader {
    fn as_read(&self) -> &(dyn ReadHandle + '_) {
        self
    }

    fn collect(&self, work: Work, rows: Box<dyn Collect>) -> Collecting<'_> {
        Box::pin(async move {
            match &self.0 {
                Source::Server(server) => server.rows(work, rows).await,
                Source::Embedded(file) => file.rows(work, rows).await,
            }
        })
    }

    fn is_embedded(&self) -> bool {
        matches!(self.0, Source::Embedded(_))
    }
}

impl ReadHandle for Snapshot {
    fn as_read(&self) -> &(dyn ReadHandle + '_) {
        self
    }

    fn collect(&self, work: Work, rows: Box<dyn Collect>) -> Collecting<'_> {
        Box::pin(async move {
            let is_first = self.statements.fetch_add(1, Ordering::Relaxed) == 0;
            match (&self.kind, &self.budget) {
                (SnapshotKind::Once(_), Some(budget)) if !is_first => Err(over(budget.exceed(Excess::Statement))),
                (SnapshotKind::Once(server) | SnapshotKind::Server(server), budget) => {
                    server.rows(work, rows, budget.as_deref()).await
                }
                (SnapshotKind::Embedded(snapshot), budget) => snapshot.rows(work, rows, budget.as_ref()).await,
            }
        })
    }

    fn is_embedded(&self) -> bool {
        matches!(self.kind, SnapshotKind::Embedded(_))
    }

    fn charge_bytes(&self, bytes: usize) -> Result<(), Error> {
        self.budget.as_ref().map_or(Ok(()), |budget| budget.charge_row(bytes).map_err(over))
    }

    fn pause(&self) -> BoxFuture<'_, Result<(), Error>> {
        match &self.budget {
            Some(budget) => Box::pin(async { budget.pause().await.map_err(over) }),
            None => Box::pin(ready(Ok(()))),
        }
    }
}
