//! Saved filters, and what their predicates match.

use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};

/// Four services that differ in everything that a predicate compares.
async fn services(app: &TestApp) -> Value {
    let query = r#"mutation {
        core: teamCreate(input: { name: "Core" }) { it: team { id } errors { message } }
        trade: domainCreate(input: { name: "Trade" }) { it: domain { id } errors { message } }
        till: systemCreate(input: { name: "Till", parent: { alias: "trade" } }) { it: system { id } errors { message } }
        repository: repositoryCreate(input: { name: "org/cart" }) { it: repository { id } errors { message } }
        cart: serviceCreate(input: {
            name: "Cart", language: "Rust", framework: "axum 0.8.1", product: "Shop", tierAlias: "tier_1", lifecycleAlias: "beta",
            ownerInput: { alias: "core" }, parent: { alias: "till" }, type: { alias: "library" }
        }) { it: service { id } errors { message } }
        cargo: serviceCreate(input: { name: "Cargo 100%", language: "rust", framework: "1.4.0", tierAlias: "tier_3" }) {
            it: service { id } errors { message }
        }
        mail: serviceCreate(input: { name: "Mail", language: "Go", framework: "2.0.0" }) { it: service { id } errors { message } }
        bare: serviceCreate(input: { name: "Bare_x" }) { it: service { id } errors { message } }
        link: serviceRepositoryCreate(input: { service: { alias: "cart" }, repository: { alias: "org/cart" } }) { errors { message } }
        prod: tagCreate(input: { alias: "cart", key: "env", value: "prod" }) { errors { message } }
        dev: tagCreate(input: { alias: "cart", key: "env", value: "dev" }) { errors { message } }
        test: tagCreate(input: { alias: "mail", key: "env", value: "Prod" }) { errors { message } }
    }"#;
    let made = data(app, query).await;
    for (name, payload) in made.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    made
}

const LIST: &str = "query($filter: [ServiceFilterInput!], $saved: IdentifierInput) {
    account { services(filter: $filter, filterIdentifier: $saved) { totalCount nodes { name } } }
}";

/// The names of the services that a filter matches, or the error.
async fn matched(app: &TestApp, filter: Value) -> Value {
    let answer = app.query(LIST, json!({ "filter": filter })).await;
    match answer.get("errors") {
        Some(errors) => errors[0]["message"].clone(),
        None => {
            let page = &answer["data"]["account"]["services"];
            let names: Vec<&str> = page["nodes"]
                .as_array()
                .expect("nodes")
                .iter()
                .map(|node| node["name"].as_str().expect("a name"))
                .collect();
            assert_eq!(page["totalCount"], names.len());
            json!(names.join(", "))
        }
    }
}

#[tokio::test]
async fn each_predicate_compares_what_it_names() {
    let app = TestApp::start().await;
    let made = services(&app).await;
    let id = |name: &str| made[name]["it"]["id"].as_str().expect("an id").to_owned();
    let deploy = json!({ "key": "deploy_environment", "type": "does_not_exist" });
    for (predicate, expected) in [
        (json!({ "key": "name", "arg": "Cart" }), "Cart"),
        (json!({ "key": "name", "arg": "cart" }), ""),
        (json!({ "key": "name", "arg": "cart", "caseSensitive": false }), "Cart"),
        (json!({ "key": "name", "type": "starts_with", "arg": "Car" }), "Cart, Cargo 100%"),
        (json!({ "key": "name", "type": "starts_with", "arg": "car" }), ""),
        (json!({ "key": "name", "type": "ends_with", "arg": "0%" }), "Cargo 100%"),
        (json!({ "key": "name", "type": "contains", "arg": "_" }), "Bare_x"),
        (json!({ "key": "name", "type": "contains", "arg": "AR", "caseSensitive": false }), "Cart, Cargo 100%, Bare_x"),
        (json!({ "key": "name", "type": "does_not_contain", "arg": "ar" }), "Mail"),
        (json!({ "key": "name", "type": "matches_regex", "arg": "^[A-Z]ar[a-z]+\\b" }), "Cart, Cargo 100%"),
        (json!({ "key": "name", "type": "does_not_match_regex", "arg": "(?i)^c" }), "Mail, Bare_x"),
        (json!({ "key": "language", "arg": "Rust" }), "Cart"),
        (json!({ "key": "language", "arg": "Rust", "caseSensitive": false }), "Cart, Cargo 100%"),
        (json!({ "key": "language", "type": "does_not_equal", "arg": "Rust" }), "Cargo 100%, Mail, Bare_x"),
        (json!({ "key": "language", "type": "exists" }), "Cart, Cargo 100%, Mail"),
        (json!({ "key": "language", "type": "does_not_exist" }), "Bare_x"),
        (json!({ "key": "framework", "type": "satisfies_version_constraint", "arg": "^1.2" }), "Cargo 100%"),
        (json!({ "key": "product", "arg": "Shop" }), "Cart"),
        (json!({ "key": "creation_source", "arg": "api" }), "Cart, Cargo 100%, Mail, Bare_x"),
        (json!({ "key": "aliases", "type": "starts_with", "arg": "cargo" }), "Cargo 100%"),
        (json!({ "key": "tag", "arg": "env:prod" }), "Cart"),
        (json!({ "key": "tag", "arg": "env:prod", "caseSensitive": false }), "Cart, Mail"),
        (json!({ "key": "tag", "type": "exists", "arg": "env" }), "Cart, Mail"),
        (json!({ "key": "tag", "type": "does_not_equal", "arg": "env:dev" }), "Cargo 100%, Mail, Bare_x"),
        (json!({ "key": "tier_index", "arg": "1" }), "Cart"),
        (json!({ "key": "tier_index", "type": "greater_than_or_equal_to", "arg": "2" }), "Cargo 100%"),
        (json!({ "key": "tier_index", "type": "does_not_exist" }), "Mail, Bare_x"),
        (json!({ "key": "lifecycle_index", "type": "exists" }), "Cart"),
        (json!({ "key": "level_index", "type": "exists" }), ""),
        (json!({ "key": "owner_id", "arg": id("core") }), "Cart"),
        (json!({ "key": "owner_ids", "type": "does_not_equal", "arg": id("core") }), "Cargo 100%, Mail, Bare_x"),
        (json!({ "key": "system_id", "arg": id("till") }), "Cart"),
        (json!({ "key": "domain_id", "arg": id("trade") }), "Cart"),
        (json!({ "key": "repository_ids", "type": "contains", "arg": id("repository") }), "Cart"),
        (json!({ "key": "repository_ids", "type": "does_not_exist" }), "Cargo 100%, Mail, Bare_x"),
        (json!({ "key": "alert_status", "type": "exists" }), ""),
        (deploy, "Cart, Cargo 100%, Mail, Bare_x"),
    ] {
        let found = matched(&app, json!([predicate])).await;
        assert_eq!(found, expected, "{predicate}");
    }
    let types = data(&app, "{ account { componentTypes { nodes { id isDefault } } } }").await;
    let nodes = types["account"]["componentTypes"]["nodes"].as_array().expect("types").clone();
    let default = nodes.iter().find(|node| node["isDefault"] == true).expect("a default type");
    let of_default = json!([{ "key": "component_type_id", "arg": default["id"] }]);
    assert_eq!(matched(&app, of_default).await, "Cargo 100%, Mail, Bare_x");
}

#[tokio::test]
async fn services_are_found_by_the_values_of_their_properties() {
    let app = TestApp::start().await;
    services(&app).await;
    let query = r#"mutation {
        propertyDefinitionCreate(input: { name: "Data class", schema: "{\"type\": [\"string\", \"number\"]}" }) { definition { id } errors { message } }
        cart: propertyAssign(input: { owner: { alias: "cart" }, definition: { alias: "data_class" }, value: "\"Personal\"" }) { errors { message } }
        mail: propertyAssign(input: { owner: { alias: "mail" }, definition: { alias: "data_class" }, value: "3" }) { errors { message } }
    }"#;
    let made = data(&app, query).await;
    assert_eq!((&made["cart"]["errors"], &made["mail"]["errors"]), (&json!([]), &json!([])), "{made}");
    let definition = made["propertyDefinitionCreate"]["definition"]["id"].as_str().expect("an id");
    for (predicate, expected) in [
        (json!({ "key": "property", "arg": "data_class:Personal" }), "Cart"),
        (json!({ "key": "property", "arg": "data_class:3" }), "Mail"),
        (json!({ "key": "property", "arg": "data_class:person", "type": "contains", "caseSensitive": false }), "Cart"),
        (json!({ "key": "property", "arg": "data_class", "type": "exists" }), "Cart, Mail"),
        (json!({ "key": "property", "arg": format!("{definition}"), "type": "does_not_exist" }), "Cargo 100%, Bare_x"),
        (
            json!({ "key": "property", "arg": "none:3" }),
            "a property definition with the id or alias \"none\" does not exist on this account",
        ),
    ] {
        assert_eq!(matched(&app, json!([predicate])).await, expected, "{predicate}");
    }
}

#[tokio::test]
async fn predicates_combine_and_nest() {
    let app = TestApp::start().await;
    services(&app).await;
    let (rust, go) = (json!({ "key": "language", "arg": "Rust" }), json!({ "key": "language", "arg": "Go" }));
    assert_eq!(matched(&app, json!([rust, go])).await, "");
    assert_eq!(matched(&app, json!([{ "predicates": [rust, go] }])).await, "Cart, Mail");
    assert_eq!(matched(&app, json!([{ "connective": "and", "predicates": [rust, go] }])).await, "");
    let named = json!({ "key": "name", "arg": "Mail" });
    let nested = json!([{ "connective": "and", "predicates": [{ "predicates": [rust, go] }, named] }]);
    assert_eq!(matched(&app, nested).await, "Mail");
    assert_eq!(matched(&app, json!([{ "predicates": [] }])).await, "Cart, Cargo 100%, Mail, Bare_x");
    let mut deep = rust.clone();
    for _ in 0..6 {
        deep = json!({ "predicates": [deep] });
    }
    for (filter, message) in [
        (json!([deep]), "predicates can be nested at most 5 levels deep"),
        (
            json!([{ "predicates": vec![rust.clone(); 51] }]),
            "at most 50 predicates can be given, including those of nested filters",
        ),
        (json!([{ "arg": "x" }]), "exactly one of key and predicates must be given"),
        (json!([{ "key": "name", "type": "matches", "arg": "x" }]), "matches cannot be used with this key"),
        (json!([{ "key": "name", "type": "equals" }]), "this key and type need a value"),
        (json!([{ "key": "tier_index", "arg": "x" }]), "an index must be a whole number, and no tier is called \"x\""),
        (
            json!([{ "key": "owner_id", "arg": "x" }]),
            "a team with the id or alias \"x\" does not exist on this account",
        ),
        (json!([{ "key": "group_ids", "arg": "x" }]), "groups are not supported; use parent teams instead"),
        (
            json!([{ "key": "name", "type": "satisfies_jq_expression", "arg": "def f: f; f" }]),
            "the jq expression cannot be evaluated: it takes more than 50 ms",
        ),
    ] {
        assert_eq!(matched(&app, filter).await, message);
    }
    let wrong = matched(&app, json!([{ "key": "name", "type": "matches_regex", "arg": "(" }])).await;
    assert!(wrong.as_str().is_some_and(|message| message.starts_with("not a regular expression")), "{wrong}");
    let huge = json!([{ "key": "name", "type": "matches_regex", "arg": "(((a{100}){100}){100})" }]);
    let wrong = matched(&app, huge).await;
    assert!(wrong.as_str().is_some_and(|message| message.contains("size limit")), "{wrong}");
}

#[tokio::test]
async fn a_filter_is_saved_as_it_was_sent_and_matches_services() {
    let app = TestApp::start().await;
    services(&app).await;
    let create = "mutation($input: FilterCreateInput!) { filterCreate(input: $input) {
        filter { id name connective htmlUrl predicates { caseSensitive key keyData type value } } errors { path message }
    } }";
    let predicates = json!([
        { "caseSensitive": null, "key": "tier_index", "keyData": null, "type": "less_than_or_equal_to", "value": "1" },
        { "caseSensitive": false, "key": "tags", "keyData": "env", "type": "equals", "value": "prod" },
        { "caseSensitive": true, "key": "relationships", "keyData": "x", "type": "satisfies_jq_expression", "value": "." },
    ]);
    let made =
        app.query(create, json!({ "input": { "name": "All", "connective": null, "predicates": predicates } })).await;
    let filter = made["data"]["filterCreate"]["filter"].clone();
    assert_eq!((&filter["connective"], &filter["predicates"]), (&Value::Null, &predicates));
    // A predicate that cannot be evaluated is stored, and reported when services are listed.
    let saved = json!({ "saved": { "id": filter["id"] } });
    let answer = app.query(LIST, saved.clone()).await;
    assert_eq!(
        answer["errors"][0]["message"],
        "predicate 3 of the filter \"All\": a relationship definition with the id or alias \"x\" does not exist on this account"
    );

    let update = "mutation($input: FilterUpdateInput!) { filterUpdate(input: $input) {
        filter { name connective predicates { key value } } errors { path message }
    } }";
    let fewer = json!([predicates[0], predicates[1]]);
    let input = json!({ "id": filter["id"], "predicates": fewer });
    let changed = app.query(update, json!({ "input": input })).await["data"]["filterUpdate"].clone();
    assert_eq!(changed["filter"]["predicates"].as_array().map(Vec::len), Some(2));
    let answer = app.query(LIST, saved.clone()).await;
    assert_eq!(answer["data"]["account"]["services"]["nodes"], json!([{ "name": "Cart" }]));
    let input = json!({ "id": filter["id"], "name": "Any", "connective": "or" });
    app.query(update, json!({ "input": input })).await;
    let answer = app.query(LIST, saved.clone()).await;
    assert_eq!(answer["data"]["account"]["services"]["nodes"], json!([{ "name": "Cart" }, { "name": "Mail" }]));

    // A filter within a filter, and one that contains itself.
    let other = json!([{ "key": "filter_id", "type": "does_not_match", "value": filter["id"] }]);
    let made = app.query(create, json!({ "input": { "name": "Others", "predicates": other } })).await;
    let others = made["data"]["filterCreate"]["filter"]["id"].clone();
    let answer = app.query(LIST, json!({ "saved": { "id": others } })).await;
    let expected = json!([{ "name": "Cargo 100%" }, { "name": "Bare_x" }]);
    assert_eq!(answer["data"]["account"]["services"]["nodes"], expected);
    let itself = json!([{ "key": "filter_id", "type": "matches", "value": others }]);
    app.query(update, json!({ "input": { "id": others, "predicates": itself } })).await;
    let answer = app.query(LIST, json!({ "saved": { "id": others } })).await;
    assert_eq!(answer["errors"][0]["message"], "filters can be nested at most 5 levels deep");

    let delete = "mutation($id: ID!) {
        first: filterDelete(input: { id: $id }) { deletedId errors { message } }
        second: filterDelete(input: { id: $id }) { deletedId errors { path } }
    }";
    let answer = app.query(delete, json!({ "id": filter["id"] })).await;
    assert_eq!(answer["data"]["first"], json!({ "deletedId": filter["id"], "errors": [] }));
    assert_eq!(answer["data"]["second"], json!({ "deletedId": null, "errors": [{ "path": ["id"] }] }));
    let left = data(&app, "{ account { filters { totalCount nodes { name } } } }").await;
    assert_eq!(left["account"]["filters"], json!({ "totalCount": 1, "nodes": [{ "name": "Others" }] }));
    let answer =
        app.query("query($id: ID) { account { filter(id: $id) { name } } }", json!({ "id": filter["id"] })).await;
    assert_eq!(answer["data"]["account"]["filter"], Value::Null);
}

#[tokio::test]
async fn a_service_without_a_value_does_not_match_a_saved_filter_for_a_value() {
    let app = TestApp::start().await;
    services(&app).await;
    let create = "mutation($name: String!, $predicates: [FilterPredicateInput!]) {
        filterCreate(input: { name: $name, predicates: $predicates }) { filter { id } errors { message } }
    }";
    let create = async |name: &str, predicates: Value| {
        let answer = app.query(create, json!({ "name": name, "predicates": predicates })).await;
        answer["data"]["filterCreate"]["filter"]["id"].clone()
    };
    let other = |id: &Value| json!([{ "key": "filter_id", "type": "does_not_match", "arg": id }]);
    let rust = create("Rust", json!([{ "key": "language", "type": "equals", "value": "rust" }])).await;
    assert_eq!(matched(&app, other(&rust)).await, "Cart, Mail, Bare_x");
    let not_rust = create("Others", json!([{ "key": "filter_id", "type": "does_not_match", "value": rust }])).await;
    assert_eq!(matched(&app, other(&not_rust)).await, "Cargo 100%");
    let all = create("All", json!([])).await;
    assert_eq!(matched(&app, other(&all)).await, "");
}

#[tokio::test]
async fn many_comparisons_that_are_made_here_read_the_names_once() {
    let app = TestApp::start().await;
    rollcall::generate::catalogue(&app.db, 2_000, |_| {}).await.expect("a catalogue");
    let query = "query($filter: [ServiceFilterInput!]) { account { services(filter: $filter, first: 1) { totalCount nodes { id } } } }";
    let token = format!("Bearer {}", app.token);
    let answer = async |filter: &Value| {
        let headers = [("authorization", &*token), ("graphql-cost", "1")];
        let answer = app.post_with(query, json!({ "filter": filter }), &headers).await.json();
        let count = answer["data"]["account"]["services"]["totalCount"].as_u64();
        let rows = answer["extensions"]["cost"]["rowBytes"].as_u64().unwrap_or_else(|| panic!("{answer}"));
        (count.unwrap_or_else(|| panic!("{answer}")), rows)
    };
    let regex = |arg: &str, key: &str| json!({ "key": key, "type": "matches_regex", "arg": arg });
    let not = |arg: &str| json!({ "key": "name", "type": "does_not_match_regex", "arg": arg });
    let several =
        |connective: &str, predicates: Vec<Value>| json!({ "connective": connective, "predicates": predicates });
    let (all, _) = answer(&json!([])).await;
    assert_eq!(all, 2_000);
    let (one, of_one) = answer(&json!([regex(".", "name")])).await;
    assert_eq!(one, all);
    for (filter, expected) in [
        (json!(vec![regex(".", "name"); 50]), all),
        (json!([several("or", vec![regex(".", "name"); 50])]), all),
        (json!([several("and", vec![not("^$"); 50])]), all),
        (json!([several("or", vec![regex("^$", "name"); 50])]), 0),
    ] {
        let (count, rows) = answer(&filter).await;
        assert_eq!(count, expected, "{filter}");
        assert!(rows < of_one + of_one / 4, "{rows} bytes for 50, {of_one} for one");
    }
    // Together they are what each is alone.
    let (a, _) = answer(&json!([regex("a", "name")])).await;
    let (no_a, _) = answer(&json!([not("a")])).await;
    let (e, _) = answer(&json!([regex("e", "name")])).await;
    let (both, _) = answer(&json!([regex("a", "name"), regex("e", "name")])).await;
    let (either, _) = answer(&json!([several("or", vec![regex("a", "name"), regex("e", "name")])])).await;
    let (neither, _) = answer(&json!([not("a"), not("e")])).await;
    assert_eq!((a + no_a, either + both, either + neither), (all, a + e, all));
    assert!(a > 0 && e > 0, "{a} {e}");
    // Beside conditions of SQL, and over several columns.
    let rust = json!({ "key": "language", "type": "exists" });
    let none = json!({ "key": "language", "type": "does_not_exist" });
    let (with, _) = answer(&json!([regex("a", "name"), rust])).await;
    let (without, _) = answer(&json!([regex("a", "name"), none])).await;
    assert_eq!(with + without, a);
    let (languages, _) = answer(&json!([regex(".", "language")])).await;
    assert_eq!(languages, answer(&json!([rust])).await.0);
    let (aliases, _) = answer(&json!([regex(".", "aliases"), regex("a", "name")])).await;
    assert_eq!(aliases, a);
    let mixed = several(
        "or",
        vec![several("and", vec![regex("a", "name"), none]), several("and", vec![regex("a", "name"), rust])],
    );
    assert_eq!(answer(&json!([mixed])).await.0, a);
}

#[tokio::test]
async fn a_saved_predicate_without_key_data_has_it_in_its_value() {
    let app = TestApp::start().await;
    services(&app).await;
    let create =
        "mutation($input: FilterCreateInput!) { filterCreate(input: $input) { filter { id } errors { message } } }";
    let matched_by = async |predicates: Value| {
        let made = app.query(create, json!({ "input": { "name": "Saved", "predicates": predicates } })).await;
        let filter = &made["data"]["filterCreate"]["filter"]["id"];
        matched(&app, json!([{ "key": "filter_id", "type": "matches", "arg": filter }])).await
    };
    for (predicate, expected) in [
        (json!({ "key": "tags", "type": "equals", "value": "env:prod" }), "Cart"),
        (json!({ "key": "tags", "type": "equals", "value": "env:Prod" }), "Mail"),
        (json!({ "key": "tags", "type": "exists", "value": "env" }), "Cart, Mail"),
        (json!({ "key": "tags", "type": "contains", "value": "env:de" }), "Cart"),
        (json!({ "key": "tags", "type": "equals", "value": "env:a:b" }), ""),
        (json!({ "key": "tags", "keyData": "env", "type": "equals", "value": "prod" }), "Cart"),
    ] {
        assert_eq!(matched_by(json!([predicate])).await, expected, "{predicate}");
    }
    for kind in ["tags", "properties"] {
        let good = json!({ "key": "name", "type": "exists" });
        let said = matched_by(json!([good, { "key": kind, "type": "equals" }])).await;
        let said = said.as_str().unwrap_or_default();
        assert!(said.starts_with("predicate 2 of the filter \"Saved\": the "), "{kind}: {said}");
    }
}
