//! Systems and domains: a domain holds systems, a system holds services.

use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::services::lock;

/// A domain with a system with a service, and the ids of all.
async fn shop(app: &TestApp) -> Value {
    let made = data(
        app,
        r#"mutation {
            Team: teamCreate(input: { name: "Core" }) { it: team { id } }
            Service: serviceCreate(input: { name: "Cart" }) { it: service { id } }
            System: systemCreate(input: { name: "Web Shop", description: "Sells" }) { it: system { id } errors { message } }
            Domain: domainCreate(input: { name: "Commerce" }) { it: domain { id } errors { message } }
            systemChildAssign(system: { alias: "web_shop" }, childServices: { alias: "cart" }) { errors { message } }
            domainChildAssign(domain: { alias: "commerce" }, childSystems: [{ alias: "web_shop" }]) { errors { message } }
        }"#,
    )
    .await;
    for assigned in ["systemChildAssign", "domainChildAssign"] {
        assert_eq!(made[assigned]["errors"], json!([]));
    }
    made
}

#[tokio::test]
async fn a_service_leads_to_its_system_and_domain_and_back() {
    let app = TestApp::start().await;
    shop(&app).await;
    let query = r#"{ account {
        service(alias: "cart") { parent { name parent { name } } }
        system(input: { alias: "web_shop" }) { aliases managedAliases childServices { totalCount nodes { name } } parent { name } }
        domain(input: { alias: "commerce" }) { childSystems { nodes { name childServices { nodes { name } } } } }
        systems { totalCount nodes { htmlUrl } }
        domains { totalCount nodes { htmlUrl } }
    } }"#;
    let account = data(&app, query).await["account"].clone();
    assert_eq!(account["service"], json!({ "parent": { "name": "Web Shop", "parent": { "name": "Commerce" } } }));
    assert_eq!(
        account["system"],
        json!({
            "aliases": ["web_shop"], "managedAliases": [], "parent": { "name": "Commerce" },
            "childServices": { "totalCount": 1, "nodes": [{ "name": "Cart" }] },
        })
    );
    assert_eq!(
        account["domain"]["childSystems"]["nodes"],
        json!([{ "name": "Web Shop", "childServices": { "nodes": [{ "name": "Cart" }] } }])
    );
    for (list, page) in [("systems", "/systems/web_shop"), ("domains", "/domains/commerce")] {
        assert_eq!(account[list]["totalCount"], 1);
        let url = account[list]["nodes"][0]["htmlUrl"].as_str().expect("an address");
        assert!(url.ends_with(page), "{url}");
    }
}

#[tokio::test]
async fn an_absent_field_is_kept_null_clears_and_a_value_sets() {
    let app = TestApp::start().await;
    let ids = shop(&app).await;
    let query = r#"mutation($team: ID!, $system: ID!) {
        set: systemUpdate(system: { id: $system }, input: { ownerId: $team, note: "n", parent: { alias: "commerce" } }) {
            system { name description note owner { name } parent { name } } errors { message }
        }
        clear: systemUpdate(system: { id: $system }, input: { ownerId: null, note: null, description: "", parent: null }) {
            system { name description note owner { name } parent { name } } errors { message }
        }
        domain: domainUpdate(domain: { alias: "commerce" }, input: { ownerId: $team, description: "d" }) {
            domain { description owner { name } } errors { message }
        }
    }"#;
    let variables = json!({ "team": ids["Team"]["it"]["id"], "system": ids["System"]["it"]["id"] });
    let answer = app.query(query, variables).await;
    let expected = json!({
        "set": { "system": {
            "name": "Web Shop", "description": "Sells", "note": "n", "owner": { "name": "Core" }, "parent": { "name": "Commerce" },
        }, "errors": [] },
        "clear": { "system": {
            "name": "Web Shop", "description": null, "note": null, "owner": null, "parent": null,
        }, "errors": [] },
        "domain": { "domain": { "description": "d", "owner": { "name": "Core" } }, "errors": [] },
    });
    assert_eq!(answer["data"], expected);
}

#[tokio::test]
async fn all_mistakes_in_an_input_are_reported_at_once() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        bare: systemCreate(input: {}) { system { id } errors { path message } }
        bad: systemCreate(input: { name: null, ownerId: "nonsense", parent: { alias: "no" } }) { system { id } errors { path message } }
        gone: systemUpdate(system: { alias: "no" }, input: {}) { errors { path message } }
        neither: domainDelete(resource: {}) { errors { path message } }
        child: domainCreate(input: { name: "D" }) { errors { message } }
        children: domainChildAssign(domain: { alias: "d" }, childSystems: [{ alias: "x" }, { alias: "y" }]) {
            domain { id } errors { path message }
        }
    }"#;
    let expected = json!({
        "bare": { "system": null, "errors": [{ "path": ["name"], "message": "name must not be empty" }] },
        "bad": { "system": null, "errors": [
            { "path": ["name"], "message": "name must not be null" },
            { "path": ["ownerId"], "message": "a team with the id or alias \"nonsense\" does not exist on this account" },
            { "path": ["parent", "alias"], "message": "a domain with the alias \"no\" does not exist on this account" },
        ] },
        "gone": { "errors": [{ "path": ["system", "alias"], "message": "a system with the alias \"no\" does not exist on this account" }] },
        "neither": { "errors": [{ "path": ["resource"], "message": "exactly one of id and alias must be given" }] },
        "child": { "errors": [] },
        "children": { "domain": null, "errors": [
            { "path": ["childSystems", "0", "alias"], "message": "a system with the alias \"x\" does not exist on this account" },
            { "path": ["childSystems", "1", "alias"], "message": "a system with the alias \"y\" does not exist on this account" },
        ] },
    });
    assert_eq!(data(&app, query).await, expected);
}

#[tokio::test]
async fn at_most_100_children_are_assigned_at_once() {
    let app = TestApp::start().await;
    shop(&app).await;
    let query = "mutation($services: [IdentifierInput!]!) {
        systemChildAssign(system: { alias: \"web_shop\" }, childServices: $services) { errors { path message } }
    }";
    let services = vec![json!({ "alias": "cart" }); 101];
    let answer = app.query(query, json!({ "services": services })).await;
    let message = "at most 100 services can be assigned at once";
    let expected = json!({ "errors": [{ "path": ["childServices"], "message": message }] });
    assert_eq!(answer["data"]["systemChildAssign"], expected);
}

#[tokio::test]
async fn a_locked_service_is_not_assigned_to_a_system() {
    let app = TestApp::start().await;
    shop(&app).await;
    lock(&app, "Cart").await;
    let query = r#"mutation {
        systemCreate(input: { name: "Till" }) { errors { message } }
        systemChildAssign(system: { alias: "till" }, childServices: [{ alias: "cart" }, { alias: "no" }]) {
            errors { path message }
        }
    }"#;
    let message = "the service is locked: its service file rollcall.yml governs it; change it there";
    let expected = json!({ "errors": [
        { "path": ["locked"], "message": message },
        { "path": ["childServices", "1", "alias"], "message": "a service with the alias \"no\" does not exist on this account" },
    ] });
    assert_eq!(data(&app, query).await["systemChildAssign"], expected);
    let read = data(&app, r#"{ account { service(alias: "cart") { parent { name } } } }"#).await;
    assert_eq!(read["account"]["service"]["parent"], json!({ "name": "Web Shop" }));
}

#[tokio::test]
async fn a_query_for_an_unknown_system_or_domain_answers_null_and_an_error_with_its_path() {
    let app = TestApp::start().await;
    for noun in ["system", "domain"] {
        let answer =
            app.query(&format!(r#"{{ account {{ {noun}(input: {{ alias: "no" }}) {{ id }} }} }}"#), json!({})).await;
        assert_eq!(answer["data"], json!({ "account": { noun: null } }));
        assert_eq!(answer["errors"][0]["path"], json!(["account", noun]));
        assert_eq!(answer["errors"][0]["extensions"]["code"], "NOT_FOUND");
    }
}

#[tokio::test]
async fn a_deleted_system_or_domain_keeps_its_children() {
    let app = TestApp::start().await;
    shop(&app).await;
    let query = r#"mutation {
        domainDelete(resource: { alias: "commerce" }) { deletedDomainId errors { message } }
        systemUpdate(system: { alias: "web_shop" }, input: {}) { system { parent { id } } }
        systemDelete(resource: { alias: "web_shop" }) { deletedSystemId errors { message } }
    }"#;
    let answer = data(&app, query).await;
    assert_eq!(answer["systemUpdate"], json!({ "system": { "parent": null } }));
    for (deleted, id) in [("domainDelete", "deletedDomainId"), ("systemDelete", "deletedSystemId")] {
        assert_eq!(answer[deleted]["errors"], json!([]));
        assert!(answer[deleted][id].is_string(), "{answer}");
    }
    let read = data(&app, r#"{ account { service(alias: "cart") { name parent { id } } } }"#).await;
    assert_eq!(read["account"]["service"], json!({ "name": "Cart", "parent": null }));
}

#[tokio::test]
async fn names_become_aliases_that_stay_after_a_rename() {
    let app = TestApp::start().await;
    let ids = shop(&app).await;
    let query = r#"mutation($id: ID!) {
        renamed: systemUpdate(system: { alias: "web_shop" }, input: { name: "Store" }) { system { aliases } errors { message } }
        second: systemCreate(input: { name: "Store" }) { system { aliases } errors { message } }
        given: aliasCreate(input: { ownerId: $id, alias: "till" }) { aliases errors { message } }
        locked: aliasDelete(input: { ownerType: system, alias: "web_shop" }) { errors { message } }
        taken: aliasDelete(input: { ownerType: system, alias: "till" }) { deletedAlias errors { message } }
    }"#;
    let answer = app.query(query, json!({ "id": ids["System"]["it"]["id"] })).await;
    let expected = json!({
        "renamed": { "system": { "aliases": ["web_shop", "store"] }, "errors": [] },
        "second": { "system": { "aliases": ["store_2"] }, "errors": [] },
        "given": { "aliases": ["web_shop", "store", "till"], "errors": [] },
        "locked": { "errors": [{ "message": "slug is locked, it cannot be deleted" }] },
        "taken": { "deletedAlias": "till", "errors": [] },
    });
    assert_eq!(answer["data"], expected);
}
