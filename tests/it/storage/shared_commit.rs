//! Transactions on SQLite that share a commit: each succeeds or fails by itself, and none is answered before all are
//! stored.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_graphql::Request;
use futures_util::FutureExt;
use rollcall::db::{self, Db, Read, Transaction, Write};
use rollcall::entity::{tag, tier};
use rollcall::graphql::request::caller::Caller;
use rollcall::graphql::request::places::CHANGES_SHARE;
use rollcall::graphql::{Catalogue, Settings};
use sea_orm::{EntityTrait, QuerySelect, Set};
use serde_json::json;

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

/// Begins a transaction while another one waits for its turn, ends the first, and returns the commit that it waits for
/// and the second one.
async fn joined(db: &Db, name: &str) -> (tokio::task::JoinHandle<Result<(), db::Error>>, Transaction) {
    let first = db.begin_change(true).await.expect("a transaction");
    store(&first, name).await.expect("a row");
    let mut second = Box::pin(db.begin_change(true));
    assert!((&mut second).now_or_never().is_none(), "there is one at a time");
    let committer = db.clone();
    let commit = tokio::spawn(async move { committer.commit(first).await });
    let second = second.await.expect("a transaction");
    assert!(second.is_joined());
    (commit, second)
}

/// Asserts that a commit has lost a race, that nothing is stored, and that the next transaction is.
async fn assert_lost(db: &Db, commit: tokio::task::JoinHandle<Result<(), db::Error>>) {
    let lost = commit.await.expect("no panic").expect_err("it is not stored");
    assert!(lost.is_lost_race(), "{lost}");
    assert_eq!(stored(db).await, [""; 0]);
    let next = db.begin_change(true).await.expect("a transaction");
    store(&next, "three").await.expect("a row");
    db.commit(next).await.expect("a commit");
    assert_eq!(stored(db).await, ["three"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn transactions_on_sqlite_that_wait_for_their_turn_share_a_commit() {
    let (db, _database) = start().await;
    let (commit, second) = joined(&db, "one").await;
    store(&second, "three").await.expect("a row");
    assert_eq!(stored(&db).await, [""; 0], "nobody sees it yet");
    assert!(!commit.is_finished(), "nor is it confirmed");
    db.commit(second).await.expect("a commit");
    commit.await.expect("no panic").expect("a commit");
    assert_eq!(stored(&db).await, ["one", "three"]);
    let alone = db.begin_change(true).await.expect("a transaction");
    assert!(!alone.is_joined(), "nobody came before it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_on_sqlite_that_fails_does_not_touch_those_that_share_its_commit() {
    let (db, _database) = start().await;
    let (commit, second) = joined(&db, "one").await;
    store(&second, "three").await.expect("a row");
    store(&second, "one").await.expect_err("the alias is taken");
    db.roll_back(second).await.expect("it is rolled back");
    commit.await.expect("no panic").expect("a commit");
    assert_eq!(stored(&db).await, ["one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn if_sqlite_rolls_a_transaction_back_by_itself_all_that_share_its_commit_are_tried_again() {
    let (db, _database) = start().await;
    let (commit, second) = joined(&db, "one").await;
    // As it does when the disk is full.
    second.script("ROLLBACK").await.expect("it is rolled back");
    store(&second, "three").await.expect_err("what came later would be stored alone");
    db.roll_back(second).await.expect("it is rolled back");
    assert_lost(&db, commit).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn if_a_transaction_on_sqlite_panics_those_that_share_its_commit_are_tried_again() {
    let (db, _database) = start().await;
    let (commit, second) = joined(&db, "one").await;
    let panics = tokio::spawn(async move {
        let row = store(&second, "three").await;
        panic!("with a transaction: {row:?}");
    });
    assert!(panics.await.is_err_and(|ended: tokio::task::JoinError| ended.is_panic()));
    assert_lost(&db, commit).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_on_sqlite_waits_only_for_those_who_are_there() {
    let (db, _database) = start().await;
    let first = db.begin_change(true).await.expect("a transaction");
    store(&first, "one").await.expect("a row");
    let mut gone = Box::pin(db.begin_change(true));
    assert!((&mut gone).now_or_never().is_none());
    let mut commit = Box::pin(db.commit(first));
    assert!((&mut commit).now_or_never().is_none(), "the other one may join");
    drop(gone);
    tokio::time::timeout(Duration::from_secs(10), commit).await.expect("in time").expect("a commit");
    assert_eq!(stored(&db).await, ["one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_on_sqlite_that_reads_committed_data_has_a_commit_of_its_own() {
    let (db, _database) = start().await;
    let (commit, second) = joined(&db, "one").await;
    let rows = tier::Entity::find().limit(1);
    let refused = db.committed(&second).all(rows.clone()).await.expect_err("it would miss what came before");
    assert!(refused.needs_own_commit() && refused.is_lost_race(), "{refused}");
    // Whoever does not share its commit ends that of the others first.
    let mut own = Box::pin(db.begin_write());
    assert!((&mut own).now_or_never().is_none());
    let second_commit = tokio::spawn({
        let db = db.clone();
        async move { db.commit(second).await }
    });
    let own = own.await.expect("a transaction");
    assert!(!own.is_joined());
    db.committed(&own).all(rows).await.expect("rows");
    for commit in [commit, second_commit] {
        commit.await.expect("no panic").expect("a commit");
    }
    assert_eq!(stored(&db).await, ["one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_on_sqlite_that_does_not_share_its_commit_never_loses_a_race() {
    let (db, _database) = start().await;
    let first = db.begin_write().await.expect("a transaction");
    store(&first, "one").await.expect("a row");
    let mut second = Box::pin(db.begin_change(true));
    assert!((&mut second).now_or_never().is_none(), "there is one at a time");
    let commit = tokio::spawn({
        let db = db.clone();
        async move { db.commit(first).await }
    });
    let second = second.await.expect("a transaction");
    assert!(!second.is_joined());
    // As it does when the disk is full.
    second.script("ROLLBACK").await.expect("it is rolled back");
    drop(second);
    commit.await.expect("no panic").expect("a commit");
    assert_eq!(stored(&db).await, ["one"]);
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
    let first = db.begin_change(true).await.expect("a transaction");
    first.script("PRAGMA defer_foreign_keys = ON").await.expect("set");
    let alias = "INSERT INTO service_alias (service_id, value, kind) VALUES (0, 'wanted', 'managed')";
    first.script(alias).await.expect("a row");

    let wanted = wanted(id);
    let mut second = Box::pin(mutate(&catalogue, &wanted));
    assert!((&mut second).now_or_never().is_none(), "it waits for its turn");
    let commit = tokio::spawn({
        let db = db.clone();
        async move { db.commit(first).await }
    });
    assert_eq!(second.await, json!({ "errors": [] }));
    commit.await.expect("no panic").expect_err("it is not stored");
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
    let first = db.begin_change(true).await.expect("a transaction");
    let alias = "INSERT INTO service_alias (service_id, value, kind) VALUES (1, 'wanted', 'managed')";
    first.script(alias).await.expect("a row");

    let wanted = wanted(id);
    let mut second = Box::pin(mutate(&catalogue, &wanted));
    assert!((&mut second).now_or_never().is_none(), "it waits for its turn");
    let commit = tokio::spawn({
        let db = db.clone();
        async move { db.commit(first).await }
    });
    let message = "another service has the alias \"wanted\"";
    assert_eq!(second.await, json!({ "errors": [{ "message": message }] }));
    commit.await.expect("no panic").expect("a commit");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mutation_on_sqlite_that_waits_for_its_commit_leaves_its_place_to_others() {
    let (db, _database) = start().await;
    let catalogue = Catalogue::new(db.clone(), Settings::new("Test", "http://localhost"));
    mutate(&catalogue, "serviceCreate(input: { name: \"cart\" }) { service { id } }").await;
    let first = db.begin_change(true).await.expect("a transaction");
    let assign = |number: usize| {
        let catalogue = catalogue.clone();
        let tags = format!("tagAssign(input: {{ alias: \"cart\", tags: {{ key: \"k{number}\", value: \"v\" }} }})");
        Box::pin(async move { mutate(&catalogue, &format!("{tags} {{ errors {{ message }} }}")).await })
    };
    let mut answers = Vec::new();
    for number in 0..CHANGES_SHARE {
        let mut mutation = assign(number);
        assert!((&mut mutation).now_or_never().is_none(), "it waits for its turn");
        answers.push(tokio::spawn(mutation));
    }
    let mut one_more = assign(CHANGES_SHARE);
    assert!((&mut one_more).now_or_never().is_none(), "it waits for a place");
    let mut later = Box::pin(db.begin_change(true));
    assert!((&mut later).now_or_never().is_none());
    let mut commits = vec![tokio::spawn(commit(&db, first))];
    let later = later.await.expect("a transaction");

    // All before it have written, and wait for the commit. One more has a place, and waits for its turn.
    assert!((&mut one_more).now_or_never().is_none());
    let mut last = Box::pin(db.begin_change(true));
    assert!((&mut last).now_or_never().is_none());
    commits.push(tokio::spawn(commit(&db, later)));
    answers.push(tokio::spawn(one_more));
    let last = last.await.expect("a transaction");
    assert!(last.is_joined());
    assert_eq!(last.all(tag::Entity::find()).await.expect("tags").len(), CHANGES_SHARE + 1);
    commits.push(tokio::spawn(commit(&db, last)));
    for answer in answers {
        assert_eq!(answer.await.expect("no panic"), json!({ "errors": [] }));
    }
    for commit in commits {
        commit.await.expect("no panic").expect("a commit");
    }
}

fn commit(db: &Db, transaction: Transaction) -> impl Future<Output = Result<(), db::Error>> + use<> {
    let db = db.clone();
    async move { db.commit(transaction).await }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mutation_on_sqlite_that_changes_many_rows_runs_once_beside_others() {
    let database = Database::new().await;
    let mut db = database.open().await;
    let count = Arc::new(AtomicUsize::new(0));
    let own = Arc::clone(&count);
    db.observe(move |info| {
        if ["UPDATE", "INSERT"].iter().any(|word| info.statement.sql.starts_with(word)) {
            own.fetch_add(1, Ordering::Relaxed);
        }
    });
    let catalogue = Catalogue::new(db.clone(), Settings::new("Test", "http://localhost"));
    for number in 0..70 {
        mutate(&catalogue, &format!("serviceCreate(input: {{ name: \"d{number}\" }}) {{ service {{ id }} }}")).await;
    }
    let services: String = (0..70).map(|number| format!("{{ alias: \"d{number}\" }} ")).collect();
    let update = |tier: i32| {
        format!(
            "servicesUpdate(input: {{ services: [{services}], tierAlias: \"tier_{tier}\" }}) {{ errors {{ message }} }}"
        )
    };
    let assign = |value: i32| {
        let tags: String = (0..70).map(|key| format!("{{ key: \"k{key}\", value: \"{value}\" }} ")).collect();
        format!("tagAssign(input: {{ alias: \"d0\", tags: [{tags}] }}) {{ errors {{ message }} }}")
    };
    let apply = |version: i32| {
        let category = |number: i32| format!("    - {{ name: c{number}, description: v{version} }}\n");
        let categories: String = (0..70).map(category).collect();
        let text = json!(format!("version: 1\nstandards:\n  categories:\n{categories}"));
        format!("standardsApply(input: {{ files: [{{ path: \"a.yml\", text: {text} }}] }}) {{ errors {{ message }} }}")
    };
    let mutations: [&dyn Fn(i32) -> String; 3] = [&update, &assign, &apply];
    for (place, mutation) in mutations.into_iter().enumerate() {
        let none = json!({ "errors": [] });
        assert_eq!(mutate(&catalogue, &mutation(1)).await, none);
        count.store(0, Ordering::Relaxed);
        assert_eq!(mutate(&catalogue, &mutation(2)).await, none);
        let alone = count.load(Ordering::Relaxed);
        assert!(alone >= 2, "{place}: {alone}");

        let first = db.begin_change(true).await.expect("a transaction");
        store(&first, &"x".repeat(place + 1)).await.expect("a row");
        count.store(0, Ordering::Relaxed);
        let text = mutation(3);
        let mut second = Box::pin(mutate(&catalogue, &text));
        assert!((&mut second).now_or_never().is_none(), "it waits for its turn");
        let first = tokio::spawn(commit(&db, first));
        assert_eq!(second.await, none);
        first.await.expect("no panic").expect("a commit");
        assert_eq!(count.load(Ordering::Relaxed), alone, "{place}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_has_ended_on_sqlite_is_stored_when_the_database_is_closed() {
    let (db, database) = start().await;
    let (commit, second) = joined(&db, "one").await;
    let closing = tokio::spawn({
        let db = db.clone();
        async move { db.close().await }
    });
    store(&second, "three").await.expect("a row");
    db.commit(second).await.expect("a commit");
    commit.await.expect("no panic").expect("a commit");
    closing.await.expect("no panic").expect("closed");
    assert_eq!(stored(&database.open().await).await, ["one", "three"]);
}

/// On PostgreSQL each has a commit of its own.
#[tokio::test(flavor = "multi_thread")]
async fn the_audit_of_mutations_that_share_a_commit_says_what_each_has_changed() {
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
