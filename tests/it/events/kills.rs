//! `kill -9` while things change: every event of a committed change is told, in order for each subject, and no other.
//!
//! The servers and the receiver, which is a process too, are killed in turns. `ROLLCALL_TEST_EVENT_KILLS_SECONDS` sets for
//! how long; ten seconds by default.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::future::{join, join_all};
use rollcall::db::Db;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::harness::database::{Database, is_postgres, texts};
use crate::harness::process::Process;
use crate::harness::program::Place;
use crate::harness::receiver::{self, CREATE, input};

/// How many services are changed, each by a client of its own. A service is what keeps the order of its events.
const SUBJECTS: usize = 20;
/// How often each of them is changed: 100 changes a second together.
const EACH: Duration = Duration::from_millis(200);
/// How long everything may take to arrive in the end. A server that was killed may keep a receiver for 30 seconds, and a
/// receiver that was away is asked again after up to a few seconds.
const PATIENCE: Duration = Duration::from_secs(180);

/// The variables that tell the process of the receiver where to listen, and where to keep what it gets.
const PORT: &str = "ROLLCALL_TEST_RECEIVER_PORT";
const KEPT: &str = "ROLLCALL_TEST_RECEIVER_KEPT";

/// The process of the receiver: keeps each message in a file, and then answers. The other tests start it.
#[test]
#[ignore = "it is a process of the tests beside it"]
fn receives() {
    let port: u16 = std::env::var(PORT).expect("a port").parse().expect("a number");
    let kept = OpenOptions::new().append(true).open(std::env::var_os(KEPT).expect("a file")).expect("the file");
    let kept = Arc::new(Mutex::new(kept));
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port");
    for connection in listener.incoming().map_while(Result::ok) {
        let kept = Arc::clone(&kept);
        thread::spawn(move || {
            receiver::serve(&connection, |message| {
                // One write, which a kill does not divide. The break before it ends what one might have divided all the same.
                let line = format!("\n{}\n", json!([message.id(), message.body()["data"]]));
                kept.lock().expect("whole").write_all(line.as_bytes()).expect("kept");
            });
        });
    }
}

/// The receiver, in a process of its own.
struct ReceiverProcess {
    port: u16,
    kept: PathBuf,
    child: Child,
}

impl ReceiverProcess {
    fn start(place: &Place) -> Self {
        let kept = place.path().join("received");
        std::fs::write(&kept, "").expect("a file");
        // Below the ports that systems give away by themselves, so that nobody takes it while nobody listens.
        let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
        let port = std::iter::repeat_with(|| fastrand::u16(20_000..32_000)).find(is_free).expect("a port");
        let child = Self::spawn(port, &kept);
        Self { port, kept, child }
    }

    fn spawn(port: u16, kept: &Path) -> Child {
        let mut again = Command::new(std::env::current_exe().expect("this program"));
        again.args(["--exact", "events::kills::receives", "--ignored", "--nocapture", "--test-threads", "1"]);
        again.env(PORT, port.to_string()).env(KEPT, kept).stdin(Stdio::null()).stdout(Stdio::null());
        again.spawn().expect("the program runs")
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn start_again(&mut self) {
        self.child = Self::spawn(self.port, &self.kept);
    }

    /// The messages so far, in their order: each with its id, the alias of its subject and the number of its change.
    fn got(&self) -> Vec<(String, String, u64)> {
        let text = std::fs::read_to_string(&self.kept).expect("the file");
        let read = |line: &str| -> Option<(String, String, u64)> {
            let line: Value = serde_json::from_str(line).ok()?;
            let (id, data) = (line[0].as_str()?.to_owned(), &line[1]);
            let number = data["changed"]["description"]["new"].as_str().and_then(|number| number.parse().ok());
            let alias = data["subject"]["alias"].as_str().expect("an alias").to_owned();
            Some((id, alias, number.unwrap_or_else(|| panic!("no change of the test: {line}"))))
        };
        text.lines().filter_map(read).collect()
    }
}

impl Drop for ReceiverProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Servers over one database, of which each can be killed and started again while clients use it.
struct Servers {
    place: Place,
    database: Database,
    receiver: String,
    running: Vec<Mutex<Arc<Process>>>,
}

impl Servers {
    fn start(place: Place, database: Database, receiver: u16, number: usize) -> Self {
        let receiver = format!("127.0.0.1:{receiver}");
        let mut servers = Self { place, database, receiver, running: Vec::new() };
        for _ in 0..number {
            let one = Process::start(servers.command());
            servers.running.push(Mutex::new(Arc::new(one)));
        }
        servers
    }

    fn command(&self) -> Command {
        let url = &self.database.url;
        let serve = ["serve", "--listen", "127.0.0.1:0", "--database-url", url, "--send-events-to", &self.receiver];
        self.place.command(&[&serve[..], &["--token-limit", "0", "--ip-limit", "0"]].concat())
    }

    fn get(&self, number: usize) -> Arc<Process> {
        Arc::clone(&self.running[number % self.running.len()].lock().expect("whole"))
    }

    /// Kills a server, and starts it again after a while.
    async fn kill(&self, number: usize, away: Duration) {
        let pid = i32::try_from(self.get(number).id()).ok().and_then(Pid::from_raw).expect("an id");
        kill_process(pid, Signal::KILL).expect("a signal");
        tokio::time::sleep(away).await;
        let command = self.command();
        let started = tokio::task::spawn_blocking(move || Process::start(command)).await.expect("it starts");
        *self.running[number].lock().expect("whole") = Arc::new(started);
    }
}

/// What the clients of a catalogue know of its changes.
#[derive(Default)]
struct Changes {
    next: AtomicU64,
    /// The numbers of those that were answered.
    answered: Mutex<BTreeSet<u64>>,
    unanswered: AtomicU64,
}

/// Changes a service again and again, at each server in turn, until a time. A change that gets no answer is not repeated.
async fn change(servers: &Servers, token: &str, subject: usize, changes: &Changes, end: Instant) {
    const UPDATE: &str = "mutation($alias: String!, $number: String!) {
        serviceUpdate(input: { alias: $alias, description: $number }) { errors { message } }
    }";
    let mut ticks = tokio::time::interval(EACH);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    let mut turn = subject;
    while Instant::now() < end {
        ticks.tick().await;
        turn += 1;
        let number = changes.next.fetch_add(1, Ordering::Relaxed);
        let variables = json!({ "alias": format!("s{subject}"), "number": number.to_string() });
        let body = json!({ "query": UPDATE, "variables": variables });
        match servers.get(turn).post("/graphql", Some(token), &body).await {
            Some((200, answer)) if answer["data"]["serviceUpdate"]["errors"] == json!([]) => {
                changes.answered.lock().expect("whole").insert(number);
            }
            // A server of PostgreSQL that dies may leave the row locked for a moment, or its neighbours without an answer.
            Some((503, _)) | None => _ = changes.unanswered.fetch_add(1, Ordering::Relaxed),
            Some(refused) => panic!("{refused:?}"),
        }
    }
}

/// The committed changes of each service, in their order, by the audit, which is committed with them.
async fn committed(db: &Db) -> BTreeMap<String, Vec<u64>> {
    let mut committed = BTreeMap::<String, Vec<u64>>::new();
    let entries = "SELECT subject_name || ' ' || detail FROM audit WHERE action = 'serviceUpdate' ORDER BY id";
    for entry in texts(db, entries).await {
        let (alias, detail) = entry.split_once(' ').expect("a subject");
        let detail: Value = serde_json::from_str(detail).expect("JSON");
        let number = detail["changed"]["description"]["new"].as_str().expect("a description");
        committed.entry(alias.to_owned()).or_default().push(number.parse().expect("a number"));
    }
    committed
}

/// Checks that what was told is what was committed, each once but for repeats, in its order.
fn check(got: &[(String, String, u64)], committed: &BTreeMap<String, Vec<u64>>) {
    let (mut by_id, mut told) = (HashMap::<&str, u64>::new(), BTreeMap::<String, Vec<u64>>::new());
    for (id, alias, number) in got {
        match by_id.insert(id, *number) {
            Some(before) => assert_eq!(before, *number, "the id {id} stands for two changes"),
            None => told.entry(alias.clone()).or_default().push(*number),
        }
    }
    let numbers: BTreeSet<u64> = by_id.values().copied().collect();
    assert_eq!(numbers.len(), by_id.len(), "a change has several ids");
    for (alias, committed) in committed {
        assert_eq!(told.get(alias), Some(committed), "the changes of {alias}, in their order");
    }
    assert_eq!(told.len(), committed.len(), "nothing else is told");
}

/// How long nobody is killed. A server that was killed keeps a receiver of a shared database for half a minute: a long run
/// leaves the others the time to send what has waited meanwhile.
fn pause(is_long: bool) -> Duration {
    let milliseconds = match (is_long, is_postgres()) {
        (false, _) => 400..1_200,
        (true, false) => 2_000..4_000,
        (true, true) => 12_000..20_000,
    };
    Duration::from_millis(fastrand::u64(milliseconds))
}

/// Makes the services, and the subscription to their changes.
async fn subscribe(servers: &Servers, token: &str, receiver: &ReceiverProcess) {
    let made: Vec<String> = (0..SUBJECTS)
        .map(|subject| {
            format!("s{subject}: serviceCreate(input: {{ name: \"s{subject}\" }}) {{ errors {{ message }} }}")
        })
        .collect();
    ask(servers, token, &format!("mutation {{ {} }}", made.join(" ")), json!({})).await;
    let url = format!("http://127.0.0.1:{}/hook", receiver.port);
    let subscription = json!({ "input": input(&url, json!({ "events": ["service_changed"] })) });
    let made = ask(servers, token, CREATE, subscription).await;
    assert_eq!(made["eventSubscriptionCreate"]["errors"], json!([]));
    // Other servers get to know of it within a second or two.
    tokio::time::sleep(Duration::from_secs(3)).await;
}

async fn ask(servers: &Servers, token: &str, query: &str, variables: Value) -> Value {
    let body = json!({ "query": query, "variables": variables });
    let (status, mut answer) = servers.get(0).post("/graphql", Some(token), &body).await.expect("an answer");
    assert_eq!((status, answer.get("errors")), (200, None), "{answer}");
    answer["data"].take()
}

/// Kills a server and the receiver by turns, until a time. Returns how often.
async fn kill(servers: &Servers, receiver: &mut ReceiverProcess, is_long: bool, end: Instant) -> usize {
    let (mut kills, mut next) = (0, 0);
    while Instant::now() < end {
        tokio::time::sleep(pause(is_long)).await;
        let away = Duration::from_millis(fastrand::u64(0..500));
        if kills % 2 == 0 {
            servers.kill(next, away).await;
            next = (next + 1) % servers.running.len();
        } else {
            receiver.kill();
            tokio::time::sleep(away).await;
            receiver.start_again();
        }
        kills += 1;
    }
    kills
}

/// Waits until this many events have arrived, and for a moment more.
async fn arrive(servers: &Servers, token: &str, receiver: &ReceiverProcess, number: usize, most: Duration) {
    let ids = || receiver.got().into_iter().map(|(id, ..)| id).collect::<BTreeSet<_>>().len();
    let arrived = async {
        while ids() < number {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    if tokio::time::timeout(most, arrived).await.is_err() {
        let missed = "{ account { eventSubscriptions { nodes { receiver { error waitingCount missedCount } } } } }";
        panic!("{} of {number} have arrived: {}", ids(), ask(servers, token, missed, json!({})).await);
    }
    // What would be told for nothing, comes now.
    tokio::time::sleep(Duration::from_secs(2)).await;
}

/// Kills this many servers and their receiver in turns, while things change at a steady rate.
async fn killed_in_turns(number: usize) {
    let seconds: Option<u64> =
        std::env::var("ROLLCALL_TEST_EVENT_KILLS_SECONDS").ok().map(|seconds| seconds.parse().expect("a number"));
    let (place, database) = (Place::new(), Database::new().await);
    let token = place.run_on(&database, &["token", "create", "--description", "kill"]);
    let db = database.open().await;
    let mut receiver = ReceiverProcess::start(&place);
    let servers = Servers::start(place, database, receiver.port, number);
    subscribe(&servers, &token, &receiver).await;

    let (changes, begin) = (Changes::default(), Instant::now());
    let end = begin + Duration::from_secs(seconds.unwrap_or(10));
    let clients = join_all((0..SUBJECTS).map(|subject| change(&servers, &token, subject, &changes, end)));
    let (_, kills) = join(clients, kill(&servers, &mut receiver, seconds.is_some(), end)).await;
    let took = begin.elapsed();

    let committed = committed(&db).await;
    let stored: BTreeSet<u64> = committed.values().flatten().copied().collect();
    arrive(&servers, &token, &receiver, stored.len(), PATIENCE + took / 2).await;
    let got = receiver.got();
    check(&got, &committed);
    let answered = changes.answered.into_inner().expect("whole");
    assert!(answered.is_subset(&stored), "a change that was answered is not there");
    crate::harness::say_aloud(&format!(
        "{kills} kills in {took:.0?}: {} changes, {} of them answered, {} requests without an answer, {} messages",
        stored.len(),
        answered.len(),
        changes.unanswered.into_inner(),
        got.len()
    ));
    let least = if seconds.is_some() { 1 } else { 3 };
    assert!(kills >= least && answered.len() > 5 * SUBJECTS, "hardly any load");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_committed_change_is_told_while_the_server_and_the_receiver_are_killed() {
    killed_in_turns(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_committed_change_is_told_while_three_servers_and_the_receiver_are_killed() {
    if !is_postgres() {
        return crate::harness::say_aloud(
            "three servers that are killed in turns: left out, because an SQLite file has one server",
        );
    }
    killed_in_turns(3).await;
}
