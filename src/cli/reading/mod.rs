//! The commands that read: each asks a server one GraphQL document or a few, and prints the answer for people or for
//! programs.
//!
//! Invariants: a command reads through the API alone, so it sees what its token may see. A list is read in pages, and
//! has at most [`MOST`] rows. Whatever a name holds, a line of a table stays one line.

mod delivery;
mod deploys;
mod fit;
mod history;
pub mod impact;
mod infrastructure;
pub mod known;
mod list;
mod login;
mod mcp;
mod output;
mod owner;
mod search;
mod show;
mod standards;

use std::io::{self, Read as _};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value as Json, json};

pub(super) use output::print_rows;
pub(super) use standards::{failing, list as checks, missing};

use super::console::print;
use super::remote::Server;
use crate::config::{Query, Reading, Remote};

/// The maximum number of rows of a list.
const MOST: usize = 10_000;

/// The maximum length of a document that is read from a file, in bytes.
const LONGEST_DOCUMENT: u64 = 1 << 20;

/// Runs a command. Blocks.
///
/// # Errors
/// Why there is nothing to print, in a sentence or a few.
pub(super) fn run(command: Reading) -> Result<ExitCode, String> {
    match command {
        Reading::Show(named) => show::run(&named)?,
        Reading::Open(named) => show::open(&named)?,
        Reading::Impact(settings) => impact::run(&settings)?,
        Reading::List(list) => {
            list::check_flags(&list)?;
            match list::of_account(list.listed) {
                Some(listed) => list::run(&list, listed)?,
                None => infrastructure::run(&list)?,
            }
        }
        Reading::Search { words, asking } => search::run(&words.join(" "), &asking)?,
        Reading::Deploys(settings) => deploys::run(&settings)?,
        Reading::History(settings) => history::run(&settings)?,
        Reading::Revert(settings) => history::revert(&settings)?,
        Reading::Delivery(settings) => delivery::run(&settings)?,
        Reading::WhoOwns { what, asking } => owner::run(&what, &asking)?,
        Reading::Query(settings) => return query(&settings),
        Reading::Mcp { remote, deadline } => mcp::run(&remote, deadline)?,
        Reading::Login(settings) => login::run(&settings)?,
        Reading::Context(command) => login::contexts(command)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The server to ask.
pub(super) fn server(remote: &Remote, deadline: Duration) -> Result<Server, String> {
    let server = Server::resolve(remote, deadline)?;
    server.ok_or_else(|| "there is no server to ask: run rollcall login, or give --server".to_owned())
}

fn query(settings: &Query) -> Result<ExitCode, String> {
    let document = document(&settings.document)?;
    let variables = match &settings.variables {
        None => json!({}),
        Some(text) => serde_json::from_str(text).map_err(|error| format!("--variables is not JSON: {error}"))?,
    };
    let said = server(&settings.remote, settings.deadline)?.answer(&document, &variables)?;
    print(&format!("{said:#}\n"))?;
    let failed = said["errors"].as_array().is_some_and(|errors| !errors.is_empty());
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The document that is given, or that the file holds.
fn document(given: &str) -> Result<String, String> {
    let is_document = given.starts_with('{')
        || ["query", "mutation"]
            .iter()
            .any(|word| given.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '{', '(', '\n', '\t'])));
    if is_document {
        return Ok(given.to_owned());
    }
    let unread = |error: io::Error| format!("{given} cannot be read: {error}");
    let file: Box<dyn io::Read> = match given {
        "-" => Box::new(io::stdin()),
        path => Box::new(std::fs::File::open(path).map_err(unread)?),
    };
    let mut text = String::new();
    file.take(LONGEST_DOCUMENT).read_to_string(&mut text).map_err(unread)?;
    Ok(text)
}

/// Reads a list page by page: the nodes of the connection at `place`, at most `limit`. The document takes `$first` and
/// `$after`. The second value says whether there are more.
pub(super) fn nodes(
    server: &Server,
    document: &str,
    variables: Json,
    place: &str,
    limit: usize,
) -> Result<(Vec<Json>, bool), String> {
    let Pages { entries, has_more, .. } = pages(server, document, variables, (place, "nodes"), limit)?;
    Ok((entries, has_more))
}

/// What was read of a list.
pub(super) struct Pages {
    pub(super) entries: Vec<Json>,
    /// Whether there are more.
    pub(super) has_more: bool,
    /// What else the connection says, on the last page.
    pub(super) connection: Json,
}

/// Reads a list page by page: what the connection at a place has in its field, at most `limit`. The document takes `$first`
/// and `$after`.
pub(super) fn pages(
    server: &Server,
    document: &str,
    mut variables: Json,
    (place, field): (&str, &str),
    limit: usize,
) -> Result<Pages, String> {
    let limit = limit.min(MOST);
    let mut entries = Vec::new();
    loop {
        variables["first"] = json!((limit - entries.len()).min(100));
        let mut said = server.ask(document, &variables)?;
        let mut connection = said.pointer_mut(place).map(Json::take).unwrap_or_default();
        let Json::Array(mut found) = connection[field].take() else {
            return Ok(Pages { entries, has_more: false, connection });
        };
        let is_empty = found.is_empty();
        entries.append(&mut found);
        let has_more = connection["pageInfo"]["hasNextPage"] == json!(true);
        if !has_more || is_empty || entries.len() >= limit {
            return Ok(Pages { entries, has_more, connection });
        }
        variables["after"] = connection["pageInfo"]["endCursor"].take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_told_from_the_name_of_a_file() {
        for text in ["{ account { name } }", "query { x }", "query($a: ID) { x }", "mutation{ x }"] {
            assert_eq!(document(text), Ok(text.to_owned()));
        }
        for name in ["query.graphql", "queries", "mutations/one.graphql"] {
            let refused = document(name).expect_err("there is no such file");
            assert!(refused.starts_with(&format!("{name} cannot be read: ")), "{refused}");
        }
    }
}
