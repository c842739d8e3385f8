//! A separate database for each test, on the backend of this run of the binary.
//!
//! `cargo test` runs everything on SQLite. One of its tests, [`crate::storage::postgres`], reruns everything with a
//! database on PostgreSQL. A test for SQLite only has `sqlite` in its name.

use rollcall::db::{self, Backend, Db, Read};
use sea_orm::Statement;
use tempfile::TempDir;

use crate::harness::postgres::Cluster;

/// Selects the backend: unset for SQLite, or `postgres`.
pub const BACKEND: &str = "ROLLCALL_TEST_DATABASE";

/// Whether this run is for PostgreSQL.
pub fn is_postgres() -> bool {
    match std::env::var(BACKEND).as_deref() {
        Err(_) | Ok("") => false,
        Ok("postgres") => true,
        Ok(other) => panic!("{BACKEND} is {other:?}; it may be \"postgres\""),
    }
}

/// The texts that a statement selects.
pub async fn texts(db: &Db, sql: &str) -> Vec<String> {
    let statement = Statement::from_string(db.read().backend(), sql);
    db.read().rows_by(statement, |row| row.get(0)).await.expect("texts")
}

/// A database that is removed when dropped.
pub struct Database {
    /// Its URL, for `--database-url`.
    pub url: String,
    kept: Kept,
}

enum Kept {
    Folder { _folder: TempDir },
    Name { cluster: &'static Cluster, name: String },
}

impl Database {
    /// An empty database.
    pub async fn empty() -> Self {
        if is_postgres() { Self::on(Cluster::running().await, "template0").await } else { Self::file() }
    }

    /// A database that may already be migrated.
    pub async fn new() -> Self {
        if is_postgres() { Self::on(Cluster::running().await, Cluster::MIGRATED).await } else { Self::file() }
    }

    /// An empty database with a locale: on PostgreSQL, `lower` changes letters beyond ASCII.
    pub async fn with_a_locale() -> Self {
        let template = "template0 LC_COLLATE 'C.UTF-8' LC_CTYPE 'C.UTF-8'";
        if is_postgres() { Self::on(Cluster::running().await, template).await } else { Self::file() }
    }

    /// Runs the first migrations, as an older program has done.
    pub async fn migrate(&self, steps: usize) {
        let db = db::connect(&self.url).await.expect("a database");
        db::migrate_first(&db, u32::try_from(steps).ok()).await.expect("migrations");
        db.close().await.expect("an end");
    }

    fn file() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite://{}", folder.path().join("rollcall.db").display());
        Self { url, kept: Kept::Folder { _folder: folder } }
    }

    async fn on(cluster: &'static Cluster, template: &str) -> Self {
        let name = cluster.create(template).await;
        Self { url: cluster.url(&name), kept: Kept::Name { cluster, name } }
    }

    /// Opens and migrates it.
    pub async fn open(&self) -> Db {
        let db = db::connect(&self.url).await.expect("a database");
        db::migrate(&db).await.expect("migrations");
        db
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Kept::Name { cluster, name } = &mut self.kept {
            cluster.release(std::mem::take(name));
        }
    }
}

pub async fn tables(db: &Db) -> Vec<String> {
    let question = match is_postgres() {
        true => "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'",
        // Without the internal tables of a full-text index.
        false => {
            "SELECT name FROM pragma_table_list
             WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite%'"
        }
    };
    texts(db, question).await
}

/// A migration of a later release that this one tolerates.
pub const EXPAND: &str = "ALTER TABLE service ADD COLUMN future text; \
     CREATE TABLE future (id bigint PRIMARY KEY, service_id bigint REFERENCES service (id) ON DELETE CASCADE); \
     CREATE INDEX service_of_the_future ON service (future, id); \
     INSERT INTO seaql_migrations (version, applied_at) VALUES ('m20990101_000001_future', 1)";
