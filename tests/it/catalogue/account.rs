//! The account: its fields, its filters and its pages.

use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::webhook::Endpoint;

/// Six services that differ in the filtered fields.
async fn catalogue(app: &TestApp) {
    let query = r#"mutation {
        teamCreate(input: { name: "Platform" }) { team { id } }
        a: serviceCreate(input: { name: "Cart", language: "Go", framework: "gin", product: "Shop", tierAlias: "tier_1", lifecycleAlias: "beta", ownerInput: { alias: "platform" } }) { errors { path } }
        b: serviceCreate(input: { name: "Checkout", language: "Go", product: "Shop", tierAlias: "tier_2" }) { errors { path } }
        c: serviceCreate(input: { name: "Mailer", language: "Ruby", framework: "rails", lifecycleAlias: "beta", ownerInput: { alias: "platform" } }) { errors { path } }
        d: serviceCreate(input: { name: "100% Pure_Fun" }) { errors { path } }
        ta: tagAssign(input: { alias: "cart", tags: [{ key: "env", value: "prod" }, { key: "zone", value: "eu" }] }) { errors { path } }
        tb: tagAssign(input: { alias: "checkout", tags: [{ key: "env", value: "eu" }] }) { errors { path } }
        tc: tagAssign(input: { alias: "mailer", tags: [{ key: "env", value: "prod" }, { key: "stage", value: "prod" }] }) { errors { path } }
    }"#;
    let made = data(app, query).await;
    let query = "mutation($id: ID!) { aliasCreate(input: { ownerId: $id, alias: \"infra\" }) { errors { path } } }";
    app.query(query, json!({ "id": made["teamCreate"]["team"]["id"] })).await;
}

/// The names of the matching services, and the reported count.
async fn names(app: &TestApp, filter: &str) -> (Vec<String>, Value) {
    let mut rows = data(app, &format!("{{ account {{ services({filter}) {{ nodes {{ name }} }} }} }}")).await;
    let count = data(app, &format!("{{ account {{ services({filter}) {{ totalCount nodes {{ name }} }} }} }}")).await;
    let nodes = rows["account"]["services"]["nodes"].take();
    assert_eq!(nodes, count["account"]["services"]["nodes"], "counting changes nothing");
    let names = nodes.as_array().expect("nodes").iter().map(|node| node["name"].as_str().expect("a name").to_owned());
    (names.collect(), count["account"]["services"]["totalCount"].clone())
}

#[tokio::test]
async fn each_filter_of_services_narrows_the_list_and_its_count() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let all = ["Cart", "Checkout", "Mailer", "100% Pure_Fun"];
    for (filter, expected) in [
        ("first: 100", &all[..]),
        (r#"language: "Go""#, &["Cart", "Checkout"]),
        (r#"language: "go""#, &[]),
        (r#"language: null, framework: null"#, &all),
        (r#"framework: "rails""#, &["Mailer"]),
        (r#"product: "Shop""#, &["Cart", "Checkout"]),
        (r#"tierAlias: "tier_1""#, &["Cart"]),
        (r#"tierAlias: "no such""#, &[]),
        (r#"lifecycleAlias: "beta""#, &["Cart", "Mailer"]),
        (r#"ownerAlias: "platform""#, &["Cart", "Mailer"]),
        (r#"ownerAlias: "infra""#, &["Cart", "Mailer"]),
        ("hasOwner: true", &["Cart", "Mailer"]),
        ("hasOwner: false", &["Checkout", "100% Pure_Fun"]),
        ("hasOwner: null, notDeployedSince: null", &all),
        (r#"hasOwner: false, language: "Go""#, &["Checkout"]),
        (r#"tag: { key: "env" }"#, &["Cart", "Checkout", "Mailer"]),
        (r#"tag: { value: "eu" }"#, &["Cart", "Checkout"]),
        (r#"tag: { value: "prod" }"#, &["Cart", "Mailer"]),
        (r#"tag: { key: "env", value: "prod" }"#, &["Cart", "Mailer"]),
        (r#"tag: { key: "env", value: null }"#, &["Cart", "Checkout", "Mailer"]),
        (r#"tag: { key: null }"#, &all),
        (r#"tag: {}"#, &all),
        (r#"search: "C""#, &["Cart", "Checkout"]),
        (r#"search: "MAIL""#, &["Mailer"]),
        (r#"search: "pure_fun""#, &["100% Pure_Fun"]),
        (r#"search: "%""#, &["100% Pure_Fun"]),
        (r#"search: "a_t""#, &[]),
        (r#"search: "\\""#, &[]),
        (r#"search: """#, &all),
    ] {
        let expected: Vec<String> = expected.iter().map(|name| (*name).to_owned()).collect();
        let count = json!(expected.len());
        assert_eq!(names(&app, filter).await, (expected, count), "{filter}");
    }
}

#[tokio::test]
async fn filters_of_services_combine() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let filter = r#"language: "Go", framework: "gin", product: "Shop", tierAlias: "tier_1", lifecycleAlias: "beta",
        ownerAlias: "platform", search: "car", tag: { key: "env", value: "prod" }"#;
    assert_eq!(names(&app, filter).await, (vec!["Cart".to_owned()], json!(1)));
    let filter = r#"language: "Go", tag: { key: "env", value: "eu" }, search: "cart""#;
    assert_eq!(names(&app, filter).await, (vec![], json!(0)));
}

#[tokio::test]
async fn search_ignores_letter_case_in_any_script() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        a: serviceCreate(input: { name: "Größe: ÄRGER" }) { errors { message } }
        b: serviceCreate(input: { name: "Шлюз ПЛАТЕЖЕЙ" }) { errors { message } }
        c: serviceCreate(input: { name: "İstanbul" }) { errors { message } }
        d: serviceCreate(input: { name: "Hauptstraße" }) { errors { message } }
        e: serviceCreate(input: { name: "Οδος 1" }) { errors { message } }
    }"#;
    data(&app, query).await;
    for (search, expected) in [
        ("größe: ärger", Some("Größe: ÄRGER")),
        ("GRÖßE: Är", Some("Größe: ÄRGER")),
        ("grosse", None),
        ("шлюз платежей", Some("Шлюз ПЛАТЕЖЕЙ")),
        ("З П", Some("Шлюз ПЛАТЕЖЕЙ")),
        ("İstan", Some("İstanbul")),
        ("STRASSE", Some("Hauptstraße")),
        ("ΟΔΟΣ ", Some("Οδος 1")),
        ("οδοσ", Some("Οδος 1")),
    ] {
        let expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
        let count = json!(expected.len());
        assert_eq!(names(&app, &format!("search: \"{search}\"")).await, (expected, count), "{search}");
    }
}

#[tokio::test]
async fn search_finds_a_service_by_any_of_its_aliases() {
    let app = TestApp::start().await;
    let query = r#"mutation { serviceCreate(input: { name: "Größe" }) { service { id } } }"#;
    let id = data(&app, query).await["serviceCreate"]["service"]["id"].clone();
    let query =
        "mutation($id: ID!) { aliasCreate(input: { ownerId: $id, alias: \"Org/Repo:1\" }) { errors { path } } }";
    app.query(query, json!({ "id": id })).await;
    for text in ["org/repo", "REPO:1", "größe", "GRÖ"] {
        let (found, _) = names(&app, &format!("search: \"{text}\"")).await;
        assert_eq!(found, ["Größe"], "{text}");
    }
}

#[tokio::test]
async fn a_filtered_list_is_paged_by_its_cursors() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    for filter in [r#"language: "Go""#, r#"tag: { value: "prod" }"#, r#"tag: { key: "env" }"#, r#"search: "c""#] {
        let (all, _) = names(&app, filter).await;
        let mut found = Vec::new();
        let mut after = String::new();
        loop {
            let query = format!(
                "{{ account {{ services({filter}, first: 1, after: \"{after}\") {{ edges {{ node {{ name }} cursor }} pageInfo {{ hasNextPage hasPreviousPage endCursor }} }} }} }}"
            );
            let page = data(&app, &query).await["account"]["services"].take();
            assert_eq!(page["pageInfo"]["hasPreviousPage"], json!(!after.is_empty()));
            assert_eq!(page["pageInfo"]["endCursor"], page["edges"][0]["cursor"]);
            found.push(page["edges"][0]["node"]["name"].as_str().expect("a name").to_owned());
            after = page["pageInfo"]["endCursor"].as_str().expect("a cursor").to_owned();
            assert!(after.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'), "{after}");
            if page["pageInfo"]["hasNextPage"] == json!(false) {
                break;
            }
        }
        assert_eq!(found, all, "{filter}");
    }
}

#[tokio::test]
async fn a_first_above_100_is_clamped_and_a_negative_one_refused() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let clamped = data(&app, "{ account { services(first: 500) { nodes { name } } } }").await;
    assert_eq!(clamped["account"]["services"]["nodes"].as_array().map(Vec::len), Some(4));
    let refused = app.query("{ account { services(first: -1) { totalCount } } }", json!({})).await;
    assert_eq!(refused["errors"][0]["message"], "first must not be negative");
    assert_eq!(refused["errors"][0]["extensions"]["code"], "BAD_USER_INPUT");
    let refused = app.query("{ account { services(after: \"!\") { totalCount } } }", json!({})).await;
    assert_eq!(refused["errors"][0]["path"], json!(["account", "services"]));
}

#[tokio::test]
async fn the_account_has_the_name_that_the_server_was_started_with() {
    let app = TestApp::with(&["--account-name", "Acme"]).await;
    let answer = data(&app, "{ account { id name } }").await;
    assert_eq!(answer, json!({ "account": { "id": "Z2lkOi8vcm9sbGNhbGwvQWNjb3VudC8x", "name": "Acme" } }));
}

#[tokio::test]
async fn an_unknown_service_is_null_without_an_error() {
    let app = TestApp::start().await;
    let query = r#"{ account {
        alias: service(alias: "no") { id }
        malformed: service(id: "no") { id }
        other: service(id: "Z2lkOi8vcm9sbGNhbGwvVGVhbS8x") { id }
        gone: service(id: "Z2lkOi8vcm9sbGNhbGwvU2VydmljZS8x") { id }
        user(id: "no") { id }
        by_email: user(input: { email: "no@example.com" }) { id }
    } }"#;
    let expected =
        json!({ "alias": null, "malformed": null, "other": null, "gone": null, "user": null, "by_email": null });
    assert_eq!(data(&app, query).await["account"], expected);
}

#[tokio::test]
async fn an_unknown_team_is_null_beside_an_error() {
    let app = TestApp::start().await;
    let answer = app.query(r#"{ account { team(alias: "no") { id } } }"#, json!({})).await;
    assert_eq!(answer["data"], json!({ "account": { "team": null } }));
    assert_eq!(answer["errors"][0]["path"], json!(["account", "team"]));
    assert_eq!(answer["errors"][0]["message"], "a team with the alias \"no\" does not exist on this account");
    assert_eq!(answer["errors"][0]["extensions"]["code"], "NOT_FOUND");
}

#[tokio::test]
async fn a_query_names_a_thing_in_exactly_one_way() {
    let app = TestApp::start().await;
    for query in [
        "{ account { service { id } } }",
        r#"{ account { service(id: "x", alias: "y") { id } } }"#,
        "{ account { team { id } } }",
        "{ account { user { id } } }",
        r#"{ account { user(id: "x", input: { email: "y" }) { id } } }"#,
        "{ account { user(input: {}) { id } } }",
    ] {
        let answer = app.query(query, json!({})).await;
        assert_eq!(answer["errors"][0]["extensions"]["code"], "BAD_USER_INPUT", "{query}");
    }
}

#[tokio::test]
async fn services_without_a_recent_deploy_are_listed_with_those_never_deployed() {
    let endpoint = Endpoint::start().await;
    for name in ["old", "fresh", "never", "both"] {
        endpoint.create_service(name).await;
    }
    for (service, day) in [("old", 1), ("both", 1), ("both", 9), ("fresh", 9), ("shop", 5), ("unknown", 9)] {
        let moment = format!("2026-11-{day:02} 12:00:00");
        endpoint.post_with(json!({ "service": service, "deployed_at": moment })).await;
    }
    let all = ["shop", "old", "fresh", "never", "both"];
    for (filter, expected) in [
        (r#"notDeployedSince: "2026-11-09T12:00:00Z""#, &["shop", "old", "never"][..]),
        (r#"notDeployedSince: "2026-11-05T12:00:00Z""#, &["old", "never"]),
        (r#"notDeployedSince: "2026-11-01T00:00:00Z""#, &["never"]),
        (r#"notDeployedSince: "2026-12-01T00:00:00Z""#, &all),
        (r#"notDeployedSince: "2026-12-01T00:00:00Z", hasOwner: true"#, &[]),
        (r#"notDeployedSince: "2026-11-09T12:00:00Z", search: "o""#, &["shop", "old"]),
    ] {
        let (found, count) = names(&endpoint.app, filter).await;
        assert_eq!(
            (found, count),
            (expected.iter().map(ToString::to_string).collect(), json!(expected.len())),
            "{filter}"
        );
    }
    let page = r#"query($after: String) { account {
        services(first: 1, after: $after, hasOwner: false, notDeployedSince: "2026-11-09T12:00:00Z") {
            nodes { name } pageInfo { endCursor hasNextPage }
        }
    } }"#;
    let (mut after, mut found) = (Value::Null, Vec::new());
    loop {
        let mut answer = endpoint.app.query(page, json!({ "after": after })).await;
        let services = answer["data"]["account"]["services"].take();
        found.push(services["nodes"][0]["name"].clone());
        after = services["pageInfo"]["endCursor"].clone();
        if services["pageInfo"]["hasNextPage"] == false {
            break;
        }
    }
    assert_eq!(json!(found), json!(["shop", "old", "never"]));
}
