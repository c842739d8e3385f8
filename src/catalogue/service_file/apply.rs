//! Applies documents to the catalogue, within one transaction, in the order of their references.
//!
//! It continues after a mistake, to find all of them. The caller then rolls the transaction back.

use sea_orm::sea_query::Value;

use super::document::Document;
use super::entity_ref::shown;
use super::names::{Found, Names};
use super::properties::Definitions;
use super::report::Problems;
use super::yaml::At;
use super::{Origin, Progress, groups, repositories, services};
use crate::db::{self, RowOf, Table, Transaction};
use crate::entity::field_rule::Reference;
use crate::entity::{service, service_file_refusal};
use crate::error::quoted;

/// The result of a document.
#[derive(Debug)]
pub(super) struct Change {
    /// The document's index.
    pub(super) number: usize,
    /// Its subject.
    pub(super) row: RowOf,
    /// The alias that names the subject.
    pub(super) name: String,
    pub(super) is_created: bool,
    pub(super) is_changed: bool,
    /// Whether only the commit that the file comes from is another one.
    pub(super) is_behind: bool,
}

impl Change {
    /// Whether its subject is in the table `E`.
    pub(super) fn is_of<E: Table>(&self) -> bool {
        self.row == RowOf::new::<E>(self.row.id)
    }
}

/// Applies the documents. Returns the results in their order. Counts the documents as it looks at them.
pub(super) async fn apply(
    db: &Transaction,
    documents: &[Document],
    definitions: &Definitions,
    origin: &Origin,
    problems: &mut Problems,
    progress: &Progress,
) -> Result<Vec<Change>, db::Error> {
    let mut changes = groups::apply(db, documents, definitions, problems).await?;
    changes.extend(repositories::apply(db, documents, problems).await?);
    progress.add(changes.len());
    changes.extend(services::apply(db, documents, definitions, origin, problems, progress).await?);
    changes.sort_by_key(|change| change.number);
    let services = changes.iter().filter(|change| change.is_of::<service::Entity>());
    let services: Vec<i64> = services.map(|change| change.row.id).collect();
    service_file_refusal::forget(db, &services).await?;
    Ok(changes)
}

/// Returns the id of the row that a document names: the inner `None` if it names none. Returns `None` if there is no such
/// row, or several, which is a mistake.
pub(super) async fn key(
    db: &Transaction,
    names: &mut Names,
    to: Reference,
    file: usize,
    named: &At<Value>,
    problems: &mut Problems,
) -> Result<Option<Option<i64>>, db::Error> {
    let Value::String(Some(name)) = &named.value else { return Ok(Some(None)) };
    let message = match names.find(db, to, name).await? {
        Found::One(key) => return Ok(Some(Some(key))),
        Found::Several => format!("{} is ambiguous: several are called so; write an alias", quoted(&shown(name))),
        Found::Nothing => to.unknown(&shown(name)),
    };
    let is_in_files = matches!(to, Reference::Team | Reference::System | Reference::Domain);
    match problems.is_lenient(file) {
        true => problems.leave(file, named.spot, format!("this is not taken: {message}")),
        // It may be defined by a document that could not be read.
        false if problems.documents_are_missing && is_in_files => {}
        false => problems.add(file, named.spot, message),
    }
    Ok(None)
}
