//! What applies to every request and every connection.

use std::io::Read;

use hyper::Method;
use rollcall::entity::user::Role;
use rollcall::http::Drained;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::app::{TestApp, kept_open, read_to_end, send, soon};
use crate::harness::browser::Browser;
use crate::harness::webhook::record;

#[tokio::test]
async fn every_response_has_the_security_headers_and_no_banner() {
    let app = TestApp::start().await;
    let answers = [app.get("/livez").await, app.get("/nothing").await, app.post("{__typename}", json!({})).await];
    for answer in answers {
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{name}");
        }
        assert_eq!(answer.header("server"), None);
    }
}

#[tokio::test]
async fn a_clients_request_id_is_used_if_it_is_safe_to_log() {
    let app = TestApp::start().await;
    let id = |answer: crate::harness::app::Response| answer.header("x-request-id").expect("an id").to_owned();
    assert_eq!(id(app.get_with("/livez", &[("x-request-id", "Ab-1_2.3:4")]).await), "Ab-1_2.3:4");
    for bad in ["", "a b", "a\tb", "ä", &"x".repeat(129)] {
        let new = id(app.get_with("/livez", &[("x-request-id", bad)]).await);
        assert_eq!(new.len(), 24, "{bad}");
    }
    assert_ne!(id(app.get("/livez").await), id(app.get("/livez").await));
}

#[tokio::test]
async fn an_unknown_path_gets_404_as_json() {
    let app = TestApp::start().await;
    for path in ["/x", "/graphql/x", "/GraphQL", "/livez/", "/public/"] {
        let answer = app.get(path).await;
        assert_eq!(answer.status, 404, "{path}");
        let error = json!({ "message": "There is nothing at this address.", "extensions": { "code": "NOT_FOUND" } });
        assert_eq!(answer.json(), json!({ "errors": [error] }));
    }
}

#[tokio::test]
async fn the_schema_is_a_file_with_an_entity_tag() {
    let app = TestApp::start().await;
    let whole = app.get("/public/schema.graphql").await;
    let tag = whole.header("etag").expect("a tag").to_owned();
    let length = whole.body.len().to_string();
    assert!(tag.starts_with('"') && tag.ends_with('"'), "{tag} is strong");
    for (known, status) in [
        ("\"other\"", 200),
        ("*", 304),
        (&*tag, 304),
        (&*format!("W/{tag}"), 304),
        (&*format!("\"other\", {tag}"), 304),
    ] {
        let answer = app.get_with("/public/schema.graphql", &[("if-none-match", known)]).await;
        assert_eq!((answer.status, answer.header("etag")), (status, Some(&*tag)), "{known}");
        assert_eq!(answer.body.is_empty(), status == 304);
    }
    for client in [None, Some(app.http2())] {
        let answer = match client {
            None => app.request(Method::HEAD, "/public/schema.graphql", &[], "").await,
            Some(client) => send(&client, app.address, Method::HEAD, "/public/schema.graphql", &[], "").await,
        };
        assert_eq!((answer.status, answer.header("content-length")), (200, Some(&*length)));
        assert!(answer.body.is_empty());
    }
}

#[tokio::test]
async fn http_2_is_spoken_without_asking_first() {
    let app = TestApp::start().await;
    let token = format!("Bearer {}", app.token);
    let headers = [("content-type", "application/json"), ("authorization", &*token)];
    let body = r#"{"query":"{__typename}"}"#;
    let answer = send(&app.http2(), app.address, Method::POST, "/graphql", &headers, body).await;
    assert_eq!((answer.status, answer.json()), (200, json!({ "data": { "__typename": "Query" } })));
}

#[tokio::test]
async fn a_request_needs_exactly_one_valid_host_header() {
    let app = TestApp::start().await;
    for (head, status) in [
        ("GET /livez HTTP/1.1\r\nHost: a\r\n", 200),
        ("GET /livez HTTP/1.1\r\nHost: [::1]:8080\r\n", 200),
        ("GET /livez HTTP/1.0\r\n", 200),
        ("GET /livez HTTP/1.1\r\n", 400),
        ("GET /livez HTTP/1.1\r\nHost: a\r\nHost: a\r\n", 400),
        ("GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n", 400),
        ("GET /livez HTTP/1.0\r\nHost: a\r\nHost: b\r\n", 400),
        ("GET /livez HTTP/1.1\r\nHost:\r\n", 400),
        ("GET /livez HTTP/1.1\r\nHost: a b\r\n", 400),
        ("GET /livez HTTP/1.1\r\nHost: a@b\r\n", 400),
        ("GET /livez HTTP/1.1\r\nHost: a/b\r\n", 400),
    ] {
        let answer = app.raw(format!("{head}Connection: close\r\n\r\n")).await;
        let line = answer.lines().next().unwrap_or_default();
        assert!(line.contains(&format!(" {status} ")), "{head:?}: {line}");
    }
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused() {
    let app = TestApp::start().await;
    let filler = "x".repeat(40_000);
    let answer = app.raw(format!("GET /livez HTTP/1.1\r\nHost: a\r\nX: {filler}\r\n\r\n")).await;
    assert_eq!(refusal(&answer), (431, HEAD_TOO_LONG.to_owned()));
    let answer = send(&app.http2(), app.address, Method::GET, "/livez", &[("x", &*filler)], "").await;
    assert_eq!((answer.status, &answer.json()["errors"][0]["message"]), (431, &json!(HEAD_TOO_LONG)));
}

const HEAD_TOO_LONG: &str = "The head of the request is longer than 32768 bytes, or has more than 100 headers.";

/// The status and message of a plain text response.
fn refusal(answer: &str) -> (u16, String) {
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a body");
    assert!(head.contains("content-type: application/json; charset=utf-8\r\n"), "{head}");
    assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{head}");
    assert!(head.contains("\r\ndate: ") && head.contains("\r\nx-content-type-options: nosniff"), "{head}");
    let body: serde_json::Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
    assert_eq!(body["errors"][0]["extensions"]["code"], "BAD_USER_INPUT");
    (status, body["errors"][0]["message"].as_str().expect("a message").to_owned())
}

#[tokio::test]
async fn a_head_of_a_hundred_headers_is_accepted_and_one_more_is_refused() {
    let app = TestApp::start().await;
    let headers = |count: usize| (0..count).map(|n| format!("X-{n}: y\r\n")).collect::<String>();
    let get = |more: usize| format!("GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{}\r\n", headers(more));
    let answer = app.raw(get(98)).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert_eq!(refusal(&app.raw(get(99)).await), (431, HEAD_TOO_LONG.to_owned()));
    let names: Vec<_> = (0..101).map(|n| format!("x-{n}")).collect();
    let headers: Vec<_> = names.iter().map(|name| (&**name, "y")).collect();
    for (count, status) in [(100, 200), (101, 431)] {
        let answer = send(&app.http2(), app.address, Method::GET, "/livez", &headers[..count], "").await;
        assert_eq!(answer.status, status, "{answer:?}");
    }
}

#[tokio::test]
async fn a_malformed_request_is_refused_after_the_responses_before_it() {
    let app = TestApp::start().await;
    for text in ["nonsense\r\n\r\n", "GET /livez HTTP/1.1\r\nHost a\r\n\r\n", "GET /livez HTTP/3.0\r\nHost: a\r\n\r\n"]
    {
        assert_eq!(refusal(&app.raw(text).await), (400, "The request cannot be read as HTTP.".to_owned()), "{text}");
    }
    let answer = app.raw("GET /livez HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n").await;
    let (first, second) = answer.split_once("ok\n").expect("the answer of the first");
    assert!(first.starts_with("HTTP/1.1 200 "), "{answer}");
    assert_eq!(refusal(second).0, 400);
}

#[tokio::test]
async fn a_malformed_chunk_is_distinguished_from_a_truncated_body() {
    let app = TestApp::start().await;
    let malformed = "A chunk of the request's body is malformed.";
    for body in ["zz\r\n", "ffffffffffffffff1\r\n", "3\r\n{}}}\r\n0\r\n\r\n"] {
        let mut stream = app.connect().await;
        let request = format!("{}Transfer-Encoding: chunked\r\n\r\n{body}", app.head());
        stream.write_all(request.as_bytes()).await.expect("the service reads");
        let answer = read_to_end(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains(malformed), "{body:?}: {answer}");
    }
    let mut stream = app.connect().await;
    let request = format!("{}Transfer-Encoding: chunked\r\n\r\n3\r\n{{", app.head());
    stream.write_all(request.as_bytes()).await.expect("the service reads");
    stream.shutdown().await.expect("the end");
    let answer = read_to_end(&mut stream).await;
    assert!(answer.contains("The body of the request ended early."), "{answer}");
}

#[tokio::test]
async fn an_internal_error_has_the_request_id_on_every_surface() {
    let app = TestApp::start().await;
    let (_, url) = crate::harness::integration::deploy_endpoint(&app, "CI").await;
    let webhook = url.split_once(&app.address.to_string()).expect("our address").1;
    let browser = Browser::of(&app, Role::Admin).await;
    app.db.close().await.expect("the database closes");
    let token = format!("Bearer {}", app.token);
    let cookie = browser.cookie.as_deref().expect("a cookie");
    let (json, id) = (("content-type", "application/json"), ("x-request-id", "request-7"));
    let body = record(json!({})).to_string();
    let answers = [
        app.post_with("{ account { services { totalCount } } }", json!({}), &[("authorization", &token), id]).await,
        app.request(Method::POST, webhook, &[json, id], body).await,
        app.get_with("/services", &[("cookie", cookie), id]).await,
        app.get_with("/readyz", &[id]).await,
    ];
    for answer in answers {
        assert!(answer.status >= 500, "{answer:?}");
        assert!(answer.text().contains("The request was request-7."), "{answer:?}");
    }
}

#[tokio::test]
async fn browsers_get_strict_transport_security_if_the_application_uses_tls() {
    let name = "strict-transport-security";
    let app = TestApp::start().await;
    assert_eq!(app.get("/livez").await.header(name), None, "an answer in the clear must not say so");
    let behind_a_proxy = TestApp::with(&["--app-url", "https://catalogue.example.com"]).await;
    for path in ["/livez", "/sign-in", "/nothing"] {
        assert_eq!(behind_a_proxy.get(path).await.header(name), Some("max-age=31536000"), "{path}");
    }
}

#[tokio::test]
async fn a_connection_without_a_request_is_closed() {
    let app = TestApp::with(&["--header-timeout", "100ms"]).await;
    for start in ["", "GET /livez HTTP/1.1\r\nHost: a\r\n", "PRI * HTTP/2.0\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
        let mut stream = app.connect().await;
        stream.write_all(start.as_bytes()).await.expect("the service reads");
        read_to_end(&mut stream).await;
    }
}

#[tokio::test]
async fn a_slow_head_has_a_timeout() {
    let app = TestApp::with(&["--header-timeout", "200ms"]).await;
    let mut stream = app.connect().await;
    stream.write_all(b"GET /livez HTTP/1.1\r\n").await.expect("the service reads");
    // Ends only when the service disconnects.
    let mut answer = [0];
    let trickle = async {
        loop {
            tokio::select! {
                read = stream.read(&mut answer) => {
                    assert!(matches!(read, Ok(0) | Err(_)), "no answer");
                    break;
                }
                () = tokio::time::sleep(std::time::Duration::from_millis(20)) => {}
            }
            if stream.write_all(b"X: y\r\n").await.is_err() {
                break;
            }
        }
    };
    soon("the service disconnects", trickle).await;
}

#[tokio::test]
async fn a_connection_is_closed_when_it_is_idle() {
    let app = TestApp::with(&["--idle-timeout", "100ms"]).await;
    let answer = app.raw("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn a_connection_is_closed_if_its_client_does_not_read_the_responses() {
    let app = TestApp::with(&["--idle-timeout", "100ms"]).await;
    let mut stream = app.connect().await;
    // Ends only when the service disconnects.
    let request = b"GET /public/schema.graphql HTTP/1.1\r\nHost: a\r\n\r\n";
    soon("the service disconnects", async { while stream.write_all(request).await.is_ok() {} }).await;
}

#[tokio::test]
async fn a_long_response_is_compressed_for_clients_that_accept_it() {
    let app = TestApp::start().await;
    let query = format!("{{ account {{ {} }} }}", (0..100).map(|n| format!("alias{n}: name ")).collect::<String>());
    let token = format!("Bearer {}", app.token);
    let plain = app.post(&query, json!({})).await;
    assert_eq!((plain.header("content-encoding"), plain.header("vary")), (None, Some("accept-encoding")));
    for (accept, coding) in [
        ("gzip", Some("gzip")),
        ("br, GZIP;q=0.5", Some("gzip")),
        ("gzip, deflate, br, zstd", Some("gzip")),
        ("gzip;q=0, zstd;q=0.1", Some("zstd")),
        ("identity;q=0, *", Some("gzip")),
        ("br", None),
        ("gzip;q=0, identity", None),
        ("*;q=0", None),
    ] {
        let headers = [("authorization", &*token), ("accept-encoding", accept)];
        let answer = app.post_with(&query, json!({}), &headers).await;
        assert_eq!((answer.header("content-encoding"), answer.header("vary")), (coding, Some("accept-encoding")));
        let mut text = Vec::new();
        match coding {
            Some("gzip") => drop(flate2::read::GzDecoder::new(&*answer.body).read_to_end(&mut text).expect("gzip")),
            Some(_) => text = zstd::decode_all(&*answer.body).expect("zstd"),
            None => text.extend_from_slice(&answer.body),
        }
        assert_eq!(text, plain.body, "{accept}");
    }
    let short =
        app.post_with("{__typename}", json!({}), &[("authorization", &token), ("accept-encoding", "gzip")]).await;
    assert_eq!(short.header("content-encoding"), None);
}

#[tokio::test]
async fn head_names_the_coding_of_get_and_a_length_only_without_one() {
    let app = TestApp::start().await;
    for (accept, coding) in [("", None), ("gzip", Some("gzip")), ("zstd", Some("zstd"))] {
        let (path, headers) = ("/reference/Service", [("accept-encoding", accept)]);
        let get = app.get_with(path, &headers).await;
        assert_eq!((get.status, get.header("content-encoding")), (200, coding), "{accept}");
        let length = get.body.len().to_string();
        for client in [None, Some(app.http2())] {
            let head = match client {
                None => app.request(Method::HEAD, path, &headers, "").await,
                Some(client) => send(&client, app.address, Method::HEAD, path, &headers, "").await,
            };
            assert_eq!((head.status, head.header("content-encoding")), (200, coding), "{accept}");
            assert_eq!((head.header("vary"), head.header("etag")), (get.header("vary"), get.header("etag")));
            assert_eq!(head.header("content-length"), coding.is_none().then_some(&*length), "{accept}");
            assert!(head.body.is_empty(), "{accept}");
        }
    }
}

#[tokio::test]
async fn a_body_that_does_not_arrive_gets_408() {
    let app = TestApp::with(&["--body-timeout", "100ms"]).await;
    let answer = app.raw(format!("{}Content-Length: 10\r\n\r\n{{", app.head())).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("The body of the request did not arrive in time."), "{answer}");
}

#[tokio::test]
async fn a_request_without_a_token_is_answered_before_its_body_arrives() {
    let app = TestApp::start().await;
    let head = "POST /graphql HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n";
    let answer = app.raw(head).await;
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}

#[tokio::test]
async fn one_connection_more_than_there_is_room_for_takes_the_place_of_an_idle_one() {
    let app = TestApp::with(&["--max-connections", "1", "--trusted-proxies", "127.0.0.1"]).await;
    let mut first = kept_open(&app, b"").await.expect("a connection");
    let _second = kept_open(&app, b"").await.expect("a connection");
    assert!(read_to_end(&mut first).await.ends_with("ok\n"));
}

#[tokio::test]
async fn one_address_has_a_quarter_of_the_connections() {
    let app = TestApp::with(&["--max-connections", "8"]).await;
    let first = kept_open(&app, b"").await.expect("a connection");
    let _second = kept_open(&app, b"").await.expect("a connection");
    assert!(kept_open(&app, b"").await.is_none(), "beyond a quarter");
    drop(first);
    // The service notices soon that it has ended.
    soon("there is room again", async { while kept_open(&app, b"").await.is_none() {} }).await;
}

#[tokio::test]
async fn a_trusted_proxy_may_have_all_connections() {
    let app = TestApp::with(&["--max-connections", "8", "--trusted-proxies", "127.0.0.1"]).await;
    let mut open = Vec::new();
    for number in 1..=8 {
        open.push(kept_open(&app, b"").await.unwrap_or_else(|| panic!("connection {number} is closed")));
    }
}

#[tokio::test]
async fn livez_and_readyz_report_the_state_of_the_server() {
    let app = TestApp::start().await;
    for (path, body) in [("/livez", "ok\n"), ("/readyz", "ok\nwrites: ok\n")] {
        let answer = app.get(path).await;
        assert_eq!((answer.status, answer.text()), (200, body), "{path}");
        let answer = app.request(Method::POST, path, &[], "").await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD")), "{path}");
    }
    app.db.close().await.expect("the database closes");
    assert_eq!((app.get("/livez").await.status, app.get("/readyz").await.status), (200, 503));
}

#[tokio::test]
async fn a_stopping_server_is_not_ready() {
    let mut app = TestApp::with(&["--drain-delay", "1h"]).await;
    drop(app.stop());
    soon("it is not ready", async { while app.get("/readyz").await.status != 503 {} }).await;
    assert_eq!(app.get("/livez").await.status, 200);
}

#[tokio::test]
async fn a_stopping_server_finishes_its_running_requests() {
    let mut app = TestApp::start().await;
    let body = r#"{"query":"{__typename}"}"#;
    let mut busy = app.connect().await;
    busy.write_all(format!("{}Content-Length: {}\r\nExpect: 100-continue\r\n\r\n", app.head(), body.len()).as_bytes())
        .await
        .expect("the service reads");
    let mut go_on = [0; 25];
    soon("100 Continue", busy.read_exact(&mut go_on)).await.expect("100 Continue");
    let mut idle = app.connect().await;
    idle.write_all(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n").await.expect("the service reads");
    let (drained, idle, busy) = tokio::join!(app.stop(), read_to_end(&mut idle), async {
        busy.write_all(body.as_bytes()).await.expect("the service reads");
        read_to_end(&mut busy).await
    });
    assert_eq!(drained, Drained::Wholly);
    assert!(idle.starts_with("HTTP/1.1 200 "), "{idle}");
    assert!(busy.contains(r#"{"data":{"__typename":"Query"}}"#), "{busy}");
    assert!(TcpStream::connect(app.address).await.is_err(), "nobody listens");
}

#[tokio::test]
async fn a_request_that_does_not_end_is_cancelled_at_the_drain_deadline() {
    let mut app = TestApp::with(&["--drain-deadline", "100ms"]).await;
    let mut busy = app.connect().await;
    busy.write_all(format!("{}Content-Length: 10\r\nExpect: 100-continue\r\n\r\n", app.head()).as_bytes())
        .await
        .expect("the service reads");
    let mut go_on = [0; 25];
    soon("100 Continue", busy.read_exact(&mut go_on)).await.expect("100 Continue");
    assert_eq!(app.stop().await, Drained::Cut(1));
}

#[tokio::test]
async fn a_get_over_http_2_is_answered_whatever_comes_with_it() {
    let app = TestApp::start().await;
    for path in ["/livez", "/sign-in", "/nothing"] {
        let alone = send(&app.http2(), app.address, Method::GET, path, &[], "").await.status;
        for length in [1, 100_000, 1_000_000] {
            let answer = send(&app.http2(), app.address, Method::GET, path, &[], vec![b'x'; length]).await;
            assert_eq!(answer.status, alone, "{path} {length}");
        }
    }
    let answer = send(&app.http2(), app.address, Method::PUT, "/graphql", &[], vec![b'x'; 100_000]).await;
    assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")));
}
