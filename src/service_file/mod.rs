//! Service files: YAML that says what services and repositories should be, kept beside their code. Applying a file makes
//! them so, and locks its services, so that the file stays the one place where they are changed.
//!
//! README.md shows one of each kind, with all its keys.
//!
//! - A key that is there is set; null and the empty text clear it. A key that is not there leaves things as they are.
//! - `aliases`, `tags` and `repositories` are whole lists: what they do not name is taken away. The aliases that follow
//!   from a service's name stay.
//! - A service is the one whose alias is the document's name, else the one that has an alias of the document's list (a
//!   rename), else a new one. A repository is the one with the document's `alias`, else with that of its `url`, else
//!   with its name for an alias.
//! - The service is locked in the file's name as it was given; [`release`] unlocks it. A document that goes away changes
//!   nothing: the service stays, locked, until it is released. Repositories are not locked.
//! - All files are applied together or not at all, and repositories first.

mod apply;
mod document;
mod find;
mod read;
mod repositories;
mod yaml;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sea_orm::{ActiveModelTrait, DbErr, Set};

use self::yaml::Spot;
use crate::db::Db;
use crate::entity::audit::{self, Actor, Subject};
use crate::entity::{Timestamp, service};
use crate::error::{Error, UserError};

/// The name of standard input, where a file's name is to be told.
const STANDARD_INPUT: &str = "standard input";

/// Why nothing was changed.
#[derive(Debug)]
pub enum Refused {
    /// What is wrong with the files, a line for each thing: `file:line:column: message`.
    Problems(Vec<String>),
    /// It is not the files' fault.
    Failed(Error),
}

impl From<DbErr> for Refused {
    fn from(error: DbErr) -> Self {
        Self::Failed(error.into())
    }
}

/// Applies files, folders (their `.yml` and `.yaml` files, by name) and, as `-`, standard input; answers what came of
/// each document, such as `created service shopping_cart`.
///
/// # Errors
/// Everything that is wrong with the files; nothing is changed then.
pub async fn apply(db: &Db, places: &[PathBuf]) -> Result<Vec<String>, Refused> {
    let mut problems = Problems::default();
    let mut documents = Vec::new();
    for place in places {
        for source in sources(place, &mut problems) {
            let file = problems.file(source.clone());
            if let Some(text) = source.text(file, &mut problems) {
                documents.extend(read::read(file, &text, &mut problems));
            }
        }
    }
    db.write(async |db| {
        let done = apply::apply(db, &documents, &mut problems).await?;
        if !problems.list.is_empty() {
            return Err(Refused::Problems(problems.lines()));
        }
        let actor = Actor::command_line();
        for change in &done {
            if let Some(subject) = &change.subject {
                audit::record(db, &actor, "apply", subject.clone(), "{}".to_owned()).await?;
            }
        }
        Ok(done.into_iter().map(|change| change.line).collect())
    })
    .await
}

/// Unlocks the service with this alias. Answers its slug, and whether it was locked.
///
/// # Errors
/// When there is none.
pub async fn release(db: &Db, alias: &str) -> Result<(String, bool), Error> {
    db.write(async |db| {
        let unknown = || UserError::new("alias", format!("no service has the alias \"{alias}\"")).not_found();
        let found = service::by_alias(db, alias).await?.ok_or_else(unknown)?;
        let service = service::governed(db, &[found.id]).await?.remove(&found.id).ok_or_else(unknown)?;
        let (slug, locked) = (service.slug.clone(), service.locked_by.is_some());
        if locked {
            let mut row: service::ActiveModel = service::Model::from(service).into();
            row.locked_by = Set(None);
            row.updated_at = Set(Timestamp::now());
            let row = row.update(db).await?;
            let subject = Subject::new("Service", Some(row.id), &row.slug);
            audit::record(db, &Actor::command_line(), "release", subject, "{}".to_owned()).await?;
        }
        Ok((slug, locked))
    })
    .await
}

/// Where a text comes from.
#[derive(Debug, Clone)]
enum Source {
    StandardInput,
    File(PathBuf),
}

impl Source {
    fn name(&self) -> String {
        match self {
            Self::StandardInput => STANDARD_INPUT.to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    fn text(&self, file: usize, problems: &mut Problems) -> Option<String> {
        let bytes = match self {
            Self::StandardInput => {
                let mut bytes = Vec::new();
                io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
            }
            Self::File(path) => fs::read(path),
        };
        match bytes.map(String::from_utf8) {
            Ok(Ok(text)) => return Some(text),
            Ok(Err(error)) => {
                let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let valid = String::from_utf8_lossy(valid);
                let last = valid.rsplit('\n').next().unwrap_or_default();
                let spot =
                    Spot { line: valid.matches('\n').count() as u64 + 1, column: last.chars().count() as u64 + 1 };
                problems.add(file, spot, "this is not UTF-8");
            }
            Err(error) => problems.add(file, Spot::default(), format!("it cannot be read: {error}")),
        }
        problems.documents_are_missing = true;
        None
    }
}

/// The files that a place stands for.
fn sources(place: &Path, problems: &mut Problems) -> Vec<Source> {
    if place == Path::new("-") {
        return vec![Source::StandardInput];
    }
    if !place.is_dir() {
        return vec![Source::File(place.to_owned())];
    }
    let entries = fs::read_dir(place).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
    let mut files: Vec<PathBuf> = match entries {
        Ok(entries) => entries.iter().map(fs::DirEntry::path).collect(),
        Err(error) => {
            let file = problems.file(Source::File(place.to_owned()));
            problems.add(file, Spot::default(), format!("it cannot be read: {error}"));
            problems.documents_are_missing = true;
            return Vec::new();
        }
    };
    files.retain(|file| file.extension().is_some_and(|kind| kind == "yml" || kind == "yaml") && !file.is_dir());
    files.sort();
    if files.is_empty() {
        let file = problems.file(Source::File(place.to_owned()));
        problems.add(file, Spot::default(), "there is no .yml or .yaml file in this folder");
    }
    files.into_iter().map(Source::File).collect()
}

/// What is wrong, collected so that all of it is told at once.
#[derive(Debug, Default)]
struct Problems {
    files: Vec<String>,
    list: Vec<(usize, Spot, String)>,
    /// A document could not be read: what it would make is not known, and must not be missed.
    documents_are_missing: bool,
}

impl Problems {
    fn file(&mut self, source: Source) -> usize {
        self.files.push(source.name());
        self.files.len() - 1
    }

    fn add(&mut self, file: usize, spot: Spot, message: impl Into<String>) {
        self.list.push((file, spot, message.into()));
    }

    fn name(&self, file: usize) -> &str {
        self.files.get(file).map_or(STANDARD_INPUT, String::as_str)
    }

    /// In the order of the files, and from top to bottom.
    fn lines(&mut self) -> Vec<String> {
        self.list.sort_by_key(|(file, spot, _)| (*file, *spot));
        let line = |(file, Spot { line, column }, message): &(usize, Spot, String)| match line {
            0 => format!("{}: {message}", self.name(*file)),
            _ => format!("{}:{line}:{column}: {message}", self.name(*file)),
        };
        self.list.iter().map(line).collect()
    }
}
