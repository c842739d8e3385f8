//! Where connections come from: an address and port, or a Unix socket.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, IoSlice};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::time::sleep;

use crate::config::{Listen, Passed};

/// The address of whoever connects to a Unix socket: this machine's. `--trusted-proxies` can name it.
const OF_UNIX: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// How many connections may wait to be accepted on a port, unless the system allows fewer. Linux drops the first packet of
/// any other, and its client sends that again after a second. On a Unix socket, as many may wait as the system allows.
pub const BACKLOG: i32 = 4096;

/// How often, and how long apart, another process that opens a socket in the same folder is waited for.
const TURNS: u32 = 100;
const TURN: Duration = Duration::from_millis(20);

/// A socket that accepts connections.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
    /// Whether connections of trusted proxies begin with a PROXY header.
    pub(super) expects_header: bool,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpListener),
    Unix {
        listener: UnixListener,
        /// Removes its file at the end, unless another process has made that.
        _file: Option<SocketFile>,
    },
}

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Self {
        Self { socket: Socket::Tcp(listener), expects_header: false }
    }
}

impl Listener {
    /// Opens the socket. A Unix socket gets these permissions; the file of a socket on which nobody answers is replaced,
    /// and any other file is left alone.
    ///
    /// # Errors
    /// Why it cannot, in one sentence that names `flag`.
    pub async fn open(listen: &Listen, mode: u32, flag: &str) -> Result<Self, String> {
        let socket = match listen {
            Listen::Tcp(address) => {
                let cannot = |error: io::Error| cannot_listen(*address, flag, &error);
                let listener = TcpListener::bind(address).await.map_err(cannot)?;
                deepen(&listener).map_err(cannot)?;
                Socket::Tcp(listener)
            }
            Listen::Unix(path) => {
                let (listener, file) = open_unix(path, mode).await?;
                Socket::Unix { listener, _file: Some(file) }
            }
        };
        Ok(Self { socket, expects_header: false })
    }

    /// Takes over a socket that another process has opened.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn adopt(passed: Passed) -> io::Result<Self> {
        let socket = match passed {
            Passed::Tcp(listener) => {
                listener.set_nonblocking(true)?;
                Socket::Tcp(TcpListener::from_std(listener)?)
            }
            Passed::Unix(listener) => {
                listener.set_nonblocking(true)?;
                Socket::Unix { listener: UnixListener::from_std(listener)?, _file: None }
            }
        };
        Ok(Self { socket, expects_header: false })
    }

    /// Expects that connections of trusted proxies begin with a PROXY header.
    pub fn with_proxy_headers(self) -> Self {
        Self { expects_header: true, ..self }
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The system does not say.
    pub fn place(&self) -> io::Result<Listen> {
        match &self.socket {
            Socket::Tcp(listener) => listener.local_addr().map(Listen::Tcp),
            Socket::Unix { listener, .. } => {
                let address = listener.local_addr()?;
                Ok(Listen::Unix(address.as_pathname().unwrap_or(Path::new("(unnamed)")).into()))
            }
        }
    }

    /// Waits for the next connection.
    pub(super) async fn accept(&self) -> io::Result<(Stream, SocketAddr)> {
        match &self.socket {
            Socket::Tcp(listener) => listener.accept().await.map(|(stream, peer)| (Stream::Tcp(stream), peer)),
            Socket::Unix { listener, .. } => {
                let (stream, _) = listener.accept().await?;
                Ok((Stream::Unix(stream), SocketAddr::new(OF_UNIX, 0)))
            }
        }
    }
}

/// Lets [`BACKLOG`] connections wait to be accepted on a port. By default, 128 may.
fn deepen(listener: &TcpListener) -> io::Result<()> {
    Ok(rustix::net::listen(listener, BACKLOG)?)
}

/// The file of a socket, removed when dropped unless another socket has taken its place.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|file| identity(&file) == self.identity) {
            // It may be gone already, and nothing else can be done about it now.
            let _ = fs::remove_file(&self.path);
        }
    }
}

async fn open_unix(path: &Path, mode: u32) -> Result<(UnixListener, SocketFile), String> {
    let cannot = |error: io::Error| format!("cannot listen on unix:{}: {error}", path.display());
    // Of processes that start together, the second must find the socket of the first, and not an abandoned one.
    let _turn = lock_folder(path.parent().unwrap_or(Path::new("/"))).await.map_err(cannot)?;
    remove_abandoned(path).await?;
    // Until the permissions are set, the umask decides who may connect: with the usual ones, only this user.
    let listener = UnixListener::bind(path).map_err(cannot)?;
    let file = fs::symlink_metadata(path).map_err(cannot)?;
    let file = SocketFile { path: path.to_owned(), identity: identity(&file) };
    fs::set_permissions(path, Permissions::from_mode(mode)).map_err(cannot)?;
    Ok((listener, file))
}

/// Locks a folder among processes that open sockets in it, until the result is dropped.
async fn lock_folder(folder: &Path) -> io::Result<File> {
    let folder = File::open(folder)?;
    for _ in 0..TURNS {
        match folder.try_lock() {
            Ok(()) => return Ok(folder),
            Err(fs::TryLockError::WouldBlock) => sleep(TURN).await,
            Err(fs::TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "another program has locked its folder"))
}

/// Removes the file of a socket on which nobody answers.
///
/// # Errors
/// The file is something else, or somebody answers.
async fn remove_abandoned(path: &Path) -> Result<(), String> {
    let shown = path.display();
    let Ok(file) = fs::symlink_metadata(path) else { return Ok(()) };
    if !file.file_type().is_socket() {
        return Err(format!("{shown} exists and is not a socket; remove it, or choose another path with --listen"));
    }
    match UnixStream::connect(path).await {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path)
            .map_err(|error| format!("the abandoned socket {shown} cannot be removed: {}", error.kind())),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(format!("{shown} is a socket of another user; remove it, or choose another path with --listen"))
        }
        _ => Err(format!(
            "another program already listens on unix:{shown}; stop it, or choose another path with --listen"
        )),
    }
}

fn cannot_listen(address: SocketAddr, flag: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("another program already listens on {address}; stop it, or choose another port with {flag}")
        }
        io::ErrorKind::AddrNotAvailable => format!("this machine has no address {}", address.ip()),
        io::ErrorKind::PermissionDenied => format!("listening on {address} is not permitted"),
        _ => format!("cannot listen on {address}: {error}"),
    }
}

/// An accepted connection.
#[derive(Debug)]
pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// Whether the peer has an address of its own. All peers of a Unix socket have [`OF_UNIX`].
    pub(super) fn has_own_address(&self) -> bool {
        matches!(self, Self::Tcp(_))
    }

    /// Sends what is written at once. Responses are written whole, so delaying packets gains nothing.
    pub(super) fn send_at_once(&self) {
        if let Self::Tcp(stream) = self {
            // Only slower without.
            let _ = stream.set_nodelay(true);
        }
    }
}

/// Calls a method of the stream that there is.
macro_rules! of_either {
    ($this:expr, $method:ident($($argument:expr),*)) => {
        match $this.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).$method($($argument),*),
            Stream::Unix(stream) => Pin::new(stream).$method($($argument),*),
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        of_either!(self, poll_read(cx, buffer))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        of_either!(self, poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        of_either!(self, poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Tcp(stream) => stream.is_write_vectored(),
            Self::Unix(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        of_either!(self, poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        of_either!(self, poll_shutdown(cx))
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn more_than_128_connections_may_wait_to_be_accepted() {
        let most = fs::read_to_string("/proc/sys/net/core/somaxconn").expect("Linux");
        let waiting = most.trim().parse::<usize>().expect("a number").min(200);
        let listener = Listener::open(&Listen::Tcp(SocketAddr::new(OF_UNIX, 0)), 0o600, "--listen").await;
        let listener = listener.expect("a port");
        let Ok(Listen::Tcp(address)) = listener.place() else { panic!("it is a port") };
        // Nobody accepts them.
        let connect = async {
            let mut connections = Vec::new();
            for _ in 0..waiting {
                connections.push(TcpStream::connect(address).await.expect("a connection"));
            }
            connections
        };
        timeout(Duration::from_secs(20), connect).await.expect("no connection is sent a second time");
    }
}
