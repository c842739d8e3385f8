//! Writes to three processes at a fixed rate, while faults happen: its clients, its figures, and what must be stored in
//! the end.
//!
//! `ROLLCALL_TEST_PROGRAM` names the program to measure; without it, it is the one built with this test.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::join_all;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rollcall::db::{self, Write};
use rollcall::entity::idempotency_key::MAX_KEYS;
use rollcall::graphql::request::idempotency::CLAIM_TIMEOUT;
use serde_json::json;
use tokio::task::{JoinHandle, block_in_place};
use tokio::time::{sleep, sleep_until, timeout};

use crate::harness::database::texts;
use crate::harness::process::Process;
use crate::harness::program::Place;
use crate::harness::webhook::record;

/// How many clients write. Each sends the next write that is due; one that is due while all are busy is sent later.
const WRITERS: u32 = 50;

/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The longest time without an acknowledgement that a fault may cost beyond its own length.
const ALLOWED: Duration = Duration::from_secs(2);

/// The time after a fault that still counts as part of it.
const AFTER: Duration = Duration::from_secs(3);

/// A write that is later than this counts as late.
const LATE: Duration = Duration::from_secs(1);

/// A program that is given is measured: it must keep the limits.
fn given_program() -> Option<PathBuf> {
    std::env::var_os("ROLLCALL_TEST_PROGRAM").map(|path| std::path::absolute(path).expect("a path"))
}

/// A number from the environment.
pub fn setting<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

/// The duration of lasting faults.
pub fn fault_time() -> Duration {
    Duration::from_secs(setting("ROLLCALL_TEST_FAULT_SECONDS").unwrap_or(1))
}

/// The state shared by all writers.
struct Load {
    /// Writes per second.
    rate: u32,
    /// When the first write was due, later by all delays that were given up.
    since: Mutex<Instant>,
    addresses: Mutex<Vec<SocketAddr>>,
    client: Client<HttpConnector, Full<Bytes>>,
    /// Several, because only the latest [`MAX_KEYS`] of each are kept.
    tokens: Vec<String>,
    webhook: String,
    next: AtomicUsize,
    turn: AtomicUsize,
    is_over: AtomicBool,
    /// The writes that were sent.
    sent: Mutex<Vec<usize>>,
    /// When a write was acknowledged.
    acknowledged: Mutex<Vec<Instant>>,
    /// The writes that the server still considers running.
    left: Mutex<Vec<usize>>,
    /// The attempts that were not acknowledged, by status; 0 means no response.
    failed: Mutex<BTreeMap<u16, usize>>,
}

impl Load {
    /// Sends a write to the next process: every second one is a deploy, the others create a service.
    async fn attempt(&self, write: usize) -> u16 {
        let addresses = self.addresses.lock().expect("whole").clone();
        let address = addresses[self.turn.fetch_add(1, Ordering::Relaxed) % addresses.len()];
        let is_deploy = write.is_multiple_of(2);
        let (path, body) = if is_deploy {
            // Deploys of an unknown service lock its suggestion.
            let deploy = json!({ "service": format!("load-{}", write % 40), "dedup_id": write.to_string() });
            (&*self.webhook, record(deploy))
        } else {
            let name = format!("s{write}");
            let query =
                format!("mutation {{ serviceCreate(input: {{ name: \"{name}\" }}) {{ errors {{ message }} }} }}");
            ("/graphql", json!({ "query": query }))
        };
        let request = Request::post(format!("http://{address}{path}"))
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {}", self.token(write)))
            .header("idempotency-key", write.to_string())
            .body(Full::new(Bytes::from(body.to_string())));
        let answer = async {
            let (parts, body) = self.client.request(request.expect("a request")).await.ok()?.into_parts();
            Some((parts.status.as_u16(), body.collect().await.ok()?.to_bytes()))
        };
        match timeout(PATIENCE, answer).await {
            // An error beside status 200: the commit is uncertain.
            Ok(Some((200, text))) if !is_deploy && text != r#"{"data":{"serviceCreate":{"errors":[]}}}"# => 500,
            Ok(Some((status, _))) => status,
            Ok(None) | Err(_) => 0,
        }
    }

    /// The token of a write. The writes with keys, which are every second one, take them in turns.
    fn token(&self, write: usize) -> &str {
        &self.tokens[write / 2 % self.tokens.len()]
    }

    /// When a write is due.
    fn due(&self, write: usize) -> Instant {
        *self.since.lock().expect("whole") + Duration::from_secs_f64(write as f64 / f64::from(self.rate))
    }

    /// How late the next write is.
    fn delay(&self) -> Duration {
        self.due(self.next.load(Ordering::Relaxed)).elapsed()
    }

    /// Sends the writes that are due, and repeats each until it is acknowledged, until the test is over.
    async fn write(&self) {
        loop {
            let write = self.next.fetch_add(1, Ordering::Relaxed);
            sleep_until(self.due(write).into()).await;
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            self.sent.lock().expect("whole").push(write);
            let mut runs = 0;
            loop {
                match self.attempt(write).await {
                    200 | 202 => break self.acknowledged.lock().expect("whole").push(Instant::now()),
                    409 if runs == 3 => break self.left.lock().expect("whole").push(write),
                    status => {
                        runs += usize::from(status == 409);
                        *self.failed.lock().expect("whole").entry(status).or_default() += 1;
                    }
                }
                sleep(Duration::from_millis(100)).await;
            }
        }
    }

    /// The longest time without an acknowledgement from `begun` on.
    fn longest_gap(&self, begun: Instant) -> Duration {
        let mut times: Vec<Instant> = self.acknowledged.lock().expect("whole").clone();
        times.retain(|time| *time > begun);
        times.extend([begun, Instant::now()]);
        times.sort_unstable();
        times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default()
    }

    fn count(&self) -> usize {
        self.acknowledged.lock().expect("whole").len()
    }
}

/// A fault that has begun.
pub struct Begun {
    fault: String,
    at: Instant,
    before: usize,
}

/// Three processes, their clients, and what was measured.
pub struct Site {
    /// The processes behind the balancer.
    pub processes: Vec<Process>,
    place: Place,
    program: PathBuf,
    /// The database, as the processes reach it.
    url: String,
    load: Arc<Load>,
    writers: Vec<JoinHandle<()>>,
    began: Instant,
    table: String,
    /// What did not keep its limit.
    broken: Vec<String>,
}

impl Site {
    /// Creates the tables of an empty database, and begins to write to it through three processes. `direct` reaches it
    /// without faults. `program` is the one that is given or built, unless it is an older one.
    pub async fn start(direct: &str, url: String, older: Option<PathBuf>) -> Self {
        let rate = setting("ROLLCALL_TEST_FAULT_RATE").unwrap_or(if given_program().is_some() { 200 } else { 50 });
        let (load, processes) = (Arc::new(Load::to(rate)), Vec::new());
        let program = older.or_else(given_program).unwrap_or_else(|| env!("CARGO_BIN_EXE_rollcall").into());
        let (table, broken) = (HEAD.to_owned(), Vec::new());
        let (place, writers, began) = (Place::new(), Vec::new(), Instant::now());
        let mut site = Self { processes, place, program, url, load, writers, began, table, broken };
        let run = |arguments: &[&str]| {
            let done = site.command(&[arguments, &["--database-url", direct]].concat()).output().expect("it runs");
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            String::from_utf8(done.stdout).expect("text").trim().to_owned()
        };
        run(&["migrate"]);
        let tokens =
            (0..20).map(|number| run(&["token", "create", "--description", &format!("load {number}")])).collect();
        let webhook = run(&["deploy-endpoint", "create", "--name", "CI"]);
        let load = Arc::get_mut(&mut site.load).expect("nobody has it yet");
        load.tokens = tokens;
        webhook.split_once(":8080").expect("the usual port").1.clone_into(&mut load.webhook);
        site.processes = (0..3).map(|_| site.start_process()).collect();
        site.route();
        *site.load.since.lock().expect("whole") = Instant::now();
        site.writers = (0..WRITERS).map(|_| site.writer()).collect();
        // Everything is done once before it counts.
        sleep(AFTER).await;
        site.began = Instant::now();
        site.load.acknowledged.lock().expect("whole").clear();
        site
    }

    fn writer(&self) -> JoinHandle<()> {
        let load = Arc::clone(&self.load);
        tokio::spawn(async move { load.write().await })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(self.place.path()).args(arguments).stdin(Stdio::null()).env_clear();
        command
    }

    /// Starts a process.
    pub fn start_process(&self) -> Process {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--database-url", &self.url];
        let limits = ["--token-limit", "0", "--ip-limit", "0", "--drain-delay", "300ms"];
        block_in_place(|| Process::start(self.command(&[&serve[..], &limits].concat())))
    }

    /// Starts all further processes as the newest program.
    pub fn upgrade(&mut self) {
        self.program = given_program().unwrap_or_else(|| env!("CARGO_BIN_EXE_rollcall").into());
    }

    /// Starts all further processes with another URL of the database.
    pub fn reach_by(&mut self, url: String) {
        self.url = url;
    }

    /// Sends requests to the processes that there are now.
    pub fn route(&self) {
        let addresses = self.processes.iter().map(|process| process.address).collect();
        *self.load.addresses.lock().expect("whole") = addresses;
    }

    /// Replaces one process after another.
    pub fn replace_processes(&mut self) {
        for _ in 0..self.processes.len() {
            let mut old = self.processes.remove(0);
            old.tell_to_stop();
            self.route();
            block_in_place(|| old.wait());
            self.processes.push(self.start_process());
            self.route();
        }
    }

    /// Notes that a fault begins.
    pub fn begin(&self, fault: &str) -> Begun {
        self.load.failed.lock().expect("whole").clear();
        Begun { fault: fault.to_owned(), at: Instant::now(), before: self.load.count() }
    }

    /// Measures a fault that has ended. `own` is its length: how long nobody could have written.
    pub async fn end(&mut self, begun: Begun, own: Duration) {
        let load = Arc::clone(&self.load);
        let ended = Instant::now();
        sleep(AFTER).await;
        // The writes that were due meanwhile.
        let most = own + Duration::from_secs(if given_program().is_some() { 30 } else { 1 });
        while load.delay() > LATE && ended.elapsed() < most {
            sleep(Duration::from_millis(20)).await;
        }
        let late = load.delay();
        let caught_up = if late > LATE {
            *load.since.lock().expect("whole") += late;
            format!("not within {}", seconds(most))
        } else {
            seconds(ended.elapsed().saturating_sub(AFTER))
        };
        let (gap, writes) = (load.longest_gap(begun.at), load.count() - begun.before);
        let failed = std::mem::take(&mut *load.failed.lock().expect("whole"));
        let fault = begun.fault;
        let (length, silence) = (seconds(own), seconds(gap));
        let row = format!("| {fault} | {length} | {silence} | {caught_up} | {writes} | {failed:?} |");
        crate::harness::say_aloud(&row);
        self.table += &row;
        self.table.push('\n');
        // A debug build on a busy machine is slow.
        let allowed = if given_program().is_some() { ALLOWED } else { PATIENCE };
        if gap > own + allowed {
            self.broken.push(format!("{fault}: {silence} without an acknowledgement, and the fault took {length}"));
        }
    }

    /// Ends the load, prints the table, and asserts that each write is stored once.
    pub async fn finish(mut self, direct: &str) {
        let (load, took) = (Arc::clone(&self.load), self.began.elapsed());
        load.is_over.store(true, Ordering::Relaxed);
        for writer in join_all(std::mem::take(&mut self.writers)).await {
            writer.expect("no panic");
        }
        let (count, rate) = (load.count(), load.rate);
        let left = std::mem::take(&mut *load.left.lock().expect("whole"));
        let achieved = count as f64 / took.as_secs_f64();
        let program = self.program.display();
        let _ = write!(
            self.table,
            "\n{program}: {count} writes acknowledged in {took:.0?}, {achieved:.0} of {rate} a second; \
             {} were settled after the end\n",
            left.len()
        );
        crate::harness::say_aloud(&format!("\n{HEAD}{}", self.table.trim_start_matches(HEAD)));
        // A repeated write whose key was removed would be a new one.
        let keys = load.sent.lock().expect("whole").len() / 2 / load.tokens.len();
        assert!((keys as u64) < MAX_KEYS * 9 / 10, "{keys} keys of a token: the load needs more tokens");
        // Processes that were killed are believed dead after two minutes.
        let db = db::connect(direct).await.expect("a database");
        let age = format!("UPDATE idempotency_key SET created_at = created_at - {}", 2 * CLAIM_TIMEOUT.as_micros());
        db.write(async |tx| tx.script(&age).await).await.expect("older claims");
        for write in left {
            let status = load.attempt(write).await;
            assert!(matches!(status, 200 | 409), "{write}: {status}");
        }
        self.assert_stored_once(&db).await;
        crate::harness::say_aloud("each write is stored once");
        if achieved < f64::from(rate) * 0.9 {
            crate::harness::say_aloud("this machine is too busy, or too slow, for the rate");
        }
        assert!(self.broken.is_empty(), "{:#?}", self.broken);
    }

    async fn assert_stored_once(&self, db: &db::Db) {
        let sent = std::mem::take(&mut *self.load.sent.lock().expect("whole"));
        let (deploys, services): (Vec<_>, Vec<_>) = sent.into_iter().partition(|write| write.is_multiple_of(2));
        let names = texts(db, "SELECT name FROM service").await;
        let ids = texts(db, "SELECT dedup_id FROM deploy WHERE dedup_id IS NOT NULL").await;
        let expected = [
            services.iter().map(|write| format!("s{write}")).collect(),
            deploys.iter().map(usize::to_string).collect(),
        ];
        for (stored, expected) in [names, ids].into_iter().zip::<[Vec<String>; 2]>(expected) {
            let (count, stored) = (stored.len(), stored.into_iter().collect::<BTreeSet<_>>());
            let lost: Vec<_> = expected.iter().filter(|write| !stored.contains(*write)).collect();
            assert!(lost.is_empty(), "{} writes are lost: {:?}", lost.len(), &lost[..lost.len().min(5)]);
            assert_eq!((count, stored.len()), (expected.len(), expected.len()), "some are there twice");
        }
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

const HEAD: &str = "| fault | its length | longest time without an acknowledgement | up to date again after | writes \
     | attempts that failed, by status |\n|---|---|---|---|---|---|\n";

impl Load {
    fn to(rate: u32) -> Self {
        Self {
            rate,
            since: Mutex::new(Instant::now()),
            addresses: Mutex::default(),
            client: Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build_http(),
            tokens: Vec::new(),
            webhook: String::new(),
            next: AtomicUsize::new(0),
            turn: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            sent: Mutex::default(),
            acknowledged: Mutex::default(),
            left: Mutex::default(),
            failed: Mutex::default(),
        }
    }
}
