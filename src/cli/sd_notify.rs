//! Tells systemd how far the service is: `sd_notify(3)`, one datagram each.

use std::ffi::OsStr;
use std::io;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use tracing::warn;

use crate::config;

/// The service answers requests.
pub const READY: &str = "READY=1";

/// The service stops.
pub const STOPPING: &str = "STOPPING=1";

/// Tells the service manager, if it has asked for it. If it cannot be told, the log says so: after `TimeoutStartSec` it
/// would stop a service that is not ready.
pub fn tell(state: &str) {
    let Some(socket) = config::notify_socket() else { return };
    if let Err(error) = send(&socket, state) {
        warn!(%error, state, "the service manager cannot be told");
    }
}

fn send(socket: &OsStr, state: &str) -> io::Result<()> {
    let sender = UnixDatagram::unbound()?;
    // One that does not read must not keep the service from its work.
    sender.set_nonblocking(true)?;
    sender.send_to_addr(state.as_bytes(), &address(socket)?).map(drop)
}

/// The address of a socket, which is a path or, after an `@`, a name without a file.
fn address(socket: &OsStr) -> io::Result<SocketAddr> {
    #[cfg(target_os = "linux")]
    {
        use std::os::linux::net::SocketAddrExt;
        use std::os::unix::ffi::OsStrExt;
        if let Some(name) = socket.as_bytes().strip_prefix(b"@") {
            return SocketAddr::from_abstract_name(name);
        }
    }
    SocketAddr::from_pathname(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_arrives_at_a_path_and_at_a_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("notify");
        let receiver = UnixDatagram::bind(&path).expect("a socket");
        send(path.as_os_str(), READY).expect("a datagram");
        let mut said = [0; 64];
        let length = receiver.recv(&mut said).expect("a datagram");
        assert_eq!(&said[..length], b"READY=1");
        assert!(send(folder.path().join("none").as_os_str(), READY).is_err());

        #[cfg(target_os = "linux")]
        {
            use std::os::linux::net::SocketAddrExt;
            let name = format!("rollcall-test-{}", std::process::id());
            let address = SocketAddr::from_abstract_name(&name).expect("a name");
            let receiver = UnixDatagram::bind_addr(&address).expect("a socket");
            send(OsStr::new(&format!("@{name}")), STOPPING).expect("a datagram");
            let length = receiver.recv(&mut said).expect("a datagram");
            assert_eq!(&said[..length], b"STOPPING=1");
        }
    }
}
