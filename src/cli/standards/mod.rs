//! `rollcall standards`: asks a server what services lack, to create the starter set, to print its standards as a file, and
//! to release one.
//!
//! Invariant: all of it goes through the API of the server. Nothing here opens a database.

mod export;

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::console::print;
use super::reading::{self, server};
use crate::config::{Remote, StandardsCommand};
use crate::entity::text::one_line;

const STARTER: &str = "mutation { standardsStarterCreate { checks { name } errors { message } } }";

const RELEASE: &str =
    "mutation($input: StandardsReleaseInput!) { standardsRelease(input: $input) { released errors { message } } }";

/// Runs a command. Blocks.
///
/// # Errors
/// Why it did nothing, in a sentence or a few.
pub(super) fn run(command: &StandardsCommand) -> Result<(), String> {
    match command {
        StandardsCommand::Missing { service, asking } => reading::missing(service, asking),
        StandardsCommand::Failing { name, asking } => reading::failing(name, asking),
        StandardsCommand::List { asking } => reading::checks(asking),
        StandardsCommand::Starter { remote, deadline } => print(&starter(remote, *deadline)?),
        StandardsCommand::Export { remote, deadline } => print(&export::standards(&server(remote, *deadline)?)?),
        StandardsCommand::Release { file, remote, deadline } => print(&release(file, remote, *deadline)?),
    }
}

/// Runs a mutation. Returns its payload.
fn mutate(remote: &Remote, deadline: Duration, document: &str, name: &str, variables: &Json) -> Result<Json, String> {
    let mut said = server(remote, deadline)?.answer(document, variables)?;
    let made = said["data"][name].take();
    let errors = [&said["errors"], &made["errors"]].into_iter().filter_map(Json::as_array).flatten();
    let messages: Vec<&str> = errors.filter_map(|error| error["message"].as_str()).collect();
    if messages.is_empty() { Ok(made) } else { Err(messages.join("; ")) }
}

/// Creates the starter set. Returns a line for each new check.
fn starter(remote: &Remote, deadline: Duration) -> Result<String, String> {
    let made = mutate(remote, deadline, STARTER, "standardsStarterCreate", &json!({}))?;
    let checks = made["checks"].as_array().map_or(&[][..], Vec::as_slice);
    if checks.is_empty() {
        return Ok("all checks of the starter set are there already\n".to_owned());
    }
    let line = |check: &Json| format!("created check {}\n", one_line(check["name"].as_str().unwrap_or_default()));
    Ok(checks.iter().map(line).collect())
}

fn release(file: &str, remote: &Remote, deadline: Duration) -> Result<String, String> {
    let variables = json!({ "input": { "path": file } });
    let done = mutate(remote, deadline, RELEASE, "standardsRelease", &variables)?;
    Ok(format!("released {} standards of {}\n", done["released"], one_line(file)))
}
