//! Reads and writes PostgreSQL.
//!
//! sqlx connects, encrypts, prepares statements and decodes rows. Connections are lent here and not by its pool, which
//! sends two pings whenever a connection is returned: more round trips than most requests have statements. Here, one
//! that has finished its statement returns as it is. One that is stopped within a statement or within a change is
//! settled first, in the background.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use futures_util::{FutureExt, TryStreamExt};
use sea_orm::sqlx::postgres::{PgConnection, PgRow};
use sea_orm::sqlx::{self, AssertSqlSafe, Connection as _, Either, Executor as _};
use sea_orm::{ConnAcquireErr, DbErr, RuntimeErr, Statement, Values};
use sea_query_sqlx::SqlxValues;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::unconstrained;
use tokio::time::{sleep, timeout, timeout_at};

use super::Pool;
use super::embedded::{Observer, observe};
use super::postgres::{ACQUIRE, BEGIN, COMMIT, Hosts, Locks};
use super::refusal::{STALLED, UNCERTAIN, is_broken};
use super::row::{Collect, Row, Work, over};
use super::session::{closed, lock};
use crate::budget::Budget;

/// How long a connection that is settled may take to respond before it is closed.
const SETTLE: Duration = Duration::from_secs(2);

/// Idle connections are closed after this time.
const IDLE: Duration = Duration::from_secs(600);

/// Connections are closed after this time: the server's memory for one grows with its use.
const LIFETIME: Duration = Duration::from_secs(1800);

/// The wait before the second attempt to connect. It doubles with each attempt.
const PAUSE: Duration = Duration::from_millis(10);

/// Connections to one server.
#[derive(Clone)]
pub(super) struct Server {
    connections: Arc<Connections>,
    /// The timeout of a statement outside of a transaction.
    patience: Option<Duration>,
    pub(super) observer: Option<Observer>,
}

struct Connections {
    hosts: Arc<Hosts>,
    locks: Locks,
    most: u32,
    places: Arc<Semaphore>,
    /// Ordered by last use, the most recent last.
    idle: Mutex<Vec<Session>>,
    closed: AtomicBool,
}

/// A connection.
struct Session {
    connection: PgConnection,
    connected: Instant,
    used: Instant,
}

/// A transaction, or a connection for a single statement. Rolled back when dropped.
pub(super) struct Transaction {
    lease: tokio::sync::Mutex<Lease>,
    observer: Option<Observer>,
}

/// A connection that is lent, and returned when dropped.
struct Lease {
    session: Option<Session>,
    home: Arc<Connections>,
    place: Option<OwnedSemaphorePermit>,
    /// Whether it was connected for this lease. Any other may have died while it was idle.
    is_new: bool,
    transaction: Option<Access>,
    /// Whether the last statement has ended, as far as is known.
    is_settled: bool,
    is_broken: bool,
}

/// What a transaction may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Read the database as of its first statement.
    Read,
    /// Read and write.
    Write,
}

impl Server {
    /// Creates a pool that connects on demand. Its statements wait for locks as long as `locks` says. Must be called
    /// within a tokio runtime.
    pub(super) fn new(hosts: &Arc<Hosts>, most: u32, locks: Locks, patience: Option<Duration>) -> Self {
        let places = Arc::new(Semaphore::new(most as usize));
        let (hosts, idle, closed) = (Arc::clone(hosts), Mutex::default(), AtomicBool::new(false));
        let connections = Arc::new(Connections { hosts, locks, most, places, idle, closed });
        tokio::spawn(close_idle(Arc::downgrade(&connections)));
        Self { connections, patience, observer: None }
    }

    /// Begins a transaction.
    pub(super) async fn begin(&self, access: Access) -> Result<Transaction, DbErr> {
        let begun = async {
            loop {
                let mut lease = self.connections.lease().await?;
                match lease.begin(access).await {
                    // It has died while it was idle.
                    Err(error) if is_broken(&error) && !lease.is_new => {}
                    begun => return begun.map(|()| self.transaction(lease)),
                }
            }
        };
        Box::pin(timeout(BEGIN, begun)).await.unwrap_or_else(|_| Err(stalled()))
    }

    /// A connection for a single statement outside of any transaction.
    pub(super) async fn once(&self) -> Result<Transaction, DbErr> {
        Ok(self.transaction(self.connections.lease().await?))
    }

    fn transaction(&self, lease: Lease) -> Transaction {
        Transaction { lease: tokio::sync::Mutex::new(lease), observer: self.observer.clone() }
    }

    /// Runs a statement outside of any transaction and returns its rows.
    pub(super) async fn rows(&self, work: Work, rows: Box<dyn Collect>) -> Result<Box<dyn Collect>, DbErr> {
        Box::pin(self.patiently(async { self.once().await?.rows(work, rows, None).await })).await
    }

    /// Runs a statement outside of any transaction. Passes on its rows and returns the number that it changed.
    pub(super) async fn run(&self, statement: Statement, row: impl FnMut(PgRow) + Send) -> Result<u64, DbErr> {
        let mut row = row;
        let pass_on = |next| {
            row(next);
            Ok(())
        };
        let run = async { Ok(self.once().await?.run(statement, pass_on).await?.0) };
        Box::pin(self.patiently(run)).await
    }

    async fn patiently<T>(&self, run: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
        match self.patience {
            None => run.await,
            Some(patience) => timeout(patience, run).await.unwrap_or_else(|_| Err(stalled())),
        }
    }

    /// The state of the pool.
    pub(super) fn pool(&self, name: &'static str) -> Pool {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let most = self.connections.most;
        let in_use = most.saturating_sub(count(self.connections.places.available_permits()));
        Pool { name, in_use, idle: count(lock(&self.connections.idle).len()).min(most - in_use), most }
    }

    /// Waits for all leases to end, then closes all connections.
    pub(super) async fn close(&self) {
        self.connections.closed.store(true, Ordering::Relaxed);
        let _over = self.connections.places.acquire_many(self.connections.most).await;
        self.connections.places.close();
        let idle = std::mem::take(&mut *lock(&self.connections.idle));
        close_all(idle).await;
    }
}

impl Transaction {
    /// Runs a statement and returns its rows. Charges each row before it fetches the next, and the server's time.
    pub(super) async fn rows(
        &self,
        work: Work,
        mut rows: Box<dyn Collect>,
        budget: Option<&Budget>,
    ) -> Result<Box<dyn Collect>, DbErr> {
        let collect = |row: PgRow| {
            let size = rows.row(&Row::of_server(&row))?;
            budget.map_or(Ok(()), |budget| budget.charge_row(size).map_err(over))
        };
        // Boxed, as below: each wrapper around a future reserves space for it, and drivers have large ones.
        let (_, took) = Box::pin(self.run(work.statement, collect)).await?;
        budget.map_or(Ok(()), |budget| budget.charge_server(took).map_err(over))?;
        Ok(rows)
    }

    /// Runs a statement that writes, and returns the number of rows that it changed.
    pub(super) async fn change(&self, statement: Statement) -> Result<u64, DbErr> {
        Ok(Box::pin(self.run(statement, |_| Ok(()))).await?.0)
    }

    /// Runs statements without parameters.
    pub(super) async fn script(&self, sql: &str) -> Result<(), DbErr> {
        let mut lease = self.lease.lock().await;
        Box::pin(lease.script(sql)).await
    }

    /// Commits. If the server does not confirm it, the error [is uncertain](super::uncertain).
    pub(super) async fn commit(self) -> Result<(), DbErr> {
        let mut lease = self.lease.into_inner();
        match timeout(COMMIT, Box::pin(lease.end("COMMIT"))).await {
            Ok(Err(error)) if !is_broken(&error) => Err(error),
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(DbErr::Custom(UNCERTAIN.to_owned())),
        }
    }

    /// Rolls back. A server that does not respond rolls back by itself.
    pub(super) async fn roll_back(self) -> Result<(), DbErr> {
        let mut lease = self.lease.into_inner();
        timeout(BEGIN, Box::pin(lease.end("ROLLBACK"))).await.unwrap_or(Ok(()))
    }

    /// Runs a statement and passes on its rows. Replaces a connection that has died while it was idle. Returns the number
    /// of rows that it changed, and the time that it took.
    async fn run(
        &self,
        mut statement: Statement,
        mut row: impl FnMut(PgRow) -> Result<(), DbErr> + Send,
    ) -> Result<(u64, Duration), DbErr> {
        let mut lease = self.lease.lock().await;
        let mut has_rows = false;
        loop {
            let may_repeat = lease.may_be_dead();
            let keeps = may_repeat || self.observer.is_some();
            let values = if keeps { statement.values.clone() } else { statement.values.take() };
            let pass_on = |next| {
                has_rows = true;
                row(next)
            };
            let began = Instant::now();
            match lease.run(&statement.sql, values, pass_on).await {
                Err(error) if may_repeat && !has_rows && is_broken(&error) => {
                    lease.renew(Instant::now() + ACQUIRE).await?;
                }
                done => {
                    observe(self.observer.as_ref(), Some(began), &statement, done.is_err());
                    return done.map(|changed| (changed, began.elapsed()));
                }
            }
        }
    }
}

impl Lease {
    /// Takes another connection, at the same place.
    async fn renew(&mut self, until: Instant) -> Result<(), DbErr> {
        self.session = None;
        let idle = self.home.idle();
        self.is_new = idle.is_none();
        self.session = Some(match idle {
            Some(session) => session,
            None => timeout_at(until.into(), Box::pin(self.home.connect())).await.map_err(|_| late())??,
        });
        (self.is_settled, self.is_broken) = (true, false);
        Ok(())
    }

    async fn begin(&mut self, access: Access) -> Result<(), DbErr> {
        self.transaction = Some(access);
        self.script(match access {
            Access::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Access::Write => "BEGIN",
        })
        .await
    }

    /// Ends the transaction.
    async fn end(&mut self, how: &'static str) -> Result<(), DbErr> {
        self.script(how).await?;
        self.transaction = None;
        Ok(())
    }

    /// Whether its first statement may fail because the connection has died while it was idle.
    fn may_be_dead(&self) -> bool {
        !self.is_new && self.transaction.is_none()
    }

    /// Runs a statement and passes on its rows.
    async fn run(
        &mut self,
        sql: &str,
        values: Option<Values>,
        mut row: impl FnMut(PgRow) -> Result<(), DbErr> + Send,
    ) -> Result<u64, DbErr> {
        let session = self.session.as_mut().ok_or_else(closed)?;
        self.is_settled = false;
        let values = values.unwrap_or(Values(Vec::new()));
        let mut steps = session.connection.fetch_many(sqlx::query_with(AssertSqlSafe(sql), SqlxValues(values)));
        let mut changed = 0;
        let done = loop {
            match steps.try_next().await {
                Ok(Some(Either::Left(done))) => changed += done.rows_affected(),
                Ok(Some(Either::Right(next))) => row(next)?,
                Ok(None) => break Ok(changed),
                Err(error) => break Err(error),
            }
        };
        drop(steps);
        self.ended(done)
    }

    /// Runs statements without parameters.
    async fn script(&mut self, sql: &str) -> Result<(), DbErr> {
        let session = self.session.as_mut().ok_or_else(closed)?;
        self.is_settled = false;
        let done = session.connection.execute(AssertSqlSafe(sql)).await;
        self.ended(done).map(drop)
    }

    /// Notes that a statement has ended.
    fn ended<T>(&mut self, done: Result<T, sqlx::Error>) -> Result<T, DbErr> {
        let done = done.map_err(|error| DbErr::Query(RuntimeErr::SqlxError(error.into())));
        self.is_settled = done.is_ok();
        self.is_broken = done.as_ref().is_err_and(is_broken);
        done
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let (Some(mut session), Some(place)) = (self.session.take(), self.place.take()) else { return };
        if self.is_broken {
            return;
        }
        session.used = Instant::now();
        match self.transaction {
            None if self.is_settled => self.home.take_back(session, place),
            // It holds no locks. The next user reads the answer, before its own first statement.
            Some(Access::Read) if self.is_settled => {
                let sent = unconstrained(session.connection.execute("ROLLBACK")).now_or_never();
                if !matches!(sent, Some(Err(_))) {
                    self.home.take_back(session, place);
                }
            }
            transaction => {
                let home = Arc::clone(&self.home);
                if let Ok(runtime) = Handle::try_current() {
                    runtime.spawn(home.settle(session, place, transaction.is_some()));
                }
            }
        }
    }
}

impl Connections {
    /// Lends a connection.
    async fn lease(self: &Arc<Self>) -> Result<Lease, DbErr> {
        if self.closed.load(Ordering::Relaxed) {
            return Err(closed());
        }
        let until = Instant::now() + ACQUIRE;
        let place = timeout_at(until.into(), Arc::clone(&self.places).acquire_owned()).await.map_err(|_| late())?;
        let place = place.map_err(|_| closed())?;
        let (home, transaction) = (Arc::clone(self), None);
        let (session, place, is_settled) = (None, Some(place), true);
        let mut lease = Lease { session, home, place, is_new: true, transaction, is_settled, is_broken: false };
        lease.renew(until).await?;
        Ok(lease)
    }

    /// The most recently used of the idle connections.
    fn idle(&self) -> Option<Session> {
        loop {
            let session = lock(&self.idle).pop()?;
            if self.keeps(&session) {
                return Some(session);
            }
            close(session, None);
        }
    }

    /// Takes out the connections that have been idle for so long.
    fn idle_for(&self, time: Duration) -> Vec<Session> {
        let mut idle = lock(&self.idle);
        let kept = idle.iter().position(|session| session.used.elapsed() < time).unwrap_or(idle.len());
        idle.drain(..kept).collect()
    }

    /// Whether a connection can be used again.
    fn keeps(&self, session: &Session) -> bool {
        session.connected >= self.hosts.since() && session.connected.elapsed() < LIFETIME
    }

    /// Connects. Tries again while the server starts.
    async fn connect(&self) -> Result<Session, DbErr> {
        let mut pause = PAUSE;
        loop {
            let connected = Instant::now();
            match PgConnection::connect_with(&self.locks.of(self.hosts.host())).await {
                Ok(connection) => return Ok(Session { connection, connected, used: connected }),
                Err(error) if is_starting(&error) => sleep(pause).await,
                Err(error) => return Err(DbErr::Conn(RuntimeErr::SqlxError(error.into()))),
            }
            pause = (pause * 2).min(ACQUIRE / 5);
        }
    }

    /// Takes a connection back that has nothing left to do.
    fn take_back(&self, mut session: Session, place: OwnedSemaphorePermit) {
        if self.closed.load(Ordering::Relaxed) || !self.keeps(&session) {
            return close(session, Some(place));
        }
        // Its answers may have been large.
        session.connection.shrink_buffers();
        lock(&self.idle).push(session);
        // Only now, so that whoever waits for a place finds the connection.
        drop(place);
    }

    /// Ends what a connection does, and takes it back. Closes it if the server does not respond.
    async fn settle(self: Arc<Self>, mut session: Session, place: OwnedSemaphorePermit, in_transaction: bool) {
        let connection = &mut session.connection;
        let ended = async {
            match in_transaction {
                true => connection.execute("ROLLBACK").await.map(drop),
                false => connection.ping().await,
            }
        };
        if let Ok(Ok(())) = timeout(SETTLE, ended).await {
            self.take_back(session, place);
        }
    }
}

/// Whether another attempt to connect may succeed: the server is starting, or has no connection left, or what stands
/// before it has another server.
fn is_starting(error: &sqlx::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, UnexpectedEof};
    let passing = [ConnectionRefused, ConnectionReset, ConnectionAborted, UnexpectedEof, BrokenPipe];
    match error {
        sqlx::Error::Io(error) => passing.contains(&error.kind()),
        sqlx::Error::Database(answer) => answer.code().is_some_and(|code| matches!(&*code, "57P03" | "53300")),
        _ => false,
    }
}

/// Closes a connection in the background, and then frees its place.
fn close(session: Session, place: Option<OwnedSemaphorePermit>) {
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(async move {
            close_all(vec![session]).await;
            drop(place);
        });
    }
}

async fn close_all(sessions: Vec<Session>) {
    for session in sessions {
        let _ = timeout(SETTLE, session.connection.close()).await;
    }
}

/// Closes connections that were idle for [`IDLE`]. Ends with the pool.
async fn close_idle(connections: Weak<Connections>) {
    loop {
        sleep(IDLE / 10).await;
        let Some(connections) = connections.upgrade() else { return };
        close_all(connections.idle_for(IDLE)).await;
    }
}

/// The error of a request that gets no connection in time.
fn late() -> DbErr {
    DbErr::ConnectionAcquire(ConnAcquireErr::Timeout)
}

fn stalled() -> DbErr {
    DbErr::Custom(STALLED.to_owned())
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Server").field(&self.connections.hosts).finish()
    }
}

impl fmt::Debug for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Transaction")
    }
}
