//! Row locks. They are for PostgreSQL, where mutations run side by side: SQLite has one writer at a time and ignores them.
//!
//! A row by its key is locked by [`row`]; several rows by `.lock(LockType::…)` on their query, ordered by the key, so that
//! two transactions which lock several of them do not wait for each other. Take the weakest lock that will do:
//!
//! - `Update`: others neither change nor delete the row, nor refer to it anew. A mutation that writes more than one row below
//!   a thing takes it first. Without it, each of two such mutations could hold what the other wants next, until the server
//!   ends one of them.
//! - `NoKeyUpdate`: the same, but others may refer to the row.
//! - `KeyShare`: others do not delete the row. They may change it, and take this lock too.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::LockType;
use sea_orm::{DbErr, PrimaryKeyTrait, QuerySelect};

/// Reads a row as it is now, and locks it until the transaction ends.
///
/// # Errors
/// [`DbErr::RecordNotUpdated`] when the row was deleted since the caller found it: the mutation has lost a race, and runs
/// again.
pub async fn row<E>(db: &impl ConnectionTrait, id: i64, lock: LockType) -> Result<E::Model, DbErr>
where
    E: EntityTrait,
    E::PrimaryKey: PrimaryKeyTrait<ValueType = i64>,
{
    E::find_by_id(id).lock(lock).one(db).await?.ok_or(DbErr::RecordNotUpdated)
}
