//! The results of documents, as the answer and the audit tell them.

use std::collections::HashMap;

use serde_json::{Map, Value as Json};

use super::apply::Change;
use super::document::Document;
use super::report::Problems;
use super::{Applied, Bounds, FieldChange, Options, Outcome, Refused};
use crate::db::RowOf;
use crate::error::{UserError, shortened};

/// The result of a document.
pub(super) struct OfDocument {
    pub(super) row: RowOf,
    pub(super) applied: Applied,
    /// What the audit tells of it, if it changed something.
    pub(super) changed: Option<Map<String, Json>>,
}

/// The results of documents.
#[derive(Default)]
pub(super) struct Outcomes {
    pub(super) all: Vec<OfDocument>,
    /// Where what has a row is among them.
    places: HashMap<RowOf, usize>,
    /// The number of fields that they change.
    changes: usize,
}

impl Outcomes {
    /// Adds a result. Fails once more fields change than the caller allows.
    pub(super) fn add(&mut self, one: OfDocument, options: &Options<'_>) -> Result<(), Refused> {
        self.changes += one.applied.changes.len();
        self.places.insert(one.row, self.all.len());
        self.all.push(one);
        match options.bounds {
            Some(Bounds { changes: most, .. }) if self.changes > most => {
                let message = format!("the files change more than {most} fields; apply fewer files at a time");
                Err(Refused::Failed(UserError::new("files", message).into()))
            }
            _ => Ok(()),
        }
    }

    /// The result of what has this row.
    pub(super) fn get(&self, row: RowOf) -> Option<&Applied> {
        self.all.get(*self.places.get(&row)?).map(|one| &one.applied)
    }
}

/// Tells what was done to the subject of a document. `changed` says what the transaction has changed of it.
pub(super) fn described(
    change: &Change,
    changed: Option<Map<String, Json>>,
    documents: &[Document],
    problems: &Problems,
) -> OfDocument {
    let Change { number, row, name, is_created, .. } = change;
    let outcome = match (is_created, &changed) {
        (true, _) => Outcome::Created,
        (false, Some(_)) => Outcome::Updated,
        (false, None) => Outcome::Unchanged,
    };
    let place = documents.get(*number).map(|document| (problems.name(document.file).to_owned(), document.spot.line));
    let (path, line) = place.unwrap_or_default();
    let kind = row.table.class().unwrap_or_default().to_lowercase();
    let changes = changed.as_ref().map(fields).unwrap_or_default();
    OfDocument { row: *row, applied: Applied { path, line, kind, name: name.clone(), outcome, changes }, changed }
}

/// Converts the audit's record of a change to a list of fields. Long values are cut.
pub(crate) fn fields(changed: &Map<String, Json>) -> Vec<FieldChange> {
    let text = |value: Option<&Json>| match value? {
        Json::Null => None,
        Json::String(text) => Some(text.clone()),
        Json::Array(items) if items.is_empty() => None,
        Json::Array(items) => Some(items.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(", ")),
        other => Some(other.to_string()),
    };
    let field = |(name, value): (&String, &Json)| FieldChange {
        field: name.clone(),
        before: text(value.get("old").or(value.get("removed"))).map(|text| shortened(&text).to_string()),
        after: text(value.get("new").or(value.get("added"))).map(|text| shortened(&text).to_string()),
    };
    changed.iter().map(field).collect()
}
