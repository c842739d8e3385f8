//! Apollo's automatic persisted queries: a client that sends the hash of a document in the place of its text is told to
//! send the text.

use hyper::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::harness::app::TestApp;

const HASHED: &str = r#"{"persistedQuery":{"version":1,"sha256Hash":"ecf4"}}"#;

/// What the clients look for.
fn not_supported() -> Value {
    json!({ "errors": [{
        "message": "PersistedQueryNotSupported", "extensions": { "code": "PERSISTED_QUERY_NOT_SUPPORTED" },
    }] })
}

#[tokio::test]
async fn a_hash_without_its_query_is_answered_as_apollo_clients_expect() {
    let app = TestApp::start().await;
    for body in [
        format!(r#"{{"operationName":"A","variables":{{}},"extensions":{HASHED}}}"#),
        format!(r#"{{"extensions":{HASHED}}}"#),
        format!(r#"{{"query":null,"extensions":{HASHED}}}"#),
        format!(r#"{{"query":"","extensions":{HASHED}}}"#),
        r#"{"operationName":"A","extensions":{"clientLibrary":{"name":"x"},"persistedQuery":{"version":1,"sha256Hash":"aa"}}}"#.to_owned(),
        r#"{"extensions":{"persistedQuery":null}}"#.to_owned(),
    ] {
        let answer = app.post_body(body.clone()).await;
        assert_eq!((answer.status, answer.json()), (200, not_supported()), "{body}");
        assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"));
    }
    let token = format!("Bearer {}", app.token);
    let headers = [
        ("authorization", &*token),
        ("content-type", "application/json"),
        ("accept", "application/graphql-response+json"),
    ];
    let answer = app.request(Method::POST, "/graphql", &headers, format!(r#"{{"extensions":{HASHED}}}"#)).await;
    assert_eq!((answer.status, answer.json()), (200, not_supported()));
}

#[tokio::test]
async fn a_hash_beside_its_query_changes_nothing() {
    let app = TestApp::start().await;
    for extensions in [HASHED, "{}", "null", r#"{"other":1}"#, r#"{"persistedQuery":7}"#] {
        let answer = app.post_body(format!(r#"{{"query":"{{ __typename }}","extensions":{extensions}}}"#)).await;
        assert_eq!((answer.status, &*answer.body), (200, &br#"{"data":{"__typename":"Query"}}"#[..]), "{extensions}");
    }
    for extensions in ["{}", "null", r#"{"other":1}"#] {
        let answer = app.post_body(format!(r#"{{"extensions":{extensions}}}"#)).await;
        assert_eq!(answer.status, 400, "{extensions}");
        assert!(String::from_utf8_lossy(&answer.body).contains("The request has no query."), "{answer:?}");
    }
}

#[tokio::test]
async fn a_hash_may_come_by_get() {
    let app = TestApp::start().await;
    let token = format!("Bearer {}", app.token);
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    for path in [
        format!("/graphql?extensions={}", encoded(HASHED)),
        format!("/graphql/?operationName=A&variables=%7B%7D&extensions={}", encoded(HASHED)),
        format!("/graphql?query=&extensions={}", encoded(HASHED)),
    ] {
        let answer = app.get_with(&path, &[("authorization", &token)]).await;
        assert_eq!((answer.status, answer.json()), (200, not_supported()), "{path}");
        assert!(answer.header("ratelimit-remaining").is_some(), "{path}");
        assert_eq!(app.get_with(&path, &[("authorization", "Bearer x")]).await.status, 401, "{path}");
    }
    // Queries are not served over GET.
    for path in [
        format!("/graphql?query={}&extensions={}", encoded("{ __typename }"), encoded(HASHED)),
        format!("/graphql?query={}", encoded("{ __typename }")),
        "/graphql?extensions=%7B%7D".to_owned(),
        "/graphql?extensions=persistedQuery".to_owned(),
        "/graphql".to_owned(),
    ] {
        let answer = app.get_with(&path, &[("authorization", &token)]).await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{path}");
    }
}

#[tokio::test]
async fn a_refusal_of_a_request_names_the_header_or_the_encoding_at_fault() {
    let app = TestApp::start().await;
    let token = format!("Bearer {}", app.token);
    let query = r#"{"query":"{ __typename }"}"#;
    let deep = format!(r#"{{"query":"{{__typename}}","variables":{{"a":{}{}}}}}"#, "[".repeat(200), "]".repeat(200));
    let wide: Vec<u8> = query.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (kind, body, status, part) in [
        (None, query.as_bytes(), 415, "The request has no Content-Type."),
        (Some("text/plain"), query.as_bytes(), 415, "application/json, not text/plain."),
        (Some("application/json; charset=latin1"), query.as_bytes(), 415, "the charset of Content-Type is latin1."),
        (Some("application/json"), b"", 400, "The body is empty."),
        (Some("application/json"), b"{\"query\":\"\xff\"}", 400, "not UTF-8 from byte 10 on"),
        (Some("application/json"), &wide, 400, "UTF-16"),
        (Some("application/json"), b"\xef\xbb\xbf{}", 400, "byte order mark"),
        (Some("application/json"), br#"{"query":"a","query":"b"}"#, 400, "duplicate field `query`"),
        (Some("application/json"), deep.as_bytes(), 400, "The variables are nested more than"),
        (
            Some("application/json"),
            br#"{"query":"a","variables":[]}"#,
            400,
            "The variables of the request must be a JSON object, not an array.",
        ),
        (
            Some("application/json"),
            br#"{"query":"a","variables":"{\"a\":1}"}"#,
            400,
            "must be a JSON object, not a string: send the object itself, not its text.",
        ),
        (Some("application/json"), br#"{"query":"a","variables": 7}"#, 400, "not a number."),
        (Some("application/json"), br#"{"query":"a","variables":true}"#, 400, "not a boolean."),
    ] {
        let mut headers = vec![("authorization", &*token)];
        headers.extend(kind.map(|kind| ("content-type", kind)));
        let answer = app.request(Method::POST, "/graphql", &headers, body.to_vec()).await;
        assert_eq!(answer.status, status, "{part}");
        let said = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(said.contains(part), "{part}: {said}");
    }
}
