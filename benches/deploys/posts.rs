//! Posts per second, with group commit and without.

use std::time::{Duration, Instant};

use rollcall::deploy::commit::GROUP;
use rollcall::entity::Timestamp;
use rollcall::entity::integration::{self, Kind};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::client::{self, Client};
use crate::{Server, database, folder, percentile};

const SERVICES: u64 = 100;
const WARM_UP: Duration = Duration::from_secs(1);
const TIME: Duration = Duration::from_secs(4);
const ROUNDS: usize = 3;

/// The result of a run.
struct Run {
    per_second: f64,
    p50: Duration,
    p99: Duration,
}

pub fn run(runtime: &Runtime) {
    for clients in [16, 64] {
        let mut ratios = Vec::new();
        let mut slowest = Duration::ZERO;
        for round in 1..=ROUNDS {
            let alone = runtime.block_on(load(clients, 1));
            let together = runtime.block_on(load(clients, GROUP));
            for (name, run) in [("alone", &alone), ("together", &together)] {
                let Run { per_second, p50, p99 } = run;
                println!(
                    "{clients} clients, round {round}, {name}: {per_second:.0} posts/s, p50 {p50:.1?}, p99 {p99:.1?}"
                );
            }
            ratios.push(together.per_second / alone.per_second);
            slowest = slowest.max(together.p99);
        }
        ratios.sort_by(f64::total_cmp);
        println!("{clients} clients: {:.1} times the posts, p99 at most {slowest:.1?}", percentile(&ratios, 0.5));
    }
}

/// Posts to a fresh server from this many connections.
async fn load(clients: usize, group: usize) -> Run {
    let folder = folder();
    let (url, db) = database(folder.path(), SERVICES).await;
    let endpoint = db.write(async |db| integration::create(db, Kind::Deploy, "CI".to_owned(), Timestamp::now()).await);
    let endpoint = endpoint.await.expect("an endpoint");
    let path = integration::webhook_path(Kind::Deploy, endpoint.webhook_id.as_deref().expect("an id"));
    db.close().await.expect("closed");
    let server = Server::start(&url, group);

    let begin = Instant::now() + WARM_UP;
    let end = begin + TIME;
    let clients = (0..clients).map(|number| {
        let (address, path) = (server.address, path.clone());
        tokio::spawn(async move {
            let mut client = Client::connect(address).await;
            let mut took = Vec::new();
            for count in 0.. {
                let request = client::post(&path, "", &record(number, count));
                let start = Instant::now();
                if start >= end {
                    break;
                }
                let (status, body) = client.send(&request).await;
                assert!(status == 202, "{status} {}", String::from_utf8_lossy(body));
                if start >= begin {
                    took.push(start.elapsed());
                }
            }
            took
        })
    });
    let clients: Vec<_> = clients.collect();
    let mut took = Vec::new();
    for client in clients {
        took.extend(client.await.expect("no panic"));
    }
    took.sort_unstable();
    Run {
        per_second: took.len() as f64 / TIME.as_secs_f64(),
        p50: percentile(&took, 0.5),
        p99: percentile(&took, 0.99),
    }
}

/// A typical record from a pipeline, with a unique id.
fn record(client: usize, count: u64) -> String {
    json!({
        "service": format!("svc-{}", 1 + (client as u64 * 7 + count) % SERVICES),
        "description": "Merge pull request #1204 from org/less-waiting",
        "deployed_at": "2026-11-21T01:44:00Z",
        "started_at": "2026-11-21T01:40:12Z",
        "deployer": { "name": "Ada Lovelace", "email": "ada@example.com" },
        "deploy_url": "https://ci.example.com/org/shop/actions/runs/19553201181",
        "dedup_id": format!("{client}-{count}"),
        "environment": "production",
        "status": "succeeded",
        "commit": {
            "sha": "38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5",
            "message": "Merge pull request #1204 from org/less-waiting\n\nWait less",
            "branch": "main",
            "date": "2026-11-21T01:39:55Z",
            "author_name": "Ada Lovelace",
            "author_email": "ada@example.com"
        }
    })
    .to_string()
}
