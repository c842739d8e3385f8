//! Applies documents to the catalogue, within one transaction.
//!
//! It continues after a mistake, to find all of them. The caller then rolls the transaction back.

use std::collections::{HashMap, HashSet};

use sea_orm::sea_query::Value;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DatabaseTransaction, DbErr, EntityTrait, IntoActiveModel, ModelTrait, QueryFilter,
};

use super::document::{Document, Given, ServiceDocument};
use super::find::{Governed, find};
use super::yaml::At;
use super::{Problems, repositories};
use crate::db::{self, Read};
use crate::entity::alias::{AliasTable, Kind};
use crate::entity::audit::Subject;
use crate::entity::field_rule::Reference;
use crate::entity::service::Writable;
use crate::entity::tag::{self, Owner};
use crate::entity::{Timestamp, repository, service, service_alias, service_repository, service_search};

/// The result of a document.
#[derive(Debug)]
pub(super) struct Change {
    /// The line printed for it.
    pub(super) line: String,
    /// The changed object, for the audit. `None` if nothing changed.
    pub(super) subject: Option<Subject>,
}

impl Change {
    /// `noun` is the SDL's type.
    pub(super) fn new(noun: &str, id: i64, name: &str, created: bool, changed: bool) -> Self {
        let done = match (created, changed) {
            (true, _) => "created",
            (false, true) => "updated",
            (false, false) => "unchanged",
        };
        let subject = (created || changed).then(|| Subject::new(noun, Some(id), name));
        Self { line: format!("{done} {} {name}", noun.to_lowercase()), subject }
    }
}

/// Applies the documents, repositories first. Returns the results in the order of the documents.
pub(super) async fn apply(
    db: &DatabaseTransaction,
    documents: &[Document],
    problems: &mut Problems,
) -> Result<Vec<Change>, DbErr> {
    let mut changes = repositories::apply(db, documents, problems).await?;
    let subjects = find(db, documents, problems).await?;
    // Before aliases are added: an alias may move from one service to another.
    let mut freed = HashSet::new();
    for Governed { number, document, service, .. } in &subjects {
        if let (Some(service), Some(aliases)) = (service, &document.aliases)
            && take_aliases(db, service, &document.name.value, aliases).await?
        {
            freed.insert(*number);
        }
    }
    for governed in subjects {
        let freed = freed.contains(&governed.number);
        changes.push((governed.number, put(db, governed, freed, problems).await?));
    }
    changes.sort_by_key(|(number, _)| *number);
    Ok(changes.into_iter().map(|(_, change)| change).collect())
}

/// Removes the service's added aliases that are not listed. Its name always stays an alias.
async fn take_aliases(
    db: &DatabaseTransaction,
    service: &Writable,
    name: &str,
    listed: &[At<String>],
) -> Result<bool, DbErr> {
    use service_alias::Column;
    let kept = listed.iter().map(|alias| alias.value.as_str()).chain([name]);
    let others = service_alias::Entity::delete_many()
        .filter(Column::ServiceId.eq(service.id))
        .filter(Column::Kind.eq(Kind::Managed))
        .filter(Column::Value.is_not_in(kept));
    Ok(others.exec(db).await?.rows_affected > 0)
}

/// Creates or updates a service. `freed` says that aliases were removed from it.
async fn put(
    db: &DatabaseTransaction,
    governed: Governed<'_>,
    freed: bool,
    problems: &mut Problems,
) -> Result<Change, DbErr> {
    let Governed { file, document, service, .. } = governed;
    // Destructured without `..`, so that no key of a document is forgotten.
    let ServiceDocument { name, fields, aliases, tags: tagged, repositories } = document;
    let created = service.is_none();
    let before = match service {
        Some(service) => service,
        None => service::create(db, service::new(&name.value, "service_file")).await?,
    };
    let id = before.id;
    let mut after = service::Model::from(before.clone());
    if after.name != name.value || !has_alias(db, id, &name.value).await? {
        after.slug = service::claim_name(db, &before, &name.value).await?;
        after.name.clone_from(&name.value);
        // The next run finds the service by its name. Without it as an alias, that run would create a second service.
        if let Some(other) = service::by_alias(db, &name.value).await?.filter(|other| other.id != id) {
            let message = format!("\"{}\" is an alias of the service \"{}\"", name.value, other.name);
            problems.add(file, name.spot, message);
        }
    }
    for Given { rule, said } in fields {
        let value = match rule.value.reference() {
            Some(to) => key(db, to, file, said, problems).await?.into(),
            None => said.value.clone(),
        };
        after.set(rule.column, value);
    }
    after.locked_by = Some(problems.name(file).to_owned());

    let slug = after.slug.clone();
    let mut changed = freed || after != *before;
    let is_renamed = (&after.name, &after.slug) != (&before.name, &before.slug);
    if after != *before {
        if !created {
            after.updated_at = Timestamp::now_after(before.updated_at);
        }
        after.into_active_model().reset_all().update(db).await?;
    }
    let mut has_new_alias = false;
    for alias in aliases.iter().flatten() {
        has_new_alias |= give_alias(db, &before, file, alias, problems).await?;
    }
    changed |= has_new_alias;
    if freed || is_renamed || has_new_alias {
        service_search::refresh(db, id).await?;
    }
    if let Some(tagged) = tagged {
        changed |= tags(db, Owner::Service(&before), tagged).await?;
    }
    if let Some(repositories) = repositories {
        changed |= links(db, &before, file, repositories, problems).await?;
    }
    Ok(Change::new("Service", id, &slug, created, changed))
}

/// The id of the row that a document names, if it names one.
async fn key(
    db: &DatabaseTransaction,
    to: Reference,
    file: usize,
    named: &At<Value>,
    problems: &mut Problems,
) -> Result<Option<i64>, DbErr> {
    let Value::String(Some(name)) = &named.value else { return Ok(None) };
    let key = to.key(db, name).await?;
    if key.is_none() {
        problems.add(file, named.spot, to.unknown(name));
    }
    Ok(key)
}

async fn has_alias(db: &impl Read, service: i64, alias: &str) -> Result<bool, DbErr> {
    Ok(service::by_alias(db, alias).await?.is_some_and(|owner| owner.id == service))
}

/// Adds an alias, unless the service has it already, of whatever kind. Returns whether it is new.
async fn give_alias(
    db: &DatabaseTransaction,
    service: &Writable,
    file: usize,
    At { value: alias, spot }: &At<String>,
    problems: &mut Problems,
) -> Result<bool, DbErr> {
    if has_alias(db, service.id, alias).await? {
        return Ok(false);
    }
    let given = service_alias::Entity::claim(db, service, alias, Kind::Managed).await?;
    if !given {
        let owner = service::by_alias(db, alias).await?.map(|owner| owner.name).unwrap_or_default();
        problems.add(file, *spot, format!("another service has the alias \"{alias}\": \"{owner}\""));
    }
    Ok(given)
}

/// Replaces the owner's tags. Returns whether anything changed.
pub(super) async fn tags(
    db: &DatabaseTransaction,
    owner: Owner<'_>,
    wanted: &[(String, String)],
) -> Result<bool, DbErr> {
    let present = tag::Entity::find().filter(owner.column().eq(owner.id())).all(db).await?;
    // A tag counts as present only if it is the only one with its key.
    let has = |(key, value): &&(String, String)| {
        let mut of_key = present.iter().filter(|tag| tag.key == *key);
        of_key.next().is_some_and(|tag| tag.value == *value) && of_key.next().is_none()
    };
    let others: Vec<_> = wanted.iter().filter(|tag| !has(tag)).cloned().collect();
    let mut changed = !others.is_empty();
    tag::assign(db, owner, others).await?;
    let is_wanted = |tag: &tag::Model| wanted.iter().any(|(key, _)| *key == tag.key);
    let rest: Vec<i64> = present.iter().filter(|tag| !is_wanted(tag)).map(|tag| tag.id).collect();
    if !rest.is_empty() {
        tag::Entity::delete_many().filter(db::any(db, tag::Column::Id, &rest)).exec(db).await?;
        changed = true;
    }
    Ok(changed)
}

/// Replaces the service's repositories. Returns whether anything changed. Existing links keep their folder and name.
async fn links(
    db: &DatabaseTransaction,
    service: &Writable,
    file: usize,
    wanted: &[At<String>],
    problems: &mut Problems,
) -> Result<bool, DbErr> {
    use service_repository::{Column, Entity};
    let mut changed = false;
    let present = Entity::find().filter(Column::ServiceId.eq(service.id)).all(db).await?;
    let mut present: HashMap<i64, i64> = present.into_iter().map(|link| (link.repository_id, link.id)).collect();
    for At { value: alias, spot } in wanted {
        let Some(repository) = repository::by_alias(db, alias).await? else {
            // It may be defined by a document that could not be read.
            if !problems.documents_are_missing {
                problems.add(file, *spot, format!("no repository has the alias \"{alias}\""));
            }
            continue;
        };
        if present.remove(&repository.id).is_none() {
            service_repository::link(db, service, repository.id, None, None).await?;
            changed = true;
        }
    }
    let rest: Vec<i64> = present.into_values().collect();
    if !rest.is_empty() {
        Entity::delete_many().filter(db::any(db, Column::Id, &rest)).exec(db).await?;
        changed = true;
    }
    Ok(changed)
}
