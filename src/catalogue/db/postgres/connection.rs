//! One connection to PostgreSQL: opens it, and runs statements.
//!
//! Statements can be sent before the answers to earlier ones have arrived: the server works through them in order. What
//! nobody waits for any more is read and discarded.

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{TryStreamExt, poll};
use quick_cache::unsync::Cache;
use sea_orm::Value;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, CopyInSink, Row, SimpleQueryMessage, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::Locks;
use super::url::{Host, SETTINGS};
use super::value::{Parameter, bytes_of, type_of};
use crate::db::Error;
use crate::db::lock::lock;

/// How many statements a connection keeps prepared.
const STATEMENTS: usize = 256;

/// A connection is not used again after it has carried a row, or the parameters of a statement, of more bytes than this:
/// its buffers have grown, and never shrink.
const LARGE: usize = 64 << 10;

/// How long the end of a connection may take before it is cut, and the request to cancel its statement.
const CLOSE: Duration = Duration::from_secs(2);

/// How long a statement waits for locks with [`Locks::Short`].
const SHORT: &str = "500ms";

type Prepared = Mutex<Cache<Arc<str>, Statement>>;

/// An open connection. Cut when dropped.
pub(in crate::db) struct Connection {
    client: Client,
    driver: Driver,
    /// Encrypts the request to cancel a statement, which needs a connection of its own.
    tls: MakeRustlsConnect,
    /// Prepared statements, by their texts. None through PgBouncer.
    prepared: Option<Prepared>,
    /// What begins a transaction with the settings of the connection, through PgBouncer.
    settings: String,
    has_large_buffers: AtomicBool,
    pub(in crate::db) opened: Instant,
}

/// Sends and receives, in a task of its own, until the connection ends. Cuts it when dropped.
struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Connection {
    /// Connects. `opened` must be read before the host is chosen.
    pub(in crate::db) async fn open(host: &Host, locks: Locks, opened: Instant) -> Result<Self, Error> {
        let mut config = host.config.clone();
        let settings = match (host.is_shared, locks) {
            (false, Locks::Usual) => String::new(),
            (false, Locks::Short) => {
                let options = config.get_options().unwrap_or_default();
                config.options(format!("{options} -c lock_timeout={SHORT}"));
                String::new()
            }
            (true, _) => settings(locks),
        };
        let tls = host.tls.connector().map_err(|error| Error::Tls(error.to_string().into()))?;
        let (client, connection) = Box::pin(config.connect(tls.clone())).await.map_err(failed)?;
        let driver = Driver(tokio::spawn(async move {
            // Whoever waits for an answer gets the error too.
            let _ = connection.await;
        }));
        let prepared = (!host.is_shared).then(|| Mutex::new(Cache::new(STATEMENTS)));
        let has_large_buffers = AtomicBool::new(false);
        Ok(Self { client, driver, tls, prepared, settings, has_large_buffers, opened })
    }

    /// Runs a statement and passes on its rows. Returns the number of rows that it changed. Calls `on_sent` as soon as
    /// the statement is sent: at the first poll, unless it must be prepared. It is never called if nothing is sent.
    pub(in crate::db) async fn run(
        &self,
        sql: &str,
        values: &[Value],
        on_sent: impl FnOnce() + Send,
        mut row: impl FnMut(&Row) -> Result<(), Error> + Send,
    ) -> Result<u64, Error> {
        self.note_size(values.iter().map(bytes_of).sum());
        let rows = match &self.prepared {
            Some(prepared) => {
                let statement = self.statement(prepared, sql, values).await?;
                let sent = self.client.query_raw(&statement, values.iter().map(Parameter));
                told(sent, on_sent).await
            }
            None => {
                let parameters = values.iter().map(|value| (Parameter(value), type_of(value)));
                told(self.client.query_typed_raw(sql, parameters), on_sent).await
            }
        };
        let mut rows = pin!(rows.map_err(failed)?);
        while let Some(next) = rows.try_next().await.map_err(failed)? {
            self.note_size(next.raw_size_bytes());
            row(&next)?;
        }
        Ok(rows.rows_affected().unwrap_or_default())
    }

    /// Prepares a statement, unless it is prepared.
    async fn statement(&self, prepared: &Prepared, sql: &str, values: &[Value]) -> Result<Statement, Error> {
        if let Some(statement) = lock(prepared).get(sql) {
            return Ok(statement.clone());
        }
        let types: Vec<Type> = values.iter().map(type_of).collect();
        let statement = self.client.prepare_typed(sql, &types).await.map_err(failed)?;
        lock(prepared).insert(sql.into(), statement.clone());
        Ok(statement)
    }

    /// Begins a transaction. Sent when the future is polled for the first time.
    pub(in crate::db) async fn begin(&self, how: &'static str) -> Result<(), Error> {
        match self.settings.as_str() {
            "" => self.script(how).await,
            settings => self.script(&format!("{how}; {settings}")).await,
        }
    }

    /// Runs statements without parameters. They are sent when the future is polled for the first time.
    pub(in crate::db) async fn script(&self, sql: &str) -> Result<(), Error> {
        self.client.batch_execute(sql).await.map_err(failed)
    }

    /// Begins a `COPY` from this side.
    pub(in crate::db) async fn copy_in(&self, sql: &str) -> Result<Pin<Box<CopyInSink<Bytes>>>, Error> {
        // Its buffers grow.
        self.has_large_buffers.store(true, Ordering::Relaxed);
        Ok(Box::pin(self.client.copy_in(sql).await.map_err(failed)?))
    }

    /// Whether the server accepts no writes.
    pub(in crate::db) async fn is_read_only(&self) -> Result<bool, Error> {
        let answer = self.client.simple_query("SHOW transaction_read_only").await.map_err(failed)?;
        Ok(answer.iter().any(|part| matches!(part, SimpleQueryMessage::Row(row) if row.get(0) == Some("on"))))
    }

    /// Notes the size of what the connection carries.
    fn note_size(&self, bytes: usize) {
        if bytes > LARGE {
            self.has_large_buffers.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it can be used again: the server has not ended it, and it needs little memory.
    pub(in crate::db) fn is_reusable(&self) -> bool {
        !self.client.is_closed() && !self.has_large_buffers.load(Ordering::Relaxed)
    }

    /// Asks the server to cancel the statement that runs. Ignores errors: the connection is cut after this.
    pub(in crate::db) async fn cancel(&self) {
        let token = self.client.cancel_token();
        let _ = timeout(CLOSE, Box::pin(token.cancel_query(self.tls.clone()))).await;
    }

    /// Ends the connection.
    pub(in crate::db) async fn close(self) {
        let Self { client, mut driver, .. } = self;
        drop(client);
        let _ = timeout(CLOSE, &mut driver.0).await;
    }
}

/// Makes the settings of a connection those of a transaction. Those of TCP are PgBouncer's own.
fn settings(locks: Locks) -> String {
    let own = SETTINGS.into_iter().filter(|(name, _)| !name.starts_with("tcp_"));
    let own = own.map(|(name, value)| match (name, locks) {
        ("lock_timeout", Locks::Short) => (name, SHORT),
        _ => (name, value),
    });
    own.map(|(name, value)| format!("SET LOCAL {name} = '{value}'")).collect::<Vec<_>>().join("; ")
}

/// Runs what sends at its first poll, and then calls `on_sent`. Does not call it if sending fails.
async fn told<T, E>(sending: impl Future<Output = Result<T, E>>, on_sent: impl FnOnce() + Send) -> Result<T, E> {
    let mut sending = pin!(sending);
    match poll!(sending.as_mut()) {
        Poll::Ready(Err(error)) => Err(error),
        Poll::Ready(Ok(answer)) => {
            on_sent();
            Ok(answer)
        }
        Poll::Pending => {
            on_sent();
            sending.await
        }
    }
}

fn failed(error: tokio_postgres::Error) -> Error {
    Error::of_server(&error)
}
