//! A connection that misbehaves until it gets a response or is closed.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use crate::server::Server;

/// The end of a connection, and the time until then.
#[derive(Debug, Clone, Copy)]
pub struct End {
    pub status: u16,
    pub took: Duration,
}

/// The server closed the connection without a response.
pub const CLOSED: u16 = 0;

/// Neither a response nor a close within [`PATIENCE`].
pub const LATE: u16 = 1;

/// A response over HTTP/2 of any status, or a connection that continues as if nothing had happened.
pub const ANSWERED: u16 = 2;

/// The time limit for a response or a close.
const PATIENCE: Duration = TICK.saturating_mul(TICKS);

/// Time is counted in ticks, so that a machine which stands still for seconds costs a tick.
const TICK: Duration = Duration::from_millis(50);
/// See [`TICK`].
const TICKS: u32 = 40;

/// Waits for the status of an attempt, for at most [`PATIENCE`].
pub async fn timed(attempt: impl Future<Output = u16>) -> End {
    let started = Instant::now();
    let mut attempt = pin!(attempt);
    for _ in 0..TICKS {
        if let Ok(status) = timeout(TICK, &mut attempt).await {
            return End { status, took: started.elapsed() };
        }
    }
    End { status: LATE, took: started.elapsed() }
}

/// What a connection sends after its first bytes.
#[derive(Debug, Clone, Copy)]
pub enum Then {
    /// Nothing; it stays open.
    Wait,
    /// Nothing; it shuts down its writing side.
    Finish,
    /// These bytes repeatedly, with a pause in between.
    Repeat(&'static [u8], Duration),
}

/// Sends, and waits for the status of the response or the close.
pub async fn exchange(server: &Server, bytes: impl AsRef<[u8]>, then: Then) -> End {
    let run = async {
        let Ok(stream) = TcpStream::connect(server.address).await else { return CLOSED };
        let (mut reader, mut writer) = stream.into_split();
        let read = async {
            let mut text = Vec::new();
            loop {
                if let Some(status) = status(&text) {
                    return status;
                }
                match reader.read_buf(&mut text).await {
                    Ok(0) | Err(_) => return status(&text).unwrap_or(CLOSED),
                    Ok(_) => {}
                }
            }
        };
        let write = async {
            let mut sent = writer.write_all(bytes.as_ref()).await;
            match then {
                Then::Wait => {}
                Then::Finish => drop(writer.shutdown().await),
                Then::Repeat(piece, pause) => {
                    while sent.is_ok() {
                        if !pause.is_zero() {
                            sleep(pause).await;
                        }
                        sent = writer.write_all(piece).await;
                    }
                }
            }
            std::future::pending::<u16>().await
        };
        tokio::select! { status = read => status, status = write => status }
    };
    timed(run).await
}

/// The status of the first response other than `100 Continue`.
fn status(text: &[u8]) -> Option<u16> {
    let text = std::str::from_utf8(&text[..text.len().min(64)]).ok()?;
    let rest = text.strip_prefix("HTTP/1.1 100 Continue\r\n\r\n").unwrap_or(text);
    rest.strip_prefix("HTTP/1.1 ").or_else(|| rest.strip_prefix("HTTP/1.0 "))?.get(..3)?.parse().ok()
}

/// Sends bytes that may contain a second request, and reads to the end. Returns the status, or [`ANSWERED`] if both
/// were answered.
pub async fn alone(server: &Server, bytes: impl AsRef<[u8]>) -> End {
    let run = async {
        let mut stream = TcpStream::connect(server.address).await.ok()?;
        stream.write_all(bytes.as_ref()).await.ok()?;
        let mut text = Vec::new();
        // A reset also counts as a close.
        let _ = stream.read_to_end(&mut text).await;
        let answers = text.windows(9).filter(|window| window == b"HTTP/1.1 ").count();
        if answers == 1 { status(&text) } else { Some(ANSWERED) }
    };
    timed(async { run.await.unwrap_or(CLOSED) }).await
}

/// This many of them at the same time.
pub async fn many<F: Future<Output = End>>(count: usize, one: impl Fn(usize) -> F) -> Vec<End> {
    join_all((0..count).map(one)).await
}

/// Sends requests on one connection, each after the previous response.
pub async fn in_turn(server: &Server, requests: impl IntoIterator<Item = Vec<u8>>) -> Vec<End> {
    let mut stream = TcpStream::connect(server.address).await.expect("a connection");
    let mut ends = Vec::new();
    for request in requests {
        let one = async {
            stream.write_all(&request).await.ok()?;
            answer(&mut stream).await
        };
        let end = timed(async { one.await.unwrap_or(CLOSED) }).await;
        ends.push(end);
        if end.status < 100 {
            break;
        }
    }
    ends
}

/// Reads a response with a `Content-Length`.
pub async fn answer(stream: &mut TcpStream) -> Option<u16> {
    let mut text = Vec::new();
    loop {
        if let Some(head) = text.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&text[..head]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok())?;
            if text.len() >= head.len() + 4 + length {
                return status(&text);
            }
        }
        if stream.read_buf(&mut text).await.ok()? == 0 {
            return None;
        }
    }
}

/// Requests long responses and reads none, until the server disconnects.
pub async fn never_read(server: &Server) -> End {
    let run = async {
        let mut stream = TcpStream::connect(server.address).await.expect("a connection");
        while stream.write_all(b"GET /public/schema.graphql HTTP/1.1\r\nHost: a\r\n\r\n").await.is_ok() {}
        CLOSED
    };
    timed(run).await
}

/// How many of this many responses arrive.
pub async fn answers(stream: &mut TcpStream, count: usize) -> usize {
    let mut text = Vec::new();
    let found = |text: &[u8]| text.windows(13).filter(|window| window == b"HTTP/1.1 200 ").count();
    let all = async { while found(&text) < count && stream.read_buf(&mut text).await.is_ok_and(|read| read > 0) {} };
    let _ = timeout(PATIENCE, all).await;
    found(&text)
}

/// Sends a header from time to time, until the server disconnects.
pub async fn trickle(mut stream: TcpStream) -> End {
    let run = async {
        let mut answer = [0; 1];
        loop {
            tokio::select! {
                _ = stream.read(&mut answer) => return CLOSED,
                () = sleep(Duration::from_millis(50)) => {}
            }
            if stream.write_all(b"X: y\r\n").await.is_err() {
                return CLOSED;
            }
        }
    };
    timed(run).await
}

/// Waits until the server disconnects.
pub async fn closed(mut stream: TcpStream) -> End {
    let run = async {
        while stream.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {}
        CLOSED
    };
    timed(run).await
}
