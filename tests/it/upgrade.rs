//! Upgrades from the databases of earlier releases. Also a newer program that upgrades this one's database while it
//! runs.
//!
//! `databases/` has a dump of each release for each backend: a few generated services and deploys, two tokens and an
//! administrator. Each release adds its own, created by its own program, and none is edited afterwards.

use std::fs;

use rollcall::db::{self, Db, OpenError};
use rollcall::entity::{token, user};
use sea_orm::{ConnectionTrait, EntityTrait};
use serde_json::json;

use crate::command_line::Place;
use crate::database::{Database, is_postgres};
use crate::process::Process;

/// A write token of the dumps.
const TOKEN: &str = "rc_wAnMYYgLpA-DUsQZoSNv7YKgY658fLLvvMkxjc3oOSw1dj3PA";

/// The releases that have a dump for this backend, with the dump.
fn dumps() -> Vec<(String, String)> {
    let folder = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/databases")).expect("the dumps");
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
    db.write(async |db| db.execute_unprepared(statements).await).await.expect("statements that work");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn databases_of_earlier_releases_are_upgraded_and_serve() {
    for (release, dump) in dumps() {
        let database = Database::empty().await;
        let db = db::connect(&database.url).await.expect("a database");
        run(&db, &dump).await;
        let lacking = db::lacking(&db).await.expect("a version");
        assert!(lacking > 0, "{release} has every step of this version");
        assert!(db::check(&db).await.is_err(), "{release} is ready before it is upgraded");
        assert_eq!(db::migrate(&db).await.expect("an upgrade"), lacking);
        db::check(&db).await.expect("nothing is lacking");

        let tokens = db.write(async |tx| token::Entity::find().all(tx).await).await.expect("tokens");
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
async fn a_process_writes_nothing_once_a_newer_one_has_upgraded_its_database() {
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
    run(&db, "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m20990101_000001_future', 1)").await;
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
    // A backup was restored: the version is this program's again.
    assert_eq!(service.get(service.address, "/readyz").await.0, 200);
    assert_eq!(ask(&create.replace("\"T\"", "\"U\"")).await["data"]["teamCreate"]["team"]["alias"], "u");
}
