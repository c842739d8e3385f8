//! An agent: calls the tools of `/mcp`.

use hyper::Method;
use serde_json::{Value, json};

use crate::harness::app::{Response, TestApp};

/// Posts a message with a token.
pub async fn post(app: &TestApp, token: &str, message: &str) -> Response {
    let bearer = format!("Bearer {token}");
    let headers = [
        ("authorization", &*bearer),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    app.request(Method::POST, "/mcp", &headers, message.to_owned()).await
}

pub fn text(response: &Response) -> String {
    String::from_utf8_lossy(&response.body).into_owned()
}

/// Sends a request of the protocol. Returns the whole answer.
pub async fn ask(app: &TestApp, token: &str, method: &str, params: Value) -> Value {
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string();
    let answer = post(app, token, &message).await;
    assert_eq!(answer.status, 200, "{method}: {}", text(&answer));
    let answer: Value = answer.json();
    assert_eq!(answer["id"], 7, "{answer}");
    answer
}

/// Calls a tool. `Err` is what a failed one says.
pub async fn call(app: &TestApp, token: &str, tool: &str, arguments: Value) -> Result<Value, String> {
    let answer = ask(app, token, "tools/call", json!({ "name": tool, "arguments": arguments })).await;
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    match answer["result"]["isError"] == true {
        true => Err(text),
        false => Ok(serde_json::from_str(&text).unwrap_or(Value::String(text))),
    }
}

/// The names of the tools that a token has.
pub async fn tools(app: &TestApp, token: &str) -> Vec<String> {
    let answer = ask(app, token, "tools/list", json!({})).await;
    let tools = answer["result"]["tools"].as_array().expect("tools");
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}
