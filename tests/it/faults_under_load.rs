//! 200 writes a second to three processes on PostgreSQL, while one fault after another happens. Clients retry writes that
//! were not acknowledged. In the end, each write is stored once.
//!
//! `ROLLCALL_TEST_FAULT_SECONDS` sets the duration of lasting faults; one second by default. Figures are printed. These
//! tests need PostgreSQL: they run in its repetition of the suite (see [`crate::postgres`]).

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
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
use rollcall::entity::{deploy, service};
use rollcall::graphql::idempotency::CLAIM_TIMEOUT;
use sea_orm::{EntityTrait, QuerySelect};
use serde_json::json;
use tokio::task::block_in_place;
use tokio::time::{sleep, timeout};

use crate::command_line::Place;
use crate::database;
use crate::faults::{Fault, Proxy};
use crate::postgres::Cluster;
use crate::process::Process;
use crate::webhook::record;

const RATE: u32 = 200;
const WRITERS: u32 = 50;

/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The time after a fault that still counts as part of it.
const AFTER: Duration = Duration::from_secs(3);

/// The state shared by all writers.
struct Load {
    addresses: Mutex<Vec<SocketAddr>>,
    client: Client<HttpConnector, Full<Bytes>>,
    /// Several, because only the latest 10,000 keys of each are kept.
    tokens: Vec<String>,
    webhook: String,
    next: AtomicUsize,
    turn: AtomicUsize,
    is_over: AtomicBool,
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
            (&*self.webhook, record(json!({ "service": "load", "dedup_id": write.to_string() })))
        } else {
            let name = format!("s{write}");
            let query =
                format!("mutation {{ serviceCreate(input: {{ name: \"{name}\" }}) {{ errors {{ message }} }} }}");
            ("/graphql", json!({ "query": query }))
        };
        let request = Request::post(format!("http://{address}{path}"))
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {}", self.tokens[write % self.tokens.len()]))
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

    /// Writes at its share of the rate until the test is over.
    async fn write(&self) {
        let pause = Duration::from_secs(1) * WRITERS / RATE;
        sleep(pause.mul_f64(fastrand::f64())).await;
        while !self.is_over.load(Ordering::Relaxed) {
            let began = Instant::now();
            let write = self.next.fetch_add(1, Ordering::Relaxed);
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
            sleep(pause.saturating_sub(began.elapsed())).await;
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
}

/// The faults, in order.
const FAULTS: [&str; 7] = [
    "kill -9 of each process",
    "SIGTERM of each process",
    "PostgreSQL restarts (fast)",
    "PostgreSQL restarts (immediate)",
    "PostgreSQL is away",
    "all connections are cut",
    "the network stalls",
];

/// Three processes and their database.
struct Site {
    place: Place,
    url: String,
    cluster: Cluster,
    proxy: Proxy,
    processes: Vec<Process>,
    load: Arc<Load>,
}

impl Site {
    fn start(&self) -> Process {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--database-url", &self.url];
        let limits = ["--token-limit", "0", "--ip-limit", "0", "--drain-delay", "300ms"];
        block_in_place(|| Process::start(self.place.command(&[&serve[..], &limits].concat())))
    }

    fn route(&self) {
        *self.load.addresses.lock().expect("whole") = self.processes.iter().map(|process| process.address).collect();
    }

    async fn suffer(&mut self, fault: &str, time: Duration) {
        match fault {
            "kill -9 of each process" => {
                for place in 0..self.processes.len() {
                    block_in_place(|| self.processes[place].kill());
                    sleep(time).await;
                    self.processes[place] = self.start();
                    self.route();
                }
            }
            "SIGTERM of each process" => {
                for _ in 0..self.processes.len() {
                    let mut old = self.processes.remove(0);
                    old.tell_to_stop();
                    self.route();
                    block_in_place(|| old.wait());
                    self.processes.push(self.start());
                    self.route();
                }
            }
            "PostgreSQL restarts (fast)" => block_in_place(|| self.cluster.restart("fast")),
            "PostgreSQL restarts (immediate)" => block_in_place(|| self.cluster.restart("immediate")),
            "PostgreSQL is away" => {
                self.proxy.close().await;
                sleep(time).await;
                self.proxy.open().await;
            }
            "all connections are cut" => self.proxy.cut(),
            "the network stalls" => {
                self.proxy.set(Fault::Stall);
                sleep(time).await;
                self.proxy.set(Fault::None);
            }
            _ => panic!("no such fault: {fault}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_write_is_stored_once_whatever_fails_under_load() {
    if !database::is_postgres() {
        return;
    }
    let seconds = std::env::var("ROLLCALL_TEST_FAULT_SECONDS").map_or(1, |time| time.parse().expect("a number"));
    let time = Duration::from_secs(seconds);
    let (place, cluster) = (Place::new(), Cluster::durable().await.expect("a cluster"));
    let direct = cluster.url(Cluster::MIGRATED);
    let run = |arguments: &[&str]| place.run(&[arguments, &["--database-url", &direct]].concat()).out.trim().to_owned();
    let tokens = (0..9).map(|_| run(&["token", "create", "--description", "load"])).collect();
    let webhook = run(&["deploy-endpoint", "create", "--name", "CI"]);
    let webhook = webhook.split_once(":8080").expect("the usual port").1.to_owned();
    let proxy = Proxy::to(cluster.socket()).await;
    let url = format!("postgres://rollcall@127.0.0.1:{}/{}?sslmode=disable", proxy.port, Cluster::MIGRATED);
    let load = Load {
        addresses: Mutex::default(),
        client: Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build_http(),
        tokens,
        webhook,
        next: AtomicUsize::new(0),
        turn: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
        acknowledged: Mutex::default(),
        left: Mutex::default(),
        failed: Mutex::default(),
    };
    let load = Arc::new(load);
    let mut site = Site { place, url, cluster, proxy, processes: Vec::new(), load: Arc::clone(&load) };
    site.processes = (0..3).map(|_| site.start()).collect();
    site.route();
    let writers = (0..WRITERS).map(|_| {
        let load = Arc::clone(&load);
        tokio::spawn(async move { load.write().await })
    });
    let writers: Vec<_> = writers.collect();
    sleep(AFTER).await;
    let mut table =
        String::from("fault | lasted | longest time without an answer | writes | attempts that failed, by status\n");
    for fault in FAULTS {
        let (begun, before) = (Instant::now(), load.acknowledged.lock().expect("whole").len());
        site.suffer(fault, time).await;
        let lasted = begun.elapsed();
        sleep(AFTER).await;
        let (gap, failed) = (load.longest_gap(begun), std::mem::take(&mut *load.failed.lock().expect("whole")));
        let writes = load.acknowledged.lock().expect("whole").len() - before;
        table += &format!("{fault} | {lasted:.1?} | {gap:.1?} | {writes} | {failed:?}\n");
        assert!(gap < lasted + PATIENCE, "{table}");
    }
    load.is_over.store(true, Ordering::Relaxed);
    for writer in join_all(writers).await {
        writer.expect("no panic");
    }
    crate::say_aloud(&table);

    // Processes that were killed are believed dead after two minutes.
    let db = db::connect(&direct).await.expect("a database");
    let age = format!("UPDATE idempotency_key SET created_at = created_at - {}", 2 * CLAIM_TIMEOUT.as_micros());
    db.write(async |tx| tx.script(&age).await).await.expect("older claims");
    let left = std::mem::take(&mut *load.left.lock().expect("whole"));
    for write in left {
        let status = load.attempt(write).await;
        assert!(matches!(status, 200 | 409), "{write}: {status}");
    }
    let writes = load.next.load(Ordering::Relaxed);
    let services = service::Entity::find().select_only().column(service::Column::Name).into_tuple::<String>();
    let services = services.all(db.read()).await.expect("services");
    let deploys = deploy::Entity::find().select_only().column(deploy::Column::DedupId).into_tuple::<Option<String>>();
    let deploys = deploys.all(db.read()).await.expect("deploys");
    assert_eq!((services.len(), deploys.len()), (writes / 2, writes.div_ceil(2)), "nothing is there twice");
    let services: BTreeSet<String> = services.into_iter().collect();
    let deploys: BTreeSet<String> = deploys.into_iter().flatten().collect();
    for write in 0..writes {
        let is_there = if write.is_multiple_of(2) {
            deploys.contains(&write.to_string())
        } else {
            services.contains(&format!("s{write}"))
        };
        assert!(is_there, "{write} is lost");
    }
}
