//! Transactions on SQLite that come at the same time: each succeeds or fails by itself, whatever becomes of the one
//! before it or after it.

use std::time::Duration;

use async_graphql::Request;
use futures_util::FutureExt;
use rollcall::db::{self, Db, Read, Transaction, Write};
use rollcall::entity::tier;
use rollcall::graphql::request::caller::Caller;
use rollcall::graphql::{Catalogue, Settings};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};
use serde_json::json;
use tokio::task::{JoinError, JoinHandle};

use crate::harness::app::TestApp;
use crate::harness::database::{Database, texts};

async fn start() -> (Db, Database) {
    let database = Database::new().await;
    (database.open().await, database)
}

async fn store(tx: &Transaction, name: &str) -> Result<tier::Model, db::Error> {
    let (alias, index) = (Set(name.to_owned()), Set(100 + name.len() as i32));
    tx.insert(tier::ActiveModel { name: Set(name.to_owned()), alias, index, ..Default::default() }).await
}

async fn stored(db: &Db) -> Vec<String> {
    texts(db, "SELECT name FROM tier WHERE \"index\" > 100 ORDER BY id").await
}

fn commit(db: &Db, transaction: Transaction) -> JoinHandle<Result<(), db::Error>> {
    let db = db.clone();
    tokio::spawn(async move { db.commit(transaction).await })
}

/// Begins a transaction while another one, which stores a row, has its turn. Returns the commit of that one and the new
/// one.
async fn second(db: &Db, name: &str) -> (JoinHandle<Result<(), db::Error>>, Transaction) {
    let first = db.begin_change().await.expect("a transaction");
    store(&first, name).await.expect("a row");
    let mut second = Box::pin(db.begin_change());
    assert!((&mut second).now_or_never().is_none(), "there is one at a time");
    let commit = commit(db, first);
    (commit, second.await.expect("a transaction"))
}

/// Asserts that "one" is confirmed and all that is stored, and that the next transaction is stored too.
async fn assert_only_the_first(db: &Db, first: JoinHandle<Result<(), db::Error>>) {
    first.await.expect("no panic").expect("a commit");
    assert_eq!(stored(db).await, ["one"]);
    let next = db.begin_change().await.expect("a transaction");
    store(&next, "three").await.expect("a row");
    db.commit(next).await.expect("a commit");
    assert_eq!(stored(db).await, ["one", "three"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_on_sqlite_sees_what_came_before_it_and_others_see_it_once_it_is_committed() {
    let (db, _database) = start().await;
    let (first, second) = second(&db, "one").await;
    store(&second, "three").await.expect("a row");
    let rows = || tier::Entity::find().filter(tier::Column::Index.gt(100));
    assert_eq!(second.count(rows()).await.expect("a count"), 2);
    let committed = db.committed().all(rows()).await.expect("rows");
    assert_eq!(committed.iter().map(|row| &*row.name).collect::<Vec<_>>(), ["one"]);
    db.commit(second).await.expect("a commit");
    first.await.expect("no panic").expect("a commit");
    assert_eq!(stored(&db).await, ["one", "three"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_on_sqlite_that_fails_does_not_touch_the_one_before_it() {
    let (db, _database) = start().await;
    let (first, second) = second(&db, "one").await;
    store(&second, "three").await.expect("a row");
    store(&second, "one").await.expect_err("the alias is taken");
    db.roll_back(second).await.expect("it is rolled back");
    assert_only_the_first(&db, first).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn if_sqlite_rolls_a_transaction_back_by_itself_nothing_of_it_is_stored_or_confirmed() {
    let (db, _database) = start().await;
    let (first, second) = second(&db, "one").await;
    // As it does when the disk is full.
    second.script("ROLLBACK").await.expect("it is rolled back");
    store(&second, "three").await.expect_err("what came later would be stored alone");
    db.commit(second).await.expect_err("nothing is left of it");
    assert_only_the_first(&db, first).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn if_a_transaction_on_sqlite_panics_the_one_before_it_is_stored_and_the_next_one_can_write() {
    let (db, _database) = start().await;
    let (first, second) = second(&db, "one").await;
    let panics = tokio::spawn(async move {
        let row = store(&second, "three").await;
        panic!("with a transaction: {row:?}");
    });
    assert!(panics.await.is_err_and(|ended: JoinError| ended.is_panic()));
    assert_only_the_first(&db, first).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_gives_up_its_turn_to_write_on_sqlite_keeps_nobody_waiting() {
    let (db, _database) = start().await;
    let first = db.begin_change().await.expect("a transaction");
    store(&first, "one").await.expect("a row");
    let mut gone = Box::pin(db.begin_change());
    assert!((&mut gone).now_or_never().is_none());
    let mut last = Box::pin(db.begin_change());
    assert!((&mut last).now_or_never().is_none());
    drop(gone);
    let first = commit(&db, first);
    let last = tokio::time::timeout(Duration::from_secs(10), last).await.expect("in time").expect("a transaction");
    drop(last);
    assert_only_the_first(&db, first).await;
}

/// Runs a mutation, and returns its payload.
async fn mutate(catalogue: &Catalogue, mutation: &str) -> serde_json::Value {
    let prepared = catalogue.prepare(&Request::new(format!("mutation {{ {mutation} }}"))).expect("it is valid");
    let caller = Caller::command_line();
    let response = catalogue.execute(&prepared, &caller, "a test", None).await.expect("a response");
    let mut response: serde_json::Value = serde_json::from_slice(&response.text).expect("JSON");
    let data = response["data"].as_object_mut().and_then(|data| data.values_mut().next());
    data.expect("a payload").take()
}

/// The mutation that gives a service the alias `wanted`.
fn wanted(service: &str) -> String {
    format!("aliasCreate(input: {{ ownerId: \"{service}\", alias: \"wanted\" }}) {{ errors {{ message }} }}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mutation_on_sqlite_is_not_refused_because_of_a_change_that_is_never_committed() {
    let (db, _database) = start().await;
    let catalogue = Catalogue::new(db.clone(), Settings::new("Test", "http://localhost"));
    let made = mutate(&catalogue, "serviceCreate(input: { name: \"Cart\" }) { service { id } }").await;
    let id = made["service"]["id"].as_str().expect("an id");
    // Its alias belongs to a service that does not exist, for which its commit fails.
    let first = db.begin_change().await.expect("a transaction");
    first.script("PRAGMA defer_foreign_keys = ON").await.expect("set");
    let alias = "INSERT INTO service_alias (service_id, value, kind) VALUES (0, 'wanted', 'managed')";
    first.script(alias).await.expect("a row");

    let wanted = wanted(id);
    let mut second = Box::pin(mutate(&catalogue, &wanted));
    assert!((&mut second).now_or_never().is_none(), "it waits for its turn");
    let first = commit(&db, first);
    assert_eq!(second.await, json!({ "errors": [] }));
    first.await.expect("no panic").expect_err("it is not stored");
    let owners = "SELECT name FROM service_alias JOIN service ON service.id = service_id WHERE value = 'wanted'";
    assert_eq!(texts(&db, owners).await, ["Cart"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mutation_on_sqlite_is_refused_because_of_a_change_that_is_committed_before_it() {
    let (db, _database) = start().await;
    let catalogue = Catalogue::new(db.clone(), Settings::new("Test", "http://localhost"));
    let create = |name: &str| format!("serviceCreate(input: {{ name: \"{name}\" }}) {{ service {{ id }} }}");
    mutate(&catalogue, &create("Till")).await;
    let made = mutate(&catalogue, &create("Cart")).await;
    let id = made["service"]["id"].as_str().expect("an id");
    let first = db.begin_change().await.expect("a transaction");
    let alias = "INSERT INTO service_alias (service_id, value, kind) VALUES (1, 'wanted', 'managed')";
    first.script(alias).await.expect("a row");

    let wanted = wanted(id);
    let mut second = Box::pin(mutate(&catalogue, &wanted));
    assert!((&mut second).now_or_never().is_none(), "it waits for its turn");
    let first = commit(&db, first);
    let message = "another service has the alias \"wanted\"";
    assert_eq!(second.await, json!({ "errors": [{ "message": message }] }));
    first.await.expect("no panic").expect("a commit");
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_has_ended_on_sqlite_is_stored_when_the_database_is_closed() {
    let (db, database) = start().await;
    let (first, second) = second(&db, "one").await;
    let closing = tokio::spawn({
        let db = db.clone();
        async move { db.close().await }
    });
    store(&second, "three").await.expect("a row");
    db.commit(second).await.expect("a commit");
    first.await.expect("no panic").expect("a commit");
    closing.await.expect("no panic").expect("closed");
    assert_eq!(stored(&database.open().await).await, ["one", "three"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_of_mutations_that_come_at_the_same_time_says_what_each_has_changed() {
    let app = TestApp::with(&["--token-limit", "0", "--ip-limit", "0"]).await;
    let create = "mutation { serviceCreate(input: { name: \"cart\" }) { errors { message } } }";
    app.query(create, json!({})).await;
    let assign = "mutation($value: String!) { tagAssign(input: { alias: \"cart\", tags: { key: \"k\", value: $value } }) \
                  { errors { message } } }";
    let sent: Vec<String> = (0..64).map(|number| number.to_string()).collect();
    let answers = sent.iter().map(|value| app.query(assign, json!({ "value": value })));
    for answer in futures_util::future::join_all(answers).await {
        assert_eq!(answer, json!({ "data": { "tagAssign": { "errors": [] } } }));
    }
    let details = texts(&app.db, "SELECT detail FROM audit WHERE action = 'tagAssign' ORDER BY id").await;
    assert_eq!(details.len(), sent.len());
    let mut value = serde_json::Value::Null;
    for detail in details {
        let detail: serde_json::Value = serde_json::from_str(&detail).expect("JSON");
        let changed = &detail["changed"]["tags.k"];
        assert_eq!(changed["old"], value, "{detail}");
        value = changed["new"].clone();
    }
}
