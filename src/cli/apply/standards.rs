//! Standards files: a mutation applies them, at a server or in this process, after the service files.

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{Mistake, changed};
use crate::cli::remote::Server;
use crate::config::Apply;
use crate::db::Db;
use crate::entity::text::one_line;
use crate::error::{Code, Error};
use crate::graphql::request::caller::Caller;
use crate::graphql::{Catalogue, Settings, Unavailable};
use crate::service_file::{FieldChange, File, has_standards, key};

const MUTATION: &str = "mutation Apply($input: StandardsApplyInput!, $previewed: Boolean!) { standardsApply(input: $input) {
    entries { kind name outcome changes { field before after } }
    preview @include(if: $previewed) {
        checks { name counts { passed failed pending } before { passed failed pending } misses { service { aliases } message } }
        levels { name services before }
    }
    errors { message }
} }";

/// What is said in place of a preview that takes too long.
const NOT_SAID: &str =
    "How services would stand is not said: it takes too long to find out for so many checks and services at once.\n";

/// How many services that would not pass a check are printed.
const SHOWN: usize = 5;

/// Whether a file describes standards.
pub(super) fn is_one(file: &File) -> bool {
    file.content.as_ref().is_ok_and(|text| has_standards(text))
}

/// The variables of the mutation.
fn variables(settings: &Apply, files: &[File], is_previewed: bool) -> Json {
    let texts =
        files.iter().map(|file| json!({ "path": file.path, "text": file.content.as_deref().unwrap_or_default() }));
    let texts: Vec<Json> = texts.collect();
    let input = json!({ "files": texts, "dryRun": settings.dry_run, "deleteMissing": settings.delete_missing });
    json!({ "input": input, "previewed": is_previewed })
}

/// Whether a preview took more than a request may.
fn is_too_much(said: &Json) -> bool {
    let errors = said["errors"].as_array().into_iter().flatten();
    errors.into_iter().any(|error| error["extensions"]["code"] == Code::TooExpensive.as_str())
}

/// Has a server apply files. Blocks.
///
/// # Errors
/// Why nothing was done, in a sentence or a few.
pub(super) fn apply_at(settings: &Apply, files: &[File]) -> Result<Result<Done, Vec<String>>, String> {
    let named = Server::resolve(&settings.remote, settings.deadline)?;
    let server = named.ok_or("there is no server: give --server, or --context")?;
    let ask = |is_previewed| server.answer(MUTATION, &variables(settings, files, is_previewed));
    let said = ask(settings.dry_run)?;
    match settings.dry_run && is_too_much(&said) {
        true => done(ask(false)?, true),
        false => done(said, false),
    }
}

/// Applies files to the database.
///
/// # Errors
/// Why nothing was done, in a sentence or a few.
pub(super) async fn apply_to(db: &Db, settings: &Apply, files: &[File]) -> Result<Result<Done, Vec<String>>, Error> {
    let own = Settings::new("", "");
    own.events.read(db.read()).await?;
    let catalogue = Catalogue::new(db.clone(), own);
    let caller = Caller::command_line();
    let ask = async |is_previewed| {
        let variables = async_graphql::Variables::from_json(variables(settings, files, is_previewed));
        let request = async_graphql::Request::new(MUTATION).variables(variables);
        let first = |errors: Vec<async_graphql::ServerError>| {
            Error::internal(errors.first().map_or_else(String::new, |error| error.message.clone()))
        };
        let prepared = catalogue.prepare(&request).map_err(first)?;
        let response = catalogue.execute(&prepared, &caller, "rollcall apply", None).await;
        let response = response.map_err(|Unavailable(reason)| Error::internal(reason))?;
        Ok::<Json, Error>(serde_json::from_slice(&response.text)?)
    };
    let said = ask(settings.dry_run).await?;
    let done = match settings.dry_run && is_too_much(&said) {
        true => done(ask(false).await?, true),
        false => done(said, false),
    };
    done.map_err(Error::internal)
}

/// What a response says was done. `lacks_preview` says that a preview was wanted, and takes too long.
fn done(mut said: Json, lacks_preview: bool) -> Result<Result<Done, Vec<String>>, String> {
    let read = serde_json::from_value(Server::data(&mut said)?["standardsApply"].take());
    let Payload { entries, preview, errors } =
        read.map_err(|error| format!("the answer is not understood: {error}"))?;
    if !errors.is_empty() {
        return Ok(Err(errors.into_iter().map(|error| error.message).collect()));
    }
    let entries = entries.unwrap_or_default();
    let differs = entries.iter().any(|entry| entry.outcome != "unchanged");
    let is_dry_run = preview.is_some() || lacks_preview;
    let mut text: String = entries.into_iter().map(|entry| entry.lines(is_dry_run)).collect();
    text += &preview.map(Preview::lines).unwrap_or_default();
    if lacks_preview {
        text += NOT_SAID;
    }
    Ok(Ok(Done { text, differs }))
}

/// What was done, and in a dry run how services would stand.
pub(super) struct Done {
    /// Its lines.
    pub(super) text: String,
    /// Whether anything was changed, or would be.
    pub(super) differs: bool,
}

#[derive(Deserialize)]
struct Payload {
    entries: Option<Vec<Entry>>,
    #[serde(default)]
    preview: Option<Preview>,
    errors: Vec<Mistake>,
}

#[derive(Deserialize)]
struct Entry {
    kind: String,
    name: String,
    outcome: String,
    changes: Vec<FieldChange>,
}

impl Entry {
    fn lines(self, is_dry_run: bool) -> String {
        let done = match (&*self.outcome, is_dry_run) {
            ("created", true) => "would create",
            ("updated", true) => "would update",
            ("deleted", true) => "would delete",
            (outcome, _) => outcome,
        };
        let mut text = format!("{done} {} {}\n", self.kind, one_line(&self.name));
        if is_dry_run {
            for change in self.changes {
                text += &changed(&FieldChange { field: key(&change.field), ..change });
            }
        }
        text
    }
}

#[derive(Deserialize)]
struct Preview {
    checks: Vec<Check>,
    levels: Vec<Level>,
}

#[derive(Deserialize)]
struct Check {
    name: String,
    counts: Counts,
    before: Option<Counts>,
    misses: Vec<Miss>,
}

#[derive(Deserialize, PartialEq, Eq)]
struct Counts {
    passed: i64,
    failed: i64,
    pending: i64,
}

#[derive(Deserialize)]
struct Miss {
    service: Service,
    message: String,
}

#[derive(Deserialize)]
struct Service {
    aliases: Vec<String>,
}

#[derive(Deserialize)]
struct Level {
    name: String,
    services: i64,
    before: Option<i64>,
}

impl Preview {
    fn lines(self) -> String {
        let mut text = String::new();
        for Check { name, counts, before, misses } in self.checks {
            let numbers = |Counts { passed, failed, pending }: &Counts| {
                format!("{passed} pass, {failed} fail, {pending} pending")
            };
            let now = before.as_ref().map_or_else(|| "new".to_owned(), |before| format!("now {}", numbers(before)));
            text += &format!("check {}: {} ({now})\n", one_line(&name), numbers(&counts));
            if before.as_ref() == Some(&counts) {
                continue;
            }
            for Miss { service, message } in misses.iter().take(SHOWN) {
                text += &format!("  {}: {}\n", service.aliases.first().map_or("-", String::as_str), one_line(message));
            }
            let more = (counts.failed + counts.pending).saturating_sub(SHOWN as i64);
            if more > 0 {
                text += &format!("  and {more} more\n");
            }
        }
        for Level { name, services, before } in
            self.levels.into_iter().filter(|level| level.before != Some(level.services))
        {
            let now = before.map_or_else(|| "new".to_owned(), |before| format!("now {before}"));
            text += &format!("level {}: {services} services ({now})\n", one_line(&name));
        }
        text
    }
}
