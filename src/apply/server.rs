//! Has a server apply the files: one mutation, so that all of them are applied or none.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::Response;

use crate::config::{Apply, Secret};
use crate::outgoing::{self, Attempt, needs_tls, retry, retry_after};
use crate::service_file::{Applied, Done, FieldChange, File, Note, Options, Outcome};

/// The timeout of one attempt. The server may have to wait for others, and then writes each file.
const ATTEMPT: Duration = Duration::from_secs(120);
/// The longest response that is read, in bytes: twice the longest that a server gives.
const LONGEST_ANSWER: u64 = 16 << 20;

const MUTATION: &str = "mutation Apply($input: ServiceFilesApplyInput!) { serviceFilesApply(input: $input) {
    documents { path line kind name outcome changes { field before after } }
    notTaken { path line column message }
    errors { message }
} }";

/// Sends the files and returns what the server did. The inner error is the mistakes in the files. Blocks.
///
/// # Errors
/// Why the server did nothing, or did not say what, in a sentence or a few.
pub(super) fn apply(
    url: &str,
    settings: &Apply,
    files: &[File],
    options: &Options<'_>,
) -> Result<Result<Done, Vec<String>>, String> {
    let started = Instant::now();
    let token = settings.token()?;
    let unread: Vec<String> = files.iter().filter_map(|file| Some(file.content.as_ref().err()?.to_string())).collect();
    if !unread.is_empty() {
        return Ok(Err(unread));
    }
    let files =
        files.iter().map(|file| json!({ "path": file.path, "text": file.content.as_deref().unwrap_or_default() }));
    let input = json!({
        "files": files.collect::<Vec<_>>(),
        "repository": options.origin.repository,
        "commit": options.origin.commit,
        "dryRun": options.is_dry_run,
        "releaseMissing": options.releases_missing,
    });
    let body = json!({ "query": MUTATION, "variables": { "input": input } }).to_string();
    let agent = outgoing::agent();
    let left = || settings.deadline.saturating_sub(started.elapsed());
    retry(left, || attempt(&agent, url, &token, &body, left().min(ATTEMPT)))
}

fn attempt(
    agent: &Agent,
    server: &str,
    token: &Secret,
    body: &str,
    within: Duration,
) -> Attempt<Result<Done, Vec<String>>> {
    let request = agent.post(format!("{server}/graphql")).config().timeout_global(Some(within)).build();
    let request = request.header("content-type", "application/json").header("accept", "application/json");
    let sent = request.header("authorization", format!("Bearer {}", token.reveal())).send(body);
    let answer = sent.and_then(|mut response| {
        let text = response.body_mut().with_config().limit(LONGEST_ANSWER).lossy_utf8(true).read_to_string()?;
        Ok((response, text))
    });
    match answer {
        Ok((response, text)) => answered(&response, &text, server),
        Err(error) => Attempt::failed(&error, "request", server, "a rollcall server"),
    }
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
    changes: Vec<Change>,
}

#[derive(Deserialize)]
struct Change {
    field: String,
    before: Option<String>,
    after: Option<String>,
}

#[derive(Deserialize)]
struct Left {
    path: String,
    line: u64,
    column: u64,
    message: String,
}

#[derive(Deserialize)]
struct Mistake {
    message: String,
}

/// Returns the outcome of a response. `server` is the server's URL without `/graphql`.
fn answered<B>(response: &Response<B>, text: &str, server: &str) -> Attempt<Result<Done, Vec<String>>> {
    if let Some(why) = needs_tls(server, response, text) {
        return Attempt::Refused(why);
    }
    let mut said: Value = serde_json::from_str(text).unwrap_or_default();
    let status = response.status().as_u16();
    if let Ok(payload) = serde_json::from_value::<Payload>(said["data"]["serviceFilesApply"].take()) {
        return Attempt::Done(match &*payload.errors {
            [] => Ok(done(payload)),
            errors => Err(errors.iter().map(|error| error.message.clone()).collect()),
        });
    }
    let (host, path) = outgoing::split_url(server);
    if status == 404 && !path.is_empty() {
        return Attempt::Refused(format!(
            "there is no API at {host}{path}/graphql; give the address of the server, without {path}"
        ));
    }
    let details = said["errors"].as_array().into_iter().flatten();
    let details = details.filter_map(|error| error["message"].as_str().or(error["detail"].as_str()));
    let details = details.collect::<Vec<_>>().join("; ");
    match status {
        429 | 500..=599 => {
            let why = if details.is_empty() { format!("the server answers {status}") } else { details };
            Attempt::Again { why, after: retry_after(response) }
        }
        _ if details.is_empty() => {
            Attempt::Refused(format!("the server answers {status}, but not like a rollcall server: is the URL right?"))
        }
        _ => Attempt::Refused(details),
    }
}

fn done(Payload { documents, not_taken, errors: _ }: Payload) -> Done {
    let change = |Change { field, before, after }| FieldChange { field, before, after };
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
        changes: changes.into_iter().map(change).collect(),
    };
    let note = |Left { path, line, column, message }| Note { file: 0, path, line, column, message };
    Done {
        documents: documents.into_iter().flatten().map(document).collect(),
        left_out: not_taken.into_iter().flatten().map(note).collect(),
    }
}
