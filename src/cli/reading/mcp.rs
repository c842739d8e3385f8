//! `rollcall mcp`: the Model Context Protocol over standard input and output (its transport "stdio": a message a line).
//!
//! Invariant: no line ends the session. What is no message is answered here, by the errors of JSON-RPC 2.0, and goes to no
//! server.

use std::io::{self, BufRead, Read as _};
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::server;
use crate::cli::console::print;
use crate::config::Remote;
use crate::mcp::LONGEST_REQUEST;

/// The JSON-RPC error of a line that is not JSON.
const NOT_JSON: i32 = -32_700;

/// The JSON-RPC error of JSON that is no message.
const NO_MESSAGE: i32 = -32_600;

/// The JSON-RPC error of a message that the server did not answer.
const UNANSWERED: i32 = -32_000;

/// Where a request names its revision of the protocol, since 2026-07-28.
const VERSION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";

/// Passes messages on until the input ends.
pub(super) fn run(remote: &Remote, deadline: Duration) -> Result<(), String> {
    let server = server(remote, deadline)?;
    let pass_on = |headers: &[(&str, &str)], message: &str| server.pass_on("/mcp", headers, message);
    let mut input = io::stdin().lock();
    let mut version = None;
    while let Some(line) = next_line(&mut input).map_err(|error| format!("the input cannot be read: {error}"))? {
        if let Some(answer) = answer(&line, &mut version, pass_on) {
            print(&format!("{answer}\n"))?;
        }
    }
    Ok(())
}

/// Reads a line. Of one that is too long for a message, reads no more than shows that. `None` at the end.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if input.by_ref().take(LONGEST_REQUEST as u64 + 1).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.len() > LONGEST_REQUEST && line.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
    }
    Ok(Some(line))
}

/// The answer to a line. `None` if it needs none. `version` is what was agreed on.
fn answer(
    line: &[u8],
    version: &mut Option<String>,
    pass_on: impl Fn(&[(&str, &str)], &str) -> Result<String, String>,
) -> Option<Json> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return None;
    }
    if line.len() > LONGEST_REQUEST {
        return Some(error(&Json::Null, NO_MESSAGE, &format!("a message has at most {LONGEST_REQUEST} bytes")));
    }
    let read = str::from_utf8(line).map_err(|why| why.to_string());
    let read = read.and_then(|text| Ok((text, serde_json::from_str::<Json>(text).map_err(|why| why.to_string())?)));
    let (text, said): (&str, Json) = match read {
        Ok(read) => read,
        Err(why) => return Some(error(&Json::Null, NOT_JSON, &format!("the line is not JSON: {why}"))),
    };
    let id = said.get("id").filter(|id| is_id(id)).unwrap_or(&Json::Null);
    if let Some(why) = fault(&said) {
        return Some(error(id, NO_MESSAGE, why));
    }
    // A notification and an answer get none.
    let is_request = !id.is_null() && said.get("method").is_some();
    let unanswered = |why: &str| is_request.then(|| error(id, UNANSWERED, why));
    let answered = pass_on(&headers(&said, version.as_deref()), text);
    match answered {
        Ok(answer) => match serde_json::from_str::<Json>(&answer) {
            Ok(answer) => {
                if let Some(agreed) = answer.pointer("/result/protocolVersion").and_then(Json::as_str) {
                    *version = Some(agreed.to_owned());
                }
                Some(answer)
            }
            Err(_) => unanswered("what the server answered is not JSON"),
        },
        Err(why) => unanswered(&why),
    }
}

/// The headers with which a message is sent.
fn headers<'m>(said: &'m Json, agreed: Option<&'m str>) -> Vec<(&'static str, &'m str)> {
    let text = |place: &str| said.pointer(place).and_then(Json::as_str);
    let mut headers = vec![("accept", "application/json, text/event-stream")];
    headers.extend(text(VERSION).or(agreed).map(|version| ("mcp-protocol-version", version)));
    headers.extend(text("/method").map(|method| ("mcp-method", method)));
    headers.extend(text("/params/name").filter(|name| name.is_ascii()).map(|name| ("mcp-name", name)));
    headers
}

/// Why JSON is neither a request nor a notification nor an answer.
fn fault(said: &Json) -> Option<&'static str> {
    let Some(message) = said.as_object() else {
        return Some("a message is an object, in a line of its own");
    };
    let is_answer = message.contains_key("result") || message.contains_key("error");
    match (message.get("method"), message.get("params")) {
        _ if said["jsonrpc"] != "2.0" => Some("jsonrpc must be \"2.0\""),
        _ if message.get("id").is_some_and(|id| !is_id(id)) => Some("id must be a text or a whole number"),
        (None, _) if is_answer => None,
        (None, _) => Some("there is no method"),
        (Some(method), _) if !method.is_string() => Some("method must be a text"),
        (_, Some(params)) if !params.is_object() => Some("params must be an object"),
        _ => None,
    }
}

/// Whether a value can be the id of a request.
fn is_id(id: &Json) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}

fn error(id: &Json, code: i32, message: &str) -> Json {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said to a line by a server that answers so.
    fn said(line: &[u8], answered: Result<&str, &str>) -> Option<Json> {
        let pass_on = |_: &[(&str, &str)], _: &str| answered.map(str::to_owned).map_err(str::to_owned);
        answer(line, &mut None, pass_on)
    }

    #[test]
    fn what_is_no_message_is_answered_without_the_server() {
        let long = vec![b'1'; LONGEST_REQUEST + 1];
        for (line, code, id) in [
            (&b"{\"jsonrpc\""[..], NOT_JSON, Json::Null),
            (b"hello", NOT_JSON, Json::Null),
            (b"\xff\xfe", NOT_JSON, Json::Null),
            (b"{\"jsonrpc\": \"\xff\"}", NOT_JSON, Json::Null),
            (b"7", NO_MESSAGE, Json::Null),
            (b"null", NO_MESSAGE, Json::Null),
            (b"[{ \"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\" }]", NO_MESSAGE, Json::Null),
            (b"{}", NO_MESSAGE, Json::Null),
            (b"{ \"id\": 1, \"method\": \"ping\" }", NO_MESSAGE, json!(1)),
            (b"{ \"jsonrpc\": \"2.0\", \"id\": \"a\" }", NO_MESSAGE, json!("a")),
            (b"{ \"jsonrpc\": \"2.0\", \"id\": 2, \"method\": 7 }", NO_MESSAGE, json!(2)),
            (b"{ \"jsonrpc\": \"2.0\", \"id\": 3, \"method\": \"ping\", \"params\": [] }", NO_MESSAGE, json!(3)),
            (b"{ \"jsonrpc\": \"2.0\", \"id\": {}, \"method\": \"ping\" }", NO_MESSAGE, Json::Null),
            (b"{ \"jsonrpc\": \"2.0\", \"id\": null, \"method\": \"ping\" }", NO_MESSAGE, Json::Null),
            (&long[..], NO_MESSAGE, Json::Null),
        ] {
            let pass_on = |_: &[(&str, &str)], message: &str| -> Result<String, String> { panic!("{message}") };
            let shown = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
            let said = answer(line, &mut None, pass_on).expect("an answer");
            assert_eq!((&said["error"]["code"], said.get("id")), (&json!(code), Some(&id)), "{shown}: {said}");
        }
        assert_eq!(said(b" \r\n", Err("no")), None);
    }

    #[test]
    fn a_request_is_always_answered_and_a_notification_never() {
        let request = b"{ \"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\" }\n";
        assert_eq!(said(request, Ok("{ \"id\": 1 }")), Some(json!({ "id": 1 })));
        for answered in [Ok("<html>"), Ok(""), Err("the server is away")] {
            let said = said(request, answered).expect("an answer");
            assert_eq!((&said["error"]["code"], &said["id"]), (&json!(UNANSWERED), &json!(1)), "{answered:?}");
        }
        let notification = b"{ \"jsonrpc\": \"2.0\", \"method\": \"notifications/initialized\" }";
        let answer = b"{ \"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {} }";
        for answered in [Ok(""), Err("the server is away")] {
            assert_eq!(said(notification, answered), None, "{answered:?}");
        }
        for answered in [Ok(""), Err("the server is away")] {
            assert_eq!(said(answer, answered), None, "{answered:?}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out_as_a_whole() {
        let long = "x".repeat(3 * LONGEST_REQUEST);
        let text = format!("a\n{long}\nb\n\nc");
        let mut input = io::Cursor::new(text);
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut input).expect("lines") {
            lines.push(String::from_utf8(line).expect("text"));
        }
        assert_eq!((&*lines[0], &*lines[2], &*lines[3], &*lines[4]), ("a\n", "b\n", "\n", "c"));
        assert_eq!((lines.len(), lines[1].len()), (5, LONGEST_REQUEST + 1));
    }
}
