//! The place of a row that is made again: whether another row has it now.

use sea_orm::sea_query::{Cond, Expr, ExprTrait, Query};
use serde_json::Value as Json;

use super::step::{OWNERS, Step, StepKind};
use super::tables::known;
use crate::db::{Read, RowOf, Transaction};
use crate::error::Result;

/// The field that an error about the taken place of a step names.
pub(super) fn field(step: &Step) -> String {
    let has_field = step.table == "property" || step.is_entry();
    if has_field { step.label("value") } else { "base".to_owned() }
}

/// The steps that would make a row again whose place another row has. What the steps remove first is in nobody's way.
pub(super) async fn taken<'s>(db: &Transaction, steps: &'s [Step]) -> Result<Vec<&'s Step>> {
    let mut taken = Vec::new();
    for step in steps.iter().filter(|step| step.kind == StepKind::Deleted) {
        let columns = known(step.table).place;
        if columns.is_empty() {
            continue;
        }
        let is_removed = |id: &i64| {
            steps
                .iter()
                .any(|other| other.kind == StepKind::Made && other.row == RowOf { table: step.row.table, id: *id })
        };
        if !with_same(db, step, columns).await?.iter().all(is_removed) {
            taken.push(step);
        }
    }
    Ok(taken)
}

/// Settles which contacts are made again as the default of their type: the first ones. Where another is the default now,
/// perhaps because somebody chose it, it stays so. Returns those that were the default and do not become it.
pub(super) async fn settle_defaults(db: &Transaction, steps: &mut [Step]) -> Result<Vec<RowOf>> {
    let mut not_default = Vec::new();
    for step in steps.iter_mut().filter(|step| step.table == "contact" && step.kind == StepKind::Deleted) {
        let mut columns = OWNERS.to_vec();
        columns.retain(|column| step.old.contains_key(*column));
        columns.push("type");
        let is_first = with_same(db, step, &columns).await?.is_empty();
        let was_default = step.old.insert("is_default".to_owned(), is_first.into());
        if !is_first && was_default == Some(Json::Bool(true)) {
            not_default.push(step.row);
        }
    }
    Ok(not_default)
}

/// The most rows with the same values that are read.
const MOST: u64 = 64;

/// The rows that have the same values as the row of a step had in these columns.
async fn with_same(db: &Transaction, step: &Step, columns: &[&'static str]) -> Result<Vec<i64>> {
    let mut same = Cond::all();
    for column in columns {
        same = same.add(match step.old.get(*column) {
            Some(Json::String(text)) => Expr::col(*column).eq(text.as_str()),
            Some(Json::Number(number)) => Expr::col(*column).eq(number.as_i64()),
            _ => Expr::col(*column).is_null(),
        });
    }
    let rows = Query::select().column("id").from(step.table).cond_where(same).limit(MOST).take();
    Ok(db.rows(&rows, |row| row.get::<i64>(0)).await?)
}
