//! Infrastructure resources: databases, queues, clusters and the like.

use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};

#[tokio::test]
async fn a_resource_is_created_changed_and_deleted() {
    let app = TestApp::start().await;
    let team = data(&app, r#"mutation { teamCreate(input: { name: "Core" }) { team { id } } }"#).await;
    let owner = &team["teamCreate"]["team"]["id"];
    let query = r#"mutation($owner: ID) { infrastructureResourceCreate(input: {
        schema: { type: "Database" }, data: "{\"name\": \"Ledger\", \"port\": 5432, \"shape\": \"round\"}", ownerId: $owner,
        providerResourceType: "RDS", providerData: { accountName: "live", externalUrl: "https://cloud.example.com/1", providerName: "Cloud" }
    }) { infrastructureResource {
        id name aliases type providerResourceType providerData { accountName externalUrl providerName } owner { name } ownerLocked
        data rawData tags { totalCount } timestamps { createdAt updatedAt }
    } warnings { message } errors { message path } } }"#;
    let made = app.query(query, json!({ "owner": owner })).await["data"]["infrastructureResourceCreate"].clone();
    let resource = &made["infrastructureResource"];
    let expected = json!({ "infrastructureResource": {
        "id": resource["id"], "name": "Ledger", "aliases": [], "type": "Database", "providerResourceType": "RDS",
        "providerData": { "accountName": "live", "externalUrl": "https://cloud.example.com/1", "providerName": "Cloud" },
        "owner": { "name": "Core" }, "ownerLocked": true, "data": { "name": "Ledger", "port": 5432 },
        "rawData": { "name": "Ledger", "port": 5432, "shape": "round" }, "tags": { "totalCount": 0 },
        "timestamps": resource["timestamps"],
    }, "warnings": [{ "message": "the type Database has no field \"shape\"; only rawData has it" }], "errors": [] });
    assert_eq!(made, expected);
    let query = r#"mutation($id: ID!) {
        alias: aliasCreate(input: { ownerId: $id, alias: "ledger" }) { aliases errors { message } }
        tag: tagAssign(input: { alias: "ledger", type: InfrastructureResource, tags: { key: "env", value: "live" } }) { errors { message } }
        kept: infrastructureResourceUpdate(infrastructureResource: { alias: "ledger" }, input: { providerResourceType: "Aurora" }) {
            infrastructureResource { name providerResourceType tags { nodes { key value } } providerData { accountName } } errors { message }
        }
        cleared: infrastructureResourceUpdate(infrastructureResource: { alias: "ledger" }, input: {
            providerData: null, ownerId: null, providerResourceType: null, data: { name: "Books" }
        }) {
            infrastructureResource { name providerResourceType providerData { accountName } owner { name } ownerLocked rawData }
            errors { message }
        }
    }"#;
    let answer = app.query(query, json!({ "id": resource["id"] })).await;
    let expected = json!({
        "alias": { "aliases": ["ledger"], "errors": [] },
        "tag": { "errors": [] },
        "kept": { "infrastructureResource": {
            "name": "Ledger", "providerResourceType": "Aurora", "tags": { "nodes": [{ "key": "env", "value": "live" }] },
            "providerData": { "accountName": "live" },
        }, "errors": [] },
        "cleared": { "infrastructureResource": {
            "name": "Books", "providerResourceType": null, "providerData": null, "owner": null, "ownerLocked": false,
            "rawData": { "name": "Books" },
        }, "errors": [] },
    });
    assert_eq!(answer["data"], expected);
    let query = r#"{ account {
        infrastructureResource(input: { alias: "ledger" }) { name }
        none: infrastructureResource(input: { alias: "no" }) { name }
        infrastructureResources { totalCount nodes { aliases } }
        infrastructureResourceSchemas(first: 5) { totalCount nodes { type schema } pageInfo { endCursor hasNextPage } }
    } }"#;
    let account = data(&app, query).await["account"].clone();
    assert_eq!((&account["infrastructureResource"], &account["none"]), (&json!({ "name": "Books" }), &Value::Null));
    assert_eq!(account["infrastructureResources"], json!({ "totalCount": 1, "nodes": [{ "aliases": ["ledger"] }] }));
    let schemas = &account["infrastructureResourceSchemas"];
    assert_eq!(schemas["nodes"][4]["type"], "Database");
    assert_eq!(schemas["nodes"][4]["schema"]["required"], json!(["name"]));
    let rest = "query($after: String) { account { infrastructureResourceSchemas(after: $after) { nodes { type } pageInfo { hasNextPage } } } }";
    let rest = app.query(rest, json!({ "after": schemas["pageInfo"]["endCursor"] })).await;
    let rest = &rest["data"]["account"]["infrastructureResourceSchemas"];
    assert_eq!((&rest["nodes"][0]["type"], &rest["pageInfo"]["hasNextPage"]), (&json!("Function"), &json!(false)));
    assert_eq!(
        5 + rest["nodes"].as_array().expect("types").len() as u64,
        schemas["totalCount"].as_u64().expect("a number")
    );
    let query = r#"mutation {
        alias: aliasDelete(input: { ownerType: infrastructure_resource, alias: "ledger" }) { deletedAlias errors { message } }
        gone: infrastructureResourceDelete(resource: { alias: "ledger" }) { deletedId errors { path message } }
    }"#;
    let message = "an infrastructure resource with the alias \"ledger\" does not exist on this account";
    let expected = json!({
        "alias": { "deletedAlias": "ledger", "errors": [] },
        "gone": { "deletedId": null, "errors": [{ "path": ["resource", "alias"], "message": message }] },
    });
    assert_eq!(data(&app, query).await, expected);
    let query =
        "mutation($id: ID!) { infrastructureResourceDelete(resource: { id: $id }) { deletedId errors { message } } }";
    let deleted = app.query(query, json!({ "id": resource["id"] })).await;
    let expected = json!({ "deletedId": resource["id"], "errors": [] });
    assert_eq!(deleted["data"]["infrastructureResourceDelete"], expected);
}

#[tokio::test]
async fn data_is_what_the_schema_of_the_type_allows() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        none: infrastructureResourceCreate(input: {}) { infrastructureResource { id } errors { path message } }
        stray: infrastructureResourceCreate(input: { schema: { type: "Ship" }, data: { name: "A" } }) { errors { path } }
        bare: infrastructureResourceCreate(input: { schema: { type: "Queue" } }) { errors { path message } }
        wrong: infrastructureResourceCreate(input: {
            schema: { type: "Queue" }, data: { name: "", fifo: 1 }, providerData: { accountName: "", externalUrl: "javascript:alert(1)" }
        }) { warnings { message } errors { path message } }
        made: infrastructureResourceCreate(input: { schema: { type: "Queue" }, data: { name: "Mail", fifo: true } }) {
            infrastructureResource { id } warnings { message } errors { path }
        }
    }"#;
    let answer = data(&app, query).await;
    let expected = json!({ "infrastructureResource": null, "errors": [
        { "path": ["schema"], "message": "schema must not be null" },
    ] });
    assert_eq!(answer["none"], expected);
    assert_eq!(answer["stray"]["errors"], json!([{ "path": ["schema", "type"] }]));
    assert_eq!(answer["bare"]["errors"], json!([{ "path": ["data"], "message": "\"name\" is a required property" }]));
    let mut wrong = answer["wrong"]["errors"].as_array().expect("errors").clone();
    wrong.sort_by_key(Value::to_string);
    let mut expected = vec![
        json!({ "path": ["data", "fifo"], "message": "1 is not of type \"boolean\"" }),
        json!({ "path": ["data", "name"], "message": "\"\" is shorter than 1 character" }),
        json!({ "path": ["providerData", "accountName"], "message": "accountName must not be empty" }),
        json!({ "path": ["providerData", "externalUrl"], "message": "url must begin with http:// or https:// and name a host" }),
    ];
    expected.sort_by_key(Value::to_string);
    assert_eq!(wrong, expected);
    assert_eq!(answer["made"]["warnings"], json!([]));
    // After a change of type, the new schema applies to the existing data too.
    let query = r#"mutation($id: ID!) {
        wrong: infrastructureResourceUpdate(infrastructureResource: { id: $id }, input: { schema: { type: "Cluster" }, data: { name: "Mail", nodes: -1 } }) {
            errors { path message }
        }
        right: infrastructureResourceUpdate(infrastructureResource: { id: $id }, input: { schema: { type: "Cluster" } }) {
            infrastructureResource { type data rawData } warnings { message } errors { path }
        }
        null: infrastructureResourceUpdate(infrastructureResource: { id: $id }, input: { schema: null, data: null }) { errors { message } }
    }"#;
    let answer = app.query(query, json!({ "id": answer["made"]["infrastructureResource"]["id"] })).await;
    let expected = json!({
        "wrong": { "errors": [{ "path": ["data", "nodes"], "message": "-1 is less than the minimum of 0" }] },
        "right": {
            "infrastructureResource": { "type": "Cluster", "data": { "name": "Mail" }, "rawData": { "name": "Mail", "fifo": true } },
            "warnings": [{ "message": "the type Cluster has no field \"fifo\"; only rawData has it" }], "errors": [],
        },
        "null": { "errors": [{ "message": "data must not be null" }] },
    });
    assert_eq!(answer["data"], expected);
}
