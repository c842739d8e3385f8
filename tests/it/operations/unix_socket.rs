//! A server on a Unix socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::harness::deadline::{Deadline, LONGEST, end_of};
use crate::harness::program::{Done, Place, assert_refused};

/// A server on the socket of a folder, killed when dropped.
struct Server {
    child: Child,
    socket: PathBuf,
    lines: Option<std::io::Lines<BufReader<std::process::ChildStderr>>>,
}

impl Server {
    /// Starts it and waits until it listens.
    fn start(place: &Place, flags: &[&str]) -> Self {
        let socket = place.path().join("rollcall.sock");
        let mut command = place.command(&[&["--listen", &listen(place)], flags].concat());
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the program runs");
        let _deadline = Deadline::of(&child);
        let mut lines = BufReader::new(child.stderr.take().expect("standard error")).lines();
        let expected = format!("rollcall listens on unix:{}", socket.display());
        let mut said = Vec::new();
        while !said.iter().any(|line: &String| line.starts_with(&expected)) {
            let next = lines.next().unwrap_or_else(|| panic!("it did not start: {said:?}"));
            said.push(next.expect("text"));
        }
        Self { child, socket, lines: Some(lines) }
    }

    /// The response to a GET.
    fn get(&self, path: &str, headers: &str) -> String {
        get(&self.socket, path, headers)
    }

    /// Stops it and returns what else it said.
    fn stop(mut self) -> String {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").arg(id).status().expect("kill").success());
        assert!(end_of(&mut self.child).success());
        self.lines.take().expect("lines").map_while(Result::ok).collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn listen(place: &Place) -> String {
    format!("unix:{}", place.path().join("rollcall.sock").display())
}

/// A connection on which an answer must come.
fn connected(socket: &Path) -> UnixStream {
    let stream = UnixStream::connect(socket).expect("a connection");
    stream.set_read_timeout(Some(LONGEST)).expect("a socket");
    stream
}

fn get(socket: &Path, path: &str, headers: &str) -> String {
    let mut stream = connected(socket);
    let head = format!("GET {path} HTTP/1.1\r\nHost: c.example.com\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(head.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

fn is_socket(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket())
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("the socket").permissions().mode() & 0o777
}

#[test]
fn a_server_on_a_socket_answers_and_removes_its_file_at_the_end() {
    let place = Place::new();
    let server = Server::start(&place, &["--trusted-proxies", "127.0.0.1"]);
    let socket = server.socket.clone();
    assert_eq!(mode(&socket), 0o660);
    assert!(server.get("/livez", "").starts_with("HTTP/1.1 200 "));
    let health = |flags: &[&str]| place.run(&[&["healthcheck", "--listen", &listen(&place)], flags].concat());
    assert_eq!((health(&[]).status, &*health(&[]).out), (0, "ok\nwrites: ok\n"));
    assert_eq!(health(&["--live"]).out, "ok\n");
    let doctor = place.run(&["doctor", "--listen", &listen(&place), "--trusted-proxies", "127.0.0.1"]);
    assert!(doctor.out.contains(&format!("the one at {} is ready", listen(&place))), "{}", doctor.out);
    let said = server.stop();
    assert!(!said.contains("WARN"), "{said}");
    assert!(!socket.exists());
    let Done { status, err, .. } = health(&[]);
    assert!(status == 1 && err.starts_with(&format!("rollcall: no server answers at {}: ", listen(&place))), "{err}");
}

#[test]
fn the_permissions_of_a_socket_can_be_set() {
    let place = Place::new();
    let server = Server::start(&place, &["--listen-mode", "0600", "--trusted-proxies", "127.0.0.1"]);
    assert_eq!(mode(&server.socket), 0o600);
}

#[test]
fn on_a_socket_everyone_counts_as_this_machine_unless_a_proxy_there_is_trusted() {
    let place = Place::new();
    let server = Server::start(&place, &["--ip-limit", "1"]);
    let (one, two) = ("X-Forwarded-For: 192.0.2.1\r\n", "X-Forwarded-For: 192.0.2.2\r\n");
    assert!(server.get("/sign-in", one).starts_with("HTTP/1.1 200 "));
    assert!(server.get("/sign-in", two).starts_with("HTTP/1.1 429 "));
    assert!(server.get("/livez", "Rollcall-Doctor: 1\r\n").contains("client: 127.0.0.1\n"));
    let said = server.stop();
    let why = "everyone comes through a Unix socket, which counts as 127.0.0.1, and --trusted-proxies is not set";
    assert!(said.contains(why), "{said}");
    let doctor = place.run(&["doctor", "--listen", &listen(&place)]);
    assert!(doctor.status == 1 && doctor.out.contains(why), "{}", doctor.out);

    let server = Server::start(&place, &["--ip-limit", "1", "--trusted-proxies", "127.0.0.1"]);
    assert!(server.get("/sign-in", one).starts_with("HTTP/1.1 200 "));
    assert!(server.get("/sign-in", two).starts_with("HTTP/1.1 200 "));
    assert!(server.get("/sign-in", one).starts_with("HTTP/1.1 429 "));
    let secure = "X-Forwarded-For: 192.0.2.3\r\nX-Forwarded-Proto: https\r\nAccept: text/html\r\n";
    let led = server.get("/graphql", secure);
    assert!(led.contains("location: https://c.example.com/explorer\r\n"), "{led}");
}

#[test]
fn everyone_on_a_socket_together_may_have_all_connections() {
    let place = Place::new();
    let server = Server::start(&place, &["--max-connections", "4"]);
    let kept_open = || {
        let mut stream = connected(&server.socket);
        stream.write_all(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n").expect("it reads");
        let mut status = [0; 12];
        stream.read_exact(&mut status).expect("an answer");
        assert_eq!(&status, b"HTTP/1.1 200");
        stream
    };
    let _open = [(); 4].map(|()| kept_open());
}

#[test]
fn the_socket_of_a_server_that_was_killed_is_replaced() {
    let place = Place::new();
    let mut killed = Server::start(&place, &["--trusted-proxies", "127.0.0.1"]);
    killed.child.kill().expect("a signal");
    killed.child.wait().expect("the end");
    assert!(is_socket(&killed.socket));
    let server = Server::start(&place, &["--trusted-proxies", "127.0.0.1"]);
    assert!(server.get("/livez", "").starts_with("HTTP/1.1 200 "));
}

#[test]
fn a_file_that_is_in_use_or_no_socket_is_left_alone() {
    let place = Place::with_database();
    let socket = place.path().join("rollcall.sock");
    let start = || place.run(&["--listen", &listen(&place)]);

    place.write("rollcall.sock", "precious");
    let says = "exists and is not a socket; remove it, or choose another path with --listen";
    assert_refused(&start(), &format!("{} {says}", socket.display()));
    assert_eq!(std::fs::read_to_string(&socket).expect("the file"), "precious");
    std::fs::rename(&socket, place.path().join("target")).expect("a name");
    std::os::unix::fs::symlink("target", &socket).expect("a link");
    assert_refused(&start(), &format!("{} {says}", socket.display()));
    assert_eq!(std::fs::read_to_string(&socket).expect("the file"), "precious");
    std::fs::remove_file(&socket).expect("removed");

    let other = UnixListener::bind(&socket).expect("a socket");
    let taken =
        format!("another program already listens on {}; stop it, or choose another path with --listen", listen(&place));
    assert_refused(&start(), &taken);
    assert!(is_socket(&socket));
    drop(other);
    std::fs::remove_file(&socket).expect("removed");

    let server = Server::start(&place, &["--trusted-proxies", "127.0.0.1"]);
    assert_refused(&start(), &taken);
    // Whoever has replaced the file keeps it.
    std::fs::remove_file(&socket).expect("removed");
    let _other = UnixListener::bind(&socket).expect("a socket");
    server.stop();
    assert!(is_socket(&socket));

    let nowhere = place.run(&["--listen", "unix:/nowhere/rollcall.sock"]);
    let sentence = "cannot listen on unix:/nowhere/rollcall.sock: No such file or directory (os error 2)";
    assert_refused(&nowhere, sentence);
}

#[test]
fn of_servers_that_start_together_on_an_abandoned_socket_one_gets_it() {
    let place = Place::with_database();
    let socket = place.path().join("rollcall.sock");
    drop(UnixListener::bind(&socket).expect("a socket"));
    let start = || {
        let mut command = place.command(&["--listen", &listen(&place), "--trusted-proxies", "127.0.0.1"]);
        command.stderr(Stdio::piped()).spawn().expect("the program runs")
    };
    let mut servers: Vec<Child> = (0..4).map(|_| start()).collect();
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut refused = 0;
    while refused < 3 || UnixStream::connect(&socket).is_err() {
        assert!(Instant::now() < deadline, "{refused} of four have given up");
        refused = servers.iter_mut().filter_map(|server| server.try_wait().expect("a status")).count();
        std::thread::yield_now();
    }
    assert!(get(&socket, "/livez", "").starts_with("HTTP/1.1 200 "));
    for mut server in servers {
        if let Some(status) = server.try_wait().expect("a status") {
            let mut said = String::new();
            server.stderr.take().expect("standard error").read_to_string(&mut said).expect("text");
            assert!(!status.success() && said.contains("another program already listens on unix:"), "{said}");
        } else {
            server.kill().expect("a signal");
            server.wait().expect("the end");
        }
    }
}
