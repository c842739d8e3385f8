//! The service file that describes a thing as it is, and what was not taken from the file that was applied.

use rollcall::entity::service_file_note::NOTES;
use rollcall::entity::user::Role;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;

const APPLY: &str = "mutation($input: ServiceFilesApplyInput!) { serviceFilesApply(input: $input) {
    documents { kind name outcome changes { field before after } } notTaken { message line } errors { message }
} }";

async fn applied(app: &TestApp, path: &str, text: &str) -> Value {
    let input = json!({ "files": [{ "path": path, "text": text }], "repository": "https://github.com/org/a" });
    let mut answer = app.query(APPLY, json!({ "input": input })).await;
    let payload = answer["data"]["serviceFilesApply"].take();
    assert_eq!(payload["errors"], json!([]), "{payload}");
    payload
}

/// What a catalogue has of every key that a document can have.
const EVERYTHING: &str = r##"version: 1
domain: { name: Trade, description: "Buys: and sells", owner: core, aliases: [commerce], tags: { site: north } }
---
version: 1
system: { name: Till, description: "no", owner: core, domain: trade, aliases: ["2.0"], tags: { site: "yes" } }
---
version: 1
team:
  name: Core
  responsibilities: "Everything:\n- the cart\n# and the \"till\""
  manager: ada@example.com
  aliases: [the-core]
  members: [ada@example.com, { email: bob@example.com, role: lead }]
  contacts: [{ type: slack, address: "#core" }, { type: web, address: "https://core.example.com", display_name: Core }]
  tags: { "on": "null" }
  properties: { rota: [1, { day: "monday" }] }
---
version: 1
team: { name: Part, parent_team: core }
---
version: 1
repository:
  name: org/cart
  url: https://github.com/org/cart
  default_branch: main
  description: Code
  owner: core
  private: true
  visible: false
  forked: false
  tags: { env: prod }
---
version: 1
service: { name: Mail }
---
version: 1
service:
  name: "Shopping: Cart"
  description: " holds\n  goods "
  owner: core
  tier: tier_1
  lifecycle: beta
  system: till
  type: website
  product: Shop
  language: Go
  framework: "~"
  api_document_url: "https://docs.example.com/cart.yml"
  aliases: [cart, org/cart, "true"]
  tags: [{ key: env, value: prod }, { key: env, value: "" }]
  repositories:
    - { name: "github.com:org/cart", path: /cart, display_name: Code }
    - { name: "github.com:org/cart", path: / }
  tools:
    - { name: Runbook, category: runbooks, environment: prod, url: "https://wiki.example.com/cart" }
    - { name: Other, url: "https://wiki.example.com/other" }
  contacts:
    - { type: slack, address: "#cart", display_name: Cart }
    - { type: slack, address: "#other" }
    - { type: email, address: cart@example.com }
  dependencies: [{ alias: mail, notes: "to tell: all" }]
  properties: { grade: a, site: { zones: [1, 2], "a b": "x\u0085y" } }
  relationships: { billed_to: [{ alias: core, type: team }, { alias: till, type: system }] }
"##;

async fn catalogue() -> TestApp {
    let app = TestApp::start().await;
    let made = r#"mutation {
        a: propertyDefinitionCreate(input: { name: "Grade", schema: { enum: ["a", "b"] } }) { errors { message } }
        b: propertyDefinitionCreate(input: { name: "Site", schema: {} }) { errors { message } }
        c: propertyDefinitionCreate(input: { name: "Hand", schema: {}, allowedInConfigFiles: false }) { errors { message } }
        d: teamPropertyDefinitionCreate(input: { alias: "rota", name: "Rota", description: "", schema: {} }) { errors { message } }
        e: relationshipDefinitionCreate(input: {
            name: "Billed to", componentType: { alias: "website" }, metadata: { allowedTypes: ["team", "system"] }
        }) { errors { message } }
        f: userInvite(email: "ada@example.com", input: { name: "Ada" }) { errors { message } }
        g: userInvite(email: "bob@example.com", input: { name: "Bob" }) { errors { message } }
    }"#;
    for (name, payload) in data(&app, made).await.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    applied(&app, "rollcall.yml", EVERYTHING).await;
    app
}

/// The service file of a thing.
async fn written(app: &TestApp, id: &Value) -> Value {
    let query = "query($id: ID!) { account { configFile(id: $id) { ownerType yaml } } }";
    let mut answer = app.query(query, json!({ "id": id })).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    answer["data"]["account"]["configFile"].take()
}

/// The ids of what the catalogue has, with the key of each.
async fn ids(app: &TestApp) -> Vec<(&'static str, Value)> {
    let query = "{ account {
        domains { nodes { id } } systems { nodes { id } } teams { nodes { id } } repositories { nodes { id } }
        services { nodes { id } }
    } }";
    let account = data(app, query).await["account"].take();
    let kinds = [
        ("domains", "domain"),
        ("systems", "system"),
        ("teams", "team"),
        ("repositories", "repository"),
        ("services", "service"),
    ];
    let of = |(field, kind): (&str, &'static str)| {
        let nodes = account[field]["nodes"].as_array().cloned().unwrap_or_default();
        nodes.into_iter().map(move |mut node| (kind, node["id"].take())).collect::<Vec<_>>()
    };
    kinds.into_iter().flat_map(of).collect()
}

#[tokio::test]
async fn the_file_that_describes_a_thing_changes_nothing_when_it_is_applied() {
    let app = catalogue().await;
    let by_hand = r#"mutation {
        a: propertyAssign(input: { owner: { alias: "cart" }, definition: { alias: "hand" }, value: "\"x\"" }) { errors { message } }
    }"#;
    let answer = app.query(by_hand, json!({})).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    let ids = ids(&app).await;
    assert_eq!(ids.len(), 7);
    let mut all = Vec::new();
    for (kind, id) in &ids {
        let file = written(&app, id).await;
        assert_eq!(file["ownerType"], *kind);
        let yaml = file["yaml"].as_str().expect("text").to_owned();
        assert!(yaml.starts_with(&format!("version: 1\n{kind}:\n  name: ")), "{yaml}");
        assert!(!yaml.contains("hand"), "a file may not set that property: {yaml}");
        all.push(yaml);
    }
    let payload = applied(&app, "rollcall.yml", &all.join("---\n")).await;
    for document in payload["documents"].as_array().expect("documents") {
        assert_eq!(document["outcome"], "unchanged", "{document}\n{}", all.join("---\n"));
    }
    assert_eq!((payload["documents"].as_array().map(Vec::len), &payload["notTaken"]), (Some(7), &json!([])));
    for ((_, id), yaml) in ids.iter().zip(&all) {
        assert_eq!(written(&app, id).await["yaml"], **yaml);
    }
}

#[tokio::test]
async fn a_written_file_has_everything_that_an_empty_catalogue_needs() {
    let app = catalogue().await;
    let mut all = Vec::new();
    for (_, id) in ids(&app).await {
        all.push(written(&app, &id).await["yaml"].as_str().expect("text").to_owned());
    }
    let told = all.concat();
    for key in EVERYTHING.lines().filter_map(|line| line.strip_prefix("  ")?.split_once(':')).map(|(key, _)| key) {
        assert!(key.starts_with([' ', '-']) || told.contains(&format!("\n  {key}:")), "{key} is missing in {told}");
    }
    // The format that scripts of other catalogues take apart by its lines.
    assert!(told.contains("\n  properties:\n    grade: a\n"), "{told}");
}

#[tokio::test]
async fn what_has_no_file_has_none() {
    let app = catalogue().await;
    for id in ["", "nothing", "gid://rollcall/Service/999", "gid://rollcall/Tier/1", "gid://other/Team/1x"] {
        assert_eq!(written(&app, &json!(id)).await, Value::Null, "{id}");
    }
}

#[tokio::test]
async fn a_thing_whose_name_finds_another_says_so_in_its_file() {
    let app = TestApp::start().await;
    let made = r#"mutation {
        a: serviceCreate(input: { name: "Twin" }) { errors { message } }
        b: serviceCreate(input: { name: "Twin" }) { service { id } errors { message } }
    }"#;
    let made = data(&app, made).await;
    let yaml = written(&app, &made["b"]["service"]["id"]).await["yaml"].as_str().expect("text").to_owned();
    assert!(yaml.starts_with("# This name finds another service: change it before you apply this file.\n"), "{yaml}");
}

/// The errors that a service shows.
async fn errors(app: &TestApp, alias: &str) -> Value {
    let query = "query($alias: String) { account { service(alias: $alias) {
        configErrors { key message origin type line column } serviceFile { commit } timestamps { updatedAt }
    } } }";
    let mut answer = app.query(query, json!({ "alias": alias })).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    answer["data"]["account"]["service"].take()
}

/// The keys and types of the errors that a service shows.
async fn kinds(app: &TestApp, alias: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let all = errors(app, alias).await["configErrors"].take();
    all.as_array().expect("a list").iter().map(|one| (text(&one["key"]), text(&one["type"]))).collect()
}

#[tokio::test]
async fn a_service_shows_what_was_not_taken_from_its_file() {
    let app = TestApp::start().await;
    let text = "---\nversion: 1\nservice:\n  name: Cart\n  tier: nothing\n  aliases: [cart, {}]\n  tags:\n    - key: \"A B\"\n      value: x\n  \
                tools:\n    - name: Wiki\n  dependencies:\n    - alias: nobody\n  alert_sources: 1\n  surprise: 1\n\
                ---\nversion: 1\nservice: { name: Mail }\n---\nversion: 1\nservice: { tier: nothing }\n";
    applied(&app, "opslevel.yml", text).await;
    let all = errors(&app, "cart").await["configErrors"].take();
    let tier = json!({
        "key": "tier", "message": "this is not taken: no tier has the alias \"nothing\"", "origin": "opslevel.yml",
        "type": "INVALID_VALUE_ERROR", "line": 5, "column": 9,
    });
    assert!(all.as_array().expect("a list").contains(&tier), "{all}");
    let found = kinds(&app, "cart").await;
    for (key, class) in [
        ("tier", "INVALID_VALUE_ERROR"),
        ("aliases", "ALIAS_ERROR"),
        ("tags", "TAG_ERROR"),
        ("tools", "TOOL_ERROR"),
        ("dependencies", "SERVICE_DEPENDENCY_ERROR"),
        ("alert_sources", "ALERT_SOURCE_ERROR"),
        ("surprise", "INVALID_VALUE_ERROR"),
    ] {
        assert!(found.contains(&(key.to_owned(), class.to_owned())), "{key}: {all}");
    }
    // What is wrong with the last document is about no service.
    assert_eq!(errors(&app, "mail").await["configErrors"], json!([]));
    let entity = "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata:\n  name: pay\n  annotations: { \"a b\": 1 }\n  links:\n    - title: x\n\
                  spec:\n  type: strange\n  owner: nobody\n  dependsOn: ['component:none']\n\
                  ---\napiVersion: backstage.io/v1alpha1\nkind: User\nmetadata: {}\n";
    applied(&app, "catalog-info.yaml", entity).await;
    let found = kinds(&app, "pay").await;
    for (key, class) in [("spec.owner", "INVALID_VALUE_ERROR"), ("spec.dependsOn", "SERVICE_DEPENDENCY_ERROR")] {
        assert!(found.contains(&(key.to_owned(), class.to_owned())), "{key}: {found:?}");
    }
    // A file that is right takes them away, and so does releasing the service.
    let before = errors(&app, "cart").await["timestamps"].take();
    applied(&app, "opslevel.yml", "version: 1\nservice:\n  name: Cart\n  aliases: [cart]\n").await;
    let after = errors(&app, "cart").await;
    assert_eq!((&after["configErrors"], &after["timestamps"]), (&json!([]), &before));
    let released = json!({
        "files": [{ "path": "opslevel.yml", "text": "version: 1\nservice: { name: Cart }\n" }],
        "repository": "https://github.com/org/a", "releaseMissing": true,
    });
    app.query(APPLY, json!({ "input": released })).await;
    assert_eq!(errors(&app, "pay").await["configErrors"], json!([]));
}

#[tokio::test]
async fn the_errors_that_a_service_shows_are_bounded() {
    let app = TestApp::start().await;
    let unknown: String = (0..NOTES + 20).map(|number| format!("  k{number}: 1\n")).collect();
    applied(&app, "opslevel.yml", &format!("version: 1\nservice:\n  name: Cart\n{unknown}")).await;
    let all = errors(&app, "cart").await["configErrors"].take();
    let all = all.as_array().expect("a list");
    assert_eq!(all.len(), NOTES);
    assert_eq!(all[NOTES - 1]["message"], "there are 21 more notes");
}

#[tokio::test]
async fn whoever_may_not_change_a_service_changes_nothing_of_its_file_either() {
    let app = TestApp::start().await;
    let member = Browser::of(&app, Role::TeamMember).await;
    data(&app, r#"mutation { teamCreate(input: { name: "Other" }) { errors { message } } }"#).await;
    let input = |text: &str, commit: &str| {
        json!({ "input": {
            "files": [{ "path": "opslevel.yml", "text": text }], "repository": "https://github.com/org/a", "commit": commit,
        } })
    };
    let text = "version: 1\nservice:\n  name: Cart\n  owner: other\n  surprise: 1\n";
    let answer = app.query(APPLY, input(text, "c0ffee01")).await;
    assert_eq!(answer["data"]["serviceFilesApply"]["errors"], json!([]), "{answer}");
    let before = errors(&app, "cart").await;
    assert_eq!(before["serviceFile"]["commit"], "c0ffee01");
    let forged = "version: 1\nservice:\n  name: Cart\n  forged: 1\n";
    let answer = member.query(APPLY, input(forged, "bad00002")).await;
    assert_eq!(answer["data"]["serviceFilesApply"]["documents"][0]["outcome"], "unchanged", "{answer}");
    assert_eq!(errors(&app, "cart").await, before);
    // Whoever may, does.
    app.query(APPLY, input(forged, "c0ffee03")).await;
    let after = errors(&app, "cart").await;
    assert_eq!(
        (&after["serviceFile"]["commit"], &after["configErrors"][0]["key"]),
        (&json!("c0ffee03"), &json!("forged"))
    );
}
