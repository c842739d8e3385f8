//! The rules that existing clients of this API rely on, a test for each.

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::service::data;
use crate::tour::Tour;

/// An id of this class that no row has.
fn gone(class: &str) -> String {
    data_encoding::BASE64URL_NOPAD.encode(format!("gid://rollcall/{class}/987654").as_bytes())
}

#[tokio::test]
async fn not_found_in_a_query_is_null_alone_or_null_and_an_error_with_a_path() {
    let app = TestApp::start().await;
    let by_id = |field: &str, class: &str| (field.to_owned(), format!("{field}(id: \"{}\")", gone(class)));
    let by_input =
        |field: &str, class: &str| (field.to_owned(), format!("{field}(input: {{ id: \"{}\" }})", gone(class)));
    let named = |field: &str, arguments: &str| (field.to_owned(), format!("{field}({arguments})"));
    let null = [
        by_id("service", "Service"),
        named("service", "alias: \"no\""),
        by_id("repository", "Repository"),
        named("repository", "alias: \"no\""),
        by_id("user", "User"),
        named("user", "input: { email: \"no@example.com\" }"),
        by_id("integration", "Integration"),
        by_id("filter", "Filter"),
        by_id("level", "Level"),
        by_id("category", "Category"),
        by_input("propertyDefinition", "PropertyDefinition"),
        named("propertyDefinition", "input: { alias: \"no\" }"),
        named("property", "owner: { alias: \"no\" }, definition: { alias: \"no\" }"),
        by_input("componentType", "ComponentType"),
        by_input("infrastructureResource", "InfrastructureResource"),
        by_id("document", "ServiceDocument"),
        by_id("relationship", "Relationship"),
        by_input("relationshipDefinition", "RelationshipDefinition"),
        by_input("teamPropertyDefinition", "PropertyDefinition"),
        by_id("alertSource", "AlertSource"),
    ];
    for (field, call) in null {
        let answer = app.query(&format!("{{account{{{call}{{__typename}}}}}}"), json!({})).await;
        assert_eq!(answer, json!({ "data": { "account": { (&*field): null } } }), "{call}");
    }
    let with_error = [
        by_id("team", "Team"),
        named("team", "alias: \"no\""),
        by_input("domain", "Domain"),
        named("domain", "input: { alias: \"no\" }"),
        by_input("system", "System"),
        named("system", "input: { alias: \"no\" }"),
    ];
    for (field, call) in with_error {
        let answer = app.query(&format!("{{account{{{call}{{__typename}}}}}}"), json!({})).await;
        assert_eq!(answer["data"]["account"], json!({ (&*field): null }), "{call}");
        let error = &answer["errors"][0];
        assert_eq!((&error["path"], &error["extensions"]["code"]), (&json!(["account", field]), &json!("NOT_FOUND")));
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{error}");
    }
}

#[tokio::test]
async fn a_refused_mutation_has_errors_and_no_object() {
    let app = TestApp::start().await;
    let id = gone("Service");
    let query = format!(
        r#"mutation {{
            serviceUpdate(input: {{ id: "{id}", name: "x" }}) {{ service {{ id }} errors {{ message path }} }}
            teamCreate(input: {{ name: "" }}) {{ team {{ id }} errors {{ message path }} }}
            toolCreate(input: {{ serviceAlias: "no", category: logs, displayName: "x", url: "x" }}) {{ tool {{ id }} errors {{ message path }} }}
            contactCreate(input: {{ teamAlias: "no", type: web, address: "x" }}) {{ contact {{ id }} errors {{ message path }} }}
            domainUpdate(domain: {{ alias: "no" }}, input: {{}}) {{ domain {{ id }} errors {{ message path }} }}
            filterDelete(input: {{ id: "{id}" }}) {{ deletedId errors {{ message path }} }}
        }}"#
    );
    for (name, payload) in data(&app, &query).await.as_object().expect("data") {
        let payload = payload.as_object().expect("a payload");
        for (field, value) in payload {
            match &**field {
                "errors" => assert!(value[0]["message"].is_string() && value[0]["path"].is_array(), "{name}: {value}"),
                _ => assert_eq!(*value, Value::Null, "{name}"),
            }
        }
    }
}

#[tokio::test]
async fn what_was_written_is_answered_as_it_was_sent() {
    let app = TestApp::start().await;
    data(&app, r#"mutation { serviceCreate(input: { name: "Cart" }) { errors { message } } }"#).await;
    let predicates = json!([
        { "key": "tags", "type": "equals", "value": "prod", "keyData": "env", "caseSensitive": null },
        { "key": "name", "type": "contains", "value": " Cart ", "keyData": null, "caseSensitive": false },
        { "key": "language", "type": "exists", "value": null, "keyData": null, "caseSensitive": null },
        { "key": "name", "type": "starts_with", "value": "C", "keyData": null, "caseSensitive": true },
    ]);
    let create = "mutation($input:FilterCreateInput!){filterCreate(input: $input){filter{connective,predicates{caseSensitive,key,keyData,type,value}},errors{message,path}}}";
    let sent = json!({ "input": { "name": "All", "connective": "and", "predicates": predicates } });
    let made = app.query(create, sent).await["data"]["filterCreate"].clone();
    assert_eq!(made, json!({ "filter": { "connective": "and", "predicates": predicates }, "errors": [] }));
    // Empty texts clear a field, or stay as they are.
    let query = r#"mutation {
        cleared: serviceUpdate(input: { alias: "cart", description: "" }) { service { description } errors { message } }
        team: teamCreate(input: { name: "Core", responsibilities: "" }) { team { responsibilities } errors { message } }
        notes: serviceNoteUpdate(input: { service: { alias: "cart" }, note: "  two\n\nlines\n" }) { service { note } errors { message } }
        tool: toolCreate(input: { serviceAlias: "cart", category: logs, displayName: "L", url: "https://l.example.com/?a=%20b#c", environment: "" }) {
            tool { environment url } errors { message }
        }
        tag: tagCreate(input: { alias: "cart", key: "empty", value: "" }) { tag { value } errors { message } }
    }"#;
    let made = data(&app, query).await;
    for empty in [&made["cleared"]["service"]["description"], &made["team"]["team"]["responsibilities"]] {
        assert!(*empty == json!("") || empty.is_null(), "{empty}");
    }
    assert_eq!(made["notes"]["service"]["note"], "  two\n\nlines\n");
    assert_eq!(made["tool"]["tool"]["url"], "https://l.example.com/?a=%20b#c");
    let environment = &made["tool"]["tool"]["environment"];
    assert!(*environment == json!("") || environment.is_null(), "{environment}");
    assert_eq!(made["tag"]["tag"]["value"], "");
}

#[tokio::test]
async fn what_a_client_creates_is_found_by_its_id_in_the_lists_of_its_owner() {
    let tour = Tour::start().await;
    let app = &tour.endpoint.app;
    let query = "query($service:ID!$team:ID!){account{service(id: $service){tools{nodes{id}},tags{nodes{id}},properties{nodes{definition{id}}},dependencies{edges{id}},repos{edges{serviceRepositories{id}}}},team(id: $team){contacts{id}}}}";
    let variables = json!({ "service": tour.id("shop"), "team": tour.id("Core") });
    let read = app.query(query, variables.clone()).await;
    let text = read["data"].to_string();
    for name in ["shopTool", "oldTool", "tag", "lanes", "needs", "link", "coreContact", "oldContact"] {
        assert!(text.contains(tour.id(name).as_str().expect("an id")), "{name}: {text}");
    }
    // The ids are the same each time, also after a change of their object.
    let rename = "mutation($id:ID!){serviceUpdate(input: {id: $id, name: \"Store\"}){errors{message}}}";
    app.query(rename, json!({ "id": tour.id("shop") })).await;
    assert_eq!(app.query(query, variables).await, read);
}

#[tokio::test]
async fn a_second_tag_of_one_key_is_added_by_tag_create_and_replaced_by_tag_assign() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        serviceCreate(input: { name: "Cart" }) { errors { message } }
        old: tagCreate(input: { alias: "cart", type: Service, key: "env", value: "dev" }) { errors { message } }
        new: tagCreate(input: { alias: "cart", type: Service, key: "env", value: "prod" }) { errors { message } }
        same: tagCreate(input: { alias: "cart", type: Service, key: "env", value: "prod" }) { errors { path } }
        assigned: tagAssign(input: { alias: "cart", type: Service, tags: [{ key: "env", value: "test" }] }) {
            tags { key value } errors { message }
        }
    }"#;
    let made = data(&app, query).await;
    assert_eq!((&made["old"]["errors"], &made["new"]["errors"]), (&json!([]), &json!([])));
    assert_ne!(made["same"]["errors"], json!([]));
    assert_eq!(made["assigned"]["tags"], json!([{ "key": "env", "value": "test" }]));
    let read = data(&app, r#"{ account { service(alias: "cart") { tags { nodes { value } } } } }"#).await;
    assert_eq!(read["account"]["service"]["tags"]["nodes"], json!([{ "value": "test" }]));
}

#[tokio::test]
async fn json_is_sent_as_text_in_a_string_or_as_an_object_and_answered_as_an_object() {
    let app = TestApp::start().await;
    let schema = json!({ "type": "object", "properties": { "a": { "type": "number" } } });
    let data_of = json!({ "name": "Base", "port": 5432 });
    for (name, schema_sent, data_sent) in
        [("Text", json!(schema.to_string()), json!(data_of.to_string())), ("Object", schema.clone(), data_of.clone())]
    {
        let query = "mutation($definition:PropertyDefinitionInput!$resource:InfrastructureResourceInput!){propertyDefinitionCreate(input: $definition){definition{schema},errors{message}},infrastructureResourceCreate(input: $resource){infrastructureResource{data,rawData},errors{message}}}";
        let variables = json!({
            "definition": { "name": name, "schema": schema_sent },
            "resource": { "schema": { "type": "Database" }, "data": data_sent },
        });
        let made = app.query(query, variables).await["data"].clone();
        assert_eq!(made["propertyDefinitionCreate"]["definition"]["schema"], schema, "{made}");
        let resource = &made["infrastructureResourceCreate"]["infrastructureResource"];
        assert_eq!((&resource["data"]["port"], &resource["rawData"]), (&json!(5432), &data_of), "{made}");
    }
    // Values of properties are JSON text in both directions.
    let query = r#"mutation {
        serviceCreate(input: { name: "Cart" }) { errors { message } }
        propertyDefinitionCreate(input: { name: "Any", schema: "{}" }) { errors { message } }
        text: propertyAssign(input: { owner: { alias: "cart" }, definition: { alias: "any" }, value: "\"x\"" }) { property { value } }
        number: propertyAssign(input: { owner: { alias: "cart" }, definition: { alias: "any" }, value: "1" }) { property { value } }
        truth: propertyAssign(input: { owner: { alias: "cart" }, definition: { alias: "any" }, value: "true" }) { property { value } }
    }"#;
    let made = data(&app, query).await;
    let values = ["text", "number", "truth"].map(|name| made[name]["property"]["value"].clone());
    assert_eq!(values, [json!("\"x\""), json!("1"), json!("true")]);
}

/// What clients send as the type of an event integration.
const EVENTS: [&str; 31] = [
    "apiDoc",
    "aquaSecurity",
    "argocd",
    "awsEcr",
    "bugsnag",
    "circleci",
    "codacy",
    "coveralls",
    "customEvent",
    "datadogCheck",
    "deploy",
    "dynatrace",
    "flux",
    "githubActions",
    "gitlabCi",
    "grafana",
    "grype",
    "jenkins",
    "jfrogXray",
    "lacework",
    "newRelicCheck",
    "octopus",
    "prismaCloud",
    "prometheus",
    "rollbar",
    "sentry",
    "snyk",
    "sonarqube",
    "stackhawk",
    "sumoLogic",
    "veracode",
];

#[tokio::test]
async fn an_event_integration_has_the_type_that_was_sent_and_a_webhook_url() {
    let app = TestApp::start().await;
    let create = "mutation($input:EventIntegrationInput!){eventIntegrationCreate(input: $input){integration{id,name,type,webhookUrl,... on ApiDocIntegration{installedAt}},errors{message,path}}}";
    for event in EVENTS {
        let made = app.query(create, json!({ "input": { "name": null, "type": event } })).await;
        let made = &made["data"]["eventIntegrationCreate"];
        assert_eq!((&made["integration"]["type"], &made["errors"]), (&json!(event), &json!([])), "{made}");
        assert!(made["integration"]["webhookUrl"].as_str().is_some_and(|url| url.contains("/integrations/")), "{made}");
        let read = "query($id:ID!){account{integration(id: $id){type}}}";
        let read = app.query(read, json!({ "id": made["integration"]["id"] })).await;
        assert_eq!(read["data"]["account"]["integration"]["type"], event);
    }
}

#[tokio::test]
async fn a_new_user_has_the_role_user_and_every_role_is_read_as_it_was_sent() {
    let app = TestApp::start().await;
    // The last administrator cannot be demoted.
    let query = r#"mutation {
        root: userInvite(email: "root@example.com", input: { role: admin }) { errors { message } }
        plain: userInvite(email: "a@example.com", input: {}) { user { role } errors { message } }
        null: userInvite(email: "b@example.com", input: { role: null }) { user { role } errors { message } }
    }"#;
    let made = data(&app, query).await;
    assert_eq!((&made["plain"]["user"]["role"], &made["null"]["user"]["role"]), (&json!("user"), &json!("user")));
    let update = "mutation($input:UserInput!){userUpdate(user: {email: \"a@example.com\"}, input: $input){user{role},errors{message}}}";
    for role in ["admin", "standards_admin", "team_member", "user", "viewer"] {
        let made = app.query(update, json!({ "input": { "role": role } })).await;
        assert_eq!(made["data"]["userUpdate"], json!({ "user": { "role": role }, "errors": [] }));
    }
}

#[tokio::test]
async fn targets_are_named_by_the_arguments_that_clients_use() {
    let tour = Tour::start().await;
    let id = |name: &str| tour.id(name);
    // Each mutation: its arguments with their types, and their values.
    let calls = [
        ("serviceDependencyDelete", vec![("input", "DeleteInput!", json!({ "id": id("needs") }))]),
        (
            "systemUpdate",
            vec![("input", "SystemInput!", json!({})), ("system", "IdentifierInput!", json!({ "id": id("Till") }))],
        ),
        (
            "domainUpdate",
            vec![("domain", "IdentifierInput!", json!({ "id": id("Commerce") })), ("input", "DomainInput!", json!({}))],
        ),
        ("filterDelete", vec![("input", "DeleteInput!", json!({ "id": id("oldFilter") }))]),
        ("componentTypeDelete", vec![("resource", "IdentifierInput!", json!({ "alias": "passing" }))]),
        ("propertyDefinitionDelete", vec![("resource", "IdentifierInput!", json!({ "alias": "passing" }))]),
        ("relationshipDefinitionDelete", vec![("resource", "IdentifierInput!", json!({ "id": id("oldRelation") }))]),
        ("infrastructureResourceDelete", vec![("resource", "IdentifierInput!", json!({ "id": id("oldBase") }))]),
        ("integrationDelete", vec![("resource", "IdentifierInput!", json!({ "id": id("Aws") }))]),
        ("systemDelete", vec![("resource", "IdentifierInput!", json!({ "alias": "passing" }))]),
        ("domainDelete", vec![("resource", "IdentifierInput!", json!({ "alias": "passing" }))]),
        (
            "newRelicIntegrationUpdate",
            vec![
                ("input", "NewRelicIntegrationInput!", json!({ "apiKey": "k" })),
                ("resource", "IdentifierInput!", json!({ "id": id("Relic") })),
            ],
        ),
        (
            "serviceDependencyCreate",
            vec![(
                "inputV2",
                "ServiceDependencyCreateInput!",
                json!({ "dependencyKey": { "source": id("shop"), "destination": id("Stock") } }),
            )],
        ),
    ];
    for (mutation, arguments) in calls {
        let declared: String = arguments.iter().map(|(name, ty, _)| format!("${name}:{ty}")).collect();
        let passed: Vec<_> = arguments.iter().map(|(name, ..)| format!("{name}: ${name}")).collect();
        let document = format!("mutation M({declared}){{{mutation}({}){{errors{{message,path}}}}}}", passed.join(", "));
        let variables = arguments.into_iter().map(|(name, _, value)| (name.to_owned(), value)).collect();
        let answer = tour.endpoint.app.query(&document, variables).await;
        assert_eq!(answer, json!({ "data": { mutation: { "errors": [] } } }), "{document}");
    }
}

#[tokio::test]
async fn types_of_what_does_not_exist_here_can_be_selected_and_are_empty() {
    let tour = Tour::start().await;
    let check = "id,name,description,enabled,enableOn,category{id,name},level{id,name},filter{id,name},owner{alias,id},notes: rawNotes,type";
    let document = format!(
        "query RubricReport($after:String!$first:Int!$service:ID!){{account{{rubric{{checks(after: $after, first: $first){{nodes{{{check}}},edges{{cursor,node{{id}}}},pageInfo{{endCursor,hasNextPage}},totalCount}},levels{{nodes{{checks{{id,name}}}}}}}},service(id: $service){{maturityReport{{overallLevel{{index}}}},serviceStats{{rubric{{categoryLevel{{alias}},checkResults{{byLevel(after: $after, first: $first){{nodes{{items(after: $after, first: $first){{nodes{{check{{id,name}},lastUpdated,message,service{{id}},serviceAlias,status}},edges{{cursor,node{{status}}}},pageInfo{{hasNextPage}},totalCount}},level{{alias}}}},edges{{cursor,node{{level{{alias}}}}}},pageInfo{{hasNextPage}},totalCount}},nextLevel{{level{{alias}}}}}},level{{alias}}}}}}}}}}}}"
    );
    let variables = json!({ "after": "", "first": 500, "service": tour.id("shop") });
    let answer = tour.endpoint.app.query(&document, variables).await;
    let none = json!({ "nodes": [], "edges": [], "pageInfo": { "hasNextPage": false }, "totalCount": 0 });
    let report = json!({
        "categoryLevel": null, "level": null, "checkResults": { "byLevel": none, "nextLevel": null },
    });
    let account = &answer["data"]["account"];
    assert_eq!(account["service"]["serviceStats"], json!({ "rubric": report }), "{answer}");
    assert_eq!(account["service"]["maturityReport"], Value::Null);
    let checks = &account["rubric"]["checks"];
    assert_eq!((&checks["nodes"], &checks["totalCount"]), (&json!([]), &json!(0)));
    assert_eq!(account["rubric"]["levels"]["nodes"][0], json!({ "checks": [] }));
    // Aliases of owners that do not exist here.
    let delete = "mutation($input:AliasDeleteInput!){aliasDelete(input: $input){deletedAlias,errors{message,path}}}";
    for kind in ["group", "scorecard"] {
        let answer = tour.endpoint.app.query(delete, json!({ "input": { "alias": "x", "ownerType": kind } })).await;
        let errors = json!([{ "message": format!("no {kind} has the alias \"x\""), "path": ["alias"] }]);
        assert_eq!(answer["data"]["aliasDelete"], json!({ "deletedAlias": null, "errors": errors }));
    }
    // A cursor of no list is refused, as in every list.
    let wrong = "{account{rubric{checks(after: \"x\"){totalCount}}}}";
    assert!(tour.endpoint.app.query(wrong, json!({})).await["errors"][0]["message"].is_string());
}
