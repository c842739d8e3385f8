//! The pages about standards: the rubric, a check, and the card of a service.

use rollcall::entity::user::Role;
use serde_json::json;

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::tour::Tour;

#[tokio::test]
async fn the_rubric_leads_to_checks_and_these_to_the_services_that_miss_them() {
    let tour = Tour::start().await;
    let app = &tour.endpoint.app;
    let viewer = Browser::of(app, Role::Viewer).await;
    rollcall::graphql::standards::check::history::settle(&app.db, &app.wanted).await.expect("settled");
    let rubric = viewer.page("/standards").await;
    for text in ["Bronze", "Security", "Tagged", "1 of 1 service", "2 Jan 2999", ">off<"] {
        assert!(rubric.contains(text), "{text}: {rubric}");
    }
    let clean = format!("/standards/{}", tour.id("clean").as_str().expect("an id"));
    assert!(rubric.contains(&clean), "{rubric}");
    let check = viewer.page(&clean).await;
    for text in [
        "<h1>Clean</h1>",
        "The service has no code issue of the type vuln of the severity high whose name contains &quot;bad&quot;",
        "0 of 1 service passed, 1 failed, 0 pending",
        "href=\"/services/shop\"",
        "It has 1 such code issue. Wanted:",
        "href=\"/teams/core\"",
        "How to pass",
    ] {
        assert!(check.contains(text), "{text}: {check}");
    }
    assert!(!check.contains("<dt>Scorecard</dt>"), "{check}");
    let readied = viewer.page(&format!("/standards/{}", tour.id("readied").as_str().expect("an id"))).await;
    let fact = "<dt>Scorecard</dt><dd><a href=\"/standards/scorecards/ready\">Ready</a></dd>";
    assert!(readied.contains(fact), "{readied}");
    let service = viewer.page("/services/shop").await;
    for text in ["id=\"standards\"", "class=\"levels\"", " to <strong>", &clean, "It has 1 such code issue."] {
        assert!(service.contains(text), "{text}: {service}");
    }
    assert_eq!(viewer.get("/standards/nothing").await.status, 404);
}

#[tokio::test]
async fn a_scorecard_is_changed_and_deleted_where_its_page_leads() {
    let app = TestApp::start().await;
    let mut ada = Browser::of(&app, Role::StandardsAdmin).await;
    ada.post("/new/team", &[("name", "Core Team")]).await;
    ada.post("/new/scorecard", &[("name", "Ready"), ("ownerId", "Core Team"), ("description", "For the sale.")]).await;
    let form = "/standards/scorecards/ready/edit";
    assert!(ada.page("/standards/scorecards/ready").await.contains(form));
    let shown = ada.page(form).await;
    for text in ["value=\"Ready\"", "value=\"Core Team\"", "For the sale.", "/standards/scorecards/ready/delete"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    let refused = ada.post(form, &[("name", "Readier")]).await;
    assert_eq!(refused.status, 422, "{refused:?}");
    ada.post(form, &[("name", "Readier"), ("ownerId", "Core Team"), ("affectsOverallServiceLevels", "yes")]).await;
    let page = ada.page("/standards/scorecards/ready").await;
    assert!(page.contains("<h1>Readier</h1>") && page.contains("Its checks count"), "{page}");
    assert!(!page.contains("For the sale."), "{page}");
    ada.post("/standards/scorecards/ready/delete", &[]).await;
    assert_eq!(ada.get("/standards/scorecards/ready").await.status, 404);
    let viewer = Browser::of(&app, Role::Viewer).await;
    assert_eq!(viewer.get(form).await.status, 403);
}

#[tokio::test]
async fn without_checks_the_page_says_how_to_begin() {
    let app = TestApp::start().await;
    let mut ada = Browser::of(&app, Role::User).await;
    assert!(ada.page("/standards").await.contains("No checks yet."));
    ada.post("/new/service", &[("name", "shop")]).await;
    assert!(!ada.page("/services/shop").await.contains("id=\"standards\""));
}

#[tokio::test]
async fn a_manual_check_is_answered_on_a_page() {
    let app = TestApp::start().await;
    let made = data(
        &app,
        r#"mutation {
        level: levelCreate(input: { name: "Bronze" }) { level { id } }
        category: categoryCreate(input: { name: "Safety" }) { category { id } }
        shop: serviceCreate(input: { name: "Shop" }) { errors { message } }
    }"#,
    )
    .await;
    let create = "mutation($input: CheckManualCreateInput!) { checkManualCreate(input: $input) { check { id } errors { message } } }";
    let input = json!({
        "name": "Drilled", "categoryId": made["category"]["category"]["id"], "levelId": made["level"]["level"]["id"],
        "enabled": true, "notes": "Pull the plug.", "updateRequiresComment": true,
    });
    let check = app.query(create, json!({ "input": input })).await["data"]["checkManualCreate"]["check"]["id"].clone();
    let check = check.as_str().expect("an id");
    let page = format!("/services/shop/answer/{check}");
    let viewer = Browser::of(&app, Role::Viewer).await;
    assert!(!viewer.page("/services/shop").await.contains(&page));
    assert_eq!(viewer.get(&page).await.status, 403);
    let mut ada = Browser::of(&app, Role::User).await;
    for from in ["/services/shop".to_owned(), format!("/standards/{check}")] {
        assert!(ada.page(&from).await.contains(&page), "{from}");
    }
    let form = ada.page(&page).await;
    for text in ["<h1>Drilled</h1>", "Pull the plug.", "Does Shop pass?"] {
        assert!(form.contains(text), "{text}: {form}");
    }
    assert_eq!(ada.post(&page, &[("passed", "perhaps")]).await.status, 400);
    let refused = ada.post(&page, &[("passed", "no"), ("comment", " ")]).await;
    assert!(refused.text().contains("This check needs a comment"), "{refused:?}");
    assert_eq!(
        ada.post(&page, &[("passed", "no"), ("comment", "The light went out.")]).await.location(),
        "/services/shop"
    );
    assert!(ada.page("/services/shop").await.contains("The light went out."));
    ada.post(&page, &[("passed", "yes"), ("comment", "The light stayed on.")]).await;
    assert!(ada.page("/services/shop").await.contains("It passes all of its 1 check."));
    for unknown in ["/services/none/answer/1", "/services/shop/answer/1"] {
        assert_eq!(ada.get(unknown).await.status, 404, "{unknown}");
    }
}

/// Checks that the form of a service mends: the kind, its own fields, and what the button says.
const MENDED: [(&str, &str, &str); 16] = [
    ("ServiceOwnership", "", "Set owner"),
    ("DependencyTier", "", "Set tier"),
    ("RepositoryIntegrated", "", "Add repository"),
    ("ServiceDependency", "", "Add dependency"),
    ("TagDefined", "tagKey: \"env\"", "Set tag"),
    ("ToolUsage", "toolCategory: runbooks", "Add link"),
    (
        "ServiceProperty",
        "serviceProperty: custom_property, propertyDefinition: { alias: \"data_class\" }",
        "Set property",
    ),
    ("ServiceProperty", "serviceProperty: description", "Write description"),
    ("ServiceProperty", "serviceProperty: framework", "Set framework"),
    ("ServiceProperty", "serviceProperty: language", "Set language"),
    ("ServiceProperty", "serviceProperty: lifecycle_index", "Set lifecycle stage"),
    (
        "ServiceProperty",
        "serviceProperty: name, propertyValuePredicate: { type: equals, value: \"Shop\" }",
        "Change name",
    ),
    ("ServiceProperty", "serviceProperty: note", "Write notes"),
    ("ServiceProperty", "serviceProperty: product", "Set product"),
    ("ServiceProperty", "serviceProperty: system", "Set system"),
    ("ServiceProperty", "serviceProperty: tier_index", "Set tier"),
];

/// Checks of which the bare service of the test below misses each, and which no form of a service mends.
const UNMENDED: [(&str, &str); 3] = [
    ("TagDefined", "tagKey: \"old\", tagPredicate: { type: does_not_exist }"),
    ("HasRecentDeploy", "days: 30"),
    ("ServiceConfiguration", ""),
];

#[tokio::test]
async fn a_missed_check_that_a_form_mends_has_a_button_that_leads_to_it() {
    let app = TestApp::start().await;
    let made = data(
        &app,
        r#"mutation {
        level: levelCreate(input: { name: "Bronze" }) { level { id } errors { message } }
        category: categoryCreate(input: { name: "Safety" }) { category { id } errors { message } }
        class: propertyDefinitionCreate(input: { name: "Data class", schema: {} }) { errors { message } }
        bare: serviceCreate(input: { name: "Bare" }) { errors { message } }
        old: tagCreate(input: { alias: "bare", key: "old", value: "yes" }) { errors { message } }
    }"#,
    )
    .await;
    for (name, payload) in made.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    let common = format!(
        "categoryId: {}, levelId: {}, enabled: true",
        made["category"]["category"]["id"], made["level"]["level"]["id"]
    );
    let create = async |kind: &str, own: &str, name: &str| {
        let query = format!(
            "mutation {{ made: check{kind}Create(input: {{ name: \"{name}\", {common}, {own} }}) {{
                check {{ id }} errors {{ message }}
            }} }}"
        );
        let made = data(&app, &query).await["made"].clone();
        assert_eq!(made["errors"], json!([]), "{kind} {own}");
        format!("/standards/{}", made["check"]["id"].as_str().expect("an id"))
    };
    let ada = Browser::of(&app, Role::User).await;
    let viewer = Browser::of(&app, Role::Viewer).await;
    let start = "<a class=\"button quiet\" href=\"";
    for (place, (kind, own, label)) in MENDED.into_iter().enumerate() {
        let check = create(kind, own, &format!("Mended {place}")).await;
        let page = ada.page(&check).await;
        let missed = page.split("class=\"misses\"").nth(1).unwrap_or_else(|| panic!("{kind} {own}: {page}"));
        let button = missed.split(start).nth(1).unwrap_or_else(|| panic!("{kind} {own}: {missed}"));
        let (address, said) = button.split_once("\">").expect("a link");
        assert!(said.starts_with(&format!("{label}<span")), "{kind} {own}: {said}");
        let (form, part) = address.split_once('#').map_or((address, None), |(form, part)| (form, Some(part)));
        let form = ada.get(form).await;
        assert_eq!(form.status, 200, "{address}");
        let is_there = part.is_none_or(|part| form.text().contains(&format!("id=\"{part}\"")));
        assert!(is_there, "{address}: {}", form.text());
        let page = viewer.page(&check).await;
        let missed = page.split("class=\"misses\"").nth(1).unwrap_or_else(|| panic!("{kind} {own}: {page}"));
        assert!(!missed.contains(start), "{kind} {own}: a viewer may not change it");
    }
    for (place, (kind, own)) in UNMENDED.into_iter().enumerate() {
        let page = ada.page(&create(kind, own, &format!("Other {place}")).await).await;
        let missed = page.split("class=\"misses\"").nth(1).unwrap_or_else(|| panic!("{kind} {own}: {page}"));
        assert!(!missed.contains(start), "{kind} {own}: {missed}");
    }
}
