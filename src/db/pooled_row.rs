//! The columns of rows that sqlx returns, by position. They become values of rusqlite, so that the rows of both drivers
//! are read in one way ([`super::cells`]): without a look-up by name, and without a copy.

use rusqlite::types::ValueRef;
use sea_orm::sqlx::postgres::PgRow;
use sea_orm::sqlx::sqlite::{Sqlite, SqliteRow};
use sea_orm::sqlx::{self, Column as _, Decode, Row, TypeInfo, ValueRef as _};
use sea_orm::{DbErr, QueryResult};
use tokio_postgres::types::{FromSql, Type};

use super::postgres_value::Cell;

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
    let of_type = row.column(place).type_info();
    let ty = of_type.oid().and_then(|oid| Type::from_oid(oid.0)).ok_or_else(|| format!("unknown type {of_type}"))?;
    Ok(Cell::from_sql(&ty, value.as_bytes()?)?.0)
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
