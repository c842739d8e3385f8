//! Reading: snapshots and slow statements.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_graphql::Request;
use rollcall::budget::Limits;
use rollcall::db::{self, Read, Row};
use rollcall::entity::{ByIds, service};
use rollcall::graphql::request::caller::Caller;
use rollcall::graphql::{Catalogue, Settings, Unavailable};
use sea_orm::sea_query::{Asterisk, Expr, ExprTrait, Func, Query, SelectStatement};
use tokio::time::timeout;

use crate::harness::app::TestApp;
use crate::harness::database::{Database, texts};
use crate::harness::services::insert;

/// Longer than anything here takes, unless it waits for something that it should not.
const GENEROUS: Duration = Duration::from_secs(60);

/// Counts pairs, triples and so on of services.
fn combinations(of: usize) -> SelectStatement {
    let names: Vec<String> = (0..of).map(|place| format!("s{place}")).collect();
    let mut count = Query::select();
    count.expr(Func::count(Expr::col(Asterisk)));
    for name in &names {
        count.from_as(service::Entity, name.clone());
    }
    // A condition that is always true and that no index can answer.
    for name in &names {
        count.and_where(Expr::col((name.clone(), service::Column::Name)).ne("nobody"));
    }
    count
}

async fn count(db: &impl Read, statement: &SelectStatement) -> Result<i64, db::Error> {
    Ok(db.rows(statement, |row: &Row<'_>| row.get(0)).await?[0])
}

#[tokio::test]
async fn a_snapshot_is_taken_at_its_first_statement() {
    let database = Database::new().await;
    let db = database.open().await;
    insert(&db, (0..3).map(|i| format!("old-{i}"))).await;
    let snapshot = db.begin_read(None).await.expect("a snapshot");
    let services = combinations(1);
    assert_eq!(count(&snapshot, &services).await, Ok(3));
    insert(&db, (0..2).map(|i| format!("new-{i}"))).await;
    assert_eq!(count(&snapshot, &services).await, Ok(3));
    assert_eq!(count(db.read(), &services).await, Ok(5));
    drop(snapshot);
    assert_eq!(count(&db.begin_read(None).await.expect("a snapshot"), &services).await, Ok(5));
}

#[tokio::test]
async fn rows_come_in_the_order_of_their_keys_with_none_for_unknown_keys() {
    let database = Database::new().await;
    let db = database.open().await;
    insert(&db, (0..3).map(|i| format!("s{i}"))).await;
    let names = async |ids: &[Option<i64>]| {
        let rows = service::Entity::by_ids(db.read(), ids.iter().copied()).await.expect("rows");
        rows.into_iter().map(|row| row.map(|row| row.name)).collect::<Vec<_>>()
    };
    let some = |name: &str| Some(name.to_owned());
    assert_eq!(
        names(&[Some(3), None, Some(1), Some(9), Some(3)]).await,
        [some("s2"), None, some("s0"), None, some("s2")]
    );
    assert_eq!(names(&[None, None]).await, [None, None]);
    assert_eq!(names(&[]).await, []);
}

#[tokio::test]
async fn a_slow_statement_on_sqlite_yields_its_thread_to_others() {
    if crate::harness::database::is_postgres() {
        return;
    }
    let database = Database::new().await;
    let db = database.open().await;
    insert(&db, (0..200).map(|i| format!("s{i}"))).await;
    // On a single thread: unless it yields, the first ends before the second begins.
    let triples = async { count(db.read(), &combinations(3)).await.expect("a count") };
    let finished = std::cell::Cell::new(false);
    let long = async {
        assert_eq!(triples.await, 8_000_000);
        finished.set(true);
    };
    let short = async {
        assert_eq!(count(db.read(), &combinations(1)).await, Ok(200));
        assert!(!finished.get(), "the short one came after the long one");
    };
    timeout(GENEROUS, async { tokio::join!(long, short) }).await.expect("both are answered");
}

#[tokio::test]
async fn dropping_the_future_of_a_statement_on_sqlite_interrupts_it() {
    if crate::harness::database::is_postgres() {
        return;
    }
    let database = Database::new().await;
    let db = database.open().await;
    insert(&db, (0..200).map(|i| format!("s{i}"))).await;
    let snapshot = db.begin_read(None).await.expect("a snapshot");
    // This would run for weeks.
    let statement = combinations(6);
    timeout(Duration::from_millis(1), count(&snapshot, &statement)).await.expect_err("it takes long");
    drop(snapshot);
    // Closing waits for running statements.
    timeout(GENEROUS, db.close()).await.expect("nothing runs").expect("closed");
}

#[tokio::test]
async fn a_connection_to_postgresql_that_has_carried_much_is_not_used_again() {
    if !crate::harness::database::is_postgres() {
        return;
    }
    let database = Database::new().await;
    let db = database.open().await;
    let connection = async || texts(&db, "SELECT pg_backend_pid()::text").await;
    let first = connection().await;
    texts(&db, "SELECT repeat('x', 60000)").await;
    assert_eq!(connection().await, first);
    texts(&db, "SELECT repeat('x', 70000)").await;
    let second = connection().await;
    assert_ne!(second, first);
    // Many small rows pass through the same buffers.
    texts(&db, "SELECT repeat('x', 100) FROM generate_series(1, 5000)").await;
    assert_eq!(connection().await, second);
    let query = Query::select().expr(Expr::val("x".repeat(70_000)).eq("x")).take();
    db.read().rows(&query, |_| Ok(())).await.expect("a large parameter");
    assert_ne!(connection().await, second);
}

#[tokio::test]
async fn a_query_that_gets_no_connection_can_be_retried() {
    let database = Database::new().await;
    let db = database.open().await;
    let settings = Settings::new("test", "http://test");
    let catalogue = Catalogue::new(db.clone(), settings);
    let request = Request::new("{ account { a: services { totalCount } b: services { totalCount } } }");
    let prepared = catalogue.prepare(&request).unwrap_or_else(|errors| panic!("{errors:?}"));
    db.close().await.expect("closed");
    let caller = Caller::command_line();
    let refused = catalogue.execute(&prepared, &caller, "the-request", None).await.expect_err("a refusal");
    assert_eq!(refused, Unavailable("The database cannot be reached."));
}

#[tokio::test]
async fn a_regular_expression_over_many_texts_gives_others_a_turn() {
    let database = Database::new().await;
    let db = database.open().await;
    insert(&db, (0..100).map(|i| format!("{}{i}", "abcdefghij".repeat(20)))).await;
    let budget = Limits { processor: GENEROUS, ..Limits::default() };
    let catalogue = Catalogue::new(db, Settings { budget, ..Settings::new("test", "http://test") });
    // Each letter of a text is compared with hundreds of places in the expression.
    let hard = "(?:[a-z]?){400}[a-m][a-z]{20}[^ -~]";
    let query = format!(
        "{{ account {{ services(filter: [{{ key: name, type: matches_regex, arg: \"{hard}\" }}]) {{ totalCount }} }} }}"
    );
    let prepared = catalogue.prepare(&Request::new(query)).unwrap_or_else(|errors| panic!("{errors:?}"));
    let longest = Arc::new(Mutex::new(Duration::ZERO));
    let noted = Arc::clone(&longest);
    let others = tokio::spawn(async move {
        loop {
            let began = Instant::now();
            tokio::time::sleep(Duration::from_millis(1)).await;
            let mut longest = noted.lock().expect("a lock");
            *longest = longest.max(began.elapsed());
        }
    });
    let caller = Caller::command_line();
    let began = Instant::now();
    let answer = catalogue.execute(&prepared, &caller, "the-request", None).await.expect("an answer");
    let (took, waited) = (began.elapsed(), *longest.lock().expect("a lock"));
    others.abort();
    assert_eq!(String::from_utf8_lossy(&answer.text), r#"{"data":{"account":{"services":{"totalCount":0}}}}"#);
    assert!(waited < took / 4, "others waited {waited:?} of {took:?}");
}

#[tokio::test]
async fn the_trial_write_says_whether_writes_succeed() {
    let app = TestApp::start().await;
    app.db.try_write().await.expect("a write");
    app.db.try_write().await.expect("another");
    assert_eq!(app.db.writes_fail(), None);
    assert_eq!(app.get("/readyz").await.text(), "ok\nwrites: ok\n");
    app.db.close().await.expect("closed");
    app.db.try_write().await.expect_err("a database that is closed");
    assert_eq!(app.db.writes_fail(), Some("The database cannot be reached."));
}
