//! Exports the whole catalogue as text and imports it into another database, on any backend.
//!
//! An export is lines of JSON. The first line states the format and, for each table, the last id assigned. Then comes
//! one line per row: an object under its table's name, in an order in which nothing refers to a later line. The last
//! line has the number of rows, so that a truncated export is detected. Ids are kept, because clients store them.
//! Columns follow from the entities: a new column needs no change here.

use std::io::{self, Write};

use sea_orm::entity::prelude::*;
use sea_orm::{Iterable, ModelTrait, PrimaryKeyToColumn, QueryOrder, QuerySelect};

use crate::db::{self, Db, Read, ReadHandle, Table};
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

/// Calls a macro with the exported tables. A table comes after those it refers to.
macro_rules! tables {
    ($each:ident) => {
        $each! {
            user identity scim_group scim_group_member team team_alias team_membership tier lifecycle level component_type property_definition relationship_definition domain domain_alias
            system system_alias infrastructure_resource infrastructure_resource_alias service service_alias saved_view favourite property relationship tool contact
            service_dependency repository service_repository tag integration service_document service_document_content filter
            filter_predicate scorecard scorecard_alias campaign category on_call alert_source alert_source_service code_issue_project code_issue_project_resource code_issue code_issue_cve
            code_issue_cwe check check_answer check_reported deploy_number deploy suggestion suggestion_integration
        }
    };
}
use tables;

macro_rules! names {
    ($($table:ident)*) => { &[$(stringify!($table)),*] };
}

/// The exported tables, in order.
pub const TABLES: &[&str] = tables!(names);

/// The tables that are not exported, and why.
pub const LEFT_OUT: [(&str, &str); 37] = [
    ("token", "a secret, valid for the installation that issued it"),
    ("idempotency_key", "lasts a day"),
    ("rate_limit_window", "lasts minutes"),
    ("session", "a secret that lasts hours"),
    ("sign_in_link", "a secret that lasts minutes"),
    ("feed", "a secret, in the addresses of the installation that issued it"),
    ("audit", "a record of the other installation, which stays there"),
    ("event", "what happened in the other installation"),
    ("event_subscription", "whoever is told of the other installation is not told of this one"),
    ("event_receiver", "the URLs and secrets of these"),
    ("event_delivery", "what is sent to these"),
    ("delivery", "short-lived help in setting up a pipeline"),
    ("custom_event", "what tools sent to the other installation"),
    ("custom_event_outcome", "what became of it there"),
    ("check_due", "what the other installation evaluates next"),
    ("check_result", "derived from all that checks ask about"),
    ("service_level", "derived from it"),
    ("standing_change", "how services stood in the other installation"),
    ("standing_day", "how services stood there on each day"),
    ("service_file_note", "each run of a service file writes them again"),
    ("service_file_refusal", "who was told of the other installation is not told of this one"),
    ("document_pull", "when this installation pulls documents; the other one begins anew"),
    ("service_search", "derived from the names and aliases of services"),
    ("service_last_deploy", "derived from deploys"),
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
    ("remembered", "where the other installation is reached, and what its server is told"),
    ("compatibility", "says which programs can use the database after them"),
];

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
    for (place, table) in TABLES.iter().enumerate() {
        let last = db::last_id(&snapshot, table).await.map_err(unread)?;
        let comma = if place == 0 { "" } else { "," };
        write!(out, "{comma}\"{table}\":{last}").map_err(unwritten)?;
    }
    writeln!(out, "}}}}").map_err(unwritten)?;
    let mut all = 0;
    macro_rules! counted {
        ($($table:ident)*) => {$(
            all += snapshot.count(entity::$table::Entity::find()).await.map_err(unread)?;
        )*};
    }
    if told.is_some() {
        tables!(counted);
    }
    let mut count = 0;
    macro_rules! each {
        ($($table:ident)*) => {$({
            let (mut after, most) = (0, rows_at_once(stringify!($table)));
            loop {
                let rows = page::<entity::$table::Entity>(&snapshot, after, most).await.map_err(unread)?;
                let Some(last) = rows.last() else { break };
                after = last.id;
                for row in &rows {
                    write_row::<entity::$table::Entity>(out, stringify!($table), row).map_err(unwritten)?;
                }
                count += rows.len() as u64;
                if let Some(told) = &mut told {
                    told(count, all);
                }
            }
        })*};
    }
    tables!(each);
    writeln!(out, "{{\"rows\":{count}}}").and_then(|()| out.flush()).map_err(unwritten)?;
    Ok(count)
}

fn rows_at_once(table: &str) -> u64 {
    if table == "service_document_content" { DOCUMENTS } else { BATCH }
}

/// The next rows by id, at most so many.
async fn page<E: Table>(snapshot: &dyn ReadHandle, after: i64, most: u64) -> Result<Vec<E::Model>, db::Error> {
    let key = E::PrimaryKey::iter().next().map(PrimaryKeyToColumn::into_column);
    let key = key.ok_or_else(|| db::Error::fault("a table without a key"))?;
    snapshot.all(E::find().filter(key.gt(after)).order_by_asc(key).limit(most)).await
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
