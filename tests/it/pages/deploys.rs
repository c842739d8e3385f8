//! The list of deploys: of all services and of one, what its address may say, and the last deploys of a person.

use rollcall::entity::user::Role;
use serde_json::json;

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::webhook::Endpoint;

/// The number of rows that a page has.
fn rows(page: &str) -> usize {
    page.matches("<th scope=\"row\">").count()
}

/// An endpoint with deploys of two services in a domain, on two days.
async fn deployed() -> Endpoint {
    let endpoint = Endpoint::start().await;
    let query = r#"mutation {
        domain: domainCreate(input: { name: "Web Shop" }) { errors { message } }
        system: systemCreate(input: { name: "Checkout", parent: { alias: "web_shop" } }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart <b>", parent: { alias: "checkout" } }) { errors { message } }
        other: serviceCreate(input: { name: "Other" }) { errors { message } }
    }"#;
    data(&endpoint.app, query).await;
    let deploys = [
        ("cart_b", "success", "al@example.com", "staging", "1", "c1"),
        ("cart_b", "success", "al@example.com", "Production", "1", "c1"),
        ("cart_b", "failure", "cal@example.com", "production", "2", "c2"),
        ("cart_b", "running", "cal@example.com", "staging", "2", "c3"),
        ("other", "failure", "al@example.com", "prod", "2", "c4"),
    ];
    for (number, (service, status, who, environment, day, commit)) in deploys.into_iter().enumerate() {
        let deploy = json!({
            "service": service, "status": status, "environment": environment, "dedup_id": number.to_string(),
            "deployed_at": format!("2026-11-0{day}T10:0{number}:00Z"), "deployer": { "email": who },
            "commit": { "sha": commit, "message": format!("change {commit}.") },
        });
        assert_eq!(endpoint.post_with(deploy).await.status, 202);
    }
    endpoint
}

#[tokio::test]
async fn the_deploys_of_a_service_are_the_same_list_by_day_with_its_filters_and_its_file() {
    let endpoint = deployed().await;
    let browser = Browser::of(&endpoint.app, Role::Viewer).await;
    let page = browser.page("/services/cart_b/deploys").await;
    assert!(
        page.contains("<h1>Deploys of Cart &lt;b&gt;</h1>") && page.contains("href=\"/services/cart_b\""),
        "{page}"
    );
    // One table, with a row for each day and the times of that day.
    let day = |day: &str| page.find(&format!("<tr class=\"day\"><th scope=\"rowgroup\" colspan=\"4\">{day}</th></tr>"));
    let days = (day("2 Nov 2026"), day("1 Nov 2026"));
    assert!(days.0.is_some() && days.0 < days.1 && page.matches("<table").count() == 1, "{page}");
    assert!(page.contains("title=\"1 Nov 2026 10:01 UTC\">10:01</time>"), "{page}");
    // One commit, to staging and then to production.
    assert_eq!((rows(&page), page.matches("change c1.").count()), (3, 1), "{page}");
    assert!(page.contains("Production, staging") && !page.contains("change c4."), "{page}");
    assert!(!page.contains("name=\"service\"") && !page.contains("name=\"team\""), "{page}");
    for (query, shown, in_file) in [
        ("status=failed", 1, 1),
        ("environment=STAGING", 2, 2),
        ("person=cal", 2, 2),
        ("production=1", 2, 2),
        ("from=2026-11-02&until=2026-11-02", 2, 2),
        ("until=2026-11-01", 1, 2),
        // Another service cannot be named, and an order that the list does not have changes nothing.
        ("service=other&sort=deployed_at_ASC", 3, 4),
    ] {
        let page = browser.page(&format!("/services/cart_b/deploys?{query}")).await;
        assert_eq!(rows(&page), shown, "{query}: {page}");
        let link = format!("href=\"/services/cart_b/deploys.csv?{}\"", query.replace('&', "&amp;"));
        assert!(page.contains(&link), "{link}: {page}");
        let file = browser.page(&format!("/services/cart_b/deploys.csv?{query}")).await;
        assert_eq!(file.lines().count(), in_file + 1, "{query}: {file}");
        assert!(!file.contains("other,"), "{query}: {file}");
    }
    let page = browser.page("/services/cart_b/deploys?status=failed&person=cal").await;
    assert!(
        page.contains("<a href=\"/services/cart_b/deploys?person=cal\">Status is <strong>failed</strong>"),
        "{page}"
    );
    assert!(browser.page("/services/other/deploys?status=queued").await.contains("No deploys match."));
    for path in ["/services/none/deploys", "/services/none/deploys.csv"] {
        assert_eq!(browser.get(path).await.status, 404, "{path}");
    }
    assert_eq!(browser.get("/services/cart_b/deploys.csv?status=odd").await.status, 400);
    assert_eq!(Browser::new(&endpoint.app).get("/services/cart_b/deploys.csv").await.place(), "/sign-in");
}

#[tokio::test]
async fn deploys_are_filtered_by_domain_by_production_and_by_a_whole_address() {
    let endpoint = deployed().await;
    let browser = Browser::of(&endpoint.app, Role::Viewer).await;
    for (query, shown) in [
        ("", 4),
        ("domain=web_shop", 3),
        ("domain=Web+Shop", 3),
        ("domain=web_shop&service=other", 0),
        ("production=1", 3),
        ("production=1&status=failed", 2),
        ("production=1&environment=prod", 1),
        ("person=al%40", 4),
        ("person=al%40example.com", 2),
        ("person=AL%40Example.com", 2),
    ] {
        let page = browser.page(&format!("/deploys?{query}")).await;
        assert_eq!(rows(&page), shown, "{query}: {page}");
    }
    let page = browser.page("/deploys?production=1&domain=web_shop").await;
    let panel = page.split_once("Add a filter").and_then(|(_, rest)| rest.split_once("</details>")).expect("a panel").0;
    assert!(panel.contains("<button>Apply</button></div>"), "{panel}");
    assert!(page.contains("<a href=\"/deploys?domain=web_shop\">Only <strong>production</strong>"), "{page}");
    assert!(page.contains("<a href=\"/deploys?production=1\">Domain is <strong>web_shop</strong>"), "{page}");
}

#[tokio::test]
async fn a_bad_condition_marks_its_field_and_keeps_the_others() {
    let endpoint = deployed().await;
    let browser = Browser::of(&endpoint.app, Role::Viewer).await;
    for (path, field, message, shown) in [
        ("/deploys?status=odd&person=cal", "status", "Choose one of the listed statuses.", 2),
        ("/deploys?from=soon&person=cal", "from", "Write a day like 2026-11-21.", 2),
        ("/deploys?until=2026-02-30&person=cal", "until", "Write a day like 2026-11-21.", 2),
        ("/deploys?from=2026-11-02&until=2026-11-01&person=cal", "until", "The last day is before the first one.", 2),
        ("/deploys?service=nope%26&person=cal", "service", "No service is called “nope&amp;”, or several are.", 0),
        ("/deploys?team=nope&person=cal", "team", "No team is called “nope”, or several are.", 0),
        ("/deploys?system=nope&person=cal", "system", "No system is called “nope”, or several are.", 0),
        ("/deploys?domain=nope&person=cal", "domain", "No domain is called “nope”, or several are.", 0),
        ("/services/cart_b/deploys?status=odd&person=cal", "status", "Choose one of the listed statuses.", 2),
    ] {
        let answer = browser.get(path).await;
        let page = answer.text();
        // A name that nothing has selects nothing, and the script shows that while it is typed.
        let status = if shown == 0 { 200 } else { 400 };
        assert_eq!((answer.status, rows(page)), (status, shown), "{path}: {page}");
        let list = page.split_once("<div id=\"deploys\"").expect("the list").1;
        assert_eq!(list.contains(message), shown == 0, "{path}: {list}");
        let wrong = page.split_once(&format!("id=\"wrong-{field}\">")).expect("a mark").1;
        assert!(wrong.starts_with(message), "{path}: {wrong}");
        assert!(page.contains("name=\"person\" type=\"text\" value=\"cal\""), "{path}: {page}");
        assert!(
            page.contains("<details class=\"more\" open>") && !page.contains("No deploys match."),
            "{path}: {page}"
        );
        let file = path.replacen("deploys?", "deploys.csv?", 1);
        assert_eq!(browser.get(&file).await.status, 400, "{file}");
    }
    let answer = browser.get("/deploys?after=x&person=cal").await;
    assert!(answer.status == 400 && answer.text().contains("this is the first one") && rows(answer.text()) == 2);
    // A person is no one of a list: whoever has deployed nothing may only be spelt otherwise.
    let page = browser.page("/deploys?person=nobody&status=failed").await;
    let wrong = page.split_once("id=\"wrong-person\">").expect("a mark").1;
    assert!(wrong.starts_with("Nobody whose name or email address has this text has deployed."), "{wrong}");
    let page = browser.page("/deploys?person=cal&status=queued").await;
    assert!(!page.contains("wrong-person") && page.contains("No deploys match."), "{page}");
}

#[tokio::test]
async fn only_the_newest_deploys_are_read_again_by_the_script() {
    let endpoint = deployed().await;
    let browser = Browser::of(&endpoint.app, Role::Viewer).await;
    for (path, is_live) in [
        ("/deploys", true),
        ("/deploys?status=failed&from=2026-11-01", true),
        ("/services/cart_b/deploys", true),
        ("/deploys?until=2026-11-02", false),
        ("/deploys?after=1_1", false),
    ] {
        let page = browser.page(path).await;
        assert_eq!(page.contains("<div id=\"deploys\" data-refresh=\"30\">"), is_live, "{path}: {page}");
    }
    assert!(!browser.get("/deploys?from=soon").await.text().contains("data-refresh"));
}

#[tokio::test]
async fn the_page_of_a_person_has_their_last_deploys() {
    let endpoint = deployed().await;
    let browser = Browser::of(&endpoint.app, Role::Viewer).await;
    for number in 0..6 {
        let deploy = json!({
            "service": "other", "dedup_id": format!("late {number}"), "description": format!("late {number}."),
            "deployed_at": format!("2026-11-03T10:0{number}:00Z"), "deployer": { "email": "Cal@example.com" },
        });
        assert_eq!(endpoint.post_with(deploy).await.status, 202);
    }
    let invite = r#"mutation {
        al: userInvite(email: "al@example.com", input: { name: "Al" }) { errors { message } }
        cal: userInvite(email: "cal@example.com", input: { name: "Cal" }) { errors { message } }
        eve: userInvite(email: "eve@example.com", input: { name: "Eve" }) { errors { message } }
    }"#;
    data(&endpoint.app, invite).await;
    let page = browser.page("/users/2").await;
    assert!(page.contains("change c1.") && page.contains("change c4.") && !page.contains("change c2."), "{page}");
    assert!(page.contains("href=\"/deploys?person=al%40example.com\""), "{page}");
    let page = browser.page("/users/3").await;
    assert_eq!((0..6).filter(|number| page.contains(&format!("late {number}."))).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert!(browser.page("/users/4").await.contains("No deploy names their email address."));
}

#[tokio::test]
async fn lists_keep_their_page_if_the_address_is_not_understood() {
    let app = TestApp::start().await;
    let create = r#"mutation {
        serviceCreate(input: { name: "Cart" }) { errors { message } }
        teamCreate(input: { name: "Core" }) { errors { message } }
    }"#;
    data(&app, create).await;
    let ada = Browser::of(&app, Role::Admin).await;
    let no_order = "The list has no such order as the address says.";
    for (path, kept, message) in [
        ("/services?sort=size_ASC&language=Go", "name=\"language\" type=\"text\" value=\"Go\"", no_order),
        ("/teams?sort=size_ASC", "href=\"/teams/core\"", no_order),
        ("/systems?sort=size_ASC", "<h1>Systems</h1>", no_order),
        ("/domains?sort=size_ASC", "<h1>Domains</h1>", no_order),
        ("/repositories?sort=size_ASC", "<h1>Repositories</h1>", no_order),
        ("/users?sort=size_ASC", "admin@example.com", no_order),
        ("/services/cart/graph?steps=x", "<h1>Dependencies of Cart</h1>", "Choose 1 to 5 steps."),
        ("/services/cart/graph?steps=6", "id=\"wrong-steps\"", "Choose 1 to 5 steps."),
        ("/services/cart/history?kind=odd", "<h1>History of Cart</h1>", "Choose one of the listed kinds."),
        ("/services/cart/history?after=x", "<h1>History of Cart</h1>", "this is the first one"),
        ("/audit?from=soon&action=serviceCreate", "<code>serviceCreate</code>", "Write a day like 2026-11-21."),
        ("/audit?actor=nobody&action=serviceCreate", "<code>serviceCreate</code>", "Choose one of the listed actors."),
        ("/audit?after=7&action=serviceCreate", "<code>serviceCreate</code>", "this is the first one"),
        ("/audit?subject=Service&action=serviceCreate", "<code>serviceCreate</code>", "The object in the address"),
    ] {
        let answer = ada.get(path).await;
        let page = answer.text();
        assert_eq!(answer.status, 400, "{path}: {page}");
        assert!(page.contains(kept) && page.contains(message), "{path}: {page}");
    }
    for path in ["/services.csv?sort=size_ASC", "/services.csv?quiet=abc", "/services/cart/history.csv?kind=odd"] {
        assert_eq!(ada.get(path).await.status, 400, "{path}");
    }
}

#[tokio::test]
async fn the_strip_of_a_service_says_once_that_its_last_deploy_failed() {
    let endpoint = deployed().await;
    let browser = Browser::of(&endpoint.app, Role::Viewer).await;
    let strip = async |alias: &str| {
        let page = browser.page(&format!("/services/{alias}")).await;
        let rest = page.split_once("<dl class=\"now\">").expect("the strip").1;
        rest.split_once("</dl>").expect("its end").0.to_owned()
    };
    let other = strip("other").await;
    assert!(other.contains("the last deploy failed") && other.matches("failed").count() == 1, "{other}");
    // Another deploy came after the one that failed.
    let cart = strip("cart_b").await;
    assert!(cart.contains("failed in production, ") && cart.contains(">running<"), "{cart}");
}
