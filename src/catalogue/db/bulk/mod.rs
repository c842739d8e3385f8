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

use futures_util::future::BoxFuture;
use std::path::Path;

use migration::BulkInsert;
use sea_orm::entity::prelude::async_trait::async_trait;
use sea_orm::{
    ActiveModelTrait, ActiveValue, ConnectionTrait, DbBackend, DbErr, EntityTrait, ExecResult, IdenStatic, Iterable,
    QueryResult, Statement, Value,
};

use super::read::{Backend, Collecting, ReadHandle};
use super::row::{Collect, Work};
use super::transaction::TransactionKind;
use super::{Db, Error, Transaction, Write, WriteHandle, Writer, migrating, postgres};

mod load;
mod prepared;

pub use load::{Form, Load, Rows, Unstored, rows_at_once};
pub use prepared::{Incomplete, Prepared};

/// The settings of SQLite's write connection during such a transaction. Sorting uses as much memory again as the page
/// cache, and then files.
///
/// Foreign keys can only be turned off outside a transaction.
const SQLITE_BULK: &str = "PRAGMA temp_store = FILE; PRAGMA cache_size = -16384; PRAGMA foreign_keys = OFF";

/// Restores the settings of [`super::sqlite::connection::WRITER`] and of every connection.
const SQLITE_USUAL: &str = "PRAGMA foreign_keys = ON; PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY; \
     PRAGMA temp_store_directory = ''";

/// A write transaction that stores very many rows. It has no time limits.
#[derive(Debug)]
pub struct Bulk(Transaction);

impl Db {
    /// Runs `work` in a write transaction that stores very many rows. Commits if it succeeds and rolls back if it
    /// fails.
    pub async fn write_bulk<T, E: From<Error>>(&self, work: impl AsyncFnOnce(&Bulk) -> Result<T, E>) -> Result<T, E> {
        self.configure(&self.bulk_settings()).await?;
        let done = self.run_bulk(work).await;
        // The transaction has ended already, so this must not change its result.
        if let Err(error) = self.configure(SQLITE_USUAL).await {
            tracing::warn!(error = %error.reason(), "the usual settings of SQLite cannot be restored");
        }
        done
    }

    /// Changes the settings of SQLite's only write connection.
    async fn configure(&self, settings: &str) -> Result<(), Error> {
        match &self.writer {
            Writer::Embedded(file) => file.configure(settings).await,
            Writer::Server(_) => Ok(()),
        }
    }

    /// Sorting uses files beside the database: that folder has room for the database, and the usual folder for temporary
    /// files may be missing in a container.
    fn bulk_settings(&self) -> String {
        match Path::new(&self.place).parent().and_then(Path::to_str) {
            Some(folder) => format!("{SQLITE_BULK}; PRAGMA temp_store_directory = '{}'", folder.replace('\'', "''")),
            None => SQLITE_BULK.to_owned(),
        }
    }

    async fn run_bulk<T, E: From<Error>>(&self, work: impl AsyncFnOnce(&Bulk) -> Result<T, E>) -> Result<T, E> {
        let bulk = Bulk(self.begin_write().await?);
        if bulk.backend() == DbBackend::Postgres {
            bulk.script(postgres::UNLIMITED).await?;
        }
        match work(&bulk).await {
            Ok(done) => {
                self.commit(bulk.0).await?;
                Ok(done)
            }
            Err(error) => {
                // Report the first error, not that of the rollback.
                let _ = self.roll_back(bulk.0).await;
                Err(error)
            }
        }
    }
}

impl Bulk {
    /// Inserts rows. A column that is not set is null.
    pub async fn insert_models<'m, E: EntityTrait>(
        &self,
        models: impl IntoIterator<Item = &'m E::ActiveModel>,
    ) -> Result<(), Error>
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
        Ok(self.insert_rows(E::default().table_name(), &names, values).await?)
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
        stored.await.map_err(|unstored: Unstored| unstored.error.into())
    }
}

impl Backend for Bulk {
    fn backend(&self) -> DbBackend {
        self.0.backend()
    }
}

impl ReadHandle for Bulk {
    fn as_read(&self) -> &(dyn ReadHandle + '_) {
        self
    }

    fn collect(&self, work: Work, rows: Box<dyn Collect>) -> Collecting<'_> {
        self.0.collect(work, rows)
    }

    fn is_embedded(&self) -> bool {
        self.0.is_embedded()
    }
}

impl WriteHandle for Bulk {
    fn as_write(&self) -> &(dyn WriteHandle + '_) {
        self
    }

    fn execute_change(&self, statement: Statement) -> BoxFuture<'_, Result<u64, Error>> {
        self.0.execute_change(statement)
    }

    fn execute_script<'w>(&'w self, sql: &'w str) -> BoxFuture<'w, Result<(), Error>> {
        self.0.execute_script(sql)
    }
}

/// For what migrations and imports share: the derivation of the search indexes.
#[async_trait]
impl ConnectionTrait for Bulk {
    fn get_database_backend(&self) -> DbBackend {
        self.backend()
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        Ok(migrating::execute(self, statement).await?.into())
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.execute_raw(Statement::from_string(self.backend(), sql)).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        Ok(self.query_all_raw(statement).await?.into_iter().next())
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        Ok(migrating::rows(self, statement).await?.into_iter().map(QueryResult::from).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Read as _;
    use super::*;

    #[tokio::test]
    async fn what_is_committed_is_a_success_even_if_the_settings_cannot_be_restored() {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite://{}", folder.path().join("bulk.db").display());
        let db = super::super::sqlite::open(&url).await.expect("a database");
        let done = db.write_bulk(async |bulk| {
            bulk.script("CREATE TABLE kept (id integer)").await?;
            // The transaction has its connection already. Only later ones are refused.
            let closing = db.clone();
            tokio::spawn(async move { closing.close().await });
            tokio::task::yield_now().await;
            Ok::<_, Error>(7)
        });
        assert_eq!(done.await, Ok(7));
        let again = super::super::sqlite::open(&url).await.expect("a database");
        let kept = Statement::from_string(DbBackend::Sqlite, "SELECT count(*) FROM kept");
        assert_eq!(again.read.rows_by(kept, |row| row.get::<i64>(0)).await, Ok(vec![0]), "the table is kept");
    }
}
