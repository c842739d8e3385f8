//! What one request costs the server.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::catalogue::{self, Size};
use crate::client::Client;
use crate::server::{self, MEMORY_KB, Server};

/// A server that keeps so much more memory than it began with is started again, so that each request is measured alike.
const KEPT_KB: u64 = 40 * 1024;

/// Requests after which the server is started over a new copy of the catalogue, where requests change it.
const CHANGES: u32 = 2_000;

/// What a request cost.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    pub processor: Duration,
    /// Kilobytes more than before, at the most.
    pub memory: u64,
    /// Bytes of answer.
    pub bytes: u64,
    /// Bytes of the request.
    pub sent: u64,
    pub status: u16,
    pub took: Duration,
    /// Whether the server was killed for its memory.
    pub kills: bool,
}

impl Cost {
    /// The cost in words.
    pub fn figures(&self) -> String {
        format!(
            "{} bytes in, {} bytes out, {} ms of processor, {:.1} MB, {} ms, {}",
            self.sent,
            self.bytes,
            self.processor.as_millis(),
            self.memory as f64 / 1024.0,
            self.took.as_millis(),
            if self.kills { "KILLED".to_owned() } else { format!("status {}", self.status) },
        )
    }
}

/// A server, and what its requests cost.
pub struct Meter {
    // The order matters: the server ends before its folder does.
    running: Option<Running>,
    template: PathBuf,
    changes: bool,
    /// The copy that servers share whose requests do not change it, with a token that may read.
    copy: Option<(TempDir, String)>,
    /// The most memory that was still kept some time after a request, in kilobytes more than at first.
    pub most_kept: u64,
    /// How often the server was started.
    pub starts: u32,
}

struct Running {
    client: Client,
    server: Server,
    /// Its memory once it had answered a few requests, in kilobytes.
    floor: u64,
    threads: HashMap<u32, Duration>,
    requests: u32,
}

impl Meter {
    /// A meter of requests that change the catalogue, or do not.
    pub fn new(size: Size, changes: bool) -> Self {
        Self { template: catalogue::folder(size), changes, copy: None, running: None, most_kept: 0, starts: 0 }
    }

    fn start(&mut self) -> Running {
        self.starts += 1;
        self.running = None;
        if self.changes || self.copy.is_none() {
            let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
            server::copy(&self.template, folder.path());
            let token = if self.changes { String::new() } else { server::token(folder.path(), "read") };
            self.copy = Some((folder, token));
        }
        let (folder, token) = self.copy.as_ref().expect("a copy");
        let server = Server::start(folder.path(), token, &[]).watched();
        let mut client = if self.changes {
            let cookie = catalogue::sign_in(&server, folder.path(), catalogue::ADMINISTRATOR);
            Client::with_cookie(server.address, &cookie)
        } else {
            Client::with_token(server.address, token)
        };
        for n in 0..50 {
            let warm = format!(
                r#"{{"query":"{{ a{n}: account {{ services(first: 10) {{ nodes {{ id name owner {{ name }} }} }} }} }}"}}"#
            );
            assert_eq!(client.ask(&warm).expect("an answer").status, 200);
        }
        let floor = server.memory().map_or(0, |(now, _)| now);
        let threads = server.threads();
        assert!(!threads.is_empty(), "the system does not tell what the server's threads cost");
        Running { client, server, floor, threads, requests: 0 }
    }

    /// A server that is as it was at first, or nearly.
    fn ready(&mut self) -> Running {
        let Some(mut running) = self.running.take() else { return self.start() };
        let is_worn = self.changes && running.requests > CHANGES;
        if is_worn || !running.server.is_running() {
            drop(running);
            return self.start();
        }
        // Memory is given back a little later, and when something is asked.
        let patience = Instant::now() + Duration::from_millis(500);
        loop {
            let kept = running.kept();
            if kept <= KEPT_KB {
                return running;
            }
            if Instant::now() > patience {
                self.most_kept = self.most_kept.max(kept);
                drop(running);
                return self.start();
            }
            std::thread::sleep(Duration::from_millis(100));
            let _ = running.client.ask(r#"{"query":"{ __typename }"}"#);
        }
    }

    /// Sends a request: what it cost, and the beginning of the answer.
    ///
    /// # Errors
    /// A sentence, when the server ended or hung up without having been killed.
    pub fn measure(&mut self, body: &str) -> Result<(Cost, String), String> {
        let mut running = self.ready();
        running.server.forget_most_memory();
        let before = running.server.memory().map_or(0, |(now, _)| now);
        running.spent();
        let answer = running.client.ask(body);
        let mut cost = Cost { sent: body.len() as u64, ..Cost::default() };
        if running.server.is_killed() {
            cost.kills = true;
            cost.memory = MEMORY_KB.saturating_sub(before);
            return Ok((cost, String::new()));
        }
        let answer = answer.map_err(|error| {
            let state = if running.server.is_running() { "goes on" } else { "ended" };
            format!("{error}; the server {state}")
        })?;
        cost.processor = running.spent();
        if answer.took > Duration::from_millis(20) {
            cost.processor += running.settle();
        }
        let most = running.server.memory().map_or(0, |(_, most)| most);
        cost.memory = most.saturating_sub(before);
        cost.bytes = answer.bytes as u64;
        cost.status = answer.status;
        cost.took = answer.took;
        running.requests += 1;
        // A request can delete the user who asks.
        if answer.status != 401 {
            self.running = Some(running);
        }
        Ok((cost, answer.text))
    }

    /// Measures a request on a server of its own, three times: the least processor time, and the most memory.
    pub fn confirm(&mut self, bodies: impl IntoIterator<Item = String>) -> Result<Cost, String> {
        self.running = None;
        let mut confirmed: Option<Cost> = None;
        for body in bodies {
            let (cost, _) = self.measure(&body)?;
            confirmed = Some(confirmed.map_or(cost, |other| Cost {
                processor: other.processor.min(cost.processor),
                memory: other.memory.max(cost.memory),
                bytes: other.bytes.max(cost.bytes),
                kills: other.kills || cost.kills,
                ..cost
            }));
        }
        Ok(confirmed.unwrap_or_default())
    }

    /// The server's memory now, in kilobytes; nothing while there is none.
    pub fn memory(&self) -> Option<u64> {
        self.running.as_ref()?.server.memory().map(|(now, _)| now)
    }
}

impl Running {
    fn kept(&self) -> u64 {
        self.server.memory().map_or(0, |(now, _)| now.saturating_sub(self.floor))
    }

    /// The processor time since it was last asked for.
    fn spent(&mut self) -> Duration {
        let threads = self.server.threads();
        let since = |(number, now): (&u32, &Duration)| {
            now.saturating_sub(self.threads.get(number).copied().unwrap_or_default())
        };
        let spent = threads.iter().map(since).sum();
        self.threads = threads;
        spent
    }

    /// Waits until the server does nothing any more: the processor time of that.
    fn settle(&mut self) -> Duration {
        let mut all = Duration::ZERO;
        let patience = Instant::now() + Duration::from_secs(20);
        while Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(5));
            let more = self.spent();
            all += more;
            if more < Duration::from_micros(500) && self.server.is_running() {
                break;
            }
        }
        all
    }
}

/// Where what was found is kept.
pub fn place() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("worst")
}
