//! The socket that systemd opens for the service and passes to it.

use std::net::TcpListener;
use std::os::unix::net::UnixListener;

use listenfd::ListenFd;

/// A socket that another process has opened for us.
#[derive(Debug)]
pub enum Passed {
    /// On an address and port.
    Tcp(TcpListener),
    /// At a path.
    Unix(UnixListener),
}

/// Takes the socket that is passed (`sd_listen_fds(3)`).
///
/// # Errors
/// Why what is passed cannot be used, in one sentence.
pub(super) fn take_socket() -> Result<Option<Passed>, String> {
    let mut passed = ListenFd::from_env();
    match passed.len() {
        0 => return Ok(None),
        1 => {}
        sockets => return Err(format!("systemd passes {sockets} sockets; give rollcall.socket one ListenStream")),
    }
    if let Ok(Some(listener)) = passed.take_unix_listener(0) {
        return Ok(Some(Passed::Unix(listener)));
    }
    match passed.take_tcp_listener(0) {
        Ok(listener) => Ok(listener.map(Passed::Tcp)),
        Err(_) => Err("systemd passes something that no connection can be accepted from; use ListenStream".to_owned()),
    }
}
