//! A client that uses hardly any processor time, so that the server has the processors.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A keep-alive connection.
pub struct Client {
    stream: TcpStream,
    answer: Vec<u8>,
}

impl Client {
    pub async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        Self { stream, answer: Vec::with_capacity(16 * 1024) }
    }

    /// Sends a request and returns the response's status and body.
    pub async fn send(&mut self, request: &[u8]) -> (u16, &[u8]) {
        self.stream.write_all(request).await.expect("the server reads");
        self.answer.clear();
        let (head, length) = loop {
            if self.stream.read_buf(&mut self.answer).await.expect("the server answers") == 0 {
                panic!("the server ended the connection");
            }
            if let Some(head) = head(&self.answer) {
                break head;
            }
        };
        while self.answer.len() < head + length {
            self.stream.read_buf(&mut self.answer).await.expect("the server answers");
        }
        let status = std::str::from_utf8(&self.answer[9..12]).ok().and_then(|status| status.parse().ok());
        (status.expect("a status"), &self.answer[head..])
    }
}

/// The length of the head, once it is complete, and of the body.
fn head(answer: &[u8]) -> Option<(usize, usize)> {
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&answer[..end]).expect("text");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    Some((end, length.and_then(|length| length.parse().ok()).expect("a length")))
}

/// A request in wire format.
pub fn post(path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n{headers}");
    format!("{head}Content-Length: {length}\r\n\r\n{body}").into_bytes()
}
