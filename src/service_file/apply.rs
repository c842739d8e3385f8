//! Makes the catalogue what the documents say, inside one transaction.
//!
//! It goes on past what is wrong, so that everything wrong is found; whoever began the transaction rolls it back then.

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
use crate::entity::field_rule::{Reference, ValueRule};
use crate::entity::service::Writable;
use crate::entity::tag::{self, Owner};
use crate::entity::{Timestamp, repository, service, service_alias, service_repository, service_search};

/// What came of a document.
#[derive(Debug)]
pub(super) struct Change {
    /// In one line, for whoever applied it.
    pub(super) line: String,
    /// What was changed, for the audit; nothing where nothing was.
    pub(super) subject: Option<Subject>,
}

impl Change {
    /// `noun` is the SDL's.
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

/// Applies the documents, repositories first, and answers what came of each, in their order.
pub(super) async fn apply(
    db: &DatabaseTransaction,
    documents: &[Document],
    problems: &mut Problems,
) -> Result<Vec<Change>, DbErr> {
    let mut changes = repositories::apply(db, documents, problems).await?;
    let subjects = find(db, documents, problems).await?;
    // Before any alias is given: it may have been another's until now.
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

/// Takes away the aliases that somebody gave the service and that are not listed. The name stays an alias, whoever
/// gave it.
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

/// Creates or updates a service. `freed`: it had aliases taken away.
async fn put(
    db: &DatabaseTransaction,
    governed: Governed<'_>,
    freed: bool,
    problems: &mut Problems,
) -> Result<Change, DbErr> {
    let Governed { file, document, service, .. } = governed;
    // Taken apart, so that nothing a document can say is forgotten.
    let ServiceDocument { name, fields, aliases, tags: tagged, repositories } = document;
    let created = service.is_none();
    let before = match service {
        Some(service) => service,
        None => service::create(db, service::new(&name.value)).await?,
    };
    let id = before.id;
    let mut after = service::Model::from(before.clone());
    if after.name != name.value || !has_alias(db, id, &name.value).await? {
        after.slug = service::claim_name(db, &before, &name.value).await?;
        after.name.clone_from(&name.value);
        // The name finds the service the next time: without it as an alias there would be a second one.
        if let Some(other) = service::by_alias(db, &name.value).await?.filter(|other| other.id != id) {
            let message = format!("\"{}\" is an alias of the service \"{}\"", name.value, other.name);
            problems.add(file, name.spot, message);
        }
    }
    for Given { rule, said } in fields {
        let value = match rule.value {
            ValueRule::Named(to) | ValueRule::Identified(to) => key(db, to, file, said, problems).await?.into(),
            _ => said.value.clone(),
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

/// The key of the row that a document names; nothing where it names none.
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

/// Gives the service an alias, unless it has it, of whatever kind. Answers whether it is new.
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

/// Makes these the tags of the owner, and answers whether that changed anything.
pub(super) async fn tags(
    db: &DatabaseTransaction,
    owner: Owner<'_>,
    wanted: &[(String, String)],
) -> Result<bool, DbErr> {
    let present = tag::Entity::find().filter(owner.column().eq(owner.id())).all(db).await?;
    let mut present: HashMap<String, tag::Model> = present.into_iter().map(|tag| (tag.key.clone(), tag)).collect();
    let mut is_other = |(key, value): &&(String, String)| present.remove(key).is_none_or(|tag| tag.value != *value);
    let others: Vec<_> = wanted.iter().filter(|tag| is_other(tag)).cloned().collect();
    let mut changed = !others.is_empty();
    tag::assign(db, owner, others).await?;
    let rest: Vec<i64> = present.values().map(|tag| tag.id).collect();
    if !rest.is_empty() {
        tag::Entity::delete_many().filter(db::any(db, tag::Column::Id, &rest)).exec(db).await?;
        changed = true;
    }
    Ok(changed)
}

/// Makes these the repositories of the service, and answers whether that changed anything. A link that is there keeps
/// its folder and its name.
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
            // A document that cannot be read may be the one that makes it.
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
