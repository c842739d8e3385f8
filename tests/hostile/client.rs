//! A keep-alive client that waits for one response at a time.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How much of a response is kept. The rest is only counted.
const KEPT: usize = 64 * 1024;

/// The client's timeout for a response.
const PATIENCE: Duration = Duration::from_secs(120);

/// A connection.
pub struct Client {
    address: SocketAddr,
    stream: Option<TcpStream>,
    credential: String,
}

/// A response.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    /// The head, as text.
    pub head: String,
    /// The size of the body in bytes.
    pub bytes: usize,
    /// The start of the body, at most [`KEPT`] bytes.
    pub text: String,
    pub took: Duration,
}

impl Answer {
    /// A header of the response.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

impl Client {
    /// A client with a token.
    pub fn with_token(address: SocketAddr, token: &str) -> Self {
        Self { address, stream: None, credential: format!("Authorization: Bearer {token}\r\n") }
    }

    /// A client with a session's cookie.
    pub fn with_cookie(address: SocketAddr, cookie: &str) -> Self {
        Self { address, stream: None, credential: format!("Cookie: {cookie}\r\nSec-Fetch-Site: same-origin\r\n") }
    }

    /// Posts to `/graphql`.
    pub fn ask(&mut self, body: &str) -> Result<Answer> {
        self.send(&self.request("POST", "/graphql", "application/json", body))
    }

    /// Posts to `/graphql` and returns the data. Must succeed.
    pub fn data(&mut self, query: &str, variables: &Value) -> Value {
        let answer = self.ask(&serde_json::json!({ "query": query, "variables": variables }).to_string());
        let answer = answer.expect("an answer");
        let json: Value = serde_json::from_str(&answer.text)
            .unwrap_or_else(|error| panic!("{error}: {} {}", answer.status, shortened(&answer.text)));
        assert!(json.get("errors").is_none(), "{}", shortened(&answer.text));
        json["data"].clone()
    }

    /// Gets a page.
    pub fn get(&mut self, path: &str) -> Result<Answer> {
        self.send(&self.request("GET", path, "", ""))
    }

    /// A whole request.
    pub fn request(&self, method: &str, path: &str, kind: &str, body: &str) -> Vec<u8> {
        let kind = if kind.is_empty() { String::new() } else { format!("Content-Type: {kind}\r\n") };
        let accept = if path == "/graphql" { "application/graphql-response+json" } else { "*/*" };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\n{kind}Accept: {accept}\r\n{}Content-Length: {}\r\n\r\n",
            self.address,
            self.credential,
            body.len()
        );
        [head.as_bytes(), body.as_bytes()].concat()
    }

    /// Sends a whole request on the current connection, or a new one, and waits for the response.
    pub fn send(&mut self, request: &[u8]) -> Result<Answer> {
        let started = Instant::now();
        if let Some(stream) = self.stream.take() {
            match self.exchange(stream, request, started) {
                // The server may close an idle connection just when it is reused.
                Err(error) if error.kind() == ErrorKind::NotConnected => {}
                answer => return answer,
            }
        }
        let stream = self.connect()?;
        self.exchange(stream, request, started)
    }

    fn exchange(&mut self, mut stream: TcpStream, request: &[u8], started: Instant) -> Result<Answer> {
        let written = stream.write_all(request);
        let mut text = vec![0; KEPT];
        let mut length = 0;
        let head = loop {
            if let Some(end) = text[..length].windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            if length == text.len() {
                return Err(Error::new(ErrorKind::InvalidData, "an endless head"));
            }
            match stream.read(&mut text[length..]) {
                Ok(0) | Err(_) if length == 0 && written.is_err() => return Err(ErrorKind::NotConnected.into()),
                Ok(0) if length == 0 => return Err(Error::new(ErrorKind::NotConnected, "closed without an answer")),
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                read => length += read?,
            }
        };
        let status = std::str::from_utf8(&text[..head]).ok().and_then(|head| head.get(9..12)?.parse().ok());
        let mut answer = Answer {
            status: status.ok_or(ErrorKind::InvalidData)?,
            head: String::from_utf8_lossy(&text[..head]).into_owned(),
            bytes: 0,
            text: String::new(),
            took: Duration::ZERO,
        };
        let wanted = answer.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = text[head..length].to_vec();
        answer.bytes = body.len();
        while answer.bytes < wanted {
            let read = stream.read(&mut text)?;
            if read == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            let kept = read.min(KEPT.saturating_sub(body.len()));
            body.extend_from_slice(&text[..kept]);
            answer.bytes += read;
        }
        if !answer.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close")) {
            self.stream = Some(stream);
        }
        answer.text = String::from_utf8_lossy(&body).into_owned();
        answer.took = started.elapsed();
        Ok(answer)
    }

    /// Sends a request and disconnects before the response.
    pub fn send_and_leave(&mut self, request: &[u8], after: Duration) -> Result<()> {
        let mut stream = self.connect()?;
        stream.write_all(request)?;
        std::thread::sleep(after);
        Ok(())
    }

    fn connect(&self) -> Result<TcpStream> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    }
}

/// The start of a text.
pub fn shortened(text: &str) -> String {
    text.chars().take(2_000).collect()
}
