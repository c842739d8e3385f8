//! Where people reach the service, as trusted proxies tell it, and as a server remembers it.

use std::net::TcpListener;

use hyper::Method;
use rollcall::entity::user::Role;
use serde_json::json;

use crate::harness::app::TestApp;
use crate::harness::browser::link_for;
use crate::harness::deadline::output;
use crate::harness::openid_provider::Provider;
use crate::harness::process::Process;
use crate::harness::program::Place;

const TRUSTING: &[&str] = &["--trusted-proxies", "127.0.0.1"];

const HTTPS: (&str, &str) = ("x-forwarded-proto", "https");
const HOST: (&str, &str) = ("x-forwarded-host", "Catalogue.example.com");

/// The address that a link has in an answer to a request with these headers, without the path.
async fn origin(app: &TestApp, headers: &[(&str, &str)]) -> String {
    let token = format!("Bearer {}", app.token);
    let headers = [&[("authorization", &*token)], headers].concat();
    let query = "{ account { component: componentType(input: {alias: \"service\"}) { href } } }";
    let answer = app.post_with(query, json!({}), &headers).await.json();
    let url = answer["data"]["account"]["component"]["href"].as_str().unwrap_or_else(|| panic!("{answer}"));
    url.split_once("/services?").expect("the page of services").0.to_owned()
}

#[tokio::test]
async fn a_trusted_proxy_says_where_links_lead() {
    let app = TestApp::with(TRUSTING).await;
    let own = format!("http://{}", app.address);
    for (headers, expected) in [
        (&[][..], &*own),
        (&[HTTPS, HOST], "https://catalogue.example.com"),
        (&[("x-forwarded-proto", "HTTP"), HOST], "http://catalogue.example.com"),
        (&[HTTPS, ("x-forwarded-host", "[2001:DB8::1]:8443")], "https://[2001:db8::1]:8443"),
        (&[HTTPS, ("x-forwarded-host", "my_catalogue:443")], "https://my_catalogue"),
        (&[HTTPS], &*format!("https://{}", app.address)),
        (&[HTTPS, ("host", "c.example.com")], "https://c.example.com"),
        // Nothing is guessed.
        (&[HOST], &own),
        (&[("x-forwarded-proto", "ftp"), HOST], &own),
        (&[("x-forwarded-proto", "https, http"), HOST], &own),
        (&[HTTPS, HTTPS, HOST], &own),
        (&[HTTPS, HOST, HOST], &own),
    ] {
        assert_eq!(origin(&app, headers).await, expected, "{headers:?}");
    }
    for host in [
        "",
        "a b",
        "a/b",
        "a@b",
        "a, b",
        "a..b",
        ".a",
        "-a",
        "a\\b",
        "a?b",
        "a#b",
        "a\"b",
        "a<b",
        "a:",
        "a:0",
        "a:65536",
        "a:b",
        "a:1:2",
        "[::1",
        "[::1]x",
        "[a]",
        "::1",
        &"a".repeat(64),
        &"a.".repeat(130),
    ] {
        assert_eq!(origin(&app, &[HTTPS, ("x-forwarded-host", host)]).await, own, "{host}");
    }
}

#[tokio::test]
async fn nobody_else_says_where_links_lead() {
    let strangers = TestApp::with(&["--trusted-proxies", "192.0.2.1"]).await;
    assert_eq!(origin(&strangers, &[HTTPS, HOST]).await, format!("http://{}", strangers.address));
    let without = TestApp::start().await;
    let own = format!("http://{}", without.address);
    assert_eq!(origin(&without, &[HTTPS, HOST, ("host", "evil.example.com")]).await, own);
    let given = TestApp::with(&[TRUSTING, &["--app-url", "https://given.example.com"]].concat()).await;
    assert_eq!(origin(&given, &[("x-forwarded-proto", "http"), HOST]).await, "https://given.example.com");
}

#[tokio::test]
async fn pages_cookies_and_redirects_are_those_of_the_address_that_the_proxy_names() {
    let app = TestApp::with(TRUSTING).await;
    let link = link_for(&app.db, "ada@example.com", Role::Admin).await;
    let form = [("content-type", "application/x-www-form-urlencoded"), ("accept", "text/html")];
    let sign_in = |origin: &'static str, headers: &[(&'static str, &'static str)]| {
        let headers = [&form[..], &[("origin", origin)], headers].concat();
        let (app, link) = (&app, &link);
        async move { app.request(Method::POST, link, &headers, "").await }
    };
    assert_eq!(sign_in("https://evil.example.com", &[HTTPS, HOST]).await.status, 403);
    assert_eq!(sign_in("http://catalogue.example.com", &[HTTPS, HOST]).await.status, 403, "another scheme");
    assert_eq!(sign_in("https://catalogue.example.com", &[HOST]).await.status, 403, "a proxy that does not say so");
    let signed_in = sign_in("https://catalogue.example.com", &[HTTPS, HOST]).await;
    assert_eq!(signed_in.status, 303, "{signed_in:?}");
    let cookie = signed_in.header("set-cookie").expect("a cookie");
    assert!(cookie.starts_with("__Host-rollcall_session=") && cookie.ends_with("; Secure"), "{cookie}");
    assert_eq!(signed_in.header("strict-transport-security"), Some("max-age=31536000"));
    let pair = cookie.split(';').next().expect("a pair").to_owned();

    let page = |path: &'static str, headers: &[(&'static str, &'static str)]| {
        let headers: Vec<_> = [("cookie", &*pair), ("accept", "text/html")].iter().chain(headers).copied().collect();
        let app = &app;
        async move { app.get_with(path, &headers).await }
    };
    let own_form =
        [&form[..], &[("cookie", &*pair), ("origin", "https://catalogue.example.com"), HTTPS, HOST]].concat();
    let token = app.request(Method::POST, "/tokens", &own_form, "description=CI&scope=read&expires=30").await;
    assert!(token.text().contains("https://catalogue.example.com/graphql"), "{}", token.text());
    assert_eq!(page("/tokens", &[]).await.status, 303, "in the clear there is another cookie");

    let made = app.query(
        "mutation { eventIntegrationCreate(input: {name: \"CI\", type: deploy}) { integration { id } } }",
        json!({}),
    );
    let made = made.await;
    let id = made["data"]["eventIntegrationCreate"]["integration"]["id"].as_str().unwrap_or_else(|| panic!("{made}"));
    let path: &'static str = format!("/integrations/{id}").leak();
    let endpoint = page(path, &[HTTPS, HOST]).await;
    assert!(endpoint.text().contains("https://catalogue.example.com/integrations/deploy/"), "{}", endpoint.text());

    let explorer = page("/graphql", &[HTTPS, HOST]).await;
    assert_eq!(explorer.location(), "https://catalogue.example.com/explorer");
    // The pages' own calls of the API.
    let session = [("cookie", &*pair), ("origin", "https://catalogue.example.com"), HTTPS, HOST];
    assert_eq!(app.post_with("{ __typename }", json!({}), &session).await.status, 200);
    let elsewhere = [("cookie", &*pair), ("origin", "https://evil.example.com"), HTTPS, HOST];
    assert_eq!(app.post_with("{ __typename }", json!({}), &elsewhere).await.status, 403);
}

#[tokio::test]
async fn the_openid_provider_is_told_the_address_that_the_proxy_names() {
    let provider = Provider::start().await;
    let app = TestApp::with(&[&provider.flags()[..], TRUSTING].concat()).await;
    let begun = app.get_with("/sign-in/openid", &[HTTPS, HOST]).await;
    let callback = "redirect_uri=https%3A%2F%2Fcatalogue.example.com%2Fsign-in%2Fopenid%2Fcallback";
    assert!(begun.location().contains(callback), "{begun:?}");
    assert!(begun.header("set-cookie").expect("a cookie").ends_with("; Secure"), "{begun:?}");
    let own = app.get("/sign-in/openid").await;
    assert!(own.location().contains("redirect_uri=http%3A%2F%2F127.0.0.1"), "{own:?}");
}

#[test]
fn commands_use_the_address_that_the_server_was_last_started_with() {
    let place = Place::new();
    let email = ["sign-in-link", "--email", "ada@example.com"];
    let start = |flags: &[&str]| {
        let mut service = Process::start(place.command(&[&["--listen", "127.0.0.1:0"], flags].concat()));
        service.stop().join("\n")
    };
    start(&[]);
    let endpoint = place.run(&["deploy-endpoint", "create", "--name", "CI"]).out;
    assert!(endpoint.starts_with("http://127.0.0.1:8080/integrations/deploy/"), "{endpoint}");
    let said = start(&["--app-url", "https://first.example.com", "--trusted-proxies", "127.0.0.1"]);
    assert!(said.contains("become the first one at https://first.example.com/sign-in/"), "{said}");
    let said = start(&[]);
    assert!(said.contains("become the first one at http://127.0.0.1:"), "{said}");
    let link = place.run(&email).out;
    assert!(link.starts_with("http://127.0.0.1:8080/sign-in/"), "the first address is forgotten: {link}");
    start(&["--app-url", "https://second.example.com/", "--trusted-proxies", "127.0.0.1"]);
    let link = place.run(&email).out;
    assert!(link.starts_with("https://second.example.com/sign-in/"), "{link}");
    let listed = place.run(&["deploy-endpoint", "list"]).out;
    assert!(listed.contains("\thttps://second.example.com/integrations/deploy/"), "{listed}");
    let given = place.run(&[&email[..], &["--app-url", "https://given.example.com"]].concat()).out;
    assert!(given.starts_with("https://given.example.com/sign-in/"), "{given}");
    // An address that is named explicitly wins, if people can open it.
    for listen in ["127.0.0.1:8080", "127.0.0.1:9000"] {
        let own = format!("http://{listen}/sign-in/");
        let named = place.run(&[&email[..], &["--listen", listen]].concat()).out;
        assert!(named.starts_with(&own), "{named}");
        let named = output(place.command(&email).env("ROLLCALL_LISTEN", listen)).stdout;
        assert!(named.starts_with(own.as_bytes()), "{}", String::from_utf8_lossy(&named));
    }
    for listen in ["0.0.0.0:8080", "unix:/run/rollcall.sock"] {
        let link = place.run(&[&email[..], &["--listen", listen]].concat()).out;
        assert!(link.starts_with("https://second.example.com/"), "{link}");
    }
    assert!(place.run(&email).out.starts_with("https://second.example.com/"), "a command changes nothing");
}

#[test]
fn commands_know_the_port_that_the_server_listens_on() {
    let place = Place::new();
    // Free at the moment: a server remembers only a port that it was told.
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    for (listen, own) in [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1")] {
        Process::start(place.command(&["--listen", &format!("{listen}:{port}")])).stop();
        let made = place.run(&["deploy-endpoint", "create", "--name", "CI"]).out;
        let begin = format!("http://{own}:{port}/");
        assert!(made.starts_with(&format!("{begin}integrations/deploy/")), "{listen}: {made}");
        let listed = place.run(&["deploy-endpoint", "list"]).out;
        assert!(listed.lines().all(|line| line.contains(&format!("\t{begin}"))), "{listen}: {listed}");
        let link = place.run(&["sign-in-link", "--email", "ada@example.com"]).out;
        assert!(link.starts_with(&format!("{begin}sign-in/")), "{listen}: {link}");
    }
    let given = place.run(&["deploy-endpoint", "list", "--app-url", "https://given.example.com"]).out;
    assert!(given.contains("\thttps://given.example.com/"), "{given}");
    // A server without an address makes the commands forget it, and they say so.
    let socket = format!("unix:{}", place.absolute("own.sock"));
    Process::start(place.command(&["--listen", "127.0.0.1:0"])).stop();
    let done = place.run(&["deploy-endpoint", "list", "--listen", &socket]);
    assert!(done.status == 0 && done.out.contains("\thttp://localhost/integrations/deploy/"), "{}", done.out);
    assert!(
        done.err.starts_with("a socket has no address that others reach: name the server's with --app-url"),
        "{}",
        done.err
    );
}

#[test]
fn a_server_behind_a_proxy_that_is_not_trusted_says_so_at_the_start() {
    let place = Place::new();
    let warning = "and --trusted-proxies is not set: the limits see all its clients as one";
    let start = |flags: &[&str]| {
        let mut service = Process::start(place.command(&[&["--listen", "127.0.0.1:0"], flags].concat()));
        service.stop().join("\n")
    };
    for url in ["https://catalogue.example.com", "http://catalogue.example.com", "https://localhost"] {
        let said = start(&["--app-url", url]);
        assert!(said.contains(&format!("--app-url {url} is a proxy's, {warning}")), "{said}");
        assert!(!start(&["--app-url", url, "--trusted-proxies", "127.0.0.1"]).contains(warning), "{url}");
        let doctor = place.run(&["doctor", "--listen", "127.0.0.1:1", "--app-url", url]);
        assert!(doctor.out.contains(&format!("--app-url {url} is a proxy's, and --trusted-proxies")), "{}", doctor.out);
    }
    for flags in [&[][..], &["--app-url", "http://localhost:8080"]] {
        assert!(!start(flags).contains(warning), "{flags:?}");
    }
}
