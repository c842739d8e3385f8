//! Rows from either database, and how they are collected.

use std::any::Any;
use std::cell::Cell;

use rusqlite::types::{FromSql, ValueRef};
use sea_orm::sea_query::SelectStatement;
use sea_orm::{ColumnTrait, Iterable, Statement};

use super::postgres::value::Cell as ServerCell;
use super::table::Table;
use super::{Error, cells};
use crate::budget::{Budget, Excess};

/// A row of a result.
pub struct Row<'r> {
    from: From<'r>,
    /// The key that it was selected by, if its statement runs once for each key.
    key: Option<i64>,
    /// The bytes of texts and blobs read from it so far.
    text: Cell<usize>,
}

/// The name of the column that holds a row's key, in a statement for several keys. It is the last one.
pub(super) const KEY: &str = "key_of_row";

enum From<'r> {
    Server(&'r tokio_postgres::Row),
    File(&'r rusqlite::Row<'r>),
}

/// A type that a column can be read as.
pub trait Column: FromSql {}

impl<T: FromSql> Column for T {}

/// The columns of a table that a statement leaves out: one bit per column, by its position in the table. Only nullable
/// columns, and only among the first 64.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Omitted(pub u64);

impl Omitted {
    /// Returns whether the column at this position is left out.
    pub fn has(self, place: usize) -> bool {
        place < 64 && self.0 & 1 << place != 0
    }
}

/// Selects the columns of a table in their order, for [`Row::model_without`].
pub fn select_without<E: Table>(omitted: Omitted, select: &mut SelectStatement) {
    for (_, own) in E::Column::iter().enumerate().filter(|(place, _)| !omitted.has(*place)) {
        select.column(own.as_column_ref());
    }
}

/// The number of columns that [`select_without`] selects.
pub fn columns_without<E: Table>(omitted: Omitted) -> usize {
    E::Column::iter().count() - omitted.0.count_ones() as usize
}

impl<'r> Row<'r> {
    pub(super) fn of_server(row: &'r tokio_postgres::Row) -> Self {
        Self { from: From::Server(row), key: None, text: Cell::new(0) }
    }

    pub(super) fn of_file(row: &'r rusqlite::Row<'r>, key: Option<i64>) -> Self {
        Self { from: From::File(row), key, text: Cell::new(0) }
    }

    /// The key that the row was selected by, in a statement for several keys.
    pub(super) fn key(&self) -> Result<i64, Error> {
        match (self.key, &self.from) {
            (Some(key), _) => Ok(key),
            (None, From::Server(row)) => self.get(row.len().saturating_sub(1)),
            (None, From::File(_)) => Err(Error::fault("a statement without keys was read as one with keys")),
        }
    }

    /// The names of its columns.
    pub(super) fn names(&self) -> Vec<String> {
        match self.from {
            From::Server(row) => row.columns().iter().map(|column| column.name().to_owned()).collect(),
            From::File(row) => row.as_ref().column_names().into_iter().map(str::to_owned).collect(),
        }
    }

    /// A column by its position.
    pub(super) fn cell(&self, place: usize) -> Result<ValueRef<'r>, Error> {
        let value = match self.from {
            From::Server(row) => row.try_get::<_, ServerCell<'_>>(place).map_err(|error| unreadable(&error))?.0,
            From::File(row) => row.get_ref(place).map_err(|error| unreadable(&error))?,
        };
        if let ValueRef::Text(text) | ValueRef::Blob(text) = value {
            self.text.set(self.text.get() + text.len());
        }
        Ok(value)
    }

    /// Reads a column by its position.
    pub fn get<T: Column>(&self, place: usize) -> Result<T, Error> {
        T::column_result(self.cell(place)?).map_err(|error| Error::fault(format!("column {place}: {error}")))
    }

    /// Reads the columns of a table. They must come first, in the table's order.
    pub fn model<E: Table>(&self) -> Result<E::Model, Error> {
        cells::read(self, 0)
    }

    /// Reads the columns of a table. Those that [`select_without`] has left out read as null.
    pub fn model_without<E: Table>(&self, omitted: Omitted) -> Result<E::Model, Error> {
        cells::read(self, omitted.0)
    }

    /// The bytes of texts and blobs read from the row so far.
    pub fn text(&self) -> usize {
        self.text.get()
    }
}

/// Collects rows as they arrive. A trait object, so that reading is compiled once and not once for each row type:
/// generic code would take a tenth of the binary.
#[doc(hidden)]
pub trait Collect: Any + Send {
    /// Collects a row and returns the bytes to charge for it.
    fn row(&mut self, row: &Row<'_>) -> Result<usize, Error>;

    /// Discards all rows, because the statement is restarted.
    fn clear(&mut self);

    /// The number of rows that were collected.
    fn count(&self) -> usize;
}

pub(super) struct Collected<T, F> {
    pub(super) rows: Vec<T>,
    pub(super) read: F,
}

impl<T, F> Collect for Collected<T, F>
where
    T: Send + 'static,
    F: Fn(&Row<'_>) -> Result<T, Error> + Send + 'static,
{
    fn row(&mut self, row: &Row<'_>) -> Result<usize, Error> {
        self.rows.push((self.read)(row)?);
        Ok(Budget::row(size_of::<T>() + row.text()))
    }

    fn clear(&mut self) {
        self.rows.clear();
    }

    fn count(&self) -> usize {
        self.rows.len()
    }
}

/// Adds rows to a value instead of collecting them.
pub(super) struct Folded<T, S, F> {
    pub(super) value: T,
    pub(super) rows: usize,
    pub(super) start: S,
    pub(super) add: F,
}

impl<T, S, F> Collect for Folded<T, S, F>
where
    T: Send + 'static,
    S: Fn() -> T + Send + 'static,
    F: Fn(&mut T, &Row<'_>) -> Result<usize, Error> + Send + 'static,
{
    fn row(&mut self, row: &Row<'_>) -> Result<usize, Error> {
        self.rows += 1;
        (self.add)(&mut self.value, row)
    }

    fn clear(&mut self) {
        (self.value, self.rows) = ((self.start)(), 0);
    }

    fn count(&self) -> usize {
        self.rows
    }
}

/// A statement to run.
#[doc(hidden)]
#[derive(Debug)]
pub struct Work {
    pub(super) statement: Statement,
    /// On SQLite the statement is run once for each of these, as its first parameter.
    pub(super) keys: Vec<i64>,
    /// Whether it is known to be slow.
    pub(super) is_long: bool,
    /// Whether it writes.
    pub(super) writes: bool,
}

impl Work {
    pub(super) fn new(statement: Statement) -> Self {
        Self { statement, keys: Vec::new(), is_long: false, writes: false }
    }

    /// A statement that writes. `one` says that it stores one row.
    pub(super) fn writing(statement: Statement, one: bool) -> Self {
        let is_long = !one && !stores_few(&statement);
        Self { is_long, writes: true, ..Self::new(statement) }
    }
}

/// The maximum number of values that a statement stores on the calling thread.
const FEW_VALUES: usize = 200;

/// Whether a statement stores few rows, so that it takes much less than a millisecond.
fn stores_few(statement: &Statement) -> bool {
    let values = statement.values.as_ref().map_or(0, |values| values.0.len());
    statement.sql.starts_with("INSERT") && values <= FEW_VALUES && !statement.sql.contains(" SELECT ")
}

/// The error of a statement whose request has exhausted its budget. It is never shown: the budget itself is reported.
pub(super) fn over(excess: Excess) -> Error {
    Error::fault(excess.to_string())
}

fn unreadable(error: &dyn std::error::Error) -> Error {
    let why = error.source().map(|why| format!(": {why}"));
    Error::fault(format!("{error}{}", why.unwrap_or_default()))
}
