//! A power cut: only what was flushed to the disk is left, and everything that was acknowledged is in it.
//!
//! A library that is preloaded into the server (`power_cut.c`) keeps each file of the database as of its last flush. The
//! server is killed under load, and continues on those files. `ROLLCALL_TEST_KILLS` sets how often; five times by
//! default.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::{join, join_all};
use rollcall::graphql::request::places::CHANGES_SHARE;
use serde_json::{Value, json};

use crate::harness::deadline::LONGEST;
use crate::harness::process::Process;
use crate::harness::program::Place;
use crate::harness::webhook::record;

const CLIENTS: usize = 16;

/// Compiles the library. `None` where libraries are not preloaded this way, which is said aloud.
fn library(folder: &Path) -> Option<PathBuf> {
    if !cfg!(all(target_os = "linux", target_env = "gnu")) {
        crate::harness::say_aloud("left out: a power cut; flushes are seen only on Linux");
        return None;
    }
    let library = folder.join("power_cut.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/storage/power_cut.c");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library)
        .arg(source)
        .args(["-ldl", "-lpthread"])
        .status();
    assert!(compiled.expect("a C compiler, which the build needs too").success());
    Some(library)
}

/// A server whose flushes are seen.
fn start(place: &Place, library: &Path) -> Process {
    let mut command = place.command(&["--listen", "127.0.0.1:0", "--token-limit", "0", "--ip-limit", "0"]);
    command.env("LD_PRELOAD", library);
    Process::start(command)
}

/// Replaces the files of the database by what was flushed. `before` is the database's file when the server started.
fn cut_power(folder: &Path, before: &[u8]) {
    let kept = |name: &str| fs::read(folder.join(format!("{name}.durable"))).ok();
    let (database, log) = (kept("rollcall.db"), kept("rollcall.db-wal"));
    for entry in fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry")) {
        if entry.file_name().to_string_lossy().starts_with("rollcall.db") {
            fs::remove_file(entry.path()).expect("it is there");
        }
    }
    fs::write(folder.join("rollcall.db"), database.as_deref().unwrap_or(before)).expect("a file");
    if let Some(log) = log {
        fs::write(folder.join("rollcall.db-wal"), log).expect("a file");
    }
}

async fn create_service(service: &Process, token: &str, name: &str) -> Option<(u16, Value)> {
    let query = format!("mutation {{ serviceCreate(input: {{ name: \"{name}\" }}) {{ errors {{ message }} }} }}");
    service.post("/graphql", Some(token), &json!({ "query": query })).await
}

/// Gives a service a tag whose value is its name.
async fn tag(service: &Process, token: &str, name: &str) -> Option<(u16, Value)> {
    let query = format!(
        "mutation {{ tagCreate(input: {{ alias: \"{name}\", key: \"named\", value: \"{name}\" }}) \
         {{ errors {{ message }} }} }}"
    );
    service.post("/graphql", Some(token), &json!({ "query": query })).await
}

/// The names of all services, and the values of all their tags.
async fn services(service: &Process, token: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut names, mut tags, mut after) = (BTreeSet::new(), BTreeSet::new(), Value::Null);
    loop {
        let query = "query($after: String) { account { services(first: 500, after: $after) \
                     { nodes { name tags { nodes { value } } } pageInfo { hasNextPage endCursor } } } }";
        let asked = json!({ "query": query, "variables": { "after": after } });
        let (_, answer) = service.post("/graphql", Some(token), &asked).await.expect("an answer");
        let page = &answer["data"]["account"]["services"];
        let nodes = page["nodes"].as_array().unwrap_or_else(|| panic!("{answer}"));
        names.extend(nodes.iter().map(|node| node["name"].as_str().expect("a name").to_owned()));
        let of_nodes = nodes.iter().flat_map(|node| node["tags"]["nodes"].as_array().expect("tags"));
        tags.extend(of_nodes.map(|tag| tag["value"].as_str().expect("a value").to_owned()));
        let before = std::mem::replace(&mut after, page["pageInfo"]["endCursor"].clone());
        if page["pageInfo"]["hasNextPage"] != true {
            return (names, tags);
        }
        assert_ne!(before, after, "the next page begins where this one does");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_power_cut_loses_nothing_that_was_acknowledged_on_sqlite() {
    let cuts = std::env::var("ROLLCALL_TEST_KILLS").map_or(5, |kills| kills.parse().expect("a number"));
    let place = Place::with_database();
    let Some(library) = library(place.path()) else { return };
    let token = place.run(&["token", "create", "--description", "power"]).out.trim().to_owned();
    let url = place.run(&["deploy-endpoint", "create", "--name", "CI"]).out.trim().to_owned();
    let path = url.split_once(":8080").expect("the usual port").1;

    let (next, created, deployed) = (AtomicUsize::new(0), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let tagged = Mutex::new(Vec::new());
    let mut checkpoints = 0;
    for _ in 0..cuts {
        let before = fs::read(place.path().join("rollcall.db")).expect("a file");
        let mut service = start(&place, &library);
        let client = async |number: usize| {
            loop {
                let id = next.fetch_add(1, Ordering::Relaxed).to_string();
                if number.is_multiple_of(2) {
                    match create_service(&service, &token, &id).await {
                        Some((200, answer)) => assert_eq!(answer["data"]["serviceCreate"]["errors"], json!([])),
                        Some(refused) => panic!("{refused:?}"),
                        None => return,
                    }
                    created.lock().expect("whole").push(id.clone());
                    match tag(&service, &token, &id).await {
                        Some((200, answer)) => assert_eq!(answer["data"]["tagCreate"]["errors"], json!([])),
                        Some(refused) => panic!("{refused:?}"),
                        None => return,
                    }
                    tagged.lock().expect("whole").push(id);
                } else {
                    let of = format!("d{}", number % 3);
                    let body = json!({ "service": of, "dedup_id": id, "description": "d".repeat(8_000) });
                    match service.post(path, None, &record(body)).await {
                        Some((202, _)) => deployed.lock().expect("whole").push(id),
                        Some(refused) => panic!("{refused:?}"),
                        None => return,
                    }
                }
            }
        };
        let pid = service.id();
        let kill = async {
            tokio::time::sleep(Duration::from_millis(fastrand::u64(100..900))).await;
            let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
            assert!(killed.expect("kill").success());
        };
        join(join_all((0..CLIENTS).map(client)), kill).await;
        service.kill();
        checkpoints += usize::from(place.path().join("rollcall.db.durable").exists());
        cut_power(place.path(), &before);
    }

    let service = start(&place, &library);
    let (created, deployed) = (created.into_inner().expect("whole"), deployed.into_inner().expect("whole"));
    let made = next.into_inner();
    crate::harness::say_aloud(&format!(
        "{cuts} power cuts, {checkpoints} after a checkpoint: {made} requests, {} services and {} deploys acknowledged",
        created.len(),
        deployed.len()
    ));
    assert!(created.len() >= cuts && deployed.len() >= cuts, "hardly any load");
    let (known, tags) = services(&service, &token).await;
    let tagged = tagged.into_inner().expect("whole");
    assert!(tagged.len() >= cuts, "hardly any load");
    let lost: Vec<_> = tagged.iter().filter(|name| !tags.contains(*name)).collect();
    assert!(lost.is_empty(), "lost tags: {lost:?}");
    let lost: Vec<_> = created.iter().filter(|name| !known.contains(*name)).collect();
    assert!(lost.is_empty(), "lost services: {lost:?}");
    let known = service.deploys(&token, "dedupId").await;
    let known: BTreeSet<_> = known.iter().map(|deploy| deploy["dedupId"].as_str().expect("an id")).collect();
    let lost: Vec<_> = deployed.iter().filter(|id| !known.contains(id.as_str())).collect();
    assert!(lost.is_empty(), "lost deploys: {lost:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn mutations_on_sqlite_are_answered_after_their_flush_and_leave_their_places_to_others_until_then() {
    let place = Place::with_database();
    let Some(library) = library(place.path()) else { return };
    let token = place.run(&["token", "create", "--description", "power"]).out.trim().to_owned();
    let service = start(&place, &library);
    // SQLite flushes the beginning of its log itself.
    assert_eq!(create_service(&service, &token, "before").await.expect("an answer").0, 200);

    place.write("held", "");
    let answered = AtomicUsize::new(0);
    let create = |name: String| {
        let (service, token, answered) = (&service, &token, &answered);
        async move {
            let (status, answer) = create_service(service, token, &name).await.expect("an answer");
            answered.fetch_add(1, Ordering::Relaxed);
            assert_eq!((status, &answer["data"]["serviceCreate"]["errors"]), (200, &json!([])), "{answer}");
        }
    };
    let count = CHANGES_SHARE + 2;
    let release = async {
        let began = Instant::now();
        // With the one before.
        while services(&service, &token).await.0.len() <= count {
            assert!(began.elapsed() < LONGEST, "all of them write, although none is durable");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(answered.load(Ordering::Relaxed), 0, "nothing is durable yet");
        fs::remove_file(place.path().join("held")).expect("it is there");
    };
    join(join_all((0..count).map(|number| create(format!("s{number}")))), release).await;
    assert_eq!(answered.into_inner(), count);
}

#[tokio::test]
async fn a_disk_that_fails_to_store_a_commit_on_sqlite_ends_changes_until_the_restart() {
    let place = Place::with_database();
    let Some(library) = library(place.path()) else { return };
    let token = place.run(&["token", "create", "--description", "power"]).out.trim().to_owned();
    let mut service = start(&place, &library);
    let create = async |name: &str| create_service(&service, &token, name).await.expect("an answer");
    assert_eq!(create("whole").await.0, 200);
    // In the background, the server notes that the token was used.
    let is_noted = || {
        let list = place.run(&["token", "list"]).out;
        list.split('\t').nth(3).is_some_and(|last_used| last_used.starts_with("20"))
    };
    let began = Instant::now();
    while !is_noted() {
        assert!(began.elapsed() < LONGEST, "the use of the token is noted");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    place.write("broken", "");
    let (status, answer) = create("uncertain").await;
    let message = answer["errors"][0]["message"].as_str().unwrap_or_default().to_owned();
    assert_eq!(status, 200, "it may have been carried out, so it must not be repeated: {answer}");
    assert!(message.starts_with("The disk of the database failed while the change was committed."), "{answer}");

    // The disk works again, but nobody knows what it has lost.
    fs::remove_file(place.path().join("broken")).expect("it is there");
    let (status, answer) = create("refused").await;
    let message = answer["errors"][0]["message"].as_str().unwrap_or_default().to_owned();
    assert_eq!(status, 503, "{answer}");
    assert!(
        message.starts_with("The disk of the database failed to store a change. Changes are refused until"),
        "{answer}"
    );
    let (status, ready) = service.get(service.address, "/readyz").await;
    assert!(status == 200 && ready.contains("writes: failing. The disk of the database failed"), "{status} {ready}");
    assert!(services(&service, &token).await.0.contains("whole"), "it can be read");

    service.kill();
    let service = start(&place, &library);
    assert_eq!(create_service(&service, &token, "after").await.expect("an answer").0, 200);
    assert_eq!(service.get(service.address, "/readyz").await.1, "ok\nwrites: ok\n");
    let (known, _) = services(&service, &token).await;
    assert!(known.contains("whole") && known.contains("after") && !known.contains("refused"), "{known:?}");
}

/// Posts deploys until a file exists. All of them must be accepted.
async fn post_until(file: &Path, service: &Process, path: &str, next: &mut usize) {
    let most = *next + 5_000;
    while !file.exists() {
        assert!(*next < most, "the log is checkpointed long before");
        let posts = (*next..*next + CLIENTS).map(|id| {
            let body = json!({ "service": "any", "dedup_id": id.to_string(), "description": "d".repeat(8_000) });
            let body = record(body);
            async move { service.post(path, None, &body).await.expect("an answer") }
        });
        for (status, answer) in join_all(posts).await {
            assert_eq!(status, 202, "{answer}");
        }
        *next += CLIENTS;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_that_finds_no_file_descriptor_is_tried_again_and_refuses_no_change() {
    let place = Place::with_database();
    let Some(library) = library(place.path()) else { return };
    let url = place.run(&["deploy-endpoint", "create", "--name", "CI"]).out.trim().to_owned();
    let path = url.split_once(":8080").expect("the usual port").1;
    let service = start(&place, &library);
    place.write("no-descriptors", "");
    let mut next = 0;
    post_until(&place.path().join("refused-descriptor"), &service, path, &mut next).await;
    fs::remove_file(place.path().join("no-descriptors")).expect("it is there");
    let checkpointed = place.path().join("rollcall.db.durable");
    let _ = fs::remove_file(&checkpointed);
    post_until(&checkpointed, &service, path, &mut next).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_that_the_disk_fails_to_store_ends_changes_too_and_loses_nothing() {
    let place = Place::with_database();
    let Some(library) = library(place.path()) else { return };
    let token = place.run(&["token", "create", "--description", "power"]).out.trim().to_owned();
    let url = place.run(&["deploy-endpoint", "create", "--name", "CI"]).out.trim().to_owned();
    let path = url.split_once(":8080").expect("the usual port").1;
    let mut service = start(&place, &library);
    place.write("broken-database", "");

    let (mut deployed, mut refused) = (0, None);
    while refused.is_none() && deployed < 5_000 {
        let posts = (0..CLIENTS).map(|number| {
            let id = (deployed + number).to_string();
            let body = record(json!({ "service": "any", "dedup_id": id, "description": "d".repeat(8_000) }));
            let service = &service;
            async move { service.post(path, None, &body).await.expect("an answer") }
        });
        for (status, answer) in join_all(posts).await {
            match status {
                202 => deployed += 1,
                _ => refused = Some((status, answer)),
            }
        }
    }
    let (status, answer) = refused.expect("the log is checkpointed long before");
    assert!(status == 503 && answer.to_string().contains("The disk of the database failed"), "{status} {answer}");
    let (status, answer) = create_service(&service, &token, "refused").await.expect("an answer");
    assert!(status == 503 && answer.to_string().contains("Changes are refused until"), "{status} {answer}");

    service.kill();
    fs::remove_file(place.path().join("broken-database")).expect("it is there");
    let service = start(&place, &library);
    let query = json!({ "query": "{ account { deploys { totalCount } } }" });
    let (_, answer) = service.post("/graphql", Some(&token), &query).await.expect("an answer");
    let stored = answer["data"]["account"]["deploys"]["totalCount"].as_u64();
    assert!(stored >= Some(deployed as u64), "{stored:?} of {deployed}");
}
