//! Finds the services that the documents describe.

use std::collections::HashMap;

use super::Origin;
use super::document::{Document, Named, ServiceDocument, Subject};
use super::names;
use super::report::Problems;
use super::yaml::{At, Spot};
use crate::db::{self, ReadHandle, Transaction};
use crate::entity::service::{self, Writable};
use crate::entity::{ByAlias, service_alias};

/// A document and its service. `None` if the service must be created.
pub(super) struct Governed<'a> {
    /// The document's index.
    pub(super) number: usize,
    pub(super) file: usize,
    pub(super) document: &'a ServiceDocument,
    pub(super) service: Option<Writable>,
}

/// A document and its service, before any row is locked.
struct Found<'a> {
    number: usize,
    file: usize,
    document: &'a ServiceDocument,
    service: Option<i64>,
    /// The place of the alias that found the service, if its name did not. The service will be renamed.
    alias: Option<Spot>,
}

/// Finds the services of the documents: by name, and if none has the name, by the listed aliases. Locks their rows.
pub(super) async fn find<'a>(
    db: &Transaction,
    documents: &'a [Document],
    origin: &Origin,
    problems: &mut Problems,
) -> Result<Vec<Governed<'a>>, db::Error> {
    let mut subjects = Vec::new();
    let mut described: HashMap<&str, (usize, Spot)> = HashMap::new();
    let mut found: HashMap<i64, (usize, Spot)> = HashMap::new();
    let naming = |document: &'a Document| match &document.subject {
        Subject::Service(service) => service.naming.entity.as_ref(),
        _ => None,
    };
    let entities: Vec<&Named> = documents.iter().filter_map(naming).collect();
    let entities = names::rows_of::<service_alias::Entity>(db, &entities).await?;
    for (number, Document { file, subject, .. }) in documents.iter().enumerate() {
        let Subject::Service(document) = subject else { continue };
        let At { value: name, spot } = document.naming.found_by();
        let here = (*file, *spot);
        let service = match &document.naming.entity {
            Some(named) => entities.get(&named.entity).copied(),
            None => service::Entity::by_alias(db, name).await?.map(|service| service.id),
        };
        let twin = described.get(name.as_str()).copied();
        let twin = twin.or_else(|| service.and_then(|service| found.get(&service).copied()));
        match twin {
            Some(twin) => twice(problems, here, twin),
            None => {
                described.insert(name, here);
                found.extend(service.map(|service| (service, here)));
                subjects.push(Found { number, file: *file, document, service, alias: None });
            }
        }
    }
    let mut all = Vec::with_capacity(subjects.len());
    for mut subject in subjects {
        if subject.service.is_none()
            && let Some((service, spot)) = renamed(db, &subject, &found, problems).await?
        {
            let here = (subject.file, spot);
            if let Some(twin) = found.insert(service.id, here) {
                twice(problems, here, twin);
                continue;
            }
            (subject.service, subject.alias) = (Some(service.id), Some(spot));
        }
        all.push(subject);
    }
    lock_found(db, all, origin, problems).await
}

fn twice(problems: &mut Problems, (file, spot): (usize, Spot), (twin, at): (usize, Spot)) {
    let twin = problems.place(twin, at);
    let mistake = format!("this is the service of another document, at {twin}; put both into one document");
    problems.fail(file, spot, mistake);
}

/// Finds the service that has one of the document's aliases and will be renamed.
async fn renamed(
    db: &dyn ReadHandle,
    Found { file, document, .. }: &Found<'_>,
    found_by_name: &HashMap<i64, (usize, Spot)>,
    problems: &mut Problems,
) -> Result<Option<(service::Model, Spot)>, db::Error> {
    let mut found: Option<(service::Model, Spot)> = None;
    for At { value: alias, spot } in document.naming.aliases.iter().flatten() {
        let Some(service) = service::Entity::by_alias(db, alias).await? else { continue };
        // This is another document's service. That document may give the alias up; otherwise claiming the alias will
        // report a mistake.
        if found_by_name.contains_key(&service.id) {
            continue;
        }
        match &found {
            Some((first, _)) if first.id == service.id => {}
            Some((first, _)) => {
                let (first, second) = (&first.name, &service.name);
                let message = format!("the aliases are those of two services, \"{first}\" and \"{second}\"");
                problems.add(*file, *spot, message);
            }
            None => found = Some((service, *spot)),
        }
    }
    Ok(found)
}

/// Locks the services, and then checks which file governs each.
async fn lock_found<'a>(
    db: &Transaction,
    all: Vec<Found<'a>>,
    origin: &Origin,
    problems: &mut Problems,
) -> Result<Vec<Governed<'a>>, db::Error> {
    let ids: Vec<i64> = all.iter().filter_map(|found| found.service).collect();
    let mut held = service::lock_for_service_file(db, &ids).await?;
    let mut governed = Vec::with_capacity(all.len());
    for Found { number, file, document, service, alias } in all {
        let service = service.and_then(|id| held.remove(&id));
        if let Some(service) = &service
            && !check_lock(service, file, document, alias, origin, problems)
        {
            continue;
        }
        governed.push(Governed { number, file, document, service });
    }
    Ok(governed)
}

/// Refuses a service that a file of another repository governs. Refuses a rename of a service that another file governs:
/// a document copied from that file, with a forgotten alias, must not take over its service. Returns whether the document
/// may change the service.
fn check_lock(
    service: &Writable,
    file: usize,
    document: &ServiceDocument,
    alias: Option<Spot>,
    origin: &Origin,
    problems: &mut Problems,
) -> bool {
    let Some(other) = service.locked_by.as_deref() else { return true };
    let governs = format!("governs the service \"{}\"", service.slug);
    if let Some(repository) = &service.locked_repository
        && service.locked_repository != origin.repository
    {
        let message = format!("the service file {other} of {repository} {governs}; release the service first");
        problems.fail(file, alias.unwrap_or(document.naming.found_by().spot), message);
        false
    } else if let Some(spot) = alias.filter(|_| other != problems.name(file)) {
        let alias = format!("it has this alias; release it, or use its name \"{}\"", service.name);
        problems.fail(file, spot, format!("the service file {other} {governs}: {alias}"));
        false
    } else {
        true
    }
}
