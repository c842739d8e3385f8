//! The PROXY protocol: whom its headers are believed from, and what they change.

use std::time::Duration;

use rollcall::db::Read;
use rollcall::entity::audit;
use sea_orm::{EntityTrait, QueryOrder};
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use crate::harness::app::{TestApp, kept_open, read_to_end};
use crate::harness::process::Process;
use crate::harness::program::{Place, assert_refused};

const ON: &[&str] = &["--proxy-protocol", "--trusted-proxies", "127.0.0.1"];

/// A header of version 1 for this client.
fn line(client: &str) -> Vec<u8> {
    format!("PROXY TCP4 {client} 127.0.0.1 40000 443\r\n").into_bytes()
}

/// A header of version 2 for the client 192.0.2.LAST, with an addition.
fn block(last: u8) -> Vec<u8> {
    let addresses = [192, 0, 2, last, 127, 0, 0, 1, 0x9c, 0x40, 1, 0xbb];
    [&b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x11"[..], &addresses, &[4, 0, 2, 0, 0]].concat()
}

/// The response to a GET after these bytes. Empty if the connection is closed without one.
async fn get(app: &TestApp, before: &[u8], path: &str, headers: &str) -> String {
    let head = format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n{headers}\r\n");
    app.raw([before, head.as_bytes()].concat()).await
}

fn status(answer: &str) -> &str {
    answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).unwrap_or("closed")
}

#[tokio::test]
async fn limits_and_the_audit_see_the_client_of_a_proxy_header() {
    let app = TestApp::with(&[ON, &["--ip-limit", "1"]].concat()).await;
    for (header, expected) in [
        (line("192.0.2.1"), "200"),
        (line("192.0.2.1"), "429"),
        (block(1), "429"),
        (block(2), "200"),
        (line("192.0.2.2"), "429"),
        (b"PROXY TCP6 2001:db8::1 ::1 40000 443\r\n".to_vec(), "200"),
        (b"PROXY TCP6 2001:db8::2 ::1 40000 443\r\n".to_vec(), "429"),
        // The proxy itself.
        (b"PROXY UNKNOWN\r\n".to_vec(), "200"),
        (b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0".to_vec(), "429"),
    ] {
        let answer = get(&app, &header, "/sign-in", "").await;
        assert_eq!(status(&answer), expected, "{}", String::from_utf8_lossy(&header));
    }
    // A client of the proxy is no proxy, so its own headers count for nothing.
    let answer = get(&app, &line("192.0.2.1"), "/sign-in", "X-Forwarded-For: 192.0.2.99\r\n").await;
    assert_eq!(status(&answer), "429");

    let head = "POST /graphql HTTP/1.1\r\nHost: test\r\nConnection: close\r\nAuthorization: Bearer nonsense\r\n\r\n";
    let answer = app.raw([&block(77), head.as_bytes()].concat()).await;
    assert_eq!(status(&answer), "401");
    let entry = app.db.read().one(audit::Entity::find().order_by_desc(audit::Column::Id)).await.expect("the audit");
    assert_eq!(entry.map(|entry| entry.actor_name).as_deref(), Some("192.0.2.77"));
}

/// Headers of version 1 and 2 that name nobody: an unknown client, the proxy itself, one of a Unix socket.
fn naming_nobody() -> [Vec<u8>; 4] {
    let unix = [&b"\r\n\r\n\0\r\nQUIT\n\x21\x31\0\xd8"[..], &[0; 216]].concat();
    [
        b"PROXY UNKNOWN\r\n".to_vec(),
        b"PROXY UNKNOWN 192.0.2.1 127.0.0.1 40000 443\r\n".to_vec(),
        b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0".to_vec(),
        unix,
    ]
}

#[tokio::test]
async fn a_client_that_the_proxy_header_does_not_name_cannot_name_itself() {
    let app = TestApp::with(&[ON, &["--ip-limit", "1"]].concat()).await;
    assert_eq!(status(&get(&app, &naming_nobody()[0], "/sign-in", "").await), "200");
    for (number, header) in naming_nobody().iter().enumerate() {
        let forwarded = format!("X-Forwarded-For: 192.0.2.{number}\r\nForwarded: for=192.0.2.{number}\r\n");
        assert_eq!(status(&get(&app, header, "/sign-in", &forwarded).await), "429", "{number}");
        let health = get(&app, header, "/livez", &format!("Rollcall-Doctor: 1\r\n{forwarded}")).await;
        assert!(health.contains("\nclient: 127.0.0.1\nforwarded: ignored\n"), "{health}");
    }
}

#[tokio::test]
async fn a_client_that_the_proxy_header_does_not_name_cannot_say_where_links_lead() {
    let app = TestApp::with(ON).await;
    let forged = "X-Forwarded-Proto: https\r\nX-Forwarded-Host: evil.example.com\r\n";
    for header in naming_nobody() {
        let answer = get(&app, &header, "/sign-in", &format!("Accept: text/html\r\n{forged}")).await;
        assert!(status(&answer) == "200" && !answer.contains("evil.example.com"), "{answer}");
        assert!(!answer.to_lowercase().contains("strict-transport-security"), "{answer}");
    }
}

#[tokio::test]
async fn the_client_of_a_proxy_header_has_a_quarter_of_the_connections_and_one_without_a_name_any_number() {
    let app = TestApp::with(&[ON, &["--max-connections", "12"]].concat()).await;
    let v6 = |client: &str| format!("PROXY TCP6 {client} ::1 40000 443\r\n").into_bytes();
    let named = [
        (line("192.0.2.1"), true),
        (block(1), true),
        (line("192.0.2.1"), true),
        (block(1), false),
        (line("192.0.2.2"), true),
        (v6("2001:db8::1"), true),
        (v6("2001:db8::2"), true),
        (v6("2001:db8::3"), true),
        (v6("2001:db8::4"), false),
        (v6("2001:db8:0:1::1"), true),
    ];
    let mut open = Vec::new();
    for (header, is_served) in named.into_iter().chain(naming_nobody().map(|header| (header, true))) {
        let connection = kept_open(&app, &header).await;
        assert_eq!(connection.is_some(), is_served, "{}", String::from_utf8_lossy(&header));
        open.extend(connection);
    }
}

/// Also byte by byte, and a second header is no request.
#[tokio::test]
async fn a_header_may_come_in_parts_and_comes_once() {
    let app = TestApp::with(ON).await;
    let request = b"GET /livez HTTP/1.1\r\nHost: test\r\nRollcall-Doctor: 1\r\nConnection: close\r\n\r\n";
    for header in [line("192.0.2.1"), block(1)] {
        let mut stream = app.connect().await;
        for byte in [&header[..], request].concat() {
            stream.write_all(&[byte]).await.expect("the service reads");
            stream.flush().await.expect("the service reads");
        }
        let answer = read_to_end(&mut stream).await;
        assert!(answer.contains("\nclient: 192.0.2.1\n"), "{answer}");
        let twice = get(&app, &[&header[..], &header].concat(), "/livez", "").await;
        assert_eq!(status(&twice), "400", "{twice}");
    }
}

#[tokio::test]
async fn a_trusted_proxy_may_be_written_as_an_ipv6_address() {
    for trusted in ["::ffff:127.0.0.1", "::ffff:127.0.0.0/104"] {
        let app = TestApp::with(&["--proxy-protocol", "--trusted-proxies", trusted]).await;
        let answer = get(&app, &line("192.0.2.1"), "/livez", "Rollcall-Doctor: 1\r\n").await;
        assert!(answer.contains("\nclient: 192.0.2.1\n"), "{trusted}: {answer}");
    }
}

#[tokio::test]
async fn a_proxy_behind_the_proxy_may_name_the_client_if_it_is_trusted_too() {
    let flags = ["--proxy-protocol", "--trusted-proxies", "127.0.0.1,192.0.2.1", "--ip-limit", "1"];
    let app = TestApp::with(&flags).await;
    for (client, expected) in [("198.51.100.1", "200"), ("198.51.100.2", "200"), ("198.51.100.1", "429")] {
        let forwarded = format!("X-Forwarded-For: {client}\r\n");
        assert_eq!(status(&get(&app, &line("192.0.2.1"), "/sign-in", &forwarded).await), expected, "{client}");
    }
}

#[tokio::test]
async fn a_connection_of_a_trusted_proxy_without_a_valid_header_is_closed_without_an_answer() {
    let app = TestApp::with(ON).await;
    for before in [
        &b""[..],
        b"PROXY TCP4 192.0.2.1 127.0.0.1 40000\r\n",
        b"PROXY TCP4 192.0.2.1 127.0.0.1 40000 443\n",
        b"\r\n\r\n\0\r\nQUIT\n\x31\x11\0\0",
        b"\r\n\r\n\0\r\nQUIT\n\x21\x11\xff\xff",
    ] {
        let answer = get(&app, before, "/livez", "").await;
        assert_eq!(answer, "", "{}", String::from_utf8_lossy(before));
    }
    assert_eq!(status(&get(&app, &block(1), "/livez", "").await), "200");
}

#[tokio::test]
async fn a_header_that_does_not_come_is_not_waited_for() {
    let app = TestApp::with(&[ON, &["--header-timeout", "200ms"]].concat()).await;
    for start in [&b""[..], b"PROXY TCP4 192", b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x01"] {
        let mut stream = app.connect().await;
        stream.write_all(start).await.expect("the service reads");
        let closed = timeout(Duration::from_secs(20), read_to_end(&mut stream)).await;
        assert_eq!(closed.as_deref(), Ok(""), "{}", String::from_utf8_lossy(start));
    }
    // The header and the head of the first request share the time.
    let mut stream = app.connect().await;
    stream.write_all(&block(1)).await.expect("the service reads");
    assert_eq!(timeout(Duration::from_secs(20), read_to_end(&mut stream)).await.as_deref(), Ok(""));
}

#[tokio::test]
async fn whoever_is_no_trusted_proxy_connects_without_a_header_and_is_not_believed_one() {
    let app = TestApp::with(&["--proxy-protocol", "--trusted-proxies", "192.0.2.0/24", "--ip-limit", "1"]).await;
    assert_eq!(status(&get(&app, b"", "/sign-in", "").await), "200");
    assert_eq!(status(&get(&app, b"", "/sign-in", "").await), "429");
    for header in [line("192.0.2.1"), block(1)] {
        assert_eq!(status(&get(&app, &header, "/sign-in", "").await), "400");
    }
}

#[tokio::test]
async fn without_the_setting_a_header_is_no_request() {
    let app = TestApp::with(&["--trusted-proxies", "127.0.0.1"]).await;
    for header in [line("192.0.2.1"), block(1)] {
        assert_eq!(status(&get(&app, &header, "/livez", "").await), "400");
    }
}

#[test]
fn the_log_says_why_a_connection_of_a_proxy_was_closed_and_commands_know_the_header() {
    let place = Place::new();
    let flags = [&["--listen", "127.0.0.1:0"], ON].concat();
    let mut service = Process::start(place.command(&flags));
    let address = service.address.to_string();
    let health = ["healthcheck", "--listen", &address, "--proxy-protocol"];
    let done = place.run(&health);
    assert_eq!((done.status, &*done.out), (0, "ok\nwrites: ok\n"), "{}", done.err);
    let doctor = place.run(&[&["doctor", "--listen", &address], ON].concat());
    assert!(doctor.out.contains(&format!("the one at {address} is ready")), "{}", doctor.out);
    assert_eq!(place.run(&health[..3]).status, 1, "a health check that does not know of the header");
    let said = service.stop().join("\n");
    let warning = "a connection of a trusted proxy was closed";
    assert!(said.contains(warning) && said.contains("it does not begin with a PROXY header"), "{said}");

    // A server that does not trust this machine.
    let elsewhere = ["--listen", "127.0.0.1:0", "--proxy-protocol", "--trusted-proxies", "192.0.2.1"];
    let mut service = Process::start(place.command(&elsewhere));
    let address = service.address.to_string();
    let done = place.run(&["healthcheck", "--listen", &address, "--proxy-protocol"]);
    assert_eq!((done.status, &*done.out), (0, "ok\nwrites: ok\n"), "{}", done.err);
    assert!(!service.stop().join("\n").contains("WARN"));

    let nobody = place.run(&["--listen", "127.0.0.1:0", "--proxy-protocol"]);
    let sentence = "--proxy-protocol needs --trusted-proxies, which says whose PROXY headers to believe";
    assert_refused(&nobody, sentence);
    let doctor = place.run(&["doctor", "--listen", &address, "--proxy-protocol"]);
    assert!(doctor.status == 1 && doctor.out.contains(sentence), "{}", doctor.out);
}
