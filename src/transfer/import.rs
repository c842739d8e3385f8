//! Imports an export into an empty catalogue: everything or nothing.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::BufRead;

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait, Query};
use serde_json::json;

use super::rows::{Batch, Export, Mistake, columns};
use super::{TABLES, exported};
use crate::db::{self, Bulk, Db, Incomplete, Load, Prepared, Read, Rows, Unstored, Write, WriteHandle};
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

impl From<db::Error> for Refused {
    fn from(error: db::Error) -> Self {
        Self::Whole(format!("the catalogue cannot be written: {}", error.reason()))
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
    mut progress: impl FnMut(u64),
) -> Result<u64, String> {
    let rows = |step| {
        if let Step::Rows(rows) = step {
            progress(rows)
        }
    };
    import_telling(db, name, input, rows).await
}

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// So many rows are stored.
    Rows(u64),
    /// All are. What follows from them is built: indexes, and derived tables.
    Completing,
}

/// Like [`import`], but calls `progress` with each step.
///
/// # Errors
/// As [`import`].
pub async fn import_telling(
    db: &Db,
    name: &str,
    input: impl BufRead + Send + 'static,
    progress: impl FnMut(Step),
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
    mut progress: impl FnMut(Step),
) -> Result<u64, Refused> {
    empty(db, &last_ids).await?;
    let (mut count, mut tables) = (0, BTreeMap::<_, Filling>::new());
    let mut batches = export.batches(db.form());
    let mut loading: Option<Loading<'_>> = None;
    let end = loop {
        let batch = match batches.recv().await {
            Some(Ok(Some(batch))) => batch,
            Some(Ok(None)) => break Ok(()),
            Some(Err(mistake)) => break Err(mistake.into()),
            None => break Err(Refused::Whole("the export cannot be read any further".to_owned())),
        };
        let mut current = match loading.take_if(|loading| loading.table == batch.table) {
            Some(current) => current,
            None => {
                end_load(loading.take()).await?;
                if let Entry::Vacant(table) = tables.entry(batch.table) {
                    table.insert(Filling::prepared(db, &batch).await?);
                }
                Loading::new(db, &batch)
            }
        };
        if let Some(table) = tables.get_mut(batch.table) {
            table.add(&batch);
        }
        count += batch.ids.len() as u64;
        current.add(batch.rows).await?;
        loading = Some(current);
        progress(Step::Rows(count));
    };
    // A bad row precedes what ended the loop.
    end_load(loading).await?;
    end?;
    progress(Step::Completing);
    for (name, Filling { prepared, line, is_in_order, greatest_id, .. }) in tables {
        match db.complete(prepared).await {
            Ok(()) => {}
            Err(Incomplete::Database(error)) => return Err(error.into()),
            Err(Incomplete::Row { id, why, .. }) => {
                return Err(match is_in_order {
                    true => Refused::Line(line + rows_before(db, name, id).await?, format!("{NOT_STORED}{why}")),
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

/// Lines of one table that follow each other and are being stored.
struct Loading<'b> {
    table: &'static str,
    /// The number of the first line.
    line: u64,
    load: Load<'b>,
}

impl<'b> Loading<'b> {
    fn new(db: &'b Bulk, Batch { table, line, .. }: &Batch) -> Self {
        Self { table, line: *line, load: db.load(table, columns(table)) }
    }

    async fn add(&mut self, rows: Rows) -> Result<(), Refused> {
        self.load.add(rows).await.map_err(|unstored| refused(unstored, self.line))
    }
}

/// Stores the last rows.
async fn end_load(loading: Option<Loading<'_>>) -> Result<(), Refused> {
    match loading {
        Some(Loading { line, load, .. }) => load.finish().await.map_err(|unstored| refused(unstored, line)),
        None => Ok(()),
    }
}

/// `line` is that of the first row.
fn refused(Unstored { row, error }: Unstored, line: u64) -> Refused {
    let Some(row) = row else { return error.into() };
    let why = match error.violation() {
        Some(db::Constraint::Unique(why)) => why.into(),
        _ => error.to_string(),
    };
    Refused::Line(line + row, format!("{NOT_STORED}{why}"))
}

impl Filling {
    async fn prepared(db: &Bulk, Batch { table, line, .. }: &Batch) -> Result<Self, db::Error> {
        let mut prepared = Prepared::default();
        db.prepare(table, &mut prepared).await?;
        Ok(Self { prepared, line: *line, rows: 0, greatest_id: 0, is_in_order: true })
    }

    fn add(&mut self, Batch { line, ids, .. }: &Batch) {
        self.is_in_order &= *line == self.line + self.rows
            && ids.is_sorted()
            && ids.first().is_some_and(|first| self.rows == 0 || *first > self.greatest_id);
        self.rows += ids.len() as u64;
        self.greatest_id = ids.iter().copied().fold(self.greatest_id, Ord::max);
    }
}

/// Returns how many rows of a table have smaller ids.
async fn rows_before(db: &Bulk, table: &'static str, id: i64) -> Result<u64, db::Error> {
    db.count_rows(Query::select().from(table).column("id").and_where(Expr::col("id").lt(id)).take()).await
}

/// Fills the derived tables, and raises the id sequences.
async fn complete(db: &Bulk, last_ids: &BTreeMap<String, i64>) -> Result<(), db::Error> {
    db::search::rebuild(db).await?;
    entity::user::refresh_email_keys(db).await?;
    deploy::derive_all(db).await?;
    entity::document_pull::begin_all(db).await?;
    for table in TABLES.iter() {
        if let Some(last) = last_ids.get(*table) {
            db::give_ids_after(db, table, *last).await?;
        }
    }
    Ok(())
}

/// Checks that the catalogue is empty, and removes the rows that every new catalogue has and the export replaces.
async fn empty(db: &dyn WriteHandle, last_ids: &BTreeMap<String, i64>) -> Result<(), Refused> {
    for table in TABLES.iter().copied() {
        if FILLED.contains(&table) {
            if !NEWER.contains(&table) || last_ids.contains_key(table) {
                let all = db.backend().build(&Query::delete().from_table(table).take());
                db.change_untyped(all).await?;
            }
        } else if !exported(table)?.page(db, 0, 1).await?.is_empty() {
            let what = "import needs an empty catalogue, and this one already has rows in";
            return Err(Refused::Whole(format!("{what} {table}; name another with --database-url")));
        }
    }
    Ok(())
}
