//! `/mcp` beside `/graphql`: with a token of any scope, an agent sees, changes and is refused what the API shows, changes
//! and refuses. The queries and mutations are those of the schema, so that no new one is left out.

use std::collections::BTreeSet;

use apollo_compiler::Schema;
use hyper::Method;
use rollcall::entity::Timestamp;
use rollcall::entity::token::Scope;
use rollcall::entity::user::Role;
use rollcall::mcp::LONGEST;
use serde_json::{Value, json};

use crate::harness::agent::{ask, call, tools};
use crate::harness::app::{Response, TestApp};
use crate::harness::browser::Browser;
use crate::harness::documents::page;
use crate::harness::everything::{Everything, arguments, record_event};
use crate::harness::tour::{PERSONAL, Step, Tour, object, schema};

const SCOPES: [Scope; 3] = [Scope::Read, Scope::Write, Scope::Admin];

async fn post(app: &TestApp, token: &str, document: &str, variables: Value) -> Response {
    app.post_with(document, variables, &[("authorization", &format!("Bearer {token}"))]).await
}

/// The messages of the errors of a response, as a tool says them.
fn messages(response: &Value) -> String {
    let errors = response["errors"].as_array().unwrap_or_else(|| panic!("{response}"));
    errors.iter().filter_map(|error| error["message"].as_str()).collect::<Vec<_>>().join("; ")
}

/// Checks that a tool has answered as the API has: with the same response, or with the reason why nothing was run.
fn check(what: &str, posted: &Response, told: Result<Value, String>) {
    let whole = posted.json();
    match told {
        Ok(told) => assert_eq!((posted.status, whole), (200, told), "{what}"),
        Err(why) if posted.status == 200 => {
            let length = posted.body.len();
            assert!(length > LONGEST && why.contains(&format!("has {length} bytes")), "{what}: {why}");
        }
        Err(why) => assert_eq!(messages(&whole), why, "{what}"),
    }
}

#[tokio::test]
async fn every_query_of_the_schema_answers_an_agent_as_it_answers_the_api() {
    let tour = Tour::start().await;
    record_event(&tour).await;
    let (app, schema) = (&tour.endpoint.app, schema());
    let (everything, arguments) = (Everything::new(&schema), arguments(&tour));
    let (mut cells, mut with_values) = (0, 0);
    for scope in SCOPES {
        let token = app.new_token(scope, None).await;
        for root in object(&schema, "Query").fields.values() {
            assert!(root.arguments.is_empty(), "say here how {} is asked", root.name);
            for field in object(&schema, root.ty.inner_named_type()).fields.values() {
                let (root, name) = (&root.name, field.name.as_str());
                let arguments = arguments.get(name).map_or("", String::as_str);
                // A result has an end: of a long one, both are asked less.
                let leaves = everything.leaves(field.ty.inner_named_type());
                let less = if leaves.is_empty() { "" } else { "{ __typename }" };
                for selection in [&*leaves, less] {
                    let document = format!("{{ {root} {{ {name}{arguments} {selection} }} }}");
                    let posted = post(app, &token, &document, json!({})).await;
                    let told = call(app, &token, "query", json!({ "document": document })).await;
                    let value = &posted.json()["data"][root.as_str()][name];
                    with_values += usize::from(scope == Scope::Admin && !value.is_null());
                    check(&format!("{name} for {scope:?}"), &posted, told);
                }
                cells += 1;
            }
        }
    }
    let fields: usize = object(&schema, "Query")
        .fields
        .values()
        .map(|root| object(&schema, root.ty.inner_named_type()).fields.len())
        .sum();
    assert_eq!(cells, SCOPES.len() * fields);
    assert_eq!(with_values, 2 * fields, "each field has a value for an administrator, so that something is compared");
}

/// What is compared of a payload: its errors, its numbers, and whether it has an id.
fn selection(schema: &Schema, mutation: &str) -> String {
    let payload = object(schema, "Mutation").fields[mutation].ty.inner_named_type();
    let fields = object(schema, payload).fields.values().filter(|field| field.arguments.is_empty());
    let compared = fields.filter_map(|field| match field.ty.inner_named_type().as_str() {
        "Int" | "Boolean" => Some(field.name.to_string()),
        "ID" => Some(format!("id_{0}: {0}", field.name)),
        _ => None,
    });
    format!("{{ __typename {} errors {{ message path }} }}", compared.collect::<Vec<_>>().join(" "))
}

/// A response without its ids, which are those of one catalogue.
fn without_ids(mut response: Value) -> Value {
    for payload in response["data"].as_object_mut().into_iter().flat_map(|data| data.values_mut()) {
        for (name, value) in payload.as_object_mut().into_iter().flatten() {
            if name.starts_with("id_") {
                *value = json!(!value.is_null());
            }
        }
    }
    response
}

/// Two catalogues with the same rows: one is changed through the API, the other one by an agent.
struct Twins {
    api: Tour,
    agent: Tour,
    schema: apollo_compiler::validation::Valid<Schema>,
}

impl Twins {
    async fn start() -> Self {
        let (api, agent) = (Tour::start().await, Tour::with(&["--mcp-writes"]).await);
        Self { api, agent, schema: schema() }
    }

    /// Runs all mutations with tokens of a scope, in each catalogue. Where the scope does not allow one, an administrator's
    /// token runs it, if `goes_on`. Returns those that ran, and those that were refused.
    async fn run(&self, scope: Scope, goes_on: bool) -> [BTreeSet<&'static str>; 2] {
        let (api, agent) = (&self.api.endpoint.app, &self.agent.endpoint.app);
        let tokens = [api.new_token(scope, None).await, agent.new_token(scope, None).await];
        let (mut ran, mut refused) = (BTreeSet::new(), BTreeSet::new());
        for (own, twin) in self.api.steps().into_iter().zip(self.agent.steps()) {
            let Step { mutation, .. } = own;
            let what = format!("{mutation} for {scope:?}");
            let selection = selection(&self.schema, mutation);
            let document = own.operation(&self.schema, &selection);
            let given = json!({ "document": document, "variables": twin.arguments });
            let as_query = call(agent, &tokens[1], "query", given.clone()).await;
            let why = "this tool runs queries; the document has a mutation".to_owned();
            assert_eq!(as_query, Err(why), "{what}: a tool that reads never changes anything");
            let posted = post(api, &tokens[0], &document, own.arguments.clone()).await;
            if scope == Scope::Read {
                // Who may not write is not offered the tool.
                let answer =
                    ask(agent, &tokens[1], "tools/call", json!({ "name": "mutate", "arguments": given })).await;
                let told = posted.json();
                assert_eq!(answer["error"]["code"], -32_602, "{what}: {answer}");
                // What belongs to a person is refused to every token, whatever its scope.
                match PERSONAL.contains(&mutation) {
                    true => assert_ne!(told["data"][mutation]["errors"], json!([]), "{what}: {told}"),
                    false => assert_eq!(told["errors"][0]["extensions"]["code"], "FORBIDDEN", "{what}: {told}"),
                }
                refused.insert(mutation);
                continue;
            }
            let told = call(agent, &tokens[1], "mutate", given).await;
            if posted.json()["errors"][0]["extensions"]["code"] == "FORBIDDEN" {
                assert_eq!(told, Err(messages(&posted.json())), "{what}");
                refused.insert(mutation);
                if goes_on {
                    let variables = [(api, own.arguments), (agent, twin.arguments)];
                    for (app, variables) in variables {
                        let done = app.query(&document, variables).await;
                        assert_eq!(done["data"][mutation]["errors"], json!([]), "{what}: {done}");
                    }
                }
                continue;
            }
            let told = told.unwrap_or_else(|why| panic!("{what}: {why}"));
            let is_refused = PERSONAL.contains(&mutation);
            assert_eq!(told["data"][mutation]["errors"] != json!([]), is_refused, "{what}: {told}");
            assert_eq!((posted.status, without_ids(posted.json())), (200, without_ids(told)), "{what}");
            if is_refused {
                refused.insert(mutation)
            } else {
                ran.insert(mutation)
            };
        }
        [ran, refused]
    }
}

#[tokio::test]
async fn every_mutation_of_the_schema_runs_for_an_agent_and_is_refused_as_through_the_api() {
    let schema = schema();
    let all: BTreeSet<&str> = object(&schema, "Mutation").fields.keys().map(|name| name.as_str()).collect();
    let mut cells = 0;
    let twins = Twins::start().await;
    let [ran, refused] = twins.run(Scope::Read, false).await;
    assert!(ran.is_empty());
    assert_eq!(refused, all);
    cells += refused.len();
    let [ran, refused] = twins.run(Scope::Write, true).await;
    assert!(refused.contains("userDelete") && ran.contains("serviceCreate"), "{refused:?}");
    assert!(ran.is_disjoint(&refused));
    cells += ran.len() + refused.len();
    drop(twins);
    let [ran, refused] = Twins::start().await.run(Scope::Admin, false).await;
    assert_eq!(refused, BTreeSet::from(PERSONAL));
    assert_eq!(&ran | &refused, all);
    cells += ran.len() + refused.len();
    assert_eq!(cells, SCOPES.len() * all.len());
}

/// Collects all texts of a value. A folder of a repository is told without the slashes around it.
fn texts(value: &Value, all: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            all.insert(text.clone());
            all.insert(text.trim_matches('/').to_owned());
        }
        Value::Array(items) => items.iter().for_each(|item| texts(item, all)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, all)),
        _ => {}
    }
}

/// An answer without what the tools themselves say: notes, units and the moments that were asked for.
fn without_words(answer: Value) -> Value {
    const WORDS: [&str; 8] = ["now", "since", "until", "note", "figure", "unit", "change", "periods"];
    match answer {
        Value::Array(items) => items.into_iter().map(without_words).collect(),
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(name, _)| !WORDS.contains(&name.as_str()));
            kept.map(|(name, value)| (name, without_words(value))).collect()
        }
        value => value,
    }
}

/// All that the API shows a token, of every field of the account.
async fn shown(tour: &Tour, schema: &Schema, token: &str) -> BTreeSet<String> {
    let (everything, arguments) = (Everything::new(schema), arguments(tour));
    let selected = object(schema, "Account").fields.values().map(|field| {
        let arguments = arguments.get(field.name.as_str()).map_or("", String::as_str);
        format!("{}{arguments} {}", field.name, everything.of(field.ty.inner_named_type()))
    });
    let search = format!("search(term: \"shop\") {}", everything.of(&object(schema, "SearchResult").name));
    let mut all = BTreeSet::new();
    for selected in selected.chain([search]) {
        let document = format!("{{ account {{ {selected} }} }}");
        texts(&post(&tour.endpoint.app, token, &document, json!({})).await.json()["data"], &mut all);
    }
    all
}

#[tokio::test]
async fn what_a_named_tool_shows_is_what_the_api_shows_the_same_token() {
    let tour = Tour::start().await;
    let (app, schema) = (&tour.endpoint.app, schema());
    let now = json!({ "deployed_at": Timestamp::now().to_string() });
    assert_eq!(tour.endpoint.post_with(now).await.status, 202);
    let calls = [
        ("find", json!({ "text": "shop" })),
        ("describe_service", json!({ "service": "shop" })),
        ("describe_team", json!({ "team": "core" })),
        ("list_deploys", json!({ "service": "shop", "environment": null, "hours": 24 })),
        ("impact", json!({ "service": "shop" })),
        ("impact", json!({ "team": "core" })),
        ("delivery", json!({})),
        ("delivery", json!({ "name": "core" })),
        ("history", json!({ "name": "shop" })),
        ("what_is_missing", json!({})),
        ("what_is_missing", json!({ "service": "shop" })),
        ("who_owns", json!({ "repository": "github.com:org/shop", "path": "src/main.rs" })),
    ];
    let (mut excerpts, agents) = (BTreeSet::new(), page("docs/agents.md"));
    for scope in SCOPES {
        let token = app.new_token(scope, None).await;
        // These run documents of the agent, or read the SDL, which is everybody's.
        let mut named: BTreeSet<String> = tools(app, &token).await.into_iter().collect();
        let unlisted: Vec<&String> = named.iter().filter(|tool| !agents.contains(&format!("\n| `{tool}` |"))).collect();
        assert!(unlisted.is_empty(), "docs/agents.md has no line for {unlisted:?}");
        assert!(named.remove("query") && named.remove("search_schema") && !named.contains("mutate"), "{named:?}");
        let called: BTreeSet<String> = calls.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(named, called, "every named tool is called");
        let shown = shown(&tour, &schema, &token).await;
        for (name, arguments) in &calls {
            let told = call(app, &token, name, arguments.clone()).await.unwrap_or_else(|why| panic!("{name}: {why}"));
            let mut own = BTreeSet::new();
            texts(&without_words(told.clone()), &mut own);
            let more: Vec<&String> = own.difference(&shown).collect();
            assert!(more.is_empty(), "{name} shows a token with the scope {scope:?} what the API does not: {more:?}");
            let is_of_all = *name == "delivery" && arguments.as_object().is_some_and(|given| given.is_empty());
            assert!(!own.is_empty() || is_of_all, "{name} shows something: {told}");
        }
        let excerpt = call(app, &token, "search_schema", json!({ "words": "webhook" })).await.expect("an excerpt");
        excerpts.insert(excerpt.as_str().expect("SDL").to_owned());
    }
    assert_eq!(excerpts.len(), 1, "{excerpts:?}");
}

#[tokio::test]
async fn somebody_who_is_signed_in_has_no_tools_whatever_their_role() {
    let app = TestApp::start().await;
    for role in [Role::Viewer, Role::TeamMember, Role::User, Role::StandardsAdmin, Role::Admin] {
        let browser = Browser::of(&app, role).await;
        let cookie = browser.cookie.clone().expect("a session");
        let asked = browser.query("{ account { name } }", json!({})).await;
        assert_eq!(asked["data"]["account"]["name"], "rollcall", "{role:?} has a session");
        let headers = [
            ("cookie", &*cookie),
            ("sec-fetch-site", "same-origin"),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        assert_eq!(app.request(Method::POST, "/mcp", &headers, list).await.status, 401, "{role:?}");
    }
}
