//! Reads an export on a thread of its own, so that rows are read while earlier ones are stored.

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::thread;

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::ArrayType;
use sea_orm::{ActiveModelTrait, ActiveValue, IdenStatic, Iterable, ModelTrait};
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::{LEFT_OUT, TABLES, VERSION, tables};
use crate::db::{Form, Rows};
use crate::entity;

/// The maximum number of rows of a batch.
const BATCH: usize = 1_000;

/// The maximum length of the lines of a batch. One line may be longer.
const BATCH_BYTES: usize = 1 << 20;

/// The greatest id: the largest integer that every JSON parser reads exactly.
const GREATEST_ID: i64 = (1 << 53) - 1;

/// The number of batches that wait to be stored. Another one is being read, and another one stored.
const WAITING: usize = 1;

/// A mistake in an export.
#[derive(Debug)]
pub struct Mistake {
    pub line: u64,
    pub what: String,
}

/// Rows of one table, from lines that follow each other.
pub struct Batch {
    pub table: &'static str,
    /// The number of the first line.
    pub line: u64,
    pub ids: Vec<i64>,
    /// With the values of [`columns`].
    pub rows: Rows,
}

/// The rows of the next [`Batch`].
#[derive(Default)]
struct Gathered {
    table: &'static str,
    line: u64,
    ids: Vec<i64>,
    values: Vec<Value>,
    /// The length of their lines in bytes.
    bytes: usize,
}

/// The first line.
#[derive(Deserialize)]
struct Head {
    rollcall: String,
    version: u32,
    #[serde(default)]
    last_ids: BTreeMap<String, i64>,
}

/// The last line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct End {
    rows: u64,
}

/// An export.
pub struct Export {
    input: Box<dyn BufRead + Send>,
    /// The number of the last line that was read.
    line: u64,
}

impl Export {
    pub fn new(input: impl BufRead + Send + 'static) -> Self {
        Self { input: Box::new(input), line: 0 }
    }

    /// The next line without its line end. `None` at the end of the input.
    fn next(&mut self) -> Result<Option<Vec<u8>>, Mistake> {
        // Longer than every line of an export. The longest text is an API document: whatever `--max-body` says, a
        // server reads at most 16 MiB for one caller (`http::body::BOUNDS`), and a control character takes six bytes.
        const LONGEST: u64 = 128 << 20;
        self.line += 1;
        let mut line = Vec::new();
        let mut input = io::Read::take(&mut self.input, LONGEST);
        let length =
            input.read_until(b'\n', &mut line).map_err(|error| self.mistake(format!("it cannot be read: {error}")))?;
        match line.pop_if(|end| *end == b'\n') {
            None if length == 0 => Ok(None),
            None if length as u64 == LONGEST => Err(self.mistake(format!("the line is longer than {LONGEST} bytes"))),
            _ => Ok(Some(line)),
        }
    }

    /// A mistake in the last line.
    fn mistake(&self, what: impl Into<String>) -> Mistake {
        Mistake { line: self.line, what: what.into() }
    }

    /// Reads the first line. Returns the last id assigned in each table.
    pub fn head(&mut self) -> Result<BTreeMap<String, i64>, Mistake> {
        let line = self.next()?;
        let head = line.and_then(|line| serde_json::from_slice::<Head>(&line).ok());
        match head.filter(|head| head.rollcall == "catalogue") {
            None => Err(self.mistake("this is not the first line of an export by rollcall")),
            Some(head) if head.version > VERSION => {
                let version = head.version;
                Err(self.mistake(format!(
                    "this was written by a newer rollcall (format {version}; this one reads up to {VERSION}); use that \
                     version"
                )))
            }
            Some(head) if head.last_ids.values().all(|id| (0..=GREATEST_ID).contains(id)) => Ok(head.last_ids),
            Some(_) => Err(self.mistake(format!("an id must be between 0 and {GREATEST_ID}"))),
        }
    }

    /// Starts to read the lines after the first one. The receiver gets all rows in this form, then `None`, or a mistake
    /// after the rows before it. Dropping the receiver stops the thread, at the latest when it has read another batch.
    pub fn batches(mut self, form: Form) -> Receiver<Result<Option<Batch>, Mistake>> {
        let (sender, receiver) = channel(WAITING);
        thread::spawn(move || {
            let end = match self.read(form, &sender) {
                Ok(()) => Ok(None),
                Err(Stopped::Mistake(mistake)) => Err(mistake),
                Err(Stopped::Unwanted) => return,
            };
            let _ = sender.blocking_send(end);
        });
        receiver
    }

    fn read(&mut self, form: Form, to: &Sender<Result<Option<Batch>, Mistake>>) -> Result<(), Stopped> {
        let (mut gathered, mut count) = (Gathered::default(), 0);
        let end = loop {
            let row = match self.row() {
                Ok(Line::Row(row)) => row,
                Ok(Line::End(end)) => break end,
                Err(mistake) => {
                    gathered.send(form, to)?;
                    return Err(mistake.into());
                }
            };
            if row.table != gathered.table || gathered.ids.len() == BATCH || gathered.bytes >= BATCH_BYTES {
                let next = Gathered { table: row.table, line: self.line, ..Gathered::default() };
                std::mem::replace(&mut gathered, next).send(form, to)?;
            }
            count += 1;
            gathered.bytes += row.length;
            gathered.ids.push(row.id);
            gathered.values.extend(row.values);
        };
        gathered.send(form, to)?;
        if end.rows != count {
            let what = format!("{} rows were exported, but this file has {count}", end.rows);
            return Err(self.mistake(what).into());
        }
        match self.next()? {
            None => Ok(()),
            Some(_) => Err(self.mistake("there is more after the end").into()),
        }
    }

    /// Reads a line after the first one.
    fn row(&mut self) -> Result<Line, Mistake> {
        let Some(line) = self.next()? else {
            return Err(self.mistake("the end is missing: this export is incomplete"));
        };
        parse(&line).map_err(|what| self.mistake(what))
    }
}

impl Gathered {
    fn send(self, form: Form, to: &Sender<Result<Option<Batch>, Mistake>>) -> Result<(), Stopped> {
        let Self { table, line, ids, values, .. } = self;
        if ids.is_empty() {
            return Ok(());
        }
        let rows = form.rows(values.len() / ids.len(), values);
        let rows = rows.map_err(|error| Mistake { line, what: error.to_string() })?;
        to.blocking_send(Ok(Some(Batch { table, line, ids, rows }))).map_err(|_| Stopped::Unwanted)
    }
}

/// Why no more lines are read.
enum Stopped {
    Mistake(Mistake),
    /// Nobody waits for more.
    Unwanted,
}

impl From<Mistake> for Stopped {
    fn from(mistake: Mistake) -> Self {
        Self::Mistake(mistake)
    }
}

/// A line after the first one.
enum Line {
    Row(Row),
    End(End),
}

struct Row {
    table: &'static str,
    id: i64,
    values: Vec<Value>,
    /// The length of the line in bytes.
    length: usize,
}

fn parse(line: &[u8]) -> Result<Line, String> {
    let object: Map<String, Json> =
        serde_json::from_slice(line).map_err(|error| format!("this is not a JSON object: {error}"))?;
    let mut entries = object.into_iter();
    let (Some((key, value)), None) = (entries.next(), entries.next()) else {
        return Err("a line must be an object with one key, the name of a table".to_owned());
    };
    if key == "rows" {
        return serde_json::from_slice(line).map(Line::End).map_err(|error| error.to_string());
    }
    let Some(table) = TABLES.iter().find(|table| **table == key) else {
        return Err(match LEFT_OUT.iter().find(|(table, _)| *table == key) {
            Some((table, why)) => format!("{table} is not imported: {why}"),
            None => format!("there is no table \"{key}\""),
        });
    };
    let Json::Object(columns) = value else { return Err(format!("a row of {table} must be an object")) };
    match columns.get("id").and_then(Json::as_i64) {
        Some(id) if (1..=GREATEST_ID).contains(&id) => {
            Ok(Line::Row(Row { table, id, values: values(table, columns)?, length: line.len() }))
        }
        _ => Err(format!("the id of a row must be between 1 and {GREATEST_ID}")),
    }
}

/// The columns of a table.
pub fn columns(table: &str) -> Vec<&'static str> {
    macro_rules! each {
        ($($table:ident)*) => {
            match table {
                $(stringify!($table) => <entity::$table::Entity as EntityTrait>::Column::iter().map(|column| column.as_str()).collect(),)*
                _ => Vec::new(),
            }
        };
    }
    tables!(each)
}

/// Converts a row for its table.
fn values(table: &str, columns: Map<String, Json>) -> Result<Vec<Value>, String> {
    macro_rules! each {
        ($($table:ident)*) => {
            match table {
                $(stringify!($table) => values_of::<entity::$table::Entity>(columns),)*
                _ => Ok(Vec::new()),
            }
        };
    }
    tables!(each)
}

/// Converts a row. Missing columns are null.
fn values_of<E: EntityTrait>(mut columns: Map<String, Json>) -> Result<Vec<Value>, String>
where
    E::ActiveModel: ActiveModelTrait<Entity = E>,
{
    let mut model = <E::ActiveModel as ActiveModelTrait>::default();
    let mut values = Vec::with_capacity(columns.len());
    for column in E::Column::iter() {
        let name = column.as_str();
        let json = columns.remove(name).unwrap_or(Json::Null);
        // PostgreSQL cannot store it, and no input can contain it.
        if json.as_str().is_some_and(|text| text.contains('\0')) {
            let table = E::default();
            let table = table.table_name();
            return Err(format!(
                "the column {name} of {table} has a NUL character (\\u0000), which text may not contain"
            ));
        }
        let is_null = json.is_null();
        let value = value(E::Model::get_value_type(column), json).ok_or_else(|| format!("{name} has another type"))?;
        // The entity checks nulls and the values of enums.
        model.try_set(column, value).map_err(|_| match is_null {
            true => format!("{name} is missing"),
            false => format!("{name} is not one of the allowed values"),
        })?;
        match model.take(column) {
            ActiveValue::Set(value) | ActiveValue::Unchanged(value) => values.push(value),
            ActiveValue::NotSet => return Err(format!("{name} cannot be set")),
        }
    }
    match columns.keys().next() {
        Some(name) => Err(format!("there is no column \"{name}\"")),
        None => Ok(values),
    }
}

/// Converts a JSON value to a column's type. `None` if it does not match.
fn value(kind: ArrayType, json: Json) -> Option<Value> {
    Some(match (kind, json) {
        (ArrayType::BigInt, Json::Null) => Value::BigInt(None),
        (ArrayType::BigInt, json) => Value::BigInt(Some(json.as_i64()?)),
        (ArrayType::Int, Json::Null) => Value::Int(None),
        (ArrayType::Int, json) => Value::Int(Some(json.as_i64()?.try_into().ok()?)),
        (ArrayType::Bool, Json::Null) => Value::Bool(None),
        (ArrayType::Bool, Json::Bool(value)) => Value::Bool(Some(value)),
        (ArrayType::String, Json::Null) => Value::String(None),
        (ArrayType::String, Json::String(text)) => Value::String(Some(text)),
        _ => return None,
    })
}
