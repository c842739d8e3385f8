//! Deploys in the API.

use serde_json::{Value, json};

use crate::harness::webhook::Endpoint;

/// Posts a deploy for each service, on the given day of November, to an environment.
async fn deployed(endpoint: &Endpoint, deploys: &[(&str, u32, &str)]) {
    for (service, day, environment) in deploys {
        let moment = format!("2026-11-{day:02} 12:00:00");
        let attributes = json!({ "service": service, "deployed_at": moment, "environment": environment });
        assert_eq!(endpoint.post_with(attributes).await.status, 202);
    }
}

/// The deploys of an account's connection as `alias number`, and its counts.
async fn account(endpoint: &Endpoint, arguments: &str) -> (Vec<String>, Value) {
    let query = format!(
        "{{ account {{ deploys({arguments}) {{ nodes {{ serviceAlias deployNumber }} totalCount filteredCount }} }} }}"
    );
    let answer = &endpoint.app.query(&query, json!({})).await["data"]["account"]["deploys"];
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let name = |node: &Value| format!("{} {}", text(&node["serviceAlias"]), text(&node["deployNumber"]));
    let names = answer["nodes"].as_array().expect("nodes").iter().map(name).collect();
    (names, json!([answer["totalCount"], answer["filteredCount"]]))
}

#[tokio::test]
async fn deploys_are_listed_newest_first_and_filtered() {
    let endpoint = Endpoint::start().await;
    let cart = endpoint.create_service("cart").await;
    deployed(
        &endpoint,
        &[("shop", 3, "Production"), ("cart", 5, "PRODUCTION"), ("shop", 1, "staging"), ("org/repo", 5, "Test")],
    )
    .await;
    for (arguments, expected, count) in [
        ("first: 100", &["org/repo 1", "cart 1", "shop 1", "shop 2"][..], 4),
        (r#"environments: ["production"]"#, &["cart 1", "shop 1"], 2),
        (r#"environments: ["Staging", "TEST"]"#, &["org/repo 1", "shop 2"], 2),
        ("environments: []", &["org/repo 1", "cart 1", "shop 1", "shop 2"], 4),
        (r#"start: "2026-11-03T12:00:00Z", end: "2026-11-05T12:00:00Z""#, &["shop 1"], 1),
        (r#"start: "2026-11-03 12:00:00", environments: ["test"]"#, &["org/repo 1"], 1),
        (&format!("serviceId: \"{cart}\""), &["cart 1"], 1),
        (r#"serviceId: "nothing""#, &[], 0),
        ("first: 1", &["org/repo 1"], 4),
    ] {
        assert_eq!(
            account(&endpoint, arguments).await,
            (expected.iter().map(ToString::to_string).collect(), json!([count, count])),
            "{arguments}"
        );
    }
}

#[tokio::test]
async fn deploys_are_filtered_by_their_status_and_by_the_team_that_owns_their_service() {
    let endpoint = Endpoint::start().await;
    endpoint.create_service("cart").await;
    let made = r#"mutation {
        teamCreate(input: { name: "Payments" }) { errors { message } }
        serviceUpdate(input: { alias: "cart", ownerInput: { alias: "payments" } }) { errors { message } }
    }"#;
    endpoint.app.query(made, json!({})).await;
    for (service, day, status) in [
        ("shop", 1, json!("failed")),
        ("cart", 2, json!("failed")),
        ("cart", 3, json!("success")),
        ("cart", 4, json!("odd")),
        ("shop", 5, Value::Null),
        ("org/repo", 6, json!("failure")),
    ] {
        let moment = format!("2026-11-{day:02} 12:00:00");
        let posted = json!({ "service": service, "deployed_at": moment, "status": status });
        assert_eq!(endpoint.post_with(posted).await.status, 202, "{service} {day}");
    }
    for (arguments, expected) in [
        ("statuses: [failure]", &["org/repo 1", "cart 1", "shop 1"][..]),
        ("statuses: [failure, failure, success]", &["org/repo 1", "cart 2", "cart 1", "shop 1"]),
        ("statuses: [no_status]", &["shop 2", "cart 3"]),
        ("statuses: [no_status, success]", &["shop 2", "cart 3", "cart 2"]),
        ("statuses: [queued]", &[]),
        ("statuses: null, owner: null", &["org/repo 1", "shop 2", "cart 3", "cart 2", "cart 1", "shop 1"]),
        ("statuses: []", &["org/repo 1", "shop 2", "cart 3", "cart 2", "cart 1", "shop 1"]),
        (r#"owner: { alias: "payments" }"#, &["cart 3", "cart 2", "cart 1"]),
        (r#"owner: { alias: "payments" }, statuses: [failure], end: "2026-11-03T00:00:00Z""#, &["cart 1"]),
        (r#"owner: { alias: "payments" }, serviceId: "shop""#, &[]),
    ] {
        let (names, counts) = account(&endpoint, arguments).await;
        assert_eq!(names, expected, "{arguments}");
        assert_eq!(counts, json!([expected.len(), expected.len()]), "{arguments}");
    }
    let unknown = r#"{ account { deploys(owner: { alias: "nobody" }) { totalCount } } }"#;
    let answer = endpoint.app.query(unknown, json!({})).await;
    let message = answer["errors"][0]["message"].as_str().expect("an error");
    assert!(message.contains("a team with the alias \"nobody\" does not exist"), "{message}");
}

#[tokio::test]
async fn the_last_deploy_to_production_is_told_beside_the_last_of_all() {
    let endpoint = Endpoint::with(&["--production-environments", "live,production"]).await;
    endpoint.create_service("cart").await;
    endpoint.create_service("idle").await;
    for (service, day, environment, status) in [
        ("shop", 1, json!("Live"), "success"),
        ("shop", 2, json!("Production"), "failed"),
        ("shop", 3, json!("staging"), "success"),
        ("cart", 1, json!("live"), "failed"),
        ("cart", 2, Value::Null, "success"),
        ("cart", 3, json!("prod"), "failed"),
        ("idle", 1, json!("staging"), "success"),
    ] {
        let moment = format!("2026-11-{day:02} 12:00:00");
        let posted = json!({ "service": service, "deployed_at": moment, "environment": environment, "status": status });
        assert_eq!(endpoint.post_with(posted).await.status, 202, "{service} {day}");
    }
    let query = "{ account { services { nodes { name
        lastDeploy { deployNumber } lastProductionDeploy { deployNumber deployStatus environment } } } } }";
    let answer = endpoint.app.query(query, json!({})).await;
    let last = |number: &str| json!({ "deployNumber": number });
    let expected = json!([
        { "name": "shop", "lastDeploy": last("3"), "lastProductionDeploy":
            { "deployNumber": "2", "deployStatus": "failure", "environment": "Production" } },
        { "name": "cart", "lastDeploy": last("3"), "lastProductionDeploy":
            { "deployNumber": "2", "deployStatus": "success", "environment": null } },
        { "name": "idle", "lastDeploy": last("1"), "lastProductionDeploy": null },
    ]);
    assert_eq!(answer["data"]["account"]["services"]["nodes"], expected);
}

#[tokio::test]
async fn a_deploy_has_its_author_and_its_endpoint() {
    let endpoint = Endpoint::start().await;
    let cart = endpoint.create_service("cart").await;
    let url = "https://ci.example.com/7";
    let by = json!({ "service": "cart", "deploy_url": url, "deployer": { "email": "ada@example.com", "name": "Ada" } });
    assert_eq!(endpoint.post_with(by).await.status, 202);
    let by = json!({ "service": "nothing", "deployer": { "email": "ada@example.com" } });
    assert_eq!(endpoint.post_with(by).await.status, 202);
    let query = "{ account { deploys { nodes { author providerName providerType providerUrl serviceId } }
        integrations { nodes { name } } } }";
    let account = endpoint.app.query(query, json!({})).await["data"]["account"].take();
    let name = &account["integrations"]["nodes"][0]["name"];
    let nodes = account["deploys"]["nodes"].as_array().expect("nodes");
    let of_cart = json!({
        "author": "Ada", "providerName": name, "providerType": "deploy", "providerUrl": url, "serviceId": cart,
    });
    let of_nothing = json!({
        "author": "ada@example.com", "providerName": name, "providerType": "deploy", "providerUrl": null, "serviceId": null,
    });
    assert_eq!(nodes.len(), 2);
    assert!(nodes.contains(&of_cart) && nodes.contains(&of_nothing), "{nodes:?}");
}

#[tokio::test]
async fn a_service_lists_its_own_deploys_and_its_last_one() {
    let endpoint = Endpoint::start().await;
    endpoint.create_service("cart").await;
    endpoint.create_service("idle").await;
    deployed(
        &endpoint,
        &[
            ("shop", 3, "a"),
            ("shop", 9, "a"),
            ("shop", 7, "b"),
            ("cart", 2, "a"),
            ("cart", 2, "b"),
            ("org/repo", 9, "a"),
        ],
    )
    .await;
    let query = r#"{ account { services { nodes {
        name
        deploys(first: 1, environments: ["A"]) { nodes { deployNumber } filteredCount pageInfo { hasNextPage } }
        lastDeploy { deployNumber deployedAt service { name } }
    } } } }"#;
    let last = |number: &str, moment: &str, name: &str| json!({ "deployNumber": number, "deployedAt": moment, "service": { "name": name } });
    let page = |numbers: &[&str], count: i32, more: bool| {
        let nodes: Vec<_> = numbers.iter().map(|number| json!({ "deployNumber": number })).collect();
        json!({ "nodes": nodes, "filteredCount": count, "pageInfo": { "hasNextPage": more } })
    };
    let expected = json!([
        { "name": "shop", "deploys": page(&["2"], 2, true), "lastDeploy": last("2", "2026-11-09T12:00:00Z", "shop") },
        { "name": "cart", "deploys": page(&["1"], 1, false), "lastDeploy": last("2", "2026-11-02T12:00:00Z", "cart") },
        { "name": "idle", "deploys": page(&[], 0, false), "lastDeploy": null },
    ]);
    let answer = endpoint.app.query(query, json!({})).await;
    assert_eq!(answer["data"]["account"]["services"]["nodes"], expected);
    let one = r#"{ account { service(alias: "shop") { lastDeploy { deployNumber } } } }"#;
    let answer = endpoint.app.query(one, json!({})).await;
    assert_eq!(answer["data"]["account"]["service"]["lastDeploy"], json!({ "deployNumber": "2" }));
}

#[tokio::test]
async fn deploys_to_several_environments_are_paged_as_one_list() {
    let endpoint = Endpoint::start().await;
    let shop = endpoint.create_service("none").await;
    deployed(
        &endpoint,
        &[
            ("none", 3, "a"),
            ("none", 3, "B"),
            ("none", 3, "c"),
            ("none", 2, "b"),
            ("none", 2, "A"),
            ("none", 1, "b"),
            ("none", 1, "c"),
            ("none", 4, "a"),
            ("none", 5, "c"),
        ],
    )
    .await;
    let environments = r#"environments: ["b", "A", "a", "none"]"#;
    let lists = [
        format!("deploys({environments}, ARGUMENTS) {{ ...page }}"),
        format!("deploys(serviceId: \"{shop}\", {environments}, ARGUMENTS) {{ ...page }}"),
        format!("service(alias: \"none\") {{ deploys({environments}, ARGUMENTS) {{ ...page }} }}"),
    ];
    for list in lists {
        let (mut found, mut after) = (Vec::new(), Value::Null);
        for length in [2, 2, 2, 0] {
            let list = list.replace("ARGUMENTS", "first: 2, after: $after");
            let query = format!(
                "query($after: String) {{ account {{ {list} }} }} fragment page on DeployConnectionType {{
                    nodes {{ deployNumber }} totalCount pageInfo {{ hasNextPage hasPreviousPage endCursor }}
                }}"
            );
            let answer = endpoint.app.query(&query, json!({ "after": after })).await;
            let account = &answer["data"]["account"];
            let page =
                if account["deploys"].is_object() { &account["deploys"] } else { &account["service"]["deploys"] };
            let nodes = page["nodes"].as_array().unwrap_or_else(|| panic!("{answer}"));
            assert_eq!((nodes.len(), &page["totalCount"]), (length, &json!(6)), "{list}");
            let info = json!([page["pageInfo"]["hasNextPage"], page["pageInfo"]["hasPreviousPage"]]);
            assert_eq!(info, json!([length > 0 && found.len() < 4, !after.is_null()]), "{list}");
            found.extend(nodes.iter().map(|node| node["deployNumber"].as_str().expect("a number").to_owned()));
            if length > 0 {
                after = page["pageInfo"]["endCursor"].clone();
            }
        }
        // Ordered by time, then by id, whatever order the environments are given in.
        assert_eq!(found, ["8", "2", "1", "5", "4", "6"], "{list}");
    }
}

#[tokio::test]
async fn a_thousand_environments_can_be_named_and_not_one_more() {
    let endpoint = Endpoint::start().await;
    deployed(&endpoint, &[("shop", 3, "e999"), ("shop", 4, "e1"), ("shop", 5, "x")]).await;
    let query = "query($all: [String!]) { account {
        deploys(environments: $all) { totalCount nodes { deployNumber } }
        deployMetrics(environments: $all, start: \"2026-11-01T00:00:00Z\", end: \"2026-11-30T00:00:00Z\") { deployCount }
    } }";
    let named = |count: u32| (0..count).map(|number| format!("e{number}")).collect::<Vec<_>>();
    let answer = endpoint.app.query(query, json!({ "all": named(1_000) })).await;
    let nodes = json!([{ "deployNumber": "2" }, { "deployNumber": "1" }]);
    let expected = json!({ "deploys": { "totalCount": 2, "nodes": nodes }, "deployMetrics": { "deployCount": 2 } });
    assert_eq!(answer["data"]["account"], expected, "{answer}");
    let answer = endpoint.app.query(query, json!({ "all": named(1_001) })).await;
    let message = answer["errors"][0]["message"].as_str().expect("a message");
    assert!(message.contains("at most 1000 environments can be given"), "{message}");
}

#[tokio::test]
async fn the_deploys_of_a_service_are_filtered_by_time() {
    let endpoint = Endpoint::start().await;
    deployed(&endpoint, &[("shop", 3, "a"), ("shop", 5, "a"), ("shop", 7, "a"), ("org/repo", 5, "a")]).await;
    for (span, expected) in [
        ("start: \"2026-11-05T12:00:00Z\"", &["3", "2"][..]),
        ("end: \"2026-11-05T12:00:00Z\"", &["1"]),
        ("start: \"2026-11-04T00:00:00Z\", end: \"2026-11-06T00:00:00+02:00\"", &["2"]),
        ("start: \"2026-11-08T00:00:00Z\"", &[]),
    ] {
        let query = format!(
            "{{ account {{ service(alias: \"shop\") {{ deploys({span}) {{ nodes {{ deployNumber }} }} }} }} }}"
        );
        let answer = endpoint.app.query(&query, json!({})).await;
        let nodes: Vec<_> = expected.iter().map(|number| json!({ "deployNumber": number })).collect();
        assert_eq!(answer["data"]["account"]["service"]["deploys"]["nodes"], json!(nodes), "{span}");
    }
}

#[tokio::test]
async fn a_list_of_deploys_is_paged_by_time() {
    let endpoint = Endpoint::start().await;
    deployed(&endpoint, &[("shop", 5, "a"), ("shop", 5, "a"), ("shop", 4, "a"), ("shop", 6, "a"), ("shop", 5, "a")])
        .await;
    let mut after = Value::Null;
    let mut numbers = Vec::new();
    for _ in 0..5 {
        let query = r#"query($after: String) { account { service(alias: "shop") {
            deploys(first: 1, after: $after) { nodes { deployNumber } pageInfo { endCursor } }
        } } }"#;
        let page = &endpoint.app.query(query, json!({ "after": after })).await["data"]["account"]["service"]["deploys"];
        numbers.push(page["nodes"][0]["deployNumber"].clone());
        after = page["pageInfo"]["endCursor"].clone();
    }
    assert_eq!(json!(numbers), json!(["4", "5", "2", "1", "3"]));
}

#[tokio::test]
async fn a_deploy_that_ended_before_it_started_has_no_duration() {
    let endpoint = Endpoint::start().await;
    for (start, end) in [("00:00:10", "00:00:00"), ("00:00:00.9", "00:00:10.1"), ("00:00:00", "00:00:00")] {
        let moment = |time: &str| format!("2026-11-21 {time}");
        endpoint.post_with(json!({ "started_at": moment(start), "deployed_at": moment(end) })).await;
    }
    let expected = json!([{ "duration": 9 }, { "duration": 0 }, { "duration": null }]);
    assert_eq!(endpoint.deploys("duration").await, expected);
}

#[tokio::test]
async fn deploy_delete_deletes_one_deploy() {
    let endpoint = Endpoint::start().await;
    deployed(&endpoint, &[("shop", 1, "a"), ("shop", 2, "a")]).await;
    let id = endpoint.deploys("id").await[0]["id"].clone();
    let delete = "mutation($id: ID!) { deployDelete(input: { id: $id }) { deletedDeployId errors { message path } } }";
    let answer = endpoint.app.query(delete, json!({ "id": id })).await;
    assert_eq!(answer["data"]["deployDelete"], json!({ "deletedDeployId": id, "errors": [] }));
    assert_eq!(endpoint.deploys("deployNumber").await, json!([{ "deployNumber": "1" }]));
    let answer = endpoint.app.query(delete, json!({ "id": id })).await;
    let errors = json!([{ "message": "a deploy with this id does not exist on this account", "path": ["id"] }]);
    assert_eq!(answer["data"]["deployDelete"], json!({ "deletedDeployId": null, "errors": errors }));
    // Numbers are never reused.
    deployed(&endpoint, &[("shop", 3, "a")]).await;
    assert_eq!(endpoint.deploys("deployNumber").await[0], json!({ "deployNumber": "3" }));
}

#[tokio::test]
async fn the_deploys_of_a_deleted_service_stay_and_their_numbers_continue_by_alias() {
    let endpoint = Endpoint::start().await;
    let alias =
        r#"mutation($id: ID!) { aliasCreate(input: { ownerId: $id, alias: "org/shop" }) { errors { message } } }"#;
    let shop = endpoint.app.query(r#"{ account { service(alias: "shop") { id } } }"#, json!({})).await;
    endpoint.app.query(alias, json!({ "id": shop["data"]["account"]["service"]["id"] })).await;
    deployed(&endpoint, &[("shop", 1, "a"), ("org/shop", 2, "a"), ("shop", 3, "a")]).await;
    let delete = r#"mutation { serviceDelete(input: { alias: "shop" }) { errors { message } } }"#;
    assert_eq!(endpoint.app.query(delete, json!({})).await["data"]["serviceDelete"]["errors"], json!([]));
    deployed(&endpoint, &[("shop", 4, "a"), ("org/shop", 5, "a"), ("other", 6, "a")]).await;

    let (deploys, _) = account(&endpoint, "first: 9").await;
    assert_eq!(deploys, ["other 1", "org/shop 4", "shop 4", "shop 3", "org/shop 2", "shop 1"]);
    // A new service with the same name starts a new sequence, and does not get deploys without a suggestion.
    endpoint.create_service("shop").await;
    let answer = endpoint.app.query(r#"{ account { service(alias: "shop") { lastDeploy { id } } } }"#, json!({})).await;
    assert_eq!(answer["data"]["account"]["service"]["lastDeploy"], json!(null));
}
