//! Row locks for PostgreSQL, where mutations run concurrently. SQLite has one writer at a time and ignores them.
//!
//! [`row`] locks one row by its id. To lock several rows, add `.lock(LockType::…)` to their query and order it by the
//! id. Without that order, two transactions that lock the same rows can deadlock. Take the weakest lock that suffices:
//!
//! - `Update`: other transactions cannot change or delete the row, or insert references to it. A mutation that writes
//!   several rows below an object takes this lock on the object first. Without it, two such mutations can deadlock.
//! - `NoKeyUpdate`: as `Update`, but other transactions can insert references to the row.
//! - `KeyShare`: other transactions cannot delete the row. They can change it, and take this lock too.

use sea_orm::PrimaryKeyTrait;
use sea_orm::sea_query::LockType;

use crate::db::{self, Read, Table, Transaction};

/// Reads the current version of a row, and locks it until the transaction ends.
///
/// # Errors
/// [`db::Error::LostRace`] if the row was deleted after the caller found it. The mutation has lost a race and is
/// retried.
pub async fn row<E>(db: &Transaction, id: i64, lock: LockType) -> Result<E::Model, db::Error>
where
    E: Table,
    E::PrimaryKey: PrimaryKeyTrait<ValueType = i64>,
{
    db.locking(lock).one(E::find_by_id(id)).await?.ok_or(db::Error::LostRace)
}
