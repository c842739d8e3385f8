//! The starter set of checks, and the badges that show levels.

use rollcall::entity::token::Scope;
use rollcall::entity::user::Role;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::checks::services;
use crate::harness::desk::Desk;

const STARTER: &str =
    "mutation { standardsStarterCreate { checks { name enabled rawNotes description } errors { message path } } }";

async fn rubric(app: &TestApp) -> Value {
    data(app, "{ account { rubric { levels { nodes { name } } categories { nodes { name } } checks { nodes { name } totalCount } } } }")
        .await["account"]["rubric"]
        .clone()
}

#[tokio::test]
async fn the_starter_set_has_ten_checks_and_adds_only_what_there_is_not() {
    let app = TestApp::start().await;
    let made = data(&app, STARTER).await["standardsStarterCreate"].clone();
    assert_eq!(made["errors"], json!([]));
    let checks = made["checks"].as_array().expect("checks").clone();
    assert_eq!(checks.len(), 10);
    for check in &checks {
        assert_eq!(check["enabled"], json!(true), "{check}");
        let notes = check["rawNotes"].as_str().expect("notes");
        assert!(notes.len() > 60, "each says what it is for: {check}");
    }
    let before = rubric(&app).await;
    let names = |list: &str| {
        let nodes = before[list]["nodes"].as_array().expect("nodes").clone();
        nodes.into_iter().map(|node| node["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("levels"), ["Beginner", "Bronze", "Silver", "Gold"]);
    assert_eq!(names("categories"), ["Ownership", "Operation", "Delivery"]);
    assert_eq!(data(&app, STARTER).await["standardsStarterCreate"], json!({ "checks": [], "errors": [] }));
    assert_eq!(rubric(&app).await, before);
}

#[tokio::test]
async fn the_starter_set_uses_the_levels_and_categories_that_are_there() {
    let endpoint = services().await;
    let app = &endpoint.app;
    data(app, "mutation { categoryCreate(input: { name: \"OPERATION\" }) { errors { message } } }").await;
    data(app, STARTER).await;
    let rubric = rubric(app).await;
    assert_eq!(rubric["levels"]["nodes"].as_array().map(Vec::len), Some(4), "{rubric}");
    assert_eq!(rubric["categories"]["nodes"].as_array().map(Vec::len), Some(5), "{rubric}");
    assert_eq!(rubric["checks"]["totalCount"], json!(10));
    let query =
        "{ account { services { nodes { maturityReport { overallLevel { name } latestCheckResults { status } } } } } }";
    let services = data(app, query).await["account"]["services"]["nodes"].clone();
    for service in services.as_array().expect("services") {
        assert_eq!(service["maturityReport"]["latestCheckResults"].as_array().map(Vec::len), Some(10), "{service}");
    }
    assert_eq!(services[0]["maturityReport"]["overallLevel"]["name"], json!("Bronze"), "{services}");
}

#[tokio::test]
async fn a_standards_administrator_creates_the_starter_set_with_one_button() {
    let app = TestApp::start().await;
    let viewer = Browser::of(&app, Role::User).await;
    assert!(!viewer.page("/standards").await.contains("Create the starter set"));
    let refused = viewer.query(STARTER, json!({})).await;
    assert_eq!(refused["data"]["standardsStarterCreate"]["checks"], Value::Null, "{refused}");
    let mut administrator = Browser::of(&app, Role::StandardsAdmin).await;
    assert!(administrator.page("/standards").await.contains("Create the starter set"));
    administrator.post("/standards/starter", &[]).await;
    let page = administrator.page("/standards").await;
    assert!(page.contains("Has an owner") && !page.contains("Create the starter set"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_creates_the_starter_set() {
    let app = TestApp::start().await;
    let desk = Desk::at(&app, Scope::Write).await;
    let first = desk.run(&["standards", "starter"]).await.out;
    assert!(first.starts_with("created check Has an owner\n"), "{first}");
    assert_eq!(first.lines().count(), 10);
    let second = desk.run(&["standards", "starter"]).await.out;
    assert_eq!(second, "all checks of the starter set are there already\n");
    let reader = Desk::at(&app, Scope::Read).await;
    let refused = reader.run(&["standards", "starter"]).await;
    assert!(refused.status == 1 && refused.err.contains("scope"), "{}", refused.err);
}

#[tokio::test]
async fn badges_show_the_level_of_a_service_if_they_are_on() {
    let off = TestApp::start().await;
    assert_eq!(off.get("/badges/services/shop.svg").await.status, 404);
    let app = TestApp::with(&["--badges"]).await;
    data(&app, "mutation { serviceCreate(input: { name: \"Shop\" }) { errors { message } } }").await;
    let badge = app.get("/badges/services/shop.svg").await;
    assert_eq!(badge.status, 200);
    assert_eq!(badge.header("content-type"), Some("image/svg+xml"));
    assert_eq!(badge.header("cache-control"), Some("public, max-age=300"));
    let tag = badge.header("etag").expect("a tag").to_owned();
    let again = app.request(hyper::Method::GET, "/badges/services/shop.svg", &[("if-none-match", &tag)], "").await;
    assert_eq!((again.status, again.body.len()), (304, 0));
    let text = |response: &crate::harness::app::Response| String::from_utf8_lossy(&response.body).into_owned();
    assert!(text(&badge).contains("<title>standards: no level</title>"), "{badge:?}");
    let labelled = text(&app.get("/badges/services/shop.svg?label=a%3Cscript%3E%26%22%27%00b").await);
    assert!(labelled.contains("a&lt;script&gt;&amp;&quot;") && !labelled.contains("<script"), "{labelled}");
    let long = text(&app.get(&format!("/badges/services/shop.svg?label={}", "x".repeat(1_000))).await);
    assert!(long.contains(&"x".repeat(40)) && !long.contains(&"x".repeat(41)), "{long}");
    for path in ["/badges/services/none.svg", "/badges/services/shop", "/badges/services/.svg", "/badges/services/"] {
        assert_eq!(app.get(path).await.status, 404, "{path}");
    }
    let level = TestApp::with(&["--badges"]).await;
    data(&level, "mutation { serviceCreate(input: { name: \"Shop\" }) { errors { message } } }").await;
    data(&level, STARTER).await;
    let badge = text(&level.get("/badges/services/shop.svg").await);
    assert!(badge.contains("<title>standards: Beginner</title>"), "{badge}");
}
