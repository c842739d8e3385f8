//! A full disk: an 8 MiB file system in memory, in the server's own mount namespace.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::mount::works;
use crate::harness::process::Process;
use crate::harness::program::Place;
use crate::harness::webhook::record;

/// Mounts it at `disk`, with the database in it, and executes the program.
const MOUNT: &str = "mount -t tmpfs -o size=8m none disk && cp rollcall.db* disk && exec \"$@\"";

/// Fills the disk, but for the index of SQLite's log, and executes the program.
const FILL: &str = "cat /dev/zero >disk/ballast 2>full; truncate -s -40K disk/ballast && exec \"$@\"";

/// A command in a mount namespace. `None` if there can be none, which is said aloud.
fn on_a_small_disk(place: &Place, program: &[&str]) -> Option<Command> {
    std::fs::create_dir(place.path().join("disk")).expect("a folder");
    let namespace = |command: &[&str]| {
        let mut unshare = Command::new("unshare");
        unshare.current_dir(place.path()).stdin(Stdio::null());
        unshare.args(["--map-root-user", "--mount", "sh", "-c", MOUNT, "sh"]).args(command);
        unshare
    };
    works(&mut namespace(&["true"])).then(|| {
        let mut command = namespace(program);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    })
}

#[test]
fn a_command_says_that_the_disk_under_sqlite_is_full() {
    let (place, program) = (Place::with_database(), env!("CARGO_BIN_EXE_rollcall"));
    let create = ["token", "create", "--description", "full", "--database-url", "sqlite://disk/rollcall.db"];
    let Some(mut command) = on_a_small_disk(&place, &[&["sh", "-c", FILL, "sh", program], &create[..]].concat()) else {
        return;
    };
    let done = command.output().expect("the program runs");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!((done.status.code(), &*said), (Some(1), "rollcall: The disk of the database is full.\n"));
}

#[tokio::test]
async fn a_full_disk_under_sqlite_refuses_writes_and_not_reads_and_loses_nothing() {
    let place = Place::with_database();
    let token = place.run(&["token", "create", "--description", "full"]).out.trim().to_owned();
    let url = place.run(&["deploy-endpoint", "create", "--name", "CI"]).out.trim().to_owned();
    let path = url.split_once(":8080").expect("the usual port").1;
    let program = env!("CARGO_BIN_EXE_rollcall");
    let serve = [program, "--listen", "127.0.0.1:0", "--database-url", "sqlite://disk/rollcall.db"];
    let limits = ["--token-limit", "0", "--metrics-listen", "127.0.0.1:0"];
    let Some(command) = on_a_small_disk(&place, &[&serve[..], &limits].concat()) else { return };
    let service = Process::start(command);
    // The server's view of its disk.
    let disk = PathBuf::from(format!("/proc/{}/root{}", service.id(), place.path().join("disk").display()));
    let mut acknowledged = Vec::new();
    let post = async |id: usize| {
        let body = record(json!({ "dedup_id": id.to_string(), "description": "d".repeat(40_000) }));
        service.post(path, None, &body).await.expect("an answer")
    };
    assert_eq!(post(0).await.0, 202);
    acknowledged.push("0".to_owned());

    // Another file takes the rest of the disk.
    let ballast = disk.join("ballast");
    let mut file = File::create(&ballast).expect("a file");
    while file.write(&[0; 4096]).is_ok_and(|written| written > 0) {}
    let mut refused = None;
    for id in 1..1000 {
        match post(id).await {
            (202, _) => acknowledged.push(id.to_string()),
            other => {
                refused = Some(other);
                break;
            }
        }
    }
    let sentence = "The disk of the database is full.";
    let (status, refused) = refused.expect("a refusal");
    let error = &refused["errors"][0];
    assert_eq!((status, &error["status"], &error["title"]), (503, &json!(503), &json!("Service Unavailable")));
    let told =
        |text: &Value| text.as_str().is_some_and(|text| text.starts_with(&format!("{sentence} The request was ")));
    assert!(told(&error["detail"]), "{refused}");
    let create = |name: &str| {
        json!({ "query": format!(
        "mutation {{ serviceCreate(input: {{ name: \"{name}\", description: \"{}\" }}) {{ errors {{ path message }} }} }}",
        "d".repeat(5_000)
    ) })
    };
    // A little may still fit into space that the log has reserved.
    let mut said = Value::Null;
    for number in 0..1000 {
        let (status, answer) =
            service.post("/graphql", Some(&token), &create(&format!("s{number}"))).await.expect("an answer");
        if status == 503 {
            said = answer;
            break;
        }
        assert_eq!((status, answer.get("errors")), (200, None));
    }
    assert!(told(&said["errors"][0]["message"]), "{said}");
    let metrics = service.metrics();
    let writable = async || {
        let (_, figures) = service.get(metrics, "/metrics").await;
        figures.lines().find_map(|line| line.strip_prefix("rollcall_database_writable ").map(str::to_owned))
    };
    let ready = async || service.get(service.address, "/readyz").await;
    assert_eq!(ready().await, (200, format!("ok\nwrites: failing. {sentence}\n")), "it can still be read");
    assert_eq!(writable().await.as_deref(), Some("0"));

    let stored = async || {
        let deploys = service.deploys(&token, "dedupId").await;
        let mut ids: Vec<_> =
            deploys.iter().map(|deploy| deploy["dedupId"].as_str().expect("an id").to_owned()).collect();
        ids.sort_by_key(|id| id.parse::<usize>().ok());
        ids
    };
    assert_eq!(stored().await, acknowledged, "while the disk is full");
    drop(file);
    std::fs::remove_file(ballast).expect("removed");
    assert_eq!(post(1000).await.0, 202);
    acknowledged.push("1000".to_owned());
    assert_eq!((ready().await.1, writable().await.as_deref()), ("ok\nwrites: ok\n".to_owned(), Some("1")));
    let (_, answer) = service.post("/graphql", Some(&token), &create("after")).await.expect("an answer");
    assert_eq!(answer, json!({ "data": { "serviceCreate": { "errors": [] } } }));
    assert_eq!(stored().await, acknowledged, "when there is room again");
}
