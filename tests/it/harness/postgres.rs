//! A private cluster of PostgreSQL for all tests of a process, with a database for each.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use rollcall::db;
use tokio::sync::OnceCell;

use crate::harness::cluster::{Running, execute};

/// A running server with nothing in it except the tests' databases.
pub struct Cluster {
    server: Running,
    /// How a template is copied: as files, which is four times as fast as through the log, the default since version
    /// 15.
    copied: &'static str,
    next: AtomicU32,
    released: Mutex<Vec<String>>,
}

static CLUSTER: OnceCell<Result<Cluster, String>> = OnceCell::const_new();

impl Cluster {
    /// The template: a migrated database.
    pub const MIGRATED: &str = "migrated";

    /// The cluster of this process.
    pub async fn running() -> &'static Self {
        match CLUSTER.get_or_init(|| Self::start(5432, "synchronous_commit = off", &[])).await {
            Ok(cluster) => cluster,
            Err(why) => panic!("no cluster: {why}"),
        }
    }

    /// Starts one that is reached at a port of 127.0.0.1 by TLS, with this authority, certificate and key.
    pub async fn with_tls([authority, certificate, key]: &[String; 3]) -> Result<(Self, u16), String> {
        let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        let port = free.map_err(|error| error.to_string())?.port();
        let environment = [("AUTHORITY", &**authority), ("CERTIFICATE", certificate), ("KEY", key)];
        Ok((Self::start(port, "synchronous_commit = off", &environment).await?, port))
    }

    /// Starts one whose commits survive a restart in any mode.
    pub async fn durable() -> Result<Self, String> {
        Self::start(5432, "synchronous_commit = on", &[]).await
    }

    /// Starts one whose standby is away: commits with `synchronous_commit = on` wait for it forever.
    pub async fn without_its_standby() -> Result<Self, String> {
        Self::start(5432, "synchronous_commit = off\nsynchronous_standby_names = 'away'", &[]).await
    }

    /// The same, with its databases and its log on two disks of this size, which can be filled.
    pub async fn on_disks(megabytes: u64) -> Result<Self, String> {
        // No file of the log is used again, so that a full disk is noticed.
        let settings = "synchronous_commit = on\nwal_recycle = off\nmin_wal_size = 2MB\nmax_wal_size = 64MB";
        Self::start(5432, settings, &[("DISK", &format!("{megabytes}m"))]).await
    }

    /// The server.
    pub fn server(&self) -> &Running {
        &self.server
    }

    async fn start(port: u16, settings: &str, environment: &[(&str, &str)]) -> Result<Self, String> {
        let server = Running::start(port, &format!("fsync = off\nfull_page_writes = off\n{settings}"), environment)?;
        let (next, released) = Default::default();
        let mut cluster = Self { server, copied: "", next, released };
        let why = |error: &dyn std::fmt::Display| error.to_string();
        let version = execute(&cluster.url("postgres"), ["SHOW server_version_num".to_owned()]).await?;
        if version.first().and_then(|version| version.parse().ok()) >= Some(150_000) {
            cluster.copied = "STRATEGY file_copy";
        }
        cluster.run([format!("CREATE DATABASE {}", Self::MIGRATED)]).await?;
        let migrated = db::connect(&cluster.url(Self::MIGRATED)).await.map_err(|error| why(&error))?;
        db::migrate(&migrated).await.map_err(|error| why(&error))?;
        migrated.close().await.map_err(|error| why(&error))?;
        Ok(cluster)
    }

    /// The URL of a database.
    pub fn url(&self, name: &str) -> String {
        self.server.url(name)
    }

    /// Creates a database and returns its name.
    pub async fn create(&self, template: &str) -> String {
        let name = format!("test_{}", self.next.fetch_add(1, Ordering::Relaxed));
        // A finished test does not wait for its database to be removed; the next one removes it, so that they do not
        // pile up.
        let released = std::mem::take(&mut *self.released.lock().expect("nobody panics with it"));
        let drops = released.iter().map(|name| format!("DROP DATABASE {name} WITH (FORCE)"));
        let made = self.run(drops.chain([format!("CREATE DATABASE {name} TEMPLATE {template} {}", self.copied)])).await;
        made.unwrap_or_else(|error| panic!("no database: {error}"));
        name
    }

    /// Marks the database for removal.
    pub fn release(&self, name: String) {
        self.released.lock().expect("nobody panics with it").push(name);
    }

    /// Runs statements as the administrator.
    pub async fn run(&self, statements: impl IntoIterator<Item = String>) -> Result<(), String> {
        execute(&self.url("postgres"), statements).await.map(drop)
    }
}
