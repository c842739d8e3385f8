//! Exports the whole catalogue as text and imports it into another database, on any backend.
//!
//! An export is lines of JSON. The first line states the format and, for each table, the last id assigned. Then comes
//! one line per row: an object under its table's name, in an order in which nothing refers to a later line. The last
//! line has the number of rows, so that a truncated export is detected. Ids are kept, because clients store them.
//! Tables and columns follow from the entities: a new one needs no change here.
//!
//! Invariants: an export is one snapshot. An import is everything or nothing, and only into an empty catalogue.

use std::io::{self, Write};
use std::sync::LazyLock;

use sea_orm::Value;
use sea_orm::sea_query::{Expr, Query};

use crate::db::{self, AnyRow, AnyTable, Db, Read};
use crate::entity;

mod import;
mod rows;

pub use import::{Step, import, import_telling};
pub use rows::{FIRST_LINE, LINE, TEXTS};

/// The format's version, as stated in the first line. A program reads this version and older ones.
const VERSION: u32 = 1;

/// The number of rows read at once. The longest have two texts of 50,000 characters: about 80 MB in all.
const BATCH: u64 = 200;

/// The number of API documents read at once. One can have 16 MiB.
const DOCUMENTS: u64 = 2;

/// The tables in which exports begin, in this order. Newer ones follow in the order of their names. A table that another one
/// refers to precedes that in any case.
const FIRST: &[&str] = &[
    "user",
    "identity",
    "scim_group",
    "scim_group_member",
    "team",
    "team_alias",
    "team_membership",
    "tier",
    "lifecycle",
    "level",
    "component_type",
    "property_definition",
    "relationship_definition",
    "domain",
    "domain_alias",
    "system",
    "system_alias",
    "infrastructure_resource",
    "infrastructure_resource_alias",
    "service",
    "service_alias",
    "saved_view",
    "favourite",
    "property",
    "relationship",
    "tool",
    "contact",
    "service_dependency",
    "repository",
    "service_repository",
    "tag",
    "integration",
    "service_document",
    "service_document_content",
    "filter",
    "filter_predicate",
    "scorecard",
    "scorecard_alias",
    "campaign",
    "category",
    "on_call",
    "alert_source",
    "alert_source_service",
    "code_issue_project",
    "code_issue_project_resource",
    "code_issue",
    "code_issue_cve",
    "code_issue_cwe",
    "check",
    "check_answer",
    "check_reported",
    "deploy_number",
    "deploy",
    "suggestion",
    "suggestion_integration",
];

/// The tables without an entity, and why they are not exported.
const OTHERS: [(&str, &str); 14] = [
    ("rate_limit_window", "lasts minutes"),
    ("service_search", "derived from the names and aliases of services"),
    ("find_text", "derived from the names and aliases of all nouns"),
    ("find_posting", "derived from them too"),
    ("find_word", "derived from them too"),
    ("find_gram", "derived from them too"),
    ("find_stale", "what of these is to be derived again, until the end of a write"),
    ("deploy_period_figures", "derived from the deploys"),
    ("deploy_period_figures_version", "belongs to them"),
    ("deploy_figures", "of earlier releases, and empty"),
    ("deploy_figures_version", "belongs to them"),
    ("deploy_change", "which of them are to be derived again"),
    ("seaql_migrations", "each database has its own migrations"),
    ("compatibility", "says which programs can use the database after them"),
];

/// The exported tables: all whose entities do not say `left_out`.
pub static TABLES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let exported = entity::TABLES.iter().filter(|table| table.left_out().is_none());
    let mut tables: Vec<_> = exported.map(|table| table.name()).collect();
    tables.sort_by_key(|name| FIRST.iter().position(|first| first == name).unwrap_or(FIRST.len()));
    tables
});

/// The tables that are not exported, and why.
pub static LEFT_OUT: LazyLock<Vec<(&'static str, &'static str)>> = LazyLock::new(|| {
    let said = entity::TABLES.iter().filter_map(|table| Some((table.name(), table.left_out()?)));
    said.chain(OTHERS).collect()
});

/// The exported table of this name.
fn exported(name: &str) -> Result<&'static dyn AnyTable, db::Error> {
    let known = entity::TABLES.iter().copied().find(|table| table.name() == name && table.left_out().is_none());
    known.ok_or_else(|| db::Error::fault("a table that is not exported"))
}

/// Writes a consistent snapshot of the catalogue, and returns the number of rows.
///
/// # Errors
/// Why the export is incomplete, in one sentence.
pub async fn export(db: &Db, out: &mut impl Write) -> Result<u64, String> {
    write(db, out, None).await
}

/// Like [`export`]. Calls `progress` with the number of rows done, and of all, which it counts first.
///
/// # Errors
/// As [`export`].
pub async fn export_telling(
    db: &Db,
    out: &mut impl Write,
    mut progress: impl FnMut(u64, u64) + Send,
) -> Result<u64, String> {
    write(db, out, Some(&mut progress)).await
}

/// What is told of an export: the number of rows done, and of all.
type Told<'t> = Option<&'t mut (dyn FnMut(u64, u64) + Send)>;

async fn write(db: &Db, out: &mut impl Write, mut told: Told<'_>) -> Result<u64, String> {
    let unread = |error: db::Error| format!("the catalogue cannot be read: {}", error.reason());
    let unwritten = |error: io::Error| format!("the export cannot be written: {error}");
    let snapshot = db.begin_read(None).await.map_err(unread)?;
    write!(out, "{{\"rollcall\":\"catalogue\",\"version\":{VERSION},\"last_ids\":{{").map_err(unwritten)?;
    let tables = db::in_order(&snapshot, &TABLES).await.map_err(unread)?;
    for (place, table) in tables.iter().enumerate() {
        let last = db::last_id(&snapshot, table).await.map_err(unread)?;
        let comma = if place == 0 { "" } else { "," };
        write!(out, "{comma}\"{table}\":{last}").map_err(unwritten)?;
    }
    writeln!(out, "}}}}").map_err(unwritten)?;
    let mut all = 0;
    if told.is_some() {
        for table in &tables {
            let rows = Query::select().expr(Expr::cust("1")).from(*table).take();
            all += snapshot.count_rows(rows).await.map_err(unread)?;
        }
    }
    let mut count = 0;
    for name in tables {
        let table = exported(name).map_err(unread)?;
        let mut after = 0;
        loop {
            let rows = table.page(&snapshot, after, rows_at_once(name)).await.map_err(unread)?;
            let Some(last) = rows.last() else { break };
            let last = last.place().ok_or_else(|| unread(db::Error::fault("an exported table without ids")))?;
            after = last.id;
            for row in &rows {
                write_row(out, name, row).map_err(unwritten)?;
            }
            count += rows.len() as u64;
            if let Some(told) = &mut told {
                told(count, all);
            }
        }
    }
    writeln!(out, "{{\"rows\":{count}}}").and_then(|()| out.flush()).map_err(unwritten)?;
    Ok(count)
}

fn rows_at_once(table: &str) -> u64 {
    if table == "service_document_content" { DOCUMENTS } else { BATCH }
}

fn write_row(out: &mut impl Write, table: &str, row: &AnyRow) -> io::Result<()> {
    write!(out, "{{\"{table}\":{{")?;
    for (place, (column, value)) in row.columns().into_iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        write!(out, "{comma}\"{column}\":")?;
        match value {
            Value::BigInt(Some(number)) => write!(out, "{number}")?,
            Value::Int(Some(number)) => write!(out, "{number}")?,
            Value::Bool(Some(value)) => write!(out, "{value}")?,
            Value::String(Some(text)) => serde_json::to_writer(&mut *out, &text)?,
            Value::BigInt(None) | Value::Int(None) | Value::Bool(None) | Value::String(None) => write!(out, "null")?,
            other => return Err(io::Error::other(format!("{table}.{column} is {other:?}"))),
        }
    }
    writeln!(out, "}}}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_begin_with_the_first_tables_in_their_order() {
        assert_eq!(&TABLES[..FIRST.len()], FIRST);
    }
}
