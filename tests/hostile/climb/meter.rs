//! Measures the cost of a request on the server.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use tempfile::TempDir;

use crate::catalogue::{self, Size};
use crate::client::Client;
use crate::server::{self, MEMORY_KB, Server};

/// A server that holds this much more memory than at its start is restarted, so that all requests are measured alike.
const KEPT_KB: u64 = 40 * 1024;

/// Where requests change the catalogue, the server is restarted over a new copy after this many requests.
const CHANGES: u32 = 2_000;

/// The pause between the requests of [`Others`].
const PAUSE: Duration = Duration::from_millis(20);

/// The cost of a request.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    pub processor: Duration,
    /// The peak increase of memory, in kilobytes.
    pub memory: u64,
    /// The size of the response in bytes.
    pub bytes: u64,
    /// The size of the request in bytes.
    pub sent: u64,
    pub status: u16,
    pub took: Duration,
    /// The longest that a small mutation or a deploy of others took beside it, where requests change the catalogue.
    pub others: Duration,
    /// Whether the server was killed for its memory use.
    pub kills: bool,
}

impl Cost {
    /// The cost in words.
    pub fn figures(&self) -> String {
        format!(
            "{} bytes in, {} bytes out, {} ms of processor, {:.1} MB, {} ms, others {} ms, {}",
            self.sent,
            self.bytes,
            self.processor.as_millis(),
            self.memory as f64 / 1024.0,
            self.took.as_millis(),
            self.others.as_millis(),
            if self.kills { "KILLED".to_owned() } else { format!("status {}", self.status) },
        )
    }
}

/// A server and its measurements.
pub struct Meter {
    // Field order matters: the server must stop before its folder is removed.
    running: Option<Running>,
    template: PathBuf,
    changes: bool,
    /// The catalogue that read-only servers share, with a read token.
    copy: Option<(TempDir, String)>,
    /// The maximum memory that was retained some time after a request, in kilobytes above the start.
    pub most_kept: u64,
    /// How often the server was started.
    pub starts: u32,
}

/// A well-behaved client, who sends small mutations and deploys.
struct Others {
    client: Client,
    /// Where deploys are posted to.
    path: String,
    sent: u32,
}

impl Others {
    /// Sends until this is over, and once more. Returns the longest wait. `None` if an answer is missing.
    fn send(&mut self, is_over: &AtomicBool) -> Option<Duration> {
        let mut longest = Duration::ZERO;
        loop {
            let was_over = is_over.load(Ordering::Relaxed);
            self.sent += 1;
            let tag = format!("alias: \"svc_1\", tags: {{ key: \"beside\", value: \"{}\" }}", self.sent);
            let tag = format!("mutation {{ tagAssign(input: {{ {tag} }}) {{ errors {{ message }} }} }}");
            longest = longest.max(self.client.ask(&json!({ "query": tag }).to_string()).ok()?.took);
            let deploy = json!({
                "service": "svc_1", "description": "beside", "deployed_at": "2026-11-21T01:44:00Z",
                "deployer": { "name": "Others" }, "environment": "production",
            });
            let deploy = self.client.request("POST", &self.path, "application/json", &deploy.to_string());
            longest = longest.max(self.client.send(&deploy).ok()?.took);
            if was_over {
                return Some(longest);
            }
            thread::sleep(PAUSE);
        }
    }
}

struct Running {
    client: Client,
    others: Option<Others>,
    server: Server,
    /// What it held after the first requests, in kilobytes.
    floor: u64,
    threads: HashMap<u32, Duration>,
    requests: u32,
}

impl Meter {
    /// A meter for requests that change the catalogue, or that do not.
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
        let others = self.changes.then(|| {
            let endpoint = server::run(folder.path(), &["deploy-endpoint", "create", "--name", "others"]);
            let path = endpoint.find("/integrations/").map(|at| endpoint[at..].to_owned()).expect("a path");
            (server::token(folder.path(), "write"), path)
        });
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
        let floor = server.held_memory().unwrap_or_default();
        let threads = server.threads();
        assert!(!threads.is_empty(), "the system does not tell what the server's threads cost");
        let others = others.map(|(token, path)| {
            let client = Client::with_token(server.address, &token);
            Others { client, path, sent: 0 }
        });
        Running { client, others, server, floor, threads, requests: 0 }
    }

    /// A server in a state like the initial one.
    fn ready(&mut self) -> Running {
        let Some(mut running) = self.running.take() else { return self.start() };
        let is_worn = self.changes && running.requests > CHANGES;
        if is_worn || !running.server.is_running() {
            drop(running);
            return self.start();
        }
        // The allocator returns memory with a delay, and only when there is work.
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

    /// Sends a request and returns its cost and the start of the response.
    ///
    /// # Errors
    /// One sentence, if the server stopped or disconnected without having been killed.
    pub fn measure(&mut self, body: &str) -> Result<(Cost, String), String> {
        let mut running = self.ready();
        running.server.forget_most_memory();
        let before = running.server.memory().map_or(0, |(now, _)| now);
        running.spent();
        let (client, others, is_over) = (&mut running.client, &mut running.others, &AtomicBool::new(false));
        let (answer, waited) = thread::scope(|scope| {
            let beside = others.as_mut().map(|others| scope.spawn(move || others.send(is_over)));
            let answer = client.ask(body);
            is_over.store(true, Ordering::Relaxed);
            (answer, beside.and_then(|beside| beside.join().ok().flatten()))
        });
        let others = waited.unwrap_or_default();
        let mut cost = Cost { sent: body.len() as u64, others, ..Cost::default() };
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
        // A request may have deleted the user who sends it.
        if answer.status != 401 {
            self.running = Some(running);
        }
        Ok((cost, answer.text))
    }

    /// Measures a request three times, each on a fresh server. Returns the minimum times and the maximum memory.
    pub fn confirm(&mut self, bodies: impl IntoIterator<Item = String>) -> Result<Cost, String> {
        self.running = None;
        let mut confirmed: Option<Cost> = None;
        for body in bodies {
            let (cost, _) = self.measure(&body)?;
            confirmed = Some(confirmed.map_or(cost, |other| Cost {
                processor: other.processor.min(cost.processor),
                others: other.others.min(cost.others),
                memory: other.memory.max(cost.memory),
                bytes: other.bytes.max(cost.bytes),
                kills: other.kills || cost.kills,
                ..cost
            }));
        }
        Ok(confirmed.unwrap_or_default())
    }

    /// What the server holds, in kilobytes. `None` while there is no server.
    pub fn held_memory(&self) -> Option<u64> {
        self.running.as_ref()?.server.held_memory()
    }
}

impl Running {
    fn kept(&self) -> u64 {
        self.server.held_memory().unwrap_or_default().saturating_sub(self.floor)
    }

    /// The processor time since the last call.
    fn spent(&mut self) -> Duration {
        let threads = self.server.threads();
        let since = |(number, now): (&u32, &Duration)| {
            now.saturating_sub(self.threads.get(number).copied().unwrap_or_default())
        };
        let spent = threads.iter().map(since).sum();
        self.threads = threads;
        spent
    }

    /// Waits until the server is idle, and returns the processor time until then.
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

/// The folder for the findings.
pub fn place() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("worst")
}
