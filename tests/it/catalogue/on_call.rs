//! Who is on call for a service, and what raises alerts about it.

use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};

#[tokio::test]
async fn an_on_call_update_replaces_the_whole_list_and_entries_end() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        serviceCreate(input: { name: "Cart" }) { errors { message } }
        userInvite(email: "Ada@Example.com", input: { name: "Ada" }) { errors { message } }
    }"#;
    data(&app, query).await;
    let tell = "mutation($people: [OnCallInput!]!) { serviceOnCallsUpdate(input: { service: { alias: \"cart\" }, onCalls: $people }) {
        service { onCalls { totalCount nodes { name externalEmail schedule url endsAt user { name } } } } errors { path message }
    } }";
    let people = json!([
        { "name": "Ada L.", "externalEmail": "ada@example.com", "schedule": "Nights", "url": "https://oncall.example.com", "endsAt": "2999-01-01T00:00:00Z" },
        { "name": "Gone", "endsAt": "2020-01-01T00:00:00Z" },
        { "name": "Zoe", "externalEmail": "zoe@example.com" },
    ]);
    let told = app.query(tell, json!({ "people": people })).await["data"]["serviceOnCallsUpdate"].clone();
    let expected = json!({ "service": { "onCalls": { "totalCount": 2, "nodes": [
        { "name": "Ada L.", "externalEmail": "ada@example.com", "schedule": "Nights", "url": "https://oncall.example.com",
          "endsAt": "2999-01-01T00:00:00Z", "user": { "name": "Ada" } },
        { "name": "Zoe", "externalEmail": "zoe@example.com", "schedule": null, "url": null, "endsAt": null, "user": null },
    ] } }, "errors": [] });
    assert_eq!(told, expected);
    let wrong = json!([{ "name": "" }, { "name": "A", "url": "ftp://x" }]);
    let refused = app.query(tell, json!({ "people": wrong })).await["data"]["serviceOnCallsUpdate"].clone();
    let paths: Vec<&Value> = refused["errors"].as_array().expect("errors").iter().map(|error| &error["path"]).collect();
    assert_eq!(paths, [&json!(["onCalls", "0", "name"]), &json!(["onCalls", "1", "url"])]);
    let many: Vec<Value> = (0..101).map(|n| json!({ "name": n.to_string() })).collect();
    let refused = app.query(tell, json!({ "people": many })).await["data"]["serviceOnCallsUpdate"].clone();
    let expected = json!([{ "path": ["onCalls"], "message": "at most 100 people can be on call" }]);
    assert_eq!(refused["errors"], expected);
    let told = app.query(tell, json!({ "people": [] })).await["data"]["serviceOnCallsUpdate"].clone();
    assert_eq!(told["service"]["onCalls"]["totalCount"], 0);
}

#[tokio::test]
async fn an_alert_source_is_pushed_and_watches_services() {
    let app = TestApp::start().await;
    let made = data(
        &app,
        r#"mutation {
            serviceCreate(input: { name: "Cart" }) { errors { message } }
            custom: customIntegrationCreate(input: { name: "Pager" }) { integration { id } errors { message } }
            datadog: eventIntegrationCreate(input: { type: datadogCheck, name: "Datadog" }) { integration { id type } errors { message } }
        }"#,
    )
    .await;
    assert_eq!(made["datadog"]["integration"]["type"], "datadogCheck");
    let upsert = "mutation($input: AlertSourceInput!) { alertSourceUpsert(input: $input) {
        alertSource { id type name description url metadata status externalId integration { name } } errors { path message }
    } }";
    let identifier = json!({ "integration": { "id": made["datadog"]["integration"]["id"] }, "externalId": "m-1" });
    let nameless = app.query(upsert, json!({ "input": { "identifier": identifier } })).await;
    assert_eq!(nameless["data"]["alertSourceUpsert"]["errors"][0]["path"], json!(["name"]));
    let input = json!({ "identifier": identifier, "name": "Latency", "description": "d", "url": "https://x.example.com", "metadata": "m" });
    let source = app.query(upsert, json!({ "input": input })).await["data"]["alertSourceUpsert"]["alertSource"].clone();
    let expected = json!({
        "id": source["id"], "type": "datadog", "name": "Latency", "description": "d", "url": "https://x.example.com",
        "metadata": "m", "status": "no_data", "externalId": "m-1", "integration": { "name": "Datadog" },
    });
    assert_eq!(source, expected);
    let again = app.query(upsert, json!({ "input": { "identifier": identifier, "description": null } })).await;
    let again = &again["data"]["alertSourceUpsert"]["alertSource"];
    assert_eq!((&again["id"], &again["name"], &again["description"]), (&source["id"], &json!("Latency"), &Value::Null));

    let watch = "mutation($id: ID!, $external: AlertSourceExternalIdentifier, $identifier: ExternalResourceIdentifierInput!) {
        first: alertSourceServiceCreate(input: { alertSourceId: $id, service: { alias: \"cart\" } }) {
            alertSourceService { id status service { name } alertSource { name } } errors { message }
        }
        second: alertSourceServiceCreate(input: { alertSourceExternalIdentifier: $external, service: { alias: \"cart\" } }) {
            alertSourceService { id } errors { path message }
        }
        status: alertSourceStatusUpdate(input: { alertSource: $identifier, status: alert }) {
            alertSource { status } errors { message }
        }
    }";
    let external = json!({ "type": "datadog", "externalId": "m-1" });
    let variables = json!({ "id": source["id"], "external": external, "identifier": identifier });
    let answer = app.query(watch, variables).await["data"].clone();
    let link = answer["first"]["alertSourceService"].clone();
    assert_eq!(link["status"], "no_data");
    let expected = json!([{ "path": ["base"], "message": "the alert source is already linked to this service" }]);
    assert_eq!(answer["second"], json!({ "alertSourceService": null, "errors": expected }));
    assert_eq!(answer["status"], json!({ "alertSource": { "status": "alert" }, "errors": [] }));
    let query = "query($external: AlertSourceExternalIdentifier) { account {
        alertSource(externalIdentifier: $external) { name }
        service(alias: \"cart\") { alertSourceServices { totalCount nodes { id status } } }
        alerting: services(filter: [{ key: alert_status, arg: \"alert\" }]) { nodes { name } }
    } }";
    let answer = app.query(query, json!({ "external": external })).await["data"]["account"].clone();
    assert_eq!(answer["alertSource"], json!({ "name": "Latency" }));
    let expected = json!({ "totalCount": 1, "nodes": [{ "id": link["id"], "status": "alert" }] });
    assert_eq!(
        (&answer["service"]["alertSourceServices"], &answer["alerting"]["nodes"]),
        (&expected, &json!([{ "name": "Cart" }]))
    );
    let unwatch =
        "mutation($id: ID!) { alertSourceServiceDelete(input: { id: $id }) { deletedId errors { message } } }";
    let answer = app.query(unwatch, json!({ "id": link["id"] })).await;
    assert_eq!(answer["data"]["alertSourceServiceDelete"], json!({ "deletedId": link["id"], "errors": [] }));
}
