//! The page of a domain shows the services of its systems, and what was deployed of them.

use rollcall::entity::user::Role;
use serde_json::json;

use crate::harness::app::data;
use crate::harness::browser::Browser;
use crate::harness::webhook::Endpoint;

#[tokio::test]
async fn a_domain_lists_its_services_and_its_deploys() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let groups = r#"
        team: teamCreate(input: { name: "Core" }) { errors { message } }
        domain: domainCreate(input: { name: "Commerce" }) { errors { message } }
        till: systemCreate(input: {
            name: "Till", description: "Its first line.\nAnother.", parent: { alias: "commerce" }
        }) { errors { message } }
        empty: domainCreate(input: { name: "Empty" }) { errors { message } }
        first: serviceCreate(input: {
            name: "a <i>first", parent: { alias: "till" }, ownerInput: { alias: "core" }, tierAlias: "tier_1"
        }) { errors { message } }
    "#;
    let parts: String = (0..50)
        .map(|at| {
            let input = format!("{{ name: \"Part {at:03}\", parent: {{ alias: \"till\" }} }}");
            format!("p{at}: serviceCreate(input: {input}) {{ errors {{ message }} }} ")
        })
        .collect();
    for (name, done) in data(app, &format!("mutation {{ {groups} {parts} }}")).await.as_object().expect("payloads") {
        assert_eq!(done["errors"], json!([]), "{name}");
    }
    let viewer = Browser::of(app, Role::Viewer).await;
    let page = viewer.page("/domains/commerce").await;
    // Its systems are beside its services, and each list is in a card with its heading.
    let systems = page.split_once("<section class=\"card\"><h2 id=\"systems\">").expect("the systems").1;
    let first = systems.split_once("<li><span>").expect("a first system").1.split_once("</li>").expect("its end").0;
    for text in ["href=\"/systems/till\">Till</a>", "<small>Its first line.</small>", ">51 services<"] {
        assert!(first.contains(text), "{text}: {first}");
    }
    assert!(page.contains("<section class=\"card\"><h2 id=\"services\">"), "{page}");
    assert!(page.contains("<a href=\"/domains\" aria-current=\"page\">"), "in the navigation: {page}");
    let services = page.split_once("id=\"services\"").expect("the services").1;
    assert!(services.contains("51 services. The first 50 by name are listed"), "{services}");
    let first = services.split("<tr>").nth(2).expect("a first row");
    assert!(first.contains("a &lt;i&gt;first</a>") && first.contains("href=\"/teams/core\">Core</a>"), "{first}");
    assert!(first.contains("<span class=\"mark brief none\" title=\"Mission Critical\">T1<"), "{first}");
    assert!(services.contains("href=\"/services/part_048\"") && !services.contains("part_049"), "{services}");
    assert!(!page.contains("/services/shop\""), "a service of no system: {page}");
    assert!(page.contains("href=\"/delivery?domain=commerce\""), "{page}");
    assert!(page.contains("None of these services was deployed."), "{page}");

    assert_eq!(endpoint.post_with(json!({ "service": "part_003", "description": "Sell <u>more" })).await.status, 202);
    assert_eq!(endpoint.post_with(json!({ "service": "shop", "description": "Elsewhere" })).await.status, 202);
    let page = viewer.page("/domains/commerce").await;
    assert!(page.contains("Sell &lt;u&gt;more") && !page.contains("Elsewhere"), "{page}");
    assert!(page.contains("href=\"/deploys?domain=commerce\""), "{page}");
    // The page of a system names it once: its rows do not.
    let system = viewer.page("/systems/till").await;
    assert!(system.contains("<section class=\"card\"><h2 id=\"services\">"), "{system}");
    assert!(
        !system.contains("<small>Till</small>") && viewer.page("/services").await.contains("<small>Till</small>"),
        "{system}"
    );
    let empty = viewer.page("/domains/empty").await;
    assert!(empty.contains("No service belongs to its systems."), "{empty}");
}
