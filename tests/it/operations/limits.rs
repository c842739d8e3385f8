//! The rate limits of tokens and addresses.

use serde_json::json;

use crate::harness::app::{Response, TestApp};
use crate::harness::webhook::record;

fn number(response: &Response, name: &str) -> Option<u64> {
    response.header(name).map(|value| value.parse().expect("a number"))
}

#[tokio::test]
async fn of_401_requests_with_a_token_exactly_400_are_answered() {
    let app = TestApp::start().await;
    for left in (0..400).rev() {
        let response = app.post("{__typename}", json!({})).await;
        assert_eq!((response.status, number(&response, "ratelimit-remaining")), (200, Some(left)));
        let wait = number(&response, "ratelimit-retry-after").expect("the header");
        assert_eq!(wait > 0, left == 0, "{left} left, wait {wait}");
        assert_eq!(response.header("retry-after"), None);
    }
    let refused = app.post("{__typename}", json!({})).await;
    assert_eq!((refused.status, &*refused.code()), (429, "RATE_LIMITED"));
    assert_eq!(refused.header("content-type"), Some("application/json; charset=utf-8"));
    assert_eq!(number(&refused, "ratelimit-remaining"), Some(0));
    let wait = number(&refused, "retry-after").expect("the header");
    assert_eq!(number(&refused, "ratelimit-retry-after"), Some(wait));
    assert!((1..=60).contains(&wait), "{wait}");
}

#[tokio::test]
async fn every_token_has_its_own_limit() {
    let app = TestApp::with(&["--token-limit", "1"]).await;
    let other = format!("Token {}", app.new_token(rollcall::entity::token::Scope::Read, None).await);
    assert_eq!(app.post("{__typename}", json!({})).await.status, 200);
    assert_eq!(app.post("{__typename}", json!({})).await.status, 429);
    assert_eq!(app.post_with("{__typename}", json!({}), &[("authorization", &other)]).await.status, 200);
}

#[tokio::test]
async fn a_limit_of_0_means_no_limit() {
    let app = TestApp::with(&["--token-limit", "0", "--ip-limit", "0"]).await;
    let response = app.post("{__typename}", json!({})).await;
    assert_eq!((response.status, response.header("ratelimit-remaining")), (200, None));
}

#[tokio::test]
async fn every_request_from_an_address_counts() {
    let app = TestApp::with(&["--ip-limit", "4"]).await;
    let unknown = app.post_with("{__typename}", json!({}), &[]).await;
    assert_eq!((unknown.status, number(&unknown, "ratelimit-remaining")), (401, Some(3)));
    assert_eq!(app.get("/sign-in").await.status, 200);
    assert_eq!(app.get("/nothing").await.status, 404);
    assert_eq!(app.post("{__typename}", json!({})).await.status, 200);
    let refused = app.post("{__typename}", json!({})).await;
    assert_eq!(
        (refused.status, &*refused.code(), number(&refused, "ratelimit-remaining")),
        (429, "RATE_LIMITED", Some(0))
    );
    let wait = number(&refused, "retry-after").expect("the header");
    assert!((1..=300).contains(&wait), "{wait}");
    let other = app.get("/sign-in").await;
    assert_eq!((other.status, other.header("ratelimit-remaining")), (429, None));
    assert!(number(&other, "retry-after").is_some());
}

#[tokio::test]
async fn health_checks_are_not_limited_by_other_requests_from_their_address() {
    let app = TestApp::with(&["--ip-limit", "1"]).await;
    for _ in 0..5 {
        assert_eq!((app.get("/livez").await.status, app.get("/readyz").await.status), (200, 200));
    }
    assert_eq!((app.get("/sign-in").await.status, app.get("/sign-in").await.status), (200, 429));
    assert_eq!((app.get("/livez").await.status, app.get("/readyz").await.status), (200, 200));
}

#[tokio::test]
async fn x_forwarded_for_of_an_unknown_peer_changes_nothing() {
    let app = TestApp::with(&["--ip-limit", "1"]).await;
    assert_eq!(app.get_with("/sign-in", &[("x-forwarded-for", "192.0.2.1")]).await.status, 200);
    assert_eq!(app.get_with("/sign-in", &[("x-forwarded-for", "192.0.2.2")]).await.status, 429);
}

#[tokio::test]
async fn behind_a_trusted_proxy_the_limit_applies_to_the_client() {
    let app = TestApp::with(&["--ip-limit", "1", "--trusted-proxies", "10.0.0.0/8,127.0.0.1"]).await;
    for (forwarded, status) in [
        ("192.0.2.1", 200),
        ("192.0.2.1, 10.0.0.1", 429),
        ("192.0.2.9, 192.0.2.1", 429),
        ("192.0.2.2", 200),
        ("2001:db8::1", 200),
        ("2001:db8::2", 429),
        ("2001:db8:0:1::1", 200),
    ] {
        let answer = app.get_with("/sign-in", &[("x-forwarded-for", forwarded)]).await;
        assert_eq!(answer.status, status, "{forwarded}");
    }
}

#[tokio::test]
async fn bytes_that_are_not_ascii_do_not_hide_the_client_that_a_proxy_names() {
    let app = TestApp::with(&["--ip-limit", "1", "--trusted-proxies", "10.0.0.0/8,127.0.0.1"]).await;
    for (lines, status) in [
        (&[&b"\xff, 192.0.2.1"[..]][..], 200),
        (&[b"caf\xe9,192.0.2.1, 10.0.0.1"], 429),
        (&[b"\xc3\xa9", b"192.0.2.1"], 429),
        (&[b"192.0.2.9\xff, 192.0.2.1,"], 429),
        (&[b"\xff\xff, 192.0.2.2"], 200),
        (&[b"192.0.2.3", b"192.0.2.2 , 10.0.0.1"], 429),
        // Who is left of an entry that is no address is not known: this is the proxy's own.
        (&[b"192.0.2.4, \xff"], 200),
        (&[b"192.0.2.5, \xff"], 429),
    ] {
        let mut request = b"GET /sign-in HTTP/1.1\r\nHost: test\r\nConnection: close\r\n".to_vec();
        for line in lines {
            request.extend([b"X-Forwarded-For: ", *line, b"\r\n"].concat());
        }
        request.extend(b"\r\n");
        let answer = app.raw(request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{lines:?}: {answer:.60}");
    }
}

#[tokio::test]
async fn the_webhook_reports_the_limit_in_its_own_format() {
    let app = TestApp::with(&["--ip-limit", "2"]).await;
    let (_, url) = crate::harness::integration::deploy_endpoint(&app, "CI").await;
    let path = url.split_once(&app.address.to_string()).expect("our address").1;
    let headers = [("content-type", "application/json")];
    let post = || app.request(hyper::Method::POST, path, &headers, record(json!({})).to_string());
    assert_eq!(post().await.status, 202);
    let refused = post().await;
    let wait = number(&refused, "retry-after").expect("the header");
    let error = &refused.json()["errors"][0];
    assert_eq!((refused.status, &error["status"], &error["title"]), (429, &json!(429), &json!("Too Many Requests")));
    assert!(error["detail"].is_string() && (1..=300).contains(&wait), "{refused:?}");
}
