//! Write transactions that store very many rows: imports and generated catalogues.
//!
//! SQLite gets prepared statements of many rows, PostgreSQL gets `COPY` ([`Load`]). What costs time for each row is put
//! off until all rows are there, as a restore of a dump does ([`Prepared`]):
//!
//! - Indexes are dropped, and built from sorted keys afterwards. SQLite keeps those that check something.
//! - Foreign keys are checked at the end, for whole tables. A row may therefore refer to a later one.
//! - Triggers are stopped. What they keep is the caller's to derive.
//!
//! All of it is in one transaction. On PostgreSQL nobody else can read or write a table from [`Bulk::prepare`] until the
//! end.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use migration::BulkInsert;
use sea_orm::entity::prelude::async_trait::async_trait;
use sea_orm::sqlx::postgres::{PgPool, PgPoolOptions};
use sea_orm::sqlx::{self, Executor as _};
use sea_orm::{
    ActiveModelTrait, ActiveValue, ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr,
    EntityTrait, ExecResult, IdenStatic, Iterable, QueryResult, SqlxPostgresConnector, Statement, Value,
};
use tokio::time::timeout;

use super::read::{Read, pooled};
use super::refusal::{UNCERTAIN, is_broken, reason};
use super::row::{Collect, Work};
use super::{Db, Write, postgres};

mod load;
mod prepared;

pub use load::{Form, Load, Rows, Unstored, rows_at_once};
pub use prepared::{Incomplete, Prepared};

/// The settings of SQLite's write connection during such a transaction. Sorting uses as much memory again as the page
/// cache, and then files.
///
/// Foreign keys can only be turned off outside a transaction.
const SQLITE_BULK: &str = "PRAGMA temp_store = FILE; PRAGMA cache_size = -16384; PRAGMA foreign_keys = OFF";

/// Restores the settings that [`super::sqlite`] makes.
const SQLITE_USUAL: &str = "PRAGMA foreign_keys = ON; PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY; \
     PRAGMA temp_store_directory = ''";

/// A write transaction that stores very many rows. It has no time limits.
#[derive(Debug)]
pub struct Bulk(Kind);

#[derive(Debug)]
enum Kind {
    Embedded(DatabaseTransaction),
    /// A pool of one connection, which is in a transaction from its beginning to its end. sea-orm does not hand out the
    /// connection of a transaction of its own, and `COPY` needs it.
    Pooled {
        connection: DatabaseConnection,
        pool: PgPool,
    },
}

impl Db {
    /// Runs `work` in a write transaction that stores very many rows. Commits if it succeeds and rolls back if it
    /// fails.
    pub async fn write_bulk<T, E: From<DbErr>>(&self, work: impl AsyncFnOnce(&Bulk) -> Result<T, E>) -> Result<T, E> {
        match self.sea_orm.get_database_backend() {
            DbBackend::Postgres => self.bulk_of_postgres(work).await,
            _ => {
                self.prepare_sqlite().await?;
                let done = self.bulk_of_sqlite(work).await;
                // The transaction has ended already, so this must not change its result.
                if let Err(error) = self.sea_orm.execute_unprepared(SQLITE_USUAL).await {
                    tracing::warn!(error = %reason(&error), "the usual settings of SQLite cannot be restored");
                }
                done
            }
        }
    }

    /// Sets up the only write connection. Sorting uses files beside the database: that folder has room for the
    /// database, and the usual folder for temporary files may be missing in a container.
    async fn prepare_sqlite(&self) -> Result<(), DbErr> {
        self.sea_orm.execute_unprepared(SQLITE_BULK).await?;
        if let Some(folder) = Path::new(&self.place).parent().and_then(Path::to_str) {
            let folder = folder.replace('\'', "''");
            self.sea_orm.execute_unprepared(&format!("PRAGMA temp_store_directory = '{folder}'")).await?;
        }
        Ok(())
    }

    async fn bulk_of_sqlite<T, E: From<DbErr>>(&self, work: impl AsyncFnOnce(&Bulk) -> Result<T, E>) -> Result<T, E> {
        let bulk = Bulk(Kind::Embedded(self.begin().await?));
        let done = work(&bulk).await;
        let Kind::Embedded(transaction) = bulk.0 else { return done };
        match done {
            Ok(done) => {
                self.end(transaction).await?;
                Ok(done)
            }
            Err(error) => {
                // Report the first error, not that of the rollback.
                let _ = transaction.rollback().await;
                Err(error)
            }
        }
    }

    async fn bulk_of_postgres<T, E: From<DbErr>>(&self, work: impl AsyncFnOnce(&Bulk) -> Result<T, E>) -> Result<T, E> {
        self.writes.check_version()?;
        let pool = one_transaction(self.sea_orm.get_postgres_connection_pool());
        let connection = SqlxPostgresConnector::from_sqlx_postgres_pool(pool.clone());
        let bulk = Bulk(Kind::Pooled { connection, pool: pool.clone() });
        let mut done = work(&bulk).await;
        if done.is_ok() {
            let committed = match timeout(postgres::COMMIT, bulk.execute_unprepared("COMMIT")).await {
                Ok(Err(error)) if !is_broken(&error) => Err(error),
                Ok(Ok(_)) => Ok(()),
                Ok(Err(_)) | Err(_) => Err(DbErr::Custom(UNCERTAIN.to_owned())),
            };
            self.writes.note(committed.as_ref().copied());
            if let Err(error) = committed {
                done = Err(error.into());
            }
        }
        // Without a commit, the server rolls back when the connection ends.
        let _ = timeout(postgres::BEGIN, pool.close()).await;
        done
    }
}

/// Creates a pool of one connection, on which a transaction begins at once. It never connects again, because the rest
/// of the transaction would then be committed statement by statement.
fn one_transaction(like: &PgPool) -> PgPool {
    let has_begun = Arc::new(AtomicBool::new(false));
    let pool = PgPoolOptions::new().max_connections(1).test_before_acquire(false).idle_timeout(None).max_lifetime(None);
    let pool = pool.acquire_timeout(like.options().get_acquire_timeout()).after_connect(move |connection, _| {
        let is_lost = has_begun.swap(true, Ordering::Relaxed);
        Box::pin(async move {
            if is_lost {
                return Err(sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into()));
            }
            connection.execute("BEGIN").await?;
            connection.execute(postgres::FORGET).await?;
            connection.execute(postgres::UNLIMITED).await.map(drop)
        })
    });
    pool.connect_lazy_with(like.connect_options().as_ref().clone())
}

impl Bulk {
    /// Inserts rows. A column that is not set is null.
    pub async fn insert_models<'m, E: EntityTrait>(
        &self,
        models: impl IntoIterator<Item = &'m E::ActiveModel>,
    ) -> Result<(), DbErr>
    where
        E::ActiveModel: 'm,
    {
        let columns: Vec<E::Column> = E::Column::iter().collect();
        let mut values = Vec::new();
        for model in models {
            for column in &columns {
                values.push(match model.get(*column) {
                    ActiveValue::Set(value) | ActiveValue::Unchanged(value) => value,
                    ActiveValue::NotSet => Value::BigInt(None),
                });
            }
        }
        let names: Vec<&str> = columns.iter().map(IdenStatic::as_str).collect();
        self.insert_rows(E::default().table_name(), &names, values).await
    }
}

impl BulkInsert for Bulk {
    async fn insert_rows(&self, table: &str, columns: &[&str], values: Vec<Value>) -> Result<(), DbErr> {
        if values.is_empty() {
            return Ok(());
        }
        let rows = self.form().rows(columns.len(), values)?;
        let stored = async {
            let mut load = self.load(table, columns.to_vec());
            load.add(rows).await?;
            load.finish().await
        };
        stored.await.map_err(|unstored: Unstored| unstored.error)
    }
}

impl Read for Bulk {
    async fn collect(&self, work: Work, rows: Box<dyn Collect>) -> Result<Box<dyn Collect>, DbErr> {
        pooled(self, work.statement, rows).await
    }

    fn is_embedded(&self) -> bool {
        false
    }
}

impl Write for Bulk {
    async fn change(&self, statement: Statement) -> Result<u64, DbErr> {
        Ok(self.execute_raw(statement).await?.rows_affected())
    }

    async fn script(&self, sql: &str) -> Result<(), DbErr> {
        self.execute_unprepared(sql).await.map(drop)
    }
}

#[async_trait]
impl ConnectionTrait for Bulk {
    fn get_database_backend(&self) -> DbBackend {
        match &self.0 {
            Kind::Embedded(transaction) => transaction.get_database_backend(),
            Kind::Pooled { connection, .. } => connection.get_database_backend(),
        }
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        match &self.0 {
            Kind::Embedded(transaction) => transaction.execute_raw(statement).await,
            Kind::Pooled { connection, .. } => connection.execute_raw(statement).await,
        }
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        match &self.0 {
            Kind::Embedded(transaction) => transaction.execute_unprepared(sql).await,
            Kind::Pooled { connection, .. } => connection.execute_unprepared(sql).await,
        }
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        match &self.0 {
            Kind::Embedded(transaction) => transaction.query_one_raw(statement).await,
            Kind::Pooled { connection, .. } => connection.query_one_raw(statement).await,
        }
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        match &self.0 {
            Kind::Embedded(transaction) => transaction.query_all_raw(statement).await,
            Kind::Pooled { connection, .. } => connection.query_all_raw(statement).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_committed_is_a_success_even_if_the_settings_cannot_be_restored() {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite://{}", folder.path().join("bulk.db").display());
        let db = super::super::sqlite::open(&url).await.expect("a database");
        let done = db.write_bulk(async |bulk| {
            bulk.execute_unprepared("CREATE TABLE kept (id integer)").await?;
            // The transaction has its connection already. Only later ones are refused.
            drop(db.sea_orm.get_sqlite_connection_pool().close());
            Ok::<_, DbErr>(7)
        });
        assert_eq!(done.await, Ok(7));
        assert!(db.sea_orm.execute_unprepared("SELECT 1").await.is_err(), "the settings could not be restored");
        let again = super::super::sqlite::open(&url).await.expect("a database");
        again.sea_orm.execute_unprepared("SELECT id FROM kept").await.expect("the table is kept");
    }
}
