//! Typed row readers.
//!
//! sea-orm builds the statements. It does not run them: on SQLite they run on the calling thread
//! ([`super::embedded`]), on PostgreSQL on a connection that is lent ([`super::server`]). The text of a statement is
//! cached by its [`Shape`](super::Shape), so that a statement which differs only in its parameters is built once.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sea_orm::sea_query::{Asterisk, Expr, ExprTrait, Func, JoinType, Query, SelectStatement};
use sea_orm::{DbBackend, EntityTrait, QuerySelect, QueryTrait, Select, Statement, Value};

use super::Error;
use super::embedded::{self, Embedded, Observer};
use super::row::{Collect, Collected, Folded, KEY, Row, Work, over};
use super::server::{self, Server};
use super::shape::{How, Shape, statement};
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
    pub(super) kind: Kind,
    pub(super) budget: Option<Arc<Budget>>,
    /// The number of its statements so far.
    statements: AtomicUsize,
}

impl Snapshot {
    pub(super) fn new(kind: Kind, budget: Option<Arc<Budget>>) -> Self {
        Self { kind, budget, statements: AtomicUsize::new(0) }
    }

    /// Whether it has run several statements, so that a transaction is needed.
    pub fn has_run_several(&self) -> bool {
        self.statements.load(Ordering::Relaxed) > 1
    }
}

#[derive(Debug)]
pub(super) enum Kind {
    Server(server::Transaction),
    /// A single statement outside of any transaction.
    Once(server::Transaction),
    Embedded(Box<embedded::Transaction>),
}

/// A statement that selects the rows for several keys.
pub struct OfKeys<'s> {
    /// The cache key of its text, if it has one.
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
        let OfKeys { shape, build, mut values, key, selected, mut keys, is_limited } = self;
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
        let keyed = |condition: Expr| build(condition).expr_as(selected.clone(), KEY).take();
        match how {
            How::Again => {
                values.insert(0, keys[0].into());
                let statement = statement(backend, how, shape, &|| build(key.clone().eq(keys[0])), values);
                vec![Work { keys, ..Work::new(statement) }]
            }
            How::Each => {
                let of = |one: &i64| {
                    let values = [Value::from(*one)].into_iter().chain(values.clone()).collect();
                    Work::new(statement(backend, how, shape, &|| keyed(key.clone().eq(*one)), values))
                };
                keys.iter().map(of).collect()
            }
            How::All => {
                values.insert(0, super::list(backend, &keys));
                let build = || keyed(super::is_any(backend, key.clone(), &keys));
                vec![Work::new(statement(backend, how, shape, &build, values))]
            }
            How::Lateral => {
                values.insert(0, super::list(backend, &keys));
                let build = || {
                    let all = Func::cust("UNNEST").arg(Expr::value(super::list(backend, &keys)));
                    let one = keyed(key.clone().eq(Expr::col(JOINED)));
                    Query::select()
                        .column(("one", Asterisk))
                        .from_function(all, JOINED)
                        .join_lateral(JoinType::InnerJoin, one, "one", Expr::cust("TRUE"))
                        .take()
                };
                vec![Work::new(statement(backend, how, shape, &build, values))]
            }
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
            Kind::Server(_) | Kind::Once(_) => DbBackend::Postgres,
            Kind::Embedded(_) => DbBackend::Sqlite,
        }
    }
}

/// Typed reading.
pub trait Read: Backend + Sync {
    /// Runs a statement and passes its rows to `rows`, which is returned.
    #[doc(hidden)]
    fn collect(
        &self,
        work: Work,
        rows: Box<dyn Collect>,
    ) -> impl Future<Output = Result<Box<dyn Collect>, Error>> + Send;

    /// Runs a statement in its own span, passes its rows to `rows`, and returns that.
    #[doc(hidden)]
    fn gather(
        &self,
        work: Work,
        rows: Box<dyn Collect>,
    ) -> impl Future<Output = Result<Box<dyn Collect>, Error>> + Send {
        let span = spans::statement(super::system(self.backend()), &work.statement.sql, work.keys.len());
        async move {
            // Boxed only with a span: futures are large to move.
            let collected = match span.is_open() {
                true => Box::pin(span.around(self.collect(work, rows))).await,
                false => self.collect(work, rows).await,
            };
            let rows = collected.inspect_err(|_| span.returned(None))?;
            span.returned(Some(rows.count()));
            Ok(rows)
        }
    }

    /// Runs a statement and maps its rows with `read`. `read` may see a row twice if the statement is restarted.
    #[doc(hidden)]
    fn run<T, F>(&self, work: Work, read: F) -> impl Future<Output = Result<Vec<T>, Error>> + Send
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, Error> + Send + 'static,
    {
        self.run_for(work.keys.len(), work, read)
    }

    /// Like [`run`](Self::run), for about `many` rows.
    #[doc(hidden)]
    fn run_for<T, F>(&self, many: usize, work: Work, read: F) -> impl Future<Output = Result<Vec<T>, Error>> + Send
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, Error> + Send + 'static,
    {
        let rows = Box::new(Collected { rows: Vec::with_capacity(many), read });
        async move { Ok(passed_in::<Collected<T, F>>(self.gather(work, rows).await?).rows) }
    }

    /// Whether a statement is cheap enough to run once for each key.
    #[doc(hidden)]
    fn is_embedded(&self) -> bool;

    /// Charges a copy of a `T` that holds `text` bytes of text ([`Row::text`]) to the budget.
    fn charge<T>(&self, text: usize) -> Result<(), Error> {
        let _ = text;
        Ok(())
    }

    /// Checks the budget, and yields if the request has used up its turn.
    fn pause(&self) -> impl Future<Output = Result<(), Error>> + Send {
        async { Ok(()) }
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
        let statement = self.backend().build(statement);
        self.run(Work { is_long: true, ..Work::new(statement) }, read)
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
        let rows = Box::new(Folded { value: start(), rows: 0, start, add });
        async move { Ok(passed_in::<Folded<T, S, F>>(self.gather(work, rows).await?).value) }
    }

    /// Like [`rows`](Self::rows), for a statement whose text is cached by its shape. `values` are its parameters, in
    /// order. It returns `most` rows or fewer.
    fn rows_like<T, F>(
        &self,
        shape: Shape,
        build: impl Fn() -> SelectStatement,
        values: Vec<Value>,
        most: u64,
        read: F,
    ) -> impl Future<Output = Result<Vec<T>, Error>> + Send
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, Error> + Send + 'static,
    {
        let statement = statement(self.backend(), How::Each, Some(shape), &build, values);
        self.run_for(usize::try_from(most).unwrap_or_default(), Work::new(statement), read)
    }

    /// Reads the rows for many keys, each with its key. Rows of the same key keep the statement's order; keys come in any
    /// order. Takes one statement on PostgreSQL and reads no row that it does not return.
    fn rows_of<T, F>(&self, query: OfKeys<'_>, read: F) -> impl Future<Output = Result<Vec<(i64, T)>, Error>> + Send
    where
        T: Send + 'static,
        F: Fn(&Row<'_>) -> Result<T, Error> + Clone + Send + Sync + 'static,
    {
        let work = query.work(self.backend(), self.is_embedded());
        async move {
            let mut found = Vec::new();
            for work in work {
                let read = read.clone();
                found.append(&mut self.run(work, move |row| Ok((row.key()?, read(row)?))).await?);
            }
            Ok(found)
        }
    }

    /// Reads all rows of a table that a statement selects.
    fn all<E: Table>(&self, select: Select<E>) -> impl Future<Output = Result<Vec<E::Model>, Error>> + Send {
        self.models::<E>(self.backend().build(select.as_query()))
    }

    /// Runs a statement that selects the columns of a table.
    #[doc(hidden)]
    fn models<E: Table>(&self, statement: Statement) -> impl Future<Output = Result<Vec<E::Model>, Error>> + Send {
        let rows = self.run(Work::new(statement), |row| row.model::<E>());
        async move {
            let rows = rows.await?;
            self.note_read::<E>(&rows);
            Ok(rows)
        }
    }

    /// Notes rows that were read, where that is of use.
    #[doc(hidden)]
    fn note_read<E: Table>(&self, rows: &[E::Model]) {
        let _ = rows;
    }

    /// Like [`all`](Self::all), for a statement whose text is cached by its shape. `values` are its parameters, in order.
    fn all_like<E: Table>(
        &self,
        shape: Shape,
        build: impl Fn() -> SelectStatement,
        values: Vec<Value>,
    ) -> impl Future<Output = Result<Vec<E::Model>, Error>> + Send {
        self.models::<E>(statement(self.backend(), How::Each, Some(shape), &build, values))
    }

    /// Counts the rows that a statement selects.
    fn count<E: EntityTrait>(&self, select: Select<E>) -> impl Future<Output = Result<u64, Error>> + Send {
        self.count_rows(select.select_only().expr(Expr::cust("1")).into_query())
    }

    /// Counts the rows of any statement that selects.
    fn count_rows(&self, rows: SelectStatement) -> impl Future<Output = Result<u64, Error>> + Send {
        let counted = self.run(Work::new(self.backend().build(&count_of(rows))), |row| row.get::<i64>(0));
        async move { Ok(counted.await?.first().map_or(0, |count| count.cast_unsigned())) }
    }

    /// Reads the first of the rows that a statement selects.
    fn one<E: Table>(&self, select: Select<E>) -> impl Future<Output = Result<Option<E::Model>, Error>> + Send {
        let rows = self.all(select.limit(1));
        async move { Ok(rows.await?.pop()) }
    }
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

/// The alias of the keys in a lateral join.
const JOINED: &str = "joined_key";

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

impl Read for Reader {
    async fn collect(&self, work: Work, rows: Box<dyn Collect>) -> Result<Box<dyn Collect>, Error> {
        match &self.0 {
            Source::Server(server) => server.rows(work, rows).await,
            Source::Embedded(file) => file.rows(work, rows).await,
        }
    }

    fn is_embedded(&self) -> bool {
        matches!(self.0, Source::Embedded(_))
    }
}

impl Read for Snapshot {
    async fn collect(&self, work: Work, rows: Box<dyn Collect>) -> Result<Box<dyn Collect>, Error> {
        let is_first = self.statements.fetch_add(1, Ordering::Relaxed) == 0;
        match (&self.kind, &self.budget) {
            (Kind::Once(_), Some(budget)) if !is_first => Err(over(budget.exceed(Excess::Statement))),
            (Kind::Once(server) | Kind::Server(server), budget) => server.rows(work, rows, budget.as_deref()).await,
            (Kind::Embedded(snapshot), budget) => snapshot.rows(work, rows, budget.as_ref()).await,
        }
    }

    fn is_embedded(&self) -> bool {
        matches!(self.kind, Kind::Embedded(_))
    }

    fn charge<T>(&self, text: usize) -> Result<(), Error> {
        self.budget.as_ref().map_or(Ok(()), |budget| budget.charge_row(size_of::<T>() + text).map_err(over))
    }

    async fn pause(&self) -> Result<(), Error> {
        match &self.budget {
            Some(budget) => budget.pause().await.map_err(over),
            None => Ok(()),
        }
    }
}
