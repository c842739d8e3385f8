//! `rollcall apply`: reads service files and standards files, and applies them to the database, or has a server apply
//! them.
//!
//! [`service_file`] says what applying means.
//!
//! Invariant: service files are applied before standards files, because these name teams.

mod server;
mod standards;

use std::process::ExitCode;
use std::sync::Arc;

use serde::Deserialize;

use super::console::{print, say, sentence};
use super::opened::{with_database, with_new_database};
use super::progress::{Counted, Progress};
use crate::cli::sender::git;
use crate::config::{self, Apply};
use crate::db::{self, Db};
use crate::entity::audit::Actor;
use crate::entity::text::{is_nothing, one_line};
use crate::error::UserError;
use crate::events::Wanted;
use crate::service_file::{self, Applied, Done, FieldChange, File, FileSelection, Options, Origin, Outcome, Refused};

/// The exit status of a dry run that finds differences.
const DIFFERENCES: u8 = 3;

/// The exit status of a run that applied all but some documents of other catalogues, which are wrong.
const FAILURES: u8 = 4;

/// The most attempts for a run that loses races.
const ATTEMPTS: usize = 5;

/// A mistake in the files, as a payload says it.
#[derive(Deserialize)]
struct Mistake {
    message: String,
}

/// The exit status of a run that fails.
const FAILURE: u8 = 1;

/// Reads and applies the files, and prints what was done. Service files come first: standards refer to teams.
///
/// # Errors
/// An error that is not about the files, in a sentence or a few.
pub async fn run(settings: &Apply) -> Result<ExitCode, String> {
    let (files, options) = tokio::task::block_in_place(|| read(settings))?;
    let (standards, files): (Vec<File>, Vec<File>) = files.into_iter().partition(standards::is_one);
    let mut status = 0;
    if standards.is_empty() || !files.is_empty() {
        status = of_services(settings, &files, &options).await?;
    }
    if status != FAILURE && !standards.is_empty() {
        status = match of_standards(settings, &standards).await? {
            FAILURE => FAILURE,
            own => own.max(status),
        };
    }
    Ok(ExitCode::from(status))
}

/// Applies service files. Returns the exit status.
async fn of_services(settings: &Apply, files: &[File], options: &Options<'_>) -> Result<u8, String> {
    let progress = Progress::begin("reading the files");
    let looked_at = Arc::new(service_file::Progress::default());
    let done = match settings.has_server() {
        true => tokio::task::block_in_place(|| server::apply(settings, files, options, &progress))?,
        false => {
            let own = Arc::clone(&looked_at);
            let measure = move || {
                let (done, all) = own.get();
                Counted { done, all: Some(all), part: None }
            };
            progress.measured("applying", "documents", measure);
            let options = &Options { progress: Some(&looked_at), ..options.clone() };
            // Boxed: the compiler refuses futures that are nested too deeply.
            let apply = async |db: &Db| Ok(Box::pin(apply_to(db, files, options)).await);
            let done = match settings.dry_run {
                true => with_database(&settings.database, apply).await,
                false => with_new_database(&settings.database, apply).await,
            };
            match done? {
                Ok(done) => Ok(done),
                Err(Refused::Problems(notes)) => Err(notes.iter().map(ToString::to_string).collect()),
                Err(Refused::Failed(error)) => return Err(sentence(error)),
            }
        }
    };
    let ended = progress.end();
    match done {
        Ok(done) => {
            let status = tell(&done, settings.dry_run)?;
            // Whoever was told how far it is waits for the end.
            if ended.has_said {
                say(&format!("looked at {}", ended.sum(done.documents.len() as u64, "documents")));
            }
            Ok(status)
        }
        Err(mistakes) => {
            mistakes.iter().for_each(|mistake| say(mistake));
            if files.iter().any(File::is_found_by_mistake) {
                say(
                    "not every YAML file of a folder is a service file: name the files to read with --name, or name a \
                     narrower folder",
                );
            }
            Ok(FAILURE)
        }
    }
}

/// Applies standards files. Returns the exit status.
async fn of_standards(settings: &Apply, files: &[File]) -> Result<u8, String> {
    let progress = Progress::begin("applying standards");
    let done = match settings.has_server() {
        true => tokio::task::block_in_place(|| standards::apply_at(settings, files))?,
        false => {
            let apply = async |db: &Db| Box::pin(standards::apply_to(db, settings, files)).await.map_err(sentence);
            with_database(&settings.database, apply).await?
        }
    };
    progress.end();
    match done {
        Ok(standards::Done { text, differs }) => {
            print(&text)?;
            Ok(if settings.dry_run && differs { DIFFERENCES } else { 0 })
        }
        Err(mistakes) => {
            mistakes.iter().for_each(|mistake| say(mistake));
            Ok(FAILURE)
        }
    }
}

/// Applies the files to the database. A run that loses a race against another one is retried from the start.
async fn apply_to(db: &Db, files: &[File], options: &Options<'_>) -> Result<Done, Refused> {
    let (actor, wanted) = (Actor::command_line(), Wanted::default());
    wanted.read(db.read()).await?;
    let options = &Options { events: Some(&wanted), ..options.clone() };
    for _ in 0..ATTEMPTS {
        match service_file::apply(db, &actor, files, options).await {
            Err(Refused::Failed(error)) if db::Error::cause_of(&error).is_some_and(db::Error::is_lost_race) => {}
            done => return done,
        }
    }
    Err(Refused::Failed(UserError::base("conflict with another change; run the command again").into()))
}

/// Reads the files, and where they come from.
fn read(settings: &Apply) -> Result<(Vec<File>, Options<'static>), String> {
    let (checkout, pipeline) = (git::checkout(), config::pipeline());
    let given = |text: &Option<String>| text.clone().filter(|text| !is_nothing(text));
    let commit = given(&settings.commit).or(checkout.commit).or(pipeline.sha);
    let origin = match given(&settings.repository) {
        Some(repository) => {
            Origin::new(Some(&repository), commit.as_deref()).map_err(|error| error.message.into_owned())?
        }
        // A remote on this machine is no address for others.
        None => [checkout.remote, pipeline.repository]
            .into_iter()
            .flatten()
            .find_map(|remote| Origin::new(Some(&remote), commit.as_deref()).ok())
            .unwrap_or_default(),
    };
    if settings.release_missing && origin.repository.is_none() {
        return Err("--release-missing needs the repository; give --repository".to_owned());
    }
    // Without a repository nobody knows what a path in it would mean.
    let root = checkout.root.filter(|_| origin.repository.is_some());
    let files =
        service_file::collect(&FileSelection { paths: settings.files.clone(), names: settings.name.clone(), root });
    let (is_dry_run, releases_missing) = (settings.dry_run, settings.release_missing);
    Ok((
        files,
        Options { origin, is_dry_run, releases_missing, bounds: None, permit: None, events: None, progress: None },
    ))
}

/// Prints what was done, or would be, and what was left out.
fn tell(done: &Done, is_dry_run: bool) -> Result<u8, String> {
    done.left_out.iter().for_each(|note| say(&note.to_string()));
    let lines = done.documents.iter().map(|applied| if is_dry_run { planned(applied) } else { line(applied) });
    print(&lines.collect::<String>())?;
    let failed = done.left_out.iter().filter(|note| note.is_failure).count();
    if failed > 0 {
        let documents = if failed == 1 { "document was" } else { "documents were" };
        say(&format!("{failed} {documents} not applied; the rest was"));
        return Ok(FAILURES);
    }
    let differs = done.documents.iter().any(|applied| applied.outcome != Outcome::Unchanged);
    Ok(if is_dry_run && differs { DIFFERENCES } else { 0 })
}

fn line(applied: &Applied) -> String {
    let done = match applied.outcome {
        Outcome::Created => "created",
        Outcome::Updated => "updated",
        Outcome::Unchanged => "unchanged",
        Outcome::Released => "released",
    };
    format!("{done} {} {}\n", applied.kind, one_line(&applied.name))
}

/// What would be done, with the fields that would change.
fn planned(applied: &Applied) -> String {
    let done = match applied.outcome {
        Outcome::Created => "would create",
        Outcome::Updated => "would update",
        Outcome::Unchanged => return line(applied),
        Outcome::Released => "would release",
    };
    let mut text = format!("{done} {} {}\n", applied.kind, one_line(&applied.name));
    applied.changes.iter().for_each(|change| text += &changed(change));
    text
}

/// A field that would change.
fn changed(change: &FieldChange) -> String {
    let value = |value: &Option<String>| match value {
        None => "-".to_owned(),
        // The value of a property is JSON: a text has its quotation marks already.
        Some(json) if change.field.starts_with("properties.") => one_line(json).to_string(),
        Some(text) => format!("{text:?}"),
    };
    format!("  {}: {} → {}\n", change.field, value(&change.before), value(&change.after))
}
