//! Relationships between things of the catalogue, their definitions, and the rules of component types.

use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};

const MAKE: &str = r#"mutation {
    shop: serviceCreate(input: { name: "Shop" }) { service { id } }
    stock: serviceCreate(input: { name: "Stock" }) { service { id } }
    core: teamCreate(input: { name: "Core" }) { team { id } }
    till: systemCreate(input: { name: "Till" }) { system { id } }
    trade: domainCreate(input: { name: "Trade" }) { domain { id } }
    ledger: infrastructureResourceCreate(input: { schema: { type: "Database" }, data: { name: "Ledger" } }) {
        infrastructureResource { id }
    }
}"#;

const TIE: &str = "mutation($tie: RelationshipDefinition!) { relationshipCreate(relationshipDefinition: $tie) {
    relationship { id type source { ...End } target { ...End } definition { alias } } errors { message path }
} }
fragment End on RelationshipResource {
    __typename ... on Service { name } ... on System { name } ... on Domain { name } ... on Team { name }
    ... on InfrastructureResource { name }
}";

async fn tie(app: &TestApp, tie: Value) -> Value {
    app.query(TIE, json!({ "tie": tie })).await["data"]["relationshipCreate"].clone()
}

/// The message and the path of the only mistake.
fn mistake(answer: &Value) -> (&str, Value) {
    let errors = answer["errors"].as_array().expect("errors");
    assert_eq!(errors.len(), 1, "{answer}");
    (errors[0]["message"].as_str().expect("a message"), errors[0]["path"].clone())
}

#[tokio::test]
async fn relationships_of_all_kinds_are_created_listed_at_both_ends_and_deleted() {
    let app = TestApp::start().await;
    let made = data(&app, MAKE).await;
    let ledger = &made["ledger"]["infrastructureResource"]["id"];
    let tied = tie(
        &app,
        json!({ "type": "depends_on", "source": { "alias": "shop" }, "target": { "id": ledger }, "relationshipDefinition": null }),
    )
    .await;
    let expected = json!({ "relationship": {
        "id": tied["relationship"]["id"], "type": "depends_on", "source": { "__typename": "Service", "name": "Shop" },
        "target": { "__typename": "InfrastructureResource", "name": "Ledger" }, "definition": null,
    }, "errors": [] });
    assert_eq!(tied, expected);
    for (kind, source, target) in [
        ("belongs_to", "shop", "core"),
        ("related_to", "core", "trade"),
        ("depends_on", "till", "stock"),
        ("related_to", "trade", "till"),
    ] {
        let tied =
            tie(&app, json!({ "type": kind, "source": { "alias": source }, "target": { "alias": target } })).await;
        assert_eq!(tied["errors"], json!([]), "{source} {target}");
    }
    let query = r#"query($id: ID!) { account {
        relationship(id: $id) { type source { ... on Service { name } } target { ... on InfrastructureResource { name } } }
        none: relationship(id: "nothing") { id }
        service(alias: "shop") { relationships { totalCount nodes { target { __typename } } } incomingRelationships { totalCount } }
        system(input: { alias: "till" }) { relationships { nodes { type } } incomingRelationships { nodes { type } } }
        domain(input: { alias: "trade" }) { relationships { totalCount } incomingRelationships { totalCount } }
        team(alias: "core") { relationships { totalCount } incomingRelationships { nodes { source { ... on Service { name } } } } }
        infrastructureResources { nodes { relationships { totalCount } incomingRelationships { edges { node { type } } } } }
    } }"#;
    let account = app.query(query, json!({ "id": tied["relationship"]["id"] })).await["data"]["account"].clone();
    let expected = json!({
        "relationship": { "type": "depends_on", "source": { "name": "Shop" }, "target": { "name": "Ledger" } },
        "none": null,
        "service": {
            "relationships": { "totalCount": 2, "nodes": [
                { "target": { "__typename": "InfrastructureResource" } }, { "target": { "__typename": "Team" } },
            ] },
            "incomingRelationships": { "totalCount": 0 },
        },
        "system": { "relationships": { "nodes": [{ "type": "depends_on" }] }, "incomingRelationships": { "nodes": [{ "type": "related_to" }] } },
        "domain": { "relationships": { "totalCount": 1 }, "incomingRelationships": { "totalCount": 1 } },
        "team": { "relationships": { "totalCount": 1 }, "incomingRelationships": { "nodes": [{ "source": { "name": "Shop" } }] } },
        "infrastructureResources": { "nodes": [{
            "relationships": { "totalCount": 0 }, "incomingRelationships": { "edges": [{ "node": { "type": "depends_on" } }] },
        }] },
    });
    assert_eq!(account, expected);
    let delete = "mutation($id: ID!) { relationshipDelete(input: { id: $id }) { deletedId errors { message } } }";
    let id = &tied["relationship"]["id"];
    let gone = app.query(delete, json!({ "id": id })).await["data"]["relationshipDelete"].clone();
    assert_eq!(gone, json!({ "deletedId": id, "errors": [] }));
    let again = app.query(delete, json!({ "id": id })).await["data"]["relationshipDelete"].clone();
    assert_eq!(
        again,
        json!({ "deletedId": null, "errors": [{ "message": "a relationship with this id does not exist on this account" }] })
    );
    // The relationships of an object are deleted with it.
    data(&app, r#"mutation { teamDelete(input: { alias: "core" }) { errors { message } } }"#).await;
    let rest = data(&app, r#"{ account { service(alias: "shop") { relationships { totalCount } } } }"#).await;
    assert_eq!(rest["account"]["service"]["relationships"]["totalCount"], 0);
}

#[tokio::test]
async fn the_system_and_the_dependencies_of_a_service_are_listed_as_relationships_without_a_second_row() {
    let app = TestApp::start().await;
    data(&app, MAKE).await;
    let tied =
        tie(&app, json!({ "type": "belongs_to", "source": { "alias": "shop" }, "target": { "alias": "till" } })).await;
    assert_eq!(tied["relationship"]["target"], json!({ "__typename": "System", "name": "Till" }));
    let of_system =
        tie(&app, json!({ "type": "belongs_to", "source": { "alias": "till" }, "target": { "alias": "trade" } })).await;
    let needs =
        tie(&app, json!({ "type": "depends_on", "source": { "alias": "shop" }, "target": { "alias": "stock" } })).await;
    let query = r#"{ account { service(alias: "shop") {
        parent { name parent { name } } dependencies { edges { id node { name } } } relationships { totalCount }
    } } }"#;
    let service = data(&app, query).await["account"]["service"].clone();
    let expected = json!({
        "parent": { "name": "Till", "parent": { "name": "Trade" } },
        "dependencies": { "edges": [{ "id": needs["relationship"]["id"], "node": { "name": "Stock" } }] },
        "relationships": { "totalCount": 0 },
    });
    assert_eq!(service, expected);
    let twice =
        tie(&app, json!({ "type": "depends_on", "source": { "alias": "shop" }, "target": { "alias": "stock" } })).await;
    assert_eq!(mistake(&twice).0, "this dependency already exists");
    let query = "query($id: ID!) { account { relationship(id: $id) { id source { ... on Service { name } ... on System { name } } } } }";
    let delete = "mutation($id: ID!) { relationshipDelete(input: { id: $id }) { deletedId errors { message } } }";
    for (tied, name) in [(&tied, "Shop"), (&of_system, "Till"), (&needs, "Shop")] {
        let id = &tied["relationship"]["id"];
        let found = app.query(query, json!({ "id": id })).await["data"]["account"]["relationship"].clone();
        assert_eq!(found, json!({ "id": id, "source": { "name": name } }));
        let gone = app.query(delete, json!({ "id": id })).await["data"]["relationshipDelete"].clone();
        assert_eq!(gone, json!({ "deletedId": id, "errors": [] }));
        let found = app.query(query, json!({ "id": id })).await["data"]["account"]["relationship"].clone();
        assert_eq!(found, Value::Null);
        let again = app.query(delete, json!({ "id": id })).await["data"]["relationshipDelete"].clone();
        assert_eq!(again["errors"][0]["message"], "a relationship with this id does not exist on this account");
    }
    let service =
        data(&app, r#"{ account { service(alias: "shop") { parent { name } dependencies { totalCount } } } }"#);
    assert_eq!(service.await["account"]["service"], json!({ "parent": null, "dependencies": { "totalCount": 0 } }));
}

#[tokio::test]
async fn a_definition_says_what_a_service_is_related_to() {
    let app = TestApp::start().await;
    data(&app, MAKE).await;
    let query = r#"mutation { relationshipDefinitionCreate(input: {
        name: "Billed to", description: "Who pays", componentType: { alias: "service" },
        metadata: { allowedTypes: ["Team", "database"], allowedCategories: ["people"], minItems: 1, maxItems: 1 },
        managementRules: [{ sourceProperty: "a", sourcePropertyBuiltin: false, targetProperty: "name", targetPropertyBuiltin: true }]
    }) { definition {
        id alias name description componentType { aliases } metadata { allowedTypes allowedCategories minItems maxItems }
        managementRules { operator sourceProperty sourcePropertyBuiltin targetCategory targetProperty targetPropertyBuiltin targetType }
    } errors { message } } }"#;
    let made = data(&app, query).await["relationshipDefinitionCreate"].clone();
    let expected = json!({ "definition": {
        "id": made["definition"]["id"], "alias": "billed_to", "name": "Billed to", "description": "Who pays",
        "componentType": { "aliases": ["service"] },
        "metadata": { "allowedTypes": ["Team", "database"], "allowedCategories": ["people"], "minItems": 1, "maxItems": 1 },
        "managementRules": [{
            "operator": "EQUALS", "sourceProperty": "a", "sourcePropertyBuiltin": false, "targetCategory": null,
            "targetProperty": "name", "targetPropertyBuiltin": true, "targetType": null,
        }],
    }, "errors": [] });
    assert_eq!(made, expected);
    let billed = |source: &str, target: &str| {
        json!({
            "type": "related_to", "relationshipDefinition": { "alias": "billed_to" }, "source": { "alias": source },
            "target": { "alias": target },
        })
    };
    let refused = tie(&app, billed("shop", "till")).await;
    assert_eq!(
        mistake(&refused),
        ("the target must be one of: Team, database", json!(["relationshipDefinition", "target"]))
    );
    let refused = tie(&app, billed("till", "core")).await;
    assert_eq!(
        mistake(&refused),
        ("the source must be a service of the component type \"service\"", json!(["relationshipDefinition", "source"]))
    );
    let tied = tie(&app, billed("shop", "core")).await;
    assert_eq!(tied["relationship"]["definition"], json!({ "alias": "billed_to" }));
    assert_eq!(
        mistake(&tie(&app, billed("shop", "core")).await).0,
        "the source has 1 relationships of this definition; at most 1 are allowed"
    );
    let query = r#"query($id: ID!) { account {
        relationshipDefinition(input: { alias: "billed_to" }) { name }
        of: relationshipDefinitions(componentType: { alias: "service" }) { totalCount nodes { alias } }
        others: relationshipDefinitions(componentType: { alias: "library" }) { totalCount }
        mine: relationshipDefinitions(resource: $id) { edges { node { alias } } }
        services(filter: { key: relationship, type: exists, arg: "billed_to" }) { nodes { name } }
        without: services(filter: { key: relationship, type: does_not_exist, arg: "billed_to" }) { nodes { name } }
    } }"#;
    let shop = data(&app, r#"{ account { service(alias: "shop") { id } team(alias: "core") { id } } }"#).await;
    let account = app.query(query, json!({ "id": shop["account"]["service"]["id"] })).await["data"]["account"].clone();
    let expected = json!({
        "relationshipDefinition": { "name": "Billed to" },
        "of": { "totalCount": 1, "nodes": [{ "alias": "billed_to" }] },
        "others": { "totalCount": 0 },
        "mine": { "edges": [{ "node": { "alias": "billed_to" } }] },
        "services": { "nodes": [{ "name": "Shop" }] },
        "without": { "nodes": [{ "name": "Stock" }] },
    });
    assert_eq!(account, expected);
    let core = shop["account"]["team"]["id"].as_str().expect("an id");
    let query = "query($arg: String!, $type: TypeEnum!) { account {
        services(filter: { key: relationship, type: $type, arg: $arg }) { nodes { name } }
    } }";
    for (kind, name) in [("equals", "Shop"), ("does_not_equal", "Stock")] {
        let arg = format!("billed_to:{core}");
        let answer = app.query(query, json!({ "arg": arg, "type": kind })).await;
        assert_eq!(answer["data"]["account"]["services"]["nodes"], json!([{ "name": name }]), "{kind}");
    }
    let answer = app.query(query, json!({ "arg": "billed_to:core", "type": "equals" })).await;
    assert_eq!(answer["data"]["account"]["services"]["nodes"], json!([{ "name": "Shop" }]));
    let answer = app.query(query, json!({ "arg": "billed_to:nobody", "type": "equals" })).await;
    let message = "a service, a system, a domain, a team or an infrastructure resource with the id or alias \"nobody\" does not exist on this account";
    assert_eq!(answer["errors"][0]["message"], message);
    let query = r#"mutation {
        cleared: relationshipDefinitionUpdate(relationshipDefinition: { alias: "billed_to" }, input: {
            alias: "paid", description: null, metadata: null, managementRules: null
        }) { definition { alias description metadata { allowedTypes maxItems } managementRules { operator } } errors { message } }
        needed: relationshipDefinitionUpdate(relationshipDefinition: { alias: "paid" }, input: {
            name: null, componentType: null, metadata: { minItems: 2, maxItems: 1, allowedTypes: [""] },
            managementRules: [{ sourceProperty: "", sourcePropertyBuiltin: true, targetProperty: "a", targetPropertyBuiltin: true }]
        }) { errors { message path } }
        gone: relationshipDefinitionDelete(resource: { alias: "paid" }) { deletedId errors { message } }
        none: relationshipDefinitionDelete(resource: { alias: "paid" }) { deletedId errors { message path } }
    }"#;
    let answer = data(&app, query).await;
    let expected = json!({
        "cleared": { "definition": {
            "alias": "paid", "description": null, "metadata": { "allowedTypes": [], "maxItems": null }, "managementRules": [],
        }, "errors": [] },
        "needed": { "errors": [
            { "message": "name must not be null", "path": ["name"] },
            { "message": "componentType must not be null", "path": ["componentType"] },
            { "message": "sourceProperty must not be empty", "path": ["managementRules", "0", "sourceProperty"] },
            { "message": "allowedTypes must not be empty", "path": ["metadata", "allowedTypes"] },
            { "message": "minItems must not be greater than maxItems", "path": ["metadata", "minItems"] },
        ] },
        "gone": { "deletedId": made["definition"]["id"], "errors": [] },
        "none": { "deletedId": null, "errors": [
            { "message": "a relationship definition with the alias \"paid\" does not exist on this account", "path": ["resource", "alias"] },
        ] },
    });
    assert_eq!(answer, expected);
    let rest = data(&app, r#"{ account { service(alias: "shop") { relationships { totalCount } } } }"#).await;
    assert_eq!(rest["account"]["service"]["relationships"]["totalCount"], 0);
}

#[tokio::test]
async fn an_impossible_relationship_is_refused_with_the_reason() {
    let app = TestApp::start().await;
    data(&app, MAKE).await;
    let itself =
        tie(&app, json!({ "type": "related_to", "source": { "alias": "shop" }, "target": { "alias": "shop" } })).await;
    assert_eq!(mistake(&itself), ("source and target must be different", json!(["base"])));
    let ends = json!({ "type": "related_to", "source": { "alias": "nobody" }, "target": { "id": "nothing" } });
    let errors = json!([
        { "message": "a service, a system, a domain, a team or an infrastructure resource with the id or alias \"nobody\" does not exist on this account",
            "path": ["relationshipDefinition", "source", "alias"] },
        { "message": "a service, a system, a domain, a team or an infrastructure resource with the id or alias \"nothing\" does not exist on this account", "path": ["relationshipDefinition", "target", "id"] },
    ]);
    assert_eq!(tie(&app, ends).await, json!({ "relationship": null, "errors": errors }));
    let related = json!({ "type": "related_to", "source": { "alias": "shop" }, "target": { "alias": "core" } });
    assert_eq!(tie(&app, related.clone()).await["errors"], json!([]));
    assert_eq!(mistake(&tie(&app, related).await), ("this relationship already exists", json!(["base"])));
    data(
        &app,
        r#"mutation { relationshipDefinitionCreate(input: { name: "Uses", componentType: { alias: "service" } }) { errors { message } } }"#,
    )
    .await;
    let wrong = json!({
        "type": "depends_on", "relationshipDefinition": { "alias": "uses" }, "source": { "alias": "shop" },
        "target": { "alias": "core" },
    });
    let wrong = tie(&app, wrong).await;
    assert_eq!(mistake(&wrong).0, "relationshipDefinition can only be given with the type related_to");
    let query = r#"mutation { relationshipDefinitionCreate(input: { alias: "uses", name: "Again", componentType: { alias: "service" } }) {
        errors { message path }
    } }"#;
    let taken = data(&app, query).await["relationshipDefinitionCreate"].clone();
    assert_eq!(mistake(&taken), ("another relationship definition has the alias \"uses\"", json!(["alias"])));
}

#[tokio::test]
async fn a_component_type_keeps_rules_for_owners_and_systems() {
    let app = TestApp::start().await;
    let rule = json!({
        "operator": "ARRAY_CONTAINS", "sourceProperty": "owner_email", "sourcePropertyBuiltin": false, "targetCategory": null,
        "targetProperty": "name", "targetPropertyBuiltin": true, "targetType": "team",
    });
    let query = "mutation($input: ComponentTypeInput!) { componentTypeCreate(input: $input) {
        componentType { ...Rules } errors { message path }
    } }
    fragment Rules on ComponentType { ownerRelationship { managementRules { ...Rule } } systemRelationship { managementRules { ...Rule } } }
    fragment Rule on RelationshipDefinitionManagementRule {
        operator sourceProperty sourcePropertyBuiltin targetCategory targetProperty targetPropertyBuiltin targetType
    }";
    let input = json!({ "name": "Widget", "ownerRelationship": { "managementRules": [rule] } });
    let made = app.query(query, json!({ "input": input })).await["data"]["componentTypeCreate"].clone();
    let expected = json!({ "componentType": {
        "ownerRelationship": { "managementRules": [rule] }, "systemRelationship": { "managementRules": [] },
    }, "errors": [] });
    assert_eq!(made, expected);
    let many = json!({ "name": "Many", "systemRelationship": { "managementRules": vec![&rule; 21] } });
    let many = app.query(query, json!({ "input": many })).await["data"]["componentTypeCreate"].clone();
    let path = json!(["systemRelationship", "managementRules"]);
    assert_eq!(mistake(&many), ("managementRules has 21 rules; at most 20 are allowed", path));
    let query = r#"mutation { componentTypeUpdate(componentType: { alias: "widget" }, input: { ownerRelationship: null }) {
        componentType { ownerRelationship { managementRules { operator } } } errors { message }
    } }"#;
    let cleared = data(&app, query).await["componentTypeUpdate"].clone();
    let expected = json!({ "componentType": { "ownerRelationship": { "managementRules": [] } }, "errors": [] });
    assert_eq!(cleared, expected);
}
