//! The whole catalogue as text, and back: from one database to another, whatever the backend.
//!
//! An export is lines of JSON. The first says what it is and, for each table, the last id that was given out; then each
//! row is an object in an object under its table's name, in an order in which nothing refers to a later line; the last
//! line counts them, so that one which was cut off is known for that. Ids stay what they are, because clients keep them.
//! Rows are taken as the entities describe them: a new column is exported and imported without a word about it here.

use std::io::{self, BufRead, Write};

use sea_orm::entity::prelude::*;
use sea_orm::{Iterable, ModelTrait, PrimaryKeyToColumn, QueryOrder, QuerySelect};

use crate::db::{self, Db, Read, Snapshot, Table};
use crate::entity;

mod import;

pub use import::import;

/// What is written, as the first line tells it. A program reads what has its own number or a smaller one.
const VERSION: u32 = 1;
/// Rows that are read or stored at once.
const BATCH: usize = 500;

/// Calls a macro with the tables of an export. What a table refers to comes before it.
macro_rules! tables {
    ($each:ident) => {
        $each! {
            user identity team team_alias team_membership tier lifecycle service service_alias repository
            service_repository tag integration code_issue_project code_issue_project_resource code_issue code_issue_cve
            code_issue_cwe deploy_number deploy suggestion suggestion_integration
        }
    };
}
use tables;

macro_rules! names {
    ($($table:ident)*) => { &[$(stringify!($table)),*] };
}

/// The tables of an export, in its order.
pub const TABLES: &[&str] = tables!(names);

/// The tables that are not exported, and why.
pub const LEFT_OUT: [(&str, &str); 7] = [
    ("token", "a secret: who holds one holds it for the installation that gave it"),
    ("session", "a secret, for hours"),
    ("sign_in_link", "a secret, for minutes"),
    ("audit", "it tells what was done to the other installation, and stays there"),
    ("delivery", "a help in setting up a pipeline, for days"),
    ("service_search", "it follows from the names and aliases of services"),
    ("seaql_migrations", "the new database has steps of its own"),
];

/// Writes the catalogue as it is at one moment, and says how many rows it has.
///
/// # Errors
/// Why not all of it is written, in one sentence.
pub async fn export(db: &Db, out: &mut impl Write) -> Result<u64, String> {
    let unread = |error: DbErr| format!("the catalogue cannot be read: {error}");
    let unwritten = |error: io::Error| format!("the export cannot be written: {error}");
    let snapshot = db.begin_read(None).await.map_err(unread)?;
    write!(out, "{{\"rollcall\":\"catalogue\",\"version\":{VERSION},\"last_ids\":{{").map_err(unwritten)?;
    for (place, table) in TABLES.iter().enumerate() {
        let last = db::last_id(&snapshot, table).await.map_err(unread)?;
        let comma = if place == 0 { "" } else { "," };
        write!(out, "{comma}\"{table}\":{last}").map_err(unwritten)?;
    }
    writeln!(out, "}}}}").map_err(unwritten)?;
    let mut count = 0;
    macro_rules! each {
        ($($table:ident)*) => {$({
            let mut after = 0;
            loop {
                let rows = page::<entity::$table::Entity>(&snapshot, after).await.map_err(unread)?;
                let Some(last) = rows.last() else { break };
                after = last.id;
                for row in &rows {
                    write_row::<entity::$table::Entity>(out, stringify!($table), row).map_err(unwritten)?;
                }
                count += rows.len() as u64;
            }
        })*};
    }
    tables!(each);
    writeln!(out, "{{\"rows\":{count}}}").and_then(|()| out.flush()).map_err(unwritten)?;
    Ok(count)
}

/// The next rows by id.
async fn page<E: Table>(snapshot: &Snapshot, after: i64) -> Result<Vec<E::Model>, DbErr> {
    let key = E::PrimaryKey::iter().next().map(PrimaryKeyToColumn::into_column);
    let key = key.ok_or_else(|| DbErr::Custom("a table without a key".to_owned()))?;
    snapshot.all(E::find().filter(key.gt(after)).order_by_asc(key).limit(BATCH as u64)).await
}

fn write_row<E: EntityTrait>(out: &mut impl Write, table: &str, row: &E::Model) -> io::Result<()> {
    write!(out, "{{\"{table}\":{{")?;
    for (place, column) in E::Column::iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        write!(out, "{comma}\"{}\":", column.as_str())?;
        match row.get(column) {
            Value::BigInt(Some(number)) => write!(out, "{number}")?,
            Value::Int(Some(number)) => write!(out, "{number}")?,
            Value::Bool(Some(value)) => write!(out, "{value}")?,
            Value::String(Some(text)) => serde_json::to_writer(&mut *out, &text)?,
            Value::BigInt(None) | Value::Int(None) | Value::Bool(None) | Value::String(None) => write!(out, "null")?,
            other => return Err(io::Error::other(format!("{table}.{} is {other:?}", column.as_str()))),
        }
    }
    writeln!(out, "}}}}")
}

/// The lines of an export, each with its number.
struct ExportLines<'i> {
    input: &'i mut dyn BufRead,
    number: u64,
}

impl ExportLines<'_> {
    /// The next line, without its end; nothing at the end of the input.
    fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        // A deploy of the longest texts, all of it escaped, is shorter.
        const LONGEST: u64 = 4 << 20;
        self.number += 1;
        let mut line = Vec::new();
        let mut input = io::Read::take(&mut *self.input, LONGEST);
        let length = input.read_until(b'\n', &mut line).map_err(|error| format!("it cannot be read: {error}"))?;
        match line.pop_if(|end| *end == b'\n') {
            None if length == 0 => Ok(None),
            None if length as u64 == LONGEST => Err(format!("the line is longer than {LONGEST} bytes")),
            _ => Ok(Some(line)),
        }
    }
}
