//! Writes to three processes on PostgreSQL, while one fault after another happens. Clients retry writes that were not
//! acknowledged. In the end, each write is stored once, and no fault has cost much more than its own length.
//!
//! `ROLLCALL_TEST_FAULT_SECONDS` sets the duration of lasting faults; one second by default. `ROLLCALL_TEST_FAULT` runs
//! only the faults whose names contain it. `ROLLCALL_TEST_OLDER_PROGRAM` names the program that is upgraded from.
//! [`crate::harness::fault_load`] has more settings. Figures are printed. These tests need PostgreSQL: they run in
//! its repetition of the suite (see [`crate::storage::postgres`]).

use std::time::{Duration, Instant};

use rollcall::db::{self, Write};
use tokio::task::block_in_place;
use tokio::time::sleep;

use crate::harness::database::{self, EXPAND};
use crate::harness::fault_load::{Site, fault_time};
use crate::harness::mount::can_mount;
use crate::harness::postgres::Cluster;
use crate::harness::postgres_proxy::{Fault, Proxy};

/// The faults, in order.
const FAULTS: [&str; 10] = [
    "a rolling upgrade",
    "kill -9 of each process, which stays away",
    "SIGTERM of each process",
    "PostgreSQL restarts (fast)",
    "PostgreSQL restarts (immediate)",
    "PostgreSQL is away",
    "all connections are cut",
    "the network stalls",
    "the disk of the tables is full",
    "the disk of PostgreSQL's log is full",
];

/// The processes, and the database that they reach through a proxy.
struct Faulty {
    site: Site,
    direct: String,
    cluster: Cluster,
    proxy: Proxy,
}

impl Faulty {
    /// Suffers a fault. Returns its length: how long nobody could have written.
    async fn suffer(&mut self, fault: &str, time: Duration) -> Duration {
        let (begun, server) = (Instant::now(), self.cluster.server());
        match fault {
            "a rolling upgrade" => {
                self.upgrade().await;
                return Duration::ZERO;
            }
            "kill -9 of each process, which stays away" => {
                for place in 0..self.site.processes.len() {
                    block_in_place(|| self.site.processes[place].kill());
                    sleep(time).await;
                    self.site.processes[place] = self.site.start_process();
                    self.site.route();
                }
                return Duration::ZERO;
            }
            "SIGTERM of each process" => {
                self.site.replace_processes();
                return Duration::ZERO;
            }
            "PostgreSQL restarts (fast)" => block_in_place(|| server.restart("fast")),
            "PostgreSQL restarts (immediate)" => block_in_place(|| server.restart("immediate")),
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
            "the disk of the tables is full" | "the disk of PostgreSQL's log is full" => {
                let disk = if fault.contains("tables") { "data" } else { "wal" };
                block_in_place(|| server.fill(disk));
                sleep(time).await;
                block_in_place(|| server.free(disk));
            }
            _ => panic!("no such fault: {fault}"),
        }
        begun.elapsed()
    }

    /// Replaces the processes as [`ops/upgrade.md`](../../ops/upgrade.md) says, after a migration of a later version.
    async fn upgrade(&mut self) {
        if std::env::var_os(OLDER).is_none() {
            let db = db::connect(&self.direct).await.expect("a database");
            // A migration waits for locks as long as it takes.
            let migration = format!("SET LOCAL lock_timeout = 0; {EXPAND}");
            db.write(async |tx| tx.script(&migration).await).await.expect("a later migration");
        }
        self.site.upgrade();
        self.site.replace_processes();
    }
}

const OLDER: &str = "ROLLCALL_TEST_OLDER_PROGRAM";

#[tokio::test(flavor = "multi_thread")]
async fn every_write_is_stored_once_whatever_fails_under_load() {
    if !database::is_postgres() {
        return;
    }
    let (time, has_disks) = (fault_time(), can_mount());
    // What is written takes most of it, and the rest is filled.
    let cluster = if has_disks { Cluster::on_disks(300 + 30 * time.as_secs()).await } else { Cluster::durable().await };
    let cluster = cluster.expect("a cluster");
    let name = cluster.create("template0").await;
    let (direct, proxy) = (cluster.url(&name), Proxy::to(cluster.server().socket()).await);
    let url = format!("postgres://rollcall@127.0.0.1:{}/{name}?sslmode=disable", proxy.port);
    let site = Site::start(&direct, url, std::env::var_os(OLDER).map(Into::into)).await;
    let mut faulty = Faulty { site, direct, cluster, proxy };
    let chosen = std::env::var("ROLLCALL_TEST_FAULT").unwrap_or_default();
    for fault in FAULTS {
        if !fault.contains(&chosen) || (fault.contains("disk") && !has_disks) {
            continue;
        }
        let begun = faulty.site.begin(fault);
        let own = faulty.suffer(fault, time).await;
        faulty.site.end(begun, own).await;
    }
    faulty.site.finish(&faulty.direct).await;
}
