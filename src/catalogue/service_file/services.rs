//! Applies the documents of services.

use std::collections::{HashMap, HashSet};

use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, ModelTrait, QueryFilter, QueryOrder, QuerySelect,
    QueryTrait, Set,
};

use super::apply::{Change, key};
use super::document::{Dependency, Document, Given, Naming, Property, ServiceDocument, Subject};
use super::entity_ref::shown;
use super::find::{Governed, find};
use super::lists;
use super::names::{self, Names};
use super::properties;
use super::relationships;
use super::report::Problems;
use super::{Origin, Progress};
use crate::db::{self, Read, RowOf, Transaction, Write};
use crate::entity::service::Writable;
use crate::entity::tag::Owner;
use crate::entity::{
    ByAlias, Timestamp, component_type, contact, delete_by_ids, document_pull, property, repository, service,
    service_alias, service_dependency,
};
use crate::error::{Error, UserError, quoted};

/// Creates and updates the services of the documents, and then what they depend on and are related to.
pub(super) async fn apply(
    db: &Transaction,
    documents: &[Document],
    definitions: &properties::Definitions,
    origin: &Origin,
    problems: &mut Problems,
    progress: &Progress,
) -> Result<Vec<Change>, db::Error> {
    let subjects = find(db, documents, origin, problems).await?;
    let other_commit =
        |service: &Option<Writable>| service.as_ref().is_none_or(|row| row.locked_commit != origin.commit);
    let behind: HashSet<usize> =
        subjects.iter().filter(|one| other_commit(&one.service)).map(|one| one.number).collect();
    let freed = free_aliases(db, &subjects).await?;
    let (mut changes, mut linked) = (Vec::with_capacity(subjects.len()), Vec::new());
    let mut names = Names::default();
    for governed in subjects {
        let (number, is_freed) = (governed.number, freed.contains(&governed.number));
        let mut created = Vec::new();
        changes.push(put(db, &mut names, governed, is_freed, origin, &mut created, problems).await?);
        linked.extend(created.into_iter().map(|repository| created_by_link(number, repository)));
        progress.add(1);
    }
    // A service may depend on one that comes later.
    let related = relationships::definitions(db, documents, problems).await?;
    for change in &mut changes {
        let Some(Document { file, subject: Subject::Service(document), .. }) = documents.get(change.number) else {
            continue;
        };
        if let Some(wanted) = &document.dependencies {
            change.is_changed |= depend(db, change.row.id, *file, wanted, problems).await?;
        }
        if let Some(wanted) = &document.properties {
            change.is_changed |= describe(db, change.row.id, (*file, wanted), definitions, problems).await?;
        }
        if let Some(wanted) = &document.relationships {
            change.is_changed |= relationships::relate(db, change.row.id, *file, wanted, &related, problems).await?;
        }
    }
    let is_behind = |change: &&mut Change| behind.contains(&change.number);
    let mut changed = Vec::new();
    for change in changes.iter_mut().filter(is_behind) {
        match change.is_changed {
            true => changed.push(change.row.id),
            false => change.is_behind = true,
        }
    }
    follow(db, &changed, origin).await?;
    changes.extend(linked);
    Ok(changes)
}

/// Removes aliases before any is added: an alias may move from one service to another. Returns the documents whose services
/// had more.
async fn free_aliases(db: &Transaction, subjects: &[Governed<'_>]) -> Result<HashSet<usize>, db::Error> {
    let mut freed = HashSet::new();
    for Governed { number, document, service, .. } in subjects {
        if let (Some(service), Some(aliases)) = (service, &document.naming.aliases) {
            // The name and the key always stay.
            let naming = &document.naming;
            let kept = aliases.iter().chain([&naming.name]).chain(&naming.key).map(|alias| alias.value.as_str());
            if lists::remove_aliases::<service_alias::Entity>(db, service.id, kept).await? {
                freed.insert(*number);
            }
        }
    }
    Ok(freed)
}

/// The result of a link that created its repository. The audit and the permissions must see it, though it has no
/// document.
fn created_by_link(number: usize, repository: repository::Model) -> Change {
    let repository::Model { id, default_alias: name, .. } = repository;
    let row = RowOf::new::<repository::Entity>(id);
    Change { number, row, name, is_created: true, is_changed: true, is_behind: false }
}

/// Gives a service its properties, once its component type is written.
async fn describe(
    db: &Transaction,
    id: i64,
    wanted: (usize, &[Property]),
    definitions: &properties::Definitions,
    problems: &mut Problems,
) -> Result<bool, db::Error> {
    let own = db.one(service::Entity::find_by_id(id)).await?.and_then(|service| service.type_id);
    let own = component_type::or_default(db, own).await?;
    let owner = (property::Column::ServiceId, id);
    properties::assign(db, owner, wanted, definitions, |definition| definition.refuses_service(own), problems).await
}

/// Creates or updates a service. `is_freed` says that aliases were removed from it. Adds the repositories that its links
/// create to `created`.
async fn put(
    db: &Transaction,
    names: &mut Names,
    governed: Governed<'_>,
    is_freed: bool,
    origin: &Origin,
    created: &mut Vec<repository::Model>,
    problems: &mut Problems,
) -> Result<Change, db::Error> {
    let Governed { number, file, document, service, .. } = governed;
    // Destructured without `..`, so that no key of a document is forgotten. `apply` writes what may name other services.
    let ServiceDocument {
        naming,
        fields,
        tags,
        repositories,
        tools,
        contacts,
        dependencies: _,
        properties: _,
        relationships: _,
        apis: _,
    } = document;
    let is_created = service.is_none();
    let before = match service {
        Some(service) => service,
        None => service::create(db, service::new(&naming.name.value, "service_file")).await?,
    };
    let mut after = service::Model::from(before.clone());
    let has_new_alias = name(db, &before, &mut after, naming, file, problems).await?;
    set_fields(db, &mut after, fields, file, names, problems).await?;
    after.locked_by = Some(problems.name(file).to_owned());
    after.locked_repository.clone_from(&origin.repository);
    let name = after.slug.clone();
    let mut is_changed = is_freed || has_new_alias || after != *before;
    write(db, &before, after, is_created).await?;
    if let Some(wanted) = tags {
        is_changed |= lists::tags(db, Owner::Service(&before), wanted).await?;
    }
    if let Some(wanted) = repositories {
        is_changed |= lists::links(db, &before, file, wanted, created, problems).await?;
    }
    if let Some(wanted) = tools {
        is_changed |= lists::tools(db, &before, wanted).await?;
    }
    if let Some(wanted) = contacts {
        is_changed |= lists::contacts(db, contact::Column::ServiceId, before.id, wanted).await?;
    }
    let row = RowOf::new::<service::Entity>(before.id);
    Ok(Change { number, row, name, is_created, is_changed, is_behind: false })
}

/// Sets the fields that the document gives, as far as what they refer to exists.
async fn set_fields(
    db: &Transaction,
    service: &mut service::Model,
    fields: &[Given<service::Column>],
    file: usize,
    names: &mut Names,
    problems: &mut Problems,
) -> Result<(), db::Error> {
    for Given { rule, said } in fields {
        match rule.value.reference() {
            Some(to) => {
                if let Some(found) = key(db, names, to, file, said, problems).await? {
                    service.set(rule.column, found.into());
                }
            }
            None => service.set(rule.column, said.value.clone()),
        }
    }
    Ok(())
}

/// Notes the commit that the file of these services comes from. It only tells where the file is, so it does not change
/// `updated_at`.
pub(super) async fn follow(db: &Transaction, ids: &[i64], origin: &Origin) -> Result<(), db::Error> {
    use service::{Column, Entity};
    if ids.is_empty() {
        return Ok(());
    }
    let commit = Expr::value(origin.commit.clone());
    let rows = Entity::update_many()
        .col_expr(Column::LockedCommit, commit)
        .col_expr(Column::UpdatedAt, Expr::col(Column::UpdatedAt));
    db.exec(rows.filter(db::any(db, Column::Id, ids))).await?;
    Ok(())
}

/// Writes the row, but for the commit.
async fn write(
    db: &Transaction,
    before: &Writable,
    mut after: service::Model,
    is_created: bool,
) -> Result<(), db::Error> {
    if after != **before {
        if !is_created {
            after.updated_at = Timestamp::now_after(before.updated_at);
        }
        let url = after.api_document_url.clone();
        db.update(after.into_active_model().reset_all()).await?;
        document_pull::follow(db, before.id, before.api_document_url.as_deref(), url.as_deref()).await?;
    }
    Ok(())
}

/// Gives the service its name and its aliases. Returns whether an alias is new.
async fn name(
    db: &Transaction,
    before: &Writable,
    after: &mut service::Model,
    naming: &Naming,
    file: usize,
    problems: &mut Problems,
) -> Result<bool, db::Error> {
    type Aliases = service_alias::Entity;
    let Naming { name, key, aliases, entity } = naming;
    if after.name != name.value || lists::owner_of::<Aliases>(db, &name.value).await? != Some(before.id) {
        after.slug = service::claim_name(db, before, &name.value).await?;
        after.name.clone_from(&name.value);
        // The next run finds the service by its name as an alias. Without that alias, it would create a second service.
        if key.is_none()
            && let Some(other) = service::Entity::by_alias(db, &name.value).await?.filter(|other| other.id != before.id)
        {
            let message = format!("\"{}\" is an alias of the service \"{}\"", name.value, other.name);
            problems.add(file, name.spot, message);
        }
    }
    let mut is_new = false;
    let short = entity.iter().map(|named| &named.short);
    for alias in aliases.iter().flatten().chain(key).chain(short) {
        match service::Entity::by_alias(db, &alias.value).await?.filter(|other| other.id != before.id) {
            Some(other) => {
                let message = format!("another service has the alias \"{}\": \"{}\"", alias.value, other.name);
                problems.add(file, alias.spot, message);
            }
            None => is_new |= lists::add_alias::<Aliases>(db, before, file, alias, problems).await?,
        }
    }
    Ok(is_new)
}

/// Replaces the dependencies of a service. Skips an unknown service with a note: the services of two repositories may
/// depend on each other, and one repository is applied first.
async fn depend(
    db: &Transaction,
    id: i64,
    file: usize,
    wanted: &[Dependency],
    problems: &mut Problems,
) -> Result<bool, db::Error> {
    use service_dependency::{ActiveModel, Column, Entity};
    let present = db.all(Entity::find().filter(Column::SourceId.eq(id))).await?;
    let mut present: HashMap<i64, _> = present.into_iter().map(|one| (one.destination_id, one)).collect();
    let (mut is_changed, mut seen) = (false, HashSet::with_capacity(wanted.len()));
    for Dependency { alias, notes } in wanted {
        let Some(to) = names::service(db, &alias.value).await? else {
            let alias_is = shown(&alias.value);
            let message = format!("the dependency is not taken: no service has the alias {}", quoted(&alias_is));
            problems.leave(file, alias.spot, message);
            continue;
        };
        if to == id || !seen.insert(to) {
            let what = if to == id { "a service cannot depend on itself" } else { "this dependency occurs twice" };
            problems.add(file, alias.spot, what);
            continue;
        }
        match present.remove(&to) {
            Some(one) if one.notes == *notes => continue,
            Some(one) => {
                db.update(ActiveModel { notes: Set(notes.clone()), ..one.into() }).await?;
            }
            None => {
                let row = ActiveModel {
                    source_id: Set(id),
                    destination_id: Set(to),
                    notes: Set(notes.clone()),
                    ..Default::default()
                };
                db.exec(Entity::insert(row)).await?;
            }
        }
        is_changed = true;
    }
    let rest: Vec<i64> = present.values().map(|one| one.id).collect();
    is_changed |= delete_by_ids::<Entity>(db, Column::Id, &rest).await?;
    Ok(is_changed)
}

/// Releases the services that other files of the repository govern and no document describes. Returns them.
///
/// # Errors
/// There are more than `most`.
pub(super) async fn release_missing(
    db: &Transaction,
    repository: &str,
    described: &[i64],
    most: usize,
) -> Result<Vec<(i64, String)>, Error> {
    use service::{Column, Entity};
    let locked = Entity::find().filter(Column::LockedRepository.eq(repository)).filter(Column::LockedBy.is_not_null());
    let described: HashSet<i64> = described.iter().copied().collect();
    let locked = locked.select_only().column(Column::Id).order_by_asc(Column::Id).into_query();
    let ids: Vec<i64> = db.rows(&locked, |row| row.get(0)).await?;
    let ids: Vec<i64> = ids.into_iter().filter(|id| !described.contains(id)).collect();
    if ids.len() > most {
        let message = format!(
            "{} services of the repository have no document; at most {most} can be released at once: release others with \
             rollcall release first",
            ids.len()
        );
        return Err(UserError::new("releaseMissing", message).into());
    }
    let held = service::lock_for_service_file(db, &ids).await?;
    let mut released = Vec::with_capacity(held.len());
    for id in ids {
        // A service that another repository has taken over meanwhile stays locked.
        let Some(row) = held.get(&id).filter(|row| row.locked_repository.as_deref() == Some(repository)) else {
            continue;
        };
        released.push((id, row.slug.clone()));
        service::unlock(db, row).await?;
    }
    Ok(released)
}
