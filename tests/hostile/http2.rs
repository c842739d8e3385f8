//! Hand-written HTTP/2: frames that no real client would send.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::exchange::{ANSWERED, CLOSED, End, timed};
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

/// A literal header with an indexed name, not added to the table and not compressed.
fn literal(index: u8, value: &str) -> Vec<u8> {
    let mut field = if index < 15 { vec![index] } else { vec![15, index - 15] };
    field.push(value.len() as u8);
    field.extend(value.as_bytes());
    field
}

/// The headers of a request whose response has no body.
pub fn get(path: &str) -> Vec<u8> {
    [vec![0x82, 0x86], literal(4, path), literal(1, "test")].concat()
}

/// The headers of a request to `/graphql`.
pub fn post(server: &Server) -> Vec<u8> {
    let token = format!("Bearer {}", server.token);
    let parts = [literal(4, "/graphql"), literal(1, "test"), literal(23, &token), literal(31, "application/json")];
    [vec![0x83, 0x86], parts.concat()].concat()
}

/// How to tell that a connection has ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Until {
    /// It is closed, or a ping after everything else was answered.
    Ping,
    /// It is closed.
    Closed,
    /// It is closed, or this many streams were answered or reset.
    Answers(usize),
}

/// Sends the preface, settings and frames, and waits for the responses or the end.
pub async fn exchange(server: &Server, settings: &[u8], frames: Vec<u8>, until: Until) -> End {
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
    timed(run).await
}

/// Opens this many form posts and sends each without its last bytes. The connection stays open for `time`.
pub async fn half_sent(server: &Server, paths: &[&str], count: u32, bytes: usize, time: Duration) {
    let Ok(stream) = TcpStream::connect(server.address).await else { return };
    let (mut reader, mut writer) = stream.into_split();
    // The window: what a client may send before the server has read it.
    let window = AtomicI64::new(65_535);
    let write = async {
        let start = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &*frame(SETTINGS, 0, 0, &[])].concat();
        if writer.write_all(&start).await.is_err() {
            return;
        }
        let piece = vec![b'a'; 15_000];
        for number in 0..count {
            let id = 2 * number + 1;
            let origin = format!("http://{}", server.address);
            let path = paths[number as usize % paths.len()];
            let head = [
                vec![0x83, 0x86],
                literal(4, path),
                literal(1, &server.address.to_string()),
                literal(31, "application/x-www-form-urlencoded"),
                [&[0, 6][..], b"origin", &[origin.len() as u8], origin.as_bytes()].concat(),
            ];
            if writer.write_all(&frame(HEADERS, END_HEADERS, id, &head.concat())).await.is_err() {
                return;
            }
            for _ in 0..bytes / piece.len() {
                while window.load(Ordering::Relaxed) < piece.len() as i64 {
                    sleep(Duration::from_millis(5)).await;
                }
                window.fetch_sub(piece.len() as i64, Ordering::Relaxed);
                if writer.write_all(&frame(DATA, 0, id, &piece)).await.is_err() {
                    return;
                }
            }
        }
        std::future::pending::<()>().await;
    };
    let read = async {
        let mut head = [0; 9];
        while reader.read_exact(&mut head).await.is_ok() {
            let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
            if reader.read_exact(&mut payload).await.is_err() {
                break;
            }
            if head[3] == WINDOW_UPDATE && head[5..9] == [0; 4] && payload.len() == 4 {
                let more = u32::from_be_bytes([payload[0], payload[1], payload[2], payload[3]]);
                window.fetch_add(i64::from(more), Ordering::Relaxed);
            }
        }
    };
    let _ = timeout(time, async { tokio::join!(write, read) }).await;
}
