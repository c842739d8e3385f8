//! Backups: a copy made while the catalogue is written to, and then served instead of it.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::future::join_all;
use serde_json::json;
use tokio::time::timeout;

use crate::harness::deadline::LONGEST;
use crate::harness::process::Process;
use crate::harness::program::{Place, assert_refused};
use crate::harness::webhook::record;

const CLIENTS: usize = 8;

fn run(place: &Place, arguments: &[&str]) -> String {
    let done = place.run(arguments);
    assert_eq!(done.status, 0, "{}", done.err);
    done.out.trim().to_owned()
}

fn serve(place: &Place, url: &str) -> Process {
    let limits = ["--token-limit", "0", "--ip-limit", "0"];
    let serve = ["serve", "--listen", "127.0.0.1:0", "--database-url", url];
    Process::start(place.command(&[&serve[..], &limits].concat()))
}

/// The files in the folder, without SQLite's additional files.
fn files(place: &Place) -> BTreeSet<String> {
    let names = fs::read_dir(place.path()).expect("the folder").map(|entry| entry.expect("an entry").file_name());
    names.map(|name| name.into_string().expect("text")).filter(|name| !name.contains(".db-")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_an_sqlite_file_that_is_written_holds_what_was_acknowledged_and_can_be_served() {
    let place = Place::with_database();
    let token = run(&place, &["token", "create", "--description", "backup"]);
    let url = run(&place, &["deploy-endpoint", "create", "--name", "CI"]);
    let path = url.split_once(":8080").expect("the usual port").1;
    run(&place, &["generate", "--services", "300"]);
    let service = serve(&place, "sqlite://rollcall.db");

    let (next, acknowledged, over) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()), AtomicBool::new(false));
    let client = async |_| {
        while !over.load(Ordering::Relaxed) {
            let id = next.fetch_add(1, Ordering::Relaxed).to_string();
            let body = record(json!({ "service": "svc-1", "dedup_id": id }));
            let (status, _) = service.post(path, None, &body).await.expect("an answer");
            assert_eq!(status, 202);
            acknowledged.lock().expect("whole").insert(id);
        }
    };
    let backups = async {
        let mut before = Vec::new();
        for number in 0..3 {
            // Wait for some load first, however slow the machine is.
            let load = async {
                while acknowledged.lock().expect("whole").len() < (number + 1) * 50 {
                    tokio::task::yield_now().await;
                }
            };
            timeout(LONGEST, load).await.expect("writes are acknowledged");
            before.push(acknowledged.lock().expect("whole").clone());
            let copy = format!("copy-{number}.db");
            let done = tokio::task::block_in_place(|| place.run(&["backup", &copy]));
            assert_eq!((done.status, &*done.out), (0, ""), "{}", done.err);
            let said = format!("copied the database to {}: ", place.absolute(&copy));
            assert!(done.err.starts_with(&said), "{}", done.err);
        }
        over.store(true, Ordering::Relaxed);
        before
    };
    let (_, before) = futures_util::future::join(join_all((0..CLIENTS).map(client)), backups).await;
    assert_eq!(
        files(&place),
        BTreeSet::from(["rollcall", "copy-0", "copy-1", "copy-2"].map(|name| format!("{name}.db")))
    );

    let fields = "dedupId deployNumber description deployedAt service { name }";
    let all = service.deploys(&token, fields).await;
    for (number, before) in before.iter().enumerate() {
        // The same token works, because it is the same catalogue.
        let copy = serve(&place, &format!("sqlite://copy-{number}.db"));
        let copied = copy.deploys(&token, fields).await;
        let ids: BTreeSet<_> =
            copied.iter().map(|deploy| deploy["dedupId"].as_str().expect("an id").to_owned()).collect();
        assert!(before.is_subset(&ids), "{:?}", before.difference(&ids));
        // The copy has a prefix of all deploys, without gaps.
        assert_eq!(copied, all[all.len() - copied.len()..], "copy {number}");
        // It continues where the copy ends.
        let (status, _) = copy.post(path, None, &record(json!({ "service": "svc-1" }))).await.expect("an answer");
        assert_eq!(status, 202);
        let next = &copy.deploys(&token, "deployNumber").await[..copied.len() + 1];
        let numbers: BTreeSet<usize> = next
            .iter()
            .map(|deploy| deploy["deployNumber"].as_str().and_then(|text| text.parse().ok()).expect("a number"))
            .collect();
        assert_eq!(numbers, (1..=copied.len() + 1).collect());
    }

    run(&place, &["backup", "last.db"]);
    let query = json!({ "query": "{ account { services(first: 100) {
        totalCount nodes { id name aliases owner { name } tier { alias } tags { nodes { id key value } } repositories { nodes { url } } }
    } } }" });
    let last = serve(&place, "sqlite://last.db");
    let (copied, original) =
        (last.post("/graphql", Some(&token), &query), service.post("/graphql", Some(&token), &query));
    assert_eq!(copied.await, original.await);
    assert_eq!(last.deploys(&token, fields).await, all);
}

#[test]
fn a_backup_is_readable_only_by_its_owner_and_replaces_no_file() {
    let place = Place::new();
    run(&place, &["migrate"]);
    let mode = |name: &str| fs::metadata(place.path().join(name)).expect("a file").permissions().mode() & 0o777;
    run(&place, &["backup", "copy.db"]);
    assert_eq!(mode("copy.db") & !mode("rollcall.db"), 0);
    assert_eq!(mode("copy.db"), 0o600);

    place.write("other", "precious");
    place.write("third.db-wal", "of another database");
    for (file, there) in [("other", "other"), ("copy.db", "copy.db"), (".", "."), ("third.db", "third.db-wal")] {
        let done = place.run(&["backup", file]);
        assert_refused(&done, &format!("{there} already exists; name a new file"));
    }
    assert_eq!(fs::read(place.path().join("other")).expect("a file"), b"precious");
    let done = place.run(&["backup", "none/copy.db"]);
    assert_refused(&done, "none/copy.db cannot be written: its folder does not exist");
    let done = place.run(&["backup"]);
    assert_eq!(done.status, 2);
    assert_eq!(files(&place), BTreeSet::from(["rollcall.db", "copy.db", "other"].map(str::to_owned)));
}

#[test]
fn a_missing_file_or_one_that_is_no_sqlite_database_is_not_backed_up() {
    let place = Place::new();
    let done = place.run(&["backup", "copy.db"]);
    let sentence = format!("rollcall: there is no database {}; ", place.absolute("rollcall.db"));
    assert!(done.status == 1 && done.err.starts_with(&sentence), "{}", done.err);
    let done = place.run(&["backup", "copy.db", "--database-url", "postgres://user:geheim@127.0.0.1:1/none"]);
    assert_refused(&done, "to back up PostgreSQL use its own program: pg_dump --format=custom");
    let done = place.run(&["backup", "copy.db", "--database-url", "nonsense://x"]);
    let sentence = "the database URL (from DATABASE_URL or --database-url) must be sqlite://FILE or \
                    postgres://USER:PASSWORD@HOST/DATABASE";
    assert_refused(&done, sentence);
    assert_eq!(files(&place), BTreeSet::new(), "nothing was made");
    place.write("text.db", "this is not a database, although it is long enough to be looked at".repeat(100));
    let done = place.run(&["backup", "copy.db", "--database-url", "sqlite://text.db"]);
    let sentence = format!("the database {} cannot be copied: file is not a database", place.absolute("text.db"));
    assert_refused(&done, &sentence);
    assert_eq!(files(&place), BTreeSet::from(["text.db".to_owned()]));
}
