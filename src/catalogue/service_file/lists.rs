//! Replaces the lists of a subject: aliases, tags, repositories, tools, contacts. Each function returns whether
//! anything changed, and does not touch entries that stay.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Set,
};

use super::document::{Contact, Link, Tool};
use super::report::Problems;
use super::repositories;
use super::yaml::At;
use crate::db::{self, Read, Transaction, Write};
use crate::entity::alias::{AliasKind, AliasTable};
use crate::entity::service::Writable;
use crate::entity::tag::{self, Owner};
use crate::entity::{ByAlias, contact, delete_by_ids, repository, service_repository, tool};

/// Removes the owner's added aliases that are not listed.
pub(super) async fn remove_aliases<T: AliasTable>(
    db: &Transaction,
    owner: i64,
    kept: impl Iterator<Item = &str>,
) -> Result<bool, db::Error> {
    let others = T::delete_many().filter(T::OWNER.eq(owner)).filter(T::KIND.eq(AliasKind::Managed));
    Ok(db.exec(others.filter(T::VALUE.is_not_in(kept))).await? > 0)
}

/// Returns the key of the row that has this alias.
pub(super) async fn owner_of<T: AliasTable>(db: &Transaction, alias: &str) -> Result<Option<i64>, db::Error> {
    let owner = T::find().select_only().column(T::OWNER).filter(T::VALUE.eq(alias));
    Ok(db.rows(owner.as_query(), |row| row.get(0)).await?.pop())
}

/// Adds an alias. Returns whether it is new: an alias that the owner has already, of any kind, stays as it is. Reports an
/// alias of another owner.
pub(super) async fn add_alias<T: AliasTable>(
    db: &Transaction,
    owner: &T::Owner,
    file: usize,
    At { value: alias, spot }: &At<String>,
    problems: &mut Problems,
) -> Result<bool, db::Error> {
    match owner_of::<T>(db, alias).await? {
        Some(holder) if holder == T::key(owner) => Ok(false),
        None if T::claim(db, owner, alias, AliasKind::Managed).await? => Ok(true),
        _ => {
            problems.add(file, *spot, format!("another {} has the alias \"{alias}\"", T::NOUN));
            Ok(false)
        }
    }
}

/// Replaces the owner's tags. A tag whose value changes stays the same row.
pub(super) async fn tags(db: &Transaction, owner: Owner<'_>, wanted: &[(String, String)]) -> Result<bool, db::Error> {
    let own = tag::Entity::find().filter(owner.column().eq(owner.id())).order_by_asc(tag::Column::Id);
    let (rest, wanted) = difference(db.all(own).await?, wanted.to_vec(), |tag| (tag.key.clone(), tag.value.clone()));
    // By key, the first row of each last.
    let mut spare: HashMap<String, Vec<tag::Model>> = HashMap::with_capacity(rest.len());
    for tag in rest.into_iter().rev() {
        spare.entry(tag.key.clone()).or_default().push(tag);
    }
    let (mut made, mut updated) = (Vec::new(), Vec::new());
    for (key, value) in wanted {
        match spare.get_mut(&key).and_then(Vec::pop) {
            Some(tag) => updated.push(tag::Model { value, ..tag }),
            None => made.push(tag::new(owner, key, value)),
        }
    }
    let gone: Vec<i64> = spare.into_values().flatten().map(|tag| tag.id).collect();
    let is_less = delete_by_ids::<tag::Entity>(db, tag::Column::Id, &gone).await?;
    let is_changed = is_less || !made.is_empty() || !updated.is_empty();
    if !updated.is_empty() {
        let rows = updated.into_iter().map(|tag| tag.into_active_model().reset_all());
        let by_id = OnConflict::column(tag::Column::Id).update_column(tag::Column::Value).to_owned();
        db.exec(tag::Entity::insert_many(rows).on_conflict(by_id)).await?;
    }
    if !made.is_empty() {
        db.exec(tag::Entity::insert_many(made)).await?;
    }
    Ok(is_changed)
}

/// Compares rows with the wanted entries, in time proportional to both. Returns the rows to delete, and the entries to
/// insert.
fn difference<R, W: Eq + Hash>(present: Vec<R>, mut wanted: Vec<W>, content: impl Fn(&R) -> W) -> (Vec<R>, Vec<W>) {
    // By content, the first row of each last.
    let mut places: HashMap<W, Vec<usize>> = HashMap::with_capacity(present.len());
    for (place, row) in present.iter().enumerate().rev() {
        places.entry(content(row)).or_default().push(place);
    }
    let mut stays = vec![false; present.len()];
    wanted.retain(|wanted| match places.get_mut(wanted).and_then(Vec::pop) {
        Some(place) => {
            stays[place] = true;
            false
        }
        None => true,
    });
    let gone = present.into_iter().zip(stays).filter(|(_, stays)| !stays).map(|(row, _)| row);
    (gone.collect(), wanted)
}

/// Replaces the service's links to repositories. A link without a folder keeps the folders of existing links that no
/// other entry of the list names. Adds the repositories that it creates to `created`.
pub(super) async fn links(
    db: &Transaction,
    service: &Writable,
    file: usize,
    wanted: &[Link],
    created: &mut Vec<repository::Model>,
    problems: &mut Problems,
) -> Result<bool, db::Error> {
    use service_repository::{Column, Entity};
    let mut is_changed = false;
    let mut present: HashMap<i64, Vec<service_repository::Model>> = HashMap::new();
    for row in db.all(Entity::find().filter(Column::ServiceId.eq(service.id))).await? {
        present.entry(row.repository_id).or_default().push(row);
    }
    let mut entries = Vec::with_capacity(wanted.len());
    let mut seen = HashSet::with_capacity(wanted.len());
    for link in wanted {
        let Some(repository) = linked(db, file, link, created, problems).await? else { continue };
        let folder = link.base_directory.as_ref().map(|folder| service_repository::folder(Some(folder.clone())));
        if !seen.insert((repository, folder.clone())) {
            problems.add(file, link.alias.spot, format!("\"{}\" occurs twice", link.alias.value));
            continue;
        }
        entries.push((link, repository, folder));
    }
    for (link, repository, folder) in entries {
        let is_named = |folder: &str| seen.contains(&(repository, Some(folder.to_owned())));
        let is_meant = |row: &service_repository::Model| match &folder {
            Some(folder) => row.base_directory == *folder,
            None => !is_named(&row.base_directory),
        };
        let of_repository = present.remove(&repository).unwrap_or_default();
        let (meant, rest): (Vec<_>, Vec<_>) = of_repository.into_iter().partition(is_meant);
        present.insert(repository, rest);
        // Another entry may name the whole repository.
        if meant.is_empty() && (folder.is_some() || !is_named("")) {
            let display_name = link.display_name.clone();
            is_changed |= service_repository::link(db, service, repository, folder, display_name).await?.is_some();
        }
        for row in meant.into_iter().filter(|row| link.display_name.is_some() && row.display_name != link.display_name)
        {
            let display_name = Set(link.display_name.clone());
            db.update(service_repository::ActiveModel { display_name, ..row.into() }).await?;
            is_changed = true;
        }
    }
    let rest: Vec<i64> = present.into_values().flatten().map(|link| link.id).collect();
    is_changed |= delete_by_ids::<Entity>(db, Column::Id, &rest).await?;
    Ok(is_changed)
}

/// Returns the key of the repository that a link names. If it is missing, creates it if the link has its name and URL,
/// and otherwise reports it.
async fn linked(
    db: &Transaction,
    file: usize,
    Link { alias, repository, .. }: &Link,
    created: &mut Vec<repository::Model>,
    problems: &mut Problems,
) -> Result<Option<i64>, db::Error> {
    match (repository::Entity::by_alias(db, &alias.value).await?, repository) {
        (Some(found), _) => return Ok(Some(found.id)),
        (None, Some((name, url))) => {
            let (found, is_created) = repositories::find_or_create(db, name, &alias.value, Some(url)).await?;
            let id = found.id;
            if is_created {
                created.push(found);
            }
            return Ok(Some(id));
        }
        // A document that could not be read may define it.
        (None, None) if problems.documents_are_missing => {}
        (None, None) => problems.add(file, alias.spot, format!("no repository has the alias \"{}\"", alias.value)),
    }
    Ok(None)
}

/// Replaces the service's tools.
pub(super) async fn tools(db: &Transaction, service: &Writable, wanted: &[Tool]) -> Result<bool, db::Error> {
    use tool::{ActiveModel, Column, Entity};
    let present = db.all(Entity::find().filter(Column::ServiceId.eq(service.id)).order_by_asc(Column::Id)).await?;
    let (gone, made) = difference(present, wanted.to_vec(), |row| Tool {
        category: row.category.clone(),
        display_name: row.display_name.clone(),
        url: row.url.clone(),
        environment: row.environment.clone(),
    });
    let gone: Vec<i64> = gone.iter().map(|row| row.id).collect();
    let is_changed = delete_by_ids::<Entity>(db, Column::Id, &gone).await? || !made.is_empty();
    if !made.is_empty() {
        let rows = made.into_iter().map(|Tool { category, display_name, url, environment }| ActiveModel {
            service_id: Set(service.id),
            category: Set(category),
            display_name: Set(display_name),
            url: Set(url),
            environment: Set(environment),
            ..Default::default()
        });
        db.exec(Entity::insert_many(rows)).await?;
    }
    Ok(is_changed)
}

/// Replaces the contacts of the owner in the column `owner`. The first of each type is the default.
pub(super) async fn contacts(
    db: &Transaction,
    owner: contact::Column,
    id: i64,
    wanted: &[Contact],
) -> Result<bool, db::Error> {
    use contact::{ActiveModel, Column, Entity};
    let mut types = HashSet::new();
    let each = wanted.iter().map(|one| (one.clone(), types.insert(one.r#type.as_str()))).collect();
    let present = db.all(Entity::find().filter(owner.eq(id)).order_by_asc(Column::Id)).await?;
    let (gone, made) = difference(present, each, |row| {
        let contact = Contact {
            r#type: row.r#type.clone(),
            address: row.address.clone(),
            display_name: row.display_name.clone(),
            display_type: row.display_type.clone(),
            external_id: row.external_id.clone(),
        };
        (contact, row.is_default)
    });
    let gone: Vec<i64> = gone.iter().map(|row| row.id).collect();
    let is_changed = delete_by_ids::<Entity>(db, Column::Id, &gone).await? || !made.is_empty();
    let rows: Vec<ActiveModel> = made
        .into_iter()
        .map(|(Contact { r#type, address, display_name, display_type, external_id }, is_default)| {
            let mut row = ActiveModel {
                r#type: Set(r#type),
                address: Set(address),
                display_name: Set(display_name),
                display_type: Set(display_type),
                external_id: Set(external_id),
                is_default: Set(is_default),
                ..Default::default()
            };
            row.set(owner, id.into());
            row
        })
        .collect();
    if !rows.is_empty() {
        db.exec(Entity::insert_many(rows)).await?;
    }
    Ok(is_changed)
}
