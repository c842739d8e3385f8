//! Lists in an order that the client chooses.

use rollcall::engine::page::Cursor;
use rollcall::entity::user::Role;
use rollcall::graphql::standards::check::history;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::checks::create;
use crate::harness::webhook::Endpoint;

/// Services that differ in every field that they can be ordered by. Some have equal values, some none.
async fn services(app: &TestApp) {
    let made = data(
        app,
        r#"mutation {
            zebra: teamCreate(input: { name: "zebra" }) { errors { message } }
            ant: teamCreate(input: { name: "Ant" }) { errors { message } }
            bee: teamCreate(input: { name: "bee" }) { errors { message } }
            delta: serviceCreate(input: { name: "delta", ownerInput: { alias: "zebra" }, tierAlias: "tier_2", language: "rust" }) { errors { message } }
            alpha: serviceCreate(input: { name: "Alpha", ownerInput: { alias: "ant" }, tierAlias: "tier_4", lifecycleAlias: "beta", product: "Shop" }) { errors { message } }
            same: serviceCreate(input: { name: "alpha", ownerInput: { alias: "zebra" }, tierAlias: "tier_2", language: "Go", product: "shop" }) { errors { message } }
            bravo: serviceCreate(input: { name: "bravo", lifecycleAlias: "alpha", language: "Rust" }) { errors { message } }
            accent: serviceCreate(input: { name: "Éclair", ownerInput: { alias: "ant" }, tierAlias: "tier_1", language: "go" }) { errors { message } }
            empty: serviceCreate(input: { name: "charlie" }) { errors { message } }
        }"#,
    )
    .await;
    for (name, payload) in made.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
}

const LIST: &str =
    "query($by: ServiceSortEnum, $first: Int, $after: String, $owner: String, $search: String) { account {
    services(sortBy: $by, first: $first, after: $after, ownerAlias: $owner, search: $search) {
        totalCount nodes { name } edges { cursor } pageInfo { endCursor hasNextPage }
    }
} }";

/// The names of all services in an order, read in pages of this length.
async fn listed(app: &TestApp, by: &str, first: usize, filter: Value) -> String {
    let (mut names, mut after) = (Vec::new(), Value::Null);
    loop {
        let mut variables = json!({ "by": by, "first": first, "after": after });
        variables.as_object_mut().expect("an object").extend(filter.as_object().expect("an object").clone());
        let page = app.query(LIST, variables).await["data"]["account"]["services"].take();
        let nodes = page["nodes"].as_array().expect("nodes");
        names.extend(nodes.iter().map(|node| node["name"].as_str().expect("a name").to_owned()));
        let before = std::mem::replace(&mut after, page["pageInfo"]["endCursor"].clone());
        if page["pageInfo"]["hasNextPage"] == false {
            assert_eq!(page["totalCount"], names.len(), "{by}");
            return names.join(" ");
        }
        assert_ne!(before, after, "{by}: the next page begins where this one does");
    }
}

#[tokio::test]
async fn services_are_listed_in_each_order_whatever_the_length_of_a_page() {
    let app = TestApp::start().await;
    services(&app).await;
    for (by, expected) in [
        ("name_ASC", "Alpha alpha bravo charlie delta Éclair"),
        ("name_DESC", "Éclair delta charlie bravo alpha Alpha"),
        ("owner_ASC", "Alpha Éclair delta alpha bravo charlie"),
        ("owner_DESC", "alpha delta Éclair Alpha charlie bravo"),
        ("tier_ASC", "Éclair delta alpha Alpha bravo charlie"),
        ("tier_DESC", "Alpha alpha delta Éclair charlie bravo"),
        ("lifecycle_ASC", "bravo Alpha delta alpha Éclair charlie"),
        ("lifecycle_DESC", "Alpha bravo charlie Éclair alpha delta"),
        ("language_ASC", "alpha Éclair delta bravo Alpha charlie"),
        ("language_DESC", "bravo delta Éclair alpha charlie Alpha"),
        ("product_ASC", "Alpha alpha delta bravo Éclair charlie"),
        ("product_DESC", "alpha Alpha charlie Éclair bravo delta"),
    ] {
        for first in 1..=7 {
            assert_eq!(listed(&app, by, first, json!({})).await, expected, "{by}, {first} at a time");
        }
    }
    for first in 1..=3 {
        assert_eq!(listed(&app, "tier_DESC", first, json!({ "owner": "ant" })).await, "Alpha Éclair");
        assert_eq!(
            listed(&app, "language_ASC", first, json!({ "search": "A" })).await,
            "alpha Éclair delta bravo Alpha charlie"
                .split(' ')
                .filter(|name| name.to_lowercase().contains('a') || *name == "Éclair")
                .collect::<Vec<_>>()
                .join(" ")
        );
    }
}

#[tokio::test]
async fn a_cursor_is_valid_only_for_its_own_order() {
    let app = TestApp::start().await;
    services(&app).await;
    let cursor = async |by: Value| {
        let page = app.query(LIST, json!({ "by": by, "first": 1 })).await["data"]["account"]["services"].take();
        page["edges"][0]["cursor"].clone()
    };
    let of_name = cursor(json!("name_ASC")).await;
    let of_none = cursor(Value::Null).await;
    assert!(of_name.as_str().expect("a cursor").chars().all(|letter| letter.is_ascii_alphanumeric()), "{of_name}");
    for (by, after) in [
        (json!("name_DESC"), &of_name),
        (json!("owner_ASC"), &of_name),
        (Value::Null, &of_name),
        (json!("name_ASC"), &of_none),
    ] {
        let answer = app.query(LIST, json!({ "by": by, "first": 1, "after": after })).await;
        let foreign = "`after` is a cursor of another list or order. Use `pageInfo.endCursor` of the previous page.";
        assert_eq!(answer["errors"][0]["message"], foreign, "{by} {answer}");
    }
    for broken in ["x".repeat(5_000), of_name.as_str().expect("a cursor")[1..].to_owned()] {
        let answer = app.query(LIST, json!({ "by": "name_ASC", "after": broken })).await;
        let message = answer["errors"][0]["message"].as_str().unwrap_or_default();
        assert!(message.contains("is not a valid cursor"), "{answer}");
    }
}

#[tokio::test]
async fn a_page_continues_at_its_cursor_although_that_service_was_deleted_or_renamed() {
    let app = TestApp::start().await;
    services(&app).await;
    let page = |after: Value| json!({ "by": "name_ASC", "first": 3, "after": after });
    let first = app.query(LIST, page(Value::Null)).await["data"]["account"]["services"].take();
    assert_eq!(first["nodes"][2]["name"], "bravo");
    let after = first["pageInfo"]["endCursor"].clone();
    assert!(Cursor::parse(after.as_str().expect("a cursor")).is_some());
    let rename = r#"mutation { serviceUpdate(input: { alias: "bravo", name: "zulu" }) { errors { message } } }"#;
    data(&app, rename).await;
    let names = |page: &Value| page["data"]["account"]["services"]["nodes"].clone();
    let expected = json!([{ "name": "charlie" }, { "name": "delta" }, { "name": "zulu" }]);
    assert_eq!(names(&app.query(LIST, page(after.clone())).await), expected);
    data(&app, r#"mutation { serviceDelete(input: { alias: "zulu" }) { errors { message } } }"#).await;
    let expected = json!([{ "name": "charlie" }, { "name": "delta" }, { "name": "Éclair" }]);
    assert_eq!(names(&app.query(LIST, page(after)).await), expected);
}

#[tokio::test]
async fn teams_and_users_are_listed_in_each_order() {
    let app = TestApp::start().await;
    let made = data(
        &app,
        r#"mutation {
            zoe: userInvite(email: "b@example.com", input: { name: "zoe" }) { errors { message } }
            ada: userInvite(email: "C@example.com", input: { name: "Ada" }) { errors { message } }
            bob: userInvite(email: "a@example.com", input: { name: "bob" }) { errors { message } }
            x: teamCreate(input: { name: "x", managerEmail: "b@example.com" }) { errors { message } }
            y: teamCreate(input: { name: "Y" }) { errors { message } }
            w: teamCreate(input: { name: "W", managerEmail: "C@example.com" }) { errors { message } }
        }"#,
    )
    .await;
    for (name, payload) in made.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    for (list, by, expected) in [
        ("teams", "name_ASC", "W x Y"),
        ("teams", "name_DESC", "Y x W"),
        ("teams", "manager_ASC", "W x Y"),
        ("teams", "manager_DESC", "x W Y"),
        ("users", "name_ASC", "Ada bob zoe"),
        ("users", "name_DESC", "zoe bob Ada"),
        ("users", "email_ASC", "bob zoe Ada"),
        ("users", "email_DESC", "Ada zoe bob"),
    ] {
        let (mut names, mut after) = (Vec::new(), Value::Null);
        for _ in 0..3 {
            let query = format!(
                "query($after: String) {{ account {{ {list}(sortBy: {by}, first: 1, after: $after) {{ nodes {{ name }} pageInfo {{ endCursor }} }} }} }}"
            );
            let page = app.query(&query, json!({ "after": after })).await["data"]["account"][list].take();
            names.push(page["nodes"][0]["name"].as_str().expect("a name").to_owned());
            after = page["pageInfo"]["endCursor"].clone();
        }
        assert_eq!(names.join(" "), expected, "{list} {by}");
    }
}

/// Lists of a query in each order, read one at a time: the values of `field`.
async fn in_order(app: &TestApp, list: &str, by: &str, field: &str) -> String {
    let (mut values, mut after) = (Vec::new(), Value::Null);
    loop {
        let query = format!(
            "query($after: String) {{ account {{ {list}(sortBy: {by}, first: 1, after: $after) {{
                totalCount nodes {{ {field} }} pageInfo {{ endCursor hasNextPage }}
            }} }} }}"
        );
        let page = app.query(&query, json!({ "after": after })).await["data"]["account"][list].take();
        values.extend(
            page["nodes"]
                .as_array()
                .expect("nodes")
                .iter()
                .map(|node| node[field].as_str().expect("a text").to_owned()),
        );
        after = page["pageInfo"]["endCursor"].clone();
        if page["pageInfo"]["hasNextPage"] == false {
            assert_eq!(page["totalCount"], values.len(), "{list} {by}");
            return values.join(" ");
        }
    }
}

#[tokio::test]
async fn systems_domains_and_repositories_are_listed_in_each_order() {
    let app = TestApp::start().await;
    let made = data(
        &app,
        r#"mutation {
            a: teamCreate(input: { name: "zebra" }) { errors { message } }
            b: teamCreate(input: { name: "Ant" }) { errors { message } }
            c: domainCreate(input: { name: "trade" }) { errors { message } }
            d: domainCreate(input: { name: "Shop" }) { errors { message } }
            e: domainCreate(input: { name: "shop" }) { errors { message } }
            f: systemCreate(input: { name: "till", parent: { alias: "trade" } }) { errors { message } }
            g: systemCreate(input: { name: "Cart", parent: { alias: "shop" } }) { errors { message } }
            h: systemCreate(input: { name: "ledger" }) { errors { message } }
            i: repositoryCreate(input: { name: "b/Two", defaultAlias: "x:b" }) { errors { message } }
            j: repositoryCreate(input: { name: "B/one", defaultAlias: "X:c" }) { errors { message } }
            k: repositoryCreate(input: { name: "a", defaultAlias: "x:a" }) { errors { message } }
        }"#,
    );
    for (name, payload) in made.await.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    let teams =
        data(&app, r#"{ account { zebra: team(alias: "zebra") { id } ant: team(alias: "ant") { id } } }"#).await;
    let owned = r#"mutation($zebra: ID!, $ant: ID!) {
        a: domainUpdate(domain: { alias: "trade" }, input: { ownerId: $zebra }) { errors { message } }
        b: domainUpdate(domain: { alias: "shop" }, input: { ownerId: $ant }) { errors { message } }
        c: systemUpdate(system: { alias: "till" }, input: { ownerId: $ant }) { errors { message } }
        d: systemUpdate(system: { alias: "ledger" }, input: { ownerId: $zebra }) { errors { message } }
        e: repositoryUpdate(input: { alias: "x:b", ownerId: $zebra }) { errors { message } }
        f: repositoryUpdate(input: { alias: "x:a", ownerId: $ant }) { errors { message } }
    }"#;
    let owned = app
        .query(owned, json!({ "zebra": teams["account"]["zebra"]["id"], "ant": teams["account"]["ant"]["id"] }))
        .await;
    for (name, payload) in owned["data"].as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    for (list, by, expected) in [
        ("systems", "name_ASC", "Cart ledger till"),
        ("systems", "name_DESC", "till ledger Cart"),
        ("systems", "owner_ASC", "till ledger Cart"),
        ("systems", "owner_DESC", "ledger till Cart"),
        ("systems", "domain_ASC", "Cart till ledger"),
        ("systems", "domain_DESC", "till Cart ledger"),
        ("domains", "name_ASC", "Shop shop trade"),
        ("domains", "name_DESC", "trade shop Shop"),
        ("domains", "owner_ASC", "Shop trade shop"),
        ("domains", "owner_DESC", "trade Shop shop"),
        ("repositories", "name_ASC", "a B/one b/Two"),
        ("repositories", "name_DESC", "b/Two B/one a"),
        ("repositories", "alias_ASC", "a b/Two B/one"),
        ("repositories", "alias_DESC", "B/one b/Two a"),
        ("repositories", "owner_ASC", "a b/Two B/one"),
        ("repositories", "owner_DESC", "b/Two a B/one"),
    ] {
        assert_eq!(in_order(&app, list, by, "name").await, expected, "{list} {by}");
    }
    let browser = Browser::of(&app, Role::Viewer).await;
    let page = browser.page("/systems?sort=domain_DESC").await;
    assert!(
        page.find(">till</a>") < page.find(">Cart</a>") && page.contains("/systems?sort=domain_ASC\">Domain"),
        "{page}"
    );
    let page = browser.page("/domains?sort=name_DESC").await;
    assert!(
        page.find(">trade</a>") < page.find(">shop</a>") && page.contains("/domains?sort=owner_ASC\">Owner"),
        "{page}"
    );
    assert_eq!(browser.get("/systems?sort=size_ASC").await.status, 400);
}

#[tokio::test]
async fn services_are_listed_by_their_last_deploys() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let deployed = async |service: &str, moment: &str| {
        let posted = endpoint.post_with(json!({ "service": service, "deployed_at": moment })).await;
        assert_eq!(posted.status, 202);
    };
    // The endpoint comes with the service `shop`.
    for name in ["alpha", "bravo", "charlie", "delta"] {
        endpoint.create_service(name).await;
    }
    let orders = async |up: &str, down: &str| {
        for first in 1..=6 {
            assert_eq!(listed(app, "last_deploy_ASC", first, json!({})).await, up, "{first} at a time");
            assert_eq!(listed(app, "last_deploy_DESC", first, json!({})).await, down, "{first} at a time");
        }
    };
    orders("shop alpha bravo charlie delta", "delta charlie bravo alpha shop").await;
    deployed("charlie", "2026-11-03 12:00:00").await;
    deployed("alpha", "2026-11-03 12:00:00").await;
    deployed("bravo", "2026-11-05 12:00:00").await;
    // One that took place earlier is not the last.
    deployed("bravo", "2026-11-01 12:00:00").await;
    deployed("shop", "1965-11-01 12:00:00").await;
    orders("shop alpha charlie bravo delta", "bravo charlie alpha shop delta").await;
    let filter = json!({ "search": "ha" });
    assert_eq!(listed(app, "last_deploy_DESC", 1, filter).await, "charlie alpha");
    // Deploys that get a service later, or are deleted.
    deployed("echo", "2026-11-07 12:00:00").await;
    let query = r#"{ account { serviceSuggestions { nodes { id } } deploys(first: 2) { nodes { id } } } }"#;
    let found = data(app, query).await["account"].take();
    let accept = "mutation($id: ID!) { serviceSuggestionAccept(input: { id: $id }) { errors { message } } }";
    let accepted = app.query(accept, json!({ "id": found["serviceSuggestions"]["nodes"][0]["id"] })).await;
    assert_eq!(accepted["data"]["serviceSuggestionAccept"]["errors"], json!([]), "{accepted}");
    orders("shop alpha charlie bravo echo delta", "echo bravo charlie alpha shop delta").await;
    let delete = "mutation($id: ID!) { deployDelete(input: { id: $id }) { errors { message } } }";
    let deleted = app.query(delete, json!({ "id": found["deploys"]["nodes"][1]["id"] })).await;
    assert_eq!(deleted["data"]["deployDelete"]["errors"], json!([]), "{deleted}");
    orders("shop bravo alpha charlie echo delta", "echo charlie alpha bravo shop delta").await;
    data(app, r#"mutation { serviceDelete(input: { alias: "alpha" }) { errors { message } } }"#).await;
    orders("shop bravo charlie echo delta", "echo charlie bravo shop delta").await;
    let page = Browser::of(app, Role::Viewer).await.page("/services?sort=last_deploy_DESC").await;
    assert!(
        page.find(">echo</a>") < page.find(">charlie</a>") && page.contains("sort=last_deploy_ASC\">Last deploy"),
        "{page}"
    );
}

#[tokio::test]
async fn deploys_are_listed_in_both_directions() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    for (number, day, environment) in
        [("1", 3, "test"), ("2", 1, "production"), ("3", 3, "production"), ("4", 2, "test")]
    {
        let moment = format!("2026-11-{day:02} 12:00:00");
        let attributes = json!({ "deployed_at": moment, "deploy_number": number, "environment": environment });
        assert_eq!(endpoint.post_with(attributes).await.status, 202);
    }
    for (by, expected) in [("deployed_at_ASC", "2 4 1 3"), ("deployed_at_DESC", "3 1 4 2")] {
        assert_eq!(in_order(app, "deploys", by, "deployNumber").await, expected, "{by}");
    }
    let query = r#"query($by: DeploySortEnum) { account { service(alias: "shop") {
        all: deploys(sortBy: $by) { nodes { deployNumber } }
        some: deploys(sortBy: $by, environments: ["production", "test"], first: 3) { nodes { deployNumber } }
    } } }"#;
    let numbers = |numbers: &[&str]| json!({ "nodes": numbers.iter().map(|one| json!({ "deployNumber": one })).collect::<Vec<_>>() });
    for (by, all) in [
        (json!("deployed_at_ASC"), ["2", "4", "1", "3"]),
        (json!("deployed_at_DESC"), ["3", "1", "4", "2"]),
        (json!(null), ["3", "1", "4", "2"]),
    ] {
        let found = app.query(query, json!({ "by": by })).await["data"]["account"]["service"].take();
        assert_eq!(found, json!({ "all": numbers(&all), "some": numbers(&all[..3]) }), "{by}");
    }
    let browser = Browser::of(app, Role::Viewer).await;
    let page = browser.page("/services/shop/deploys?environment=test").await;
    assert!(page.find("#1") < page.find("#4"), "{page}");
}

#[tokio::test]
async fn the_lists_of_the_application_are_sorted_by_their_columns() {
    let app = TestApp::start().await;
    services(&app).await;
    let browser = Browser::of(&app, Role::Admin).await;
    let page = browser.page("/services?sort=name_DESC&tier=tier_2").await;
    let (first, second) = (page.find(">delta</a>"), page.find(">alpha</a>"));
    assert!(first.is_some() && first < second, "{page}");
    assert!(
        page.contains("aria-sort=\"descending\"><a href=\"/services?tier=tier_2&amp;sort=name_ASC\">Service"),
        "{page}"
    );
    assert!(page.contains("href=\"/services?tier=tier_2&amp;sort=owner_ASC\">Owner"), "{page}");
    assert_eq!(browser.get("/services?sort=size_ASC").await.status, 400);
    let page = browser.page("/teams?sort=name_ASC").await;
    assert!(page.find(">Ant</a>") < page.find(">bee</a>"), "{page}");
    assert!(browser.page("/users?sort=email_DESC").await.contains("aria-sort=\"descending\""));
}

#[tokio::test]
async fn services_are_listed_by_their_levels() {
    let endpoint = crate::harness::checks::services().await;
    let app = &endpoint.app;
    let orders = async |up: &str, down: &str| {
        for first in 1..=5 {
            assert_eq!(listed(app, "level_ASC", first, json!({})).await, up, "{first} at a time");
            assert_eq!(listed(app, "level_DESC", first, json!({})).await, down, "{first} at a time");
        }
    };
    let settled = async || history::settle(&app.db, &app.wanted).await.expect("settled");
    // Without checks, no service has a level.
    settled().await;
    let names = data(app, "{ account { services { nodes { name } } } }").await["account"]["services"]["nodes"].clone();
    let names: Vec<&str> = names.as_array().expect("nodes").iter().filter_map(|node| node["name"].as_str()).collect();
    let [first, second, bare] = names[..] else { panic!("{names:?}") };
    let reversed = |some: &[&str]| some.iter().rev().copied().collect::<Vec<_>>().join(" ");
    orders(&names.join(" "), &reversed(&names)).await;
    create(app, "TagDefined", json!({ "name": "Env", "tagKey": "env" })).await;
    settled().await;
    let ordered = [bare, first, second];
    orders(&ordered.join(" "), &reversed(&ordered)).await;
    // One that was not evaluated yet comes last.
    endpoint.create_service("late").await;
    orders(&format!("{} late", ordered.join(" ")), &format!("{} late", reversed(&ordered))).await;
    let filter = json!({ "search": bare });
    assert_eq!(listed(app, "level_DESC", 1, filter).await, bare);
    let page = Browser::of(app, Role::Viewer).await.page("/services?sort=level_DESC").await;
    assert!(page.find(">late</a>") > page.find(&format!(">{bare}</a>")), "{page}");
    assert!(page.contains("sort=level_ASC\">Level"), "{page}");
}
