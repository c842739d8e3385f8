//! Applies the documents of repositories.

use std::collections::HashMap;

use sea_orm::sea_query::OnConflict;
use sea_orm::{ActiveModelTrait, DatabaseTransaction, DbErr, EntityTrait, IntoActiveModel, ModelTrait, Set};

use super::Problems;
use super::apply::{self, Change};
use super::document::{Document, Given, RepositoryDocument, Subject};
use super::yaml::Spot;
use crate::entity::tag::Owner;
use crate::entity::{Timestamp, repository};

/// Creates and updates the repositories of the documents. Returns the result by document.
pub(super) async fn apply(
    db: &DatabaseTransaction,
    documents: &[Document],
    problems: &mut Problems,
) -> Result<Vec<(usize, Change)>, DbErr> {
    let mut changes = Vec::new();
    let mut described: HashMap<&str, (usize, Spot)> = HashMap::new();
    for (number, Document { file, subject }) in documents.iter().enumerate() {
        let Subject::Repository(document) = subject else { continue };
        let spot = document.alias.spot;
        if let Some((first, at)) = described.insert(document.alias.value.as_str(), (*file, spot)) {
            let first = problems.name(first).to_owned();
            let message = format!("this repository is already described at {first}:{}:{}", at.line, at.column);
            problems.add(*file, spot, message);
            continue;
        }
        changes.push((number, put(db, document).await?));
    }
    Ok(changes)
}

async fn put(db: &DatabaseTransaction, document: &RepositoryDocument) -> Result<Change, DbErr> {
    // Destructured without `..`, so that no key of a document is forgotten.
    let RepositoryDocument { name, alias, fields, tags } = document;
    let now = Timestamp::now();
    let new = repository::ActiveModel {
        name: Set(name.clone()),
        default_alias: Set(alias.value.clone()),
        private: Set(false),
        visible: Set(true),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    let unless_there = OnConflict::column(repository::Column::DefaultAlias).do_nothing().to_owned();
    let made = repository::Entity::insert(new).on_conflict(unless_there).exec_with_returning_many(db).await?;
    let (before, created) = match made.into_iter().next() {
        Some(made) => (made, true),
        None => {
            let there = repository::by_alias(db, &alias.value).await?;
            (there.ok_or_else(|| DbErr::RecordNotFound(format!("the repository {}", alias.value)))?, false)
        }
    };

    let mut after = before.clone();
    after.name.clone_from(name);
    for Given { rule, said } in fields {
        after.set(rule.column, said.value.clone());
    }
    let mut changed = after != before;
    let id = after.id;
    if changed {
        if !created {
            after.updated_at = Timestamp::now_after(before.updated_at);
        }
        after.into_active_model().reset_all().update(db).await?;
    }
    if let Some(tags) = tags {
        changed |= apply::tags(db, Owner::Repository(id), tags).await?;
    }
    Ok(Change::new("Repository", id, &alias.value, created, changed))
}
