//! Lists in an order that the client chooses.

use rollcall::engine::page::Cursor;
use rollcall::entity::user::Role;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::app_browser::Browser;
use crate::service::data;

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
        after = page["pageInfo"]["endCursor"].clone();
        if page["pageInfo"]["hasNextPage"] == false {
            assert_eq!(page["totalCount"], names.len(), "{by}");
            return names.join(" ");
        }
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
        assert_eq!(answer["errors"][0]["message"], "after is a cursor of another list", "{by} {answer}");
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
