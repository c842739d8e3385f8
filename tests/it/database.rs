//! A database of a test's own, on the backend that this run of the binary is for.
//!
//! `cargo test` runs everything on SQLite, and one of its tests, [`crate::postgres`], runs everything that has a database
//! once more on PostgreSQL. A test that is about SQLite alone says so by having `sqlite` in its name.

use rollcall::db::{self, Db};
use tempfile::TempDir;

use crate::postgres::Cluster;

/// Names the backend: nothing for SQLite, or `postgres`.
pub const BACKEND: &str = "ROLLCALL_TEST_DATABASE";

/// Whether this run is for PostgreSQL.
pub fn is_postgres() -> bool {
    match std::env::var(BACKEND).as_deref() {
        Err(_) | Ok("") => false,
        Ok("postgres") => true,
        Ok(other) => panic!("{BACKEND} is {other:?}; it may be \"postgres\""),
    }
}

/// A database that is gone when this is dropped.
pub struct Database {
    /// Where it is, for `--database-url`.
    pub url: String,
    kept: Kept,
}

enum Kept {
    Folder { _folder: TempDir },
    Name { cluster: &'static Cluster, name: String },
}

impl Database {
    /// One without a table.
    pub async fn empty() -> Self {
        if is_postgres() { Self::on(Cluster::running().await, "template0").await } else { Self::file() }
    }

    /// One that may have been migrated already.
    pub async fn new() -> Self {
        if is_postgres() { Self::on(Cluster::running().await, Cluster::MIGRATED).await } else { Self::file() }
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

    /// Opens it and brings it to the newest version.
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
