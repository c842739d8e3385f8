//! A keep-alive client of HTTP/1.1.

use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::HeaderMap;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// A whole request.
pub type Request = hyper::Request<Full<Bytes>>;

/// A whole response.
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    /// The body as text.
    pub fn text(&self) -> Result<&str, String> {
        std::str::from_utf8(&self.body).map_err(|error| format!("the body is not text: {error}"))
    }

    /// The status and the begin of the body, or of what a page says.
    pub fn shortened(&self) -> String {
        let text = String::from_utf8_lossy(&self.body);
        let text = text.find("<main").map_or(&*text, |at| &text[at..]);
        format!("{} {}", self.status, text.chars().take(400).collect::<String>())
    }
}

/// A connection, which carries one request at a time.
pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
}

impl Connection {
    pub async fn open(address: SocketAddr) -> Result<Self, String> {
        let why = |error: &dyn std::fmt::Display| format!("no connection to {address}: {error}");
        let stream = TcpStream::connect(address).await.map_err(|error| why(&error))?;
        stream.set_nodelay(true).map_err(|error| why(&error))?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| why(&error))?;
        // What goes wrong with it is an error of `send` too.
        tokio::spawn(connection);
        Ok(Self { sender })
    }

    /// Sends a request and reads the whole response.
    pub async fn send(&mut self, request: Request) -> Result<Answer, String> {
        let path = request.uri().clone();
        let why = |error: hyper::Error| format!("no response to {path}: {error}");
        self.sender.ready().await.map_err(why)?;
        let (parts, body) = self.sender.send_request(request).await.map_err(why)?.into_parts();
        let body = body.collect().await.map_err(why)?.to_bytes();
        Ok(Answer { status: parts.status.as_u16(), headers: parts.headers, body })
    }
}
