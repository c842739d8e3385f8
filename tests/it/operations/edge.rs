//! Clients that keep others out: connections that do nothing, frames that lead to nothing, answers that nobody takes.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::harness::app::TestApp;
use crate::harness::metrics::figures;
use crate::harness::process::Process;
use crate::harness::program::Place;

/// How long anything may take before a test fails.
const PATIENCE: Duration = Duration::from_secs(30);

const GET: &[u8] = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";

/// A connection of the client 127.0.0.LAST, which has sent these bytes.
async fn from(app: &TestApp, last: u8, bytes: &[u8]) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from(([127, 0, 0, last], 0))).expect("an address of this machine");
    let mut stream = timeout(PATIENCE, socket.connect(app.address)).await.expect("soon").expect("a connection");
    stream.write_all(bytes).await.expect("the service reads");
    stream
}

/// Reads an answer of `/livez`. Returns whether there is one.
async fn is_answered(stream: &mut TcpStream) -> bool {
    let mut text = Vec::new();
    let read = async {
        while !text.ends_with(b"\r\n\r\nok\n") {
            if !stream.read_buf(&mut text).await.is_ok_and(|read| read > 0) {
                return false;
            }
        }
        true
    };
    timeout(PATIENCE, read).await.expect("an answer or the end")
}

/// A connection that has had an answer.
async fn kept(app: &TestApp, last: u8) -> TcpStream {
    let mut stream = from(app, last, GET).await;
    assert!(is_answered(&mut stream).await, "127.0.0.{last} gets a connection");
    stream
}

/// Whether the service has not closed it: it answers once more.
async fn is_open(stream: &mut TcpStream) -> bool {
    stream.write_all(GET).await.is_ok() && is_answered(stream).await
}

/// Waits until the service closes it.
async fn is_closed(stream: &mut TcpStream) {
    let read = async { while stream.read(&mut [0; 1024]).await.is_ok_and(|read| read > 0) {} };
    timeout(PATIENCE, read).await.expect("the service closes it");
}

async fn closed(app: &TestApp, reason: &str) -> f64 {
    figures(app).await[&format!("rollcall_closed_connections_total{{reason=\"{reason}\"}}")]
}

const METRICS: [&str; 2] = ["--metrics-listen", "127.0.0.1:0"];

#[tokio::test]
async fn whoever_has_no_connection_gets_one_when_all_are_taken() {
    let app = TestApp::with(&[&METRICS[..], &["--max-connections", "8"]].concat()).await;
    let mut taken = Vec::new();
    for last in [2, 3, 4, 5] {
        taken.extend([kept(&app, last).await, kept(&app, last).await]);
    }
    let mut newcomer = kept(&app, 6).await;
    is_closed(&mut taken[0]).await;
    for (number, stream) in taken.iter_mut().enumerate().skip(1) {
        assert!(is_open(stream).await, "{number}");
    }
    assert!(is_open(&mut newcomer).await);
    assert_eq!(closed(&app, "room").await, 1.0);
}

#[tokio::test]
async fn one_of_the_address_that_has_most_makes_room() {
    let app = TestApp::with(&["--max-connections", "16"]).await;
    let mut lone = kept(&app, 2).await;
    let mut taken = Vec::new();
    for last in [3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6] {
        taken.push(kept(&app, last).await);
    }
    // The longest idle one of an address with four.
    assert!(is_open(&mut taken[0]).await);
    let _newcomer = kept(&app, 7).await;
    is_closed(&mut taken[1]).await;
    assert!(is_open(&mut lone).await && is_open(&mut taken[0]).await);
}

#[tokio::test]
async fn half_a_head_half_a_preface_and_silence_are_idle() {
    let app = TestApp::with(&["--max-connections", "4"]).await;
    let mut taken = Vec::new();
    for (last, start) in [
        (2, &b""[..]),
        (3, b"GET /livez HTTP/1.1\r\nHost: a\r\n"),
        (4, b"PRI * HTTP/2.0\r\n"),
        (5, &[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat()),
    ] {
        taken.push(from(&app, last, start).await);
        sleep(Duration::from_millis(20)).await;
    }
    let mut newcomers = Vec::new();
    for (stream, last) in taken.iter_mut().zip(6..) {
        newcomers.push(kept(&app, last).await);
        is_closed(stream).await;
    }
}

/// A connection whose request waits for its body.
async fn waiting_for_a_body(app: &TestApp, last: u8, length: usize) -> TcpStream {
    let head = format!("{}Content-Length: {length}\r\nExpect: 100-continue\r\n\r\n", app.head());
    let mut stream = from(app, last, head.as_bytes()).await;
    let mut go_on = [0; 25];
    timeout(PATIENCE, stream.read_exact(&mut go_on)).await.expect("soon").expect("100 Continue");
    stream
}

#[tokio::test]
async fn a_request_in_progress_makes_room_only_if_no_connection_is_idle() {
    let app = TestApp::with(&["--max-connections", "4"]).await;
    let body = r#"{"query":"{__typename}"}"#;
    let mut busy = waiting_for_a_body(&app, 2, body.len()).await;
    let mut idle = kept(&app, 3).await;
    let _others = [kept(&app, 4).await, kept(&app, 5).await];
    let _newcomer = kept(&app, 6).await;
    is_closed(&mut idle).await;
    busy.write_all(body.as_bytes()).await.expect("the service reads");
    let mut answer = [0; 15];
    timeout(PATIENCE, busy.read_exact(&mut answer)).await.expect("soon").expect("an answer");
    assert_eq!(&answer, b"HTTP/1.1 200 OK");

    let all = TestApp::with(&["--max-connections", "4"]).await;
    let mut busy = Vec::new();
    for last in 2..6 {
        busy.push(waiting_for_a_body(&all, last, 10).await);
    }
    let _newcomer = kept(&all, 6).await;
    is_closed(&mut busy[0]).await;
}

#[tokio::test]
async fn behind_a_trusted_proxy_that_has_all_connections_another_one_gets_in() {
    let app = TestApp::with(&["--max-connections", "8", "--trusted-proxies", "127.0.0.1"]).await;
    let mut of_proxy = Vec::new();
    for _ in 0..8 {
        of_proxy.push(kept(&app, 1).await);
    }
    let _health_check = kept(&app, 9).await;
    let _ninth = kept(&app, 1).await;
    is_closed(&mut of_proxy[0]).await;
    is_closed(&mut of_proxy[1]).await;
    for stream in &mut of_proxy[2..] {
        assert!(is_open(stream).await);
    }
}

// HTTP/2 by hand.

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const UNKNOWN: u8 = 0xbb;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short frame").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A header with an indexed name, neither compressed nor remembered.
fn field(index: u8, value: &str) -> Vec<u8> {
    let name = if index < 15 { vec![index] } else { vec![15, index - 15] };
    [&name[..], &[u8::try_from(value.len()).expect("a short value")], value.as_bytes()].concat()
}

fn get(path: &str) -> Vec<u8> {
    [vec![0x82, 0x86], field(4, path), field(1, "test")].concat()
}

fn post(app: &TestApp) -> Vec<u8> {
    let token = format!("Bearer {}", app.token);
    [vec![0x83, 0x86], field(4, "/graphql"), field(1, "test"), field(23, &token), field(31, "application/json")]
        .concat()
}

/// The frames that arrive on a connection, without the payloads of bodies: what, on which stream, flags, length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Arrived {
    kind: u8,
    flags: u8,
    stream: u32,
    length: usize,
}

/// A client of HTTP/2 that keeps to no rule.
struct Raw {
    writer: OwnedWriteHalf,
    /// Everything that arrives. Ends when the service closes the connection.
    reader: JoinHandle<()>,
    arrived: tokio::sync::mpsc::UnboundedReceiver<Arrived>,
}

impl Raw {
    /// A connection of 127.0.0.LAST with this initial window for the answers.
    async fn connect(app: &TestApp, last: u8, window: u32) -> Self {
        let settings = [&[0, 4][..], &window.to_be_bytes()].concat();
        let start = [PREFACE, &frame(SETTINGS, 0, 0, &settings)].concat();
        let (mut reader, writer) = from(app, last, &start).await.into_split();
        let (sender, arrived) = tokio::sync::mpsc::unbounded_channel();
        let reader = tokio::spawn(async move {
            let mut head = [0; 9];
            while reader.read_exact(&mut head).await.is_ok() {
                let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
                if reader.read_exact(&mut vec![0; length]).await.is_err() {
                    break;
                }
                let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
                let _ = sender.send(Arrived { kind: head[3], flags: head[4], stream, length });
            }
        });
        Self { writer, reader, arrived }
    }

    /// Sends frames. Returns whether the connection is still open.
    async fn send(&mut self, frames: &[u8]) -> bool {
        !self.reader.is_finished() && self.writer.write_all(frames).await.is_ok()
    }

    /// Waits for a frame.
    async fn wait_for(&mut self, is_wanted: impl Fn(&Arrived) -> bool) -> Option<Arrived> {
        let read = async {
            while let Some(frame) = self.arrived.recv().await {
                if is_wanted(&frame) {
                    return Some(frame);
                }
            }
            None
        };
        timeout(PATIENCE, read).await.expect("a frame or the end")
    }

    /// Sends a request without a body and waits for the head of its answer.
    async fn ask(&mut self, stream: u32, headers: &[u8]) {
        assert!(self.send(&frame(HEADERS, END_HEADERS | END_STREAM, stream, headers)).await, "it is open");
        let answer = self.wait_for(|frame| frame.kind == HEADERS && frame.stream == stream).await;
        assert!(answer.is_some(), "stream {stream} is answered");
    }
}

/// Sends frames without an end. Returns how many bytes until the connection was closed.
async fn flood(raw: &mut Raw, frames: impl Fn(u32) -> Vec<u8>) -> usize {
    let (mut sent, began) = (0, Instant::now());
    for number in 0.. {
        let piece: Vec<u8> = (0..100).flat_map(|n| frames(number * 100 + n)).collect();
        if !raw.send(&piece).await {
            break;
        }
        sent += piece.len();
        assert!(began.elapsed() < PATIENCE, "{sent} bytes, and it is open");
    }
    sent
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_frames_that_lead_to_nothing_is_cut_off() {
    let app = TestApp::with(&[&METRICS[..], &["--ip-limit", "0", "--idle-timeout", "60s"]].concat()).await;
    type Frames = fn(u32) -> Vec<u8>;
    let floods: [(&str, Frames); 8] = [
        ("pings", |_| frame(PING, 0, 0, &[1; 8])),
        ("answers to pings that were not sent", |_| frame(PING, 1, 0, &[1; 8])),
        ("settings", |_| frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 9])),
        ("settings without a setting", |_| frame(SETTINGS, 0, 0, &[])),
        ("windows of the connection", |_| frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1])),
        ("priorities", |number| frame(PRIORITY, 0, 2 * number + 5, &[0, 0, 0, 0, 9])),
        ("frames that nobody knows", |_| frame(UNKNOWN, 0, 0, &[])),
        ("pieces of a body without a byte", |_| frame(DATA, 0, 3, &[])),
    ];
    for (name, frames) in floods {
        let mut raw = Raw::connect(&app, 2, 65_535).await;
        raw.ask(1, &get("/livez")).await;
        raw.send(&frame(HEADERS, END_HEADERS, 3, &post(&app))).await;
        let sent = flood(&mut raw, frames).await;
        // Beside what is allowed, the buffers of the kernel hold a few megabytes.
        assert!(sent < 32 * 1024 * 1024, "{name}: {sent} bytes");
    }
    // HTTP/2 has a limit of its own for the last kind.
    assert!(closed(&app, "flood").await >= 7.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_cancels_its_requests_is_cut_off() {
    let app = TestApp::with(&[&METRICS[..], &["--ip-limit", "0"]].concat()).await;
    let mut raw = Raw::connect(&app, 2, 65_535).await;
    let (mut number, began) = (0, Instant::now());
    let headers = post(&app);
    loop {
        let stream = 2 * number + 1;
        // Each begins, because its frames do not come together.
        let is_open = raw.send(&frame(HEADERS, END_HEADERS, stream, &headers)).await;
        sleep(Duration::from_millis(2)).await;
        if !is_open || !raw.send(&frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])).await {
            break;
        }
        number += 1;
        assert!(began.elapsed() < PATIENCE && number < 5_000, "{number} requests, and it is open");
    }
    assert!(number > 200, "{number}");
    let mut honest = Raw::connect(&app, 2, 65_535).await;
    for number in 0..400 {
        // One of three is cancelled.
        let stream = 6 * number + 1;
        honest.send(&frame(HEADERS, END_HEADERS, stream, &headers)).await;
        honest.send(&frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])).await;
        honest.ask(stream + 2, &get("/livez")).await;
        honest.ask(stream + 4, &get("/livez")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_ping_and_enlarge_their_windows_are_served_on() {
    let app = TestApp::with(&["--ip-limit", "0", "--token-limit", "0"]).await;
    let mut raw = Raw::connect(&app, 2, 65_535).await;
    // Twice what may lead to nothing, but requests come between.
    let between = [frame(PING, 0, 0, &[1; 8]), frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 9])].concat().repeat(20);
    for number in 0..1_000 {
        assert!(raw.send(&between).await, "request {number}");
        raw.ask(2 * number + 1, &get("/livez")).await;
    }
    // A download, acknowledged in small steps.
    raw.send(&frame(HEADERS, END_HEADERS | END_STREAM, 3_001, &get("/public/schema.graphql"))).await;
    loop {
        let piece = raw.wait_for(|frame| frame.kind == DATA && frame.stream == 3_001).await.expect("the schema");
        if piece.flags & END_STREAM != 0 {
            break;
        }
        for _ in 0..piece.length / 1_024 {
            let window = 1_024_u32.to_be_bytes();
            raw.send(&[frame(WINDOW_UPDATE, 0, 0, &window), frame(WINDOW_UPDATE, 0, 3_001, &window)].concat()).await;
        }
    }
    // A body of a megabyte in chunks of three bytes.
    let mut stream = app.connect().await;
    let body = format!("{{\"query\":\"{{__typename}}\"{}}}", " ".repeat(600_000));
    let chunks: String = body
        .as_bytes()
        .chunks(3)
        .map(|chunk| format!("{:x}\r\n{}\r\n", chunk.len(), std::str::from_utf8(chunk).expect("text")))
        .collect();
    let request = format!("{}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n", app.head());
    stream.write_all(request.as_bytes()).await.expect("the service reads");
    let answer = crate::harness::app::read_to_end(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_its_client_does_not_take_is_reset() {
    let app = TestApp::with(&[&METRICS[..], &["--idle-timeout", "500ms"]].concat()).await;
    let mut raw = Raw::connect(&app, 2, 0).await;
    raw.ask(1, &get("/livez")).await;
    let began = Instant::now();
    let mut reset = false;
    // Other requests go on meanwhile. Their answers have no body.
    for number in 1..40 {
        assert!(
            raw.send(&frame(HEADERS, END_HEADERS | END_STREAM, 2 * number + 1, &head("/livez"))).await,
            "it is open"
        );
        reset |= raw
            .wait_for(|frame| frame.kind == RST_STREAM || frame.stream == 2 * number + 1)
            .await
            .is_some_and(|frame| frame.kind == RST_STREAM && frame.stream == 1);
        sleep(Duration::from_millis(50)).await;
    }
    assert!(reset, "{:?}", began.elapsed());
    assert!(closed(&app, "stalled").await >= 1.0);

    // With a window of a byte, HTTP/2 has the answer already, and only the connection can be closed.
    let mut raw = Raw::connect(&app, 2, 1).await;
    raw.ask(1, &get("/livez")).await;
    let end = async {
        for number in 1.. {
            let head = frame(HEADERS, END_HEADERS | END_STREAM, 2 * number + 1, &head("/livez"));
            if !raw.send(&head).await {
                return;
            }
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, end).await.expect("it is closed");
    assert!(raw.wait_for(|frame| frame.kind == GOAWAY).await.is_some());
}

/// The headers of a request whose answer has no body. The method has no number of its own.
fn head(path: &str) -> Vec<u8> {
    [&[2, 4][..], b"HEAD", &[0x86], &field(4, path), &field(1, "test")].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_share_connections_count_for_their_address() {
    let app = TestApp::with(&[&METRICS[..], &["--ip-limit", "0"]].concat()).await;
    let mut attack = Vec::new();
    for _ in 0..60 {
        let mut raw = Raw::connect(&app, 2, 0).await;
        let frames: Vec<u8> =
            (0..64).flat_map(|n| frame(HEADERS, END_HEADERS | END_STREAM, 2 * n + 1, &get("/livez"))).collect();
        raw.send(&frames).await;
        attack.push(raw);
    }
    let until = Instant::now() + PATIENCE;
    while closed(&app, "memory").await == 0.0 {
        assert!(Instant::now() < until, "its address has a share");
        sleep(Duration::from_millis(50)).await;
    }
    // Others, and a request that has its connection for itself, are served.
    let mut other = Raw::connect(&app, 3, 65_535).await;
    let two = [
        frame(HEADERS, END_HEADERS | END_STREAM, 1, &get("/livez")),
        frame(HEADERS, END_HEADERS | END_STREAM, 3, &get("/livez")),
    ]
    .concat();
    assert!(other.send(&two).await);
    let mut answered = Vec::new();
    while answered.len() < 2 {
        // In any order.
        let body = other.wait_for(|frame| frame.kind == DATA && frame.length == 3).await;
        answered.push(body.expect("both are answered").stream);
    }
    answered.sort_unstable();
    assert_eq!(answered, [1, 3]);
    kept(&app, 2).await;
    assert_eq!(app.post("{__typename}", json!({})).await.status, 200);
    drop(attack);
}

#[test]
fn no_frame_of_a_client_writes_a_line_to_the_log() {
    let place = Place::new();
    let mut service = Process::start(place.command(&["--listen", "127.0.0.1:0"]));
    let frames = [PREFACE, &frame(SETTINGS, 0, 0, &[]), &frame(PING, 1, 0, &[7; 8]).repeat(1_000)].concat();
    let mut stream = std::net::TcpStream::connect(service.address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    std::io::Write::write_all(&mut stream, &[frames, frame(PING, 0, 0, b"the last")].concat()).expect("it reads");
    // The answer to the last one.
    let mut text: Vec<u8> = Vec::new();
    while !text.windows(8).any(|bytes| bytes == b"the last") {
        let mut bytes = [0; 64];
        let read = std::io::Read::read(&mut stream, &mut bytes).expect("an answer");
        assert!(read > 0, "it is open");
        text.extend(&bytes[..read]);
    }
    let log = service.stop().join("\n");
    assert!(!log.contains("PING"), "{log}");
}
