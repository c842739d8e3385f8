//! Service files: YAML that describes services and repositories, kept beside their code. Applying a file updates the
//! catalogue and locks the services, so that they can only be changed in the file.
//!
//! README.md shows one of each kind, with all its keys.
//!
//! - A key sets its field; null and the empty text clear it. A missing key leaves the field unchanged.
//! - `aliases`, `tags` and `repositories` are complete lists: entries that are not listed are removed. Aliases derived
//!   from a service's name stay.
//! - A document refers to the service whose alias is the document's name, else to the one with an alias from its list
//!   (a rename), else to a new one. For a repository, the alias is the document's `alias`, else that of its `url`, else
//!   its name.
//! - The lock records the file's name as given; [`release`] unlocks the service. Removing a document changes nothing:
//!   its service stays locked until it is released. Repositories are not locked.
//! - All files are applied together or not at all. Repositories come first.

mod apply;
mod document;
mod find;
mod read;
mod repositories;
mod source;
mod yaml;

use std::path::PathBuf;

use sea_orm::{ActiveModelTrait, DbErr, Set};
use serde_json::{Value as Json, json};

use self::source::{Source, Sources};
use self::yaml::Spot;
use crate::db::Db;
use crate::entity::audit::{self, Actor, Subject};
use crate::entity::change::{self, List};
use crate::entity::service;
use crate::entity::timestamp::touch;
use crate::error::{Error, UserError};

/// The lists that a document can change.
const LISTS: [List; 3] = [List::Aliases, List::Tags, List::Repositories];

/// The name of standard input in messages.
const STANDARD_INPUT: &str = "standard input";

/// Why nothing was changed.
#[derive(Debug)]
pub enum Refused {
    /// The mistakes in the files, one per line: `file:line:column: message`.
    Problems(Vec<String>),
    /// An error that the files did not cause.
    Failed(Error),
}

impl From<DbErr> for Refused {
    fn from(error: DbErr) -> Self {
        Self::Failed(error.into())
    }
}

/// Applies files, folders (all `.yml` and `.yaml` files below them, sorted by name) and, as `-`, standard input.
/// Returns the result of each document, such as `created service shopping_cart`.
///
/// # Errors
/// All mistakes in the files. Nothing is changed then.
pub async fn apply(db: &Db, places: &[PathBuf]) -> Result<Vec<String>, Refused> {
    let mut problems = Problems::default();
    let mut documents = Vec::new();
    let mut sources = Sources::new(&mut problems);
    for place in places {
        sources.each(place, |file, text, problems| documents.extend(read::read(file, text, problems)));
    }
    db.write(async |tx| {
        let done = apply::apply(tx, &documents, &mut problems).await?;
        if !problems.list.is_empty() {
            return Err(Refused::Problems(problems.lines()));
        }
        let actor = Actor::command_line();
        for change in &done {
            if let Some(subject) = &change.subject {
                let changed = match (&subject.class, subject.id) {
                    (Some(class), Some(id)) => change::of(db.committed(), tx, class, id, &LISTS).await?,
                    _ => Json::Null,
                };
                audit::record(tx, &actor, "apply", subject.clone(), &json!({ "changed": changed })).await?;
            }
        }
        Ok(done.into_iter().map(|change| change.line).collect())
    })
    .await
}

/// Unlocks the service with this alias. Returns its slug, and whether it was locked.
///
/// # Errors
/// When there is none.
pub async fn release(db: &Db, alias: &str) -> Result<(String, bool), Error> {
    db.write(async |tx| {
        let unknown = || UserError::new("alias", format!("no service has the alias \"{alias}\"")).not_found();
        let found = service::by_alias(tx, alias).await?.ok_or_else(unknown)?;
        let service = service::governed(tx, &[found.id]).await?.remove(&found.id).ok_or_else(unknown)?;
        let (slug, locked) = (service.slug.clone(), service.locked_by.is_some());
        if locked {
            let mut row: service::ActiveModel = service::Model::from(service).into();
            row.locked_by = Set(None);
            touch(&mut row.updated_at);
            let row = row.update(tx).await?;
            let subject = Subject::new("Service", Some(row.id), &row.slug);
            let changed = change::of(db.committed(), tx, "Service", row.id, &[]).await?;
            audit::record(tx, &Actor::command_line(), "release", subject, &json!({ "changed": changed })).await?;
        }
        Ok((slug, locked))
    })
    .await
}

/// Collects mistakes, so that all of them are reported together.
#[derive(Debug, Default)]
struct Problems {
    files: Vec<String>,
    list: Vec<(usize, Spot, String)>,
    /// Whether a document could not be read. If so, references to missing things are not reported, because that
    /// document may define them.
    documents_are_missing: bool,
}

impl Problems {
    fn file(&mut self, source: &Source) -> usize {
        self.files.push(source.name());
        self.files.len() - 1
    }

    fn add(&mut self, file: usize, spot: Spot, message: impl Into<String>) {
        self.list.push((file, spot, message.into()));
    }

    fn name(&self, file: usize) -> &str {
        self.files.get(file).map_or(STANDARD_INPUT, String::as_str)
    }

    /// Returns the problems in the order of the files and lines. Each is a single line with control characters escaped,
    /// because CI systems execute commands at the start of a log line.
    fn lines(&mut self) -> Vec<String> {
        self.list.sort_by_key(|(file, spot, _)| (*file, *spot));
        let line = |(file, Spot { line, column }, message): &(usize, Spot, String)| match line {
            0 => format!("{}: {message}", self.name(*file)),
            _ => format!("{}:{line}:{column}: {message}", self.name(*file)),
        };
        self.list.iter().map(|problem| escaped(&line(problem))).collect()
    }
}

fn escaped(line: &str) -> String {
    let mut escaped = String::with_capacity(line.len());
    for letter in line.chars() {
        if letter.is_control() { escaped.extend(letter.escape_default()) } else { escaped.push(letter) }
    }
    escaped
}
