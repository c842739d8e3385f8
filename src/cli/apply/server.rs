//! Has a server apply the files: one mutation, so that all of them are applied or none.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Mistake;
use crate::cli::progress::Progress;
use crate::cli::remote::{Server, TOO_LARGE};
use crate::config::Apply;
use crate::graphql::service::service_file::{CHANGES, DOCUMENTS, ENTRIES};
use crate::service_file::{Applied, Bounds, Done, FieldChange, File, Note, Options, Outcome, Portions};

/// The timeout of one attempt. The server may have to wait for others, and then writes each file.
const ATTEMPT: Duration = Duration::from_secs(120);

const MUTATION: &str = "mutation Apply($input: ServiceFilesApplyInput!) { serviceFilesApply(input: $input) {
    documents { path line kind name outcome changes { field before after } }
    notTaken { path line column message isFailure }
    errors { message }
} }";

/// Sends the files and returns what the server did. The inner error is the mistakes in the files. Blocks.
///
/// Many documents of other catalogues are sent in portions, and then once more: what comes first may refer to what comes
/// later. A dry run sends them once.
///
/// # Errors
/// Why the server did nothing, or did not say what, in a sentence or a few.
pub(super) fn apply(
    settings: &Apply,
    files: &[File],
    options: &Options<'_>,
    progress: &Progress,
) -> Result<Result<Done, Vec<String>>, String> {
    let named = Server::resolve(&settings.remote, settings.deadline)?;
    let server = &named.ok_or("there is no server: give --server, or --context")?;
    let (failed, wrong): (Vec<Note>, Vec<Note>) =
        files.iter().filter_map(File::unsendable).partition(|note| note.is_failure);
    if !wrong.is_empty() {
        return Ok(Err(wrong.iter().map(ToString::to_string).collect()));
    }
    let sent: Vec<File> = files.iter().filter(|file| file.unsendable().is_none()).cloned().collect();
    if sent.is_empty() {
        return Ok(Ok(Done { left_out: failed, ..Done::default() }));
    }
    let mut done = send(server, &sent, options, progress)?;
    if let Ok(done) = &mut done {
        done.left_out.splice(..0, failed);
    }
    Ok(done)
}

/// Sends files that can be sent, in one request or in portions.
fn send(
    server: &Server,
    files: &[File],
    options: &Options<'_>,
    progress: &Progress,
) -> Result<Result<Done, Vec<String>>, String> {
    let bounds = Bounds { documents: DOCUMENTS, entries: ENTRIES, changes: CHANGES };
    let Some(portions) = Portions::split(files, &bounds) else {
        progress.phase("waiting for the server");
        return Ok(match apply_at(server, files, options)? {
            Answer::Done(done) => Ok(done),
            Answer::Mistakes(mistakes) => Err(mistakes),
            Answer::TooLarge(why) => Err(vec![too_large(files, &why)]),
        });
    };
    if options.releases_missing {
        let number = portions.portions.len();
        return Err(format!(
            "the files need {number} requests, and --release-missing needs all of them in one: leave it out, or apply them \
             without --server"
        ));
    }
    let rounds = if options.is_dry_run { 1 } else { 2 };
    let mut whole = Whole::default();
    let all = portions.portions.len() as u64 * rounds;
    let sent = progress.counted("sending", "requests", Some(all));
    for round in 1..=rounds {
        for (number, portion) in portions.portions.iter().enumerate() {
            let part =
                || format!("request {} of {}, after which nothing more was sent", number + 1, portions.portions.len());
            match apply_at(server, portion, options).map_err(|why| format!("{why} ({})", part()))? {
                Answer::Done(done) => whole.add(done, round == rounds, &portions),
                // Others may have been applied already, so this fails alone.
                Answer::TooLarge(why) => whole.add(failed(portion, &why), round == rounds, &portions),
                Answer::Mistakes(mut mistakes) => {
                    mistakes.push(format!("this was {}", part()));
                    return Ok(Err(mistakes));
                }
            }
            sent.add(1);
        }
    }
    Ok(Ok(whole.done))
}

/// What the portions of files did together.
#[derive(Default)]
struct Whole {
    done: Done,
    /// The places of the documents.
    places: HashMap<(String, u64, String, String), usize>,
    notes: HashSet<(String, u64, u64, String)>,
}

impl Whole {
    /// Adds what a portion did. Only the last round knows what is still left out.
    fn add(&mut self, Done { documents, left_out }: Done, is_last: bool, portions: &Portions) {
        for document in documents {
            let key = (document.path.clone(), document.line, document.kind.clone(), document.name.clone());
            match self.places.get(&key).and_then(|place| self.done.documents.get_mut(*place)) {
                None => {
                    self.places.insert(key, self.done.documents.len());
                    self.done.documents.push(document);
                }
                Some(before) if document.outcome != Outcome::Unchanged => {
                    if before.outcome == Outcome::Unchanged {
                        before.outcome = document.outcome;
                    }
                    before.changes.extend(document.changes);
                }
                Some(_) => {}
            }
        }
        for note in left_out.into_iter().filter(|note| is_last && portions.keeps(note)) {
            if self.notes.insert((note.path.clone(), note.line, note.column, note.message.clone())) {
                self.done.left_out.push(note);
            }
        }
    }
}

/// What a server says of a request.
enum Answer {
    Done(Done),
    /// The mistakes in the files: nothing was applied.
    Mistakes(Vec<String>),
    /// Why the request was not read: it is too large.
    TooLarge(String),
}

/// What a portion did that the server does not read.
fn failed(portion: &[File], why: &str) -> Done {
    let note = |file: &File| {
        let text = file.content.as_deref().unwrap_or_default();
        let line = text.lines().take_while(|line| line.trim().is_empty()).count() as u64 + 1;
        let message = format!("what begins here was not applied: {}", too_large(&[], why));
        Note { file: 0, path: file.path.clone(), line, column: 1, message, is_failure: true }
    };
    Done { documents: Vec::new(), left_out: portion.iter().map(note).collect() }
}

/// Says which files were too large for one request, and what to do.
fn too_large(files: &[File], why: &str) -> String {
    let largest = files.iter().max_by_key(|file| file.content.as_ref().map_or(0, String::len));
    let largest = match largest {
        Some(file) if files.len() > 1 => format!("; the largest of {} files is {}", files.len(), file.path),
        Some(file) => format!("; the file is {}", file.path),
        None => String::new(),
    };
    format!(
        "{why}{largest}. Apply less at a time, or start the server, and any proxy before it, with a larger --max-body"
    )
}

/// Has the server apply files, in one request.
fn apply_at(server: &Server, files: &[File], options: &Options<'_>) -> Result<Answer, String> {
    let texts =
        files.iter().map(|file| json!({ "path": file.path, "text": file.content.as_deref().unwrap_or_default() }));
    let input = json!({
        "files": texts.collect::<Vec<_>>(),
        "repository": options.origin.repository,
        "commit": options.origin.commit,
        "dryRun": options.is_dry_run,
        "releaseMissing": options.releases_missing,
    });
    let body = json!({ "query": MUTATION, "variables": { "input": input } }).to_string();
    let mut done = server.post(&body, ATTEMPT, |status, said| match status {
        TOO_LARGE => {
            let why = said["errors"][0]["message"].as_str().map(|why| why.trim_end_matches('.').to_owned());
            Some(Answer::TooLarge(why.unwrap_or_else(|| "the request is too large for the server".to_owned())))
        }
        _ => outcome(said),
    })?;
    if let (Answer::Mistakes(mistakes), [_]) = (&mut done, files)
        && mistakes.iter().any(|mistake| mistake.contains("apply fewer files at a time"))
    {
        mistakes.push("it is one file: split it, or apply it to the database itself, without --server".to_owned());
    }
    Ok(done)
}

/// What the mutation answers.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    documents: Option<Vec<Document>>,
    not_taken: Option<Vec<Left>>,
    errors: Vec<Mistake>,
}

#[derive(Deserialize)]
struct Document {
    path: Option<String>,
    line: Option<u64>,
    kind: String,
    name: String,
    outcome: String,
    changes: Vec<FieldChange>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Left {
    path: String,
    line: u64,
    column: u64,
    message: String,
    is_failure: bool,
}

/// What the server did, or the mistakes in the files. `None` if the response does not say.
fn outcome(said: &mut Value) -> Option<Answer> {
    let payload: Payload = serde_json::from_value(said["data"]["serviceFilesApply"].take()).ok()?;
    Some(match &*payload.errors {
        [] => Answer::Done(done(payload)),
        errors => Answer::Mistakes(errors.iter().map(|error| error.message.clone()).collect()),
    })
}

fn done(Payload { documents, not_taken, errors: _ }: Payload) -> Done {
    let document = |Document { path, line, kind, name, outcome, changes }: Document| Applied {
        path: path.unwrap_or_default(),
        line: line.unwrap_or_default(),
        kind,
        name,
        outcome: match &*outcome {
            "created" => Outcome::Created,
            "updated" => Outcome::Updated,
            "released" => Outcome::Released,
            _ => Outcome::Unchanged,
        },
        changes,
    };
    let note =
        |Left { path, line, column, message, is_failure }| Note { file: 0, path, line, column, message, is_failure };
    Done {
        documents: documents.into_iter().flatten().map(document).collect(),
        left_out: not_taken.into_iter().flatten().map(note).collect(),
    }
}
