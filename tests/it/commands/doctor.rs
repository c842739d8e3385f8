//! `rollcall healthcheck` and `rollcall doctor`: their findings about a server and its environment.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use crate::harness::process::Process;
use crate::harness::program::{Done, Place, assert_refused};
use crate::harness::smtp::MailServer;

/// The text of the finding about a topic.
fn line<'a>(done: &'a Done, about: &str) -> (&'a str, &'a str) {
    let lines = done.out.lines().filter_map(|line| line.split_at_checked(9));
    let mut lines = lines.filter_map(|(level, rest)| Some((level.trim(), rest.strip_prefix(about)?.trim())));
    lines.next().unwrap_or_else(|| panic!("nothing about {about}: {}{}", done.out, done.err))
}

/// A port without a listener.
fn free_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").to_string()
}

#[test]
fn a_health_check_says_what_the_server_says() {
    let place = Place::new();
    let service = Process::start(place.command(&["--listen", "127.0.0.1:0"]));
    let address = service.address.to_string();
    let ready = place.run(&["healthcheck", "--listen", &address]);
    assert_eq!((ready.status, &*ready.out, &*ready.err), (0, "ok\nwrites: ok\n", ""));
    let everywhere = format!("0.0.0.0:{}", service.address.port());
    let live = place.run(&["healthcheck", "--live", "--listen", &everywhere]);
    assert_eq!((live.status, &*live.out, &*live.err), (0, "ok\n", ""));
    // A proxy in the environment must not be used.
    let mut command = place.command(&["healthcheck", "--listen", &address]);
    assert!(command.env("http_proxy", format!("http://{}", free_port())).status().expect("it runs").success());
}

#[test]
fn a_health_check_fails_where_no_server_answers() {
    let place = Place::new();
    let address = free_port();
    let done = place.run(&["healthcheck", "--listen", &address]);
    assert_eq!((done.status, &*done.out), (1, ""));
    let said = format!("rollcall: no server answers at {address}: nothing listens there. Start it with: rollcall");
    assert_eq!(done.err.trim_end(), said, "in words, and without the number of an error");
    let sentence = "--listen has no port; give the port that the server listens on";
    assert_refused(&place.run(&["healthcheck", "--listen", "127.0.0.1:0"]), sentence);
}

#[test]
fn the_doctor_creates_and_migrates_no_database() {
    let place = Place::new();
    let (address, file) = (free_port(), place.absolute("rollcall.db"));
    let done = place.run(&["doctor", "--listen", &address]);
    assert_eq!(done.status, 0, "{}", done.out);
    assert_eq!(line(&done, "database"), ("ok", &*format!("{file} does not exist yet; the first start creates it")));
    assert_eq!(line(&done, "server").0, "advice");
    assert!(!place.path().join("rollcall.db").exists());

    // An empty database.
    place.write("rollcall.db", "");
    let done = place.run(&["doctor", "--listen", &address]);
    assert_eq!((done.status, line(&done, "database").0), (0, "advice"), "{}", done.out);
    assert!(line(&done, "database").1.contains("Back up first"), "{}", done.out);
    assert!(place.run(&["migrate"]).err.contains("migrations"), "the doctor migrated it");
}

#[test]
fn the_doctor_finds_a_running_server_ready_and_gives_advice() {
    let place = Place::new();
    let service = Process::start(place.command(&["--listen", "127.0.0.1:0"]));
    let address = service.address.to_string();
    let done = place.run(&["doctor", "--listen", &address]);
    assert_eq!(done.status, 0, "{}{}", done.out, done.err);
    for about in ["settings", "disk", "database", "clock", "server"] {
        assert!(matches!(line(&done, about).0, "ok" | "advice"), "{}", done.out);
    }
    // People compare it with their own clock, which shows seconds.
    let clock = line(&done, "clock").1;
    let shown = clock.strip_prefix("it is ").and_then(|rest| rest.strip_suffix("; no audit entry is later"));
    assert_eq!(shown.map(str::len), Some("2026-11-21T01:44:00Z".len()), "{clock}");
    let file = place.absolute("rollcall.db");
    assert_eq!(line(&done, "database"), ("ok", &*format!("{file} has this program's version and is writable")));
    assert_eq!(line(&done, "server"), ("ok", &*format!("the one at {address} is ready")));
    assert_eq!(line(&done, "people").0, "advice");

    assert_eq!(place.run(&["sign-in-link", "--email", "ada@example.com"]).status, 0);
    std::fs::set_permissions(place.path().join("rollcall.db"), PermissionsExt::from_mode(0o644)).expect("a mode");
    let done = place.run(&["doctor", "--listen", &address]);
    assert!(!done.out.contains("people"), "{}", done.out);
    assert!(done.out.contains(&format!("run: chmod 600 {file}")), "{}", done.out);
}

#[test]
fn the_doctor_detects_that_the_database_is_not_the_servers() {
    let (place, elsewhere) = (Place::new(), Place::new());
    let service = Process::start(place.command(&["--listen", "127.0.0.1:0"]));
    let address = service.address.to_string();
    let done = elsewhere.run(&["doctor", "--listen", &address]);
    assert_eq!((done.status, line(&done, "database").0, line(&done, "server").0), (1, "PROBLEM", "ok"), "{}", done.out);
    let sentence = format!(
        "a server responds at {address}, but {} does not exist: this is not the server's database.",
        elsewhere.absolute("rollcall.db")
    );
    assert!(line(&done, "database").1.starts_with(&sentence), "{}", done.out);
    assert!(!elsewhere.path().join("rollcall.db").exists());
}

#[test]
fn the_doctor_detects_an_untrusted_proxy() {
    let place = Place::new();
    let service = Process::start(place.command(&["--listen", "127.0.0.1:0"]));
    let (address, url) = (service.address.to_string(), format!("http://{}", service.address));
    // There is no proxy here; the doctor adds the header itself.
    let done = place.run(&["doctor", "--listen", &address, "--app-url", &url]);
    assert_eq!((done.status, line(&done, "proxy").0), (0, "advice"), "{}", done.out);
    assert!(line(&done, "proxy").1.contains("add --trusted-proxies 127.0.0.1"), "{}", done.out);

    let trusting = Process::start(place.command(&["--listen", "127.0.0.1:0", "--trusted-proxies", "127.0.0.1"]));
    let (address, url) = (trusting.address.to_string(), format!("http://{}", trusting.address));
    let done = place.run(&["doctor", "--listen", &address, "--app-url", &url]);
    assert_eq!((done.status, line(&done, "proxy").0), (1, "PROBLEM"), "{}", done.out);
    assert!(line(&done, "proxy").1.contains("as clients send it"), "{}", done.out);

    let done = place.run(&["doctor", "--listen", &address, "--app-url", "https://catalogue.invalid"]);
    assert_eq!((done.status, line(&done, "settings").0, line(&done, "proxy").0), (1, "PROBLEM", "PROBLEM"));
}

#[test]
fn the_doctor_tries_the_mail_server_and_sends_nothing() {
    let (place, address, server) = (Place::new(), free_port(), MailServer::taking());
    let doctor = |url: &str| {
        let mail = ["--smtp-url", url, "--mail-from", "rollcall@example.com"];
        place.run(&[&["doctor", "--listen", &*address][..], &mail].concat())
    };
    let done = doctor(&server.url());
    let sentence = format!("{} can be used, not encrypted, without a password", server.address);
    assert_eq!((done.status, line(&done, "mail")), (0, ("ok", &*sentence)), "{}", done.out);
    // It knows no way to sign in, and no encryption.
    let done = doctor(&format!("smtp://ada:geheim@{}", server.address));
    assert_eq!((done.status, line(&done, "mail").0), (1, "PROBLEM"), "{}", done.out);
    assert!(line(&done, "mail").1.contains(": signing in fails: ") && !done.out.contains("geheim"), "{}", done.out);
    for url in [format!("smtp://{}?tls=required", server.address), format!("smtps://{}", server.address)] {
        let done = doctor(&url);
        assert_eq!((done.status, line(&done, "mail").0), (1, "PROBLEM"), "{url}: {}", done.out);
    }
    let nobody = free_port();
    let done = doctor(&format!("smtp://{nobody}"));
    assert_eq!((done.status, line(&done, "mail").0), (1, "PROBLEM"), "{}", done.out);
    assert!(line(&done, "mail").1.starts_with(&format!("{nobody}: the mail server cannot be used: ")), "{}", done.out);
    assert!(server.got().is_empty(), "it sends no mail");
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let began = std::time::Instant::now();
    let done = doctor(&format!("smtp://{}", silent.local_addr().expect("an address")));
    assert!(line(&done, "mail").1.ends_with(": no answer from the mail server within 10 s"), "{}", done.out);
    assert!(began.elapsed() < std::time::Duration::from_secs(40));
    let done = place.run(&["doctor", "--listen", &address]);
    assert!(!done.out.contains(" mail "), "none is set: {}", done.out);
}

#[test]
fn the_doctor_reports_each_problem() {
    let place = Place::new();
    let address = free_port();
    let doctor = |url: &str| place.run(&["doctor", "--listen", &address, "--database-url", url]);
    let done = doctor("sqlite://none/x.db");
    assert_eq!((done.status, line(&done, "disk").0, line(&done, "database").0), (1, "PROBLEM", "PROBLEM"));
    place.write("text.db", "this is not a database, although it is long enough to be looked at".repeat(100));
    let done = doctor("sqlite://text.db");
    assert_eq!((done.status, line(&done, "database").0), (1, "PROBLEM"));
    assert!(line(&done, "database").1.contains("is damaged or not a database"), "{}", done.out);
    let done = doctor("postgres://rollcall:geheim@127.0.0.1:1/x");
    assert_eq!((done.status, line(&done, "database").0), (1, "PROBLEM"));
    assert!(!done.out.contains("geheim"), "{}", done.out);
    let missing = ["--tls-certificate", "none.pem", "--tls-key", "none.key"];
    let done = place.run(&[&["doctor", "--listen", &*address][..], &missing].concat());
    assert_eq!((done.status, line(&done, "settings").0), (1, "PROBLEM"), "{}", done.out);
}
