//! Words that only a newer version knows, in rows that an older one reads: after a roll-back, or while processes are replaced.

use rollcall::db::{Read, Write};
use rollcall::entity::user::Role;
use rollcall::entity::{check_due, check_result};
use rollcall::graphql::standards::check::history;
use sea_orm::EntityTrait;
use serde_json::json;

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::checks::{create, services};
use crate::harness::database::texts;

/// Writes a word into a column of some rows, as a newer version would.
async fn newer(app: &TestApp, table: &str, column: &str, word: &str, rows: &str) {
    let update = format!("UPDATE \"{table}\" SET \"{column}\" = '{word}' WHERE {rows}");
    app.db.write(async |tx| tx.script(&update).await).await.expect("a write");
    let changed = texts(&app.db, &format!("SELECT \"{column}\" FROM \"{table}\" WHERE \"{column}\" = '{word}'")).await;
    assert_eq!(changed, [word]);
}

#[tokio::test]
async fn a_status_of_a_deploy_that_only_a_newer_version_knows_is_none() {
    let endpoint = services().await;
    let app = &endpoint.app;
    let posted = endpoint.post_with(json!({ "deploy_number": "newest", "status": "success" })).await;
    assert_eq!(posted.status, 202);
    newer(app, "deploy", "deploy_status", "melted", "deploy_number = 'newest'").await;
    let query = "{ account { deploys { nodes { deployNumber deployStatus status } totalCount } } }";
    let deploys = data(app, query).await["account"]["deploys"].clone();
    assert_eq!(deploys["totalCount"], 3, "{deploys}");
    let nodes = deploys["nodes"].as_array().expect("deploys");
    let own = nodes.iter().find(|one| one["deployNumber"] == "newest").expect("the deploy");
    assert_eq!((&own["deployStatus"], &own["status"]), (&json!("no_status"), &json!("success")), "as it was sent");
    let viewer = Browser::of(app, Role::Viewer).await;
    for path in ["/deploys", "/services/shop"] {
        assert_eq!(viewer.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn how_a_user_was_created_is_not_told_in_words_of_a_newer_version() {
    let app = TestApp::start().await;
    let admin = Browser::of(&app, Role::Admin).await;
    newer(&app, "user", "provisioned_by", "pigeon", "role = 'admin'").await;
    let users = data(&app, "{ account { users { nodes { role provisionedBy } } } }").await["account"]["users"].clone();
    assert_eq!(users["nodes"], json!([{ "role": "admin", "provisionedBy": null }]));
    assert_eq!(admin.get("/users").await.status, 200, "and they are signed in");
}

#[tokio::test]
async fn an_integration_of_a_kind_that_only_a_newer_version_knows_is_left_out() {
    let app = TestApp::start().await;
    data(
        &app,
        r#"mutation {
            a: customIntegrationCreate(input: { name: "Surface" }) { errors { message } }
            b: customIntegrationCreate(input: { name: "Depths" }) { errors { message } }
        }"#,
    )
    .await;
    newer(&app, "integration", "type", "submarine", "name = 'Depths'").await;
    let list = data(&app, "{ account { integrations { nodes { name } totalCount } } }").await;
    assert_eq!(list["account"]["integrations"], json!({ "nodes": [{ "name": "Surface" }], "totalCount": 1 }));
    let page = Browser::of(&app, Role::Admin).await.page("/integrations").await;
    assert!(page.contains("Surface") && !page.contains("Depths"), "{page}");
}

#[tokio::test]
async fn a_check_of_a_kind_that_only_a_newer_version_knows_is_left_out_and_nothing_is_stored_without_it() {
    let endpoint = services().await;
    let app = &endpoint.app;
    create(app, "TagDefined", json!({ "name": "Env", "tagKey": "env" })).await;
    create(app, "ToolUsage", json!({ "name": "Depths", "toolCategory": "runbooks" })).await;
    history::settle(&app.db, &app.wanted).await.expect("settled");
    let stored = async || app.db.read().all(check_result::Entity::find()).await.expect("results").len();
    let before = stored().await;
    assert!(before > 0);
    newer(app, "check", "kind", "divination", "name = 'Depths'").await;

    let query = r#"{ account {
        rubric { checks { nodes { name } totalCount } levels { nodes { checks { name } } } reports { check { name } } }
        service(alias: "shop") { maturityReport { latestCheckResults { check { name } } } checkStats { totalChecks } }
        team(alias: "core") { missedChecks { check { name } } }
    } }"#;
    let found = data(app, query).await["account"].clone();
    assert_eq!(found["rubric"]["checks"], json!({ "nodes": [{ "name": "Env" }], "totalCount": 1 }));
    assert_eq!(found["rubric"]["reports"], json!([{ "check": { "name": "Env" } }]));
    let results = &found["service"]["maturityReport"]["latestCheckResults"];
    assert_eq!(results, &json!([{ "check": { "name": "Env" } }]));
    assert_eq!(found["service"]["checkStats"]["totalChecks"], 1);
    let viewer = Browser::of(app, Role::Viewer).await;
    for path in ["/standards", "/services/shop", "/services/shop/standards"] {
        assert_eq!(viewer.get(path).await.status, 200, "{path}");
    }

    // Its results, and the levels that it holds services back from, stay as the newer version has stored them.
    data(app, r#"mutation { tagCreate(input: { alias: "bare", key: "env", value: "prod" }) { errors { message } } }"#)
        .await;
    assert!(history::settle(&app.db, &app.wanted).await.is_err(), "it is left to the newer version");
    assert_eq!(stored().await, before);
    let marks = check_due::oldest(app.db.read(), 10, true).await.expect("marks");
    assert!(!marks.is_empty(), "what changed is still to be evaluated");
    // Marks that it does not know hold up nothing.
    newer(app, "check", "kind", "tool_usage", "name = 'Depths'").await;
    newer(app, "check_due", "what", "galaxy", &format!("id = {}", marks[0].id)).await;
    let settled = history::settle(&app.db, &app.wanted).await;
    assert!(settled.is_ok(), "{settled:?}");
    let marks = check_due::oldest(app.db.read(), 10, true).await.expect("marks");
    assert_eq!(marks, []);
}
