//! Reads an export on a thread of its own, so that rows are read while earlier ones are stored.
//!
//! A file may come from anybody, so the memory of a line is bounded by its length: an object is read without what is in
//! its values, and all values of a row are texts, numbers, true, false or null. Lists and objects are never built.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead};
use std::thread;

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::ArrayType;
use sea_orm::{ActiveModelTrait, ActiveValue, IdenStatic, Iterable, ModelTrait};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::{LEFT_OUT, TABLES, VERSION};
use crate::db::{Form, Rows};
use crate::entity::{self, tables};
use crate::error::quoted;

/// The maximum length of a line, in bytes. Longer than every line of an export. The longest text is an API document:
/// whatever `--max-body` says, a server reads at most 16 MiB for one caller (`http::body::BOUNDS`), and a control
/// character takes six bytes.
pub const LINE: u64 = 128 << 20;

/// The maximum length of the first line, in bytes. It has one number for each table.
pub const FIRST_LINE: u64 = 1 << 20;

/// The maximum length of the texts of a row, in bytes: an API document, and shorter texts beside it.
pub const TEXTS: usize = 32 << 20;

/// The maximum number of rows of a batch.
const BATCH: usize = 1_000;

/// A batch ends with the line that makes it so long, in bytes.
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

const NOT_FIRST: &str = "this is not the first line of an export by rollcall";

/// The first line.
#[derive(Deserialize)]
struct Head {
    rollcall: String,
    version: u32,
    #[serde(default)]
    last_ids: BTreeMap<String, i64>,
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
        self.line += 1;
        let longest = if self.line == 1 { FIRST_LINE } else { LINE };
        let mut line = Vec::new();
        let mut input = io::Read::take(&mut self.input, longest);
        let length =
            input.read_until(b'\n', &mut line).map_err(|error| self.mistake(format!("it cannot be read: {error}")))?;
        match line.pop_if(|end| *end == b'\n') {
            None if length == 0 => Ok(None),
            None if length as u64 == longest && self.line == 1 => Err(self.mistake(NOT_FIRST)),
            None if length as u64 == longest => Err(self.mistake(format!("the line is longer than {longest} bytes"))),
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
            None => Err(self.mistake(NOT_FIRST)),
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
        let exported = loop {
            let row = match self.row() {
                Ok(Line::Row(row)) => row,
                Ok(Line::End(rows)) => break rows,
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
        if exported != count {
            let what = format!("{exported} rows were exported, but this file has {count}");
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
    /// The last one, with the number of rows.
    End(u64),
}

struct Row {
    table: &'static str,
    id: i64,
    values: Vec<Value>,
    /// The length of the line in bytes.
    length: usize,
}

fn parse(line: &[u8]) -> Result<Line, String> {
    let whole: &RawValue = serde_json::from_slice(line).map_err(not_an_object)?;
    let Some(entries) = entries(whole, 2)? else { return Err(not_an_object("it does not begin with {")) };
    let Ok([(key, value)]) = <[_; 1]>::try_from(entries) else {
        return Err("a line must be an object with one key, the name of a table".to_owned());
    };
    if key == "rows" {
        let rows = value.get().parse::<u64>().map(Line::End);
        return rows.map_err(|_| "the number of rows must be a whole number".to_owned());
    }
    let Some(table) = TABLES.iter().find(|table| **table == key) else {
        return Err(match LEFT_OUT.iter().find(|(table, _)| *table == key) {
            Some((table, why)) => format!("{table} is not imported: {why}"),
            None => format!("there is no table {}", quoted(&key)),
        });
    };
    let given = given(table, value)?;
    match given.get("id").and_then(|id| id.get().parse::<i64>().ok()) {
        Some(id) if (1..=GREATEST_ID).contains(&id) => {
            Ok(Line::Row(Row { table, id, values: values(table, &given)?, length: line.len() }))
        }
        _ => Err(format!("the id of a row must be between 1 and {GREATEST_ID}")),
    }
}

fn not_an_object(why: impl fmt::Display) -> String {
    format!("this is not a JSON object: {why}")
}

/// Reads the first entries of an object, at most so many, and skips the others. Each value is the part of the line
/// that it is written in. `None` if the JSON is not an object.
fn entries(json: &RawValue, most: usize) -> Result<Option<Vec<(String, &RawValue)>>, String> {
    if !json.get().starts_with('{') {
        return Ok(None);
    }
    let mut reader = serde_json::Deserializer::from_str(json.get());
    let entries = Deserializer::deserialize_map(&mut reader, Entries { most });
    entries.map(Some).map_err(not_an_object)
}

/// Does the work of [`entries`].
struct Entries {
    most: usize,
}

impl<'de> Visitor<'de> for Entries {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while entries.len() < self.most {
            match object.next_entry::<String, &'de RawValue>()? {
                Some(entry) => entries.push(entry),
                None => return Ok(entries),
            }
        }
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(entries)
    }
}

/// The columns that a row gives, with the JSON of their values.
type Given<'l> = BTreeMap<&'static str, &'l RawValue>;

/// Reads the columns of a row. Each must be a column of the table, and given once.
fn given<'l>(table: &str, row: &'l RawValue) -> Result<Given<'l>, String> {
    let columns = columns(table);
    // One entry more than there are columns is enough to find an unknown or a repeated one.
    let Some(entries) = entries(row, columns.len() + 1)? else {
        return Err(format!("a row of {table} must be an object"));
    };
    let mut given = Given::new();
    for (name, json) in entries {
        let Some(column) = columns.iter().find(|column| **column == name) else {
            return Err(format!("there is no column {}", quoted(&name)));
        };
        if given.insert(*column, json).is_some() {
            return Err(format!("the column {column} of {table} is given twice"));
        }
    }
    Ok(given)
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
fn values(table: &str, given: &Given<'_>) -> Result<Vec<Value>, String> {
    macro_rules! each {
        ($($table:ident)*) => {
            match table {
                $(stringify!($table) => values_of::<entity::$table::Entity>(table, given),)*
                _ => Ok(Vec::new()),
            }
        };
    }
    tables!(each)
}

/// Converts a row. Missing columns are null.
fn values_of<E: EntityTrait>(table: &str, given: &Given<'_>) -> Result<Vec<Value>, String>
where
    E::ActiveModel: ActiveModelTrait<Entity = E>,
{
    let mut model = <E::ActiveModel as ActiveModelTrait>::default();
    let (mut values, mut length) = (Vec::new(), 0);
    for column in E::Column::iter() {
        let name = column.as_str();
        let json = given.get(name).map_or("null", |json| json.get());
        let value = value(E::Model::get_value_type(column), json).map_err(|what| format!("{name} {what}"))?;
        if let Value::String(Some(text)) = &value {
            // PostgreSQL cannot store it, and no input can contain it.
            if text.contains('\0') {
                return Err(format!(
                    "the column {name} of {table} has a NUL character (\\u0000), which text may not contain"
                ));
            }
            length += text.len();
            if length > TEXTS {
                return Err(format!("the texts of a row must not be longer than {TEXTS} bytes together"));
            }
        }
        // The entity checks nulls and the values of enums.
        model.try_set(column, value).map_err(|_| match json {
            "null" => format!("{name} is missing"),
            _ => format!("{name} is not one of the allowed values"),
        })?;
        match model.take(column) {
            ActiveValue::Set(value) | ActiveValue::Unchanged(value) => values.push(value),
            ActiveValue::NotSet => return Err(format!("{name} cannot be set")),
        }
    }
    Ok(values)
}

/// Converts the JSON of a value to a column's type, or says what is wrong with it. An error of serde_json about another
/// type would repeat a whole text, so serde_json reads only texts for columns of text.
fn value(kind: ArrayType, json: &str) -> Result<Value, String> {
    let value = match (kind, json) {
        (ArrayType::BigInt, "null") => Some(Value::BigInt(None)),
        (ArrayType::BigInt, _) => json.parse::<i64>().ok().map(|number| Value::BigInt(Some(number))),
        (ArrayType::Int, "null") => Some(Value::Int(None)),
        (ArrayType::Int, _) => json.parse::<i32>().ok().map(|number| Value::Int(Some(number))),
        (ArrayType::Bool, "null") => Some(Value::Bool(None)),
        (ArrayType::Bool, "true") => Some(Value::Bool(Some(true))),
        (ArrayType::Bool, "false") => Some(Value::Bool(Some(false))),
        (ArrayType::String, "null") => Some(Value::String(None)),
        (ArrayType::String, _) if json.starts_with('"') => {
            let text = serde_json::from_str::<String>(json).map_err(|error| format!("is not a text: {error}"))?;
            Some(Value::String(Some(text)))
        }
        _ => None,
    };
    value.ok_or_else(|| "has another type".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says what is wrong with a line.
    fn fault(line: &str) -> Option<String> {
        parse(line.as_bytes()).err()
    }

    #[test]
    fn a_row_takes_one_scalar_for_each_of_its_columns_and_nothing_else() {
        let team = r#"{"team":{"id":1,"name":"A","alias":"a","created_at":0,"updated_at":0}}"#;
        assert_eq!(fault(team), None);
        let with = |name: &str| team.replace(r#""name":"A""#, name);
        let id = "the id of a row must be between 1 and 9007199254740991";
        for (line, expected) in [
            (with(r#""name":["A"]"#), "name has another type"),
            (with(r#""name":{"A":"A"}"#), "name has another type"),
            (with(r#""name":1"#), "name has another type"),
            (with(r#""name":"\ud800""#), "name is not a text: "),
            (with(r#""name":"A","parent_team_id":[]"#), "parent_team_id has another type"),
            (with(r#""name":"A","parent_team_id":"1""#), "parent_team_id has another type"),
            (with(r#""name":"A","parent_team_id":1.0"#), "parent_team_id has another type"),
            (with(r#""name":"A","name":"B""#), "the column name of team is given twice"),
            (with(r#""name":"A","n\u0061me":"B""#), "the column name of team is given twice"),
            (with(r#""name":"A","id":2"#), "the column id of team is given twice"),
            (with(r#""name":"A","colour":"red""#), "there is no column \"colour\""),
            (with(r#""name":"A","colour":[{"red":[]}]"#), "there is no column \"colour\""),
            (team.replace(r#""id":1"#, r#""id":[1]"#), id),
            (team.replace(r#""id":1"#, r#""id":"1""#), id),
        ] {
            let fault = fault(&line).unwrap_or_default();
            assert!(fault.starts_with(expected), "{line}\n{fault}");
        }
    }

    /// Some of these lines would take many times their length if all of what is in them was kept.
    #[test]
    fn a_long_line_is_refused_by_a_short_sentence() {
        const MANY: usize = 1 << 20;
        let (long, longer) = ("x".repeat(MANY), "x".repeat(TEXTS + 1));
        let nested = format!("{}{}", "[".repeat(MANY), "]".repeat(MANY));
        let team = |columns: &str| format!(r#"{{"team":{{"id":1,{columns}}}}}"#);
        for (line, expected) in [
            (team(&format!(r#""name":[{}0]"#, "0,".repeat(MANY))), "name has another type"),
            (team(&format!(r#""name":{nested}"#)), "name has another type"),
            (team(&format!(r#"{}"name":0"#, r#""name":0,"#.repeat(MANY))), "the column name of team is given twice"),
            (team(&format!(r#"{}"":0"#, r#""":0,"#.repeat(MANY))), "there is no column \"\""),
            (team(&format!(r#""{long}":0"#)), "there is no column \"xxx"),
            (team(&format!(r#""name":"A","alias":"a","created_at":"{long}""#)), "created_at has another type"),
            (team(&format!(r#""name":"{longer}""#)), "the texts of a row must not be longer than 33554432 bytes"),
            (format!(r#"{{"team":{{"id":"{long}"}}}}"#), "the id of a row must be between 1"),
            (format!(r#"{{"team":"{long}"}}"#), "a row of team must be an object"),
            (format!(r#"{{"{long}":0}}"#), "there is no table \"xxx"),
            (format!(r#"{{"rows":"{long}"}}"#), "the number of rows must be a whole number"),
            (format!(r#"{{"rows":0{}}}"#, r#","rows":0"#.repeat(MANY)), "a line must be an object with one key"),
            (format!("\"{long}\""), "this is not a JSON object: it does not begin with {"),
            (nested, "this is not a JSON object: it does not begin with {"),
        ] {
            let fault = fault(&line).unwrap_or_default();
            assert!(fault.starts_with(expected) && fault.len() < 500, "{expected}: {} bytes", fault.len());
        }
    }

    #[test]
    fn no_more_entries_of_an_object_are_kept_than_asked_for() {
        let object: &RawValue = serde_json::from_str(r#"{"a":[1, 2],"a":{},"b":"x"}"#).expect("JSON");
        let kept = |most| {
            let entries = entries(object, most).expect("JSON").expect("an object");
            entries.into_iter().map(|(name, json)| format!("{name}={}", json.get())).collect::<Vec<_>>()
        };
        assert_eq!(kept(0), [""; 0]);
        assert_eq!(kept(2), ["a=[1, 2]", "a={}"]);
        assert_eq!(kept(9), ["a=[1, 2]", "a={}", "b=\"x\""]);
        let list: &RawValue = serde_json::from_str("[]").expect("JSON");
        assert!(entries(list, 1).expect("JSON").is_none());
    }
}
