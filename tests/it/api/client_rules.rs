//! The rules that existing clients of this API rely on, a test for each.

use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::tour::Tour;

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
async fn the_rubric_is_selected_in_full_and_owners_of_unknown_kinds_are_not_found() {
    let tour = Tour::start().await;
    let check = "id,name,description,enabled,enableOn,category{id,name},level{id,name},filter{id,name},owner{alias,id},notes: rawNotes,type";
    let document = format!(
        "query RubricReport($after:String!$first:Int!$service:ID!){{account{{rubric{{checks(after: $after, first: $first){{nodes{{{check}}},edges{{cursor,node{{id}}}},pageInfo{{endCursor,hasNextPage}},totalCount}},levels{{nodes{{checks{{id,name}}}}}}}},service(id: $service){{maturityReport{{overallLevel{{index}}}},serviceStats{{rubric{{categoryLevel{{alias}},checkResults{{byLevel(after: $after, first: $first){{nodes{{items(after: $after, first: $first){{nodes{{check{{id,name}},lastUpdated,message,service{{id}},serviceAlias,status}},edges{{cursor,node{{status}}}},pageInfo{{hasNextPage}},totalCount}},level{{alias}}}},edges{{cursor,node{{level{{alias}}}}}},pageInfo{{hasNextPage}},totalCount}},nextLevel{{level{{alias}}}}}},level{{alias}}}}}}}}}}}}"
    );
    let variables = json!({ "after": "", "first": 500, "service": tour.id("shop") });
    let answer = tour.endpoint.app.query(&document, variables).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    let account = &answer["data"]["account"];
    let rubric = &account["service"]["serviceStats"]["rubric"];
    let levels = (&rubric["level"]["alias"], &rubric["checkResults"]["nextLevel"]["level"]["alias"]);
    assert_eq!(levels, (&json!("bronze"), &json!("old")), "{answer}");
    assert_eq!(account["service"]["maturityReport"]["overallLevel"], json!({ "index": 0 }));
    let by_level = &rubric["checkResults"]["byLevel"];
    assert_eq!((&by_level["totalCount"], &by_level["nodes"][0]["level"]["alias"]), (&json!(1), &json!("bronze")));
    let items = &by_level["nodes"][0]["items"];
    assert_eq!(items["totalCount"].as_u64(), items["nodes"].as_array().map(|nodes| nodes.len() as u64));
    assert_eq!(account["rubric"]["checks"]["totalCount"], json!(24));
    // Aliases of owners that do not exist here.
    let delete = "mutation($input:AliasDeleteInput!){aliasDelete(input: $input){deletedAlias,errors{message,path}}}";
    for kind in ["group", "scorecard"] {
        let answer = tour.endpoint.app.query(delete, json!({ "input": { "alias": "x", "ownerType": kind } })).await;
        let errors = json!([{ "message": format!("a {kind} with the alias \"x\" does not exist on this account"), "path": ["alias"] }]);
        assert_eq!(answer["data"]["aliasDelete"], json!({ "deletedAlias": null, "errors": errors }));
    }
    // A cursor of no list is refused, as in every list.
    let wrong = "{account{rubric{checks(after: \"x\"){totalCount}}}}";
    assert!(tour.endpoint.app.query(wrong, json!({})).await["errors"][0]["message"].is_string());
}

#[tokio::test]
async fn what_is_not_found_is_said_in_words_that_scripts_look_for() {
    let tour = Tour::start().await;
    let app = &tour.endpoint.app;
    let words = "does not exist on this account";
    let tag = tour.id("tag");
    for field in ["team", "domain", "system"] {
        let class = format!("{}{}", field[..1].to_uppercase(), &field[1..]);
        for named in [
            json!({ "alias": "no" }),
            json!({ "alias": "No such thing" }),
            json!({ "id": gone(&class) }),
            json!({ "id": tag }),
            json!({ "id": "nothing" }),
            json!({ "id": "gid://elsewhere/Team/987654" }),
        ] {
            let query = match field {
                "team" => {
                    "query($alias: String, $id: ID) { account { team(alias: $alias, id: $id) { id } } }".to_owned()
                }
                _ => format!(
                    "query($alias: String, $id: ID) {{ account {{ {field}(input: {{ alias: $alias, id: $id }}) {{ id }} }} }}"
                ),
            };
            let answer = app.query(&query, named.clone()).await;
            let message = answer["errors"][0]["message"].as_str().unwrap_or_default();
            assert!(message.contains(words), "{field} {named}: {answer}");
        }
    }
    // The same words are in the errors of mutations.
    let query = r#"mutation {
        a: serviceUpdate(input: { alias: "no" }) { errors { message } }
        b: teamDelete(input: { id: "no" }) { errors { message } }
        c: domainUpdate(domain: { alias: "no" }, input: {}) { errors { message } }
        d: systemDelete(resource: { id: "Z2lkOi8vcm9sbGNhbGwvU3lzdGVtLzk5OTk5OQ" }) { errors { message } }
        e: serviceCreate(input: { name: "x", tierAlias: "no" }) { errors { message } }
        f: tagCreate(input: { alias: "no", type: User, key: "a", value: "b" }) { errors { message } }
        g: toolCreate(input: { serviceAlias: "no", category: logs, displayName: "x", url: "https://x" }) { errors { message } }
        h: propertyUnassign(owner: { alias: "shop" }, definition: { alias: "no" }) { errors { message } }
        i: aliasCreate(input: { ownerId: "no", alias: "x" }) { errors { message } }
        j: deployDelete(input: { id: "no" }) { errors { message } }
        k: relationshipCreate(relationshipDefinition: { source: { alias: "no" }, target: { alias: "shop" }, type: related_to }) { errors { message } }
        l: contactCreate(input: { ownerId: "no", type: web, address: "https://x" }) { errors { message } }
        m: teamMembershipCreate(input: { teamId: "no", members: [] }) { errors { message } }
    }"#;
    let answer = app.query(query, json!({})).await;
    for (name, payload) in answer["data"].as_object().unwrap_or_else(|| panic!("{answer}")) {
        let message = payload["errors"][0]["message"].as_str().unwrap_or_default();
        assert!(message.contains(words), "{name}: {payload}");
    }
}

#[tokio::test]
async fn an_update_of_infrastructure_keeps_a_type_that_is_sent_empty() {
    let app = TestApp::start().await;
    let query = r#"mutation { infrastructureResourceCreate(input: { schema: { type: "Database" }, data: { name: "Base" } }) {
        infrastructureResource { id } errors { message }
    } }"#;
    let id = data(&app, query).await["infrastructureResourceCreate"]["infrastructureResource"]["id"].clone();
    let update = "mutation($it: IdentifierInput!, $input: InfrastructureResourceInput!) {
        infrastructureResourceUpdate(infrastructureResource: $it, input: $input) {
            infrastructureResource { type name providerResourceType } errors { message path }
        }
    }";
    for (input, name) in [
        (json!({ "schema": { "type": "" } }), "Base"),
        (json!({ "schema": { "type": "  " }, "providerResourceType": "RDS" }), "Base"),
        (json!({ "schema": null, "data": { "name": "Ledger" } }), "Ledger"),
        (json!({ "schema": { "type": "" }, "data": "{\"name\": \"Books\"}" }), "Books"),
        (json!({ "schema": { "type": "" }, "ownerId": null }), "Books"),
        (json!({}), "Books"),
    ] {
        let answer = app.query(update, json!({ "it": { "id": id }, "input": input })).await;
        let payload = &answer["data"]["infrastructureResourceUpdate"];
        assert_eq!(payload["errors"], json!([]), "{input}");
        let resource = &payload["infrastructureResource"];
        assert_eq!((&resource["type"], &resource["name"]), (&json!("Database"), &json!(name)), "{input}");
    }
    let other = json!({ "it": { "id": id }, "input": { "schema": { "type": "Queue" }, "data": { "name": "Books" } } });
    let answer = app.query(update, other).await;
    assert_eq!(answer["data"]["infrastructureResourceUpdate"]["infrastructureResource"]["type"], "Queue", "{answer}");
    // A new resource needs a type.
    let create = r#"mutation { infrastructureResourceCreate(input: { schema: { type: "" }, data: { name: "x" } }) { errors { path } } }"#;
    let refused = data(&app, create).await["infrastructureResourceCreate"].clone();
    assert_eq!(refused, json!({ "errors": [{ "path": ["schema", "type"] }] }));
}

#[tokio::test]
async fn deploys_of_a_service_are_asked_for_by_its_id_its_alias_or_both_in_an_object() {
    let tour = Tour::start().await;
    let app = &tour.endpoint.app;
    let id = tour.id("shop");
    let all = app.query("{ account { deploys { totalCount } } }", json!({})).await;
    let query = |declared: &str| {
        format!(
            "query($service: {declared}) {{ account {{ deploys(serviceId: $service) {{ nodes {{ service {{ id }} }} }} }} }}"
        )
    };
    let literal =
        |literal: &str| format!("{{ account {{ deploys(serviceId: {literal}) {{ nodes {{ service {{ id }} }} }} }} }}");
    let mut answers = Vec::new();
    for (declared, value) in [
        ("ID", id.clone()),
        ("ID!", id.clone()),
        ("String", json!("shop")),
        ("IdentifierInput", json!({ "alias": "shop" })),
        ("IdentifierInput!", json!({ "id": id })),
        ("ServiceReference", json!({ "alias": "shop", "id": null })),
        ("ServiceReference!", id.clone()),
    ] {
        answers.push((declared.to_owned(), app.query(&query(declared), json!({ "service": value })).await));
    }
    for text in ["\"shop\"".to_owned(), "{ alias: \"shop\" }".to_owned(), id.to_string(), format!("{{ id: {id} }}")] {
        answers.push((text.clone(), app.query(&literal(&text), json!({})).await));
    }
    let shared =
        "query($id: ID!) { account { service(id: $id) { id } deploys(serviceId: $id) { nodes { service { id } } } } }";
    answers.push((shared.to_owned(), app.query(shared, json!({ "id": id })).await));
    for (what, answer) in &answers {
        let nodes =
            answer["data"]["account"]["deploys"]["nodes"].as_array().unwrap_or_else(|| panic!("{what}: {answer}"));
        assert!(!nodes.is_empty() && nodes.iter().all(|node| node["service"]["id"] == id), "{what}: {answer}");
    }
    // Nothing is found for no service, and everything for null.
    for nobody in [json!("no"), json!({ "alias": "no" }), json!(gone("Service")), json!("")] {
        let answer = app.query(&query("ServiceReference"), json!({ "service": nobody })).await;
        assert_eq!(answer["data"]["account"]["deploys"]["nodes"], json!([]), "{nobody}");
    }
    let null = "query($service: IdentifierInput) { account { deploys(serviceId: $service) { totalCount } } }";
    assert_eq!(app.query(null, json!({ "service": null })).await, all);
    // Other types of variables are refused, as everywhere.
    for declared in ["Int", "[ID]", "UserIdentifierInput"] {
        let answer = app.query(&query(declared), json!({})).await;
        assert_eq!(answer["errors"][0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED", "{declared}: {answer}");
    }
    let both = app.query(&literal("{ alias: \"shop\", id: \"x\" }"), json!({})).await;
    assert_eq!(both["errors"][0]["message"], "exactly one of id and alias must be given");
    // A deleted deploy is named under both names.
    let deploy = tour.id("deploy ledger");
    let delete =
        "mutation($id: ID!) { deployDelete(input: { id: $id }) { deletedId deletedDeployId errors { message } } }";
    let answer = app.query(delete, json!({ "id": deploy })).await;
    assert_eq!(answer["data"]["deployDelete"], json!({ "deletedId": deploy, "deletedDeployId": deploy, "errors": [] }));
}

#[tokio::test]
async fn integrations_are_asked_for_by_the_types_that_clients_write() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        deploy: eventIntegrationCreate(input: { name: "deploy", type: deploy }) { errors { message } }
        documents: eventIntegrationCreate(input: { name: "documents", type: apiDoc }) { errors { message } }
        ecr: eventIntegrationCreate(input: { name: "ecr", type: awsEcr }) { errors { message } }
        snyk: eventIntegrationCreate(input: { name: "snyk", type: snyk }) { errors { message } }
        xray: eventIntegrationCreate(input: { name: "xray", type: jfrogXray }) { errors { message } }
        relic: eventIntegrationCreate(input: { name: "relic", type: newRelicCheck }) { errors { message } }
        aws: awsIntegrationCreate(input: { name: "aws", ownershipTagKeys: [] }) { errors { message } }
        custom: customIntegrationCreate(input: { name: "custom" }) { errors { message } }
    }"#;
    data(&app, query).await;
    let names = async |argument: &str, declared: &str, variables: Value| {
        let query =
            format!("query{declared} {{ account {{ integrations(type: {argument}) {{ nodes {{ name }} }} }} }}");
        let answer = app.query(&query, variables).await;
        let nodes =
            answer["data"]["account"]["integrations"]["nodes"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
        nodes.iter().filter_map(|node| node["name"].as_str()).map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    for (argument, expected) in [
        ("aws", "aws"),
        ("\"aws\"", "aws"),
        ("\"AWS\"", "aws"),
        ("\"Snyk\"", "snyk"),
        ("\"API_DOC\"", "documents"),
        ("\"api_doc\"", "documents"),
        ("\"api doc\"", "documents"),
        ("apiDoc", "documents"),
        ("\"aws ecr\"", "ecr"),
        ("\"aws_ecr\"", "ecr"),
        ("awsEcr", "ecr"),
        ("\"jfrog xray\"", "xray"),
        ("\"new relic check\"", "relic"),
        ("\"snyk\"", "snyk"),
        ("\"deploy\"", "deploy ecr snyk xray relic"),
        ("deploy", "deploy ecr snyk xray relic"),
        ("\"custom\"", "custom"),
        ("\"github\"", ""),
        ("\"gitlab\"", ""),
        ("\"azure_devops\"", ""),
    ] {
        assert_eq!(names(argument, "", json!({})).await, expected, "{argument}");
    }
    for (declared, value, expected) in [
        ("($type: String)", json!("aws ecr"), "ecr"),
        ("($type: String!)", json!("api_doc"), "documents"),
        ("($type: IntegrationTypeEnum)", json!("aws"), "aws"),
        ("($type: EventIntegrationEnum)", json!("snyk"), "snyk"),
        ("($type: IntegrationTypeName)", json!("custom"), "custom"),
    ] {
        assert_eq!(names("$type", declared, json!({ "type": value })).await, expected, "{declared}");
    }
    let query = "query($type: String) { account { integrations(type: $type) { totalCount } } }";
    assert_eq!(app.query(query, json!({})).await["data"]["account"]["integrations"]["totalCount"], 8);
    let wrong = app.query(query, json!({ "type": "awz" })).await;
    let message = wrong["errors"][0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("expected the type of an integration, such as deploy, custom"), "{wrong}");
}

#[tokio::test]
async fn an_alias_or_a_plain_id_is_taken_where_an_id_belongs() {
    let tour = Tour::start().await;
    let app = &tour.endpoint.app;
    let id = |name: &str| tour.id(name).as_str().expect("an id").to_owned();
    let plain = |name: &str, scheme: &str| {
        let decoded = data_encoding::BASE64URL_NOPAD.decode(id(name).as_bytes()).expect("base64");
        String::from_utf8(decoded).expect("text").replace("gid://rollcall", scheme)
    };
    let (core, shop, till) = (plain("Core", "gid://elsewhere"), plain("shop", "gid://rollcall"), id("Till"));
    let query = format!(
        r#"mutation {{
            team: teamUpdate(input: {{ id: "core", responsibilities: "r" }}) {{ team {{ id }} errors {{ message }} }}
            plainTeam: teamUpdate(input: {{ id: "{core}", responsibilities: "r" }}) {{ team {{ id }} errors {{ message }} }}
            service: serviceUpdate(input: {{ id: "shop", language: "Go" }}) {{ service {{ id }} errors {{ message }} }}
            swapped: serviceUpdate(input: {{ alias: "{shop}", language: "Go" }}) {{ service {{ id }} errors {{ message }} }}
            system: systemUpdate(system: {{ id: "till" }}, input: {{ ownerId: "core" }}) {{ system {{ id owner {{ id }} }} errors {{ message }} }}
            parent: serviceUpdate(input: {{ alias: "shop", parent: {{ alias: "{till}" }} }}) {{ service {{ parent {{ id }} }} errors {{ message }} }}
            owner: serviceUpdate(input: {{ alias: "shop", ownerAlias: "{core}" }}) {{ service {{ owner {{ id }} }} errors {{ message }} }}
            tier: tierUpdate(input: {{ id: "tier_1", description: "d" }}) {{ tier {{ alias }} errors {{ message }} }}
            tool: toolCreate(input: {{ serviceId: "shop", category: logs, displayName: "L", url: "https://l" }}) {{ tool {{ service {{ id }} }} errors {{ message }} }}
            tag: tagCreate(input: {{ id: "core", type: Team, key: "a", value: "b" }}) {{ tag {{ key owner }} errors {{ message }} }}
            alias: aliasCreate(input: {{ ownerId: "shop", alias: "shoppe" }}) {{ ownerId errors {{ message }} }}
            user: userUpdate(user: {{ id: "bob@example.com" }}, input: {{ name: "Robert" }}) {{ user {{ name }} errors {{ message }} }}
            contact: contactCreate(input: {{ ownerId: "core", type: web, address: "https://c" }}) {{ contact {{ address }} errors {{ message }} }}
            member: teamMembershipCreate(input: {{ teamId: "core", members: [{{ user: {{ id: "bob@example.com" }} }}] }}) {{ members {{ email }} errors {{ message }} }}
            depends: serviceDependencyCreate(inputV2: {{ dependencyKey: {{ source: "shop", destination: "Stock" }} }}) {{ serviceDependency {{ notes }} errors {{ message }} }}
            property: propertyUnassign(owner: {{ id: "shop" }}, definition: {{ id: "lanes" }}) {{ errors {{ message }} }}
            related: relationshipCreate(relationshipDefinition: {{ source: {{ id: "shop" }}, target: {{ id: "core" }}, type: related_to }}) {{ relationship {{ type }} errors {{ message }} }}
        }}"#
    );
    let made = data(app, &query).await;
    for (name, payload) in made.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}: {payload}");
    }
    for team in [
        &made["team"]["team"],
        &made["plainTeam"]["team"],
        &made["system"]["system"]["owner"],
        &made["owner"]["service"]["owner"],
    ] {
        assert_eq!(team["id"], tour.id("Core"));
    }
    for service in [&made["service"]["service"], &made["swapped"]["service"], &made["tool"]["tool"]["service"]] {
        assert_eq!(service["id"], tour.id("shop"));
    }
    assert_eq!(
        (&made["alias"]["ownerId"], &made["parent"]["service"]["parent"]["id"]),
        (&tour.id("shop"), &tour.id("Till"))
    );
    assert_eq!(made["tag"]["tag"], json!({ "key": "a", "owner": "Team" }));
    // A query takes them too. An alias is an alias first, even if it looks like an id.
    let query = format!(
        r#"{{ account {{ a: service(id: "shop") {{ id }} b: team(id: "{core}") {{ id }} c: repository(id: "org/old") {{ name }} d: service(id: "no") {{ id }} }} }}"#
    );
    let expected = json!({ "a": { "id": tour.id("shop") }, "b": { "id": tour.id("Core") }, "c": { "name": "org/old" }, "d": null });
    assert_eq!(data(app, &query).await["account"], expected);
    let query = format!(
        r#"mutation {{
            aliasCreate(input: {{ ownerId: "Stock", alias: "{}" }}) {{ errors {{ message }} }}
            serviceUpdate(input: {{ alias: "{0}", language: "C" }}) {{ service {{ name }} }}
        }}"#,
        id("shop")
    );
    assert_eq!(data(app, &query).await["serviceUpdate"]["service"]["name"], "Stock");
}

#[tokio::test]
async fn a_bare_text_is_the_value_of_a_property_whose_schema_takes_a_text() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        serviceCreate(input: { name: "Cart" }) { errors { message } }
        teamCreate(input: { name: "Core" }) { errors { message } }
        a: propertyDefinitionCreate(input: { name: "Text", schema: "{\"type\": \"string\"}" }) { errors { message } }
        b: propertyDefinitionCreate(input: { name: "Colour", schema: "{\"enum\": [\"green\", \"red\"]}" }) { errors { message } }
        c: propertyDefinitionCreate(input: { name: "Any", schema: "{}" }) { errors { message } }
        d: propertyDefinitionCreate(input: { name: "Number", schema: "{\"type\": \"number\"}" }) { errors { message } }
        e: propertyDefinitionCreate(input: { name: "Short", schema: "{\"type\": \"string\", \"maxLength\": 3}" }) { errors { message } }
    }"#;
    data(&app, query).await;
    let assign = "mutation($input: PropertyInput!) { propertyAssign(input: $input) { property { value } errors { message path } } }";
    let mut owners = ["cart", "core"].into_iter().cycle();
    for (definition, sent, stored) in [
        ("text", "green", Some(json!("green"))),
        ("text", "\"green\"", Some(json!("green"))),
        ("text", "two words, \"quoted\" and \\ more", Some(json!("two words, \"quoted\" and \\ more"))),
        ("text", "1.10", Some(json!("1.10"))),
        ("text", "true", Some(json!("true"))),
        ("text", "null", Some(json!("null"))),
        ("text", "[a, b]", Some(json!("[a, b]"))),
        ("text", "", Some(json!(""))),
        ("colour", "green", Some(json!("green"))),
        ("colour", "\"red\"", Some(json!("red"))),
        ("colour", "blue", None),
        ("any", "green", Some(json!("green"))),
        ("any", "1.10", Some(json!(1.1))),
        ("any", "true", Some(json!(true))),
        ("any", "{'a': 1}", None),
        ("any", "[1, 2", None),
        ("any", "\"open", None),
        ("any", "", None),
        ("number", "3", Some(json!(3))),
        ("number", "three", None),
        ("short", "abc", Some(json!("abc"))),
        ("short", "abcd", None),
    ] {
        let owner = json!({ "alias": owners.next() });
        let input = json!({ "owner": owner, "definition": { "alias": definition }, "value": sent });
        let payload = app.query(assign, json!({ "input": input })).await["data"]["propertyAssign"].clone();
        let value =
            payload["property"]["value"].as_str().map(|text| serde_json::from_str::<Value>(text).expect("JSON"));
        assert_eq!(value, stored, "{definition} {sent}: {payload}");
        assert_eq!(payload["errors"] == json!([]), stored.is_some(), "{payload}");
    }
    // Without validation, a text that is JSON is stored as it is.
    let input = json!({ "owner": { "alias": "cart" }, "definition": { "alias": "text" }, "value": "3", "runValidation": false });
    let payload = app.query(assign, json!({ "input": input })).await["data"]["propertyAssign"].clone();
    assert_eq!(payload["property"]["value"], "3");
}

#[tokio::test]
async fn filters_take_ids_aliases_and_names_and_the_keys_of_either_kind() {
    let tour = Tour::start().await;
    let app = &tour.endpoint.app;
    let query = r#"mutation {
        teamCreate(input: { name: "Far Away" }) { errors { message } }
        systemCreate(input: { name: "Back Room", parent: { alias: "commerce" } }) { errors { message } }
        serviceCreate(input: { name: "Filtered", ownerInput: { alias: "far_away" }, parent: { alias: "back_room" }, tierAlias: "tier_2", type: { alias: "gadget" } }) { errors { message } }
        tagCreate(input: { alias: "filtered", key: "env", value: "lab" }) { errors { message } }
        serviceRepositoryCreate(input: { service: { alias: "filtered" }, repository: { alias: "org/new" } }) { errors { message } }
    }"#;
    data(app, query).await;
    let team = data(app, r#"{ account { team(alias: "far_away") { id } } }"#).await["account"]["team"]["id"].clone();
    let decoded = data_encoding::BASE64URL_NOPAD.decode(team.as_str().expect("an id").as_bytes()).expect("base64");
    let plain = String::from_utf8(decoded).expect("text").replace("rollcall", "elsewhere");
    let one = |key: &str, arg: &str| json!({ "key": key, "arg": arg });
    for predicate in [
        one("owner_id", team.as_str().expect("an id")),
        one("owner_id", &plain),
        one("owner_id", "far_away"),
        one("owner_id", "Far Away"),
        one("owner_ids", &format!("{plain}, core, Far Away")),
        one("system_id", "back_room"),
        one("system_id", "Back Room"),
        one("domain_id", "commerce"),
        one("component_type_id", "gadget"),
        one("component_type_id", "Gadget"),
        one("component_category", "software"),
        one("repository_ids", "org/new"),
        one("tier_index", "tier_2"),
        one("tier_index", "2"),
        one("tag", "env:lab"),
        one("tags", "env:lab"),
        json!({ "key": "tags", "arg": "env:l.b", "type": "matches_regex" }),
        json!({ "key": "component_category", "arg": "^soft", "type": "matches_regex" }),
    ] {
        let query =
            "query($filter: [ServiceFilterInput!]) { account { services(filter: $filter) { nodes { name } } } }";
        let filter = json!([predicate, { "key": "name", "arg": "Filtered" }]);
        let answer = app.query(query, json!({ "filter": filter })).await;
        assert_eq!(
            answer["data"]["account"]["services"]["nodes"],
            json!([{ "name": "Filtered" }]),
            "{predicate}: {answer}"
        );
    }
    // Saved filters have the same keys, and are answered as they were sent.
    for (key, data_of, value) in [
        ("tag", json!("env"), "lab"),
        ("tags", json!("env"), "lab"),
        ("owner_id", Value::Null, &*plain),
        ("system_id", Value::Null, "Back Room"),
        ("component_type_id", Value::Null, "gadget"),
        ("component_category", Value::Null, "software"),
    ] {
        let create = "mutation($input: FilterCreateInput!) { filterCreate(input: $input) { filter { id predicates { key keyData value } } } }";
        let predicate = json!({ "key": key, "keyData": data_of, "value": value, "type": "equals" });
        let made = app.query(create, json!({ "input": { "name": "F", "predicates": [predicate] } })).await;
        let filter = &made["data"]["filterCreate"]["filter"];
        assert_eq!(filter["predicates"], json!([{ "key": key, "keyData": data_of, "value": value }]), "{made}");
        let list = "query($id: ID!) { account { services(filterIdentifier: { id: $id }) { nodes { name } } } }";
        let answer = app.query(list, json!({ "id": filter["id"] })).await;
        let nodes = answer["data"]["account"]["services"]["nodes"].as_array().unwrap_or_else(|| panic!("{answer}"));
        assert!(nodes.contains(&json!({ "name": "Filtered" })), "{key}: {answer}");
    }
    // What is not found is an error, and the number of look-ups is bounded.
    let query = "query($filter: [ServiceFilterInput!]) { account { services(filter: $filter) { totalCount } } }";
    let many = (0..51).map(|number| format!("t{number}")).collect::<Vec<_>>().join(",");
    for (predicate, message) in [
        (one("owner_id", "nobody"), "a team with the id or alias \"nobody\" does not exist on this account"),
        (one("owner_ids", &many), "at most 50 names can be given; give ids"),
        (one("tier_index", "tier_9"), "an index must be a whole number, and no tier is called \"tier_9\""),
    ] {
        let answer = app.query(query, json!({ "filter": [predicate] })).await;
        assert_eq!(answer["errors"][0]["message"], message, "{predicate}");
    }
}
