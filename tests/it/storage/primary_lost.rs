//! The primary of three PostgreSQL under Patroni is lost, while clients write to three processes: once through HAProxy,
//! once with all three hosts in the URL.
//!
//! `ROLLCALL_TEST_PATRONI=1` runs it, which takes eight minutes. [`ops/patroni/cluster`](../../../ops/patroni/cluster)
//! starts the servers, and says which of Debian's packages it needs. [`crate::harness::fault_load`] has the settings of the
//! load.

use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rollcall::db::{self, Write};
use tokio::task::{JoinHandle, block_in_place};
use tokio::time::{sleep, timeout};

use crate::harness::fault_load::Site;

/// How long to wait for another primary.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long an attempt to write to one of the servers may take.
const ATTEMPT: Duration = Duration::from_millis(500);

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

/// The servers. They end with this, or with our process.
struct Cluster {
    keeper: Child,
    orders: Option<ChildStdin>,
    said: BufReader<ChildStdout>,
    haproxy: String,
    ports: Vec<String>,
}

impl Cluster {
    fn start() -> Self {
        let mut keeper = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/ops/patroni/cluster"));
        // In its own process group, so that a Ctrl+C for us does not stop it before it has cleaned up.
        keeper.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut keeper = keeper.spawn().expect("the script runs");
        let orders = keeper.stdin.take();
        let said = BufReader::new(keeper.stdout.take().expect("standard output"));
        let mut cluster = Self { keeper, orders, said, haproxy: String::new(), ports: Vec::new() };
        let ready = cluster.hear();
        let mut ports = ready.strip_prefix("ready ").expect(&ready).split(' ').map(str::to_owned);
        cluster.haproxy = ports.next().expect("a port");
        cluster.ports = ports.collect();
        cluster
    }

    /// Gives an order, and returns the answer.
    fn tell(&mut self, order: &str) -> String {
        writeln!(self.orders.as_ref().expect("a pipe"), "{order}").expect("an order");
        self.hear()
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).expect("a line");
        assert!(!line.is_empty() && !line.starts_with("failed"), "the servers: {line}");
        line.trim().to_owned()
    }

    fn url(&self, hosts: &str) -> String {
        format!("postgres://rollcall:change-me-three@{hosts}/rollcall?sslmode=disable")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.keeper.wait();
    }
}

/// Writes to each server directly, to find out how long there is no primary.
struct Probe {
    /// When a write was accepted, and by which port.
    accepted: Arc<Mutex<Vec<(Instant, String)>>>,
    tasks: Vec<JoinHandle<()>>,
}

impl Probe {
    async fn start(cluster: &Cluster) -> Self {
        let url = |port: &str| format!("postgres://postgres:change-me@127.0.0.1:{port}/postgres?sslmode=disable");
        let first = db::connect(&url(&cluster.haproxy)).await.expect("a primary");
        let table = "CREATE TABLE probe (written timestamptz DEFAULT now())";
        first.write(async |tx| tx.script(table).await).await.expect("a table");
        let accepted = Arc::<Mutex<Vec<_>>>::default();
        let tasks = cluster.ports.iter().map(|port| {
            let (url, port, accepted) = (url(port), port.clone(), Arc::clone(&accepted));
            tokio::spawn(async move {
                let mut db = None;
                loop {
                    let attempt = async {
                        if db.is_none() {
                            db = Some(db::connect(&url).await.ok()?);
                        }
                        let insert = db.as_ref()?.write(async |tx| tx.script("INSERT INTO probe DEFAULT VALUES").await);
                        insert.await.ok()
                    };
                    if let Ok(Some(())) = timeout(ATTEMPT, attempt).await {
                        accepted.lock().expect("whole").push((Instant::now(), port.clone()));
                    }
                    sleep(PAUSE).await;
                }
            })
        });
        let tasks = tasks.collect();
        Self { accepted, tasks }
    }

    /// Waits until another server than `old` accepts writes. Returns the longest time since `begun` in which none did.
    async fn await_another(&self, old: &str, begun: Instant) -> Duration {
        while begun.elapsed() < PATIENCE {
            sleep(PAUSE).await;
            let mut accepted = self.accepted.lock().expect("whole").clone();
            accepted.retain(|(at, _)| *at > begun);
            accepted.sort();
            let Some(first) = accepted.iter().position(|(_, port)| port != old) else { continue };
            let mut times = vec![begun];
            times.extend(accepted[..=first].iter().map(|(at, _)| *at));
            return times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default();
        }
        panic!("no other server accepts writes");
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_write_is_stored_once_when_the_primary_is_lost() {
    if std::env::var_os("ROLLCALL_TEST_PATRONI").is_none() {
        return crate::harness::say_aloud(
            "left out: the loss of a primary under Patroni; ROLLCALL_TEST_PATRONI=1 runs it",
        );
    }
    let mut cluster = block_in_place(Cluster::start);
    let probe = Probe::start(&cluster).await;
    let through_haproxy = cluster.url(&format!("127.0.0.1:{}", cluster.haproxy));
    let hosts: Vec<String> = cluster.ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    let by_hosts = format!("{}&target_session_attrs=read-write", cluster.url(&hosts.join(",")));
    let mut site = Site::start(&through_haproxy, through_haproxy.clone(), None).await;
    let chosen = std::env::var("ROLLCALL_TEST_FAULT").unwrap_or_default();
    for (url, way) in [(&through_haproxy, "HAProxy"), (&by_hosts, "three hosts in the URL")] {
        site.reach_by(url.clone());
        site.replace_processes();
        for (order, fault) in [
            ("kill", "kill -9 of the primary and its Patroni"),
            ("freeze", "the primary's machine hangs"),
            ("switchover", "a switchover"),
        ] {
            let name = format!("{fault}; {way}");
            if !name.contains(&chosen) {
                continue;
            }
            let (begun, at) = (site.begin(&name), Instant::now());
            let old = block_in_place(|| cluster.tell(order));
            let own = probe.await_another(&old, at).await;
            site.end(begun, own).await;
            block_in_place(|| cluster.tell("heal"));
        }
    }
    site.finish(&through_haproxy).await;
}
