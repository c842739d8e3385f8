//! Hostile clients against the program in its own process. Whatever they send is answered or closed within two seconds
//! and costs less than 100 MB, and a well-behaved client beside them has its response within 250 ms.
//!
//! Each row is a case with its own server, so that memory can be attributed. In cases about timeouts these are set to a
//! second. This is a separate test binary because it measures times: nothing else may run beside it.
//!
//! Two more tests are about valid requests, over a [`catalogue`] at the program's limits: [`climb`] searches for the
//! costliest one, and [`examples`] are those that once killed the program.

mod catalogue;
mod client;
mod climb;
mod examples;
mod exchange;
mod http2;
mod server;
mod slow_provider;

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

use exchange::{ANSWERED, CLOSED, End, LATE, Then, alone, exchange, in_turn, many, never_read};
use http2::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PRIORITY, RST_STREAM, SETTINGS, Until, WINDOW_UPDATE,
};
use server::{Installation, Server};

/// The limit of the server's additional memory.
const GROWTH_KB: u64 = 100 * 1024;

/// The limit of the median duration of a well-behaved client's requests. The median, because the test shares its
/// machine.
const CANARY: Duration = Duration::from_millis(250);

/// The minimum number of those requests.
const CANARIES: usize = 5;

/// The number of concurrent idle connections.
const IDLE: usize = 5_000;

/// A case.
struct Row {
    name: &'static str,
    flags: &'static [&'static str],
    /// The statuses; each end must have one of them.
    expected: &'static [u16],
    attack: for<'s> fn(&'s Server) -> BoxFuture<'s, Vec<End>>,
}

macro_rules! rows {
    ($($name:literal $flags:expr, $expected:expr, |$server:ident| $attack:expr;)*) => {
        [$(Row {
            name: $name,
            flags: &$flags,
            expected: &$expected,
            attack: |$server| Box::pin(async move { $attack }),
        }),*]
    };
}

const HASTY: [&str; 6] = ["--header-timeout", "500ms", "--body-timeout", "500ms", "--idle-timeout", "500ms"];

/// One address may have 6,000 connections.
const ROOMY: [&str; 2] = ["--max-connections", "24000"];

/// The same, in a hurry.
const HASTY_AND_ROOMY: [&str; 8] = [HASTY[0], HASTY[1], HASTY[2], HASTY[3], HASTY[4], HASTY[5], ROOMY[0], ROOMY[1]];

/// The end of a request.
async fn one(server: &Server, bytes: impl AsRef<[u8]>, then: Then) -> Vec<End> {
    vec![exchange(server, bytes, then).await]
}

/// The result of a document.
async fn document(server: &Server, text: &str) -> Vec<End> {
    body(server, serde_json::json!({ "query": text }).to_string()).await
}

/// The result of a body.
async fn body(server: &Server, body: impl AsRef<[u8]>) -> Vec<End> {
    one(server, server.post(body), Then::Wait).await
}

/// The result of a malformed head: `GET /livez` with these lines.
async fn head(server: &Server, lines: &str) -> Vec<End> {
    one(server, format!("GET /livez HTTP/1.1\r\nHost: a\r\n{lines}\r\n"), Then::Wait).await
}

/// The result of a request to `/graphql` with these lines in its head, followed by these bytes.
async fn request(server: &Server, lines: &str, rest: impl AsRef<[u8]>, then: Then) -> Vec<End> {
    one(server, [format!("{}{lines}\r\n", server.head()).as_bytes(), rest.as_ref()].concat(), then).await
}

/// The result of frames.
async fn frames(server: &Server, frames: Vec<u8>, until: Until) -> Vec<End> {
    vec![http2::exchange(server, &[], frames, until).await]
}

/// Frames of many streams, which have odd ids.
fn streams(count: u32, one: impl Fn(u32) -> Vec<u8>) -> Vec<u8> {
    (0..count).flat_map(|n| one(2 * n + 1)).collect()
}

const QUERY: &str = r#"{"query":"{__typename}"}"#;
const SOON: Duration = Duration::from_millis(50);
const NOW: Duration = Duration::ZERO;

fn rows() -> impl IntoIterator<Item = Row> {
    rows! {
        // Documents.
        "fragments that double thirty times" [], [400], |server| {
            let fragments = (0..30).map(|n| format!("fragment f{n} on Query {{ ...f{0} ...f{0} }} ", n + 1));
            document(server, &format!("{{ ...f0 }} {}fragment f30 on Query {{ __typename }}", fragments.collect::<String>())).await
        };
        "a cycle of 1,000 fragments" [], [400], |server| {
            let fragments = (0..1000).map(|n| format!("fragment f{n} on Query {{ ...f{} }} ", (n + 1) % 1000));
            document(server, &format!("{{ ...f0 }} {}", fragments.collect::<String>())).await
        };
        "10,000 directives" [], [400], |server| {
            document(server, &format!("{{ __typename {} }}", "@skip(if: false) ".repeat(10_000))).await
        };
        "10,000 unknown directives" [], [400], |server| {
            document(server, &format!("{{ __typename {} }}", "@a".repeat(10_000))).await
        };
        "10,000 aliases" [], [400], |server| {
            document(server, &format!("{{ {} }}", (0..10_000).map(|n| format!("a{n}:__typename ")).collect::<String>())).await
        };
        "10,000 fields of one name" [], [400], |server| {
            document(server, &format!("{{ {} }}", "__typename ".repeat(10_000))).await
        };
        "1,900 fields that must be merged" [], [200], |server| {
            document(server, &format!("{{ {} }}", "account { id } ".repeat(950))).await
        };
        "fields that conflict in every pair" [], [400], |server| {
            let fields = (0..450).map(|n| format!("a: service(alias: \"{n}\") {{ id }} "));
            document(server, &format!("{{ account {{ {} }} }}", fields.collect::<String>())).await
        };
        "10,000 selections deep" [], [400], |server| {
            document(server, &format!("{}{}", "{a".repeat(10_000), "}".repeat(10_000))).await
        };
        "lists 100,000 deep" [], [400], |server| {
            document(server, &format!("{{ __type(name: {}{}) {{ name }} }}", "[".repeat(100_000), "]".repeat(100_000))).await
        };
        "input objects 10,000 deep" [], [400], |server| {
            document(server, &format!("{{ __type(name: {}1{}) {{ name }} }}", "{a:".repeat(10_000), "}".repeat(10_000))).await
        };
        "a type of 10,000 lists" [], [400], |server| {
            document(server, &format!("query($a: {}Int{}) {{ __typename }}", "[".repeat(10_000), "]".repeat(10_000))).await
        };
        "5,000 variables" [], [400], |server| {
            let variables = (0..5_000).map(|n| format!("$v{n}:Int "));
            document(server, &format!("query({}) {{ __typename }}", variables.collect::<String>())).await
        };
        "3,000 operations" [], [400], |server| {
            document(server, &(0..3_000).map(|n| format!("query q{n}{{__typename}}")).collect::<String>()).await
        };
        "introspection of fields of fields of fields" [], [400], |server| {
            let deep = (0..6).fold("name".to_owned(), |inner, _| format!("fields {{ type {{ {inner} }} }}"));
            document(server, &format!("{{ __schema {{ types {{ {deep} }} }} }}")).await
        };
        "a number of 500,000 digits" [], [400], |server| {
            document(server, &format!("{{ __type(name: {}) {{ name }} }}", "9".repeat(500_000))).await
        };
        "a comment of a megabyte" [], [200], |server| {
            document(server, &format!("{{ __typename }} #{}", "x".repeat(1_000_000))).await
        };
        "500,000 commas" [], [200], |server| {
            document(server, &format!("{{ __typename {} }}", ",".repeat(500_000))).await
        };
        "500,000 quotes" [], [400], |server| document(server, &"\"".repeat(500_000)).await;
        "500,000 brackets that do not close" [], [400], |server| document(server, &"{(".repeat(250_000)).await;
        "a lone surrogate in a document" [], [400], |server| {
            document(server, r#"{ __type(name: "\ud800") { name } }"#).await
        };
        "50,000 different texts" [], [200], |server| {
            let texts = |worker: usize| (0..6_250).map(move |n| {
                format!(r#"{{"query":"{{ a{worker}x{n}: __typename account {{ id tiers {{ name alias }} }} }}"}}"#)
            });
            join_all((0..8).map(|worker| in_turn(server, texts(worker).map(|text| server.post(text))))).await.concat()
        };

        // JSON.
        "JSON 500,000 deep" [], [400], |server| body(server, "[".repeat(500_000)).await;
        "variables 250,000 deep" [], [400], |server| {
            body(server, format!(r#"{{"query":"{{__typename}}","variables":{}"#, r#"{"a":"#.repeat(200_000))).await
        };
        "100,000 members" [], [200], |server| {
            let members = (0..100_000).map(|n| format!(r#""{n}":1,"#)).collect::<String>();
            body(server, format!(r#"{{{members}"query":"{{__typename}}"}}"#)).await
        };
        "a JSON number of a megabyte" [], [400], |server| {
            body(server, format!(r#"{{"query":"query($a:Int){{__type(name:$a){{name}}}}","variables":{{"a":{}}}}}"#, "9".repeat(900_000))).await
        };
        "a JSON number beyond all numbers" [], [400], |server| {
            body(server, r#"{"query":"{__typename}","variables":{"a":1e99999}}"#).await
        };
        "bytes that are not UTF-8" [], [400], |server| body(server, b"{\"query\":\"{__typename \xff\xfe}\"}").await;
        "a lone surrogate in JSON" [], [400], |server| body(server, r#"{"query":"{__typename}","variables":{"a":"\ud800"}}"#).await;
        "no body" [], [400], |server| body(server, "").await;
        "a packed body that is cut off" [], [400], |server| request(server, "Content-Encoding: gzip\r\nContent-Length: 3\r\n", b"\x1f\x8b\x08", Then::Wait).await;
        "an unknown transfer coding" [], [400, 501, CLOSED], |server| request(server, "Transfer-Encoding: gzip\r\n", b"\x1f\x8b\x08", Then::Wait).await;

        // Bodies.
        "a body without an end" [], [413], |server| {
            request(server, "Transfer-Encoding: chunked\r\n", "", Then::Repeat(b"20\r\n................................\r\n", NOW)).await
        };
        "a body of ten gigabytes" [], [413], |server| {
            request(server, "Content-Length: 10000000000\r\n", "", Then::Repeat(&[b' '; 4096], NOW)).await
        };
        "a body of a length that there is none" [], [400, 413], |server| {
            request(server, "Content-Length: 99999999999999999999999\r\n", "", Then::Repeat(&[b' '; 4096], NOW)).await
        };
        "a body of 50,000 chunks of a byte" [], [400], |server| {
            request(server, "Transfer-Encoding: chunked\r\n", format!("{}0\r\n\r\n", "1\r\n{\r\n".repeat(50_000)), Then::Wait).await
        };
        "a chunk with a long extension" [], [400, 413, CLOSED], |server| {
            request(server, "Transfer-Encoding: chunked\r\n", format!("1;{}\r\n", "x".repeat(1_000_000)), Then::Wait).await
        };
        "endless trailers" [], [400, 413, 431, CLOSED], |server| {
            request(server, "Transfer-Encoding: chunked\r\n", "0\r\n", Then::Repeat(b"x: y\r\n", NOW)).await
        };
        "a body that trickles" HASTY, [408], |server| {
            request(server, "Content-Length: 1000\r\n", "", Then::Repeat(b" ", SOON)).await
        };
        "a body that does not come" HASTY, [408], |server| request(server, "Content-Length: 9\r\n", "", Then::Wait).await;
        "a body that is asked for and does not come" HASTY, [408], |server| {
            request(server, "Expect: 100-continue\r\nContent-Length: 9\r\n", "", Then::Wait).await
        };
        "200 bodies that do not come" HASTY, [408], |server| {
            many(200, |_| exchange(server, format!("{}Content-Length: 9\r\n\r\n", server.head()), Then::Wait)).await
        };
        "a body that ends early" [], [400, CLOSED], |server| request(server, "Content-Length: 1000\r\n", "{", Then::Finish).await;
        "a body for a caller without a token" [], [401], |server| {
            one(server, "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n", Then::Repeat(&[b' '; 4096], NOW)).await
        };

        // Request smuggling.
        "two lengths" [], [400], |server| request(server, "Content-Length: 24\r\nContent-Length: 25\r\n", QUERY, Then::Wait).await;
        "a list of lengths" [], [400], |server| request(server, "Content-Length: 24, 25\r\n", QUERY, Then::Wait).await;
        "a length with a sign" [], [400], |server| request(server, "Content-Length: +24\r\n", QUERY, Then::Wait).await;
        // The chunked coding wins, and nothing more is read from such a connection (RFC 9112, section 6.1).
        "a length and chunks" [], [200], |server| vec![alone(server, smuggled(server, ["Content-Length: 4", CHUNKED])).await];
        "chunks and a length" [], [200], |server| vec![alone(server, smuggled(server, [CHUNKED, "Content-Length: 4"])).await];
        "chunks twice" [], [400, CLOSED], |server| {
            request(server, "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", format!("18\r\n{QUERY}\r\n0\r\n\r\n"), Then::Wait).await
        };
        "chunks of HTTP/1.0" [], [400, CLOSED], |server| {
            one(server, "POST /graphql HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", Then::Wait).await
        };
        "a chunk of no number" [], [400, CLOSED], |server| request(server, "Transfer-Encoding: chunked\r\n", "xyz\r\n", Then::Wait).await;
        "a chunk of too large a number" [], [400, 413, CLOSED], |server| {
            request(server, "Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n", Then::Wait).await
        };
        "a chunk longer than it says" [], [400, CLOSED], |server| {
            request(server, "Transfer-Encoding: chunked\r\n", format!("4\r\n{QUERY}\r\n0\r\n\r\n"), Then::Wait).await
        };
        "a header with a blank before its colon" [], [400], |server| head(server, "Content-Length : 5\r\n").await;
        "a header that goes on in the next line" [], [400], |server| head(server, "X: a\r\n b\r\n").await;
        "a header with a null" [], [400], |server| head(server, "X: a\0b\r\n").await;
        "a header with a carriage return" [], [400], |server| head(server, "X: a\rY: b\r\n").await;
        "no host" [], [400], |server| one(server, "GET /livez HTTP/1.1\r\n\r\n", Then::Wait).await;
        "two hosts" [], [400], |server| head(server, "Host: b\r\n").await;

        // Heads.
        "a head that trickles" HASTY, [CLOSED], |server| one(server, "GET /livez HTTP/1.1\r\n", Then::Repeat(b"X: y\r\n", SOON)).await;
        "a second head that trickles" HASTY, [CLOSED], |server| {
            let mut stream = TcpStream::connect(server.address).await.expect("a connection");
            let first = async {
                tokio::io::AsyncWriteExt::write_all(&mut stream, b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\nGET /livez HTTP/1.1\r\n").await.ok()?;
                exchange::answer(&mut stream).await
            };
            assert_eq!(first.await, Some(200));
            vec![exchange::trickle(stream).await]
        };
        "500 heads that do not come" HASTY, [CLOSED], |server| {
            many(500, |_| exchange(server, "POST /graphql HTTP/1.1\r\nHost: a\r\n", Then::Wait)).await
        };
        "a head without an end" [], [431], |server| one(server, "GET /livez HTTP/1.1\r\n", Then::Repeat(b"X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n", NOW)).await;
        "10,000 headers" [], [431], |server| head(server, &"X: y\r\n".repeat(10_000)).await;
        "a header of 100 KB" [], [431], |server| head(server, &format!("X: {}\r\n", "y".repeat(100_000))).await;
        "a path of 100 KB" [], [414, 431], |server| one(server, format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "y".repeat(100_000)), Then::Wait).await;
        "a path of 20 KB" [], [404, 414], |server| one(server, format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "y".repeat(20_000)), Then::Wait).await;
        "a method of 20 KB" [], [400, 404, 405, 431], |server| one(server, format!("{} /livez HTTP/1.1\r\nHost: a\r\n\r\n", "Y".repeat(20_000)), Then::Wait).await;
        "a target that is a whole URL" [], [200], |server| one(server, "GET http://other/livez HTTP/1.1\r\nHost: other\r\n\r\n", Then::Wait).await;
        "a target that is an asterisk" [], [404, 400], |server| one(server, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", Then::Wait).await;
        "a tunnel" [], [400, 404, 405], |server| one(server, "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", Then::Wait).await;
        "an upgrade" [], [200], |server| head(server, "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n").await;
        "HTTP/0.9" [], [400, 505, CLOSED], |server| one(server, "GET /livez\r\n\r\n", Then::Wait).await;
        "HTTP/3.0" [], [400, 505, CLOSED], |server| one(server, "GET /livez HTTP/3.0\r\nHost: a\r\n\r\n", Then::Wait).await;
        "TLS where there is none" [], [400, CLOSED], |server| one(server, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", Then::Wait).await;
        "blank lines without an end" [], [400, 431, CLOSED], |server| one(server, "", Then::Repeat(&[b'\n'; 4096], NOW)).await;
        "noise" [], [400, CLOSED], |server| {
            many(50, |seed| {
                let noise: Vec<u8> = (0..1000).map(|n: usize| ((n + seed).wrapping_mul(2_654_435_761) >> 13) as u8).collect();
                exchange(server, noise, Then::Finish)
            }).await
        };
        "1,000 requests at once on one connection" [], [200], |server| {
            let mut stream = TcpStream::connect(server.address).await.expect("a connection");
            let all = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n".repeat(1_000);
            let started = Instant::now();
            tokio::io::AsyncWriteExt::write_all(&mut stream, all.as_bytes()).await.expect("the server reads");
            let answers = exchange::answers(&mut stream, 1_000).await;
            assert_eq!(answers, 1_000);
            vec![End { status: 200, took: started.elapsed() }]
        };

        // Connections.
        "100 readers that do not read" HASTY, [CLOSED], |server| many(100, |_| never_read(server)).await;
        "5,000 connections without a request" HASTY_AND_ROOMY, [CLOSED], |server| idle(server, false).await;
        "5,000 connections after a request" ROOMY, [200], |server| idle(server, true).await;
        "2,000 connections, one after the other" [], [200], |server| {
            let mut ends = Vec::new();
            for _ in 0..2_000 {
                ends.push(exchange(server, "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", Then::Wait).await);
            }
            ends
        };

        // HTTP/2.
        "HTTP/2: settings that do not come" HASTY, [CLOSED], |server| one(server, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Then::Wait).await;
        "HTTP/2: a preface that stops" HASTY, [CLOSED], |server| one(server, "PRI * HTTP/2.0\r\n", Then::Wait).await;
        "HTTP/2: 10,000 streams that are reset" [], [CLOSED, ANSWERED], |server| {
            let headers = http2::post(server);
            let one = |id| [http2::frame(HEADERS, END_HEADERS, id, &headers), http2::frame(RST_STREAM, 0, id, &[0, 0, 0, 8])].concat();
            frames(server, streams(10_000, one), Until::Ping).await
        };
        "HTTP/2: 10,000 requests that are reset" [], [CLOSED, ANSWERED], |server| {
            let headers = http2::get("/public/schema.graphql");
            let one = |id| [http2::frame(HEADERS, END_HEADERS | END_STREAM, id, &headers), http2::frame(RST_STREAM, 0, id, &[0, 0, 0, 8])].concat();
            frames(server, streams(10_000, one), Until::Ping).await
        };
        "HTTP/2: 10,000 streams that the server must reset" [], [CLOSED, ANSWERED], |server| {
            let headers = http2::get("/livez");
            let one = |id| [http2::frame(HEADERS, END_HEADERS | END_STREAM, id, &headers), http2::frame(WINDOW_UPDATE, 0, id, &[0; 4])].concat();
            frames(server, streams(10_000, one), Until::Ping).await
        };
        "HTTP/2: a head without an end" [], [CLOSED], |server| {
            let more = http2::frame(CONTINUATION, 0, 1, &[0; 100]).repeat(20_000);
            frames(server, [http2::frame(HEADERS, 0, 1, &http2::get("/livez")), more].concat(), Until::Ping).await
        };
        "HTTP/2: a head of empty pieces" [], [CLOSED], |server| {
            let more = http2::frame(CONTINUATION, 0, 1, &[]).repeat(100_000);
            frames(server, [http2::frame(HEADERS, 0, 1, &http2::get("/livez")), more].concat(), Until::Ping).await
        };
        "HTTP/2: headers that unpack to 60 MB" [], [CLOSED, ANSWERED], |server| {
            // A header of 4 KB is stored in the table and then referenced 15,000 times, with one byte each.
            let mut bomb = [&http2::get("/livez")[..], &[0x40, 1, b'x', 0x7f, 0x81, 0x1e], &[b'y'; 3968]].concat();
            bomb.extend([0xbe; 11_000]);
            frames(server, http2::frame(HEADERS, END_HEADERS | END_STREAM, 1, &bomb), Until::Ping).await
        };
        "HTTP/2: 1,000 streams that wait for their bodies" HASTY, [CLOSED, ANSWERED], |server| {
            let headers = http2::post(server);
            frames(server, streams(1_000, |id| http2::frame(HEADERS, END_HEADERS, id, &headers)), Until::Ping).await
        };
        "HTTP/2: 64 bodies that do not come" HASTY, [ANSWERED], |server| {
            let headers = http2::post(server);
            frames(server, streams(64, |id| http2::frame(HEADERS, END_HEADERS, id, &headers)), Until::Answers(64)).await
        };
        "HTTP/2: a body without an end" [], [CLOSED, ANSWERED], |server| {
            let data = http2::frame(DATA, 0, 1, &[b' '; 16_384]).repeat(1_000);
            frames(server, [http2::frame(HEADERS, END_HEADERS, 1, &http2::post(server)), data].concat(), Until::Answers(1)).await
        };
        "HTTP/2: 100,000 pieces of a body without a byte" HASTY, [CLOSED, ANSWERED], |server| {
            let data = http2::frame(DATA, 0, 1, &[]).repeat(100_000);
            frames(server, [http2::frame(HEADERS, END_HEADERS, 1, &http2::post(server)), data].concat(), Until::Answers(1)).await
        };
        "HTTP/2: 100,000 pings" [], [CLOSED], |server| frames(server, http2::frame(PING, 0, 0, &[1; 8]).repeat(100_000), Until::Ping).await;
        "HTTP/2: 100,000 settings" [], [CLOSED], |server| frames(server, http2::frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 9]).repeat(100_000), Until::Ping).await;
        "HTTP/2: 100,000 priorities" [], [CLOSED], |server| {
            frames(server, streams(100_000, |id| http2::frame(PRIORITY, 0, id, &[0, 0, 0, 0, 9])), Until::Ping).await
        };
        "HTTP/2: 64 answers that may not be sent" HASTY, [CLOSED], |server| {
            let headers = http2::get("/public/schema.graphql");
            let one = |id| http2::frame(HEADERS, END_HEADERS | END_STREAM, id, &headers);
            vec![http2::exchange(server, &[0, 4, 0, 0, 0, 0], streams(64, one), Until::Closed).await]
        };
        "HTTP/2: windows without an end" [], [CLOSED], |server| {
            frames(server, http2::frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]).repeat(500_000), Until::Closed).await
        };
        "HTTP/2: 150 connections of 64 answers that may not be sent" [], [CLOSED, ANSWERED], |server| {
            let headers = http2::get("/sign-in");
            let one = |id| http2::frame(HEADERS, END_HEADERS | END_STREAM, id, &headers);
            many(150, |_| http2::exchange(server, &[0, 4, 0, 0, 0, 0], streams(64, one), Until::Answers(64))).await
        };
        "HTTP/2: a window beyond its bounds" [], [CLOSED], |server| frames(server, http2::frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]), Until::Closed).await;
        "HTTP/2: a frame of 16 MB" [], [CLOSED], |server| frames(server, vec![0xff, 0xff, 0xff, DATA, 0, 0, 0, 0, 1], Until::Closed).await;
        "HTTP/2: frames of an idle stream" [], [CLOSED], |server| frames(server, http2::frame(DATA, 0, 7, b"x"), Until::Closed).await;
    }
}

const CHUNKED: &str = "Transfer-Encoding: chunked";

/// A request behind one with two conflicting length headers.
fn smuggled(server: &Server, lengths: [&str; 2]) -> String {
    let body = format!("18\r\n{QUERY}\r\n0\r\n\r\n");
    format!("{}{}\r\n\r\n{body}GET /livez HTTP/1.1\r\nHost: a\r\n\r\n", server.head(), lengths.join("\r\n"))
}

/// Many connections that send nothing (more). The first ones wait until all are open, and longer.
async fn idle(server: &Server, asked: bool) -> Vec<End> {
    let one = async |_| {
        let mut stream = TcpStream::connect(server.address).await.expect("a connection");
        let mut status = CLOSED;
        let started = Instant::now();
        if asked {
            let request = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";
            tokio::io::AsyncWriteExt::write_all(&mut stream, request).await.expect("the server reads");
            status = exchange::answer(&mut stream).await.unwrap_or(CLOSED);
        }
        (stream, End { status, took: started.elapsed() })
    };
    let mut open = Vec::new();
    for group in 0..IDLE / 100 {
        open.extend(join_all((0..100).map(|n| one(group * 100 + n))).await);
    }
    if asked {
        sleep(Duration::from_secs(1)).await;
        return open.iter().map(|(_, end)| *end).collect();
    }
    many_closed(open).await
}

async fn many_closed(open: Vec<(TcpStream, End)>) -> Vec<End> {
    join_all(open.into_iter().map(|(stream, _)| exchange::closed(stream))).await
}

/// A well-behaved client with a new connection for each request, and how long it waits.
async fn canary(server: &Server) -> Duration {
    let started = Instant::now();
    let body = r#"{"query":"{ account { name tiers { name } } }"}"#;
    let end = exchange(server, server.post(body), Then::Wait).await;
    assert!(matches!(end.status, 200 | LATE), "the canary got {}", end.status);
    started.elapsed()
}

/// The results of a row, and the violated limits.
async fn run(installation: &Installation, row: &Row) -> (String, Vec<String>) {
    let server = installation.serve(row.flags);
    for _ in 0..3 {
        canary(&server).await;
    }
    let before = server.memory();
    let mut waits = Vec::new();
    let mut attack = (row.attack)(&server);
    let ends = loop {
        tokio::select! {
            ends = &mut attack => break ends,
            wait = async { sleep(Duration::from_millis(20)).await; canary(&server).await } => waits.push(wait),
        }
    };
    while waits.len() < CANARIES {
        waits.push(canary(&server).await);
    }
    waits.sort_unstable();
    let wait = waits[waits.len() / 2];
    let growth = before.zip(server.memory()).map(|((before, _), (_, most))| most.saturating_sub(before));
    let slowest = ends.iter().map(|end| end.took).max().unwrap_or_default();
    let mut statuses: Vec<u16> = ends.iter().map(|end| end.status).collect();
    statuses.sort_unstable();
    statuses.dedup();

    let mut wrong = Vec::new();
    let mut check = |holds: bool, what: &str| {
        if !holds {
            wrong.push(format!("{}: {what}", row.name));
        }
    };
    check(!ends.is_empty(), "nothing was tried");
    check(
        statuses.iter().all(|status| row.expected.contains(status)),
        &format!("{statuses:?}, not {:?}", row.expected),
    );
    check(growth.is_none_or(|growth| growth < GROWTH_KB), &format!("{growth:?} kB more"));
    check(wait < CANARY, &format!("{wait:?} for half of {} requests beside it", waits.len()));
    let memory = growth.map_or("?".to_owned(), |growth| format!("{:.1}", growth as f64 / 1024.0));
    let figures = format!(
        "{:<52} {:>6} ends {:<10} {:>5} ms {:>6} MB, canary {:>3} ms",
        row.name,
        ends.len(),
        format!("{statuses:?}"),
        slowest.as_millis(),
        memory,
        wait.as_millis()
    );
    (figures, wrong)
}

/// Prints a message that the test runner shows even if the test passes.
fn say_aloud(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Raises the limit of open connections for this process and its servers. Returns whether it succeeded.
fn raise_limit_of_files(needed: u64) -> bool {
    let limit = getrlimit(Resource::Nofile);
    let may = limit.maximum.is_none_or(|most| most >= needed);
    if may && limit.current.is_some_and(|now| now < needed) {
        return setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum: limit.maximum }).is_ok();
    }
    may
}

/// Prints why a case cannot run here. In CI that is a failure.
fn leave_out(what: &str) {
    assert!(std::env::var_os("CI").is_none(), "{what}");
    say_aloud(what);
}

/// Runs one test at a time, because the tests measure time and memory.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn hostile_clients_are_answered_or_closed_soon_and_delay_nobody() {
    let _alone = one_at_a_time();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let installation = Installation::new();
    if installation.serve(&[]).memory().is_none() {
        leave_out("the memory of the server is not looked at: there is no /proc");
    }
    let has_files = raise_limit_of_files(IDLE as u64 + 1_000);
    if !has_files {
        leave_out("5,000 idle connections are left out: this process may not open as many files (ulimit -Hn)");
    }
    let only = std::env::var("ROLLCALL_TEST_HOSTILE").unwrap_or_default();
    let mut wrong = Vec::new();
    let is_tried = |row: &Row| row.name.contains(&only) && (has_files || !row.name.starts_with("5,000 connections"));
    for row in rows().into_iter().filter(is_tried) {
        let (figures, mistakes) = runtime.block_on(run(&installation, &row));
        say_aloud(&figures);
        wrong.extend(mistakes);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
