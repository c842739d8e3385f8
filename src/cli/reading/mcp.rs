//! `rollcall mcp`: the Model Context Protocol over standard input and output (its transport "stdio": a message a line).

use std::io::{self, BufRead as _, Read as _};
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::server;
use crate::cli::console::print;
use crate::cli::remote::Server;
use crate::config::Remote;
use crate::mcp::LONGEST_REQUEST;

/// The JSON-RPC error of a message that the server did not answer.
const UNANSWERED: i32 = -32_000;

/// Where a request names its revision of the protocol, since 2026-07-28.
const VERSION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";

/// Passes messages on until the input ends.
pub(super) fn run(remote: &Remote, deadline: Duration) -> Result<(), String> {
    let server = server(remote, deadline)?;
    let mut input = io::stdin().lock();
    let mut version = None;
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(LONGEST_REQUEST as u64 + 1).read_until(b'\n', &mut line);
        if read.map_err(|error| format!("the input cannot be read: {error}"))? == 0 {
            return Ok(());
        }
        if line.len() > LONGEST_REQUEST {
            return Err(format!("a message is longer than {LONGEST_REQUEST} bytes"));
        }
        let line = String::from_utf8_lossy(&line);
        if !line.trim().is_empty()
            && let Some(answer) = pass_on(&server, line.trim(), &mut version)
        {
            print(&format!("{answer}\n"))?;
        }
    }
}

/// The answer to a message. `None` if it needs none. `version` is what was agreed on.
fn pass_on(server: &Server, message: &str, version: &mut Option<String>) -> Option<Json> {
    let said: Json = serde_json::from_str(message).unwrap_or_default();
    let text = |place: &str| said.pointer(place).and_then(Json::as_str);
    let mut headers = vec![("accept", "application/json, text/event-stream")];
    let agreed = version.clone();
    headers.extend(text(VERSION).or(agreed.as_deref()).map(|version| ("mcp-protocol-version", version)));
    headers.extend(text("/method").map(|method| ("mcp-method", method)));
    headers.extend(text("/params/name").filter(|name| name.is_ascii()).map(|name| ("mcp-name", name)));
    match server.pass_on("/mcp", &headers, message) {
        Ok(answer) => {
            let answer: Json = serde_json::from_str(&answer).ok()?;
            if let Some(agreed) = answer.pointer("/result/protocolVersion").and_then(Json::as_str) {
                *version = Some(agreed.to_owned());
            }
            Some(answer)
        }
        Err(why) => {
            let id = said.get("id").filter(|id| !id.is_null())?;
            Some(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": UNANSWERED, "message": why } }))
        }
    }
}
