//! Service files give services and teams properties, and services relationships.

use rollcall::db::Read;
use rollcall::entity::audit;
use rollcall::entity::user::Role;
use rollcall::graphql::service::service_file::ENTRIES;
use rollcall::json_schema::read_schema;
use rollcall::service_file::{self, Applied, PROPERTIES_TEXT};
use sea_orm::{EntityTrait, QueryOrder};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::refusal::{NOT_OWN, rules_alone};
use crate::harness::service_file::{apply, apply_text, done_of, done_with};

/// Definitions, and what files refer to.
async fn catalogue() -> TestApp {
    let app = TestApp::start().await;
    let made = r#"mutation {
        a: propertyDefinitionCreate(input: { name: "Grade", schema: { enum: ["a", "b"] } }) { errors { message } }
        b: propertyDefinitionCreate(input: { name: "Site", schema: {
            type: "object", properties: { zones: { items: { type: "integer", maximum: 9007199254740995 } } }
        } }) { errors { message } }
        c: propertyDefinitionCreate(input: { name: "Hand", schema: {}, allowedInConfigFiles: false }) { errors { message } }
        d: propertyDefinitionCreate(input: { name: "Weight", schema: { type: "number" } }) { errors { message } }
        e: teamPropertyDefinitionCreate(input: { alias: "rota", name: "Rota", description: "", schema: {} }) { errors { message } }
        f: componentTypeUpdate(componentType: { alias: "library" }, input: { properties: [{
            alias: "size", name: "Size", description: "", allowedInConfigFiles: true, propertyDisplayStatus: visible, schema: {}
        }] }) { errors { message } }
        g: relationshipDefinitionCreate(input: {
            name: "Billed to", componentType: { alias: "service" }, metadata: { allowedTypes: ["team", "system"], maxItems: 2 }
        }) { errors { message } }
        h: relationshipDefinitionCreate(input: { name: "Reads", componentType: { alias: "service" } }) { errors { message } }
        i: teamCreate(input: { name: "Core" }) { errors { message } }
        j: teamCreate(input: { name: "Till" }) { errors { message } }
        k: systemCreate(input: { name: "Till" }) { errors { message } }
        l: domainCreate(input: { name: "Trade" }) { errors { message } }
    }"#;
    let made = data(&app, made).await;
    for (name, payload) in made.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    app
}

/// The properties of the service `cart` and the team `core`, and what the service is related to.
async fn described(app: &TestApp) -> Value {
    let query = r#"{ account {
        service(alias: "cart") {
            properties { nodes { definition { aliases } value } }
            relationships { nodes { definition { alias } target {
                __typename ... on Service { name } ... on System { name } ... on Team { name } ... on Domain { name }
            } } }
        }
        team(alias: "core") { properties { nodes { definition { aliases } value } } }
    } }"#;
    let account = data(app, query).await["account"].take();
    let values = |of: &Value| -> Vec<String> {
        let nodes = of["properties"]["nodes"].as_array().cloned().unwrap_or_default();
        let value = |node: &Value| {
            format!("{} {}", node["definition"]["aliases"][0].as_str().unwrap(), node["value"].as_str().unwrap())
        };
        let mut values: Vec<_> = nodes.iter().map(value).collect();
        values.sort();
        values
    };
    let ties = account["service"]["relationships"]["nodes"].as_array().cloned().unwrap_or_default();
    let tie = |node: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        [text(&node["definition"]["alias"]), text(&node["target"]["__typename"]), text(&node["target"]["name"])]
            .join(" ")
    };
    json!([values(&account["service"]), values(&account["team"]), ties.iter().map(tie).collect::<Vec<_>>()])
}

fn changes(applied: &Applied) -> Vec<String> {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    let change =
        |one: &service_file::FieldChange| format!("{}: {} → {}", one.field, text(&one.before), text(&one.after));
    applied.changes.iter().map(change).collect()
}

const FILE: &str = "version: 1
service:
  name: Cart
  properties:
    grade: a
    site: { zones: [1, 9007199254740993], name: Kiel }
    weight: 1.50
  relationships:
    billed_to: [core, { alias: till, type: team }]
    reads: [mail, trade]
---
version: 1
service: { name: Mail }
---
version: 1
team: { name: Core, properties: { rota: [ada, null, true], grade: b } }
";

#[tokio::test]
async fn files_give_services_and_teams_properties_and_relationships() {
    let app = catalogue().await;
    let first = ["created service cart", "created service mail", "updated team core"];
    assert_eq!(apply_text(&app, FILE).await, first);
    let expected = json!([
        ["grade \"a\"", r#"site {"name":"Kiel","zones":[1,9007199254740993]}"#, "weight 1.5"],
        ["grade \"b\"", r#"rota ["ada",null,true]"#],
        ["billed_to Team Core", "billed_to Team Till", "reads Service Mail", "reads Domain Trade"],
    ]);
    assert_eq!(described(&app).await, expected);
    let again = apply_text(&app, FILE).await;
    assert!(again.iter().all(|line| line.starts_with("unchanged ")), "{again:?}");
    // A key that is absent leaves them.
    let bare = "version: 1\nservice: { name: Cart }\n---\nversion: 1\nteam: { name: Core }\n";
    assert_eq!(apply_text(&app, bare).await, ["unchanged service cart", "unchanged team core"]);
    assert_eq!(described(&app).await, expected);
}

#[tokio::test]
async fn what_changes_is_shown_by_a_dry_run_and_kept_by_the_audit() {
    let app = catalogue().await;
    apply_text(&app, FILE).await;
    let other =
        FILE.replace("grade: a", "grade: b").replace("    weight: 1.50\n", "").replace("[mail, trade]", "[core]");
    let other = other.replace("[ada, null, true]", "null");
    let before = described(&app).await;
    let dry = service_file::Options { is_dry_run: true, ..Default::default() };
    let shown = done_with(&app, &[("f.yml", &other)], &dry).await.expect("it applies");
    assert_eq!(described(&app).await, before);
    let done = done_of(&app, &[("rollcall.yml", &other)]).await.expect("it applies");
    let expected = [
        "properties.grade: \"a\" → \"b\"",
        "properties.weight: 1.5 → -",
        "relationships: reads: mail, reads: trade → reads: core",
    ];
    assert_eq!(changes(&done.documents[0]), expected);
    // In the dry run the file has another name, too.
    assert_eq!(changes(&shown.documents[0])[1..], expected);
    assert_eq!(changes(&done.documents[2]), ["properties.rota: [\"ada\",null,true] → -"]);
    assert_eq!(done.documents[2].changes, shown.documents[2].changes);
    let expected = json!([
        ["grade \"b\"", r#"site {"name":"Kiel","zones":[1,9007199254740993]}"#],
        ["grade \"b\""],
        ["billed_to Team Core", "billed_to Team Till", "reads Team Core"],
    ]);
    assert_eq!(described(&app).await, expected);
    let entries = app.db.read().all(audit::Entity::find().order_by_desc(audit::Column::Id)).await.expect("entries");
    let entry = entries.iter().find(|entry| entry.subject_name.as_deref() == Some("cart")).expect("an entry");
    let detail: Value = serde_json::from_str(&entry.detail).expect("JSON");
    let changed = json!({
        "properties.grade": { "old": "\"a\"", "new": "\"b\"" }, "properties.weight": { "old": "1.5", "new": null },
        "relationships": { "removed": ["reads: mail", "reads: trade"], "added": ["reads: core"] },
    });
    assert_eq!((entry.action.as_str(), &detail["changed"]), ("apply", &changed));
}

#[tokio::test]
async fn a_file_removes_only_what_a_file_wrote() {
    let app = catalogue().await;
    let made = r#"mutation {
        cart: serviceCreate(input: { name: "Cart" }) { errors { message } }
        weight: propertyAssign(input: { owner: { alias: "cart" }, definition: { alias: "weight" }, value: "2" }) { errors { message } }
        grade: propertyAssign(input: { owner: { alias: "cart" }, definition: { alias: "grade" }, value: "\"a\"" }) { errors { message } }
        rota: propertyAssign(input: { owner: { alias: "core" }, definition: { alias: "rota" }, value: "1" }) { errors { message } }
        reads: relationshipCreate(relationshipDefinition: {
            type: related_to, relationshipDefinition: { alias: "reads" }, source: { alias: "cart" }, target: { alias: "trade" }
        }) { errors { message } }
        plain: relationshipCreate(relationshipDefinition: { type: depends_on, source: { alias: "cart" }, target: { alias: "core" } }) {
            errors { message }
        }
    }"#;
    for (name, payload) in data(&app, made).await.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    let count = async || {
        let query = r#"{ account { service(alias: "cart") { relationships { totalCount } } } }"#;
        data(&app, query).await["account"]["service"]["relationships"]["totalCount"].take()
    };
    assert_eq!(count().await, 2);
    // The file takes over the value that it changes, and neither the one that it repeats nor the one that it does not have.
    let file = "version: 1\nservice:\n  name: Cart\n  properties: { grade: b, site: {} }\n  relationships: { reads: [trade, till] }\n---\n\
        version: 1\nteam: { name: Core, properties: { rota: 1, grade: a } }\n";
    apply_text(&app, file).await;
    assert_eq!(count().await, 3);
    let less = "version: 1\nservice: { name: Cart, properties: {}, relationships: { reads: } }\n---\n\
        version: 1\nteam: { name: Core, properties: }\n";
    apply_text(&app, less).await;
    assert_eq!(count().await, 2);
    let query = r#"{ account {
        service(alias: "cart") { properties { nodes { value } } relationships { nodes { target { ... on Domain { name } } } } }
        team(alias: "core") { properties { nodes { value } } }
    } }"#;
    let expected = json!({
        "service": { "properties": { "nodes": [{ "value": "2" }] }, "relationships": { "nodes": [{ "target": { "name": "Trade" } }, { "target": {} }] } },
        "team": { "properties": { "nodes": [{ "value": "1" }] } },
    });
    assert_eq!(data(&app, query).await["account"], expected);
    assert_eq!(apply_text(&app, less).await, ["unchanged service cart", "unchanged team core"]);
    // A value that somebody writes over that of a file is no longer the file's. Null removes it, whoever wrote it.
    apply_text(&app, "version: 1\nteam: { name: Core, properties: { grade: a } }\n").await;
    let over = r#"mutation { propertyAssign(input: { owner: { alias: "core" }, definition: { alias: "grade" }, value: "\"b\"" }) { errors { message } } }"#;
    data(&app, over).await;
    apply_text(&app, "version: 1\nteam: { name: Core, properties: {} }\n").await;
    assert_eq!(described(&app).await[1], json!(["grade \"b\"", "rota 1"]));
    apply_text(&app, "version: 1\nteam: { name: Core, properties: { grade: null } }\n").await;
    assert_eq!(described(&app).await[1], json!(["rota 1"]));
}

#[tokio::test]
async fn a_governed_service_keeps_what_its_file_gave_it_until_it_is_released() {
    let app = catalogue().await;
    apply_text(&app, FILE).await;
    let query = r#"{ account { service(alias: "cart") { relationships { nodes { id } } } } }"#;
    let tie = data(&app, query).await["account"]["service"]["relationships"]["nodes"][0]["id"].take();
    let writes = r#"mutation($tie: ID!) {
        assign: propertyAssign(input: { owner: { alias: "cart" }, definition: { alias: "grade" }, value: "\"b\"" }) { errors { path } }
        unassign: propertyUnassign(owner: { alias: "cart" }, definition: { alias: "grade" }) { errors { path } }
        untie: relationshipDelete(input: { id: $tie }) { errors { path } }
    }"#;
    let before = described(&app).await;
    let refused = json!({ "errors": [{ "path": ["locked"] }] });
    let answer = app.query(writes, json!({ "tie": tie })).await;
    assert_eq!(answer["data"], json!({ "assign": refused, "unassign": refused, "untie": refused }));
    assert_eq!(described(&app).await, before);
    service_file::release(&app.db, "cart").await.expect("a service");
    assert_eq!(described(&app).await, before);
    let done = json!({ "errors": [] });
    let answer = app.query(writes, json!({ "tie": tie })).await;
    assert_eq!(answer["data"], json!({ "assign": done, "unassign": done, "untie": done }));
}

#[tokio::test]
async fn every_mistake_in_properties_and_relationships_has_its_place() {
    let app = catalogue().await;
    let deep = "[".repeat(21) + &"]".repeat(21);
    let text = format!(
        r#"version: 1
service:
  name: Cart
  properties:
    colour: red
    grade: c
    site: {{ zones: [1, x, 9007199254740996] }}
    hand: 1
    rota: 1
    size: 1
    grade: a
    weight: {{ 1: x }}
    "": 1
    weight: {deep}
---
version: 1
service:
  name: Mail
  properties: [grade]
  relationships: {{ owns: [core], billed_to: [mail, trade, core, {{ alias: till, type: system }}, {{ alias: till, type: team }}], reads: [mail, core, core, {{ type: team }}, {{ alias: x, type: user }}, 7], billed: core }}
---
version: 1
team: {{ name: Core, properties: {{ size: 1, colour: 2 }}, relationships: {{}} }}
"#
    );
    let found = apply(&app, &[("f.yml", &text)]).await.expect_err("mistakes");
    let expected = [
        "f.yml:5:5: no property definition has the alias \"colour\"",
        "f.yml:6:12: \"c\" is not one of \"a\" or \"b\"",
        "f.yml:7:24: \"x\" is not of type \"integer\"",
        "f.yml:7:27: 9007199254740996 is greater than the maximum of 9007199254740995",
        "f.yml:8:5: service files may not set the property \"hand\"",
        "f.yml:9:5: this property definition is for teams, not for services",
        "f.yml:10:5: this property definition is for another component type",
        "f.yml:11:5: the key \"grade\" occurs twice",
        "f.yml:12:15: a key must be a string, not a number; put it in quotes",
        "f.yml:13:5: the alias of a definition must not be empty",
        "f.yml:14:5: the key \"weight\" occurs twice",
        "f.yml:19:15: properties must be a mapping, not a list",
    ];
    assert_eq!(found[..expected.len()], expected);
    let expected = [
        "f.yml:20:20: no relationship definition has the alias \"owns\"",
        "f.yml:20:46: a service cannot be related to itself",
        "f.yml:20:52: the target must be one of: team, system",
        "f.yml:20:105: the source has 2 relationships of this definition; at most 2 are allowed",
        "f.yml:20:134: a service cannot be related to itself",
        "f.yml:20:146: this relationship occurs twice",
        "f.yml:20:152: a relationship needs an alias",
        "f.yml:20:186: type is \"user\", but must be one of service, system, domain, team, infrastructure_resource",
        "f.yml:20:194: a relationship must be a mapping, not a number",
        "f.yml:20:206: billed must be a list, not a string",
    ];
    assert_eq!(found[12..22], expected);
    let expected = [
        "f.yml:23:35: this property definition is for a component type, not for teams",
        "f.yml:23:44: no property definition has the alias \"colour\"",
        "f.yml:23:57: a team has no key \"relationships\"; its keys are name, manager, parent_team, responsibilities, aliases, \
            tags, members, contacts, properties",
    ];
    assert_eq!(found[22..], expected);
    for (value, message) in [
        (deep, "the value has more than 20 levels"),
        (format!("[{}]", "1,".repeat(500)), "the value has more than 500 parts"),
        ("x".repeat(8_191), "the value has 8193 bytes; at most 8192 are allowed"),
        (".inf".to_owned(), "the YAML cannot be read: non-finite float `…` rejected by the configured policy"),
    ] {
        let text = format!("version: 1\nservice: {{ name: Cart, properties: {{ weight: {value} }} }}\n");
        let found = apply(&app, &[("f.yml", &text)]).await.expect_err("a mistake");
        assert_eq!(found, [format!("f.yml:2:46: {message}")]);
    }
    let services =
        data(&app, "{ account { services { totalCount } } }").await["account"]["services"]["totalCount"].take();
    assert_eq!(services, 0);
}

#[tokio::test]
async fn a_target_that_is_not_there_is_noted_and_taken_once_it_is() {
    let app = catalogue().await;
    let file =
        "version: 1\nservice: { name: Cart, relationships: { reads: [ledger, { alias: core, type: system }] } }\n";
    let done = done_of(&app, &[("f.yml", file)]).await.expect("it applies");
    let notes: Vec<_> = done.left_out.iter().map(ToString::to_string).collect();
    let expected = [
        "f.yml:2:49: the relationship is not taken: nothing has the alias \"ledger\"",
        "f.yml:2:66: the relationship is not taken: nothing has the alias \"core\"",
    ];
    assert_eq!(notes, expected);
    data(&app, r#"mutation { serviceCreate(input: { name: "Ledger" }) { errors { message } } }"#).await;
    assert_eq!(apply(&app, &[("f.yml", file)]).await, Ok(vec!["updated service cart".to_owned()]));
    assert_eq!(described(&app).await[2], json!(["reads Service Ledger"]));
}

#[tokio::test]
async fn each_part_of_a_value_counts_as_an_entry() {
    let app = catalogue().await;
    let send = async |number: usize| {
        let lists: String = (0..number)
            .map(|n| {
                format!(
                    "--- {{version: 1, service: {{name: s{n}, properties: {{weight: [{}]}}}}}}\n",
                    "1, ".repeat(499)
                )
            })
            .collect();
        let query =
            "mutation($input: ServiceFilesApplyInput!) { serviceFilesApply(input: $input) { errors { message } } }";
        let input = json!({ "files": [{ "path": "f.yml", "text": lists }] });
        app.query(query, json!({ "input": input })).await["data"]["serviceFilesApply"]["errors"].take()
    };
    let most = ENTRIES / 500;
    let message = send(most + 1).await[0]["message"].take();
    let place = format!("f.yml:{}:27", most + 1);
    assert_eq!(
        message,
        format!("{place}: the lists have more than {ENTRIES} entries in total; apply fewer files at a time")
    );
    // All are looked at where that is allowed: the value is no number.
    assert_eq!(send(most).await.as_array().map(Vec::len), Some(most));
}

#[tokio::test]
async fn the_bytes_of_all_values_are_bounded_with_their_aliases() {
    let app = catalogue().await;
    let send = async |number: usize| {
        let services = (1..number).map(|n| format!(", {{name: s{n}, properties: {{weight: *long}}}}"));
        let first = format!("{{name: s0, properties: {{weight: &long {}}}}}", "x".repeat(8_000));
        let text = format!("version: 1\nservice: [{first}{}]\n", services.collect::<String>());
        let query =
            "mutation($input: ServiceFilesApplyInput!) { serviceFilesApply(input: $input) { errors { message } } }";
        let input = json!({ "files": [{ "path": "f.yml", "text": text }] });
        app.query(query, json!({ "input": input })).await["data"]["serviceFilesApply"]["errors"].take()
    };
    // A value has 8,002 bytes with its quotation marks.
    let most = PROPERTIES_TEXT / 8_002;
    let found = send(most + 1).await;
    let message = found[0]["message"].as_str().expect("a message");
    let limit = "the values of properties have more than 1048576 bytes in total; apply fewer files at a time";
    assert!(message.ends_with(limit), "{message}");
    assert_eq!(found.as_array().map(Vec::len), Some(1));
    // All are looked at where that is allowed: the value is no number.
    let found = send(most).await;
    assert_eq!(found[100]["message"], json!(format!("there are {} more mistakes", most - 100)));
}

/// All values of this file are allowed, and each fits. To check them all takes several times what is allowed.
#[tokio::test]
async fn the_checks_of_all_values_are_bounded_by_their_time() {
    let app = catalogue().await;
    let schema = |count: usize| {
        let pattern = format!("[ab]*a[ab]{{{count}}}[cd]");
        json!({ "allOf": vec![json!({ "not": { "pattern": pattern } }); 4] })
    };
    let counts = (1..100).map(|hundreds| schema(hundreds * 100));
    let allowed = counts.take_while(|schema| read_schema("schema", &schema.to_string()).is_ok());
    let define = "mutation($schema: JSONSchema) {
        propertyDefinitionCreate(input: { name: \"Costly\", schema: $schema }) { errors { message } }
    }";
    let made = app.query(define, json!({ "schema": allowed.last() })).await;
    assert_eq!(made["data"]["propertyDefinitionCreate"]["errors"], json!([]), "{made}");
    let mut random = fastrand::Rng::with_seed(7);
    let letters: String = (0..8_000).map(|_| if random.bool() { 'a' } else { 'b' }).collect();
    let others = (1..PROPERTIES_TEXT / 8_002).map(|n| format!(", {{name: s{n}, properties: {{costly: *long}}}}"));
    let first = format!("{{name: s0, properties: {{costly: &long {letters}}}}}");
    let text = format!("version: 1\nservice: [{first}{}]\n", others.collect::<String>());
    let query = "mutation($input: ServiceFilesApplyInput!) { serviceFilesApply(input: $input) { errors { message } } }";
    let answer = app.query(query, json!({ "input": { "files": [{ "path": "f.yml", "text": text }] } })).await;
    let errors = &answer["data"]["serviceFilesApply"]["errors"];
    let message = errors[0]["message"].as_str().expect("a message");
    let limit = "it takes more than 2s of processor time to check the values of properties against their schemas; \
        apply fewer files at a time, or simplify the schemas";
    assert!(message.starts_with("f.yml:2:") && message.ends_with(limit), "{message}");
    assert_eq!(errors.as_array().map(Vec::len), Some(1));
    let left = data(&app, "{ account { services { totalCount } } }").await;
    assert_eq!(left["account"]["services"]["totalCount"], 0);
}

#[tokio::test]
async fn results_and_refusals_are_answered_however_long_the_mutation_took() {
    // Each of these mutations takes longer, and has an answer so long that the budget would be checked meanwhile.
    let app = TestApp::with(&["--query-processor-time", "3ms"]).await;
    let answered = async |query: &str, variables: Value| {
        let mut answer = app.query(query, variables).await;
        assert_eq!(answer.get("errors"), None, "{answer}");
        answer["data"]["done"].take()
    };
    let number = |list: &Value| list.as_array().map(Vec::len);
    let apply =
        "mutation($text: String!) { done: serviceFilesApply(input: { files: { path: \"f.yml\", text: $text } }) {
        documents { name outcome changes { field after } } errors { message }
    } }";
    let services = |rest: &str| {
        let service = |n: usize| format!("--- {{version: 1, service: {{name: s{n}, {rest}}}}}\n");
        json!({ "text": (0..100).map(service).collect::<String>() })
    };
    let refused = answered(apply, services("tier: none")).await;
    assert_eq!((&refused["documents"], number(&refused["errors"])), (&Value::Null, Some(100)));
    let applied = answered(apply, services("language: Go")).await;
    assert_eq!((number(&applied["documents"]), &applied["errors"]), (Some(100), &json!([])));
    // A refusal has nothing to read, whatever is selected.
    let update = "mutation($properties: [ComponentTypePropertyDefinitionInput!]) {
        done: componentTypeUpdate(componentType: { alias: \"service\" }, input: { properties: $properties }) {
            componentType { aliases properties { nodes { name } } } errors { message }
        }
    }";
    let property = |n: usize| {
        json!({
            "alias": format!("p{n}"), "name": "P", "description": "", "allowedInConfigFiles": true,
            "propertyDisplayStatus": "visible", "schema": { "type": "no_such_type" },
        })
    };
    let properties: Vec<Value> = (0..100).map(property).collect();
    let refused = answered(update, json!({ "properties": properties })).await;
    assert_eq!((&refused["componentType"], number(&refused["errors"])), (&Value::Null, Some(100)));
    // Its list of definitions is read, and its errors are not.
    let assign = |selected: &str| {
        format!(
            "mutation($properties: [TeamPropertyDefinitionInput!]!) {{
                done: teamPropertyDefinitionsAssign(input: {{ properties: $properties }}) {{ {selected} }}
            }}"
        )
    };
    let properties = |of_type: &str| {
        let schema = json!({ "type": of_type });
        let property = |n: usize| json!({ "alias": format!("p{n}"), "name": "P", "description": "", "schema": schema });
        json!({ "properties": (0..100).map(property).collect::<Vec<Value>>() })
    };
    let all = assign("properties { nodes { name } } errors { message }");
    let refused = answered(&all, properties("no_such_type")).await;
    assert_eq!((&refused["properties"], number(&refused["errors"])), (&Value::Null, Some(100)));
    let assigned = answered(&assign("errors { message }"), properties("string")).await;
    assert_eq!(assigned, json!({ "errors": [] }));
}

#[tokio::test]
async fn a_team_member_gives_properties_only_to_what_the_own_teams_own() {
    let app = catalogue().await;
    let member = Browser::of(&app, Role::TeamMember).await;
    let made = r#"mutation {
        own: teamCreate(input: { name: "Own", members: { email: "teammember@example.com" } }) { errors { message } }
        mail: serviceCreate(input: { name: "Mail", ownerInput: { alias: "core" } }) { errors { message } }
    }"#;
    data(&app, made).await;
    let apply = async |text: &str| {
        let query = "mutation($text: String!) { serviceFilesApply(input: { files: { path: \"f.yml\", text: $text } }) { errors { message } } }";
        member.query(query, json!({ "text": text })).await["data"]["serviceFilesApply"]["errors"].take()
    };
    let text = "version: 1\nservice: { name: Mine, owner: own, properties: { grade: a }, relationships: { reads: [mail] } }\n---\n\
        version: 1\nteam: { name: Own, properties: { grade: a } }\n";
    assert_eq!(apply(text).await, json!([]));
    let text = "version: 1\nservice: { name: Mail, properties: { grade: a } }\n---\n\
        version: 1\nteam: { name: Core, properties: { grade: a } }\n";
    let refused = |what: &str| json!({ "message": format!("the {what}: {NOT_OWN}") });
    assert_eq!(rules_alone(apply(text).await), json!([refused("service \"mail\""), refused("team \"core\"")]));
    let query = r#"{ account { service(alias: "mail") { properties { totalCount } } team(alias: "core") { properties { totalCount } } } }"#;
    let none = json!({ "properties": { "totalCount": 0 } });
    assert_eq!(data(&app, query).await["account"], json!({ "service": none, "team": none }));
}
