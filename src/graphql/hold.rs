//! Holding a row while what belongs to it is changed.
//!
//! SQLite has one writer at a time. On PostgreSQL two mutations of the same thing would run side by side, each holding
//! what the other wants next, until the server ends one of them; so a mutation that writes more than one row below a
//! thing holds the thing first.

use sea_orm::{DatabaseTransaction, DbErr, PrimaryKeyTrait, QuerySelect};

use super::id::Class;
use crate::error::Result;

/// The row as it is now, which nobody else changes, deletes or refers to anew before this transaction ends. Where it is
/// gone since it was looked at, the mutation has lost a race and is run again: then it says what it misses.
pub(super) async fn hold<E>(db: &DatabaseTransaction, number: i64) -> Result<E::Model>
where
    E: Class,
    E::PrimaryKey: PrimaryKeyTrait<ValueType = i64>,
{
    Ok(E::find_by_id(number).lock_exclusive().one(db).await?.ok_or(DbErr::RecordNotUpdated)?)
}
