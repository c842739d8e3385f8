//! Imports an export into an empty catalogue: everything or nothing.

use std::collections::BTreeMap;
use std::io::BufRead;

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::ArrayType;
use sea_orm::{ActiveModelTrait, Iterable, ModelTrait, QuerySelect, SqlErr};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::{ExportLines, LEFT_OUT, TABLES, VERSION, tables};
use crate::db::{self, Bulk, Db, Dropped, Write};
use crate::deploy;
use crate::entity;
use crate::entity::audit::{self, Actor, Subject};

/// The maximum number of rows stored at once.
const BATCH: usize = 1_000;

/// The maximum length of the lines stored at once. One line may be longer.
const BATCH_BYTES: usize = 1 << 20;

/// The greatest id: the largest integer that every JSON parser reads exactly.
const GREATEST_ID: i64 = (1 << 53) - 1;

/// The tables that have rows in an empty catalogue. They are replaced by those of the export.
const FILLED: [&str; 3] = ["tier", "lifecycle", "component_type"];

/// Those of [`FILLED`] that older programs did not have. If an export does not list such a table among its last ids,
/// the table's rows stay.
const NEWER: [&str; 1] = ["component_type"];

/// The table whose triggers are stopped: [`complete`] derives what they keep.
const DEPLOY: &str = "deploy";

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

/// A line to be stored.
struct Row {
    line: u64,
    columns: Map<String, Json>,
}

/// Why nothing was imported.
enum Refused {
    /// A mistake in a line.
    Line(u64, String),
    /// A problem of the database, or of the whole export.
    Whole(String),
}

impl From<DbErr> for Refused {
    fn from(error: DbErr) -> Self {
        Self::Whole(format!("the catalogue cannot be written: {}", db::reason(&error)))
    }
}

/// Imports an export into an empty catalogue and returns the number of rows. `name` is the file's name in messages.
/// `progress` is called with the number of rows done.
///
/// # Errors
/// Why nothing is imported: `file:line: sentence`, or just a sentence if it is not about a line.
pub async fn import(db: &Db, name: &str, input: &mut dyn BufRead, progress: impl FnMut(u64)) -> Result<u64, String> {
    let mut lines = ExportLines { input, number: 0 };
    // Check the first line before locking anything.
    let done = match head(&mut lines) {
        Ok(last_ids) => {
            let work = db.write_bulk(async |tx| {
                let count = rows(tx, &mut lines, last_ids, progress).await?;
                let (actor, detail) = (Actor::command_line(), json!({ "file": name, "rows": count }));
                audit::record(tx, &actor, "import", Subject::default(), &detail).await?;
                Ok(count)
            });
            work.await
        }
        Err(refused) => Err(refused),
    };
    done.map_err(|refused| match refused {
        Refused::Line(line, what) => format!("{name}:{line}: {what}"),
        Refused::Whole(what) => what,
    })
}

fn head(lines: &mut ExportLines<'_>) -> Result<BTreeMap<String, i64>, Refused> {
    let refused = |what: &str| Refused::Line(1, what.to_owned());
    let line = lines.next().map_err(|what| Refused::Line(1, what))?;
    let head = line.and_then(|line| serde_json::from_slice::<Head>(&line).ok());
    match head.filter(|head| head.rollcall == "catalogue") {
        None => Err(refused("this is not the first line of an export by rollcall")),
        Some(head) if head.version > VERSION => {
            let version = head.version;
            Err(refused(&format!(
                "this was written by a newer rollcall (format {version}; this one reads up to {VERSION}); use that \
                 version"
            )))
        }
        Some(head) if head.last_ids.values().all(|id| (0..=GREATEST_ID).contains(id)) => Ok(head.last_ids),
        Some(_) => Err(refused(&format!("an id must be between 0 and {GREATEST_ID}"))),
    }
}

/// Imports all lines after the first.
async fn rows(
    db: &Bulk,
    lines: &mut ExportLines<'_>,
    last_ids: BTreeMap<String, i64>,
    mut progress: impl FnMut(u64),
) -> Result<u64, Refused> {
    empty(db, &last_ids).await?;
    let mut greatest = last_ids;
    let (mut count, mut bytes, mut table, mut batch) = (0, 0, TABLES[0], Vec::with_capacity(BATCH));
    let mut dropped = BTreeMap::new();
    let stated = loop {
        let line = lines.next().map_err(|what| Refused::Line(lines.number, what))?;
        let number = lines.number;
        let refused = |what: String| Refused::Line(number, what);
        let Some(line) = line else {
            return Err(refused("the end is missing: this export is incomplete".to_owned()));
        };
        let (own, id, columns) = match parse(&line).map_err(refused)? {
            Line::End(End { rows }) => break rows,
            Line::Row { table, id, columns } => (table, id, columns),
        };
        match greatest.get_mut(own) {
            Some(greatest) => *greatest = id.max(*greatest),
            None => drop(greatest.insert(own.to_owned(), id)),
        }
        if own != table || batch.len() == BATCH || bytes >= BATCH_BYTES {
            store(db, table, std::mem::take(&mut batch)).await?;
            progress(count);
            (table, bytes) = (own, 0);
        }
        if !dropped.contains_key(own) {
            let mut of_table = Dropped::default();
            db.drop_indexes(own, &mut of_table).await?;
            if own == DEPLOY {
                db.stop_triggers(own, &mut of_table).await?;
            }
            dropped.insert(own, of_table);
        }
        bytes += line.len();
        batch.push(Row { line: number, columns });
        count += 1;
    };
    store(db, table, batch).await?;
    if stated != count {
        let what = format!("{stated} rows were exported, but this file has {count}");
        return Err(Refused::Line(lines.number, what));
    }
    if lines.next().map_err(|what| Refused::Line(lines.number, what))?.is_some() {
        return Err(Refused::Line(lines.number, "there is more after the end".to_owned()));
    }
    for (_, of_table) in dropped {
        db.build(of_table).await?;
    }
    complete(db, &greatest).await?;
    progress(count);
    Ok(count)
}

/// A line after the first.
enum Line {
    Row { table: &'static str, id: i64, columns: Map<String, Json> },
    End(End),
}

/// Reads a line. The columns are checked when the row is stored.
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
        Some(id) if (1..=GREATEST_ID).contains(&id) => Ok(Line::Row { table, id, columns }),
        _ => Err(format!("the id of a row must be between 1 and {GREATEST_ID}")),
    }
}

/// Fills the derived tables, and raises the id sequences. `greatest` has the last id of each table.
async fn complete(db: &Bulk, greatest: &BTreeMap<String, i64>) -> Result<(), DbErr> {
    db::search::rebuild(db).await?;
    entity::user::refresh_email_keys(db).await?;
    deploy::derive_all(db).await?;
    entity::document_pull::begin_all(db).await?;
    for table in TABLES {
        if let Some(last) = greatest.get(*table) {
            db::give_ids_after(db, table, *last).await?;
        }
    }
    Ok(())
}

/// Checks that the catalogue is empty, and removes the rows that every new catalogue has and the export replaces.
async fn empty<C: Write>(db: &C, last_ids: &BTreeMap<String, i64>) -> Result<(), Refused> {
    macro_rules! each {
        ($($table:ident)*) => {$({
            use entity::$table::Entity;
            let table = stringify!($table);
            if FILLED.contains(&table) {
                if !NEWER.contains(&table) || last_ids.contains_key(table) {
                    db.exec(Entity::delete_many()).await?;
                }
            } else if db.one(Entity::find().limit(1)).await?.is_some() {
                let what = "import needs an empty catalogue, and this one already has rows in";
                return Err(Refused::Whole(format!("{what} {table}; name another with --database-url")));
            }
        })*};
    }
    tables!(each);
    Ok(())
}

/// Stores rows of one table.
async fn store(db: &Bulk, table: &str, batch: Vec<Row>) -> Result<(), Refused> {
    macro_rules! each {
        ($($table:ident)*) => {
            match table {
                $(stringify!($table) => insert::<entity::$table::Entity>(db, batch).await,)*
                _ => Ok(()),
            }
        };
    }
    tables!(each)
}

async fn insert<E>(db: &Bulk, batch: Vec<Row>) -> Result<(), Refused>
where
    E: EntityTrait,
    E::ActiveModel: ActiveModelTrait<Entity = E> + Send,
{
    let mut rows = Vec::with_capacity(batch.len());
    for Row { line, columns } in batch {
        rows.push((line, model::<E>(columns).map_err(|what| Refused::Line(line, what))?));
    }
    if rows.is_empty() {
        return Ok(());
    }
    let models = rows.iter().map(|(_, model)| model);
    if db::attempt(db, async || db.insert_models::<E>(models).await).await.is_ok() {
        return Ok(());
    }
    // Insert them again one by one, to find the bad one.
    for (line, model) in rows {
        if let Err(error) = db.exec(E::insert(model)).await {
            let why = match crate::db::violation(&error) {
                Some(SqlErr::UniqueConstraintViolation(why) | SqlErr::ForeignKeyConstraintViolation(why)) => why,
                _ => error.to_string(),
            };
            return Err(Refused::Line(line, format!("the row cannot be stored: {why}")));
        }
    }
    Ok(())
}

/// Converts a row for its table. Missing columns are null.
fn model<E: EntityTrait>(mut columns: Map<String, Json>) -> Result<E::ActiveModel, String>
where
    E::ActiveModel: ActiveModelTrait<Entity = E>,
{
    let mut model = <E::ActiveModel as ActiveModelTrait>::default();
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
    }
    match columns.keys().next() {
        Some(name) => Err(format!("there is no column \"{name}\"")),
        None => Ok(model),
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
