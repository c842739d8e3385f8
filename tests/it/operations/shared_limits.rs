//! Rate limits of several processes over one PostgreSQL database.
//!
//! These tests need PostgreSQL: they run in its repetition of the suite (see [`crate::storage::postgres`]).

use std::collections::BTreeMap;

use futures_util::future::join_all;
use rollcall::db::Write;
use serde_json::json;

use crate::harness::database::{self, Database};
use crate::harness::process::Process;
use crate::harness::program::Place;

/// Processes over one database.
struct Several {
    _place: Place,
    database: Database,
    processes: Vec<Process>,
    token: String,
}

impl Several {
    /// Starts three, unless the tests run on SQLite.
    async fn start(limits: [&str; 4]) -> Option<Self> {
        if !database::is_postgres() {
            return None;
        }
        let (place, database) = (Place::new(), Database::new().await);
        let token = place.run_on(&database, &["token", "create", "--description", "limits"]);
        let start = |_| {
            let serve = ["serve", "--listen", "127.0.0.1:0", "--database-url", &database.url];
            Process::start(place.command(&[&serve[..], &limits].concat()))
        };
        let processes = (0..3).map(start).collect();
        Some(Self { _place: place, database, processes, token })
    }

    /// Sends requests and returns how many had each status. `of` says which process gets the request of a number.
    async fn send(&self, requests: usize, of: impl Fn(usize) -> usize) -> BTreeMap<u16, usize> {
        const CLIENTS: usize = 12;
        let body = json!({ "query": "{ __typename }" });
        let client = async |client: usize| {
            let mut statuses = Vec::new();
            for number in (client..requests).step_by(CLIENTS) {
                let process = &self.processes[of(number)];
                statuses.push(process.post("/graphql", Some(&self.token), &body).await.expect("an answer").0);
            }
            statuses
        };
        let mut counts = BTreeMap::new();
        for status in join_all((0..CLIENTS).map(client)).await.concat() {
            *counts.entry(status).or_default() += 1;
        }
        counts
    }

    /// Ends all windows.
    async fn age(&self) {
        let age = "UPDATE rate_limit_window SET began_at = began_at - 600 * 1000000::bigint";
        let db = self.database.open().await;
        db.write(async |tx| tx.script(age).await).await.expect("older windows");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_limit_holds_exactly_over_all_processes() {
    let Some(several) = Several::start(["--token-limit", "400", "--ip-limit", "0"]).await else { return };
    let expected = BTreeMap::from([(200, 400), (429, 800)]);
    assert_eq!(several.send(1_200, |number| number % 3).await, expected);
    several.age().await;
    // One process gets nearly all of them.
    assert_eq!(several.send(1_200, |number| if number % 100 == 0 { 1 } else { 0 }).await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_accepts_no_writes_is_still_read_and_each_process_counts_for_itself() {
    let Some(several) = Several::start(["--token-limit", "20", "--ip-limit", "0"]).await else { return };
    let db = several.database.open().await;
    let read_only = "ALTER DATABASE CURRENT SET default_transaction_read_only = on";
    let name = several.database.url.split('?').next().and_then(|url| url.rsplit('/').next()).expect("a name");
    let read_only = read_only.replace("CURRENT", name);
    db.write(async |tx| tx.script(&read_only).await).await.expect("a setting");
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE datname = current_database() AND pid <> pg_backend_pid()";
    // Connections have the setting from their beginning.
    db.write(async |tx| tx.script(end).await).await.expect("ended connections");
    assert_eq!(several.send(90, |number| number % 3).await, BTreeMap::from([(200, 60), (429, 30)]));
}

/// Sends 4,000 requests, of which 2,000 are allowed, to three processes.
async fn send_over_a_large_limit(limits: [&str; 4]) {
    let Some(several) = Several::start(limits).await else { return };
    let counts = several.send(4_000, |number| number % 3).await;
    crate::harness::say_aloud(&format!("of 4,000 requests over three processes: {counts:?}"));
    assert!((2_000..=2_020).contains(&counts[&200]), "{counts:?}");
    assert_eq!(counts[&200] + counts[&429], 4_000, "{counts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_token_limit_holds_over_all_processes_within_one_percent() {
    send_over_a_large_limit(["--token-limit", "2000", "--ip-limit", "0"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_limit_holds_over_all_processes_within_one_percent() {
    send_over_a_large_limit(["--token-limit", "0", "--ip-limit", "2000"]).await;
}
