//! All rows of a catalogue, to compare them before and after something.

use std::collections::BTreeMap;

use rollcall::transfer;
use serde_json::Value;

use crate::harness::app::TestApp;

/// The rows of the catalogue, by their tables and ids.
pub type Rows = BTreeMap<(String, i64), Value>;

pub async fn rows(app: &TestApp) -> Rows {
    let mut lines = Vec::new();
    transfer::export(&app.db, &mut lines).await.expect("an export");
    let lines = String::from_utf8(lines).expect("text");
    let mut rows = Rows::new();
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        for (table, row) in line.as_object().expect("a row") {
            if let Some(id) = row["id"].as_i64() {
                rows.insert((table.clone(), id), row.clone());
            }
        }
    }
    rows
}
