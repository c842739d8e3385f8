//! A server whose commits wait for a standby that is away, or that stalls before a commit.

use std::time::{Duration, Instant};

use hyper::header::{self, HeaderMap};
use rollcall::db::{self, Db, Write};
use rollcall::entity::audit::Actor;
use rollcall::entity::{Timestamp, token};
use rollcall::http::auth::Tokens;
use serde_json::json;

use super::Faults;
use crate::harness::app::soon;
use crate::harness::database::{self, texts};
use crate::harness::postgres::Cluster;
use crate::harness::postgres_proxy::Fault;

/// When an abandoned statement must have ended: long before it would give up on its lock, after 10 s.
const SOON: Duration = Duration::from_secs(6);

/// A server that waits for a standby.
struct Stalled {
    _cluster: Cluster,
    /// Its commits do not wait.
    db: Db,
    /// Its commits wait forever.
    waiting: Db,
}

impl Stalled {
    /// Starts it, unless the tests run on SQLite.
    async fn start() -> Option<Self> {
        if !database::is_postgres() {
            return None;
        }
        let cluster = Cluster::without_its_standby().await.expect("a server");
        let url = cluster.url(&cluster.create(Cluster::MIGRATED).await);
        let db = db::connect(&url).await.expect("a database");
        let waiting = db::connect(&format!("{url}&options[synchronous_commit]=on")).await.expect("a database");
        Some(Self { _cluster: cluster, db, waiting })
    }

    /// Whether a statement waits for an event.
    async fn waits_for(&self, event: &str) -> bool {
        let waiting = "SELECT wait_event FROM pg_stat_activity WHERE datname = current_database() AND wait_event =";
        !texts(&self.db, &format!("{waiting} '{event}'")).await.is_empty()
    }

    async fn until_somebody_waits_for(&self, event: &str) {
        soon("a statement waits", async { while !self.waits_for(event).await {} }).await;
    }

    /// Abandons a change when it waits for an event.
    async fn abandon(&self, event: &str, change: impl Future<Output = Result<(), db::Error>>) {
        tokio::select! {
            done = change => panic!("it does not wait: {done:?}"),
            () = self.until_somebody_waits_for(event) => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_checked_while_commits_wait_for_a_standby() {
    let Some(stalled) = Stalled::start().await else { return };
    let now = Timestamp::now();
    let mut secrets = Vec::new();
    for description in ["first", "second", "third", "fourth"] {
        let made = stalled.db.write(async |tx| {
            token::create(tx, &Actor::command_line(), description, token::Scope::Read, None, now).await
        });
        secrets.push(made.await.expect("a token"));
    }
    let tokens = Tokens::new(stalled.waiting.reserved(), 0);
    for round in 0..3 {
        for secret in &secrets {
            let value = format!("Bearer {}", secret.reveal()).parse().expect("a header");
            let checked =
                tokens.check(&HeaderMap::from_iter([(header::AUTHORIZATION, value)]), [127, 0, 0, 1].into(), now).await;
            assert!(checked.is_ok(), "round {round}");
        }
    }
    stalled.until_somebody_waits_for("SyncRep").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stalls_at_the_entry_of_a_mutation_is_reported_in_time() {
    let Some(faults) = Faults::start(1).await else { return };
    faults.assert_serves("before").await;
    // The tag has this value already. No statement returns the transaction's id before the entry does.
    faults.proxies[0].set(Fault::StallAtEntry);
    let began = Instant::now();
    let (status, answer) = faults.tag("before").await;
    assert_eq!((status, &answer["errors"][0]["extensions"]["code"]), (503, &json!("UNAVAILABLE")), "{answer}");
    assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
    faults.proxies[0].set(Fault::None);
    faults.assert_serves("after").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_statement_is_cancelled_and_an_abandoned_commit_is_not() {
    let Some(stalled) = Stalled::start().await else { return };
    let create = stalled.waiting.write(async |tx| tx.script("CREATE TABLE kept (id integer)").await);
    stalled.abandon("SyncRep", create).await;
    let holder = stalled.db.begin_write().await.expect("a transaction");
    holder.script("LOCK TABLE service").await.expect("a lock");
    let lock = stalled.db.write(async |tx| tx.script("LOCK TABLE service").await);
    stalled.abandon("relation", lock).await;
    let began = Instant::now();
    while stalled.waits_for("relation").await {
        assert!(began.elapsed() < SOON, "it still waits for its lock");
    }
    assert!(stalled.waits_for("SyncRep").await, "cancelled, it would show a change that no standby has");
}
