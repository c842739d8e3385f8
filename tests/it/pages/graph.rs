//! Pictures of dependencies, and what a service's failure can reach.

use rollcall::entity::user::Role;
use serde_json::json;

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::services::{depend, many};
use crate::harness::webhook::Endpoint;

/// The number of links in the picture.
fn boxes(page: &str) -> usize {
    let picture = page.split_once("<svg class=\"layers-").expect("a picture").1;
    picture.split("</div>").next().expect("its end").matches("<a href").count()
}

#[tokio::test]
async fn the_graph_of_a_service_with_200_dependents_is_folded_and_lists_them_all() {
    let app = TestApp::start().await;
    let ids = many(&app, 201).await;
    let edges: Vec<(i64, i64)> = ids[1..].iter().map(|id| (*id, ids[0])).collect();
    depend(&app, &edges).await;
    let browser = Browser::of(&app, Role::Viewer).await;
    let page = browser.page("/services/s0/graph").await;
    assert_eq!(boxes(&page), 25, "23, those that are counted, and the service: {page}");
    for shown in [
        "<a href=\"/services/s1/graph\"><title>S1, no tier</title>",
        "<a href=\"#rest-0\"><title>177 more</title>",
        "<details><summary>Column 1: 177 more</summary><ul class=\"near\" id=\"rest-0\">",
        "These are the first 100 of 177. <a href=\"#impact\">",
        "200 services within 2 steps",
        "177 more depends on <bdi>S0</bdi>",
        "<a href=\"/services/s50\">S50</a>",
    ] {
        assert!(page.contains(shown), "{shown} is missing: {page}");
    }
    assert!(page.len() < 100_000, "{}", page.len());
    let next = page.split_once("rel=\"next\" href=\"").expect("a next page").1.split_once('"').expect("its end").0;
    assert!(browser.page(&next.replace("&amp;", "&")).await.contains("<a href=\"/services/s100\">S100</a>"));
    let small = browser.page("/services/s0").await;
    assert_eq!(boxes(&small), 9, "a small picture: {small}");
    assert!(small.contains("200 services depend on it") && small.contains("180 more"), "{small}");
    assert_eq!(browser.get("/services/s0/graph?steps=0").await.status, 400);
    assert_eq!(browser.get("/services/s0/graph?steps=6").await.status, 400);
    assert_eq!(browser.get("/services/s0/graph?steps=x").await.status, 400);
    assert_eq!(browser.get("/services/none/graph").await.status, 404);
}

#[tokio::test]
async fn a_hundred_services_that_all_depend_on_each_other_are_drawn_within_bounds() {
    let app = TestApp::start().await;
    let ids = many(&app, 100).await;
    let edges = ids.iter().flat_map(|from| ids.iter().filter(move |to| *to != from).map(move |to| (*from, *to)));
    depend(&app, &edges.collect::<Vec<_>>()).await;
    let create = "mutation { systemCreate(input: { name: \"All\" }) { errors { message } } }";
    data(&app, create).await;
    let assign = "mutation($all: [IdentifierInput!]!) { systemChildAssign(system: { alias: \"all\" }, childServices: $all) { errors { message } } }";
    let all: Vec<_> = (0..100).map(|number| json!({ "alias": format!("s{number}") })).collect();
    let answer = app.query(assign, json!({ "all": all })).await;
    assert_eq!(answer["data"]["systemChildAssign"]["errors"], json!([]));
    let browser = Browser::of(&app, Role::Viewer).await;
    for path in ["/services/s0/graph", "/systems/all"] {
        let page = browser.page(path).await;
        assert!(page.len() < 200_000 && boxes(&page) <= 60, "{path}: {}", page.len());
        assert!(page.contains("The picture shows 300 of "), "{path}: {page}");
        assert_eq!(page.matches("<path class=\"edge").count(), 300, "{path}");
        let (_, rest) = page.split_once("id=\"rest-").expect("those without a box");
        let (rest, _) = rest.split_once("</ul>").expect("their end");
        assert!(rest.matches("<li>").count() > 70 && !page.contains("These are the first"), "{path}: {rest}");
    }
}

#[tokio::test]
async fn the_most_critical_and_most_needed_services_have_boxes_and_the_others_are_named_below() {
    let app = TestApp::start().await;
    let ids = many(&app, 41).await;
    let mut edges: Vec<(i64, i64)> = ids[1..].iter().map(|id| (*id, ids[0])).collect();
    edges.extend([(ids[1], ids[38]), (ids[2], ids[38]), (ids[1], ids[37])]);
    depend(&app, &edges).await;
    let query = r#"mutation {
        serviceUpdate(input: { alias: "s39", tierAlias: "tier_1" }) { errors { message } }
        low: serviceUpdate(input: { alias: "s40", tierAlias: "tier_4" }) { errors { message } }
        Team: teamCreate(input: { name: "Core" }) { errors { message } }
        owned: serviceUpdate(input: { alias: "s0", ownerInput: { alias: "core" } }) { errors { message } }
        own: serviceUpdate(input: { alias: "s36", ownerInput: { alias: "core" } }) { errors { message } }
    }"#;
    for (name, payload) in data(&app, query).await.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    let browser = Browser::of(&app, Role::Viewer).await;
    let named = |page: &str| {
        let (_, rest) = page.split_once("id=\"rest-0\">").expect("those without a box");
        let (rest, _) = rest.split_once("</ul>").expect("their end");
        let links = rest.split("<a href=\"/services/").skip(1);
        links.filter_map(|link| Some(link.split_once('"')?.0.to_owned())).collect::<Vec<_>>()
    };
    // 23 have boxes: the tiers 1 and 4, those that others need, and then the oldest.
    let rest: Vec<String> = (20..37).map(|number| format!("s{number}")).collect();
    let page = browser.page("/services/s0/graph").await;
    assert_eq!(named(&page), rest, "{page}");
    for shown in ["S39, tier 1", "S40, tier 4", "S38, no tier", "S37, no tier", "S19, no tier", "17 more"] {
        assert!(page.contains(&format!("<title>{shown}</title>")), "{shown} is missing: {page}");
    }
    assert!(!page.contains("These are the first"), "all are named: {page}");
    // A service of the team comes before those of others.
    let page = browser.page("/teams/core").await;
    let rest: Vec<String> = (19..36).map(|number| format!("s{number}")).collect();
    assert!(page.contains("<title>S36, no tier</title>"), "{page}");
    assert_eq!(named(&page), rest, "{page}");
}

#[tokio::test]
async fn cycles_and_less_critical_services_are_shown() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        Cart: serviceCreate(input: { name: "Cart", tierAlias: "tier_1" }) { errors { message } }
        Mail: serviceCreate(input: { name: "<Mail>", tierAlias: "tier_3" }) { errors { message } }
        Pay: serviceCreate(input: { name: "Pay", tierAlias: "tier_1" }) { errors { message } }
        a: serviceDependencyCreate(inputV2: { dependencyKey: {
            sourceIdentifier: { alias: "cart" }, destinationIdentifier: { alias: "mail" } } }) { errors { message } }
        b: serviceDependencyCreate(inputV2: { dependencyKey: {
            sourceIdentifier: { alias: "mail" }, destinationIdentifier: { alias: "pay" } } }) { errors { message } }
        c: serviceDependencyCreate(inputV2: { dependencyKey: {
            sourceIdentifier: { alias: "pay" }, destinationIdentifier: { alias: "cart" } } }) { errors { message } }
        Team: teamCreate(input: { name: "Core" }) { errors { message } }
        owned: serviceUpdate(input: { alias: "cart", ownerInput: { alias: "core" } }) { errors { message } }
        systemCreate(input: { name: "Shop" }) { errors { message } }
        systemChildAssign(system: { alias: "shop" }, childServices: [{ alias: "cart" }]) { errors { message } }
        empty: systemCreate(input: { name: "Empty" }) { errors { message } }
    }"#;
    for (name, payload) in data(&app, query).await.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    let browser = Browser::of(&app, Role::Viewer).await;
    for path in ["/services/cart/graph", "/services/mail/graph", "/systems/shop", "/teams/core"] {
        let page = browser.page(path).await;
        let edges = if path.contains("graph") { 3 } else { 2 };
        assert_eq!((boxes(&page), page.matches("<path class=\"edge").count()), (3, edges), "{path}: {page}");
        assert!(page.contains("<title>&lt;Mail&gt;, tier 3</title>"), "{path}: {page}");
        assert_eq!(page.matches("class=\"edge warn\"").count(), 1, "{path}");
        assert!(page.contains("<bdi>&lt;Mail&gt;</bdi> (less critical)"), "{path}: {page}");
        assert_eq!(page.matches("\"node focus\"").count(), 1, "{path}");
    }
    assert!(browser.page("/services/cart/graph").await.contains("2 services within 2 steps"));
    assert!(browser.page("/services/cart/graph?steps=5").await.contains("2 services within 5 steps"));
    assert!(browser.page("/services/cart/graph?steps=1").await.contains("1 service within 1 step<"));
    assert!(!browser.page("/systems/empty").await.contains("<svg"));
    data(&app, "mutation { serviceCreate(input: { name: \"Alone\" }) { errors { message } } }").await;
    let page = browser.page("/services/alone/graph").await;
    assert!(page.contains("No dependencies.") && page.contains("No service depends on it."), "{page}");
    assert!(!browser.page("/services/alone").await.contains("<svg class=\"layers-"), "no picture of one service");
}

#[tokio::test]
async fn boxes_are_coloured_by_tier_or_last_deploy_and_a_table_says_who_stands_behind_them() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let query = r#"mutation {
        Team: teamCreate(input: { name: "Core" }) { errors { message } }
        Cart: serviceCreate(input: { name: "Cart", tierAlias: "tier_1", ownerInput: { alias: "core" } }) { errors { message } }
        Pay: serviceCreate(input: { name: "Pay" }) { errors { message } }
        a: serviceDependencyCreate(inputV2: { dependencyKey: {
            sourceIdentifier: { alias: "cart" }, destinationIdentifier: { alias: "pay" } } }) { errors { message } }
        calls: serviceOnCallsUpdate(input: { service: { alias: "pay" }, onCalls: [{ name: "Jo <x>" }] }) { errors { message } }
    }"#;
    for (name, payload) in data(app, query).await.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    for (service, status, day) in [("cart", "success", "01"), ("cart", "failure", "02"), ("pay", "success", "01")] {
        let at = format!("2026-01-{day}T00:00:00Z");
        let deploy =
            json!({ "service": service, "status": status, "deployed_at": at, "dedup_id": format!("{service}{day}") });
        assert_eq!(endpoint.post_with(deploy).await.status, 202);
    }
    let browser = Browser::of(app, Role::Viewer).await;
    let page = browser.page("/services/pay/graph").await;
    for shown in [
        "<a href=\"/services/cart/graph\"><title>Cart, tier 1</title>",
        "<a href=\"/services/pay\"><title>Pay, no tier</title>",
        "<span class=\"key none\">T1</span> <span class=\"soft\">tier 1</span>",
        "href=\"/services/pay/graph?colour=state\"",
        "<a href=\"/teams/core\">Core</a>",
        "<bdi>Jo &lt;x&gt;</bdi>",
    ] {
        assert!(page.contains(shown), "{shown} is missing: {page}");
    }
    // What its failure can reach comes first, and is not listed again.
    let (_, reached) = page.split_once("id=\"impact\"").expect("what it reaches");
    let (reached, others) = reached.split_once("id=\"people\"").expect("the others");
    assert!(reached.contains("href=\"/services/cart\"") && !others.contains("href=\"/services/cart\""), "{page}");
    let missing = "<td data-label=\"On call\"><span class=\"mark warn\">none</span></td>";
    assert!(reached.contains(missing) && !others.contains(missing), "{page}");
    assert!(others.contains("<td data-label=\"Tier\"><span class=\"mark warn\">none</span></td>"), "{page}");
    let page = browser.page("/services/pay/graph?colour=state").await;
    for shown in [
        "<a href=\"/services/cart/graph?colour=state\"><title>Cart, last deploy failed</title>",
        "<title>Pay, last deploy succeeded</title>",
        "<span class=\"key bad\">✕</span>",
        "<input type=\"hidden\" name=\"colour\" value=\"state\">",
    ] {
        assert!(page.contains(shown), "{shown} is missing: {page}");
    }
    assert!(browser.page("/services/pay/graph?colour=%3Cb%3E").await.contains("Cart, tier 1"), "any other means tiers");
}
