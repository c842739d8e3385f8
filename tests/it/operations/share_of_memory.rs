//! How much memory callers can occupy: with endless bodies, and with responses that they do not read.

use std::time::Instant;

use bytes::Bytes;
use futures_util::future::{join_all, select_all};
use http_body_util::Full;
use hyper::Request;
use hyper::client::conn::http2;
use hyper::header::HeaderValue;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rollcall::app::{MAX_FORM, MAX_STRANGERS_FORM};
use rollcall::db::Write;
use rollcall::entity::service;
use rollcall::entity::token::Scope;
use rollcall::entity::user::Role;
use rollcall::http::outbox;
use sea_orm::EntityTrait;
use sea_orm::sea_query::Expr;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::harness::app::{TestApp, soon};
use crate::harness::browser::{Browser, link_for};
use crate::harness::deadline::LONGEST;
use crate::harness::services::insert;

/// The head of a form post of the maximum size. The service sends `100 Continue` when it wants the body.
fn form(path: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: a\r\nSec-Fetch-Site: same-origin\r\nExpect: 100-continue\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n"
    )
}

#[tokio::test]
async fn the_body_of_a_post_without_a_session_is_not_read() {
    let app = TestApp::start().await;
    let unknown = "/sign-in/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    for (path, status) in [
        ("/services", 303),
        ("/new/service", 303),
        ("/sign-out", 303),
        ("/sign-in/openid", 404),
        ("/sign-in/x", 404),
        (unknown, 404),
    ] {
        let answer = app.raw(form(path, MAX_FORM)).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {answer}");
    }
    let head = "Host: a\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n";
    for (path, status) in [("/graphql", 401), ("/integrations/deploy/0198f0a2-0000-4000-8000-000000000000", 404)] {
        let answer = app.raw(format!("POST {path} HTTP/1.1\r\n{head}")).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {answer}");
    }
}

#[tokio::test]
async fn the_form_of_a_sign_in_link_is_read_and_its_size_limited() {
    let app = TestApp::start().await;
    let link = link_for(&app.db, "ada@example.com", Role::User).await;
    let answer = app.raw(form(&link, MAX_STRANGERS_FORM + 1)).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("longer than 4096 bytes"), "{answer}");
    let mut browser = Browser::new(&app);
    assert_eq!(browser.post(&link, &[("name", &*"x".repeat(4_000))]).await.location(), "/");
    let long = [("name", &*"x".repeat(MAX_FORM - 100))];
    assert_ne!(browser.post("/new/service", &long).await.status, 413, "whoever is signed in may send more");
}

#[tokio::test]
async fn endless_bodies_use_only_their_callers_share_of_memory() {
    let app = TestApp::with(&["--body-timeout", "60s"]).await;
    let other = format!("Bearer {}", app.new_token(Scope::Read, None).await);
    let length = 1024 * 1024;
    let mut begun = Vec::new();
    for _ in 0..20 {
        let mut stream = app.connect().await;
        let head = format!("{}Content-Length: {length}\r\n\r\n", app.head());
        begun.push(Box::pin(async move {
            stream.write_all(head.as_bytes()).await.expect("the service reads");
            // It need not accept all of this.
            let _ = stream.write_all(&vec![b' '; length - 1]).await;
            let mut answer = vec![0; 4096];
            let read = soon("an answer", stream.read(&mut answer)).await.expect("an answer");
            String::from_utf8_lossy(&answer[..read]).into_owned()
        }));
    }
    let (first, _, rest) = select_all(begun).await;
    assert!(first.starts_with("HTTP/1.1 503 ") && first.contains("retry-after: 1\r\n"), "{first}");
    assert!(first.contains("Too many large requests are being read."), "{first}");
    // In pieces, so that it takes memory of its own.
    let query = format!("{{ __typename }} #{}", "x".repeat(500_000));
    let answer = app.post_with(&query, json!({}), &[("authorization", &other)]).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    drop(rest);
}

/// A connection that reads the heads of responses and none of their bodies.
async fn closed(app: &TestApp) -> http2::SendRequest<Full<Bytes>> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(0);
    let (client, connection) = builder.handshake(TokioIo::new(app.connect().await)).await.expect("HTTP/2");
    tokio::spawn(connection);
    client
}

#[tokio::test]
async fn unread_responses_use_only_their_callers_share_of_memory() {
    let app = TestApp::with(&["--query-timeout", "5s"]).await;
    let other = app.new_token(Scope::Read, None).await;
    insert(&app.db, ["s0".to_owned()].into_iter()).await;
    let note = service::Entity::update_many().col_expr(service::Column::Note, Expr::value("x".repeat(50_000)));
    app.db.write(async |tx| tx.exec(note).await).await.expect("a note");
    let notes: String = (0..20).map(|n| format!("n{n}: note ")).collect();
    let query = json!({ "query": format!("{{ account {{ services {{ nodes {{ {notes} }} }} }} }}") }).to_string();
    let request = |token: &str| {
        let request =
            Request::post(format!("http://{}/graphql", app.address)).header("content-type", "application/json");
        let request = request.header("authorization", format!("Bearer {token}"));
        request.body(Full::new(Bytes::from(query.clone()))).expect("a request")
    };
    let slow = closed(&app).await;
    // About a megabyte each.
    let fitting = outbox::BOUNDS.share / 1_000_000;
    let mut taken = Vec::new();
    for _ in 0..fitting {
        let answer = slow.clone().send_request(request(&app.token)).await.expect("the head of an answer");
        let length: usize = answer.headers()["content-length"].to_str().expect("text").parse().expect("a number");
        assert!(answer.status() == 200 && length > 1_000_000, "{answer:?}");
        taken.push(answer);
    }
    let more = join_all((0..10).map(|_| slow.clone().send_request(request(&app.token))));
    let (more, refusal) = tokio::join!(more, app.post_body(query.clone()));
    for answer in more {
        let answer = answer.expect("the head of an answer");
        assert_eq!((answer.status().as_u16(), &answer.headers()["retry-after"]), (503, &HeaderValue::from_static("1")));
    }
    assert_eq!((refusal.status, &*refusal.code()), (503, "UNAVAILABLE"), "{refusal:?}");
    let message = refusal.json()["errors"][0]["message"].take();
    let expected = format!("{} The request was {}.", outbox::FULL, refusal.header("x-request-id").expect("an id"));
    assert_eq!(message, json!(expected));
    assert_eq!(app.post("{ __typename }", json!({})).await.status, 200, "short answers need no room");
    let another = closed(&app).await.send_request(request(&other)).await.expect("an answer");
    assert_eq!(another.status(), 200, "another caller has a share of its own");

    // Dropped responses return their memory.
    drop((taken, slow));
    let returned = Instant::now();
    loop {
        let answer = app.post_body(query.clone()).await;
        if answer.status == 200 {
            assert!(answer.body.len() > 1_000_000);
            break;
        }
        assert!(returned.elapsed() < LONGEST, "there is no room again");
    }
}
