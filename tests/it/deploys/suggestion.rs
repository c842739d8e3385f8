//! Service suggestions: how deploys and code issue projects create them, and how they are decided.

use rollcall::entity::Timestamp;
use serde_json::{Value, json};

use crate::harness::integration;
use crate::harness::webhook::Endpoint;

const ACCEPT: &str = "mutation($input: ServiceSuggestionAcceptInput!) { serviceSuggestionAccept(input: $input) {
    serviceSuggestion { state service { name } }
    service { name managedAliases }
    errors { message path }
} }";

async fn deployed(endpoint: &Endpoint, service: &str, times: usize) {
    for _ in 0..times {
        assert_eq!(endpoint.post_with(json!({ "service": service })).await.status, 202);
    }
}

async fn suggestions(endpoint: &Endpoint, fields: &str) -> Value {
    let query = format!("{{ account {{ serviceSuggestions {{ nodes {{ {fields} }} }} }} }}");
    endpoint.app.query(&query, json!({})).await["data"]["account"]["serviceSuggestions"]["nodes"].clone()
}

async fn id_of(endpoint: &Endpoint, alias: &str) -> Value {
    let all = suggestions(endpoint, "id alias").await;
    let found = all.as_array().expect("nodes").iter().find(|node| node["alias"] == alias);
    found.unwrap_or_else(|| panic!("no suggestion of {alias}"))["id"].clone()
}

async fn accept(endpoint: &Endpoint, input: Value) -> Value {
    endpoint.app.query(ACCEPT, json!({ "input": input })).await["data"]["serviceSuggestionAccept"].clone()
}

fn refused(message: &str, path: &[&str]) -> Value {
    json!({ "serviceSuggestion": null, "service": null, "errors": [{ "message": message, "path": path }] })
}

#[tokio::test]
async fn an_unknown_alias_is_one_suggestion_however_often_it_is_deployed() {
    let endpoint = Endpoint::start().await;
    deployed(&endpoint, "org/repo", 3).await;
    deployed(&endpoint, "shop", 1).await;
    deployed(&endpoint, "prod:deployment/cart", 1).await;
    let fields = "kind alias state deployCount integrations { name } codeIssueProject { id } service { id }";
    let suggestion = |alias: &str, count: i32| {
        json!({
            "kind": "deploy", "alias": alias, "state": "open", "deployCount": count,
            "integrations": [{ "name": "CI" }], "codeIssueProject": null, "service": null,
        })
    };
    let expected = json!([suggestion("org/repo", 3), suggestion("prod:deployment/cart", 1)]);
    assert_eq!(suggestions(&endpoint, fields).await, expected);
}

#[tokio::test]
async fn a_suggestion_says_when_it_was_first_and_last_seen_and_by_which_integrations() {
    let endpoint = Endpoint::start().await;
    let (_, url) = integration::deploy_endpoint(&endpoint.app, "CD").await;
    let path = url.split_once(&endpoint.app.address.to_string()).expect("our address").1.to_owned();
    let seen = async || {
        let all = suggestions(&endpoint, "deployCount integrations { name } firstSeenAt lastSeenAt").await;
        let moment = |name: &str| all[0][name].as_str().and_then(|text| Timestamp::parse(text).ok()).expect("a moment");
        let names = all[0]["integrations"].as_array().expect("integrations").iter();
        let names: Vec<_> = names.map(|one| one["name"].as_str().expect("a name").to_owned()).collect();
        (all[0]["deployCount"].clone(), names, moment("firstSeenAt"), moment("lastSeenAt"))
    };
    let before = Timestamp::now();
    deployed(&endpoint, "org/repo", 1).await;
    let (count, names, first, last) = seen().await;
    assert_eq!((count, names), (json!(1), vec!["CI".to_owned()]));
    assert!(before <= first && first == last && last <= Timestamp::now());

    let body = crate::harness::webhook::record(json!({ "service": "org/repo", "deployed_at": "2020-01-01 00:00:00" }));
    let headers = [("content-type", "application/json")];
    let answer = endpoint.app.request(hyper::Method::POST, &path, &headers, body.to_string()).await;
    assert_eq!(answer.status, 202);
    let (count, names, still_first, later) = seen().await;
    assert_eq!((count, names), (json!(2), vec!["CI".to_owned(), "CD".to_owned()]));
    assert!(still_first == first && later > last);
}

#[tokio::test]
async fn deploys_posted_while_it_is_accepted_belong_to_the_service_and_are_numbered_on() {
    let endpoint = Endpoint::start().await;
    deployed(&endpoint, "org/repo", 5).await;
    let id = id_of(&endpoint, "org/repo").await;
    let posts = async {
        let posts = (0..20).map(|_| endpoint.post_with(json!({ "service": "org/repo" })));
        futures_util::future::join_all(posts).await
    };
    let (answers, accepted) = tokio::join!(posts, accept(&endpoint, json!({ "id": id, "name": "Repo" })));
    assert_eq!(accepted["errors"], json!([]));
    assert!(answers.iter().all(|answer| answer.status == 202));
    let deploys = endpoint.deploys("deployNumber service { name }").await;
    let mut numbers: Vec<u32> = Vec::new();
    for deploy in deploys.as_array().expect("deploys") {
        assert_eq!(deploy["service"], json!({ "name": "Repo" }));
        numbers.push(deploy["deployNumber"].as_str().and_then(|text| text.parse().ok()).expect("a number"));
    }
    numbers.sort_unstable();
    assert_eq!(numbers, Vec::from_iter(1..=25));
}

#[tokio::test]
async fn accepting_creates_the_service_and_gives_it_the_deploys() {
    let endpoint = Endpoint::start().await;
    deployed(&endpoint, "org/repo", 2).await;
    let id = id_of(&endpoint, "org/repo").await;
    let answer = accept(&endpoint, json!({ "id": id })).await;
    let expected = json!({
        "serviceSuggestion": { "state": "accepted", "service": { "name": "org/repo" } },
        "service": { "name": "org/repo", "managedAliases": [] },
        "errors": [],
    });
    assert_eq!(answer, expected);
    assert_eq!(endpoint.post_with(json!({ "service": "org/repo" })).await.body, r#"{"result":"ok"}"#);
    let deploy = |number: &str| json!({ "deployNumber": number, "service": { "name": "org/repo" } });
    let expected = json!([deploy("3"), deploy("2"), deploy("1")]);
    assert_eq!(endpoint.deploys("deployNumber service { name }").await, expected);

    let again = accept(&endpoint, json!({ "id": id })).await;
    assert_eq!(again, refused("the suggestion has already been accepted", &["id"]));
}

#[tokio::test]
async fn accepting_under_another_name_keeps_the_alias() {
    let endpoint = Endpoint::start().await;
    deployed(&endpoint, "org/repo", 1).await;
    let id = id_of(&endpoint, "org/repo").await;
    let answer = accept(&endpoint, json!({ "id": id, "name": "The Repo" })).await;
    assert_eq!(answer["service"], json!({ "name": "The Repo", "managedAliases": ["org/repo"] }));
    assert_eq!(endpoint.deploys("service { name }").await, json!([{ "service": { "name": "The Repo" } }]));
}

#[tokio::test]
async fn accepting_for_an_existing_service_moves_the_deploys_and_continues_their_numbers() {
    let endpoint = Endpoint::start().await;
    deployed(&endpoint, "shop", 2).await;
    deployed(&endpoint, "org/shop", 5).await;
    let id = id_of(&endpoint, "org/shop").await;
    let answer = accept(&endpoint, json!({ "id": id, "service": { "alias": "shop" } })).await;
    let expected = json!({
        "serviceSuggestion": { "state": "accepted", "service": { "name": "shop" } },
        "service": { "name": "shop", "managedAliases": ["org/shop"] },
        "errors": [],
    });
    assert_eq!(answer, expected);
    deployed(&endpoint, "org/shop", 1).await;
    deployed(&endpoint, "shop", 1).await;
    let query = r#"{ account { service(alias: "shop") { deploys { totalCount nodes { deployNumber } } } } }"#;
    let deploys = &endpoint.app.query(query, json!({})).await["data"]["account"]["service"]["deploys"];
    assert_eq!(deploys["totalCount"], 9);
    assert_eq!(deploys["nodes"][0], json!({ "deployNumber": "7" }));
    assert_eq!(deploys["nodes"][1], json!({ "deployNumber": "6" }));
}

#[tokio::test]
async fn an_acceptance_that_is_refused_changes_nothing() {
    let endpoint = Endpoint::start().await;
    deployed(&endpoint, "org/repo", 1).await;
    let id = id_of(&endpoint, "org/repo").await;
    let both = accept(&endpoint, json!({ "id": id, "name": "x", "service": { "alias": "shop" } })).await;
    assert_eq!(both, refused("only one of name and service can be given: a name is for a new service", &["name"]));
    let unknown = accept(&endpoint, json!({ "id": id, "service": { "alias": "none" } })).await;
    assert_eq!(
        unknown,
        refused("a service with the alias \"none\" does not exist on this account", &["service", "alias"])
    );
    let unnamed = accept(&endpoint, json!({ "id": id, "name": " " })).await;
    assert_eq!(unnamed, refused("name must not be empty", &["name"]));
    let wrong = accept(&endpoint, json!({ "id": "x" })).await;
    assert_eq!(wrong["errors"][0]["path"], json!(["id"]));

    // Another service has taken the alias.
    endpoint.create_service("org/repo").await;
    let taken = accept(&endpoint, json!({ "id": id, "service": { "alias": "shop" } })).await;
    assert_eq!(taken, refused("another service now has the alias \"org/repo\"", &["base"]));
    assert_eq!(suggestions(&endpoint, "state").await, json!([{ "state": "open" }]));
    assert_eq!(endpoint.deploys("service { name }").await, json!([{ "service": null }]));
}

#[tokio::test]
async fn an_ignored_suggestion_counts_further_deploys_and_stays_ignored_until_reopened() {
    let endpoint = Endpoint::start().await;
    deployed(&endpoint, "org/repo", 1).await;
    let id = id_of(&endpoint, "org/repo").await;
    let decide = async |decision: &str| {
        let query = format!(
            "mutation($id: ID!) {{ {decision}(input: {{ id: $id }}) {{ serviceSuggestion {{ state }} errors {{ message }} }} }}"
        );
        endpoint.app.query(&query, json!({ "id": id })).await["data"][decision].clone()
    };
    let ignored = json!({ "serviceSuggestion": { "state": "ignored" }, "errors": [] });
    assert_eq!(decide("serviceSuggestionIgnore").await, ignored);
    assert_eq!(decide("serviceSuggestionIgnore").await, ignored);
    deployed(&endpoint, "org/repo", 1).await;
    assert_eq!(suggestions(&endpoint, "state deployCount").await, json!([{ "state": "ignored", "deployCount": 2 }]));
    let by_state = "{ account {
        open: serviceSuggestions(state: open) { totalCount }
        ignored: serviceSuggestions(state: ignored) { totalCount }
    } }";
    let expected = json!({ "open": { "totalCount": 0 }, "ignored": { "totalCount": 1 } });
    assert_eq!(endpoint.app.query(by_state, json!({})).await["data"]["account"], expected);

    let opened = json!({ "serviceSuggestion": { "state": "open" }, "errors": [] });
    assert_eq!(decide("serviceSuggestionUnignore").await, opened);
    accept(&endpoint, json!({ "id": id })).await;
    let refused =
        json!({ "serviceSuggestion": null, "errors": [{ "message": "the suggestion has already been accepted" }] });
    assert_eq!(decide("serviceSuggestionIgnore").await, refused);
    assert_eq!(decide("serviceSuggestionUnignore").await, refused);
}

#[tokio::test]
async fn an_accepted_suggestion_reopens_if_its_service_is_deleted_and_it_is_seen_again() {
    let endpoint = Endpoint::start().await;
    deployed(&endpoint, "org/repo", 1).await;
    accept(&endpoint, json!({ "id": id_of(&endpoint, "org/repo").await })).await;
    let delete = r#"mutation { serviceDelete(input: { alias: "org/repo" }) { errors { message } } }"#;
    endpoint.app.query(delete, json!({})).await;
    let fields = "state deployCount service { id }";
    let accepted = json!([{ "state": "accepted", "deployCount": 1, "service": null }]);
    assert_eq!(suggestions(&endpoint, fields).await, accepted);
    deployed(&endpoint, "org/repo", 1).await;
    assert_eq!(suggestions(&endpoint, fields).await, json!([{ "state": "open", "deployCount": 2, "service": null }]));
}

#[tokio::test]
async fn services_with_similar_names_are_suggested_the_nearest_first() {
    let endpoint = Endpoint::start().await;
    for name in ["Shopping Cart", "Shopping Cart API", "Payments", "Payment Gateway", "Billing", "redis"] {
        endpoint.create_service(name).await;
    }
    let expected = [
        ("org/shopping-cart", &["Shopping Cart", "Shopping Cart API"][..]),
        ("prod:deployment/shopping_cart", &["Shopping Cart", "Shopping Cart API"]),
        ("shoping-cart", &["Shopping Cart", "Shopping Cart API"]),
        ("paymets", &["Payments"]),
        ("payment", &["Payments", "Payment Gateway"]),
        ("kafka", &[]),
        ("!?", &[]),
    ];
    for (alias, _) in expected {
        deployed(&endpoint, alias, 1).await;
    }
    let found = suggestions(&endpoint, "alias nearMatches { name }").await;
    for (suggestion, (alias, names)) in found.as_array().expect("nodes").iter().zip(expected) {
        let names: Vec<_> = names.iter().map(|name| json!({ "name": name })).collect();
        assert_eq!(suggestion, &json!({ "alias": alias, "nearMatches": names }));
    }
}

#[tokio::test]
async fn accepting_a_code_issue_project_connects_it() {
    let endpoint = Endpoint::start().await;
    let integration = integration::custom(&endpoint.app, "Scanner").await;
    let upsert = r#"mutation($integration: ID!) { codeIssueProjectUpsert(input: {
        identifier: { integration: { id: $integration }, externalId: "1" }, name: "web-shop"
    }) { errors { message } } }"#;
    endpoint.app.query(upsert, json!({ "integration": integration })).await;
    let fields = "kind alias deployCount integrations { name } codeIssueProject { name } nearMatches { name }";
    let expected = json!([{
        "kind": "code_issue_project", "alias": "web-shop", "deployCount": 0, "integrations": [{ "name": "Scanner" }],
        "codeIssueProject": { "name": "web-shop" }, "nearMatches": [],
    }]);
    assert_eq!(suggestions(&endpoint, fields).await, expected);
    let id = id_of(&endpoint, "web-shop").await;
    let answer = accept(&endpoint, json!({ "id": id, "service": { "alias": "shop" } })).await;
    assert_eq!(answer["service"], json!({ "name": "shop", "managedAliases": [] }));
    let query = r#"{ account { service(alias: "shop") { codeIssueProjects { nodes { name } } } } }"#;
    let answer = endpoint.app.query(query, json!({})).await;
    assert_eq!(answer["data"]["account"]["service"]["codeIssueProjects"]["nodes"], json!([{ "name": "web-shop" }]));
}

#[tokio::test]
async fn a_suggestion_has_the_times_when_it_was_first_and_last_seen() {
    let endpoint = Endpoint::start().await;
    deployed(&endpoint, "org/repo", 1).await;
    let once = suggestions(&endpoint, "firstSeenAt lastSeenAt").await;
    assert_eq!(once[0]["firstSeenAt"], once[0]["lastSeenAt"]);
    deployed(&endpoint, "org/repo", 1).await;
    let twice = suggestions(&endpoint, "firstSeenAt lastSeenAt").await;
    assert_eq!(twice[0]["firstSeenAt"], once[0]["firstSeenAt"]);
    assert_ne!(twice[0]["lastSeenAt"], once[0]["lastSeenAt"]);
}

#[tokio::test]
async fn suggestions_of_one_state_are_a_list_of_their_own() {
    let endpoint = Endpoint::start().await;
    for service in ["left", "quiet", "taken"] {
        deployed(&endpoint, service, 1).await;
    }
    let taken = id_of(&endpoint, "taken").await;
    assert_eq!(accept(&endpoint, json!({ "id": taken })).await["errors"], json!([]));
    let ignore = "mutation($id: ID!) { serviceSuggestionIgnore(input: { id: $id }) { errors { message } } }";
    endpoint.app.query(ignore, json!({ "id": id_of(&endpoint, "quiet").await })).await;
    for (state, expected) in [("open", "left"), ("ignored", "quiet"), ("accepted", "taken")] {
        let query =
            format!("{{ account {{ serviceSuggestions(state: {state}) {{ nodes {{ alias }} totalCount }} }} }}");
        let list = json!({ "nodes": [{ "alias": expected }], "totalCount": 1 });
        let answer = endpoint.app.query(&query, json!({})).await;
        assert_eq!(answer["data"]["account"]["serviceSuggestions"], list, "{state}");
    }
}
