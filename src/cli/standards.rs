//! `rollcall standards`: asks a server to create the starter set.

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::reading::server;
use crate::config::Remote;
use crate::entity::text::one_line;

const DOCUMENT: &str = "mutation { standardsStarterCreate { checks { name } errors { message } } }";

/// Creates the starter set. Returns a line for each new check. Blocks.
///
/// # Errors
/// Why it was not created, in a sentence or a few.
pub(super) fn starter(remote: &Remote, deadline: Duration) -> Result<String, String> {
    let said = server(remote, deadline)?.answer(DOCUMENT, &json!({}))?;
    let made = &said["data"]["standardsStarterCreate"];
    let errors = [&said["errors"], &made["errors"]].into_iter().filter_map(Json::as_array).flatten();
    let messages: Vec<&str> = errors.filter_map(|error| error["message"].as_str()).collect();
    if !messages.is_empty() {
        return Err(messages.join("; "));
    }
    let checks = made["checks"].as_array().map_or(&[][..], Vec::as_slice);
    if checks.is_empty() {
        return Ok("all checks of the starter set are there already\n".to_owned());
    }
    let line = |check: &Json| format!("created check {}\n", one_line(check["name"].as_str().unwrap_or_default()));
    Ok(checks.iter().map(line).collect())
}
