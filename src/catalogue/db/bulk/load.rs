//! Loads rows into a table: on PostgreSQL by `COPY`, on SQLite by prepared statements of many rows.

use std::fmt::{self, Write as _};

use std::pin::Pin;

use bytes::Bytes;
use futures_util::SinkExt as _;
use sea_orm::{DbBackend, Statement, Value};
use tokio_postgres::CopyInSink;

use super::{Bulk, TransactionKind};
use crate::db::postgres::server;
use crate::db::{Backend as _, Error, Write as _};

/// The maximum number of rows of a statement on SQLite, for [`rows_at_once`]. More rows save no time.
const ROWS: usize = 128;

/// The maximum number of parameters of a statement on SQLite.
const PARAMETERS: usize = 32_766;

/// The bytes of `COPY` data sent at once.
const CHUNK: usize = 1 << 16;

/// The number of rows after which a `COPY` ends and another one begins. PostgreSQL tells the client about a bad row only
/// at the end.
const COPIED: u64 = 100_000;

/// Returns how many of the `left` rows the next statement takes: a power of two, and at most `most`.
///
/// A connection keeps the statements that it has prepared, by their texts, and a statement of many rows takes much
/// memory. This way a table needs few texts, however many rows there are.
pub fn rows_at_once(left: usize, most: usize) -> usize {
    1 << left.min(most).max(1).ilog2()
}

/// The form in which a database takes rows. Any thread can convert rows to it.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    is_text: bool,
}

/// Rows in the form of a database.
#[derive(Debug)]
pub struct Rows(Kept);

#[derive(Debug)]
enum Kept {
    Values(Vec<Value>),
    /// PostgreSQL's text format.
    Text {
        rows: u64,
        text: String,
    },
}

impl Form {
    /// Converts rows of so many columns: the values of the first row, then those of the next one.
    pub fn rows(self, columns: usize, values: Vec<Value>) -> Result<Rows, Error> {
        if !self.is_text {
            return Ok(Rows(Kept::Values(values)));
        }
        let rows = (values.len() / columns) as u64;
        let mut text = String::with_capacity(8 * values.len());
        for (place, value) in values.into_iter().enumerate() {
            write_value(&mut text, value)?;
            text.push(if (place + 1) % columns == 0 { '\n' } else { '\t' });
        }
        Ok(Rows(Kept::Text { rows, text }))
    }
}

/// Why rows are not stored.
#[derive(Debug)]
pub struct Unstored {
    /// The bad row, as the number of rows added before it, if it is known.
    pub row: Option<u64>,
    /// What the database says.
    pub error: Error,
}

impl From<Error> for Unstored {
    fn from(error: Error) -> Self {
        Self { row: None, error }
    }
}

/// Loads rows into a table. No other statement can run in the transaction until [`Load::finish`]. After an error, the
/// transaction must be rolled back.
#[must_use = "the last rows are stored when it is finished"]
pub struct Load<'b> {
    bulk: &'b Bulk,
    table: &'b str,
    columns: Vec<&'b str>,
    /// The `COPY` that takes the next rows.
    copy: Option<Pin<Box<CopyInSink<Bytes>>>>,
    /// The number of rows added, without those of `copy`.
    before: u64,
    /// The number of rows of `copy`.
    copied: u64,
}

impl Bulk {
    /// Begins to load rows with these columns into a table.
    pub fn load<'b>(&'b self, table: &'b str, columns: Vec<&'b str>) -> Load<'b> {
        Load { bulk: self, table, columns, copy: None, before: 0, copied: 0 }
    }

    /// The form of rows for [`Load::add`].
    pub fn form(&self) -> Form {
        Form { is_text: self.backend() == DbBackend::Postgres }
    }
}

impl Load<'_> {
    /// Adds rows. An error can be about earlier ones.
    pub async fn add(&mut self, rows: Rows) -> Result<(), Unstored> {
        match (&self.bulk.0.kind, rows.0) {
            (TransactionKind::Embedded(_), Kept::Values(values)) => self.insert(values).await,
            (TransactionKind::Server(server), Kept::Text { rows, text }) => self.send(server, rows, text.into()).await,
            _ => Err(Error::fault("these rows have the form of another database").into()),
        }
    }

    async fn insert(&mut self, values: Vec<Value>) -> Result<(), Unstored> {
        let width = self.columns.len();
        let row = format!("({})", vec!["?"; width].join(","));
        let insert = |values: &[Value]| {
            let rows = vec![&*row; values.len() / width].join(",");
            let insert = format!("INSERT INTO \"{}\" ({}) VALUES {rows}", self.table, names(&self.columns));
            Statement::from_sql_and_values(DbBackend::Sqlite, insert, values.iter().cloned())
        };
        let most = ROWS.min(PARAMETERS / width);
        let mut rest = &*values;
        while !rest.is_empty() {
            let (some, after) = rest.split_at(rows_at_once(rest.len() / width, most) * width);
            if let Err(error) = self.bulk.change_untyped(insert(some)).await {
                // SQLite has undone the statement. Insert its rows one by one to find the bad one.
                for (row, values) in (self.before..).zip(some.chunks(width)) {
                    let one = self.bulk.change_untyped(insert(values)).await;
                    one.map_err(|error| Unstored { row: Some(row), error })?;
                }
                return Err(error.into());
            }
            self.before += (some.len() / width) as u64;
            rest = after;
        }
        Ok(())
    }

    async fn send(&mut self, server: &server::Transaction, rows: u64, mut text: Bytes) -> Result<(), Unstored> {
        let copy = match &mut self.copy {
            Some(copy) => copy,
            None => {
                let statement = format!("COPY \"{}\" ({}) FROM STDIN", self.table, names(&self.columns));
                self.copy.insert(server.copy_in(&statement).await?)
            }
        };
        while !text.is_empty() {
            let chunk = text.split_to(CHUNK.min(text.len()));
            copy.send(chunk).await.map_err(|error| Error::of_server(&error))?;
        }
        self.copied += rows;
        if self.copied >= COPIED { self.end_copy().await } else { Ok(()) }
    }

    async fn end_copy(&mut self) -> Result<(), Unstored> {
        if let Some(mut copy) = self.copy.take() {
            let ended = copy.as_mut().finish().await;
            ended.map_err(|error| {
                let error = Error::of_server(&error);
                Unstored { row: line_of(&error).and_then(|line| (self.before + line).checked_sub(1)), error }
            })?;
        }
        self.before += std::mem::take(&mut self.copied);
        Ok(())
    }

    /// Stores the last rows.
    pub async fn finish(mut self) -> Result<(), Unstored> {
        self.end_copy().await
    }
}

/// Returns the line of `COPY` data that an error of PostgreSQL is about, counted from 1.
fn line_of(error: &Error) -> Option<u64> {
    match error {
        Error::Answered(answer) => line_in(answer.context.as_ref()?),
        _ => None,
    }
}

/// Reads the number of a line from the context of an error: `COPY deploy, line 17, column x: "…"`. PostgreSQL translates
/// the word.
fn line_in(context: &str) -> Option<u64> {
    let (_, place) = context.strip_prefix("COPY ")?.split_once(", ")?;
    let digits = place.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

fn names(columns: &[&str]) -> String {
    columns.iter().map(|column| format!("\"{column}\"")).collect::<Vec<_>>().join(",")
}

fn write_value(data: &mut String, value: Value) -> Result<(), Error> {
    let written = match value {
        Value::BigInt(Some(number)) => write!(data, "{number}"),
        Value::Int(Some(number)) => write!(data, "{number}"),
        Value::Bool(Some(value)) => write!(data, "{value}"),
        Value::String(Some(text)) => {
            write_text(data, &text);
            Ok(())
        }
        Value::Array(_, Some(numbers)) => {
            data.push('{');
            for (place, number) in numbers.into_iter().enumerate() {
                data.push_str(if place == 0 { "" } else { "," });
                write_value(data, number)?;
            }
            data.push('}');
            Ok(())
        }
        Value::BigInt(None) | Value::Int(None) | Value::Bool(None) | Value::String(None) => write!(data, "\\N"),
        other => return Err(Error::fault(format!("a bulk insert has no form for {other:?}"))),
    };
    written.map_err(|error: fmt::Error| Error::fault(error.to_string()))
}

/// Writes a text, and escapes the characters that end a column or a row.
fn write_text(data: &mut String, text: &str) {
    let mut rest = text;
    while let Some(place) = rest.find(['\\', '\n', '\r', '\t']) {
        data.push_str(&rest[..place]);
        data.push_str(match rest.as_bytes()[place] {
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            _ => "\\\\",
        });
        rest = &rest[place + 1..];
    }
    data.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_statements_of_many_rows_have_few_texts() {
        let statements = |mut left: usize| {
            let mut counts = Vec::new();
            while left > 0 {
                counts.push(rows_at_once(left, 100));
                left -= counts[counts.len() - 1];
            }
            counts
        };
        assert!(statements(0).is_empty());
        assert_eq!(statements(1), [1]);
        assert_eq!(statements(203), [64, 64, 64, 8, 2, 1]);
    }

    #[test]
    fn a_text_cannot_end_its_column_or_its_row() {
        for (text, expected) in [
            ("", ""),
            ("plain ß 🚀", "plain ß 🚀"),
            ("\\.", "\\\\."),
            ("\\N", "\\\\N"),
            ("a\tb\nc\rd\\", "a\\tb\\nc\\rd\\\\"),
        ] {
            let mut data = String::new();
            write_text(&mut data, text);
            assert_eq!(data, expected);
        }
    }

    #[test]
    fn a_value_is_written_as_postgresql_reads_it() {
        let numbers = Value::Array(sea_orm::sea_query::ArrayType::Int, Some(Box::new(vec![1.into(), (-2).into()])));
        let values = [Value::from(-7_i64), 7.into(), true.into(), Value::String(None), Value::from("x"), numbers];
        let mut data = String::new();
        for value in values {
            write_value(&mut data, value).expect("a value");
            data.push('|');
        }
        assert_eq!(data, "-7|7|true|\\N|x|{1,-2}|");
        write_value(&mut data, Value::Double(Some(0.5))).expect_err("no column is a fraction");
    }

    #[test]
    fn the_line_of_a_bad_row_is_found_in_every_language() {
        for (context, line) in [
            ("COPY deploy, line 17", Some(17)),
            ("COPY deploy, line 17, column id: \"5\"", Some(17)),
            ("COPY deploy2, Zeile 3, Spalte id: »5«", Some(3)),
            ("COPY deploy", None),
            ("SQL statement \"SELECT 1\"", None),
        ] {
            assert_eq!(line_in(context), line, "{context}");
        }
    }
}
