//! The audit: every change is noted with it, whatever surface it came through, and nothing that did not happen is.

use rollcall::entity::Timestamp;
use rollcall::entity::audit::{self, Actor, ActorKind};
use rollcall::entity::token;
use rollcall::entity::user::Role;
use rollcall::{retention, service_file};
use sea_orm::{ActiveModelTrait, EntityTrait, QueryOrder, Set};
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::app_browser::Browser;

/// All entries but that of the test's own token: action, class and name of the subject, input.
async fn entries(app: &TestApp) -> Vec<(String, Option<String>, Option<String>, Value)> {
    let rows = audit::Entity::find().order_by_asc(audit::Column::Id).all(app.db.read()).await.expect("entries");
    let entry = |row: audit::Model| {
        let detail = serde_json::from_str(&row.detail).expect("JSON");
        (row.action, row.subject_class, row.subject_name, detail)
    };
    rows.into_iter().skip(1).map(entry).collect()
}

fn entry(action: &str, class: &str, name: &str, detail: Value) -> (String, Option<String>, Option<String>, Value) {
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    (action.to_owned(), some(class), some(name), detail)
}

#[tokio::test]
async fn each_mutation_is_noted_with_its_subject_and_its_input() {
    let app = TestApp::start().await;
    app.query(
        r#"mutation($name: String!) {
            serviceCreate(input: { name: $name }) { errors { message } }
            again: serviceUpdate(input: { alias: "shop", note: null, language: "Rust" }) { service { name } }
            tagAssign(input: { alias: "shop", tags: { key: "k", value: "v" } }) { errors { message } }
            serviceDelete(input: { alias: "shop" }) { errors { message } }
        }"#,
        json!({ "name": "Shop" }),
    )
    .await;
    let expected = [
        entry("serviceCreate", "Service", "Shop", json!({ "input": { "name": "Shop" } })),
        entry(
            "serviceUpdate",
            "Service",
            "Shop",
            json!({ "input": { "alias": "shop", "note": null, "language": "Rust" } }),
        ),
        entry("tagAssign", "", "shop", json!({ "input": { "alias": "shop", "tags": { "key": "k", "value": "v" } } })),
        entry("serviceDelete", "Service", "shop", json!({ "input": { "alias": "shop" } })),
    ];
    assert_eq!(entries(&app).await, expected);
}

#[tokio::test]
async fn a_mutation_that_fails_leaves_no_entry() {
    let app = TestApp::start().await;
    let refused = r#"mutation {
        serviceCreate(input: { name: "" }) { errors { message } }
        serviceDelete(input: { alias: "none" }) { errors { message } }
    }"#;
    app.query(refused, json!({})).await;
    app.query("{ account { name } }", json!({})).await;
    assert_eq!(entries(&app).await, []);
}

#[tokio::test]
async fn a_long_input_is_cut_short() {
    let app = TestApp::start().await;
    let create = "mutation($name: String!, $note: String) { serviceCreate(input: { name: $name, note: $note }) {
        errors { message } } }";
    app.query(create, json!({ "name": "Shop", "note": "é".repeat(40_000) })).await;
    let entries = entries(&app).await;
    let note = entries[0].3["input"]["note"].as_str().expect("a note");
    assert_eq!(note.chars().count(), 201);
}

#[tokio::test]
async fn pages_and_the_command_line_are_noted_too() {
    let app = TestApp::start().await;
    let mut ada = Browser::of(&app, Role::Admin).await;
    ada.post("/tokens", &[("description", "import"), ("scope", "write"), ("expires", "never")]).await;
    ada.post("/integrations", &[("type", "deploy"), ("name", "CI")]).await;
    ada.post("/users", &[("email", "bob@example.com"), ("name", "Bob"), ("role", "viewer")]).await;
    let tokens = token::all(app.db.read()).await.expect("tokens");
    let id = tokens.last().expect("a token").id;
    app.db.write(async |db| token::delete(db, &Actor::command_line(), id).await).await.expect("a deletion");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("shop.yml");
    std::fs::write(&file, "version: 1\nservice:\n  name: Shop\n").expect("a file");
    service_file::apply(&app.db, std::slice::from_ref(&file)).await.expect("it applies");
    service_file::apply(&app.db, std::slice::from_ref(&file)).await.expect("it applies again, and changes nothing");
    service_file::release(&app.db, "shop").await.expect("a service");

    let rows = audit::Entity::find().order_by_asc(audit::Column::Id).all(app.db.read()).await.expect("entries");
    let rows: Vec<_> = rows.iter().map(|row| (row.actor_kind, &*row.action, row.subject_name.as_deref())).collect();
    use ActorKind::{CommandLine, Session};
    let expected = [
        (CommandLine, "tokenCreate", Some("a test")),
        (Session, "tokenCreate", Some("import")),
        (Session, "eventIntegrationCreate", Some("CI")),
        (Session, "userInvite", Some("Bob")),
        (Session, "signInLinkCreate", Some("bob@example.com")),
        (CommandLine, "tokenDelete", Some("import")),
        (CommandLine, "apply", Some("shop")),
        (CommandLine, "release", Some("shop")),
    ];
    assert_eq!(rows, expected);
}

#[tokio::test]
async fn the_page_shows_the_newest_first_and_one_actor_or_subject_alone() {
    let app = TestApp::start().await;
    let mut ada = Browser::of(&app, Role::Admin).await;
    for number in 0..60 {
        let create = "mutation($name: String!) { serviceCreate(input: { name: $name }) { errors { message } } }";
        app.query(create, json!({ "name": format!("service {number}") })).await;
    }
    ada.post("/integrations", &[("type", "deploy"), ("name", "CI")]).await;
    let first = ada.page("/audit").await;
    assert!(first.contains(">service 59<") && first.contains(">service 11<") && !first.contains(">service 10<"));
    let next = first.split('"').find(|text| text.starts_with("/audit?after=")).expect("a next page");
    let second = ada.page(next).await;
    assert!(second.contains(">service 10<") && second.contains("tokenCreate") && !second.contains("rel=\"next\""));

    let of = |page: &str, what: &str| {
        let found = page.split('"').find(|text| text.starts_with(&format!("/audit?{what}="))).map(str::to_owned);
        found.unwrap_or_else(|| panic!("no {what}"))
    };
    let adas = ada.page(&of(&first, "actor")).await;
    assert!(adas.contains(">CI<") && !adas.contains(">service 59<"));
    let about = ada.page(&of(&second, "subject")).await;
    assert_eq!(about.matches("<code>serviceCreate</code>").count(), 1);
}

#[tokio::test]
async fn changes_are_found_by_day_and_by_what_was_done() {
    let app = TestApp::start().await;
    let ada = Browser::of(&app, Role::Admin).await;
    for (day, action) in [(1, "serviceCreate"), (2, "serviceUpdate"), (2, "serviceCreate"), (3, "serviceCreate")] {
        noted(&app, day, action).await;
    }
    let found = async |query: &str| ada.page(&format!("/audit?{query}")).await.matches("<code>service").count();
    assert_eq!(found("from=2020-01-02&until=2020-01-02").await, 2);
    assert_eq!(found("until=2020-01-02").await, 3);
    assert_eq!(found("from=2020-01-02&action=serviceCreate").await, 2);
    assert_eq!(found("actor=command_line&action=serviceUpdate").await, 1);
    assert_eq!(found("actor=token").await, 0);
    assert!(ada.page("/audit?action=none").await.contains("No change is like that."));
    for wrong in ["from=2020-02-30", "after=7", "actor=nobody", "subject=Service"] {
        assert_eq!(ada.get(&format!("/audit?{wrong}")).await.status, 400, "{wrong}");
    }
}

#[tokio::test]
async fn what_is_older_than_the_retention_is_removed_from_the_audit() {
    let app = TestApp::start().await;
    for day in 1..=20 {
        for _ in 0..60 {
            noted(&app, day, "serviceCreate").await;
        }
    }
    let before: Timestamp = "2020-01-20T00:00:00Z".parse().expect("a moment");
    assert_eq!(retention::remove_audit(&app.db, before).await, Ok(19 * 60));
    assert_eq!(retention::remove_audit(&app.db, before).await, Ok(0));
    assert_eq!(entries(&app).await.len(), 60, "the first is that of the test's token");
}

/// An entry of this day of January 2020.
async fn noted(app: &TestApp, day: u32, action: &str) {
    let entry = audit::ActiveModel {
        at: Set(format!("2020-01-{day:02}T12:00:00Z").parse().expect("a moment")),
        actor_kind: Set(ActorKind::CommandLine),
        actor_name: Set("command line".to_owned()),
        action: Set(action.to_owned()),
        detail: Set("{}".to_owned()),
        ..Default::default()
    };
    app.db.write(async |db| entry.insert(db).await).await.expect("an entry");
}
