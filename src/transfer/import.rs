//! Imports an export into an empty catalogue: everything or nothing.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::BufRead;

use migration::BulkInsert;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait, Query};
use sea_orm::{QuerySelect, SqlErr};
use serde_json::json;

use super::rows::{Batch, Export, Mistake};
use super::{TABLES, tables};
use crate::db::{self, Bulk, Db, Incomplete, Prepared, Read, Write};
use crate::deploy;
use crate::entity;
use crate::entity::audit::{self, Actor, Subject};

/// The tables that have rows in an empty catalogue. They are replaced by those of the export.
const FILLED: [&str; 3] = ["tier", "lifecycle", "component_type"];

/// Those of [`FILLED`] that older programs did not have. If an export does not list such a table among its last ids,
/// the table's rows stay.
const NEWER: [&str; 1] = ["component_type"];

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

impl From<Mistake> for Refused {
    fn from(Mistake { line, what }: Mistake) -> Self {
        Self::Line(line, what)
    }
}

/// Imports an export into an empty catalogue and returns the number of rows. `name` is the file's name in messages.
/// `progress` is called with the number of rows done.
///
/// # Errors
/// Why nothing is imported: `file:line: sentence`, or just a sentence if it is not about a line.
pub async fn import(
    db: &Db,
    name: &str,
    input: impl BufRead + Send + 'static,
    progress: impl FnMut(u64),
) -> Result<u64, String> {
    let mut export = Export::new(input);
    // Check the first line before locking anything.
    let done = match export.head() {
        Ok(last_ids) => {
            let work = db.write_bulk(async |tx| {
                let count = rows(tx, export, last_ids, progress).await?;
                let (actor, detail) = (Actor::command_line(), json!({ "file": name, "rows": count }));
                audit::record(tx, &actor, "import", Subject::default(), &detail).await?;
                Ok(count)
            });
            work.await
        }
        Err(mistake) => Err(mistake.into()),
    };
    done.map_err(|refused| match refused {
        Refused::Line(line, what) => format!("{name}:{line}: {what}"),
        Refused::Whole(what) => what,
    })
}

/// A table that is filled.
struct Filling {
    prepared: Prepared,
    /// The number of its first line.
    line: u64,
    rows: u64,
    greatest_id: i64,
    /// Whether its lines follow each other in the order of their ids, as `rollcall export` writes them.
    is_in_order: bool,
}

/// Imports all lines after the first.
async fn rows(
    db: &Bulk,
    export: Export,
    mut last_ids: BTreeMap<String, i64>,
    mut progress: impl FnMut(u64),
) -> Result<u64, Refused> {
    empty(db, &last_ids).await?;
    let (mut count, mut tables) = (0, BTreeMap::<_, Filling>::new());
    let mut batches = export.batches();
    loop {
        let batch = match batches.recv().await {
            Some(batch) => batch?,
            None => return Err(Refused::Whole("the export cannot be read any further".to_owned())),
        };
        let Some(batch) = batch else { break };
        let table = match tables.entry(batch.table) {
            Entry::Occupied(table) => table.into_mut(),
            Entry::Vacant(table) => {
                let mut prepared = Prepared::default();
                db.prepare(batch.table, &mut prepared).await?;
                table.insert(Filling { prepared, line: batch.line, rows: 0, greatest_id: 0, is_in_order: true })
            }
        };
        table.add(&batch);
        count += batch.ids.len() as u64;
        insert(db, batch).await?;
        progress(count);
    }
    for (name, Filling { prepared, line, is_in_order, greatest_id, .. }) in tables {
        match db.complete(prepared).await {
            Ok(()) => {}
            Err(Incomplete::Database(error)) => return Err(error.into()),
            Err(Incomplete::Dangling { column, value, parent }) => {
                let (id, before) = first_with(db, name, &column, value).await?;
                let why = format!("its {column} is {value}, and there is no {parent} with this id");
                return Err(match is_in_order {
                    true => Refused::Line(line + before, format!("{NOT_STORED}{why}")),
                    false => Refused::Whole(format!("the row of {name} with id {id} cannot be stored: {why}")),
                });
            }
        }
        let last_id = last_ids.entry(name.to_owned()).or_default();
        *last_id = Ord::max(greatest_id, *last_id);
    }
    complete(db, &last_ids).await?;
    Ok(count)
}

const NOT_STORED: &str = "the row cannot be stored: ";

impl Filling {
    fn add(&mut self, Batch { line, ids, .. }: &Batch) {
        self.is_in_order &= *line == self.line + self.rows
            && ids.is_sorted()
            && ids.first().is_some_and(|first| self.rows == 0 || *first > self.greatest_id);
        self.rows += ids.len() as u64;
        self.greatest_id = ids.iter().copied().fold(self.greatest_id, Ord::max);
    }
}

/// Returns the first id among the rows of a table with a value in a column, and how many rows have smaller ids.
async fn first_with(db: &Bulk, table: &'static str, column: &str, value: i64) -> Result<(i64, u64), DbErr> {
    let ids = || Query::select().from(table).take();
    let id = ids().expr(Expr::col("id").min()).and_where(Expr::col(column.to_owned()).eq(value)).take();
    let id = db.rows(&id, |row| row.get::<Option<i64>>(0)).await?.into_iter().flatten().next().unwrap_or_default();
    Ok((id, db.count_rows(ids().column("id").and_where(Expr::col("id").lt(id)).take()).await?))
}

/// Fills the derived tables, and raises the id sequences.
async fn complete(db: &Bulk, last_ids: &BTreeMap<String, i64>) -> Result<(), DbErr> {
    db::search::rebuild(db).await?;
    entity::user::refresh_email_keys(db).await?;
    deploy::derive_all(db).await?;
    entity::document_pull::begin_all(db).await?;
    for table in TABLES {
        if let Some(last) = last_ids.get(*table) {
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
async fn insert(db: &Bulk, Batch { table, line, columns, values, .. }: Batch) -> Result<(), Refused> {
    if db::attempt(db, async || db.insert_rows(table, &columns, values.clone()).await).await.is_ok() {
        return Ok(());
    }
    // Insert them again one by one, to find the bad one.
    for (row, line) in values.chunks(columns.len()).zip(line..) {
        if let Err(error) = db.insert_rows(table, &columns, row.to_vec()).await {
            let why = match db::violation(&error) {
                Some(SqlErr::UniqueConstraintViolation(why)) => why,
                _ => error.to_string(),
            };
            return Err(Refused::Line(line, format!("{NOT_STORED}{why}")));
        }
    }
    Ok(())
}
