//! Where the server listens: an address and port, or a Unix socket.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The prefix of a Unix socket in `--listen`.
const UNIX: &str = "unix:";

/// The longest path of a Unix socket, in bytes: the kernel has room for so many.
const LONGEST_PATH: usize = 107;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// On an address and port.
    Tcp(SocketAddr),
    /// On the socket at this absolute path.
    Unix(PathBuf),
}

impl Listen {
    /// Parses `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080` and `unix:/run/rollcall.sock`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let Some(path) = text.strip_prefix(UNIX) else {
            let address = super::value::address(text).map(Self::Tcp);
            return address.map_err(|rule| format!("{rule}, or unix:/run/rollcall.sock for a socket"));
        };
        if !path.starts_with('/') || path.ends_with('/') || path.contains('\0') {
            return Err("write a socket with its absolute path, like unix:/run/rollcall.sock".to_owned());
        }
        if path.len() > LONGEST_PATH {
            return Err(format!("the path of a socket may have at most {LONGEST_PATH} bytes"));
        }
        Ok(Self::Unix(path.into()))
    }

    /// Whether only this machine can connect.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }
}

/// As in `--listen`.
impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "{UNIX}{}", path.display()),
        }
    }
}

impl From<SocketAddr> for Listen {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_has_an_absolute_path_that_the_kernel_has_room_for() {
        let longest = format!("unix:/{}", "s".repeat(LONGEST_PATH - 1));
        for text in ["unix:/run/rollcall.sock", "127.0.0.1:8080", "[::1]:80", &longest] {
            assert_eq!(Listen::parse(text).map(|listen| listen.to_string()).as_deref(), Ok(text));
        }
        let longer = longest.clone() + "s";
        for text in
            ["unix:", "unix:rollcall.sock", "unix:/run/", "unix:/a\0b", "/run/rollcall.sock", "nowhere", &longer]
        {
            assert!(Listen::parse(text).is_err(), "{text}");
        }
    }
}
