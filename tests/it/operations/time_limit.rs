//! The time limit of queries.

use std::time::Duration;

use futures_util::future::join;
use rollcall::db::Write;
use rollcall::entity::user::Role;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::harness::app::{TestApp, read_to_end, soon, until_somebody_waits};
use crate::harness::browser::Browser;
use crate::harness::database::is_postgres;

/// Posts an operation. Its token is checked before this returns; [`finish`] sends the body.
async fn begin(app: &TestApp, length: usize) -> TcpStream {
    let mut stream = app.connect().await;
    let rest = format!("Connection: close\r\nContent-Length: {length}\r\nExpect: 100-continue\r\n\r\n");
    stream.write_all(format!("{}{rest}", app.head()).as_bytes()).await.expect("the service reads");
    let mut go_on = [0; 25];
    soon("100 Continue", stream.read_exact(&mut go_on)).await.expect("100 Continue");
    stream
}

fn body_of(answer: &str) -> Value {
    let body = answer.split_once("\r\n\r\n").expect("a body").1;
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

/// Takes all pooled connections that queries and mutations need, so that they wait.
async fn take_all(app: &TestApp) -> Vec<Box<dyn Send>> {
    let mut taken = Vec::<Box<dyn Send>>::new();
    for pool in app.db.pools().into_iter().filter(|pool| pool.name != "reserved") {
        for _ in 0..pool.most {
            taken.push(match pool.name {
                "write" => Box::new(app.db.begin_write().await.expect("a connection")),
                _ => Box::new(app.db.begin_read(None).await.expect("a connection")),
            });
        }
    }
    taken
}

#[tokio::test]
async fn a_query_beyond_its_time_limit_is_cancelled_and_its_connection_is_released() {
    let app = TestApp::with(&["--query-timeout", "100ms"]).await;
    let body = r#"{"query":"{ account { services { totalCount } } }"}"#;
    let mut waiting = begin(&app, body.len()).await;
    let taken = take_all(&app).await;
    waiting.write_all(body.as_bytes()).await.expect("the service reads");
    let answer = read_to_end(&mut waiting).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let message = "The query was stopped because it took longer than 100ms. Ask for less at once.";
    let error = json!({ "message": message, "extensions": { "code": "COST_ACTUAL_TOO_EXPENSIVE" } });
    assert_eq!(body_of(&answer), json!({ "errors": [error], "data": null }));

    drop(taken);
    let again = app.query("{ account { services { totalCount } } }", json!({})).await;
    assert_eq!(again, json!({ "data": { "account": { "services": { "totalCount": 0 } } } }));
    soon("all connections are given back", async {
        while app.db.pools().iter().any(|pool| pool.in_use > 0) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_mutation_runs_to_completion_after_the_deadline() {
    let app = TestApp::with(&["--query-timeout", "1s"]).await;
    let body = r#"{"query":"mutation { serviceCreate(input: { name: \"shop\" }) { service { name } } }"}"#;
    let mut waiting = begin(&app, body.len()).await;
    let taken = take_all(&app).await;
    waiting.write_all(body.as_bytes()).await.expect("the service reads");
    // Longer than the limit. The limit is long enough for a busy machine to begin the mutation within it.
    let early = timeout(Duration::from_millis(1500), waiting.peek(&mut [0])).await;
    assert!(early.is_err(), "it cannot be answered yet");
    drop(taken);
    let made = json!({ "data": { "serviceCreate": { "service": { "name": "shop" } } } });
    assert_eq!(body_of(&read_to_end(&mut waiting).await), made);
}

#[tokio::test]
async fn what_a_page_reads_beside_the_api_waits_for_its_turn_within_the_time_limit() {
    let app = TestApp::with(&["--query-timeout", "1s"]).await;
    let browser = Browser::of(&app, Role::Admin).await;
    let taken = take_all(&app).await;
    assert_eq!(browser.get("/audit").await.status, 503);
    drop(taken);
    assert_eq!(browser.get("/audit").await.status, 200);
}

#[tokio::test]
async fn what_the_server_took_long_to_read_is_answered_and_no_further_statement_runs_on_postgres() {
    if !is_postgres() {
        return;
    }
    let app = TestApp::with(&["--query-processor-time", "1s"]).await;
    let make = r#"mutation {
        teamCreate(input: { name: "Core" }) { errors { message } }
        serviceCreate(input: { name: "shop", ownerInput: { alias: "core" } }) { errors { message } }
    }"#;
    let made = app.query(make, json!({})).await;
    assert_eq!(made["data"]["serviceCreate"]["errors"], json!([]), "{made}");
    // The first statement waits for longer than the limit.
    let asked = async |fields: &str| {
        let holder = app.db.begin_write().await.expect("a transaction");
        holder.script("LOCK TABLE service IN ACCESS EXCLUSIVE MODE").await.expect("a lock");
        let released = async {
            until_somebody_waits(&app, || false).await;
            sleep(Duration::from_millis(1500)).await;
            app.db.roll_back(holder).await.expect("the end");
        };
        let query = format!("{{ account {{ services {{ nodes {{ {fields} }} }} }} }}");
        join(app.query(&query, json!({})), released).await.0
    };
    let answer = asked("name").await;
    assert_eq!(answer, json!({ "data": { "account": { "services": { "nodes": [{ "name": "shop" }] } } } }));
    let answer = asked("owner { name }").await;
    let message = "The query was stopped because it took more than 1s of processor time. Ask for less at once.";
    assert_eq!((&answer["errors"][0]["message"], &answer["data"]), (&json!(message), &Value::Null));
}
