//! Which services the documents are about.

use std::collections::HashMap;

use sea_orm::{DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::Problems;
use super::document::{Document, ServiceDocument, Subject};
use super::yaml::{At, Spot};
use crate::db::{self, Read};
use crate::entity::service;

/// A document, and the service that it is about; none that it is to be made.
pub(super) struct Governed<'a> {
    /// The document's place among all.
    pub(super) number: usize,
    pub(super) file: usize,
    pub(super) document: &'a ServiceDocument,
    pub(super) service: Option<service::Model>,
}

/// Finds the services that the documents are about: by their names, and of the rest by the aliases that they list.
pub(super) async fn find<'a>(
    db: &impl Read,
    documents: &'a [Document],
    problems: &mut Problems,
) -> Result<Vec<Governed<'a>>, DbErr> {
    let mut subjects = Vec::new();
    let mut names: HashMap<&str, (usize, Spot)> = HashMap::new();
    let mut found: HashMap<i64, (usize, Spot)> = HashMap::new();
    for (number, Document { file, subject }) in documents.iter().enumerate() {
        let Subject::Service(document) = subject else { continue };
        let At { value: name, spot } = &document.name;
        let here = (*file, *spot);
        let service = service::by_alias(db, name).await?;
        let twin = names.insert(name, here);
        let twin = twin.or(service.as_ref().and_then(|service| found.insert(service.id, here)));
        match twin {
            Some(twin) => twice(problems, here, twin),
            None => subjects.push(Governed { number, file: *file, document, service }),
        }
    }
    let mut all = Vec::with_capacity(subjects.len());
    for mut governed in subjects {
        if governed.service.is_none() {
            governed.service = match renamed(db, &governed, &found, problems).await? {
                None => None,
                Some((service, spot)) => {
                    let here = (governed.file, spot);
                    if let Some(twin) = found.insert(service.id, here) {
                        twice(problems, here, twin);
                        continue;
                    }
                    Some(service)
                }
            };
        }
        all.push(governed);
    }
    hold(db, &mut all).await?;
    Ok(all)
}

fn twice(problems: &mut Problems, (file, spot): (usize, Spot), (twin, at): (usize, Spot)) {
    let twin = problems.name(twin).to_owned();
    let message = format!("this is the service of another document, at {twin}:{}:{}", at.line, at.column);
    problems.add(file, spot, message);
}

/// The service that has one of the document's aliases and is to be called by its name from now on.
async fn renamed(
    db: &impl Read,
    Governed { file, document, .. }: &Governed<'_>,
    found_by_name: &HashMap<i64, (usize, Spot)>,
    problems: &mut Problems,
) -> Result<Option<(service::Model, Spot)>, DbErr> {
    let mut found: Option<(service::Model, Spot)> = None;
    for At { value: alias, spot } in document.aliases.iter().flatten() {
        let Some(service) = service::by_alias(db, alias).await? else { continue };
        // Another document's service: that one may give the alias away, or it will be told when the alias is claimed.
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
    // A name that is copied from another's file, with a line that was forgotten, must not take its service over.
    if let Some((service, spot)) = &found
        && let Some(other) = service.locked_by.as_deref().filter(|other| *other != problems.name(*file))
    {
        let alias = format!("it has this alias; release it, or use its name \"{}\"", service.name);
        problems.add(
            *file,
            *spot,
            format!("the service file {other} governs the service \"{}\": {alias}", service.slug),
        );
    }
    Ok(found)
}

/// Holds the services in one order, so that two who write many of them do not wait for each other.
async fn hold(db: &impl Read, all: &mut [Governed<'_>]) -> Result<(), DbErr> {
    let ids: Vec<i64> = all.iter().filter_map(|governed| Some(governed.service.as_ref()?.id)).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let held = service::Entity::find().filter(db::any(db, service::Column::Id, &ids));
    let held = held.order_by_asc(service::Column::Id).lock_exclusive().all(db).await?;
    let mut held: HashMap<i64, service::Model> = held.into_iter().map(|service| (service.id, service)).collect();
    for governed in all {
        governed.service = governed.service.take().and_then(|service| held.remove(&service.id));
    }
    Ok(())
}
