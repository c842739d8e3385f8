//! The results of documents, as the answer and the audit tell them.

use serde_json::Value as Json;

use super::apply::Change;
use super::document::Document;
use super::report::Problems;
use super::{Applied, Bounds, FieldChange, Options, Outcome, Refused};
use crate::db::{self, Before, Transaction};
use crate::entity::audit::Subject;
use crate::entity::change::{self, List};
use crate::entity::row_of;
use crate::error::{UserError, shortened};

/// The lists that a document can change.
const LISTS: [List; 9] = [
    List::Aliases,
    List::Tags,
    List::Repositories,
    List::Tools,
    List::Contacts,
    List::Dependencies,
    List::Members,
    List::Properties,
    List::Relationships,
];

/// The result of a document. If it changed something, also the audit's subject and changes.
pub(super) type OfDocument = (Applied, Option<(Subject, Json)>);

/// The results of documents.
#[derive(Default)]
pub(super) struct Outcomes {
    pub(super) all: Vec<OfDocument>,
    /// The number of fields that they change.
    changes: usize,
}

impl Outcomes {
    /// Adds a result. Fails once more fields change than the caller allows.
    pub(super) fn add(&mut self, one: OfDocument, options: &Options<'_>) -> Result<(), Refused> {
        self.changes += one.0.changes.len();
        self.all.push(one);
        match options.bounds {
            Some(Bounds { changes: most, .. }) if self.changes > most => {
                let message = format!("the files change more than {most} fields; apply fewer files at a time");
                Err(Refused::Failed(UserError::new("files", message).into()))
            }
            _ => Ok(()),
        }
    }
}

/// Tells what was done to the subject of a document.
pub(super) async fn described(
    before: Before<'_>,
    tx: &Transaction,
    change: &Change,
    documents: &[Document],
    problems: &Problems,
) -> Result<OfDocument, db::Error> {
    let Change { number, noun, id, name, is_created, is_changed, is_behind: _ } = change;
    let outcome = match (is_created, is_changed) {
        (true, _) => Outcome::Created,
        (false, true) => Outcome::Updated,
        (false, false) => Outcome::Unchanged,
    };
    let changed = match outcome {
        Outcome::Unchanged => None,
        _ => {
            let subject = Subject::new(noun, Some(*id), name);
            Some((subject, changed(before, tx, noun, *id, &LISTS).await?))
        }
    };
    let place = documents.get(*number).map(|document| (problems.name(document.file).to_owned(), document.spot.line));
    let (path, line) = place.unwrap_or_default();
    let changes = changed.as_ref().map(|(_, changed)| fields(changed)).unwrap_or_default();
    Ok((Applied { path, line, kind: noun.to_lowercase(), name: name.clone(), outcome, changes }, changed))
}

/// What has changed of the object of the SDL type `noun` with this id.
pub(super) async fn changed(
    before: Before<'_>,
    tx: &Transaction,
    noun: &str,
    id: i64,
    lists: &[List],
) -> Result<Json, db::Error> {
    let row = row_of(noun, id).ok_or_else(|| db::Error::fault(format!("no table has rows of {noun}")))?;
    change::of(before, tx, row, lists).await
}

/// Converts the audit's record of a change to a list of fields. Long values are cut.
pub(super) fn fields(changed: &Json) -> Vec<FieldChange> {
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
    changed.as_object().into_iter().flatten().map(field).collect()
}
