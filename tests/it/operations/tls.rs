//! TLS connections.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper::{Request, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::CertifiedKey;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::harness::app::{TestApp, read_to_end, soon};
use crate::harness::deadline::Deadline;
use crate::harness::program::{Place, assert_refused};

const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";

/// Writes a new certificate and key into `folder`, and returns the certificate.
fn make(folder: &Path) -> CertificateDer<'static> {
    let names = vec!["localhost".to_owned()];
    let CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(names).expect("a certificate");
    std::fs::write(folder.join(CERTIFICATE), cert.pem()).expect("a file");
    std::fs::write(folder.join(KEY), signing_key.serialize_pem()).expect("a file");
    cert.der().clone()
}

/// A service with a certificate, and what a client needs to trust it.
async fn start(flags: &[&str]) -> (TestApp, TempDir, CertificateDer<'static>) {
    let folder = tempfile::tempdir().expect("a folder");
    let certificate = make(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (certificate_path, key_path) = (path(CERTIFICATE), path(KEY));
    let files = ["--tls-certificate", &*certificate_path, "--tls-key", &*key_path];
    let app = TestApp::with(&[&files, flags].concat()).await;
    (app, folder, certificate)
}

/// Performs a handshake as a client that trusts one certificate and offers these protocols.
async fn connect(
    app: &TestApp,
    trusted: &CertificateDer<'static>,
    protocols: &[&str],
) -> std::io::Result<TlsStream<TcpStream>> {
    connect_after(app, b"", trusted, protocols).await
}

/// The same, with these bytes before the handshake.
async fn connect_after(
    app: &TestApp,
    before: &[u8],
    trusted: &CertificateDer<'static>,
    protocols: &[&str],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).expect("a certificate");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().expect("versions");
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    let mut stream = app.connect().await;
    stream.write_all(before).await?;
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("localhost").expect("a name"), stream).await
}

fn livez() -> Request<Full<Bytes>> {
    Request::get("https://localhost/livez").header("host", "localhost").body(Full::default()).expect("a request")
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_that_get_an_http_url_of_a_tls_server_say_to_write_https() {
    let (app, _folder, _) = start(&[]).await;
    let (place, server) = (Place::new(), format!("http://{}", app.address));
    place.write("good.yml", "version: 1\nservice: { name: Good }\n");
    let hook = format!("{server}/integrations/deploy/secret");
    let deploy = ["deploy", "--service", "cart", "--description", "x", "--deployer-name", "ada", "--url", &*hook];
    let apply = ["apply", "--server", &*server, "--token", "t", "good.yml"];
    for arguments in [&deploy[..], &apply] {
        let done = tokio::task::block_in_place(|| place.run(arguments));
        let sentence = "does not speak HTTP; if it speaks TLS, write https:// instead of http://";
        assert_refused(&done, &format!("the server {} {sentence}", app.address));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_health_check_says_whether_the_server_speaks_tls() {
    let (encrypted, folder, _) = start(&[]).await;
    let (plain, place) = (TestApp::start().await, Place::new());
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (certificate, key) = (path(CERTIFICATE), path(KEY));
    let files = ["--tls-certificate", &*certificate, "--tls-key", &*key];
    let check = |address: &str, flags: &[&str]| {
        tokio::task::block_in_place(|| place.run(&[&["healthcheck", "--listen", address], flags].concat()))
    };
    let (address, plain) = (encrypted.address.to_string(), plain.address.to_string());
    assert_eq!(check(&address, &files).status, 0);
    let why = "speaks TLS; give its --tls-certificate and --tls-key, so that it is asked by https";
    assert_refused(&check(&address, &[]), &format!("the server at {address} {why}"));
    let why = "does not speak TLS; leave --tls-certificate and --tls-key out";
    assert_refused(&check(&plain, &files), &format!("the server at {plain} {why}"));
}

#[tokio::test]
async fn both_versions_of_http_work() {
    let (app, _folder, certificate) = start(&[]).await;
    for (offered, chosen) in
        [(&["h2", "http/1.1"][..], Some("h2")), (&["h2"], Some("h2")), (&["http/1.1"], Some("http/1.1")), (&[], None)]
    {
        let stream = connect(&app, &certificate, offered).await.expect("a handshake");
        assert_eq!(stream.get_ref().1.alpn_protocol(), chosen.map(str::as_bytes));
        let stream = TokioIo::new(stream);
        let answer = if chosen == Some("h2") {
            let (mut client, connection) = http2::handshake(TokioExecutor::new(), stream).await.expect("HTTP/2");
            tokio::spawn(connection);
            client.send_request(livez()).await
        } else {
            let (mut client, connection) = http1::handshake(stream).await.expect("HTTP/1.1");
            tokio::spawn(connection);
            client.send_request(livez()).await
        };
        let answer = answer.expect("an answer");
        let version = if chosen == Some("h2") { Version::HTTP_2 } else { Version::HTTP_11 };
        assert_eq!((answer.status().as_u16(), answer.version()), (200, version), "{offered:?}");
        assert_eq!(answer.headers()["strict-transport-security"], "max-age=31536000");
        assert_eq!(&answer.into_body().collect().await.expect("a body").to_bytes()[..], b"ok\n");
    }
}

#[tokio::test]
async fn a_renewed_certificate_is_for_new_connections_and_a_bad_one_for_none() {
    let (app, folder, old) = start(&[]).await;
    let tls = app.tls.as_ref().expect("TLS");
    let kept = connect(&app, &old, &[]).await.expect("a handshake");
    let (mut kept, connection) = http1::handshake(TokioIo::new(kept)).await.expect("HTTP/1.1");
    tokio::spawn(connection);

    let new = make(folder.path());
    tls.reload().expect("a new pair");
    assert!(connect(&app, &old, &[]).await.is_err(), "the old certificate is not shown any more");
    connect(&app, &new, &[]).await.expect("a handshake");

    std::fs::write(folder.path().join(CERTIFICATE), "nothing").expect("a file");
    let reason = tls.reload().expect_err("no certificate");
    assert!(reason.ends_with("certificate.pem holds no certificate in PEM form"), "{reason}");
    connect(&app, &new, &[]).await.expect("a handshake");
    assert_eq!(kept.send_request(livez()).await.expect("the first connection lives").status().as_u16(), 200);
}

#[tokio::test]
async fn the_header_of_a_proxy_comes_before_the_handshake() {
    let flags = ["--proxy-protocol", "--trusted-proxies", "127.0.0.1", "--ip-limit", "1"];
    let (app, _folder, certificate) = start(&flags).await;
    let block = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x01\x7f\0\0\x01\0\x50\x01\xbb";
    let line = b"PROXY TCP4 192.0.2.1 127.0.0.1 80 443\r\n";
    let other = b"PROXY TCP4 192.0.2.2 127.0.0.1 80 443\r\n";
    for (header, status) in [(&block[..], 200), (line, 429), (other, 200)] {
        let stream = connect_after(&app, header, &certificate, &["http/1.1"]).await.expect("a handshake");
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.expect("a connection");
        tokio::spawn(connection);
        let page = Request::get("/sign-in").header("host", "localhost").body(Full::<Bytes>::default());
        let answer = sender.send_request(page.expect("a request")).await.expect("an answer");
        assert_eq!(answer.status().as_u16(), status, "{}", String::from_utf8_lossy(header));
    }
    connect(&app, &certificate, &[]).await.expect_err("there is no header");
}

#[tokio::test]
async fn a_tls_handshake_has_a_timeout() {
    let (app, _folder, _) = start(&["--header-timeout", "100ms"]).await;
    for start in ["", "\u{16}\u{3}\u{1}"] {
        let mut stream = app.connect().await;
        stream.write_all(start.as_bytes()).await.expect("the service reads");
        assert_eq!(read_to_end(&mut stream).await, "");
    }
}

#[tokio::test]
async fn a_tls_handshake_counts_as_a_connection() {
    let (app, _folder, certificate) = start(&["--header-timeout", "200ms", "--max-connections", "1"]).await;
    let mut silent = app.connect().await;
    connect(&app, &certificate, &[]).await.expect_err("its address has its share");
    assert_eq!(read_to_end(&mut silent).await, "");
    // The service notices soon that it has ended.
    soon("there is room again", async { while connect(&app, &certificate, &[]).await.is_err() {} }).await;
}

#[tokio::test]
async fn a_plain_http_request_to_a_tls_port_gets_no_response() {
    let (app, _folder, _) = start(&[]).await;
    let answer = app.raw("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert!(!answer.contains("HTTP/1.1"), "{answer}");
}

#[test]
fn unusable_tls_files_are_reported_at_the_start() {
    let place = Place::new();
    make(place.path());
    std::fs::rename(place.path().join(KEY), place.path().join("other.pem")).expect("a file");
    make(place.path());
    place.write("text.pem", "nothing");
    place.write("damaged.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    for (certificate, key, sentence) in [
        ("none.pem", KEY, "the TLS certificate none.pem cannot be read: No such file or directory (os error 2)"),
        (CERTIFICATE, "none.pem", "the TLS key none.pem cannot be read: No such file or directory (os error 2)"),
        ("text.pem", KEY, "the file text.pem holds no certificate in PEM form"),
        (KEY, KEY, "the file key.pem holds no certificate in PEM form"),
        ("damaged.pem", KEY, "the certificate in damaged.pem is damaged"),
        (CERTIFICATE, "text.pem", "the file text.pem holds no private key in PEM form"),
        (CERTIFICATE, CERTIFICATE, "the file certificate.pem holds no private key in PEM form"),
        (
            CERTIFICATE,
            "other.pem",
            "the private key in other.pem does not belong to the certificate in certificate.pem",
        ),
    ] {
        let done = place.run(&["--listen", "127.0.0.1:0", "--tls-certificate", certificate, "--tls-key", key]);
        assert_refused(&done, sentence);
    }
    for half in [["--tls-certificate", CERTIFICATE], ["--tls-key", KEY]] {
        assert_eq!(place.run(&half).status, 2, "{half:?}");
    }
    assert!(!place.path().join("rollcall.db").exists(), "the database was not touched");
}

#[cfg(unix)]
#[test]
fn sighup_reloads_the_certificate() {
    let place = Place::with_database();
    make(place.path());
    let mut service = place.command(&["--listen", "127.0.0.1:0", "--tls-certificate", CERTIFICATE, "--tls-key", KEY]);
    let mut service = service.stderr(Stdio::piped()).spawn().expect("the program runs");
    let _deadline = Deadline::of(&service);
    let mut lines = BufReader::new(service.stderr.take().expect("standard error")).lines();
    let mut line = || lines.next().expect("a line").expect("text");
    let first = line();
    assert!(first.contains("(https://127.0.0.1:"), "{first}");
    let link = line();
    assert!(link.contains(" at https://127.0.0.1:"), "{link}");
    let send = |signal: &str| {
        let sent = Command::new("kill").args([signal, &service.id().to_string()]).status().expect("kill");
        assert!(sent.success());
    };
    make(place.path());
    send("-HUP");
    let second = line();
    assert!(second.contains("the TLS certificate was read again"), "{second}");
    place.write(KEY, "nothing");
    send("-HUP");
    let third = line();
    assert!(third.contains("ERROR") && third.contains("holds no private key in PEM form"), "{third}");
    send("-TERM");
    assert!(service.wait().expect("the end").success());
}

#[tokio::test]
async fn a_handshake_that_does_not_go_on_makes_room() {
    let (app, _folder, certificate) = start(&["--max-connections", "2", "--trusted-proxies", "127.0.0.1"]).await;
    let mut silent = app.connect().await;
    let mut half = app.connect().await;
    // The beginning of a handshake's first record.
    half.write_all(&[22, 3, 1, 2, 0, 1]).await.expect("the service reads");
    let mut served = Vec::new();
    for waiting in [&mut silent, &mut half] {
        let stream = connect(&app, &certificate, &["http/1.1"]).await.expect("a handshake");
        let (mut client, connection) = http1::handshake(TokioIo::new(stream)).await.expect("a connection");
        let connection = tokio::spawn(connection);
        assert_eq!(client.send_request(livez()).await.expect("an answer").status(), 200);
        read_to_end(waiting).await;
        served.push((client, connection));
    }
}
