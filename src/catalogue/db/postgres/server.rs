//! Reads and writes PostgreSQL.
//!
//! A transaction begins with its first statement: `BEGIN` and the statement are sent together. Statements that run at the
//! same time are sent one after another, and share the time that the network takes. In a transaction that writes, those
//! that are started after the first one are sent after it, so that they can rely on its locks.

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::try_join;
use sea_orm::{Statement, Value};
use tokio::sync::{MutexGuard, OwnedSemaphorePermit, oneshot};
use tokio::task::unconstrained;
use tokio::time::timeout;
use tokio_postgres::{CopyInSink, Row as ServerRow};

use super::connection::Connection;
use super::pool::Connections;
use super::{ACQUIRE, BEGIN, COMMIT, Hosts, Locks};
use crate::budget::Budget;
use crate::db::error::Unconfirmed;
use crate::db::lock::lock;
use crate::db::observer::{Observer, observe};
use crate::db::row::{Collect, Row, Work, over};
use crate::db::{Error, Pool};

/// Connections to one server.
#[derive(Clone)]
pub(in crate::db) struct Server {
    connections: Arc<Connections>,
    /// The timeout of a statement outside of a transaction.
    patience: Option<Duration>,
    pub(in crate::db) observer: Option<Observer>,
}

/// A transaction, or a connection for a single statement. Rolled back when dropped.
pub(in crate::db) struct Transaction {
    lease: Lease,
    observer: Option<Observer>,
}

/// A connection that is lent, and returned when dropped.
struct Lease {
    connection: Mutex<Arc<Connection>>,
    home: Arc<Connections>,
    place: Option<OwnedSemaphorePermit>,
    /// Without it, statements are transactions of their own.
    access: Option<Access>,
    /// Held while the transaction has not begun: by its first statement until that is sent, or answered if the
    /// transaction only reads.
    turn: tokio::sync::Mutex<()>,
    /// Whether the server was told to begin the transaction.
    is_open: AtomicBool,
    /// Whether it has confirmed that.
    has_begun: AtomicBool,
    /// The transaction's id, once a statement has returned it.
    id: OnceLock<String>,
    /// Whether it was connected for this lease, or must stay. Any other may have died while it was idle, and is replaced.
    is_new: AtomicBool,
    /// The statements whose answers have not arrived.
    unanswered: AtomicUsize,
    is_broken: AtomicBool,
    /// Whether the server was told to commit.
    is_committing: AtomicBool,
    /// When the last answer arrived.
    answered: Mutex<Instant>,
}

/// What a transaction may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::db) enum Access {
    /// Read the database as of its first statement.
    Read,
    /// Read and write.
    Write,
    /// The same, and learn the transaction's id, by which the outcome is found if the commit is not confirmed.
    WriteWithId,
}

impl Access {
    fn begin(self) -> &'static str {
        match self {
            Self::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Self::Write | Self::WriteWithId => "BEGIN",
        }
    }
}

impl Server {
    /// Creates a pool that connects on demand. Its statements wait for locks as long as `locks` says. Must be called
    /// within a tokio runtime.
    pub(in crate::db) fn new(hosts: &Arc<Hosts>, most: u32, locks: Locks, patience: Option<Duration>) -> Self {
        Self { connections: Connections::new(hosts, most, locks), patience, observer: None }
    }

    /// A transaction. It begins with its first statement.
    pub(in crate::db) async fn begin(&self, access: Access) -> Result<Transaction, Error> {
        self.lend(Some(access)).await
    }

    /// A connection for a single statement outside of any transaction.
    pub(in crate::db) async fn once(&self) -> Result<Transaction, Error> {
        self.lend(None).await
    }

    async fn lend(&self, access: Option<Access>) -> Result<Transaction, Error> {
        let (place, connection, is_new) = Box::pin(self.connections.lend()).await?;
        let lease = Lease::new(Arc::clone(&self.connections), place, (connection, is_new), access);
        Ok(Transaction { lease, observer: self.observer.clone() })
    }

    /// Runs a statement outside of any transaction and returns its rows.
    pub(in crate::db) async fn rows(&self, work: Work, rows: Box<dyn Collect>) -> Result<Box<dyn Collect>, Error> {
        let run = Box::pin(async { self.once().await?.rows(work, rows, None).await });
        match self.patience {
            None => run.await,
            Some(patience) => timeout(patience, run).await.unwrap_or(Err(Error::Stalled)),
        }
    }

    /// The state of the pool.
    pub(in crate::db) fn pool(&self, name: &'static str) -> Pool {
        self.connections.state(name)
    }

    /// Whether the pool is closed.
    pub(in crate::db) fn is_closed(&self) -> bool {
        self.connections.is_closed()
    }

    /// Waits for all leases to end, then closes all connections.
    pub(in crate::db) async fn close(&self) {
        Box::pin(self.connections.close()).await;
    }
}

impl Transaction {
    /// Runs a statement and returns its rows. Charges each row before it fetches the next, and the server's time at the
    /// end. Fails without running the statement if the time is used up already.
    pub(in crate::db) async fn rows(
        &self,
        mut work: Work,
        mut rows: Box<dyn Collect>,
        budget: Option<&Budget>,
    ) -> Result<Box<dyn Collect>, Error> {
        budget.map_or(Ok(()), |budget| budget.check_server().map_err(over))?;
        let returns_id = self.lease.access == Some(Access::WriteWithId) && work.writes && self.id().is_none();
        let returns_id = returns_id && returning_id(&mut work.statement.sql);
        let collect = |row: &ServerRow| {
            if returns_id && self.id().is_none() {
                let _ = self.lease.id.set(Row::of_server(row).get(row.len().saturating_sub(1))?);
            }
            let bytes = rows.row(&Row::of_server(row))?;
            budget.map_or(Ok(()), |budget| budget.charge_rows(bytes).map_err(over))
        };
        // Boxed, as below: each wrapper around a future reserves space for it, and drivers have large ones.
        let (_, took) = Box::pin(self.run(&work.statement, work.writes, || (), collect)).await?;
        if let Some(budget) = budget {
            budget.charge_server(took);
        }
        Ok(rows)
    }

    /// Runs a statement that writes, and returns the number of rows that it changed.
    pub(in crate::db) async fn change(&self, statement: Statement) -> Result<u64, Error> {
        Ok(Box::pin(self.run(&statement, true, || (), |_| Ok(()))).await?.0)
    }

    /// Runs statements without parameters.
    pub(in crate::db) async fn script(&self, sql: &str) -> Result<(), Error> {
        Box::pin(async {
            self.lease.begin().await?;
            let connection = self.lease.connection();
            self.lease.counted(&connection, connection.script(sql)).await
        })
        .await
    }

    /// Begins a `COPY` from this side. Nothing else can run in the transaction until it is finished. If it is dropped, it
    /// fails, and with it the transaction.
    pub(in crate::db) async fn copy_in(&self, sql: &str) -> Result<Pin<Box<CopyInSink<Bytes>>>, Error> {
        self.lease.begin().await?;
        self.lease.connection().copy_in(sql).await
    }

    /// Goes on in a transaction, after statements of their own. It stays on the same connection: on another one it might
    /// see an earlier state.
    pub(in crate::db) fn then(mut self, access: Option<Access>) -> Self {
        self.lease.access = access;
        self.lease.is_new = AtomicBool::new(true);
        self
    }

    /// Commits. If the server does not confirm it, the error [is uncertain](crate::db::uncertain).
    pub(in crate::db) async fn commit(&self) -> Result<(), Error> {
        self.lease.is_committing.store(true, Ordering::Relaxed);
        match timeout(COMMIT, Box::pin(self.lease.end("COMMIT"))).await {
            Ok(Err(error)) if !error.is_broken() => Err(error),
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Error::Uncertain(Unconfirmed::Connection)),
        }
    }

    /// Runs the last statement, which writes, and tells when it is sent, so that the commit can be sent after it.
    pub(in crate::db) async fn last(&self, statement: &Statement, sent: oneshot::Sender<()>) -> Result<(), Error> {
        let tell = || {
            let _ = sent.send(());
        };
        let run = Box::pin(self.run(statement, true, tell, |_| Ok(())));
        timeout(COMMIT, run).await.unwrap_or(Err(Error::Stalled)).map(drop)
    }

    /// The id of the transaction, if a statement has returned it.
    pub(in crate::db) fn id(&self) -> Option<&String> {
        self.lease.id.get()
    }

    /// Rolls back. A server that does not respond rolls back by itself.
    pub(in crate::db) async fn roll_back(self) -> Result<(), Error> {
        timeout(BEGIN, Box::pin(self.lease.end("ROLLBACK"))).await.unwrap_or(Ok(()))
    }

    /// Runs a statement and passes on its rows. Returns the number of rows that it changed, and the server's time for
    /// it.
    async fn run(
        &self,
        statement: &Statement,
        writes: bool,
        on_sent: impl FnOnce() + Send,
        row: impl FnMut(&ServerRow) -> Result<(), Error> + Send,
    ) -> Result<(u64, Duration), Error> {
        let began = Instant::now();
        let done = self.lease.run(statement, writes, on_sent, row).await;
        observe(self.observer.as_ref(), Some(began), statement, done.is_err());
        done.map(|changed| (changed, self.lease.took(began)))
    }
}

impl Lease {
    fn new(
        home: Arc<Connections>,
        place: OwnedSemaphorePermit,
        (connection, is_new): (Arc<Connection>, bool),
        access: Option<Access>,
    ) -> Self {
        Self {
            connection: Mutex::new(connection),
            home,
            place: Some(place),
            access,
            turn: tokio::sync::Mutex::default(),
            is_open: AtomicBool::new(false),
            has_begun: AtomicBool::new(false),
            id: OnceLock::new(),
            is_new: AtomicBool::new(is_new),
            unanswered: AtomicUsize::new(0),
            is_broken: AtomicBool::new(false),
            is_committing: AtomicBool::new(false),
            answered: Mutex::new(Instant::now()),
        }
    }

    fn connection(&self) -> Arc<Connection> {
        Arc::clone(&lock(&self.connection))
    }

    /// Takes another connection, at the same place.
    async fn renew(&self, until: Instant) -> Result<(), Error> {
        let (connection, is_new) = self.home.connection(until).await?;
        *lock(&self.connection) = connection;
        self.is_new.store(is_new, Ordering::Relaxed);
        self.unanswered.store(0, Ordering::Relaxed);
        self.is_broken.store(false, Ordering::Relaxed);
        self.is_open.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Runs a statement and passes on its rows. Begins the transaction first. Calls `on_sent` when the statement is
    /// sent, but only if the transaction had begun before.
    async fn run(
        &self,
        statement: &Statement,
        writes: bool,
        on_sent: impl FnOnce() + Send,
        row: impl FnMut(&ServerRow) -> Result<(), Error> + Send,
    ) -> Result<u64, Error> {
        let (sql, values) = (&statement.sql, statement.values.as_ref().map_or(&[][..], |values| &values.0));
        if writes && self.access.is_some() {
            // Do not send the statement together with BEGIN: if BEGIN failed, the statement would run and commit by itself.
            Box::pin(self.begin()).await?;
        }
        if !self.has_begun.load(Ordering::Acquire) {
            let turn = self.turn.lock().await;
            let is_sent = self.may_write() && self.is_open.load(Ordering::Relaxed);
            match self.has_begun.load(Ordering::Acquire) {
                false if is_sent => return Box::pin(self.run_second(turn, sql, values, row)).await,
                false => return Box::pin(self.run_first(turn, sql, values, row)).await,
                true => {}
            }
        }
        let connection = self.connection();
        self.counted(&connection, connection.run(sql, values, on_sent, row)).await
    }

    fn may_write(&self) -> bool {
        matches!(self.access, Some(Access::Write | Access::WriteWithId))
    }

    /// Begins the transaction and runs its first statement, which only reads. Replaces a connection that has died while
    /// it was idle.
    async fn run_first<'l>(
        &'l self,
        turn: MutexGuard<'l, ()>,
        sql: &str,
        values: &[Value],
        mut row: impl FnMut(&ServerRow) -> Result<(), Error> + Send,
    ) -> Result<u64, Error> {
        let mut has_rows = false;
        let mut turn = Some(turn);
        loop {
            let connection = self.connection();
            let pass_on = |next: &ServerRow| {
                has_rows = true;
                row(next)
            };
            let on_sent = || {
                if self.may_write() {
                    turn = None;
                }
            };
            let run = self.counted(&connection, connection.run(sql, values, on_sent, pass_on));
            let done = match self.access {
                None => run.await,
                // In this order they are sent.
                Some(access) => try_join(self.send_begin(&connection, access), run).await.map(|((), changed)| changed),
            };
            match done {
                Err(error) if !has_rows && self.may_repeat(&error) => {
                    if turn.is_none() {
                        turn = Some(self.turn.lock().await);
                    }
                    self.renew(Instant::now() + ACQUIRE).await?;
                }
                done => return done,
            }
        }
    }

    /// Runs a statement that only reads, behind the first one, before that is answered.
    async fn run_second<'l>(
        &'l self,
        turn: MutexGuard<'l, ()>,
        sql: &str,
        values: &[Value],
        row: impl FnMut(&ServerRow) -> Result<(), Error> + Send,
    ) -> Result<u64, Error> {
        let (connection, may_be_dead) = (self.connection(), !self.is_new.load(Ordering::Relaxed));
        let mut run = Box::pin(self.counted(&connection, connection.run(sql, values, || drop(turn), row)));
        let done = match timeout(BEGIN, &mut run).await {
            Ok(done) => done,
            Err(_) if self.has_begun.load(Ordering::Acquire) => run.await,
            // BEGIN was not answered in time either.
            Err(_) => return Err(Error::Stalled),
        };
        match done {
            // The first statement is repeated on another connection, perhaps after this one. The caller starts over.
            Err(error) if may_be_dead && error.is_broken() => Err(Error::LostRace),
            done => done,
        }
    }

    /// Begins the transaction, unless it has begun.
    async fn begin(&self) -> Result<(), Error> {
        if self.has_begun.load(Ordering::Acquire) {
            return Ok(());
        }
        let _turn = self.turn.lock().await;
        let Some(access) = self.access.filter(|_| !self.has_begun.load(Ordering::Acquire)) else { return Ok(()) };
        if self.is_open.load(Ordering::Relaxed) {
            return Err(Error::fault("the first statement of a transaction must end before one that writes"));
        }
        loop {
            let connection = self.connection();
            match self.send_begin(&connection, access).await {
                Err(error) if self.may_repeat(&error) => self.renew(Instant::now() + ACQUIRE).await?,
                begun => return begun,
            }
        }
    }

    async fn send_begin(&self, connection: &Arc<Connection>, access: Access) -> Result<(), Error> {
        self.is_open.store(true, Ordering::Relaxed);
        match timeout(BEGIN, self.counted(connection, connection.begin(access.begin()))).await {
            Ok(begun) => begun.map(|()| self.has_begun.store(true, Ordering::Release)),
            Err(_) => {
                self.is_broken.store(true, Ordering::Relaxed);
                Err(Error::Stalled)
            }
        }
    }

    /// Whether the first statement has failed because the connection has died while it was idle.
    fn may_repeat(&self, error: &Error) -> bool {
        let may_be_dead = !self.is_new.load(Ordering::Relaxed) && !self.has_begun.load(Ordering::Relaxed);
        may_be_dead && error.is_broken()
    }

    /// Ends the transaction.
    async fn end(&self, how: &'static str) -> Result<(), Error> {
        if self.is_open.load(Ordering::Relaxed) {
            let connection = self.connection();
            self.counted(&connection, connection.script(how)).await?;
            self.is_open.store(false, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Runs a statement on a connection, and notes whether its answer has arrived.
    async fn counted<T>(
        &self,
        connection: &Arc<Connection>,
        statement: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        self.unanswered.fetch_add(1, Ordering::Relaxed);
        let done = statement.await;
        if !Arc::ptr_eq(connection, &lock(&self.connection)) {
            // Another connection has taken its place.
            return done;
        }
        match &done {
            Err(error) if error.is_broken() => self.is_broken.store(true, Ordering::Relaxed),
            Err(error) if !matches!(error, Error::Answered(_)) => {}
            _ => {
                self.unanswered.fetch_sub(1, Ordering::Relaxed);
            }
        }
        done
    }

    /// The server's time for a statement that was sent then and has just been answered. It works on one at a time.
    fn took(&self, sent: Instant) -> Duration {
        let mut answered = lock(&self.answered);
        let before = std::mem::replace(&mut *answered, Instant::now());
        answered.saturating_duration_since(before.max(sent))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(place) = self.place.take() else { return };
        if *self.is_broken.get_mut() {
            return;
        }
        let (connection, is_committing) = (self.connection(), *self.is_committing.get_mut());
        match self.access.filter(|_| *self.is_open.get_mut()) {
            _ if *self.unanswered.get_mut() > 0 => self.home.settle_later(connection, place, is_committing),
            None => self.home.take_back(connection, place),
            // It holds no locks. The server rolls back before it runs the next user's statement.
            Some(Access::Read) => {
                let sent = unconstrained(connection.script("ROLLBACK")).now_or_never();
                if !matches!(sent, Some(Err(_))) {
                    self.home.take_back(connection, place);
                }
            }
            Some(Access::Write | Access::WriteWithId) => self.home.settle_later(connection, place, is_committing),
        }
    }
}

/// Makes a statement return the id of its transaction too, as the last column. Returns whether it does: not if it
/// returns nothing, or does more than write.
fn returning_id(sql: &mut String) -> bool {
    let writes = ["INSERT", "UPDATE", "DELETE"].iter().any(|verb| sql.starts_with(verb));
    let returns = writes && sql.contains(" RETURNING ");
    if returns {
        sql.push_str(", pg_current_xact_id()::text");
    }
    returns
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Server").field(&self.connections).finish()
    }
}

impl fmt::Debug for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Transaction")
    }
}
