//! A row of an answer, from either database, and what is made of the rows of a statement.

use std::any::Any;
use std::cell::Cell;

use rusqlite::types::{FromSql, ValueRef};
use sea_orm::sqlx::Row as _;
use sea_orm::{DbErr, EntityTrait, FromQueryResult, QueryResult, Statement, TryGetable};
use serde::de::DeserializeOwned;

use super::cells;
use crate::budget::Excess;

/// A row of an answer.
pub struct Row<'r> {
    from: From<'r>,
    /// The bytes of the texts that were read from it.
    text: Cell<usize>,
}

enum From<'r> {
    Pool(&'r QueryResult),
    File(&'r rusqlite::Row<'r>),
}

/// What a column may be read as.
pub trait Column: TryGetable + FromSql {}

impl<T: TryGetable + FromSql> Column for T {}

/// A table whose rows can be read from anywhere.
pub trait Table: EntityTrait<Model: DeserializeOwned + 'static> {}

impl<E> Table for E where E: EntityTrait<Model: DeserializeOwned + 'static> {}

impl<'r> Row<'r> {
    pub(super) fn of_pool(row: &'r QueryResult) -> Self {
        Self { from: From::Pool(row), text: Cell::new(pooled_text(row)) }
    }

    pub(super) fn of_file(row: &'r rusqlite::Row<'r>) -> Self {
        Self { from: From::File(row), text: Cell::new(0) }
    }

    /// The value of a column, by its place.
    pub fn get<T: Column>(&self, place: usize) -> Result<T, DbErr> {
        match self.from {
            From::Pool(row) => row.try_get_by_index(place),
            From::File(row) => {
                let value = row.get_ref(place).map_err(unreadable)?;
                if let ValueRef::Text(text) = value {
                    self.text.set(self.text.get() + text.len());
                }
                T::column_result(value).map_err(|error| DbErr::Type(format!("column {place}: {error}")))
            }
        }
    }

    /// The row of a table whose columns come first, under their names and in their order.
    pub fn model<E: Table>(&self) -> Result<E::Model, DbErr> {
        match self.from {
            From::Pool(row) => E::Model::from_query_result(row, ""),
            From::File(row) => cells::read(row, &self.text),
        }
    }

    /// The bytes of text of what was read from it.
    pub fn text(&self) -> usize {
        self.text.get()
    }
}

/// The bytes that a row of a server holds.
fn pooled_text(row: &QueryResult) -> usize {
    let Some(row) = row.try_as_pg_row() else { return 0 };
    let length = |place| row.try_get_raw(place).ok().and_then(|value| value.as_bytes().ok()).map_or(0, <[u8]>::len);
    (0..row.len()).map(length).sum()
}

/// Makes something of each row as it comes, and keeps it. Reading is compiled once for all that can be made of rows,
/// not once for each: that is a tenth of the program.
#[doc(hidden)]
pub trait Collect: Any + Send {
    /// Keeps what is made of a row, and returns the bytes that it takes, its text included.
    fn row(&mut self, row: &Row<'_>) -> Result<usize, DbErr>;

    /// Forgets all rows, because they come once more.
    fn clear(&mut self);
}

pub(super) struct Collected<T, F> {
    pub(super) rows: Vec<T>,
    pub(super) read: F,
}

impl<T, F> Collect for Collected<T, F>
where
    T: Send + 'static,
    F: Fn(&Row<'_>) -> Result<T, DbErr> + Send + 'static,
{
    fn row(&mut self, row: &Row<'_>) -> Result<usize, DbErr> {
        self.rows.push((self.read)(row)?);
        Ok(size_of::<T>() + row.text())
    }

    fn clear(&mut self) {
        self.rows.clear();
    }
}

/// A statement to run.
#[doc(hidden)]
#[derive(Debug)]
pub struct Work {
    pub(super) statement: Statement,
    /// Embedded, it is run for each of these, which are then its first parameter.
    pub(super) keys: Vec<i64>,
    /// Whether it is known to take its time.
    pub(super) is_long: bool,
}

impl Work {
    pub(super) fn new(statement: Statement) -> Self {
        Self { statement, keys: Vec::new(), is_long: false }
    }
}

/// What a statement fails with when the request has used up its budget. Nobody is told of it: the budget knows.
pub(super) fn over(excess: Excess) -> DbErr {
    DbErr::Custom(excess.to_string())
}

fn unreadable(error: rusqlite::Error) -> DbErr {
    DbErr::Type(error.to_string())
}
