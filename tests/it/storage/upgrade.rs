//! Upgrades the databases of earlier releases. Also lets a newer program upgrade the database while this one runs.
//!
//! `databases/` has a dump of each release for each backend: a few generated services and deploys, two tokens and an
//! administrator. Each release adds its own, created by its own program, and none is edited afterwards.

use std::fs;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rollcall::db::{self, Db, OpenError, Read, Version, Write};
use rollcall::entity::{token, user};
use sea_orm::EntityTrait;
use serde_json::{Value, json};

use crate::harness::database::{Database, EXPAND, is_postgres};
use crate::harness::deadline::LONGEST;
use crate::harness::process::Process;
use crate::harness::program::Place;
use crate::harness::webhook::record;

/// A write token of the dumps.
const TOKEN: &str = "rc_wAnMYYgLpA-DUsQZoSNv7YKgY658fLLvvMkxjc3oOSw1dj3PA";

/// The same migration, marked so that every program must know it.
const CONTRACT: &str = "UPDATE compatibility SET needed_step = 'm20990101_000001_future'";

/// The releases that have a dump for this backend, with the dump.
fn dumps() -> Vec<(String, String)> {
    let folder = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/storage/databases")).expect("the dumps");
    let ending = if is_postgres() { ".postgres.sql" } else { ".sqlite.sql" };
    let dumps = folder.filter_map(|entry| {
        let path = entry.expect("an entry").path();
        let release = path.file_name()?.to_str()?.strip_suffix(ending)?.to_owned();
        Some((release, fs::read_to_string(&path).expect("a dump")))
    });
    let dumps: Vec<_> = dumps.collect();
    assert!(!dumps.is_empty(), "there is no dump {ending}");
    dumps
}

async fn run(db: &Db, statements: &str) {
    db.write(async |db| db.script(statements).await).await.expect("statements that work");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn databases_of_earlier_releases_are_upgraded_and_serve() {
    for (release, dump) in dumps() {
        let database = Database::empty().await;
        let db = db::connect(&database.url).await.expect("a database");
        run(&db, &dump).await;
        let Version::Older(lacking) = db::version(&db).await.expect("a version") else {
            panic!("{release} has every step of this version");
        };
        assert!(db::check(&db).await.is_err(), "{release} is ready before it is upgraded");
        assert_eq!(db::migrate(&db).await.expect("an upgrade"), lacking);
        db::check(&db).await.expect("nothing is lacking");

        let tokens = db.write(async |tx| tx.all(token::Entity::find()).await).await.expect("tokens");
        let mut scopes: Vec<_> = tokens.iter().map(|token| (&*token.description, token.scope)).collect();
        scopes.sort_by_key(|(description, _)| *description);
        assert_eq!(scopes, [("of 0.1.0", token::Scope::Admin), ("reader", token::Scope::Read)], "{release}");
        assert!(db.write(async |tx| user::any_administrator(tx).await).await.expect("users"), "{release}");
        db.close().await.expect("the end");

        // Through the program itself, with a token of that time.
        let place = Place::new();
        let service = Process::start(place.command(&["--listen", "127.0.0.1:0", "--database-url", &database.url]));
        let query = "{ account {
            services { nodes { name aliases } totalCount }
            found: services(search: \"billing\") { nodes { name } }
            deploys(first: 100) { nodes { id } }
        } }";
        let (status, answer) =
            service.post("/graphql", Some(TOKEN), &json!({ "query": query })).await.expect("an answer");
        let account = &answer["data"]["account"];
        assert_eq!((status, &account["services"]["totalCount"]), (200, &json!(3)), "{release}: {answer}");
        assert_eq!(account["found"]["nodes"], json!([{ "name": "mellow-billing-2" }]), "{release}: {answer}");
        assert_eq!(account["deploys"]["nodes"].as_array().map(Vec::len), Some(12), "{release}: {answer}");
        let rename = "mutation { teamCreate(input: { name: \"After\" }) { errors { message } } }";
        let (_, answer) = service.post("/graphql", Some(TOKEN), &json!({ "query": rename })).await.expect("an answer");
        assert_eq!(answer["data"]["teamCreate"]["errors"], json!([]), "{release}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_stops_writing_once_a_migration_requires_a_newer_program() {
    let (database, place) = (Database::new().await, Place::new());
    let service = Process::start(place.command(&["--listen", "127.0.0.1:0", "--database-url", &database.url]));
    let token = place.run(&["token", "create", "--description", "t", "--database-url", &database.url]).out;
    let ask = async |query: &str| {
        let answer = service.post("/graphql", Some(token.trim()), &json!({ "query": query })).await;
        answer.expect("an answer").1
    };
    let create = "mutation { teamCreate(input: { name: \"T\" }) { team { alias } errors { message } } }";
    assert_eq!(ask(create).await["data"]["teamCreate"]["team"]["alias"], "t");

    let db = db::connect(&database.url).await.expect("a database");
    run(&db, EXPAND).await;
    run(&db, CONTRACT).await;
    // The service checks the version every few seconds, and immediately for `/readyz`.
    assert_eq!(service.get(service.address, "/readyz").await.0, 503);
    let refused = ask(create).await;
    let message = refused["errors"][0]["message"].as_str().expect("a message");
    let expected = "A newer version of rollcall has upgraded the database. This process is now read-only.";
    assert!(message.starts_with(expected), "{refused}");
    let teams = ask("{ account { teams { totalCount } } }").await;
    assert_eq!(teams["data"]["account"]["teams"]["totalCount"], 1, "{teams}");

    assert!(matches!(db::check(&db).await, Err(OpenError::Newer { .. })));
    assert!(db.begin_write().await.is_err() && db.writes_fail().is_some());
    let next = db::connect(&database.url).await.expect("a database");
    run(&next, "DELETE FROM seaql_migrations WHERE version = 'm20990101_000001_future'").await;
    run(&next, "DROP TABLE future").await;
    // A backup was restored: the version is this program's again.
    assert_eq!(service.get(service.address, "/readyz").await.0, 200);
    assert_eq!(ask(&create.replace("\"T\"", "\"U\"")).await["data"]["teamCreate"]["team"]["alias"], "u");
}

/// The processes behind a load balancer, and the results of their requests.
#[derive(Default)]
struct Site {
    addresses: Mutex<Vec<SocketAddr>>,
    is_over: AtomicBool,
    turn: AtomicUsize,
    done: AtomicUsize,
    refused: Mutex<Vec<String>>,
}

impl Site {
    /// Posts to one process after the other.
    fn post(&self, path: &str, token: &str, body: &Value) -> (u16, String) {
        let settings = ureq::Agent::config_builder().http_status_as_error(false).max_idle_connections(0);
        let settings = settings.timeout_global(Some(LONGEST));
        let agent: ureq::Agent = settings.build().into();
        let addresses = self.addresses.lock().expect("whole").clone();
        let address = addresses[self.turn.fetch_add(1, Ordering::Relaxed) % addresses.len()];
        let post = agent.post(format!("http://{address}{path}")).header("content-type", "application/json");
        match post.header("authorization", format!("Bearer {token}")).send(body.to_string()) {
            Ok(mut answer) => (answer.status().as_u16(), answer.body_mut().read_to_string().expect("text")),
            Err(error) => (0, error.to_string()),
        }
    }

    /// Reads, writes and deploys until the test is over.
    fn use_it(&self, client: usize, token: &str, webhook: &str) {
        for round in 0.. {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            let id = format!("{client}-{round}");
            let create = format!("mutation {{ teamCreate(input: {{ name: \"{id}\" }}) {{ errors {{ message }} }} }}");
            let read = "{ account { services(first: 5) { nodes { name tags { nodes { key } } } } } }";
            let requests = [
                ("/graphql", json!({ "query": create }), 200, r#"{"data":{"teamCreate":{"errors":[]}}}"#),
                ("/graphql", json!({ "query": read }), 200, r#"{"data":{"account":"#),
                (webhook, record(json!({ "service": "rolling", "dedup_id": id })), 202, ""),
            ];
            for (path, body, status, start) in requests {
                let answer = self.post(path, token, &body);
                if answer.0 != status || !answer.1.starts_with(start) {
                    self.refused.lock().expect("whole").push(format!("{path}: {answer:?}"));
                }
                self.done.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Waits until more requests are done.
    fn wait_for(&self, more: usize) {
        let (wanted, began) = (self.done.load(Ordering::Relaxed) + more, Instant::now());
        while self.done.load(Ordering::Relaxed) < wanted {
            assert!(began.elapsed() < LONGEST, "requests are answered");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Ends the clients when it is dropped, after a failure as well.
struct UntilOver<'s>(&'s AtomicBool);

impl Drop for UntilOver<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rolling_upgrade_refuses_no_request() {
    const CLIENTS: usize = 4;
    let (database, place) = (Database::new().await, Place::new());
    let token = place.run_on(&database, &["token", "create", "--description", "t"]);
    let url = place.run_on(&database, &["deploy-endpoint", "create", "--name", "CI"]);
    let webhook = url.split_once(":8080").expect("the usual port").1.to_owned();
    let start = || {
        let limits = ["--token-limit", "0", "--ip-limit", "0", "--database-url", &database.url];
        let serve = ["serve", "--listen", "127.0.0.1:0", "--drain-delay", "1s"];
        Process::start(place.command(&[&serve[..], &limits].concat()))
    };
    let mut processes = vec![start(), start(), start()];
    let site = Site::default();
    let route = |processes: &[Process]| {
        *site.addresses.lock().expect("whole") = processes.iter().map(|process| process.address).collect();
    };
    route(&processes);
    let db = database.open().await;
    let runtime = tokio::runtime::Handle::current();
    tokio::task::block_in_place(|| {
        thread::scope(|scope| {
            let until_over = UntilOver(&site.is_over);
            for client in 0..CLIENTS {
                let (site, token, webhook) = (&site, &token, &webhook);
                scope.spawn(move || site.use_it(client, token, webhook));
            }
            site.wait_for(60);
            runtime.block_on(run(&db, EXPAND));
            for process in &processes {
                let (status, text) = runtime.block_on(process.get(process.address, "/readyz"));
                assert_eq!(status, 200, "{text}");
            }
            site.wait_for(60);
            for _ in 0..processes.len() {
                let mut old = processes.remove(0);
                old.tell_to_stop();
                let began = Instant::now();
                while runtime.block_on(old.get(old.address, "/readyz")).0 == 200 {
                    assert!(began.elapsed() < LONGEST, "it notices that it shall stop");
                    thread::sleep(Duration::from_millis(5));
                }
                route(&processes);
                old.wait();
                processes.push(start());
                route(&processes);
                site.wait_for(60);
            }
            drop(until_over);
        });
    });
    let refused = site.refused.into_inner().expect("whole");
    assert!(refused.is_empty(), "{} of {:?}: {:#?}", refused.len(), site.done, &refused[..refused.len().min(5)]);
    let deploys = processes[0].deploys(&token, "dedupId").await;
    assert_eq!(deploys.len(), site.done.into_inner() / 3, "each deploy is there once");

    run(&db, CONTRACT).await;
    assert_eq!(processes[0].get(processes[0].address, "/readyz").await.0, 503);
    let late = place.run(&["serve", "--listen", "127.0.0.1:0", "--database-url", &database.url]);
    assert!(
        late.err.contains("was upgraded by a newer rollcall (it has step m20990101_000001_future)"),
        "{}",
        late.err
    );
}
