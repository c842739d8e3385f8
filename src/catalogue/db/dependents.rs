//! The rows that refer to a row by foreign keys, directly or by others, and are deleted or left without it when the row
//! is deleted. Where there are very many, they are shed first, in portions: others write between two.

use std::collections::HashMap;
use std::slice;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use sea_orm::{DbBackend, Statement};
use tokio::sync::OnceCell;

use super::table::{AnyTable, RowOf};
use super::write::Write;
use super::{Backend, Db, Error, Read, ReadHandle, find};

/// The most rows of a table that are deleted or changed along with a row, in its transaction.
pub const MOST_AT_ONCE: u64 = 1_000;

/// The number of rows in a portion.
const PORTION: u64 = 200;

/// How many tables a path of references leads through.
const LENGTH: usize = 4;

/// A column that refers to a table.
#[derive(Debug, Clone)]
struct Reference {
    table: String,
    column: String,
    /// The table that it refers to.
    target: String,
    /// Whether its row is deleted with the row that it refers to. If not, the column becomes null.
    is_deleted: bool,
}

/// All foreign keys of the database, whose tables are the same on either backend.
static REFERENCES: OnceCell<Vec<Reference>> = OnceCell::const_new();

const OF_SQLITE: &str = "SELECT m.name, f.\"from\", f.\"table\", f.on_delete FROM sqlite_schema AS m \
     JOIN pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table'";

const OF_POSTGRES: &str = "SELECT c.conrelid::regclass::text, a.attname::text, c.confrelid::regclass::text, \
     CASE c.confdeltype WHEN 'c' THEN 'CASCADE' ELSE 'SET NULL' END FROM pg_constraint AS c \
     JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] \
     WHERE c.contype = 'f' AND c.connamespace = current_schema()::regnamespace";

async fn references(db: &dyn ReadHandle) -> Result<&'static [Reference], Error> {
    let read = async || {
        let sql = if db.backend() == DbBackend::Postgres { OF_POSTGRES } else { OF_SQLITE };
        let statement = Statement::from_string(db.backend(), sql);
        let reference = |row: &super::Row<'_>| {
            let name = |place| Ok::<_, Error>(row.get::<String>(place)?.trim_matches('"').to_owned());
            let is_deleted = row.get::<String>(3)? == "CASCADE";
            Ok(Reference { table: name(0)?, column: name(1)?, target: name(2)?, is_deleted })
        };
        db.rows_by(statement, reference).await
    };
    Ok(REFERENCES.get_or_try_init(read).await?)
}

/// The columns that hold the id of a row in some row of another table: that table, the column, and whether its row is
/// deleted along with the row that it refers to. If not, the column becomes null. Only of tables that `known` returns by
/// their names. Takes one statement.
pub async fn referring(
    db: &dyn ReadHandle,
    row: RowOf,
    known: impl Fn(&str) -> Option<&'static dyn AnyTable>,
) -> Result<Vec<(&'static dyn AnyTable, &'static str, bool)>, Error> {
    let to_it = references(db).await?.iter().filter(|reference| reference.target == row.table.name());
    let to_it: Vec<_> =
        to_it.filter_map(|one| Some((known(&one.table)?, one.column.as_str(), one.is_deleted))).collect();
    if to_it.is_empty() {
        return Ok(to_it);
    }
    let exists = to_it.iter().map(|(table, column, _)| {
        let exists = format!("EXISTS (SELECT 1 FROM \"{}\" WHERE \"{column}\" = $1)", table.name());
        format!("CAST(CASE WHEN {exists} THEN 1 ELSE 0 END AS BIGINT)")
    });
    let sql = format!("SELECT {}", exists.collect::<Vec<_>>().join(", "));
    let (statement, count) = (Statement::from_sql_and_values(db.backend(), sql, [row.id.into()]), to_it.len());
    let read = move |row: &super::Row<'_>| (0..count).map(|place| row.get::<i64>(place)).collect::<Result<Vec<_>, _>>();
    let held = db.rows_by(statement, read).await?.pop().unwrap_or_default();
    Ok(to_it.into_iter().zip(held).filter(|(_, holds)| *holds == 1).map(|(one, _)| one).collect())
}

/// These tables in the same order, but each after those of them that it refers to.
pub async fn in_order(db: &dyn ReadHandle, tables: &[&'static str]) -> Result<Vec<&'static str>, Error> {
    Ok(ordered(tables, references(db).await?))
}

fn ordered(tables: &[&'static str], references: &[Reference]) -> Vec<&'static str> {
    /// Places a table. `above` are those for which it is placed.
    fn place<'t>(
        table: &'t str,
        above: &[&'t str],
        tables: &[&'t str],
        references: &[Reference],
        ordered: &mut Vec<&'t str>,
    ) {
        if above.contains(&table) || ordered.contains(&table) {
            return;
        }
        let above = [above, &[table]].concat();
        let refers = |target: &str| references.iter().any(|one| one.table == table && one.target == target);
        for &target in tables.iter().filter(|target| refers(target)) {
            place(target, &above, tables, references, ordered);
        }
        ordered.push(table);
    }
    let mut all = Vec::new();
    for &table in tables {
        place(table, &[], tables, references, &mut all);
    }
    all
}

/// The references to a table.
fn to<'r>(references: &'r [Reference], table: &'r str) -> impl Iterator<Item = Reference> + 'r {
    references.iter().filter(move |reference| reference.target == table).cloned()
}

/// A path of references that leads to the rows that refer to a row.
#[derive(Debug, Clone)]
struct Path {
    last: Reference,
    /// The condition that a row is one of them. Its parameter is the id of the row that they refer to.
    condition: String,
}

/// The paths to what refers to a row, the longest last.
async fn paths(db: &dyn ReadHandle, table: &str) -> Result<Vec<Path>, Error> {
    let references = references(db).await?;
    let first = to(references, table).map(|last| {
        let condition = format!("\"{}\" = $1", last.column);
        Path { last, condition }
    });
    let mut paths: Vec<Path> = first.collect();
    let mut ends = 0..paths.len();
    for _ in 1..LENGTH {
        let next: Vec<Path> = paths[ends.clone()]
            .iter()
            .filter(|path| path.last.is_deleted)
            .flat_map(|path| {
                to(references, &path.last.table).map(move |last| {
                    let Path { last: Reference { table, .. }, condition } = path;
                    let condition = format!("\"{}\" IN (SELECT id FROM \"{table}\" WHERE {condition})", last.column);
                    Path { last, condition }
                })
            })
            .collect();
        ends = paths.len()..paths.len() + next.len();
        paths.extend(next);
    }
    Ok(paths)
}

/// Whether any of these paths leads to more rows than [`MOST_AT_ONCE`].
async fn are_many(db: &dyn ReadHandle, paths: &[Path], id: i64) -> Result<bool, Error> {
    let exists = |Path { last, condition }: &Path| {
        format!("EXISTS (SELECT 1 FROM \"{}\" WHERE {condition} LIMIT 1 OFFSET {MOST_AT_ONCE})", last.table)
    };
    let any = paths.iter().map(exists).collect::<Vec<_>>().join(" OR ");
    if any.is_empty() {
        return Ok(false);
    }
    let many = format!("SELECT CAST(CASE WHEN {any} THEN 1 ELSE 0 END AS BIGINT)");
    let many =
        db.rows_by(Statement::from_sql_and_values(db.backend(), many, [id.into()]), |row| row.get::<i64>(0)).await?;
    Ok(many == [1])
}

/// Whether deleting the row would delete or change more than [`MOST_AT_ONCE`] rows of another table.
pub async fn has_many_dependents(db: &dyn ReadHandle, table: &str, id: i64) -> Result<bool, Error> {
    let paths = paths(db, table).await?;
    are_many(db, &paths, id).await
}

impl Db {
    /// Deletes or changes in portions what deleting the row would delete or change, where that is very many rows. Each
    /// portion is a transaction, and a pause as long as it took follows, so that this takes half of the writer's time.
    /// Returns the number of rows of each table.
    pub fn shed<'f>(&'f self, table: &'f str, id: i64) -> BoxFuture<'f, Result<HashMap<String, u64>, Error>> {
        Box::pin(async move {
            let mut shed = HashMap::new();
            let paths = paths(&self.committed, table).await?;
            for path in paths.iter().rev() {
                while are_many(&self.committed, slice::from_ref(path), id).await? {
                    let began = Instant::now();
                    let rows = self.write(async |tx| {
                        let portion = path.portion(tx.backend());
                        let portion = Statement::from_sql_and_values(tx.backend(), portion, [id.into()]);
                        let rows = tx.change_untyped(portion).await?;
                        find::refresh(tx).await?;
                        Ok::<_, Error>(rows)
                    });
                    *shed.entry(path.last.table.clone()).or_default() += rows.await?;
                    tokio::time::sleep(began.elapsed().min(Duration::from_secs(1))).await;
                }
            }
            Ok(shed)
        })
    }
}

impl Path {
    /// The statement that deletes or changes a portion.
    fn portion(&self, backend: DbBackend) -> String {
        let Self { last: Reference { table, column, is_deleted, .. }, condition } = self;
        let some = match backend {
            DbBackend::Postgres => {
                format!("ctid = ANY (ARRAY (SELECT ctid FROM \"{table}\" WHERE {condition} LIMIT {PORTION}))")
            }
            _ => format!("rowid IN (SELECT rowid FROM \"{table}\" WHERE {condition} LIMIT {PORTION})"),
        };
        match is_deleted {
            true => format!("DELETE FROM \"{table}\" WHERE {some}"),
            false => format!("UPDATE \"{table}\" SET \"{column}\" = NULL WHERE {some}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_comes_after_those_that_it_refers_to_and_else_stays_in_its_place() {
        let refers = |table: &str, target: &str| Reference {
            table: table.to_owned(),
            column: format!("{target}_id"),
            target: target.to_owned(),
            is_deleted: true,
        };
        let references = [
            refers("team", "team"),
            refers("service", "team"),
            refers("service", "vendor"),
            refers("vendor", "contract"),
            refers("audit", "vendor"),
        ];
        assert_eq!(ordered(&["user", "team", "tag"], &references), ["user", "team", "tag"]);
        let newer = ["user", "service", "team", "contract", "vendor"];
        assert_eq!(ordered(&newer, &references), ["user", "team", "contract", "vendor", "service"]);
        let circle = [refers("a", "b"), refers("b", "a")];
        assert_eq!(ordered(&["a", "b"], &circle), ["b", "a"], "it ends");
    }
}
