//! `kill -9` under load: everything that was acknowledged is stored exactly once, and the service restarts by itself.
//!
//! `ROLLCALL_TEST_KILLS` sets how often; five times by default.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use rollcall::db::Write;
use rollcall::graphql::request::idempotency::CLAIM_TIMEOUT;
use serde_json::json;

use crate::harness::database::{Database, texts};
use crate::harness::process::Process;
use crate::harness::program::Place;
use crate::harness::webhook::record;

const CLIENTS: usize = 16;

#[tokio::test(flavor = "multi_thread")]
async fn every_deploy_acknowledged_before_a_kill_is_stored_once() {
    let kills = std::env::var("ROLLCALL_TEST_KILLS").map_or(5, |kills| kills.parse().expect("a number"));
    let (place, database) = (Place::new(), Database::new().await);
    let run = |arguments: &[&str]| place.run_on(&database, arguments);
    let token = run(&["token", "create", "--description", "kill"]);
    let url = run(&["deploy-endpoint", "create", "--name", "CI"]);
    let path = url.split_once(":8080").expect("the usual port").1;
    let start = || {
        let limits = ["--token-limit", "0", "--ip-limit", "0"];
        let serve = ["serve", "--listen", "127.0.0.1:0", "--database-url", &database.url];
        Process::start(place.command(&[&serve[..], &limits].concat()))
    };

    let (next, acknowledged) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
    let unanswered = Mutex::new(Vec::new());
    let mut slowest = Duration::ZERO;
    for _ in 0..kills {
        let mut service = start();
        slowest = slowest.max(service.started_in);
        let post = async |again: Option<usize>| {
            let id = again.unwrap_or_else(|| next.fetch_add(1, Ordering::Relaxed));
            let body = record(json!({ "service": format!("s{}", id % 3), "dedup_id": id.to_string() }));
            match service.post(path, None, &body).await {
                Some((202, _)) => drop(acknowledged.lock().expect("whole").insert(id.to_string())),
                Some(refused) => panic!("{refused:?}"),
                None => {
                    // The sender got no response, and sends it again.
                    unanswered.lock().expect("whole").push(id);
                    return false;
                }
            }
            true
        };
        let before = std::mem::take(&mut *unanswered.lock().expect("whole"));
        let client = async |number: usize| {
            let mut again = before.iter().copied().skip(number).step_by(CLIENTS);
            while post(again.next()).await {}
            unanswered.lock().expect("whole").extend(again);
        };
        let pid = service.id();
        let kill = async {
            tokio::time::sleep(Duration::from_millis(fastrand::u64(5..400))).await;
            let killed = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
            assert!(killed.expect("kill").success());
        };
        futures_util::future::join(join_all((0..CLIENTS).map(client)), kill).await;
        service.kill();
    }

    let service = start();
    slowest = slowest.max(service.started_in);
    let deploys = service.deploys(&token, "dedupId serviceAlias deployNumber").await;
    let (mut stored, mut numbers) = (BTreeMap::<String, usize>::new(), BTreeMap::<String, Vec<usize>>::new());
    for deploy in &deploys {
        let text = |field: &str| deploy[field].as_str().expect("a text").to_owned();
        *stored.entry(text("dedupId")).or_default() += 1;
        numbers.entry(text("serviceAlias")).or_default().push(text("deployNumber").parse().expect("a number"));
    }
    let acknowledged = acknowledged.into_inner().expect("whole");
    crate::harness::say_aloud(&format!(
        "{kills} kills: {} acknowledged, {} stored, slowest start {slowest:.0?}",
        acknowledged.len(),
        deploys.len()
    ));
    assert!(acknowledged.len() >= kills, "hardly any load");
    let lost: Vec<_> = acknowledged.iter().filter(|id| !stored.contains_key(*id)).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    assert!(stored.values().all(|count| *count == 1), "twice: {stored:?}");
    for (service, mut numbers) in numbers {
        numbers.sort_unstable();
        assert_eq!(numbers, Vec::from_iter(1..=numbers.len()), "{service}");
    }
    assert!(slowest < Duration::from_secs(2), "it took {slowest:?} to start");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_mutation_with_an_idempotency_key_runs_once_although_the_server_is_killed() {
    let kills = std::env::var("ROLLCALL_TEST_KILLS").map_or(5, |kills| kills.parse().expect("a number"));
    let (place, database) = (Place::new(), Database::new().await);
    let token = place.run_on(&database, &["token", "create", "--description", "kill"]);
    let start = || {
        let limits = ["--token-limit", "0", "--ip-limit", "0"];
        let serve = ["serve", "--listen", "127.0.0.1:0", "--database-url", &database.url];
        Process::start(place.command(&[&serve[..], &limits].concat()))
    };
    let db = database.open().await;
    let (next, unanswered) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let create = async |service: &Process, id: usize| {
        let query = format!("mutation {{ serviceCreate(input: {{ name: \"s{id}\" }}) {{ errors {{ message }} }} }}");
        let key = format!("key-{id}");
        service.post_with_key("/graphql", Some(&token), Some(&key), &json!({ "query": query })).await
    };
    for _ in 0..kills {
        let mut service = start();
        let client = async |_: usize| {
            loop {
                let id = next.fetch_add(1, Ordering::Relaxed);
                match create(&service, id).await {
                    Some((200, answer)) => assert_eq!(answer["data"]["serviceCreate"]["errors"], json!([])),
                    Some(refused) => panic!("{refused:?}"),
                    None => return unanswered.lock().expect("whole").push(id),
                }
            }
        };
        let pid = service.id();
        let kill = async {
            tokio::time::sleep(Duration::from_millis(fastrand::u64(50..400))).await;
            let killed = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
            assert!(killed.expect("kill").success());
        };
        futures_util::future::join(join_all((0..CLIENTS).map(client)), kill).await;
        service.kill();
    }
    // The killed requests are believed dead after two minutes.
    let age = format!("UPDATE idempotency_key SET created_at = created_at - {}", 2 * CLAIM_TIMEOUT.as_micros());
    db.write(async |tx| tx.script(&age).await).await.expect("older claims");
    let service = start();
    let (unanswered, mut fates) = (unanswered.into_inner().expect("whole"), BTreeMap::<u16, usize>::new());
    for id in &unanswered {
        let (status, answer) = create(&service, *id).await.expect("an answer");
        assert!(matches!(status, 200 | 409), "{status} {answer}");
        *fates.entry(status).or_default() += 1;
    }
    let made = next.into_inner();
    crate::harness::say_aloud(&format!(
        "{kills} kills: {made} requests, {} without an answer, repeated: {fates:?}",
        unanswered.len()
    ));
    let mut names = texts(&db, "SELECT name FROM service").await;
    names.sort_unstable();
    let mut expected: Vec<String> = (0..made).map(|id| format!("s{id}")).collect();
    expected.sort_unstable();
    assert_eq!(names, expected);
}
