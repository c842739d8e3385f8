//! What systemd does for a service: it opens the socket, and waits until the service is ready.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::harness::deadline::{Deadline, output};
use crate::harness::process::Process;
use crate::harness::program::Place;

/// The command with these sockets as systemd passes them: from descriptor 3 on. `copies` is the shell's list of
/// redirections from standard input, which the shell starts with.
fn activated(place: &Place, socket: OwnedFd, copies: &str, sockets: &str, flags: &[&str]) -> Command {
    let script = format!("export LISTEN_PID=$$ LISTEN_FDS={sockets}; exec \"$@\" {copies} </dev/null");
    let mut command = Command::new("sh");
    command.current_dir(place.path()).env_clear().stdin(Stdio::from(socket));
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_rollcall"), "serve"]).args(flags);
    command
}

#[tokio::test]
async fn a_socket_that_systemd_passes_takes_the_place_of_listen() {
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let descriptor = OwnedFd::from(listener.try_clone().expect("a copy"));
    // The port of --listen is taken, which does not matter.
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("an address").to_string();
    let mut service = Process::start(activated(&place, descriptor, "3<&0", "1", &["--listen", &taken]));
    assert_eq!(service.address, address);
    assert_eq!(service.get(address, "/livez").await, (200, "ok\n".to_owned()));
    service.stop();
    // Whoever comes while the service restarts waits in the socket.
    let waiting = std::net::TcpStream::connect(address).expect("a connection that waits");
    let service = Process::start(activated(&place, listener.into(), "3<&0", "1", &[]));
    assert_eq!(service.get(address, "/livez").await.0, 200);
    drop(waiting);
}

#[test]
fn the_file_of_a_socket_that_systemd_passes_stays() {
    let place = Place::new();
    let path = place.path().join("passed.sock");
    let listener = UnixListener::bind(&path).expect("a socket");
    let mut command = activated(&place, listener.into(), "3<&0", "1", &["--trusted-proxies", "127.0.0.1"]);
    let mut child = command.stderr(Stdio::null()).spawn().expect("the program runs");
    let _deadline = Deadline::of(&child);
    let listen = format!("unix:{}", path.display());
    while place.run(&["healthcheck", "--listen", &listen]).status != 0 {
        assert!(child.try_wait().expect("a status").is_none(), "it ended");
    }
    assert!(Command::new("kill").arg(child.id().to_string()).status().expect("kill").success());
    assert!(child.wait().expect("the end").success());
    assert!(path.exists(), "the socket is systemd's");
}

#[test]
fn what_systemd_passes_must_be_one_socket_that_accepts_connections() {
    let place = Place::new();
    let listener = || OwnedFd::from(TcpListener::bind("127.0.0.1:0").expect("a port"));
    let datagrams = OwnedFd::from(UnixDatagram::unbound().expect("a socket"));
    for (socket, copies, sockets, sentence) in [
        (listener(), "3<&0 4<&0", "2", "systemd passes 2 sockets; give rollcall.socket one ListenStream"),
        (datagrams, "3<&0", "1", "systemd passes something that no connection can be accepted from; use ListenStream"),
    ] {
        let done = output(&mut activated(&place, socket, copies, sockets, &[]));
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!((done.status.code(), &*said), (Some(1), &*format!("rollcall: {sentence}\n")));
    }
    assert!(!place.path().join("rollcall.db").exists());
}

#[tokio::test]
async fn sockets_for_another_process_are_left_alone() {
    let place = Place::new();
    let passed = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = passed.local_addr().expect("an address");
    let mut command = place.command(&["--listen", "127.0.0.1:0"]);
    command.env("LISTEN_PID", std::process::id().to_string()).env("LISTEN_FDS", "1").stdin(OwnedFd::from(passed));
    let service = Process::start(command);
    assert_ne!(service.address, address);
    assert_eq!(service.get(service.address, "/livez").await.0, 200);
}

#[tokio::test]
async fn systemd_is_told_when_the_service_is_ready_and_when_it_stops() {
    let place = Place::new();
    let socket = place.path().join("notify");
    let told = UnixDatagram::bind(&socket).expect("a socket");
    told.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let mut command = place.command(&["--listen", "127.0.0.1:0"]);
    let mut service = Process::start({
        command.env("NOTIFY_SOCKET", &socket);
        command
    });
    let next = || {
        let mut said = [0; 64];
        let length = told.recv(&mut said).expect("a datagram");
        String::from_utf8_lossy(&said[..length]).into_owned()
    };
    assert_eq!(next(), "READY=1");
    assert_eq!(service.get(service.address, "/readyz").await.0, 200);
    service.stop();
    assert_eq!(next(), "STOPPING=1");
}
