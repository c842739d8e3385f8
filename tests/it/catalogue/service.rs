//! Services.

use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::services::lock;

#[tokio::test]
async fn service_create_answers_every_given_value() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        teamCreate(input: { name: "Platform" }) { errors { message } }
        serviceCreate(input: {
            name: "Shopping Cart", description: "Holds goods", language: "Go", framework: "gin", product: "Shop",
            note: "**old**", tierAlias: "tier_1", lifecycleAlias: "beta", ownerInput: { alias: "platform" }
        }) {
            service {
                name aliases managedAliases description language framework product note locked
                tier { alias name } lifecycle { alias name } owner { name }
            }
            errors { message path }
        }
    }"#;
    let expected = json!({
        "service": {
            "name": "Shopping Cart", "aliases": ["shopping_cart", "Shopping Cart"], "managedAliases": [],
            "description": "Holds goods", "language": "Go", "framework": "gin", "product": "Shop", "note": "**old**",
            "locked": false,
            "tier": { "alias": "tier_1", "name": "Mission Critical" },
            "lifecycle": { "alias": "beta", "name": "Beta" },
            "owner": { "name": "Platform" },
        },
        "errors": [],
    });
    assert_eq!(data(&app, query).await["serviceCreate"], expected);
}

/// Makes what the parts of a new service name.
async fn named_by_parts(app: &TestApp) {
    let query = r#"mutation {
        serviceCreate(input: { name: "Pay" }) { errors { message } }
        repositoryCreate(input: { name: "org/cart", defaultAlias: "github.com:org/cart" }) { errors { message } }
        propertyDefinitionCreate(input: { name: "Port", schema: "{\"type\": \"integer\"}" }) { errors { message } }
    }"#;
    data(app, query).await;
}

#[tokio::test]
async fn a_service_is_created_with_all_its_parts_or_not_at_all() {
    let app = TestApp::start().await;
    named_by_parts(&app).await;
    let create = |parts: &str| {
        format!(
            r#"mutation {{ serviceCreate(input: {{ name: "Cart", {parts} }}) {{
                service {{
                    tools(first: 9) {{ nodes {{ displayName category environment url }} }}
                    contacts {{ type address isDefault }}
                    dependencies(first: 9) {{ edges {{ notes node {{ name }} }} }}
                    serviceRepositories(first: 9) {{ nodes {{ baseDirectory displayName repository {{ name }} }} }}
                    properties(first: 9) {{ nodes {{ value definition {{ name }} }} }}
                }}
                errors {{ message path }}
            }} }}"#
        )
    };
    let wrong = r#"
        tools: [
            { category: wiki, displayName: "Wiki", url: "https://wiki.example.com" }
            { category: runbooks, displayName: "", url: "ftp://x" }
        ]
        contacts: [{ type: web, address: "no address" }]
        dependencies: [{ service: { alias: "none" } }]
        repositories: [{ repository: { alias: "none" } }]
        properties: [{ definition: { alias: "port" }, value: "\"many\"" }, { definition: { alias: "none" }, value: "1" }]
    "#;
    let refused = data(&app, &create(wrong)).await["serviceCreate"].clone();
    assert_eq!(refused["service"], json!(null));
    let paths: Vec<String> = refused["errors"]
        .as_array()
        .expect("errors")
        .iter()
        .map(|error| {
            let path = error["path"].as_array().expect("a path");
            path.iter().map(|step| step.as_str().expect("a step")).collect::<Vec<_>>().join(".")
        })
        .collect();
    let expected = [
        "contacts.0.address",
        "tools.1.displayName",
        "tools.1.url",
        "dependencies.0.service.alias",
        "repositories.0.repository.alias",
        "properties.0.value",
        "properties.1.definition.alias",
    ];
    assert_eq!(paths, expected, "{refused}");
    let found = data(&app, "{ account { services { totalCount } } }").await;
    assert_eq!(found["account"]["services"]["totalCount"], 1, "nothing is made");

    let right = r##"
        tools: [{ category: runbooks, displayName: "Runbook", url: "https://wiki.example.com", environment: "live" }]
        contacts: [{ type: slack, address: "#cart" }, { type: slack, address: "#help" }]
        dependencies: [{ service: { alias: "pay" }, notes: "to pay" }]
        repositories: [{ repository: { alias: "github.com:org/cart" }, baseDirectory: "/cmd/", displayName: "Code" }]
        properties: [{ definition: { alias: "port" }, value: "80" }]
    "##;
    let expected = json!({
        "service": {
            "tools": { "nodes": [{
                "displayName": "Runbook", "category": "runbooks", "environment": "live", "url": "https://wiki.example.com",
            }] },
            "contacts": [
                { "type": "slack", "address": "#cart", "isDefault": true },
                { "type": "slack", "address": "#help", "isDefault": false },
            ],
            "dependencies": { "edges": [{ "notes": "to pay", "node": { "name": "Pay" } }] },
            "serviceRepositories": { "nodes": [
                { "baseDirectory": "cmd", "displayName": "Code", "repository": { "name": "org/cart" } },
            ] },
            "properties": { "nodes": [{ "value": "80", "definition": { "name": "Port" } }] },
        },
        "errors": [],
    });
    assert_eq!(data(&app, &create(right)).await["serviceCreate"], expected);
}

#[tokio::test]
async fn a_new_service_has_each_part_once_and_not_too_many() {
    let app = TestApp::start().await;
    named_by_parts(&app).await;
    let pay = json!({ "service": { "alias": "pay" } });
    let code = json!({ "repository": { "alias": "github.com:org/cart" } });
    let port = json!({ "definition": { "alias": "port" }, "value": "80" });
    let link = json!({ "category": "wiki", "displayName": "Wiki", "url": "https://wiki.example.com" });
    let slack = json!({ "type": "slack", "address": "#cart" });
    let cases = [
        ("dependencies", vec![pay.clone(); 2], json!(["dependencies", "1"])),
        ("repositories", vec![code.clone(); 2], json!(["repositories", "1"])),
        ("properties", vec![port.clone(); 2], json!(["properties", "1", "definition"])),
        ("tools", vec![link; 101], json!(["tools"])),
        ("contacts", vec![slack; 101], json!(["contacts"])),
        ("dependencies", vec![pay; 101], json!(["dependencies"])),
        ("repositories", vec![code; 101], json!(["repositories"])),
        ("properties", vec![port; 101], json!(["properties"])),
    ];
    let query =
        "mutation($input: ServiceCreateInput!) { serviceCreate(input: $input) { service { id } errors { path } } }";
    for (field, parts, path) in cases {
        let refused = app.query(query, json!({ "input": { "name": "Cart", field: parts } })).await;
        assert_eq!(
            refused["data"]["serviceCreate"],
            json!({ "service": null, "errors": [{ "path": path }] }),
            "{field}: {refused}"
        );
    }
    let found = data(&app, "{ account { services { totalCount } } }").await;
    assert_eq!(found["account"]["services"]["totalCount"], 1, "nothing is made");
}

#[tokio::test]
async fn a_service_whose_slug_is_taken_gets_a_numbered_one() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        a: serviceCreate(input: { name: "Cart" }) { service { aliases } }
        b: serviceCreate(input: { name: "Cart" }) { service { aliases } }
    }"#;
    let expected =
        json!({ "a": { "service": { "aliases": ["cart", "Cart"] } }, "b": { "service": { "aliases": ["cart_2"] } } });
    assert_eq!(data(&app, query).await, expected);
}

#[tokio::test]
async fn service_create_reports_all_mistakes_at_once() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        serviceCreate(input: { name: " ", tierAlias: "no", lifecycleAlias: "no", ownerInput: { alias: "no" } }) {
            service { id } errors { message path }
        }
    }"#;
    let expected = json!({ "service": null, "errors": [
        { "message": "name must not be empty", "path": ["name"] },
        { "message": "a tier with the alias \"no\" does not exist on this account", "path": ["tierAlias"] },
        { "message": "a lifecycle with the alias \"no\" does not exist on this account", "path": ["lifecycleAlias"] },
        { "message": "a team with the alias \"no\" does not exist on this account", "path": ["ownerInput", "alias"] },
    ] });
    assert_eq!(data(&app, query).await["serviceCreate"], expected);
    assert_eq!(
        data(&app, "{ account { services { totalCount } } }").await,
        json!({ "account": { "services": { "totalCount": 0 } } })
    );
}

#[tokio::test]
async fn a_text_that_is_too_long_is_refused_with_its_field() {
    let app = TestApp::start().await;
    let query = "mutation($long: String!) { serviceCreate(input: { name: $long, language: $long }) { errors { message path } } }";
    let answer = app.query(query, json!({ "long": "ä".repeat(256) })).await;
    let expected = json!([
        { "message": "name has 256 characters; at most 255 are allowed", "path": ["name"] },
        { "message": "language has 256 characters; at most 255 are allowed", "path": ["language"] },
    ]);
    assert_eq!(answer["data"]["serviceCreate"]["errors"], expected);
}

#[tokio::test]
async fn in_an_update_an_absent_field_is_kept_null_clears_and_a_value_sets() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        serviceCreate(input: { name: "cart", description: "d", language: "Go", framework: "f", tierAlias: "tier_1", lifecycleAlias: "beta" }) { errors { message } }
        serviceUpdate(input: { alias: "cart", description: null, language: "Rust", tierAlias: null }) {
            service { name description language framework tier { alias } lifecycle { alias } } errors { message path }
        }
    }"#;
    let expected = json!({
        "service": {
            "name": "cart", "description": null, "language": "Rust", "framework": "f", "tier": null,
            "lifecycle": { "alias": "beta" },
        },
        "errors": [],
    });
    assert_eq!(data(&app, query).await["serviceUpdate"], expected);
}

#[tokio::test]
async fn a_rename_adds_the_new_slug_and_keeps_the_old_one() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        serviceCreate(input: { name: "Cart" }) { errors { message } }
        serviceUpdate(input: { alias: "cart", name: "Basket" }) { service { name aliases } errors { message path } }
    }"#;
    let expected =
        json!({ "service": { "name": "Basket", "aliases": ["cart", "Cart", "basket", "Basket"] }, "errors": [] });
    assert_eq!(data(&app, query).await["serviceUpdate"], expected);
}

#[tokio::test]
async fn a_mutation_names_a_service_by_exactly_one_of_id_and_alias() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        neither: serviceUpdate(input: { name: "x" }) { errors { message path } }
        both: serviceUpdate(input: { id: "x", alias: "x" }) { errors { message path } }
        null_is_absent: serviceUpdate(input: { id: null, alias: "x" }) { errors { message path } }
    }"#;
    let one = json!({ "errors": [{ "message": "exactly one of id and alias must be given", "path": ["base"] }] });
    let unknown = json!({ "errors": [{ "message": "a service with the alias \"x\" does not exist on this account", "path": ["alias"] }] });
    assert_eq!(data(&app, query).await, json!({ "neither": one, "both": one, "null_is_absent": unknown }));
}

#[tokio::test]
async fn a_mutation_says_why_an_id_is_not_a_services_id() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        malformed: serviceDelete(input: { id: "x" }) { errors { message path } }
        other: serviceDelete(input: { id: "Z2lkOi8vcm9sbGNhbGwvVGVhbS8x" }) { errors { message path } }
        gone: serviceDelete(input: { id: "Z2lkOi8vcm9sbGNhbGwvU2VydmljZS8x" }) { errors { message path } }
    }"#;
    let error = |message: &str| json!({ "errors": [{ "message": message, "path": ["id"] }] });
    let expected = json!({
        "malformed": error("a service with the id or alias \"x\" does not exist on this account"),
        "other": error("a service with this id does not exist on this account: it is the id of a Team"),
        "gone": error("a service with this id does not exist on this account"),
    });
    assert_eq!(data(&app, query).await, expected);
}

#[tokio::test]
async fn service_delete_answers_the_id_and_the_alias_that_named_it() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        a: serviceCreate(input: { name: "Cart" }) { service { id } }
        serviceDelete(input: { alias: "Cart" }) { deletedServiceId deletedServiceAlias errors { message path } }
        gone: serviceDelete(input: { alias: "cart" }) { deletedServiceId errors { path } }
    }"#;
    let answer = data(&app, query).await;
    let expected =
        json!({ "deletedServiceId": answer["a"]["service"]["id"], "deletedServiceAlias": "Cart", "errors": [] });
    assert_eq!(answer["serviceDelete"], expected);
    assert_eq!(answer["gone"], json!({ "deletedServiceId": null, "errors": [{ "path": ["alias"] }] }));
}

#[tokio::test]
async fn a_locked_service_refuses_every_write_with_path_locked() {
    let app = TestApp::start().await;
    let setup = r#"mutation {
        serviceCreate(input: { name: "cart" }) { service { id } }
        tagAssign(input: { alias: "cart", tags: { key: "k", value: "v" } }) { tags { id } }
    }"#;
    let made = data(&app, setup).await;
    let service = made["serviceCreate"]["service"]["id"].clone();
    let tag = made["tagAssign"]["tags"][0]["id"].clone();
    lock(&app, "cart").await;
    let query = r#"mutation($service: ID!, $tag: ID!) {
        update: serviceUpdate(input: { alias: "cart", name: "x" }) { errors { path } }
        delete: serviceDelete(input: { alias: "cart" }) { errors { path } }
        assign: tagAssign(input: { alias: "cart", tags: { key: "k", value: "w" } }) { errors { path } }
        create: tagCreate(input: { alias: "cart", key: "l", value: "w" }) { errors { path } }
        change: tagUpdate(input: { id: $tag, value: "w" }) { errors { path } }
        remove: tagDelete(input: { id: $tag }) { errors { path } }
        alias: aliasCreate(input: { ownerId: $service, alias: "x" }) { errors { path } }
        unalias: aliasDelete(input: { ownerType: service, alias: "cart" }) { errors { path } }
    }"#;
    let answer = app.query(query, json!({ "service": service, "tag": tag })).await;
    for (field, payload) in answer["data"].as_object().expect("data") {
        assert_eq!(payload, &json!({ "errors": [{ "path": ["locked"] }] }), "{field}");
    }
    let read = data(&app, r#"{ account { service(alias: "cart") { name locked tags { nodes { value } } } } }"#).await;
    let expected = json!({ "name": "cart", "locked": true, "tags": { "nodes": [{ "value": "v" }] } });
    assert_eq!(read["account"]["service"], expected);
}

#[tokio::test]
async fn objects_that_a_locked_service_refers_to_are_not_deleted() {
    let app = TestApp::start().await;
    let setup = r#"mutation {
        teamCreate(input: { name: "Core" }) { team { id } }
        tierCreate(input: { name: "Gold" }) { tier { id } }
        lifecycleCreate(input: { name: "Dusk" }) { lifecycle { id } }
        repositoryCreate(input: { name: "org/cart" }) { repository { id } }
        serviceCreate(input: {
            name: "cart", tierAlias: "gold", lifecycleAlias: "dusk", ownerInput: { alias: "core" }
        }) { errors { message } }
        serviceRepositoryCreate(input: { service: { alias: "cart" }, repository: { alias: "org/cart" } }) {
            errors { message }
        }
    }"#;
    let made = data(&app, setup).await;
    let ids = json!({
        "tier": made["tierCreate"]["tier"]["id"], "lifecycle": made["lifecycleCreate"]["lifecycle"]["id"],
    });
    lock(&app, "cart").await;
    let query = r#"mutation($tier: ID!, $lifecycle: ID!) {
        team: teamDelete(input: { alias: "core" }) { deletedTeamId errors { message path } }
        tier: tierDelete(input: { id: $tier }) { deletedTierId errors { message path } }
        lifecycle: lifecycleDelete(input: { id: $lifecycle }) { deletedLifecycleId errors { message path } }
        repository: repositoryDelete(input: { alias: "org/cart" }) { deletedRepositoryId errors { message path } }
    }"#;
    let message = "the service cart refers to this and is locked: change its service file rollcall.yml first";
    let errors = json!([{ "message": message, "path": ["locked"] }]);
    let refused = json!({
        "team": { "deletedTeamId": null, "errors": errors },
        "tier": { "deletedTierId": null, "errors": errors },
        "lifecycle": { "deletedLifecycleId": null, "errors": errors },
        "repository": { "deletedRepositoryId": null, "errors": errors },
    });
    assert_eq!(app.query(query, ids).await["data"], refused);
    let query = r#"{ account { service(alias: "cart") {
        owner { alias } tier { alias } lifecycle { alias } repositories { nodes { name } }
    } } }"#;
    let expected = json!({
        "owner": { "alias": "core" }, "tier": { "alias": "gold" }, "lifecycle": { "alias": "dusk" },
        "repositories": { "nodes": [{ "name": "org/cart" }] },
    });
    assert_eq!(data(&app, query).await["account"]["service"], expected);
}

#[tokio::test]
async fn the_owner_of_a_service_has_its_manager() {
    let app = TestApp::start().await;
    let setup = r#"mutation {
        userInvite(email: "ada@example.com", input: {}) { errors { message } }
        teamCreate(input: { name: "Core", managerEmail: "ada@example.com" }) { errors { message } }
        serviceCreate(input: { name: "cart", ownerInput: { alias: "core" } }) { errors { message } }
    }"#;
    data(&app, setup).await;
    let read = data(&app, r#"{ account { service(alias: "cart") { owner { name manager { email } } } } }"#).await;
    let owner = json!({ "name": "Core", "manager": { "email": "ada@example.com" } });
    assert_eq!(read["account"]["service"]["owner"], owner);
}

#[tokio::test]
async fn a_service_has_a_page_in_the_application() {
    let app = TestApp::with(&["--app-url", "https://rollcall.example.com"]).await;
    let query = r#"mutation { serviceCreate(input: { name: "Shopping Cart" }) { service { htmlUrl } } }"#;
    let service = json!({ "htmlUrl": "https://rollcall.example.com/services/shopping_cart" });
    assert_eq!(data(&app, query).await["serviceCreate"]["service"], service);
}

#[tokio::test]
async fn a_service_has_the_times_of_its_creation_and_last_change() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        made: serviceCreate(input: { name: "cart" }) { service { timestamps { createdAt updatedAt } } }
        changed: serviceUpdate(input: { alias: "cart", note: "n" }) { service { timestamps { createdAt updatedAt } } }
    }"#;
    let answer = data(&app, query).await;
    let [made, changed] = ["made", "changed"].map(|step| &answer[step]["service"]["timestamps"]);
    assert_eq!(made["createdAt"], made["updatedAt"]);
    assert_eq!(changed["createdAt"], made["createdAt"]);
    let instant =
        |value: &Value| value.as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok()).expect("an instant");
    assert!(instant(&changed["updatedAt"]) >= instant(&made["updatedAt"]), "{answer}");
}
