//! HTTP/2 by hand: frames that no client would send.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use crate::exchange::{ANSWERED, CLOSED, End, LATE, PATIENCE};
use crate::server::Server;

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;
const ACK: u8 = 1;

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// A header of an index of the static table, not indexed, not compressed.
fn literal(index: u8, value: &str) -> Vec<u8> {
    let mut field = if index < 15 { vec![index] } else { vec![15, index - 15] };
    field.push(value.len() as u8);
    field.extend(value.as_bytes());
    field
}

/// The headers of a request that is answered without a body.
pub fn get(path: &str) -> Vec<u8> {
    [vec![0x82, 0x86], literal(4, path), literal(1, "test")].concat()
}

/// The headers of a request to `/graphql`.
pub fn post(server: &Server) -> Vec<u8> {
    let token = format!("Bearer {}", server.token);
    let parts = [literal(4, "/graphql"), literal(1, "test"), literal(23, &token), literal(31, "application/json")];
    [vec![0x83, 0x86], parts.concat()].concat()
}

/// How a connection is known to be over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Until {
    /// It is closed, or a ping after everything else is answered.
    Ping,
    /// It is closed.
    Closed,
    /// It is closed, or so many streams are answered or reset.
    Answers(usize),
}

/// Sends the preface, settings and frames, and waits for the answers or the end.
pub async fn exchange(server: &Server, settings: &[u8], frames: Vec<u8>, until: Until) -> End {
    let started = Instant::now();
    let run = async {
        let Ok(stream) = TcpStream::connect(server.address).await else { return CLOSED };
        let (mut reader, mut writer) = stream.into_split();
        let write = async {
            let start = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &*frame(SETTINGS, 0, 0, settings)].concat();
            let _ = writer.write_all(&start).await;
            let _ = writer.write_all(&frames).await;
            if until == Until::Ping {
                let _ = writer.write_all(&frame(PING, 0, 0, b"the last")).await;
            }
            std::future::pending::<u16>().await
        };
        let read = async {
            let mut answers = 0;
            loop {
                let mut head = [0; 9];
                if reader.read_exact(&mut head).await.is_err() {
                    return CLOSED;
                }
                let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
                let mut payload = vec![0; length];
                if reader.read_exact(&mut payload).await.is_err() {
                    return CLOSED;
                }
                match (head[3], until) {
                    (GOAWAY, _) => return CLOSED,
                    (PING, Until::Ping) if head[4] & ACK != 0 && payload == b"the last" => return ANSWERED,
                    (HEADERS | RST_STREAM, Until::Answers(wanted)) => {
                        answers += 1;
                        if answers == wanted {
                            return ANSWERED;
                        }
                    }
                    _ => {}
                }
            }
        };
        tokio::select! { status = read => status, status = write => status }
    };
    let status = timeout(PATIENCE, run).await.unwrap_or(LATE);
    End { status, took: started.elapsed() }
}
