//! Migrates a database, and compares its version with this program's.

use futures_util::future::BoxFuture;
use migration::{Migrator, MigratorTrait, SchemaVersion, Texts};
use sea_orm::{DbBackend, Statement};

use super::migrating::Migrating;
use super::{Backend, Db, Error, OpenError, Read, ReadHandle, Write, WriteHandle, postgres};

/// The key of the advisory lock of [`one_process_at_a_time`] on PostgreSQL: "rollcall" as an integer.
const START_LOCK: i64 = i64::from_be_bytes(*b"rollcall");

/// Runs pending migrations and returns their number. Of several processes one migrates and the others wait. All
/// migrations run in one transaction, so a failure changes nothing.
pub fn migrate(db: &Db) -> BoxFuture<'_, Result<usize, OpenError>> {
    Box::pin(async move { migrate_by(db, Steps::All(None)).await })
}

/// Like [`migrate`]. Calls `progress` before the first migration and after each, with the number done, and of all.
pub fn migrate_telling<'f>(
    db: &'f Db,
    progress: &'f (dyn Fn(usize, usize) + Sync),
) -> BoxFuture<'f, Result<usize, OpenError>> {
    Box::pin(async move { migrate_by(db, Steps::All(Some(progress))).await })
}

/// Which migrations are run.
#[derive(Clone, Copy)]
enum Steps<'p> {
    /// All, and who is told of each.
    All(Option<&'p (dyn Fn(usize, usize) + Sync)>),
    /// The first ones.
    First(u32),
}

/// Like [`migrate`], but runs only so many, as an older program has done: tests begin with such a database.
#[doc(hidden)]
pub async fn migrate_first(db: &Db, steps: Option<u32>) -> Result<usize, OpenError> {
    migrate_by(db, steps.map_or(Steps::All(None), Steps::First)).await
}

async fn migrate_by(db: &Db, steps: Steps<'_>) -> Result<usize, OpenError> {
    let failed = |error: Error| OpenError::new(&db.place, error);
    if !matches!(version(db).await?, Version::Older(_)) {
        return Ok(0);
    }
    let transaction = db.begin_write().await.map_err(failed)?;
    if transaction.backend() == DbBackend::Postgres {
        transaction.script(postgres::UNLIMITED).await.map_err(failed)?;
        transaction.script(&start_lock()).await.map_err(failed)?;
    }
    // Check again: another process may have migrated while we waited for the lock.
    let schema_version = schema_version(&transaction).await.map_err(failed)?;
    let Version::Older(pending) = compare(&db.place, schema_version)? else { return Ok(0) };
    let migrating = Migrating::new(transaction);
    let run = migrating.run(async |connection| match steps {
        Steps::First(steps) => Migrator::up(connection, Some(steps)).await,
        Steps::All(told) => {
            if let Some(told) = told {
                told(0, pending);
                for done in 1..=pending {
                    Migrator::up(connection, Some(1)).await?;
                    told(done, pending);
                }
            }
            Migrator::complete(connection).await
        }
    });
    run.await.map_err(failed)?;
    let Some(transaction) = migrating.into_transaction() else {
        return Err(failed(Error::fault("a migration did not end its transaction")));
    };
    db.commit(transaction).await.map_err(failed)?;
    Ok(pending)
}

async fn schema_version(db: &dyn ReadHandle) -> Result<SchemaVersion, Error> {
    let backend = db.backend();
    let texts = |sql| -> Texts<'_> {
        Box::pin(async move { Ok(db.rows_by(Statement::from_string(backend, sql), |row| row.get(0)).await?) })
    };
    Ok(Migrator::schema_version(backend, texts).await?)
}

/// Waits until no other process holds this lock, and holds it until the transaction ends. For migrations, and for
/// anything that only one of several starting processes must create.
pub async fn one_process_at_a_time(transaction: &dyn WriteHandle) -> Result<(), Error> {
    if transaction.backend() == DbBackend::Postgres {
        transaction.script(&start_lock()).await?;
    }
    Ok(())
}

fn start_lock() -> String {
    format!("SELECT pg_advisory_xact_lock({START_LOCK})")
}

/// How the database's version compares with this program's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Version {
    /// The database has exactly the migrations of this program.
    Same,
    /// The database lacks this many migrations.
    Older(usize),
    /// A newer program has migrated the database, and this one can use it as before.
    Newer {
        /// The last migration that this program does not know.
        step: String,
    },
}

/// Checks that the database responds and that this program can use it. Also checks whether PostgreSQL reports that it
/// is read-only.
pub async fn check(db: &Db) -> Result<(), OpenError> {
    match version(db).await? {
        Version::Same | Version::Newer { .. } => {
            db.look_for_read_only().await.map_err(|error| OpenError::new(&db.place, error))
        }
        Version::Older(steps) => Err(OpenError::new(&db.place, Error::fault(format!("it lacks {steps} migrations")))),
    }
}

/// Compares versions. If a newer program has migrated the database so that this one cannot use it, this process stops
/// writing.
pub async fn version(db: &Db) -> Result<Version, OpenError> {
    let schema_version = schema_version(&db.read).await.map_err(|error| OpenError::new(&db.place, error))?;
    let version = compare(&db.place, schema_version);
    db.writes.note_version(version.is_err());
    version
}

fn compare(place: &str, schema_version: SchemaVersion) -> Result<Version, OpenError> {
    match schema_version {
        SchemaVersion::Lacks(0) => Ok(Version::Same),
        SchemaVersion::Lacks(steps) => Ok(Version::Older(steps)),
        SchemaVersion::Newer { step } => Ok(Version::Newer { step }),
        SchemaVersion::TooNew { step } => Err(OpenError::Newer { place: place.to_owned(), step }),
    }
}
