//! Tools of services.

use serde_json::json;

use crate::harness::app::{TestApp, data};

#[tokio::test]
async fn a_tool_is_added_changed_and_deleted() {
    let app = TestApp::start().await;
    data(&app, r#"mutation { serviceCreate(input: { name: "Cart" }) { errors { message } } }"#).await;
    let made = data(
        &app,
        r#"mutation { toolCreate(input: {
            serviceAlias: "cart", category: runbooks, displayName: "Runbook", url: "https://wiki.example.com/cart", environment: "production"
        }) { tool { id category categoryAlias displayName url environment service { name } } errors { message } } }"#,
    )
    .await;
    let id = made["toolCreate"]["tool"]["id"].clone();
    assert_eq!(
        made["toolCreate"],
        json!({ "tool": {
            "id": id, "category": "runbooks", "categoryAlias": "runbooks", "displayName": "Runbook",
            "url": "https://wiki.example.com/cart", "environment": "production", "service": { "name": "Cart" },
        }, "errors": [] })
    );
    let query = "mutation($id: ID!) {
        nothing: toolUpdate(input: { id: $id }) { tool { category displayName url environment } errors { message } }
        all: toolUpdate(input: { id: $id, category: logs, displayName: \"Logs\", url: \"http://logs\", environment: null }) {
            tool { category displayName url environment } errors { message }
        }
        bad: toolUpdate(input: { id: $id, category: null, displayName: null, url: \"javascript:alert(1)\" }) {
            tool { id } errors { path message }
        }
    }";
    let answer = app.query(query, json!({ "id": id })).await;
    let expected = json!({
        "nothing": { "tool": {
            "category": "runbooks", "displayName": "Runbook", "url": "https://wiki.example.com/cart", "environment": "production",
        }, "errors": [] },
        "all": { "tool": { "category": "logs", "displayName": "Logs", "url": "http://logs", "environment": null }, "errors": [] },
        "bad": { "tool": null, "errors": [
            { "path": ["category"], "message": "category must not be null" },
            { "path": ["displayName"], "message": "displayName must not be null" },
            { "path": ["url"], "message": "url must begin with http:// or https:// and name a host" },
        ] },
    });
    assert_eq!(answer["data"], expected);
    let query = "mutation($id: ID!) {
        first: toolDelete(input: { id: $id }) { deletedToolId errors { message } }
        second: toolDelete(input: { id: $id }) { deletedToolId errors { path } }
    }";
    let answer = app.query(query, json!({ "id": id })).await;
    let expected = json!({
        "first": { "deletedToolId": id, "errors": [] },
        "second": { "deletedToolId": null, "errors": [{ "path": ["id"] }] },
    });
    assert_eq!(answer["data"], expected);
}

#[tokio::test]
async fn tools_are_paged_in_order_of_creation() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        serviceCreate(input: { name: "Cart" }) { errors { message } }
        a: toolCreate(input: { serviceAlias: "cart", category: logs, displayName: "a", url: "https://a" }) { errors { message } }
        b: toolCreate(input: { serviceAlias: "cart", category: logs, displayName: "b", url: "https://b" }) { errors { message } }
        gone: toolCreate(input: { serviceAlias: "no", category: logs, displayName: "b", url: "https://b" }) { errors { path message } }
        both: toolCreate(input: { category: logs, displayName: "b", url: "https://b" }) { errors { path message } }
    }"#;
    let answer = data(&app, query).await;
    let gone = json!([{ "path": ["serviceAlias"], "message": "a service with the alias \"no\" does not exist on this account" }]);
    let both = json!([{ "path": ["base"], "message": "exactly one of serviceId and serviceAlias must be given" }]);
    assert_eq!((&answer["gone"]["errors"], &answer["both"]["errors"]), (&gone, &both));
    let query = r#"{ account { service(alias: "cart") { tools(first: 1) { totalCount nodes { displayName } pageInfo { hasNextPage endCursor } } } } }"#;
    let page = data(&app, query).await["account"]["service"]["tools"].clone();
    assert_eq!((&page["totalCount"], &page["nodes"]), (&json!(2), &json!([{ "displayName": "a" }])));
    let query = r#"query($after: String) { account { service(alias: "cart") { tools(after: $after) { nodes { displayName } } } } }"#;
    let answer = app.query(query, json!({ "after": page["pageInfo"]["endCursor"] })).await;
    let nodes = &answer["data"]["account"]["service"]["tools"]["nodes"];
    assert_eq!(*nodes, json!([{ "displayName": "b" }]));
}
