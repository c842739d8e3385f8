//! Property definitions, and the values that services and teams have for them.

use std::time::Duration;

use rollcall::db::Write;
use rollcall::entity::user::Role;
use rollcall::json_schema::{
    EXPANDED, FAULTS, JsonSchema, LEVELS, PATTERNS, PATTERNS_TEXT, SCHEMA, SCHEMA_OBJECTS, VALUE, VALUE_PARTS,
    read_schema, read_value,
};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::refusal::{NOT_OWN, rules_alone};

/// A service and a team.
async fn owners(app: &TestApp) -> Value {
    let query = r#"mutation {
        service: serviceCreate(input: { name: "Cart" }) { it: service { id } }
        team: teamCreate(input: { name: "Core" }) { it: team { id } }
    }"#;
    data(app, query).await
}

/// Creates a definition and returns the errors.
async fn define(app: &TestApp, name: &str, schema: Value) -> Value {
    let query = "mutation($name: String, $schema: JSONSchema) {
        propertyDefinitionCreate(input: { name: $name, schema: $schema }) { errors { path message } }
    }";
    let answer = app.query(query, json!({ "name": name, "schema": schema })).await;
    answer["data"]["propertyDefinitionCreate"]["errors"].clone()
}

/// Gives the service `cart` a value and returns the errors.
async fn assign(app: &TestApp, definition: &str, value: &str, run_validation: bool) -> Value {
    let query = r#"mutation($definition: String, $value: JsonString!, $run: Boolean) {
        propertyAssign(input: { owner: { alias: "cart" }, definition: { alias: $definition }, value: $value, runValidation: $run }) {
            property { value validationErrors { path message } } errors { path message }
        }
    }"#;
    let variables = json!({ "definition": definition, "value": value, "run": run_validation });
    app.query(query, variables).await["data"]["propertyAssign"].clone()
}

#[tokio::test]
async fn a_definition_is_created_changed_and_deleted() {
    let app = TestApp::start().await;
    let made = r#"mutation {
        object: propertyDefinitionCreate(input: {
            name: "Data Zones", description: "Where it keeps data", schema: { type: "array", items: { enum: ["eu", "us"] } },
            allowedInConfigFiles: false, lockedStatus: ui_locked, propertyDisplayStatus: hidden
        }) { definition { ...all } errors { path message } }
        text: propertyDefinitionCreate(input: { name: "Grade", schema: "{\"type\": \"string\", \"enum\": [\"a\"]}" }) {
            definition { ...all } errors { path message }
        }
        taken: propertyDefinitionCreate(input: { name: "grade", schema: {} }) { definition { id } errors { path message } }
        bare: propertyDefinitionCreate(input: {}) { definition { id } errors { path message } }
    }
    fragment all on PropertyDefinition {
        name aliases description schema displayType displaySubtype propertyDisplayStatus lockedStatus allowedInConfigFiles
        ownerType componentType { name }
    }"#;
    let expected = json!({
        "object": { "definition": {
            "name": "Data Zones", "aliases": ["data_zones"], "description": "Where it keeps data",
            "schema": { "type": "array", "items": { "enum": ["eu", "us"] } }, "displayType": "ARRAY", "displaySubtype": "DROPDOWN",
            "propertyDisplayStatus": "hidden", "lockedStatus": "ui_locked", "allowedInConfigFiles": false,
            "ownerType": null, "componentType": null,
        }, "errors": [] },
        "text": { "definition": {
            "name": "Grade", "aliases": ["grade"], "description": null, "schema": { "type": "string", "enum": ["a"] },
            "displayType": "DROPDOWN", "displaySubtype": null, "propertyDisplayStatus": "visible", "lockedStatus": "unlocked",
            "allowedInConfigFiles": true, "ownerType": null, "componentType": null,
        }, "errors": [] },
        "taken": { "definition": null, "errors": [
            { "path": ["alias"], "message": "another property definition has the alias \"grade\"" },
        ] },
        "bare": { "definition": null, "errors": [
            { "path": ["name"], "message": "name must not be empty" }, { "path": ["schema"], "message": "schema must not be null" },
        ] },
    });
    assert_eq!(data(&app, made).await, expected);
    let changed = r#"mutation {
        kept: propertyDefinitionUpdate(propertyDefinition: { alias: "data_zones" }, input: { name: "Zones" }) {
            definition { id name aliases schema lockedStatus allowedInConfigFiles timestamps { createdAt updatedAt } } errors { message }
        }
        cleared: propertyDefinitionUpdate(propertyDefinition: { alias: "data_zones" }, input: {
            description: null, lockedStatus: null, propertyDisplayStatus: null, allowedInConfigFiles: null, schema: { type: "boolean" }
        }) { definition { description lockedStatus propertyDisplayStatus allowedInConfigFiles displayType } errors { message } }
        null: propertyDefinitionUpdate(propertyDefinition: { alias: "grade" }, input: { name: null, schema: null }) { errors { path } }
        gone: propertyDefinitionUpdate(propertyDefinition: { alias: "no" }, input: {}) { errors { path message } }
        deleted: propertyDefinitionDelete(resource: { alias: "grade" }) { deletedId errors { message } }
        again: propertyDefinitionDelete(resource: { alias: "grade" }) { deletedId errors { path message } }
    }"#;
    let mut answer = data(&app, changed).await;
    let kept = answer["kept"]["definition"].take();
    assert_eq!((&kept["name"], &kept["aliases"]), (&json!("Zones"), &json!(["data_zones"])));
    assert_eq!((&kept["lockedStatus"], &kept["allowedInConfigFiles"]), (&json!("ui_locked"), &json!(false)));
    assert!(kept["timestamps"]["updatedAt"].as_str() > kept["timestamps"]["createdAt"].as_str());
    assert!(answer["deleted"]["deletedId"].take().is_string());
    let missing = |path: &str, alias: &str| json!({ "path": [path, "alias"], "message": format!("a property definition with the alias \"{alias}\" does not exist on this account") });
    let expected = json!({
        "kept": { "definition": null, "errors": [] },
        "cleared": { "definition": {
            "description": null, "lockedStatus": "unlocked", "propertyDisplayStatus": "visible", "allowedInConfigFiles": true,
            "displayType": "BOOLEAN",
        }, "errors": [] },
        "null": { "errors": [{ "path": ["name"] }, { "path": ["schema"] }] },
        "gone": { "errors": [missing("propertyDefinition", "no")] },
        "deleted": { "deletedId": null, "errors": [] },
        "again": { "deletedId": null, "errors": [missing("resource", "grade")] },
    });
    assert_eq!(answer, expected);
    let by_id = "query($id: ID!) { account { propertyDefinition(input: { id: $id }) { name } } }";
    let found = app.query(by_id, json!({ "id": kept["id"] })).await;
    assert_eq!(found["data"]["account"]["propertyDefinition"], json!({ "name": "Zones" }));
}

#[tokio::test]
async fn services_and_teams_have_values_for_definitions() {
    let app = TestApp::start().await;
    let ids = owners(&app).await;
    define(&app, "Lanes", json!({ "type": "array" })).await;
    define(&app, "Grade", json!({ "type": "string" })).await;
    let query = r#"mutation {
        cart: propertyAssign(input: { owner: { alias: "cart" }, definition: { alias: "grade" }, value: "\"a\"" }) {
            property { id value locked definition { name } owner { __typename ... on Service { id aliases } ... on Team { alias id } } }
            errors { message }
        }
        core: propertyAssign(input: { owner: { alias: "core" }, definition: { alias: "lanes" }, value: " [1,  2]" }) {
            property { id value locked definition { name } owner { __typename ... on Service { id aliases } ... on Team { alias id } } }
            errors { message }
        }
        stray: propertyAssign(input: { owner: { alias: "core" }, ownerType: COMPONENT, definition: { alias: "no" }, value: "1" }) {
            errors { path message }
        }
    }"#;
    let answer = data(&app, query).await;
    let (service, team) = (&ids["service"]["it"]["id"], &ids["team"]["it"]["id"]);
    let id = answer["cart"]["property"]["id"].clone();
    let expected = json!({
        "cart": { "property": {
            "id": id, "value": "\"a\"", "locked": false, "definition": { "name": "Grade" },
            "owner": { "__typename": "Service", "id": service, "aliases": ["cart", "Cart"] },
        }, "errors": [] },
        "core": { "property": {
            "id": answer["core"]["property"]["id"], "value": " [1,  2]", "locked": false, "definition": { "name": "Lanes" },
            "owner": { "__typename": "Team", "alias": "core", "id": team },
        }, "errors": [] },
        "stray": { "errors": [
            { "path": ["owner", "alias"], "message": "a service with the alias \"core\" does not exist on this account" },
            { "path": ["definition", "alias"], "message": "a property definition with the alias \"no\" does not exist on this account" },
        ] },
    });
    assert_eq!(answer, expected);

    // A second value for a definition replaces the first.
    let again = assign(&app, "grade", "\"b\"", true).await;
    assert_eq!(again["errors"], json!([]));
    let query = r#"query($service: ID!) { account {
        property(owner: { id: $service }, definition: { alias: "grade" }) { id value }
        none: property(owner: { alias: "cart" }, definition: { alias: "lanes" }) { value }
        ofTeam: property(owner: { alias: "core" }, definition: { alias: "lanes" }) { value }
        nobody: property(owner: { alias: "no" }, definition: { alias: "lanes" }) { value }
        nothing: propertyDefinition(input: { alias: "no" }) { name }
        services { nodes {
            properties { totalCount nodes { value definition { aliases } } }
            property(definition: { alias: "grade" }) { value }
            none: property(definition: { alias: "no" }) { value }
        } }
        team(alias: "core") { properties { nodes { value } } property(definition: { alias: "lanes" }) { value } }
    } }"#;
    let answer = app.query(query, json!({ "service": service })).await["data"]["account"].clone();
    let lanes = json!({ "value": " [1,  2]" });
    let expected = json!({
        "property": { "id": id, "value": "\"b\"" }, "none": null, "ofTeam": lanes, "nobody": null, "nothing": null,
        "services": { "nodes": [{
            "properties": { "totalCount": 1, "nodes": [{ "value": "\"b\"", "definition": { "aliases": ["grade"] } }] },
            "property": { "value": "\"b\"" }, "none": null,
        }] },
        "team": { "properties": { "nodes": [lanes] }, "property": lanes },
    });
    assert_eq!(answer, expected);

    let query = r#"mutation {
        locked: propertyDefinitionUpdate(propertyDefinition: { alias: "lanes" }, input: { lockedStatus: ui_locked }) { errors { message } }
        changed: propertyAssign(input: { owner: { alias: "core" }, definition: { alias: "lanes" }, value: "[]" }) { property { locked } }
        gone: propertyUnassign(owner: { alias: "cart" }, definition: { alias: "grade" }) { deletedId errors { message } }
        again: propertyUnassign(owner: { alias: "cart" }, definition: { alias: "grade" }) { deletedId errors { path message } }
        definition: propertyDefinitionDelete(resource: { alias: "lanes" }) { errors { message } }
    }"#;
    let expected = json!({
        "locked": { "errors": [] },
        "changed": { "property": { "locked": true } },
        "gone": { "deletedId": id, "errors": [] },
        "again": { "deletedId": null, "errors": [
            { "path": ["base"], "message": "a value of the owner for this property definition does not exist on this account" },
        ] },
        "definition": { "errors": [] },
    });
    assert_eq!(data(&app, query).await, expected);
    let left = data(&app, r#"{ account { team(alias: "core") { properties { totalCount } } } }"#).await;
    assert_eq!(left["account"]["team"]["properties"]["totalCount"], 0);
}

#[tokio::test]
async fn a_value_that_violates_its_schema_is_refused_or_stored_with_its_errors() {
    let app = TestApp::start().await;
    owners(&app).await;
    let schema = json!({
        "type": "object", "required": ["zone"],
        "properties": { "zone": { "enum": ["eu", "us"] }, "hosts": { "items": { "type": "string", "pattern": "^[a-z]+$" } } },
    });
    assert_eq!(define(&app, "Site", schema).await, json!([]));
    let value = r#"{"zone": "mars", "hosts": ["a", "B", 3]}"#;
    let faults = json!([
        { "path": ["value", "hosts", "1"], "message": "\"B\" does not match \"^[a-z]+$\"" },
        { "path": ["value", "hosts", "2"], "message": "3 is not of type \"string\"" },
        { "path": ["value", "zone"], "message": "\"mars\" is not one of \"eu\" or \"us\"" },
    ]);
    let sorted = |faults: &Value| {
        let mut faults = faults.as_array().expect("faults").clone();
        faults.sort_by_key(Value::to_string);
        Value::from(faults)
    };
    let refused = assign(&app, "site", value, true).await;
    assert_eq!(refused["property"], Value::Null);
    assert_eq!(sorted(&refused["errors"]), sorted(&faults));
    let stored = assign(&app, "site", value, false).await;
    assert_eq!((&stored["property"]["value"], &stored["errors"]), (&json!(value), &json!([])));
    assert_eq!(sorted(&stored["property"]["validationErrors"]), sorted(&faults));
    let right = assign(&app, "site", r#"{"zone": "eu"}"#, true).await;
    assert_eq!(right, json!({ "property": { "value": "{\"zone\": \"eu\"}", "validationErrors": [] }, "errors": [] }));
}

#[tokio::test]
async fn values_stay_when_a_schema_changes_and_list_their_violations() {
    let app = TestApp::start().await;
    owners(&app).await;
    define(&app, "Grade", json!({ "type": "string" })).await;
    assign(&app, "grade", "\"a\"", true).await;
    let query = r#"mutation { propertyDefinitionUpdate(propertyDefinition: { alias: "grade" }, input: { schema: { type: "integer" } }) {
        errors { message }
    } }"#;
    assert_eq!(data(&app, query).await["propertyDefinitionUpdate"]["errors"], json!([]));
    let query = r#"{ account { service(alias: "cart") { properties { nodes { value validationErrors { path message } } } } } }"#;
    let expected = json!([{ "value": "\"a\"", "validationErrors": [
        { "path": ["value"], "message": "\"a\" is not of type \"integer\"" },
    ] }]);
    assert_eq!(data(&app, query).await["account"]["service"]["properties"]["nodes"], expected);
}

#[tokio::test]
async fn a_component_type_has_definitions_of_its_own() {
    let app = TestApp::start().await;
    owners(&app).await;
    let property = |alias: &str, kind: &str| {
        json!({
            "alias": alias, "name": alias, "description": "", "allowedInConfigFiles": true, "propertyDisplayStatus": "visible",
            "schema": { "type": kind },
        })
    };
    let create = "mutation($properties: [ComponentTypePropertyDefinitionInput!]) {
        componentTypeCreate(input: { name: \"Pump\", properties: $properties }) {
            componentType { properties { nodes { id aliases ownerType componentType { name } schema } } } errors { path message }
        }
    }";
    let given = json!({ "properties": [property("flow", "number"), property("bore", "number")] });
    let made = app.query(create, given).await["data"]["componentTypeCreate"].clone();
    assert_eq!(made["errors"], json!([]));
    let nodes = &made["componentType"]["properties"]["nodes"];
    let expected = |node: &Value, alias: &str, kind: &str| {
        json!({
            "id": node["id"], "aliases": [alias], "ownerType": "COMPONENT", "componentType": { "name": "Pump" }, "schema": { "type": kind },
        })
    };
    assert_eq!(nodes[0], expected(&nodes[0], "flow", "number"));
    let refused = assign(&app, "flow", "1", true).await;
    let stray =
        json!([{ "path": ["definition"], "message": "this property definition is for another component type" }]);
    assert_eq!(refused["errors"], stray);
    let typed =
        r#"mutation { serviceUpdate(input: { alias: "cart", type: { alias: "pump" } }) { errors { message } } }"#;
    data(&app, typed).await;
    assert_eq!(assign(&app, "flow", "1", true).await["errors"], json!([]));

    let update = "mutation($properties: [ComponentTypePropertyDefinitionInput!]) {
        componentTypeUpdate(componentType: { alias: \"pump\" }, input: { properties: $properties }) {
            componentType { properties { nodes { id aliases schema } } } errors { path message }
        }
    }";
    let both =
        json!({ "properties": [property("bore", "number"), property("bore", "number"), property("", "number")] });
    let refused = app.query(update, both).await["data"]["componentTypeUpdate"]["errors"].clone();
    let expected = json!([
        { "path": ["properties", "1", "alias"], "message": "the alias \"bore\" is given twice" },
        { "path": ["properties", "2", "name"], "message": "name must not be empty" },
        { "path": ["properties", "2", "alias"], "message": "alias must not be empty" },
    ]);
    assert_eq!(refused, expected);
    let given = json!({ "properties": [property("head", "number"), property("flow", "string")] });
    let changed = app.query(update, given).await["data"]["componentTypeUpdate"].clone();
    let expected = json!([
        { "id": nodes[0]["id"], "aliases": ["flow"], "schema": { "type": "string" } },
        { "id": changed["componentType"]["properties"]["nodes"][1]["id"], "aliases": ["head"], "schema": { "type": "number" } },
    ]);
    assert_eq!(changed["componentType"]["properties"]["nodes"], expected);

    // A service whose type changes keeps its values, which report that they no longer apply.
    let typed = r#"mutation {
        serviceUpdate(input: { alias: "cart", type: null }) { errors { message } }
        teams: propertyAssign(input: { owner: { alias: "core" }, definition: { alias: "flow" }, value: "\"1\"" }) { errors { message } }
    }"#;
    let message = "this property definition is for a component type, not for teams";
    assert_eq!(data(&app, typed).await["teams"]["errors"], json!([{ "message": message }]));
    let query = r#"{ account {
        service(alias: "cart") { properties { nodes { validationErrors { path message } } } }
        propertyDefinitions(first: 1) { totalCount nodes { aliases } }
    } }"#;
    let account = data(&app, query).await["account"].clone();
    let expected = json!([
        { "path": ["value"], "message": "1 is not of type \"string\"" },
        { "path": ["definition"], "message": "this property definition is for another component type" },
    ]);
    assert_eq!(account["service"]["properties"]["nodes"][0]["validationErrors"], expected);
    assert_eq!(account["propertyDefinitions"], json!({ "totalCount": 2, "nodes": [{ "aliases": ["flow"] }] }));
    data(&app, r#"mutation { componentTypeDelete(resource: { alias: "pump" }) { errors { message } } }"#).await;
    let left = data(
        &app,
        "{ account { propertyDefinitions { totalCount } services { nodes { properties { totalCount } } } } }",
    )
    .await;
    assert_eq!(left["account"]["propertyDefinitions"]["totalCount"], 0);
    assert_eq!(left["account"]["services"]["nodes"], json!([{ "properties": { "totalCount": 0 } }]));
}

#[tokio::test]
async fn teams_have_definitions_of_their_own() {
    let app = TestApp::start().await;
    owners(&app).await;
    let query = r#"mutation {
        made: teamPropertyDefinitionCreate(input: {
            alias: "rota", name: "Rota", description: "Who is on call", lockedStatus: ui_locked, schema: { type: "array", items: { type: "boolean" } }
        }) { definition { id name alias description schema displayType displaySubtype lockedStatus } errors { path message } }
        changed: teamPropertyDefinitionUpdate(propertyDefinition: { alias: "rota" }, input: {
            alias: "duty", name: "Duty", description: "", schema: { type: "string" }
        }) { definition { name alias description displayType lockedStatus } errors { path message } }
        general: propertyDefinitionCreate(input: { name: "Grade", schema: {} }) { errors { message } }
        other: teamPropertyDefinitionUpdate(propertyDefinition: { alias: "grade" }, input: {
            alias: "grade", name: "Grade", description: "", schema: {}
        }) { errors { path message } }
        team: propertyAssign(input: { owner: { alias: "core" }, definition: { alias: "duty" }, value: "\"ada\"" }) { errors { message } }
        service: propertyAssign(input: { owner: { alias: "cart" }, definition: { alias: "duty" }, value: "\"ada\"" }) { errors { path message } }
    }"#;
    let mut answer = data(&app, query).await;
    let id = answer["made"]["definition"]["id"].take();
    let expected = json!({
        "made": { "definition": {
            "id": null, "name": "Rota", "alias": "rota", "description": "Who is on call",
            "schema": { "type": "array", "items": { "type": "boolean" } }, "displayType": "ARRAY", "displaySubtype": "BOOLEAN",
            "lockedStatus": "ui_locked",
        }, "errors": [] },
        "changed": { "definition": {
            "name": "Duty", "alias": "duty", "description": "", "displayType": "TEXT", "lockedStatus": "ui_locked",
        }, "errors": [] },
        "general": { "errors": [] },
        "other": { "errors": [{
            "path": ["propertyDefinition"], "message": "this property definition is not for teams; use propertyDefinitionUpdate",
        }] },
        "team": { "errors": [] },
        "service": { "errors": [{ "path": ["definition"], "message": "this property definition is for teams, not for services" }] },
    });
    assert_eq!(answer, expected);
    let query = r#"mutation { teamPropertyDefinitionsAssign(input: { properties: [
        { alias: "room", name: "Room", description: "", schema: { type: "string" } },
        { alias: "duty", name: "Watch", description: "", schema: { type: "string" } }
    ] }) { properties(first: 5) { totalCount nodes { id alias name } } errors { path message } } }"#;
    let assigned = data(&app, query).await["teamPropertyDefinitionsAssign"].clone();
    let room = &assigned["properties"]["nodes"][1]["id"];
    let expected = json!({ "properties": { "totalCount": 2, "nodes": [
        { "id": id, "alias": "duty", "name": "Watch" }, { "id": room, "alias": "room", "name": "Room" },
    ] }, "errors": [] });
    assert_eq!(assigned, expected);
    let query = r#"{ account {
        teamPropertyDefinition(input: { alias: "duty" }) { name }
        general: teamPropertyDefinition(input: { alias: "grade" }) { name }
        propertyDefinition(input: { alias: "duty" }) { ownerType }
        teamPropertyDefinitions { totalCount }
        propertyDefinitions { totalCount }
        team(alias: "core") { properties { nodes { value } } }
    } }"#;
    let expected = json!({
        "teamPropertyDefinition": { "name": "Watch" }, "general": null, "propertyDefinition": { "ownerType": "TEAM" },
        "teamPropertyDefinitions": { "totalCount": 2 }, "propertyDefinitions": { "totalCount": 1 },
        "team": { "properties": { "nodes": [{ "value": "\"ada\"" }] } },
    });
    assert_eq!(data(&app, query).await["account"], expected);
    let query = "mutation { teamPropertyDefinitionsAssign(input: { properties: [] }) { properties { totalCount } errors { message } } }";
    let expected = json!({ "properties": { "totalCount": 0 }, "errors": [] });
    assert_eq!(data(&app, query).await["teamPropertyDefinitionsAssign"], expected);
}

#[tokio::test]
async fn a_locked_service_keeps_its_values() {
    let app = TestApp::start().await;
    owners(&app).await;
    define(&app, "Grade", json!({})).await;
    let lock = "UPDATE service SET locked_by = 'rollcall.yml'";
    let writing = app.db.begin_write().await.expect("a transaction");
    writing.script(lock).await.expect("a service");
    app.db.commit(writing).await.expect("it is locked");
    let refused = assign(&app, "grade", "1", true).await;
    assert_eq!(refused["errors"][0]["path"], json!(["locked"]));
}

#[tokio::test]
async fn a_json_schema_is_bounded_and_refers_only_to_itself() {
    let app = TestApp::start().await;
    let refused = async |schema: Value| {
        let errors = define(&app, "No", schema).await;
        assert_eq!(errors[0]["path"], json!(["schema"]), "{errors}");
        errors[0]["message"].as_str().expect("a sentence").to_owned()
    };
    let twice = |from: usize| json!({ "allOf": [{ "$ref": format!("#/$defs/{from}") }, { "$ref": format!("#/$defs/{from}") }] });
    let bomb: serde_json::Map<_, _> =
        (0..40).map(|place| (place.to_string(), twice(place + 1))).chain([("40".to_owned(), json!({}))]).collect();
    let objects: Vec<_> = (0..=SCHEMA_OBJECTS).map(|_| json!({})).collect();
    let patterns: Vec<_> = (0..=PATTERNS).map(|_| json!({ "pattern": "a" })).collect();
    let deep = (0..LEVELS).fold(json!({}), |inner, _| json!({ "not": inner }));
    for (schema, part) in [
        (json!({ "$ref": "#" }), "refers to itself"),
        (json!({ "pattern": "a".repeat(PATTERNS_TEXT + 1) }), "has patterns of 4097 bytes"),
        (json!({ "patternProperties": { "a".repeat(PATTERNS_TEXT + 1): {} } }), "has patterns of 4097 bytes"),
        (
            json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "items": { "$ref": "#/$defs/a" } } } }),
            "refers to itself",
        ),
        (json!({ "$ref": "https://example.com/schema.json" }), "must lead to a part of the same schema"),
        (json!({ "$ref": "file:///etc/passwd" }), "must lead to a part of the same schema"),
        (json!({ "$ref": "#/$defs/no" }), "must lead to a part of the same schema"),
        (json!({ "$dynamicRef": "#a" }), "the keyword $dynamicRef, which is not supported"),
        (json!({ "items": { "$id": "https://example.com/" } }), "has $id in a part of it"),
        (json!({ "unevaluatedProperties": false }), "is not supported"),
        (json!({ "$schema": "http://json-schema.org/draft-04/schema#" }), "draft 7, 2019-09 or 2020-12"),
        (json!({ "$defs": bomb, "$ref": "#/$defs/0" }), "with its references expanded; at most"),
        (json!({ "anyOf": objects }), "objects with its references expanded; at most 500"),
        (json!({ "anyOf": patterns }), "patterns with its references expanded; at most 10"),
        (json!({ "description": "x".repeat(SCHEMA) }), "at most 32768 are allowed"),
        (deep, "has more than 20 levels"),
        (json!({ "pattern": "(" }), "is not a JSON Schema"),
        (json!({ "pattern": "(a)\\1" }), "is not a JSON Schema"),
        (json!({ "pattern": "(?=a)b" }), "is not a JSON Schema"),
        (json!({ "pattern": "((a{100}){100}){100}" }), "is not a JSON Schema"),
        (json!({ "type": "no_such_type" }), "is not a JSON Schema at /type"),
    ] {
        let message = refused(schema.clone()).await;
        assert!(message.contains(part), "{schema}: {message}");
    }
    for (name, schema) in [
        (
            "a",
            json!({ "$schema": "http://json-schema.org/draft-07/schema#", "definitions": { "x": { "type": "string" } }, "$ref": "#/definitions/x" }),
        ),
        (
            "b",
            json!({ "$id": "https://json-schema.org/draft/2020-12/schema", "items": { "$ref": "#/$defs/a~1b" }, "$defs": { "a/b": { "type": "number" } } }),
        ),
        (
            "c",
            json!({ "properties": { "$ref": { "type": "string" }, "enum": { "type": "string" } }, "pattern": "^\\d+\\.\\w+$" }),
        ),
    ] {
        assert_eq!(define(&app, name, schema).await, json!([]), "{name}");
    }
}

#[tokio::test]
async fn a_value_is_bounded() {
    let app = TestApp::start().await;
    owners(&app).await;
    define(&app, "Any", json!({})).await;
    let deep = format!("{}{}", "[".repeat(LEVELS + 1), "]".repeat(LEVELS + 1));
    for (value, part) in [
        ("\"".to_owned() + &"x".repeat(VALUE) + "\"", "value has 8194 bytes; at most 8192 are allowed"),
        (format!("[{}0]", "0,".repeat(VALUE_PARTS)), "value has more than 500 parts"),
        (deep, "value has more than 20 levels"),
        ("[".repeat(VALUE), "value is not valid JSON"),
        ("{'a': 1}".to_owned(), "value is not valid JSON"),
        (String::new(), "value is not valid JSON"),
    ] {
        let refused = assign(&app, "any", &value, false).await;
        assert_eq!(refused["errors"][0]["path"], json!(["value"]));
        let message = refused["errors"][0]["message"].as_str().expect("a sentence");
        assert!(message.starts_with(part), "{message}");
    }
    // A database text cannot hold the NUL character. As a JSON escape it is six other characters.
    assert_eq!(assign(&app, "any", "\"a\\u0000b\"", true).await["errors"], json!([]));
}

#[tokio::test]
async fn services_are_filtered_by_their_property_values() {
    let app = TestApp::start().await;
    owners(&app).await;
    define(&app, "Grade", json!({})).await;
    let long = "x".repeat(300);
    let text = format!("\"{long}\"");
    let cases = [
        ("\"Gold 50%\"", "equals", "grade:Gold 50%".to_owned(), true, 1),
        ("\"Gold 50%\"", "contains", "grade:OLD 50%".to_owned(), false, 1),
        ("\"Gold 50%\"", "contains", "grade:OLD 50%".to_owned(), true, 0),
        ("\"Gold 50%\"", "does_not_equal", "grade:Gold".to_owned(), true, 1),
        ("\"Gold 50%\"", "matches_regex", "grade:^G.*%$".to_owned(), true, 1),
        (" 3", "equals", "grade:3".to_owned(), true, 1),
        ("[\"a\", 1]", "equals", "grade:[\"a\",1]".to_owned(), true, 1),
        (&*text, "equals", format!("grade:{}", &long[..255]), true, 1),
        ("null", "exists", "grade".to_owned(), true, 1),
        ("null", "does_not_exist", "grade".to_owned(), true, 0),
    ];
    let query = "query($type: TypeEnum, $arg: String, $case: Boolean) { account {
        services(filter: [{ key: property, type: $type, arg: $arg, caseSensitive: $case }]) { totalCount }
    } }";
    for (value, kind, arg, case, count) in cases {
        assert_eq!(assign(&app, "grade", value, true).await["errors"], json!([]));
        let answer = app.query(query, json!({ "type": kind, "arg": arg, "case": case })).await;
        assert_eq!(answer["data"]["account"]["services"]["totalCount"], count, "{kind} {arg}: {answer}");
    }
    for (arg, message) in [
        (Value::Null, "the definition of the property must be given"),
        (json!("no:1"), "a property definition with the id or alias \"no\" does not exist on this account"),
    ] {
        let answer = app.query(query, json!({ "type": "equals", "arg": arg, "case": true })).await;
        assert_eq!(answer["errors"][0]["message"], message);
    }
}

#[tokio::test]
async fn a_team_member_sets_properties_of_services_that_the_team_owns() {
    let app = TestApp::start().await;
    let member = Browser::of(&app, Role::TeamMember).await;
    let made = r#"mutation {
        own: teamCreate(input: { name: "Own", members: { email: "teammember@example.com" } }) { team { id } }
        other: teamCreate(input: { name: "Other" }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart", ownerInput: { alias: "own" } }) { errors { message } }
        mail: serviceCreate(input: { name: "Mail", ownerInput: { alias: "other" } }) { errors { message } }
        base: infrastructureResourceCreate(input: { schema: { type: "Queue" }, data: { name: "Base" } }) { infrastructureResource { id } }
        any: propertyDefinitionCreate(input: { name: "Any", schema: {} }) { errors { message } }
        set: propertyAssign(input: { owner: { alias: "mail" }, definition: { alias: "any" }, value: "1" }) { errors { message } }
    }"#;
    let made = data(&app, made).await;
    let changes = r#"mutation($own: ID, $base: ID) {
        service: propertyAssign(input: { owner: { alias: "cart" }, definition: { alias: "any" }, value: "1" }) { errors { message } }
        team: propertyAssign(input: { owner: { alias: "own" }, definition: { alias: "any" }, value: "1" }) { errors { message } }
        gone: propertyUnassign(owner: { alias: "cart" }, definition: { alias: "any" }) { errors { message } }
        queue: infrastructureResourceCreate(input: { schema: { type: "Queue" }, data: { name: "Q" }, ownerId: $own }) { errors { message } }
        otherService: propertyAssign(input: { owner: { alias: "mail" }, definition: { alias: "any" }, value: "2" }) { errors { message } }
        otherGone: propertyUnassign(owner: { alias: "mail" }, definition: { alias: "any" }) { errors { message } }
        otherTeam: propertyAssign(input: { owner: { alias: "other" }, definition: { alias: "any" }, value: "2" }) { errors { message } }
        definition: propertyDefinitionCreate(input: { name: "Other", schema: {} }) { errors { message } }
        otherQueue: infrastructureResourceDelete(resource: { id: $base }) { errors { message } }
    }"#;
    let ids = json!({ "own": made["own"]["team"]["id"], "base": made["base"]["infrastructureResource"]["id"] });
    let answer = member.query(changes, ids).await;
    for (name, payload) in answer["data"].as_object().expect("payloads") {
        let refused = ["otherService", "otherGone", "otherTeam", "definition", "otherQueue"].contains(&name.as_str());
        let expected = if refused { json!([{ "message": NOT_OWN }]) } else { json!([]) };
        assert_eq!(rules_alone(payload["errors"].clone()), expected, "{name}");
    }
    let left = data(&app, r#"{ account { service(alias: "mail") { properties { nodes { value } } } } }"#).await;
    assert_eq!(left["account"]["service"]["properties"]["nodes"], json!([{ "value": "1" }]));
}

/// The costliest schemas and values within all limits. Checking any of them takes little of a processor, however busy
/// the machine is. Unoptimised builds take many times as long.
#[test]
fn the_costliest_schema_check_ends_soon() {
    let repeated = |part: &str, count: usize| vec![part; count].join(",");
    let numbers = format!("[{}]", repeated("1", VALUE_PARTS - 1));
    let text = format!("\"{}\"", "a".repeat(VALUE - 2));
    let states = |count: usize| format!("{{\"pattern\":\"[ab]*a[ab]{{{count}}}c\"}}");
    let counts = (1..100).map(|hundreds| hundreds * 100);
    let longest =
        counts.take_while(|count| read_schema("schema", &states(*count)).is_ok()).last().expect("some are allowed");
    let mut random = fastrand::Rng::with_seed(7);
    let letters: String = (0..VALUE - 2).map(|_| if random.bool() { 'a' } else { 'b' }).collect();
    let letters = format!("\"{letters}\"");
    let lists = format!("[{}]", repeated("[[],[]]", 120));
    let wide = |keyword: &str, part: &str, count: usize| {
        format!("{{\"items\": {{\"{keyword}\": [{}]}}}}", repeated(part, count))
    };
    let options =
        format!("{{\"items\": {{\"enum\": [{}]}}}}", (2..6_000).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    let names: serde_json::Map<_, _> = (0..400).map(|n| (format!("a{n}"), json!(1))).collect();
    let cases = [
        ("numbers against anyOf", wide("anyOf", "{\"multipleOf\":1e-300}", 490), &numbers),
        ("numbers against allOf", wide("allOf", "{\"multipleOf\":0.1}", 490), &numbers),
        ("numbers against oneOf", wide("oneOf", "{\"type\":\"string\"}", 490), &numbers),
        ("numbers against an enumeration", options, &numbers),
        ("lists against contains", wide("anyOf", "{\"contains\":{\"type\":\"string\"}}", 245), &lists),
        ("unique items", wide("allOf", "{\"uniqueItems\":true}", 490), &lists),
        (
            "a text against patterns",
            format!("{{\"allOf\": [{}]}}", repeated("{\"pattern\":\"(a|a?){40}b\"}", PATTERNS)),
            &text,
        ),
        (
            "a text against long patterns",
            format!("{{\"allOf\": [{}]}}", repeated("{\"pattern\":\"^(.{0,8}a){1,2}b\"}", PATTERNS)),
            &text,
        ),
        (
            "letters against patterns of many states",
            format!("{{\"allOf\": [{}]}}", repeated(&states(longest), PATTERNS)),
            &letters,
        ),
        (
            "letters against patterns in choices",
            (0..7).fold(format!("{{\"allOf\": [{}]}}", repeated(&states(longest), PATTERNS)), |inner, _| {
                format!("{{\"anyOf\": [{inner}]}}")
            }),
            &letters,
        ),
        (
            "a text against folded letters that need not be there",
            json!({ "pattern": format!("(?:(?i:{})){{0}}", "\\p{L}".repeat((PATTERNS_TEXT - 12) / 5)) }).to_string(),
            &text,
        ),
        ("a text against a format", "{\"format\":\"regex\"}".to_owned(), &text),
        (
            "names against patterns",
            format!(
                "{{\"patternProperties\": {{{}}}}}",
                (0..PATTERNS)
                    .map(|n| format!("\"[a-{n}0-9]{{1,50}}x\":false"))
                    .collect::<Vec<_>>()
                    .join(",")
                    .replace("a-", "a-z")
            ),
            &serde_json::to_string(&names).expect("JSON"),
        ),
    ];
    let allowed = Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 1 });
    for (name, schema, value) in cases {
        let began = processor_time();
        let read = read_schema("schema", &schema).unwrap_or_else(|error| panic!("{name}: {}", error.message));
        let value = read_value("value", value).unwrap_or_else(|error| panic!("{name}: {}", error.message));
        let read_in = processor_time() - began;
        let began = processor_time();
        let schema = JsonSchema::of_row(&read.to_string()).unwrap_or_else(|message| panic!("{name}: {message}"));
        let compiled_in = processor_time() - began;
        let faults = schema.faults(&value);
        assert!(faults.len() <= FAULTS);
        let took = processor_time() - began;
        println!(
            "{name}: read in {read_in:?}, compiled in {compiled_in:?}, checked in {took:?}, {} faults",
            faults.len()
        );
        assert!(took < allowed, "{name} took {took:?}");
    }
    const { assert!(EXPANDED >= SCHEMA) };
}

/// The processor time of this thread so far.
fn processor_time() -> Duration {
    Duration::from_nanos(rollcall::budget::thread_clock())
}

/// To tell what is wrong in choices within each other, each is checked again, and all that fails in them is held.
#[test]
fn a_value_is_refused_without_details_where_they_cost_too_much() {
    let faults = |schema: &Value, value: &Value| {
        let schema = JsonSchema::of_row(&schema.to_string()).expect("it is allowed");
        schema.faults(value).into_iter().map(|fault| (fault.message, fault.path)).collect::<Vec<_>>()
    };
    let nested = |innermost: Value, depth: usize| {
        (0..depth).fold(innermost, |inner, _| json!({ "oneOf": [inner, { "type": "null" }] }))
    };
    let untold = "the value does not fit its schema, which has too many choices to say where".to_owned();
    let untold = vec![(untold, Vec::<String>::new())];
    let (number, text) = (json!({ "minimum": 2 }), json!({ "pattern": "b$" }));
    let (short, long) = (json!("a".repeat(512)), json!("a".repeat(513)));
    assert!(faults(&nested(number.clone(), 4), &json!(2)).is_empty());
    for (schema, value) in [
        (nested(number.clone(), 4), json!(1)),
        (nested(json!({ "maxLength": 1 }), 4), long.clone()),
        (nested(text.clone(), 4), short),
        (nested(text.clone(), 2), long.clone()),
    ] {
        let told = faults(&schema, &value);
        assert!(told.len() == 1 && told != untold, "{told:?}");
    }
    assert_eq!(faults(&nested(text, 3), &long), untold);
    let many = json!({ "items": nested(number, 7) });
    assert_eq!(faults(&many, &json!(vec![1; VALUE_PARTS - 1])), untold);
    let wide = |keyword: &str| json!({ "items": { keyword: vec![json!({ "type": "string" }); 50] } });
    let numbers = json!(vec![1; VALUE_PARTS - 1]);
    assert_eq!(faults(&wide("anyOf"), &numbers), untold);
    let told = faults(&wide("allOf"), &numbers);
    assert_eq!(told, [("1 is not of type \"string\"".to_owned(), vec!["0".to_owned()])]);
}

#[tokio::test]
async fn a_page_shows_the_properties_that_are_not_hidden() {
    let app = TestApp::start().await;
    owners(&app).await;
    for name in ["Zones", "Grade", "Public", "Size", "Site", "Secret"] {
        define(&app, name, json!({})).await;
    }
    let hide = r#"mutation { propertyDefinitionUpdate(propertyDefinition: { alias: "secret" }, input: { propertyDisplayStatus: hidden }) {
        errors { message }
    } }"#;
    data(&app, hide).await;
    let browser = Browser::of(&app, Role::Viewer).await;
    assert!(!browser.page("/services/cart").await.contains("id=\"properties\""));
    for (definition, value) in [
        ("zones", r#"["<eu>", 1]"#),
        ("grade", "\"gold\""),
        ("public", "true"),
        ("size", "2.5"),
        ("site", r#"{"a": 1}"#),
        ("secret", "\"hush\""),
    ] {
        assert_eq!(assign(&app, definition, value, true).await["errors"], json!([]));
    }
    let core = r#"mutation { propertyAssign(input: { owner: { alias: "core" }, definition: { alias: "grade" }, value: "\"silver\"" }) {
        errors { message }
    } }"#;
    data(&app, core).await;
    let page = browser.page("/services/cart").await;
    for shown in [
        "<dt>Zones</dt><dd><ul class=\"marks\"><li><span class=\"mark none\">&lt;eu&gt;</span></li>",
        "<dt>Grade</dt><dd>gold</dd>",
        "<dt>Public</dt><dd>yes</dd>",
        "<dt>Size</dt><dd>2.5</dd>",
        "<dt>Site</dt><dd>a: 1</dd>",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(!page.contains("hush"), "{page}");
    assert!(browser.page("/teams/core").await.contains("<dt>Grade</dt><dd>silver</dd>"));
}
