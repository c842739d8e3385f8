//! The search over everything that has a name.

use rollcall::entity::user::Role;
use rollcall::transfer;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::database::{Database, texts};

const SEARCH: &str = "query($term: String!, $first: Int) { account { search(term: $term, first: $first) {
    type name alias match htmlUrl item { __typename ... on Service { id } }
} } }";

async fn results(app: &TestApp, term: &str) -> Vec<Value> {
    let answer = app.query(SEARCH, json!({ "term": term })).await;
    assert_eq!(answer.get("errors"), None, "{term}: {answer}");
    answer["data"]["account"]["search"].as_array().expect("results").clone()
}

/// What is found: `type name` or `type name (alias)`, with how it matched.
async fn found(app: &TestApp, term: &str) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = |one: &Value| {
        let alias = one["alias"].as_str().map_or(String::new(), |alias| format!(" ({alias})"));
        format!("{}: {} {}{alias}", text(&one["match"]), text(&one["type"]), text(&one["name"]))
    };
    results(app, term).await.iter().map(line).collect()
}

async fn catalogue(app: &TestApp) {
    let made = data(
        app,
        r#"mutation {
            cart: serviceCreate(input: { name: "Shopping Cart" }) { service { id } errors { message } }
            carts: serviceCreate(input: { name: "Carts" }) { service { id } errors { message } }
            payment: serviceCreate(input: { name: "Payment Gateway" }) { service { id } errors { message } }
            team: teamCreate(input: { name: "Cart Crew" }) { team { id } errors { message } }
            domain: domainCreate(input: { name: "Checkout" }) { domain { id } errors { message } }
            system: systemCreate(input: { name: "Checkout System" }) { system { id } errors { message } }
            user: userInvite(email: "grace@example.com", input: { name: "Grace Hopper" }) { user { id } errors { message } }
            repository: repositoryCreate(input: { name: "org/payment-cart" }) { repository { id } errors { message } }
        }"#,
    )
    .await;
    let alias = "mutation($id: ID!, $alias: String!) { aliasCreate(input: { ownerId: $id, alias: $alias }) { errors { message } } }";
    for (id, name) in [
        (&made["cart"]["service"]["id"], "basket"),
        (&made["domain"]["domain"]["id"], "till"),
        (&made["team"]["team"]["id"], "basket-case"),
    ] {
        let done = app.query(alias, json!({ "id": id, "alias": name })).await;
        assert_eq!(done["data"]["aliasCreate"]["errors"], json!([]), "{done}");
    }
}

#[tokio::test]
async fn a_search_finds_every_noun_by_name_and_alias_the_best_match_first() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    for (term, expected) in [
        ("shopping_CART", &["exact: service Shopping Cart"][..]),
        ("basket", &["exact: service Shopping Cart (basket)", "prefix: team Cart Crew (basket-case)"]),
        (
            "cart",
            &[
                "prefix: service Carts",
                "prefix: team Cart Crew",
                "word: service Shopping Cart",
                "word: repository org/payment-cart",
            ],
        ),
        ("checkout", &["exact: domain Checkout", "prefix: system Checkout System"]),
        ("gate pay", &["word: service Payment Gateway"]),
        ("paymnet", &["similar: service Payment Gateway", "similar: repository org/payment-cart"]),
        ("chekcout systm", &["similar: system Checkout System"]),
        ("atewa", &["similar: service Payment Gateway"]),
        ("till", &["exact: domain Checkout (till)"]),
        ("hopper", &["word: user Grace Hopper"]),
        ("grace@ex", &["prefix: user Grace Hopper (grace@example.com)"]),
        ("zzzz", &[]),
        ("cart zzzz", &[]),
        (" -/ ", &[]),
        ("", &[]),
    ] {
        assert_eq!(found(&app, term).await, expected, "{term:?}");
    }
    let carts = &results(&app, "carts").await[0];
    assert_eq!(carts["item"]["__typename"], "Service");
    assert_eq!(carts["htmlUrl"].as_str().map(|url| url.ends_with("/services/carts")), Some(true), "{carts}");
}

#[tokio::test]
async fn the_search_knows_current_names_after_renames_and_deletions() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    data(
        &app,
        r#"mutation {
            a: serviceUpdate(input: { alias: "carts", name: "Wagons" }) { errors { message } }
            b: teamDelete(input: { alias: "cart_crew" }) { errors { message } }
            c: aliasDelete(input: { alias: "basket", ownerType: service }) { errors { message } }
            d: userUpdate(user: { email: "grace@example.com" }, input: { name: "Ada" }) { errors { message } }
        }"#,
    )
    .await;
    assert_eq!(found(&app, "wagons").await, ["exact: service Wagons"]);
    // The slug of the former name stays an alias.
    assert_eq!(
        found(&app, "carts").await,
        ["exact: service Wagons (carts)", "similar: service Shopping Cart", "similar: repository org/payment-cart"]
    );
    assert_eq!(found(&app, "basket").await, [""; 0]);
    assert_eq!(found(&app, "crew").await, [""; 0]);
    assert_eq!(found(&app, "hopper").await, [""; 0]);
    assert_eq!(found(&app, "ada").await, ["exact: user Ada"]);
}

#[tokio::test]
async fn an_imported_catalogue_is_searched() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let mut lines = Vec::new();
    transfer::export(&app.db, &mut lines).await.expect("an export");
    let database = Database::new().await;
    let db = database.open().await;
    transfer::import(&db, "export", std::io::Cursor::new(lines), |_| ()).await.expect("an import");
    let found = rollcall::db::find::find(db.read(), "shoping carts", 20).await.expect("a search");
    assert_eq!(found.len(), 1, "{found:?}");
}

#[tokio::test]
async fn a_search_is_bounded() {
    let app = TestApp::start().await;
    let names: Vec<String> = (0..30)
        .map(|number| {
            format!("n{number}: serviceCreate(input: {{ name: \"cart {number}\" }}) {{ errors {{ message }} }}")
        })
        .collect();
    data(&app, &format!("mutation {{ {} }}", names.join(" "))).await;
    assert_eq!(results(&app, "cart").await.len(), 20);
    let count = async |first: i32| {
        let answer = app.query(SEARCH, json!({ "term": "cart", "first": first })).await;
        answer["data"]["account"]["search"].as_array().map(Vec::len).ok_or(answer["errors"][0]["message"].clone())
    };
    assert_eq!(count(3).await, Ok(3));
    assert_eq!(count(0).await, Ok(0));
    assert_eq!(count(1_000).await, Ok(20));
    assert_eq!(count(-1).await, Err(json!("first must not be negative")));
    let long = app.query(SEARCH, json!({ "term": "x".repeat(256) })).await;
    assert_eq!(long["errors"][0]["message"], "term has 256 characters; at most 255 are allowed");
}

#[tokio::test]
async fn a_word_leaves_the_index_with_the_last_text_that_has_it() {
    let app = TestApp::start().await;
    for name in ["Checkout", "Payments Checkout", "Ledger"] {
        let query = "mutation($name: String!) { teamCreate(input: { name: $name }) { errors { message } } }";
        assert_eq!(app.query(query, json!({ "name": name })).await["data"]["teamCreate"]["errors"], json!([]));
    }
    let words = async |table: &str| texts(&app.db, &format!("SELECT DISTINCT word FROM {table} ORDER BY word")).await;
    assert_eq!(words("find_word").await, ["checkout", "ledger", "payments"]);
    let gone = r#"mutation { teamDelete(input: { alias: "payments_checkout" }) { errors { message } } }"#;
    assert_eq!(data(&app, gone).await["teamDelete"]["errors"], json!([]));
    for table in ["find_word", "find_gram", "find_posting"] {
        assert_eq!(words(table).await, ["checkout", "ledger"], "{table}");
    }
    assert_eq!(results(&app, "chekcout").await.len(), 1);
    assert!(results(&app, "paymnets").await.is_empty());
}

#[tokio::test]
async fn the_search_page_links_to_its_results() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let viewer = Browser::of(&app, Role::Viewer).await;
    let page = viewer.page("/search?q=basket").await;
    assert!(
        page.contains("2 results") && page.contains("href=\"/services/shopping_cart\">Shopping Cart</a>"),
        "{page}"
    );
    assert!(page.contains("<code>basket</code>") && page.contains("href=\"/teams/cart_crew\""), "{page}");
    assert!(viewer.page("/search?q=zzzz").await.contains("Nothing matches."));
    assert!(viewer.page("/search").await.contains("Ctrl+K"));
    // A user has a page that everybody may see.
    let page = viewer.page("/search?q=hopper").await;
    let link = page.split('"').find(|text| text.starts_with("/users/")).expect("a link");
    let page = viewer.page(link).await;
    assert!(page.contains("<h1>Grace Hopper</h1>") && page.contains("href=\"mailto:"), "{page}");
    assert_eq!(viewer.get(&format!("/search?q={}", "x".repeat(256))).await.status, 400);
}

#[tokio::test]
async fn a_search_of_one_type_finds_nothing_else() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let search =
        "query($term: String!, $type: SearchTypeEnum) { account { search(term: $term, type: $type) { name } } }";
    for (kind, term, expected) in [
        (json!("service"), "cart", json!(["Carts", "Shopping Cart"])),
        (json!("team"), "cart", json!(["Cart Crew"])),
        (json!("repository"), "cart", json!(["org/payment-cart"])),
        (json!("system"), "checkout", json!(["Checkout System"])),
        (json!("domain"), "chekcout", json!(["Checkout"])),
        (json!("user"), "hopper", json!(["Grace Hopper"])),
        (json!("infrastructure_resource"), "cart", json!([])),
        (Value::Null, "checkout", json!(["Checkout", "Checkout System"])),
    ] {
        let answer = app.query(search, json!({ "term": term, "type": kind })).await;
        let results = answer["data"]["account"]["search"].as_array().unwrap_or_else(|| panic!("{kind}: {answer}"));
        let names: Vec<Value> = results.iter().map(|one| one["name"].clone()).collect();
        assert_eq!(json!(names), expected, "{kind}");
    }
}

#[tokio::test]
async fn lists_lead_to_a_search_for_what_they_list() {
    let app = TestApp::start().await;
    catalogue(&app).await;
    let viewer = Browser::of(&app, Role::Viewer).await;
    for (part, term, found) in [
        ("systems", "checkout", "/systems/checkout_system"),
        ("domains", "checkout", "/domains/checkout"),
        ("teams", "cart", "/teams/cart_crew"),
        ("repositories", "cart", "/repositories/1"),
    ] {
        let list = viewer.page(&format!("/{part}")).await;
        let field = list.split_once("action=\"/search\"").unwrap_or_else(|| panic!("{part}: {list}")).1;
        assert!(field.contains(&format!("name=\"of\" value=\"{part}\"")), "{part}: {field}");
        let page = viewer.page(&format!("/search?of={part}&q={term}")).await;
        let results =
            page.split_once("<ul class=\"results\">").expect("results").1.split_once("</ul>").expect("an end").0;
        assert!(results.matches("<li>").count() == 1 && results.contains(&format!("href=\"{found}\"")), "{results}");
        // It stays a search for that, and leads back to the whole list.
        assert!(page.contains(&format!("name=\"of\" value=\"{part}\"")), "{page}");
        assert!(page.contains(&format!("<a href=\"/{part}\">All {part}</a>")), "{page}");
        assert!(viewer.page(&format!("/search?of={part}")).await.contains(&format!("Finds {part} by name or alias.")));
    }
    // Of a kind that is none, it is a search of everything.
    assert!(viewer.page("/search?of=odd&q=checkout").await.contains("2 results"));
}

#[tokio::test]
async fn the_search_page_says_that_it_shows_the_first_results_alone() {
    let app = TestApp::start().await;
    let create = async |number: usize| {
        let name = format!("Cart {number}");
        let query = "mutation($name: String!) { serviceCreate(input: { name: $name }) { errors { message } } }";
        assert_eq!(app.query(query, json!({ "name": name })).await["data"]["serviceCreate"]["errors"], json!([]));
    };
    for number in 0..19 {
        create(number).await;
    }
    let viewer = Browser::of(&app, Role::Viewer).await;
    let page = viewer.page("/search?q=cart").await;
    assert!(page.contains("19 results") && !page.contains("All services that match"), "{page}");
    create(19).await;
    create(20).await;
    let page = viewer.page("/search?q=cart").await;
    assert!(page.contains("The first 20 results. There may be more") && !page.contains("20 results<"), "{page}");
    assert!(page.contains("href=\"/services?search=cart\">All services that match</a>"), "{page}");
    assert!(viewer.page("/services?search=cart").await.contains("21 services"));
}

#[tokio::test]
async fn the_search_page_says_what_tells_results_of_one_name_apart() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        a: teamCreate(input: { name: "Core" }) { errors { message } }
        b: teamCreate(input: { name: "Ledger", parentTeam: { alias: "core" } }) { errors { message } }
        c: systemCreate(input: { name: "Ledger" }) { errors { message } }
        d: serviceCreate(input: { name: "Ledger", tierAlias: "tier_1", ownerInput: { alias: "core" }, parent: { alias: "ledger" } }) {
            errors { message }
        }
        e: serviceCreate(input: { name: "Ledger Two" }) { errors { message } }
    }"#;
    for (name, payload) in data(&app, query).await.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    let viewer = Browser::of(&app, Role::Viewer).await;
    let page = viewer.page("/search?q=ledger").await;
    for shown in [
        "<span class=\"hidden\"> Mission Critical</span>",
        "<small><bdi>owner Core</bdi> · <bdi>system Ledger</bdi></small>",
        "<small><bdi>part of Core</bdi></small>",
        "<code>ledger_two</code>",
        "<small><bdi>no owner</bdi></small>",
    ] {
        assert!(page.contains(shown), "{shown} is missing: {page}");
    }
    // The script takes each link for a result.
    let results = page.split_once("class=\"results\"").expect("results").1.split("</ul>").next().expect("their end");
    for one in results.split("<li>").skip(1) {
        let end = one.split("</li>").next().expect("its end");
        assert_eq!(end.matches("<a ").count(), 1, "{end}");
    }
}
