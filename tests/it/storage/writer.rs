//! Who waits for whom to write: long work neither holds the writer nor locks rows before it knows what to write.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::{join, join_all};
use rollcall::db::{MOST_AT_ONCE, Write};
use rollcall::entity::user::Role;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::database::texts;
use crate::harness::webhook::Endpoint;

const APPLY: &str = "mutation($text: String!, $dry: Boolean) {
    apply: serviceFilesApply(input: { files: { path: \"f.yml\", text: $text }, dryRun: $dry }) {
        documents { name outcome changes { field after } } errors { message }
    }
}";

/// Nobody else gets to write for longer than this.
const PATIENCE: Duration = Duration::from_secs(20);

/// The answer to a request that is sent while a transaction has locked all services, and on SQLite the writer.
async fn while_another_writes(app: &TestApp, send: impl Future<Output = Value>) -> Value {
    let transaction = app.db.begin_write().await.expect("a transaction");
    transaction.script("UPDATE service SET framework = 'locked'").await.expect("a change");
    let answer = tokio::time::timeout(PATIENCE, send).await.expect("it waits for nobody");
    app.db.roll_back(transaction).await.expect("a rollback");
    answer
}

#[tokio::test]
async fn a_dry_run_waits_for_nobody_and_says_what_would_happen() {
    let app = TestApp::start().await;
    data(&app, r#"mutation { serviceCreate(input: { name: "Cart" }) { errors { message } } }"#).await;
    let text = "version: 1\nservice:\n  name: Cart\n  language: Rust\n---\nversion: 1\nservice:\n  name: Mail\n";
    let dry = app.query(APPLY, json!({ "text": text, "dry": true }));
    let answer = while_another_writes(&app, dry).await;
    let expected = json!([
        { "name": "cart", "outcome": "updated", "changes": [{ "field": "language", "after": "Rust" }] },
        {
            "name": "mail", "outcome": "created",
            "changes": [{ "field": "aliases", "after": "Mail, mail" }, { "field": "name", "after": "Mail" }],
        },
    ]);
    let documents = &answer["data"]["apply"]["documents"];
    let without_lock = |document: &Value| {
        let mut document = document.clone();
        let changes = document["changes"].as_array_mut().expect("changes");
        changes.retain(|change| ["language", "aliases", "name"].contains(&change["field"].as_str().expect("a name")));
        document
    };
    let documents: Vec<Value> = documents.as_array().expect("documents").iter().map(without_lock).collect();
    assert_eq!(json!(documents), expected, "{answer}");
}

#[tokio::test]
async fn who_may_not_and_what_has_mistakes_is_refused_before_anything_is_locked() {
    let app = TestApp::start().await;
    let member = Browser::of(&app, Role::TeamMember).await;
    let made = r#"mutation {
        other: teamCreate(input: { name: "Other" }) { errors { message } }
        mail: serviceCreate(input: { name: "Mail", ownerInput: { alias: "other" } }) { errors { message } }
    }"#;
    data(&app, made).await;
    // The first request of a session notes when it was used.
    member.query("{ account { id } }", json!({})).await;
    let not_own = "the service \"mail\": you can change only your own teams and what they own; this would change what the team \
                   \"Other\" owns";
    let text = "version: 1\nservice:\n  name: Mail\n  language: Rust\n";
    for is_dry_run in [true, false] {
        let sent = member.query(APPLY, json!({ "text": text, "dry": is_dry_run }));
        let answer = while_another_writes(&app, sent).await;
        assert_eq!(answer["data"]["apply"]["errors"], json!([{ "message": not_own }]), "{answer}");
    }
    for (text, mistake) in [
        ("version: 1\nservice:\n  name: Mail\n  owner: nobody\n", "no team has the alias \"nobody\""),
        ("version: 1\nservice:\n  name: Mail\n  tier: nothing\n", "no tier has the alias \"nothing\""),
        ("version: 1\nservice:\n  name: Mail\n  lifecycle: nothing\n", "no lifecycle has the alias \"nothing\""),
        ("version: 1\nservice:\n  name: Mail\n  repositories: [github.com:a/b]\n", "no repository has the alias"),
        ("version: 1\nservice:\n  name: Mail\n  properties: { size: 1 }\n", "no property definition has the alias"),
        ("version: 1\nservice: { name: Mail }\n---\nversion: 1\nservice: { name: Mail }\n", "of another document"),
    ] {
        let answer = while_another_writes(&app, app.query(APPLY, json!({ "text": text }))).await;
        let message = answer["data"]["apply"]["errors"][0]["message"].as_str().unwrap_or_default();
        assert!(message.contains(mistake), "{answer}");
    }
}

#[tokio::test]
async fn a_schema_that_is_none_is_refused_before_anything_is_locked() {
    let app = TestApp::start().await;
    data(&app, "{ account { id } }").await;
    let service = "propertyDefinitionCreate(input: { name: \"A\", schema: $schema })";
    let team = "teamPropertyDefinitionCreate(input: {
        name: \"A\", alias: \"a\", description: \"\", schema: $schema
    })";
    for (mutation, schema) in [
        (service, json!({ "type": "string", "pattern": "(" })),
        (service, json!({ "$ref": "https://example.com/other.json" })),
        (team, json!({ "type": 1 })),
        (team, json!({ "required": "name" })),
    ] {
        let mutation = format!("mutation($schema: JSONSchema!) {{ made: {mutation} {{ errors {{ path }} }} }}");
        let sent = app.query(&mutation, json!({ "schema": schema }));
        let answer = while_another_writes(&app, sent).await;
        assert_eq!(answer["data"]["made"]["errors"], json!([{ "path": ["schema"] }]), "{answer}");
    }
}

/// A schema whose patterns take long to match, and a file of services that have a value for it.
fn heavy(services: usize) -> (Value, String) {
    let patterns: Vec<Value> =
        (0..10).map(|number| json!({ "pattern": format!("(a?){{{0}}}a{{{0}}}b?$", 40 + number) })).collect();
    let value = "a".repeat(110);
    let one =
        |number: usize| format!("version: 1\nservice:\n  name: Other {number}\n  properties:\n    heavy: {value}\n");
    (json!({ "allOf": patterns }), (0..services).map(one).collect::<Vec<_>>().join("---\n"))
}

#[tokio::test(flavor = "multi_thread")]
async fn four_dry_runs_in_a_loop_delay_neither_mutations_nor_deploys() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let member = Browser::of(app, Role::TeamMember).await;
    let (schema, text) = heavy(1_000);
    assert!((150_000..220_000).contains(&text.len()), "{}", text.len());
    let define = "mutation($schema: JSONSchema!) {
        propertyDefinitionCreate(input: { name: \"heavy\", schema: $schema }) { errors { message } }
    }";
    let defined = app.query(define, json!({ "schema": schema })).await;
    assert_eq!(defined["data"]["propertyDefinitionCreate"]["errors"], json!([]), "{defined}");
    endpoint.create_service("Other 1").await;
    let is_over = AtomicBool::new(false);
    let attack = join_all((0..4).map(|_| async {
        let mut answers = 0;
        while !is_over.load(Ordering::Relaxed) {
            let answer = member.query(APPLY, json!({ "text": text, "dry": true })).await;
            let payload = &answer["data"]["apply"];
            assert!(payload.is_null() || payload["errors"] != json!([]), "{answer}");
            answers += 1;
        }
        answers
    }));
    let others = async {
        let mut slowest = [Duration::ZERO; 2];
        for number in 0..30 {
            let began = Instant::now();
            let assign = format!(
                r#"mutation {{ tagAssign(input: {{ alias: "other_1", tags: {{ key: "n", value: "{number}" }} }}) {{ errors {{ message }} }} }}"#
            );
            let answer = app.query(&assign, json!({})).await;
            assert_eq!(answer["data"]["tagAssign"]["errors"], json!([]), "{answer}");
            slowest[0] = slowest[0].max(began.elapsed());
            let began = Instant::now();
            assert_eq!(endpoint.post_with(json!({ "service": "other_1" })).await.status, 202);
            slowest[1] = slowest[1].max(began.elapsed());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        is_over.store(true, Ordering::Relaxed);
        slowest
    };
    let (answers, slowest) = join(attack, others).await;
    assert!(answers.iter().all(|answers| *answers > 0), "{answers:?}");
    // Without anything beside them they take milliseconds. Held up by one dry run they took several seconds.
    assert!(slowest.iter().all(|slowest| *slowest < Duration::from_secs(2)), "{slowest:?}");
}

/// How many transactions commit while something is sent, at least. Each waits for the writer, or for the row.
async fn commits_beside(app: &TestApp, send: impl Future<Output = Value>) -> (Value, usize) {
    let is_over = AtomicBool::new(false);
    let sent = async {
        let answer = send.await;
        is_over.store(true, Ordering::Relaxed);
        answer
    };
    let others = async {
        let mut commits = 0;
        while !is_over.load(Ordering::Relaxed) {
            let tier = format!(
                r#"mutation {{ tierCreate(input: {{ name: "{commits}", alias: "t{commits}" }}) {{ errors {{ message }} }} }}"#
            );
            app.query(&tier, json!({})).await;
            commits += 1;
        }
        commits
    };
    join(sent, others).await
}

#[tokio::test]
async fn what_very_many_rows_refer_to_is_deleted_in_portions_between_which_others_write() {
    let app = TestApp::with(&["--token-limit", "0", "--ip-limit", "0"]).await;
    let made = r#"mutation {
        many: teamCreate(input: { name: "Many" }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart", ownerInput: { alias: "many" } }) { service { id } errors { message } }
    }"#;
    let cart = data(&app, made).await["cart"]["service"]["id"].clone();
    let rows = MOST_AT_ONCE * 3;
    app.db
        .write(async |tx| {
            tx.script(&format!(
                "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {rows}) \
                 INSERT INTO tag (service_id, key, value) SELECT (SELECT MAX(id) FROM service), 'k' || n, 'v' FROM n"
            ))
            .await
        })
        .await
        .expect("tags");
    let delete = "mutation($id: ID!) { serviceDelete(input: { id: $id }) { deletedServiceId errors { message } } }";
    let (answer, commits) = commits_beside(&app, app.query(delete, json!({ "id": cart }))).await;
    assert_eq!(answer["data"]["serviceDelete"], json!({ "deletedServiceId": cart, "errors": [] }), "{answer}");
    assert!(commits > 3, "{commits}");
    let left = texts(&app.db, "SELECT CAST(COUNT(*) AS TEXT) FROM tag").await;
    assert_eq!(left, ["0"]);
}

#[tokio::test]
async fn nothing_is_shed_of_what_may_not_be_deleted() {
    let app = TestApp::start().await;
    let member = Browser::of(&app, Role::TeamMember).await;
    let made = r#"mutation { cart: serviceCreate(input: { name: "Cart" }) { service { id } errors { message } } }"#;
    let cart = data(&app, made).await["cart"]["service"]["id"].clone();
    let rows = MOST_AT_ONCE + 1;
    app.db
        .write(async |tx| {
            tx.script(&format!(
                "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {rows}) \
                 INSERT INTO tag (service_id, key, value) SELECT (SELECT MAX(id) FROM service), 'k' || n, 'v' FROM n"
            ))
            .await
        })
        .await
        .expect("tags");
    let delete = "mutation($id: ID!) { serviceDelete(input: { id: $id }) { errors { message } } }";
    let answer = member.query(delete, json!({ "id": cart })).await;
    let not_own = "you can change only your own teams and what they own; this would change what no team owns";
    assert_eq!(answer["data"]["serviceDelete"]["errors"], json!([{ "message": not_own }]), "{answer}");
    crate::harness::services::lock(&app, "Cart").await;
    let answer = app.query(delete, json!({ "id": cart })).await;
    assert_ne!(answer["data"]["serviceDelete"]["errors"], json!([]), "{answer}");
    let left = texts(&app.db, "SELECT CAST(COUNT(*) AS TEXT) FROM tag").await;
    assert_eq!(left, [rows.to_string()]);
}
