//! The way to the server on this machine: over TCP or a Unix socket, with the PROXY header that it may expect.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use ureq::tls::TlsConfig;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, RustlsConnector, Transport,
};
use ureq::{Agent, Error, Timeout};

use crate::config::{Addresses, Listen};
use crate::outgoing::reachable;

/// A PROXY header of version 2 with which the peer speaks for itself.
const HEADER: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0";

/// The server on this machine, as its settings describe it.
#[derive(Debug, Clone)]
pub struct Ourselves {
    listen: Listen,
    /// Whether it speaks TLS.
    pub is_encrypted: bool,
    /// Whether it expects PROXY headers, if it trusts this machine.
    pub expects_header: bool,
}

impl Ourselves {
    /// The server with these settings.
    pub fn new(addresses: &Addresses) -> Self {
        let listen = match &addresses.listen {
            Listen::Tcp(address) => Listen::Tcp(reachable(*address)),
            Listen::Unix(path) => Listen::Unix(path.clone()),
        };
        Self { listen, is_encrypted: addresses.tls.both().is_some(), expects_header: addresses.proxy_protocol }
    }

    /// A blocking client for it. It uses no proxy and does not verify the certificate: nothing secret is sent, and the
    /// address is this machine's own.
    pub fn agent(&self, sends_header: bool) -> Agent {
        let tls = TlsConfig::builder().disable_verification(true).build();
        let config = Agent::config_builder().http_status_as_error(false).max_redirects(0).proxy(None).tls_config(tls);
        let way = Way { listen: self.listen.clone(), sends_header };
        Agent::with_parts(config.build(), way.chain(RustlsConnector::default()), DefaultResolver::default())
    }

    /// The URL of a path. A Unix socket has no host; this one needs no resolver.
    pub fn url(&self, is_encrypted: bool, path: &str) -> String {
        let scheme = if is_encrypted { "https" } else { "http" };
        match &self.listen {
            Listen::Tcp(address) => format!("{scheme}://{address}{path}"),
            Listen::Unix(_) => format!("{scheme}://127.0.0.1{path}"),
        }
    }
}

/// As in `--listen`.
impl fmt::Display for Ourselves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.listen.fmt(f)
    }
}

/// Connects to the server, whatever host a URL names.
#[derive(Debug)]
struct Way {
    listen: Listen,
    sends_header: bool,
}

impl<In: Transport> Connector<In> for Way {
    type Out = Socket;

    fn connect(&self, details: &ConnectionDetails<'_>, _: Option<In>) -> Result<Option<Socket>, Error> {
        let limit = details.timeout.not_zero().map_or(Duration::MAX, |limit| *limit);
        let stream = match &self.listen {
            Listen::Tcp(address) => TcpStream::connect_timeout(address, limit).map(Stream::Tcp),
            Listen::Unix(path) => connect_unix(path.clone(), limit).map(Stream::Unix),
        };
        let mut stream = stream.map_err(|error| in_time(error, details.timeout.reason))?;
        if self.sends_header {
            stream.write_all(HEADER)?;
        }
        let config = details.config;
        let buffers = LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size());
        Ok(Some(Socket { stream, buffers }))
    }
}

/// Connects to a Unix socket. Where a server accepts nothing, the kernel would wait for ever.
fn connect_unix(path: PathBuf, limit: Duration) -> io::Result<UnixStream> {
    let (done, connected) = mpsc::channel();
    thread::spawn(move || done.send(UnixStream::connect(path)));
    connected.recv_timeout(limit).unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// A connection to the server.
#[derive(Debug)]
struct Socket {
    stream: Stream,
    buffers: LazyBuffers,
}

#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn set_timeouts(&self, limit: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(limit).and_then(|()| stream.set_write_timeout(limit)),
            Self::Unix(stream) => stream.set_read_timeout(limit).and_then(|()| stream.set_write_timeout(limit)),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.write_all(bytes),
            Self::Unix(stream) => stream.write_all(bytes),
        }
    }

    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(bytes),
            Self::Unix(stream) => stream.read(bytes),
        }
    }
}

impl Transport for Socket {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        let Self { stream, buffers } = self;
        let sent = stream.set_timeouts(timeout.not_zero().map(|limit| *limit));
        let sent = sent.and_then(|()| stream.write_all(&buffers.output()[..amount]));
        sent.map_err(|error| in_time(error, timeout.reason))
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let Self { stream, buffers } = self;
        let read = stream.set_timeouts(timeout.not_zero().map(|limit| *limit));
        let read = read.and_then(|()| stream.read(buffers.input_append_buf()));
        let read = read.map_err(|error| in_time(error, timeout.reason))?;
        buffers.input_appended(read);
        Ok(read > 0)
    }

    /// Each request has its own connection.
    fn is_open(&mut self) -> bool {
        false
    }
}

/// Tells a timeout from other errors.
fn in_time(error: io::Error, reason: Timeout) -> Error {
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Error::Timeout(reason),
        _ => error.into(),
    }
}
