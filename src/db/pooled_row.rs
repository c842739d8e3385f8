//! The columns of rows that sqlx returns, by position. They become values of rusqlite, so that the rows of both drivers
//! are read in one way ([`super::cells`]): without a look-up by name, and without a copy.

use rusqlite::types::ValueRef;
use sea_orm::sqlx::postgres::{PgRow, PgValueRef, Postgres};
use sea_orm::sqlx::sqlite::{Sqlite, SqliteRow};
use sea_orm::sqlx::{self, Column as _, Decode, Row, TypeInfo, ValueRef as _};
use sea_orm::{DbErr, QueryResult};

/// PostgreSQL's types, by their object ids (`pg_type.dat`).
mod oid {
    pub const BOOL: u32 = 16;
    pub const BYTEA: u32 = 17;
    pub const NAME: u32 = 19;
    pub const INT8: u32 = 20;
    pub const INT2: u32 = 21;
    pub const INT4: u32 = 23;
    pub const TEXT: u32 = 25;
    pub const OID: u32 = 26;
    pub const FLOAT8: u32 = 701;
    pub const VARCHAR: u32 = 1043;
}

/// The number of columns.
pub(super) fn columns(row: &QueryResult) -> usize {
    row.try_as_pg_row().map(PgRow::len).or(row.try_as_sqlite_row().map(SqliteRow::len)).unwrap_or_default()
}

/// A column by its position.
pub(super) fn cell(row: &QueryResult, place: usize) -> Result<ValueRef<'_>, DbErr> {
    if let Some(row) = row.try_as_pg_row() {
        return of_postgres(row, place).map_err(|error| unreadable(place, &error));
    }
    let row = row.try_as_sqlite_row().ok_or_else(|| DbErr::Type("the row is of another database".to_owned()))?;
    of_sqlite(row, place).map_err(|error| unreadable(place, &error))
}

fn unreadable(place: usize, error: &sqlx::error::BoxDynError) -> DbErr {
    DbErr::Type(format!("column {place}: {error}"))
}

fn of_postgres(row: &PgRow, place: usize) -> Result<ValueRef<'_>, sqlx::error::BoxDynError> {
    let value = row.try_get_raw(place)?;
    if value.is_null() {
        return Ok(ValueRef::Null);
    }
    let of_type = row.column(place).type_info().oid();
    Ok(match of_type.map(|oid| oid.0) {
        Some(oid::INT8) => ValueRef::Integer(decoded::<i64>(value)?),
        Some(oid::INT4) => ValueRef::Integer(decoded::<i32>(value)?.into()),
        Some(oid::INT2) => ValueRef::Integer(decoded::<i16>(value)?.into()),
        Some(oid::OID) => ValueRef::Integer(decoded::<sqlx::postgres::types::Oid>(value)?.0.into()),
        Some(oid::BOOL) => ValueRef::Integer(decoded::<bool>(value)?.into()),
        Some(oid::FLOAT8) => ValueRef::Real(decoded::<f64>(value)?),
        Some(oid::TEXT | oid::VARCHAR | oid::NAME) => ValueRef::Text(value.as_bytes()?),
        Some(oid::BYTEA) => ValueRef::Blob(decoded::<&[u8]>(value)?),
        _ => return Err(format!("values of the type {} are not read", row.column(place).type_info().name()).into()),
    })
}

fn decoded<'r, T: Decode<'r, Postgres>>(value: PgValueRef<'r>) -> Result<T, sqlx::error::BoxDynError> {
    T::decode(value)
}

fn of_sqlite(row: &SqliteRow, place: usize) -> Result<ValueRef<'_>, sqlx::error::BoxDynError> {
    let value = row.try_get_raw(place)?;
    if value.is_null() {
        return Ok(ValueRef::Null);
    }
    let of_type = value.type_info().into_owned();
    Ok(match of_type.name() {
        "TEXT" => ValueRef::Text(<&str as Decode<'_, Sqlite>>::decode(value)?.as_bytes()),
        "REAL" => ValueRef::Real(<f64 as Decode<'_, Sqlite>>::decode(value)?),
        "BLOB" => ValueRef::Blob(<&[u8] as Decode<'_, Sqlite>>::decode(value)?),
        _ => ValueRef::Integer(<i64 as Decode<'_, Sqlite>>::decode(value)?),
    })
}
