//! `rollcall mcp`: an agent that starts a program instead of sending requests.

use std::fs::File;

use rollcall::entity::token::Scope;
use rollcall::mcp::LONGEST_REQUEST;
use serde_json::{Value, json};

use crate::harness::app::TestApp;
use crate::harness::desk::{Desk, ended};

/// What the command says to some lines.
async fn said(desk: &Desk, lines: &[&[u8]]) -> Vec<Value> {
    desk.place.write("lines", lines.join(&b'\n'));
    let mut command = desk.bare(&["mcp"]);
    command.env("ROLLCALL_SERVER", &desk.url).env("ROLLCALL_TOKEN", &desk.token);
    command.stdin(File::open(desk.place.path().join("lines")).expect("the lines"));
    let done = ended(command).await;
    assert_eq!((done.status, &*done.err), (0, ""));
    done.out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_is_no_message_is_answered_with_the_error_of_json_rpc_and_the_session_goes_on() {
    let app = TestApp::start().await;
    let desk = Desk::at(&app, Scope::Read).await;
    let long = vec![b'x'; 2 * LONGEST_REQUEST];
    let list = |id: u8| format!(r#"{{ "jsonrpc": "2.0", "id": {id}, "method": "tools/list", "params": {{}} }}"#);
    let lines = [
        &b"{ \"jsonrpc\": "[..],
        list(1).as_bytes(),
        b"\xff\xfe",
        b"",
        b"[7]",
        b"{ \"jsonrpc\": \"2.0\", \"id\": 2, \"method\": 7 }",
        &long[..],
        b"{ \"jsonrpc\": \"2.0\", \"method\": \"notifications/initialized\" }",
        list(3).as_bytes(),
    ]
    .map(<[u8]>::to_vec);
    let said = said(&desk, &lines.iter().map(Vec::as_slice).collect::<Vec<_>>()).await;
    let told: Vec<Value> = said.iter().map(|answer| json!([answer["id"], answer["error"]["code"]])).collect();
    assert_eq!(
        told,
        [
            json!([null, -32_700]),
            json!([1, null]),
            json!([null, -32_700]),
            json!([null, -32_600]),
            json!([2, -32_600]),
            json!([null, -32_600]),
            json!([3, null]),
        ],
        "{said:?}"
    );
    for answer in &said {
        assert_eq!((&answer["jsonrpc"], answer.get("id").is_some()), (&json!("2.0"), true), "{answer}");
        assert!(answer["error"].is_null() || answer["error"]["message"].is_string(), "{answer}");
    }
    assert!(said[6]["result"]["tools"].as_array().is_some_and(|tools| !tools.is_empty()), "{}", said[6]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_away_is_an_answer_to_each_request() {
    let app = TestApp::start().await;
    let mut desk = Desk::at(&app, Scope::Read).await;
    desk.url = "http://127.0.0.1:1".to_owned();
    let request = br#"{ "jsonrpc": "2.0", "id": "a", "method": "tools/list" }"#;
    let said = said(&desk, &[request, request]).await;
    assert_eq!(said.len(), 2, "{said:?}");
    for answer in said {
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("a"), &json!(-32_000)), "{answer}");
    }
}
