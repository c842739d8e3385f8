//! The webhook of an integration of the type `customEvent`: it takes any JSON, and keeps the newest.

use hyper::Method;
use rollcall::db::Read;
use rollcall::deploy::event::LONGEST;
use rollcall::entity::custom_event::{self, Entity, KEPT};
use rollcall::entity::user::Role;
use sea_orm::{EntityTrait, QueryOrder};
use serde_json::json;

use crate::harness::app::{Response, TestApp};
use crate::harness::browser::Browser;
use crate::harness::webhook::record;

/// The id and the path of a new integration of this type.
async fn created(app: &TestApp, kind: &str) -> (String, String) {
    let create = format!(
        "mutation {{ eventIntegrationCreate(input: {{ type: {kind} }}) {{ integration {{ id webhookUrl }} errors {{ message }} }} }}"
    );
    let made = app.query(&create, json!({})).await["data"]["eventIntegrationCreate"]["integration"].clone();
    let url = made["webhookUrl"].as_str().expect("a URL");
    let id = made["id"].as_str().expect("an id").to_owned();
    (id, url[url.find("/integrations/").expect("a path")..].to_owned())
}

async fn post(app: &TestApp, path: &str, body: impl Into<Vec<u8>>) -> Response {
    app.request(Method::POST, path, &[("content-type", "application/json")], body.into()).await
}

/// The payloads that are kept, newest first.
async fn kept(app: &TestApp) -> Vec<String> {
    let events = app.db.read().all(Entity::find().order_by_desc(custom_event::Column::Id)).await;
    events.expect("events").into_iter().map(|event| event.payload).collect()
}

#[tokio::test]
async fn a_custom_events_webhook_takes_any_json() {
    let app = TestApp::start().await;
    let (_, path) = created(&app, "customEvent").await;
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let long = format!("\"{}\"", "x".repeat(LONGEST - 2));
    let events = [
        r#"{"alert":{"status":"firing","labels":{"severity":"page"}}}"#,
        r#"[{"a":1},{"a":2}]"#,
        "[]",
        "{}",
        "7",
        "1e999",
        "null",
        "true",
        r#""text \u0000 and \ud83d""#,
        r#"{"service":"shop","description":"half a deploy"}"#,
        &deep,
        &long,
    ];
    for event in events {
        let answer = post(&app, &path, event).await;
        assert_eq!((answer.status, &*answer.body), (202, &br#"{"result":"ok"}"#[..]), "{event:.60}");
        assert_eq!(kept(&app).await[0], event, "{event:.60}");
    }
    // What is mended is said.
    let answer = post(&app, &path, "{\"a\":\"one\ntwo\",}").await;
    assert!(answer.status == 202 && answer.json()["notes"][0].is_string(), "{answer:?}");
    assert_eq!(kept(&app).await[0], r#"{"a":"one\u000atwo"}"#);
    let number = kept(&app).await.len();
    for (body, status) in
        [("", 400), ("{", 400), ("{} {}", 400), ("a=b", 400), ("<a/>", 400), (&*format!("[{long}]"), 413)]
    {
        assert_eq!(post(&app, &path, body).await.status, status, "{body:.20}");
    }
    assert_eq!(kept(&app).await.len(), number);
}

#[tokio::test]
async fn a_deploy_that_is_posted_to_a_custom_events_webhook_is_recorded_as_one() {
    let app = TestApp::start().await;
    let (_, path) = created(&app, "customEvent").await;
    let answer = post(&app, &path, record(json!({ "service": "none", "dedup_id": "1" })).to_string()).await;
    assert_eq!((answer.status, &answer.json()["result"]), (202, &json!("no_service_found")));
    let answer = post(&app, &path, record(json!({ "dedup_id": "1" })).to_string()).await;
    assert_eq!((answer.status, &answer.json()["result"]), (202, &json!("duplicate_deploy")));
    let deploys = app.query("{ account { deploys { nodes { serviceAlias providerType } } } }", json!({})).await;
    let expected = json!([{ "serviceAlias": "none", "providerType": "customEvent" }]);
    assert_eq!(deploys["data"]["account"]["deploys"]["nodes"], expected);
    assert_eq!(kept(&app).await, [""; 0]);
}

#[tokio::test]
async fn other_types_of_integrations_take_deploys_only() {
    let app = TestApp::start().await;
    for kind in ["deploy", "jenkins", "grafana", "githubActions", "prometheus"] {
        let (_, path) = created(&app, kind).await;
        assert_eq!(post(&app, &path, r#"{"alert":1}"#).await.status, 400, "{kind}");
        assert_eq!(post(&app, &path, record(json!({})).to_string()).await.status, 202, "{kind}");
    }
    assert_eq!(kept(&app).await, [""; 0]);
}

#[tokio::test]
async fn the_newest_events_of_each_integration_are_kept_and_shown() {
    let app = TestApp::start().await;
    let (id, path) = created(&app, "customEvent").await;
    let (_, other) = created(&app, "customEvent").await;
    assert_eq!(post(&app, &other, "\"other\"").await.status, 202);
    for number in 0..KEPT + 5 {
        assert_eq!(post(&app, &path, format!(r#"{{"number":{number},"html":"<b>"}}"#)).await.status, 202);
    }
    assert_eq!(kept(&app).await.len() as u64, KEPT + 1);
    assert_eq!(post(&app, &path, format!("\"{}\"", "long".repeat(1_000))).await.status, 202);
    let page = Browser::of(&app, Role::Viewer).await.page(&format!("/integrations/{id}")).await;
    assert!(page.contains("&quot;number&quot;:24,&quot;html&quot;:&quot;&lt;b&gt;&quot;"), "{page}");
    assert!(!page.contains("&quot;number&quot;:5,") && !page.contains("other"), "{page}");
    assert!(page.contains("4,002 characters in all") && !page.contains(&"long".repeat(300)), "{page}");

    let delete = "mutation($id: ID!) { integrationDelete(resource: { id: $id }) { errors { message } } }";
    app.query(delete, json!({ "id": id })).await;
    assert_eq!(kept(&app).await, ["\"other\""]);
    assert_eq!(post(&app, &path, "{}").await.status, 404);
}
