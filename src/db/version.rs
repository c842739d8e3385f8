//! Migrates a database, and compares its version with this program's.

use migration::{Migrator, SchemaVersion, Texts};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, Statement};

use super::{Backend, Db, OpenError, Read, Write, postgres};

/// The key of the advisory lock of [`one_process_at_a_time`] on PostgreSQL: "rollcall" as an integer.
const START_LOCK: i64 = i64::from_be_bytes(*b"rollcall");

/// Runs pending migrations and returns their number. Of several processes one migrates and the others wait. All
/// migrations run in one transaction, so a failure changes nothing.
pub async fn migrate(db: &Db) -> Result<usize, OpenError> {
    let failed = |error: DbErr| OpenError::of(&db.place, error);
    if !matches!(version(db).await?, Version::Older(_)) {
        return Ok(0);
    }
    let transaction = db.begin().await.map_err(failed)?;
    if transaction.get_database_backend() == DbBackend::Postgres {
        transaction.execute_unprepared(postgres::FORGET).await.map_err(failed)?;
        transaction.execute_unprepared(postgres::UNLIMITED).await.map_err(failed)?;
        transaction.execute_unprepared(&start_lock()).await.map_err(failed)?;
    }
    // Check again: another process may have migrated while we waited for the lock.
    let (backend, reader) = (transaction.get_database_backend(), &transaction);
    let texts = |sql| -> Texts<'_> {
        Box::pin(async move {
            let rows = reader.query_all_raw(Statement::from_string(backend, sql)).await?;
            rows.iter().map(|row| row.try_get_by_index(0)).collect()
        })
    };
    let schema_version = Migrator::schema_version(backend, texts).await.map_err(failed)?;
    let Version::Older(pending) = compare(&db.place, schema_version)? else { return Ok(0) };
    Migrator::complete(&transaction).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    Ok(pending)
}

/// Waits until no other process holds this lock, and holds it until the transaction ends. For migrations, and for
/// anything that only one of several starting processes must create.
pub async fn one_process_at_a_time(transaction: &impl Write) -> Result<(), DbErr> {
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
            db.look_for_read_only().await.map_err(|error| OpenError::of(&db.place, error))
        }
        Version::Older(steps) => Err(OpenError::of(&db.place, DbErr::Custom(format!("it lacks {steps} migrations")))),
    }
}

/// Compares versions. If a newer program has migrated the database so that this one cannot use it, this process stops
/// writing.
pub async fn version(db: &Db) -> Result<Version, OpenError> {
    let backend = db.read.backend();
    let texts =
        |sql| -> Texts<'_> { Box::pin(db.read.rows_by(Statement::from_string(backend, sql), |row| row.get(0))) };
    let schema_version = Migrator::schema_version(backend, texts).await;
    let version = compare(&db.place, schema_version.map_err(|error| OpenError::of(&db.place, error))?);
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
