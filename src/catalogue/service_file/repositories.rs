//! Applies the documents of repositories.

use std::collections::HashMap;

use sea_orm::sea_query::{LockType, OnConflict};
use sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel, ModelTrait, Set};

use super::apply::{Change, key};
use super::document::{Document, Given, RepositoryDocument, Subject};
use super::lists;
use super::names::Names;
use super::report::Problems;
use super::yaml::Spot;
use crate::db::{self, RowOf, Transaction, Write};
use crate::entity::tag::Owner;
use crate::entity::{ByAlias, Timestamp, repository};

/// Creates and updates the repositories of the documents. Returns the result by document.
pub(super) async fn apply(
    db: &Transaction,
    documents: &[Document],
    problems: &mut Problems,
) -> Result<Vec<Change>, db::Error> {
    let (mut changes, mut names) = (Vec::new(), Names::default());
    let mut described: HashMap<&str, (usize, Spot)> = HashMap::new();
    for (number, Document { file, subject, .. }) in documents.iter().enumerate() {
        let Subject::Repository(document) = subject else { continue };
        let spot = document.alias.spot;
        if let Some((first, at)) = described.insert(document.alias.value.as_str(), (*file, spot)) {
            let first = problems.place(first, at);
            problems.fail(*file, spot, format!("this repository is already described at {first}"));
            continue;
        }
        changes.push(put(db, &mut names, number, *file, document, problems).await?);
    }
    Ok(changes)
}

async fn put(
    db: &Transaction,
    names: &mut Names,
    number: usize,
    file: usize,
    document: &RepositoryDocument,
    problems: &mut Problems,
) -> Result<Change, db::Error> {
    // Destructured without `..`, so that no key of a document is forgotten.
    let RepositoryDocument { name, alias, fields, tags } = document;
    let (before, is_created) = find_or_create(db, name, &alias.value, None).await?;
    let mut after = before.clone();
    after.name.clone_from(name);
    for Given { rule, said } in fields {
        match rule.value.reference() {
            Some(to) => {
                if let Some(found) = key(db, names, to, file, said, problems).await? {
                    after.set(rule.column, found.into());
                }
            }
            None => after.set(rule.column, said.value.clone()),
        }
    }
    if after.owner_id != before.owner_id {
        after.last_owner_changed_at = Some(Timestamp::now());
    }
    let mut changed = after != before;
    let id = after.id;
    if changed {
        if !is_created {
            after.updated_at = Timestamp::now_after(before.updated_at);
        }
        db.update(after.into_active_model().reset_all()).await?;
    }
    if let Some(tags) = tags {
        changed |= lists::tags(db, Owner::Repository(id), tags).await?;
    }
    Ok(Change {
        number,
        row: RowOf::new::<repository::Entity>(id),
        name: alias.value.clone(),
        is_created,
        is_changed: changed,
        is_behind: false,
    })
}

/// Returns the repository with this alias, locked, and whether it had to be created.
pub(super) async fn find_or_create(
    db: &Transaction,
    name: &str,
    alias: &str,
    url: Option<&str>,
) -> Result<(repository::Model, bool), db::Error> {
    let now = Timestamp::now();
    let new = repository::ActiveModel {
        name: Set(name.to_owned()),
        default_alias: Set(alias.to_owned()),
        url: Set(url.map(str::to_owned)),
        private: Set(false),
        visible: Set(true),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    let unless_there = OnConflict::column(repository::Column::DefaultAlias).do_nothing().to_owned();
    let made = db.returning(repository::Entity::insert(new).on_conflict(unless_there)).await?;
    match made.into_iter().next() {
        Some(made) => Ok((made, true)),
        None => {
            let there = repository::Entity::by_alias(&db.locking(LockType::NoKeyUpdate), alias).await?;
            // It was deleted, or got another alias, in the meantime: a lost race, which is retried.
            Ok((there.ok_or(db::Error::LostRace)?, false))
        }
    }
}
