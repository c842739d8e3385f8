//! The budget of a request: it is estimated before it runs, and counted while it runs.

use serde_json::{Value, json};

use crate::harness::app::TestApp;

/// An installation where one team owns all services, each with two tags.
async fn one_team(flags: &[&str], services: usize) -> TestApp {
    let app = TestApp::with(flags).await;
    let made =
        app.query(r#"mutation { teamCreate(input: { name: "Owners" }) { errors { message } } }"#, json!({})).await;
    assert_eq!(made["data"]["teamCreate"]["errors"], json!([]), "{made}");
    let names: Vec<usize> = (0..services).collect();
    for names in names.chunks(50) {
        let create = names.iter().map(|n| {
            let input = format!(r#"{{ name: "service {n}", ownerInput: {{ alias: "owners" }} }}"#);
            let tags = format!(r#"{{ alias: "service_{n}", tags: [{{ key: "a", value: "1" }}, {{ key: "b", value: "2" }}] }}"#);
            format!("s{n}: serviceCreate(input: {input}) {{ errors {{ message }} }} t{n}: tagAssign(input: {tags}) {{ errors {{ message }} }} ")
        });
        let made = app.query(&format!("mutation {{ {} }}", create.collect::<String>()), json!({})).await;
        assert!(made.get("errors").is_none(), "{made}");
    }
    app
}

fn code(answer: &Value) -> &str {
    answer["errors"][0]["extensions"]["code"].as_str().unwrap_or_default()
}

/// Nested lists of services and their owners.
fn nested(levels: usize) -> String {
    let below = (1..levels).fold("id".to_owned(), |below, _| format!("owner {{ services {{ nodes {{ {below} }} }} }}"));
    format!("{{ account {{ services {{ nodes {{ {below} }} }} }} }}")
}

#[tokio::test]
async fn a_query_that_asks_for_too_much_is_refused_before_it_runs() {
    let app = TestApp::start().await;
    let answer = app.query(&nested(4), json!({})).await;
    assert_eq!(code(&answer), "COST_ESTIMATED_TOO_EXPENSIVE");
    let message = answer["errors"][0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("the limit is 10000000"), "{message}");
    assert!(message.contains("account.services.nodes.owner.services.nodes.owner.services.nodes.owner"), "{message}");
    assert!(answer.get("data").is_none(), "{answer}");
    // With small pages it is accepted.
    let answer = app.query(&nested(4).replace("services {", "services(first: 10) {"), json!({})).await;
    assert!(answer.get("errors").is_none(), "{answer}");
}

#[tokio::test]
async fn the_estimate_reads_page_sizes_from_variables() {
    let app = TestApp::start().await;
    let query = nested(4).replace("services {", "services(first: $n) {").replacen('{', "query($n: Int) {", 1);
    let answer = app.query(&query, json!({ "n": 100 })).await;
    assert_eq!(code(&answer), "COST_ESTIMATED_TOO_EXPENSIVE");
    let answer = app.query(&query, json!({ "n": 5 })).await;
    assert!(answer.get("errors").is_none(), "{answer}");
    // A page size above the maximum counts as the maximum.
    let answer = app.query("{ account { services(first: 500) { nodes { id } } } }", json!({})).await;
    assert!(answer.get("errors").is_none(), "{answer}");
}

#[tokio::test]
async fn connections_with_more_fields_on_their_edges_are_estimated_by_page_size_too() {
    let app = TestApp::start().await;
    let nested = |levels: usize| {
        let inner =
            (0..levels).fold("name".to_owned(), |inner, _| format!("dependents {{ edges {{ node {{ {inner} }} }} }}"));
        format!("{{ account {{ services(first: 100) {{ nodes {{ {inner} }} }} }} }}")
    };
    assert_eq!(code(&app.query(&nested(3), json!({})).await), "COST_ESTIMATED_TOO_EXPENSIVE");
    let answer = app.query(&nested(1), json!({})).await;
    assert!(answer.get("errors").is_none(), "{answer}");
}

#[tokio::test]
async fn metrics_of_many_long_windows_are_too_much() {
    let app = TestApp::start().await;
    let metrics = |count: usize| {
        let one = |n| format!(r#"m{n}: deployMetrics(start: "2020-01-01T00:00:00Z") {{ deployCount }} "#);
        format!("{{ account {{ {} }} }}", (0..count).map(one).collect::<String>())
    };
    assert_eq!(code(&app.query(&metrics(20), json!({})).await), "COST_ESTIMATED_TOO_EXPENSIVE");
    let answer = app.query(&metrics(1), json!({})).await;
    assert!(answer.get("errors").is_none(), "{answer}");
}

#[tokio::test]
async fn the_number_of_found_objects_is_bounded() {
    let app = one_team(&["--max-objects", "500"], 30).await;
    let answer = app.query(&nested(2), json!({})).await;
    assert_eq!(code(&answer), "COST_ACTUAL_TOO_EXPENSIVE");
    let message = "The answer would hold more than 500 objects. Ask for fewer with `first`.";
    assert_eq!((&answer["errors"][0]["message"], &answer["data"]), (&json!(message), &Value::Null));
    let answer = app.query(&nested(1), json!({})).await;
    assert_eq!(answer["data"]["account"]["services"]["nodes"].as_array().map(Vec::len), Some(30));
}

#[tokio::test]
async fn the_bytes_of_read_rows_are_bounded() {
    let app = one_team(&["--max-rows", "40000"], 30).await;
    let answer = app.query(&nested(2), json!({})).await;
    assert_eq!(code(&answer), "COST_ACTUAL_TOO_EXPENSIVE");
    let message = answer["errors"][0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("rows of more than 40000 bytes"), "{message}");
    let answer = app.query(&nested(1), json!({})).await;
    assert!(answer.get("errors").is_none(), "{answer}");
}

#[tokio::test]
async fn a_services_aliases_count_against_the_budget_each_time_they_occur() {
    let app = one_team(&["--max-rows", "1000000"], 30).await;
    let id = app.query(r#"{ account { service(alias: "service_1") { id } } }"#, json!({})).await;
    let id = id["data"]["account"]["service"]["id"].as_str().expect("an id").to_owned();
    let add = |n: usize| {
        let input = format!(r#"{{ ownerId: "{id}", alias: "{n}{}" }}"#, "x".repeat(200));
        format!("a{n}: aliasCreate(input: {input}) {{ errors {{ message }} }} ")
    };
    let made = app.query(&format!("mutation {{ {} }}", (0..100).map(add).collect::<String>()), json!({})).await;
    assert_eq!(made["data"]["a99"]["errors"], json!([]), "{made}");
    let query = |field: &str| {
        format!("{{ account {{ services {{ nodes {{ owner {{ services {{ nodes {{ {field} }} }} }} }} }} }} }}")
    };
    let answer = app.query(&query("id"), json!({})).await;
    assert!(answer.get("errors").is_none(), "{answer}");
    let answer = app.query(&query("aliases"), json!({})).await;
    assert_eq!(code(&answer), "COST_ACTUAL_TOO_EXPENSIVE");
    let answer = app.query("{ account { services { nodes { aliases } } } }", json!({})).await;
    assert!(answer.get("errors").is_none(), "{answer}");
}

#[tokio::test]
async fn an_answer_is_bounded_by_its_bytes() {
    let app = TestApp::with(&["--max-answer", "20000"]).await;
    let note = "n".repeat(9_000);
    let create = r#"mutation($note: String) { serviceCreate(input: { name: "a", note: $note }) { service { id } } }"#;
    app.query(create, json!({ "note": note })).await;
    let notes = |count: usize| {
        let one = |n| format!("n{n}: note ");
        format!("{{ account {{ service(alias: \"a\") {{ {} }} }} }}", (0..count).map(one).collect::<String>())
    };
    assert_eq!(code(&app.query(&notes(3), json!({})).await), "COST_ACTUAL_TOO_EXPENSIVE");
    let answer = app.query(&notes(2), json!({})).await;
    assert_eq!(answer["data"]["account"]["service"]["n1"], json!(note));
}

#[tokio::test]
async fn a_query_is_bounded_by_processor_time() {
    let app = TestApp::with(&["--query-processor-time", "1us"]).await;
    let answer = app.query("{ account { services { nodes { id } } } }", json!({})).await;
    assert_eq!(code(&answer), "COST_ACTUAL_TOO_EXPENSIVE");
    let message = "The query was stopped because it took more than 1µs of processor time. Ask for less at once.";
    assert_eq!(answer["errors"][0]["message"], json!(message));
}

#[tokio::test]
async fn a_mutation_stays_committed_if_its_response_exceeds_the_budget_and_the_next_does_not_run() {
    let app = one_team(&["--max-objects", "500"], 30).await;
    let below = "service { owner { services { nodes { owner { services { nodes { id } } } } } } }";
    let create = |n: usize| {
        format!(
            r#"m{n}: serviceCreate(input: {{ name: "new {n}", ownerInput: {{ alias: "owners" }} }}) {{ {below} }} "#
        )
    };
    let answer = app.query(&format!("mutation {{ {} {} }}", create(1), create(2)), json!({})).await;
    assert_eq!(answer["data"], json!({ "m1": null, "m2": null }));
    let message = |n: usize| answer["errors"][n]["message"].as_str().unwrap_or_default().to_owned();
    let ran = "This mutation ran, but its result is incomplete. The answer would hold more than 500 objects.";
    assert!(message(0).starts_with(ran), "{answer}");
    assert!(message(1).starts_with("This mutation was not run"), "{answer}");
    assert_eq!(answer["errors"][0]["path"], json!(["m1"]));
    let stands = |alias: &str| format!("{{ account {{ service(alias: \"{alias}\") {{ name }} }} }}");
    assert_eq!(app.query(&stands("new_1"), json!({})).await["data"]["account"]["service"]["name"], json!("new 1"));
    assert_eq!(app.query(&stands("new_2"), json!({})).await["data"]["account"]["service"], Value::Null);
}

#[tokio::test]
async fn the_number_of_changes_in_a_request_is_limited() {
    let app = TestApp::start().await;
    app.query(r#"mutation { serviceCreate(input: { name: "a" }) { service { id } } }"#, json!({})).await;
    let tags: Vec<Value> = (0..500).map(|n| json!({ "key": format!("k{n}"), "value": "v" })).collect();
    let assign = |count: usize| {
        let one = |n| format!(r#"t{n}: tagAssign(input: {{ alias: "a", tags: $tags }}) {{ errors {{ message }} }} "#);
        format!("mutation($tags: [TagInput!]!) {{ {} }}", (0..count).map(one).collect::<String>())
    };
    let answer = app.query(&assign(4), json!({ "tags": tags })).await;
    let message = answer["errors"][0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("over the limit of 2000"), "{answer}");
    let answer = app.query(&assign(1), json!({ "tags": tags })).await;
    assert_eq!(answer["data"]["t0"]["errors"], json!([]));
}

#[tokio::test]
async fn a_client_that_asks_gets_the_cost_of_its_request() {
    let app = one_team(&[], 3).await;
    let query = "{ account { services(first: 10) { nodes { id } } } }";
    let token = format!("Bearer {}", app.token);
    let answer = app.post_with(query, json!({}), &[("authorization", &token), ("graphql-cost", "1")]).await.json();
    let cost = &answer["extensions"]["cost"];
    // The account, the connection, ten services; and the objects found.
    assert_eq!((&cost["estimate"], &cost["objects"]), (&json!(12), &json!(5)), "{answer}");
    assert_eq!(cost["limits"]["objects"], json!(100_000));
    assert!(cost["rowBytes"].as_u64() > Some(0) && cost["processorMicroseconds"].as_u64() > Some(0), "{cost}");
    assert!(app.query(query, json!({})).await.get("extensions").is_none());
}

#[tokio::test]
async fn only_the_first_errors_are_listed() {
    let app = TestApp::start().await;
    // The input object repeats each field many times, and each operation spreads the fragment.
    let fields = r#"name: "a", "#.repeat(150);
    let fragment =
        format!("fragment F on Mutation {{ serviceCreate(input: {{ {fields} }}) {{ errors {{ message }} }} }}");
    let operations: String = (0..90).map(|n| format!("mutation m{n} {{ ...F }} ")).collect();
    let body = json!({ "query": format!("{operations}{fragment}"), "operationName": "m1" }).to_string();
    let answer = app.post_body(body).await.json();
    assert_eq!(answer["errors"].as_array().map(Vec::len), Some(20), "{answer}");

    let operations: String = (0..300).map(|n| format!("query q{n} {{ __typename }} ")).collect();
    let answer = app.post_body(json!({ "query": operations, "operationName": "q1" }).to_string()).await.json();
    let message = "The document's number of operations is over the limit of 100.";
    assert_eq!(answer["errors"][0]["message"], json!(message));

    let variables: String = (0..200).map(|n| format!("$v{n}: Int! ")).collect();
    let uses: String = (0..200).map(|n| format!("a{n}: services(first: $v{n}) {{ totalCount }} ")).collect();
    let answer = app.query(&format!("query({variables}) {{ account {{ {uses} }} }}"), json!({})).await;
    assert_eq!(answer["errors"].as_array().map(Vec::len), Some(20), "{answer}");
}

#[tokio::test]
async fn the_expansion_of_fragments_is_bounded_over_all_operations() {
    let app = TestApp::start().await;
    let values = r#""x","#.repeat(1_000);
    let fragment = format!("fragment F on Account {{ deploys(environments: [{values}]) {{ totalCount }} }}");
    let operations: String = (0..40).map(|n| format!("query q{n} {{ account {{ ...F }} }} ")).collect();
    let body = json!({ "query": format!("{operations}{fragment}"), "operationName": "q1" }).to_string();
    let answer = app.post_body(body).await.json();
    let message = answer["errors"][0]["message"].as_str().unwrap_or_default();
    assert!(message.ends_with("is over the limit of 30000."), "{answer}");
}

#[tokio::test]
async fn the_number_of_values_in_variables_is_limited() {
    let app = TestApp::start().await;
    let many: Vec<i32> = vec![1; 50_001];
    let answer = app.post("{ __typename }", json!({ "a": many })).await;
    assert_eq!(answer.status, 400, "{}", answer.json());
    // A variable counts once for each use.
    let environments: Vec<String> = (0..900).map(|n| format!("e{n}")).collect();
    let uses: String = (0..30).map(|n| format!("a{n}: deploys(environments: $e) {{ totalCount }} ")).collect();
    let query = format!("query($e: [String!]) {{ account {{ {uses} }} }}");
    let answer = app.query(&query, json!({ "e": environments })).await;
    let message = "The number of values given to arguments is over the limit of 20000.";
    assert_eq!(answer["errors"][0]["message"], json!(message));
}

#[tokio::test]
async fn fragments_are_nested_at_most_a_hundred_deep() {
    let app = TestApp::start().await;
    let nested = |depth: usize| {
        let one = |n: usize| format!("fragment F{n} on Query {{ ...F{} }} ", n + 1);
        let all: String = (1..depth).map(one).collect();
        format!("{{ ...F1 }} {all} fragment F{depth} on Query {{ account {{ name }} }}")
    };
    let answer = app.query(&nested(100), json!({})).await;
    assert_eq!(answer, json!({ "data": { "account": { "name": "rollcall" } } }));
    let message = "The document's fragments are nested more than 100 deep.";
    for depth in [101, 900] {
        let answer = app.query(&nested(depth), json!({})).await;
        assert_eq!(answer["errors"][0]["message"], json!(message));
    }
}

#[tokio::test]
async fn a_text_that_is_given_often_counts_each_time() {
    let app = TestApp::start().await;
    let long = "x".repeat(500_000);
    let often = |given: &str| format!("deploys(environments: [{}]) {{ totalCount }}", given.repeat(1_000));
    let message = "The texts given to arguments are longer than 4194304 bytes together.";
    let query = format!("query($v: String!) {{ account {{ {} }} }}", often("$v "));
    let answer = app.post(&query, json!({ "v": long })).await;
    assert_eq!(answer.json()["errors"][0]["message"], json!(message));
    // The literal of a fragment is copied for each use, too.
    let uses: String = (0..100).map(|n| format!("a{n}: account {{ ...Long }} ")).collect();
    let fragment = format!("fragment Long on Account {{ deploys(environments: [\"{long}\"]) {{ totalCount }} }}");
    let answer = app.post(&format!("{{ {uses} }} {fragment}"), json!({})).await;
    assert_eq!(answer.json()["errors"][0]["message"], json!(message));
}

#[tokio::test]
async fn the_cache_does_not_change_whether_a_document_is_accepted() {
    let date = |date: &str| {
        format!(
            r#"query($b: Boolean!) {{ account {{ name services(notDeployedSince: "{date}") @include(if: $b) {{ totalCount }} }} }}"#
        )
    };
    let app = TestApp::start().await;
    let no = json!({ "b": false });
    let first = app.query(&date("2026-13-01T00:00:00Z"), no.clone()).await;
    let valid = app.query(&date("2026-12-01T00:00:00Z"), no.clone()).await;
    let after = app.query(&date("2026-13-01T00:00:00Z"), no).await;
    assert_eq!(valid["data"]["account"]["name"], json!("rollcall"));
    assert_eq!(code(&first), "GRAPHQL_VALIDATION_FAILED");
    assert_eq!(first, after);
}

#[tokio::test]
async fn every_combination_of_conditions_has_its_own_response() {
    let app = TestApp::start().await;
    let query = "query($a: Boolean!, $b: Boolean!) { account { name @include(if: $a) id @skip(if: $b) name } }";
    for (a, b) in [(true, true), (true, false), (false, true), (false, false), (true, true)] {
        let answer = app.post(query, json!({ "a": a, "b": b })).await;
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        let (name, id) = (text.find("\"name\""), text.find("\"id\""));
        assert!(name.is_some(), "{text}");
        assert_eq!(id.is_some(), !b, "{text}");
        if !b {
            assert_eq!(name < id, a, "{text}");
        }
    }
}
