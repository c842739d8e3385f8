//! Requests that are sent again with the same `Idempotency-Key`.

use async_graphql::Request;
use futures_util::FutureExt;
use futures_util::future::join_all;
use rollcall::db::{Read, Transaction, Write};
use rollcall::entity::audit::Actor;
use rollcall::entity::idempotency_key::{self, Column, Entity};
use rollcall::entity::token::Scope;
use rollcall::entity::user::Role;
use rollcall::entity::{Timestamp, token};
use rollcall::graphql::request::caller::Caller;
use rollcall::graphql::request::idempotency::{CLAIM_TIMEOUT, Claimed, Key};
use rollcall::graphql::request::places::CHANGES_SHARE;
use rollcall::graphql::{Catalogue, Settings};
use rollcall::retention;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};
use serde_json::{Value, json};

use crate::harness::app::{Response, TestApp};
use crate::harness::browser::Browser;
use crate::harness::database::Database;

const CREATE: &str = "mutation($name: String!, $note: String) {
    serviceCreate(input: { name: $name, description: $note }) { service { id alias: aliases } errors { message } }
}";

/// Posts with the token of the app and a key.
async fn post(app: &TestApp, key: &str, query: &str, variables: Value) -> Response {
    let token = format!("Bearer {}", app.token);
    app.post_with(query, variables, &[("authorization", &token), ("idempotency-key", key)]).await
}

async fn services(app: &TestApp) -> Value {
    app.query("{ account { services { totalCount } } }", json!({})).await["data"]["account"]["services"]["totalCount"]
        .take()
}

/// Lets all claims begin so long ago that their requests are believed dead.
async fn age(app: &TestApp) {
    let long_ago = Timestamp::from_micros(Timestamp::now().as_micros() - 2 * CLAIM_TIMEOUT.as_micros() as i64);
    let update = Entity::update_many().col_expr(Column::CreatedAt, Expr::value(long_ago));
    app.db.write(async |tx| tx.exec(update.clone()).await).await.expect("older claims");
}

#[tokio::test]
async fn a_repeated_request_runs_once_and_gets_the_same_response() {
    let app = TestApp::start().await;
    let first = post(&app, "\"one\"", CREATE, json!({ "name": "Billing" })).await;
    assert_eq!((first.status, first.header("idempotency-replayed")), (200, None));
    assert_eq!(first.json()["data"]["serviceCreate"]["errors"], json!([]), "{:?}", first.json());
    for key in ["\"one\"", "one"] {
        let again = post(&app, key, CREATE, json!({ "name": "Billing" })).await;
        assert_eq!((again.status, again.header("idempotency-replayed")), (200, Some("true")));
        assert_eq!(again.body, first.body);
    }
    let other = post(&app, "one", CREATE, json!({ "name": "Search" })).await;
    assert_eq!((other.status, &*other.code()), (422, "BAD_USER_INPUT"));
    // The key of another token is another key.
    let token = format!("Bearer {}", app.new_token(Scope::Write, None).await);
    let headers = [("authorization", &*token), ("idempotency-key", "one")];
    let others = app.post_with(CREATE, json!({ "name": "Billing" }), &headers).await;
    assert_eq!((others.status, others.header("idempotency-replayed")), (200, None));
    // A query has no use for a key.
    assert_eq!(post(&app, "one", "{ account { id } }", json!({})).await.status, 200);
    assert_eq!(services(&app).await, 2);
}

#[tokio::test]
async fn of_many_concurrent_repetitions_of_a_request_one_runs() {
    let app = TestApp::start().await;
    let answers = join_all((0..16).map(|_| post(&app, "same", CREATE, json!({ "name": "Billing" })))).await;
    for answer in &answers {
        let retry = answer.header("retry-after");
        assert!(matches!((answer.status, retry), (200, None) | (409, Some("1"))), "{answer:?}");
    }
    let fresh = |answer: &&Response| answer.status == 200 && answer.header("idempotency-replayed").is_none();
    assert_eq!(answers.iter().filter(fresh).count(), 1);
    assert_eq!(services(&app).await, 1);
}

#[tokio::test]
async fn a_request_takes_its_place_before_it_claims_a_key() {
    let database = Database::new().await;
    let db = database.open().await;
    let create = async |tx: &Transaction| {
        token::create(tx, &Actor::command_line(), "a test", Scope::Write, None, Timestamp::now()).await
    };
    db.write(create).await.expect("a token");
    let token = db.read().one(token::Entity::find()).await.expect("a database").expect("a token");
    let (catalogue, caller) = (Catalogue::new(db, Settings::new("Test", "http://localhost")), Caller::token(&token));
    let prepared = catalogue.prepare(&Request::new(CREATE.replace("$name: String!", "$name: String! = \"A\"")));
    let prepared = prepared.expect("it is valid");
    let claim = |number: usize| catalogue.claim(&caller, Key { key: [number as u8; 32], request: [0; 32] }, &prepared);
    let mut held = Vec::new();
    for number in 0..CHANGES_SHARE {
        held.push(claim(number).await.expect("a database"));
    }
    assert!(held.iter().all(|claimed| matches!(claimed, Claimed::New(_))), "{held:?}");
    let mut one_more = Box::pin(claim(CHANGES_SHARE));
    assert!((&mut one_more).now_or_never().is_none(), "it waits for a place");
    held.pop();
    assert!(matches!(one_more.await, Ok(Claimed::New(_))));
}

#[tokio::test]
async fn the_idempotency_key_of_a_request_that_changed_nothing_can_be_reused() {
    let app = TestApp::start().await;
    let refused = post(&app, "free", CREATE, json!({ "name": "" })).await;
    assert_eq!(refused.json()["data"]["serviceCreate"]["service"], Value::Null);
    let done = post(&app, "free", CREATE, json!({ "name": "Billing" })).await;
    assert_eq!((done.status, done.header("idempotency-replayed")), (200, None));
    // The second mutation fails. The first was carried out, so neither runs again.
    let both = "mutation { a: serviceCreate(input: { name: \"A\" }) { errors { message } }
                b: serviceCreate(input: { name: \"\" }) { errors { message } } }";
    let first = post(&app, "both", both, json!({})).await;
    let again = post(&app, "both", both, json!({})).await;
    assert_eq!((again.header("idempotency-replayed"), &again.body), (Some("true"), &first.body));
    assert_eq!(services(&app).await, 2);
}

#[tokio::test]
async fn a_request_whose_process_died_runs_again_unless_it_has_changed_something() {
    let app = TestApp::start().await;
    let claim = async |changed: i32| {
        let row = app.db.write(async |tx| {
            let token = tx.one(token::Entity::find()).await?.expect("a token");
            let update = Entity::update_many()
                .col_expr(Column::HasEnded, Expr::value(false))
                .col_expr(Column::Mutations, Expr::value(changed))
                .col_expr(Column::Answer, Expr::value(Option::<String>::None));
            tx.exec(update.filter(Column::TokenId.eq(token.id))).await
        });
        assert!(row.await.expect("rows") > 0);
    };
    let repeat = async || post(&app, "died", CREATE, json!({ "name": "Billing" })).await;
    assert_eq!(repeat().await.status, 200);
    claim(1).await;
    let running = repeat().await;
    assert_eq!((running.status, running.header("retry-after"), &*running.code()), (409, Some("1"), "CONFLICT"));
    age(&app).await;
    let lost = repeat().await;
    assert_eq!((lost.status, lost.header("retry-after"), &*lost.code()), (409, None, "CONFLICT"));
    assert_eq!(services(&app).await, 1);
    claim(0).await;
    let done = repeat().await;
    assert_eq!((done.status, done.header("idempotency-replayed")), (200, None), "{done:?}");
    assert_eq!(services(&app).await, 2, "it was made to look as if the first had changed nothing");
}

#[tokio::test]
async fn keys_stored_responses_and_their_number_are_bounded() {
    let app = TestApp::start().await;
    let longest = "k".repeat(255);
    for key in ["", "\"\"", "a b", "a\"b", &*format!("{longest}k"), "é"] {
        let refused = post(&app, key, CREATE, json!({ "name": "Billing" })).await;
        assert_eq!(refused.status, 400, "{key}");
    }
    assert_eq!(post(&app, &longest, CREATE, json!({ "name": "Billing" })).await.status, 200);
    let create = CREATE.replace("id alias", "id description alias");
    let long = json!({ "name": "Long", "note": "é".repeat(5_000) });
    assert_eq!(post(&app, "long", &create, long.clone()).await.status, 200);
    assert_eq!(post(&app, "long", &create, long).await.status, 409);

    let token = app.db.write(async |tx| tx.one(token::Entity::find()).await).await.expect("tokens").expect("a token");
    let now = Timestamp::now();
    let row = |number: i64| {
        let mut hash = vec![0; 32];
        hash[..8].copy_from_slice(&number.to_be_bytes());
        idempotency_key::ActiveModel {
            token_id: Set(Some(token.id)),
            key_hash: Set(hash.clone()),
            request_hash: Set(hash),
            created_at: Set(now),
            mutations: Set(1),
            has_ended: Set(true),
            ..Default::default()
        }
    };
    for from in (0..10_200).step_by(1_000) {
        let rows = (from..from + 1_000).map(row);
        app.db.write(async |tx| tx.exec(Entity::insert_many(rows.clone())).await).await.expect("rows");
    }
    for number in 0..64 {
        let done = post(&app, &format!("new-{number}"), CREATE, json!({ "name": format!("s{number}") })).await;
        assert_eq!(done.status, 200);
    }
    let count = async || app.db.write(async |tx| tx.count(Entity::find()).await).await.expect("a count");
    assert!((10_000..10_064).contains(&count().await), "{}", count().await);
    let later = Timestamp::from_micros(Timestamp::now().as_micros() + 1);
    assert!(retention::remove_idempotency_keys(&app.db, later).await.expect("a number") >= 10_000);
    assert_eq!(count().await, 0);
}

#[tokio::test]
async fn a_repeated_request_shows_no_webhook_to_who_may_no_longer_see_it() {
    let app = TestApp::start().await;
    // Another administrator, so that the first can be demoted.
    let _other = Browser::of(&app, Role::Admin).await;
    let user = Browser::of(&app, Role::User).await;
    let calls = [
        ("deploy", "mutation { eventIntegrationCreate(input: { type: deploy }) { integration { url: webhookUrl } } }"),
        (
            "docs",
            "mutation { eventIntegrationCreate(input: { type: apiDoc }) { integration { ... on ApiDocIntegration { webhookUrl } } } }",
        ),
        (
            "renamed",
            "mutation { a: eventIntegrationCreate(input: { type: snyk, name: \"S\" }) { i: integration { name hidden: webhookUrl } } }",
        ),
        ("none", "mutation { eventIntegrationCreate(input: { type: deploy }) { integration { name } } }"),
        ("service", "mutation { serviceCreate(input: { name: \"Cart\" }) { service { name } } }"),
    ];
    let repeat = async |key: &str, query: &str| user.query_with(query, json!({}), &[("idempotency-key", key)]).await;
    for (key, query) in calls {
        let first = repeat(key, query).await;
        assert_eq!((first.status, first.header("idempotency-replayed")), (200, None), "{first:?}");
        let again = repeat(key, query).await;
        assert_eq!((again.status, again.header("idempotency-replayed")), (200, Some("true")), "{again:?}");
        assert_eq!(again.body, first.body);
    }
    for role in ["team_member", "viewer"] {
        let demote = format!(
            "mutation {{ userUpdate(user: {{ email: \"user@example.com\" }}, input: {{ role: {role} }}) {{ errors {{ message }} }} }}"
        );
        assert_eq!(app.query(&demote, json!({})).await["data"]["userUpdate"]["errors"], json!([]));
        for (key, query) in calls {
            let again = repeat(key, query).await;
            let text = String::from_utf8_lossy(&again.body).into_owned();
            assert!(!text.contains("/integrations/"), "{role} {key}: {text}");
            let expected = match (role, key) {
                // Clients that accept no other media type get 200 with errors.
                ("viewer", _) => (200, "FORBIDDEN"),
                (_, "none" | "service") => (200, ""),
                _ => (409, "CONFLICT"),
            };
            let answer = again.json();
            let code = answer["errors"][0]["extensions"]["code"].as_str().unwrap_or_default();
            assert_eq!((again.status, code), expected, "{role} {key}: {text}");
        }
    }
}
