//! The forms of systems and domains, and of the contacts, links and dependencies of a service and the contacts of a team.

use rollcall::entity::user::Role;
use serde_json::json;

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;

/// The id in the first path of the page that begins with `start` and ends with `end`.
fn id_in(page: &str, start: &str, end: &str) -> String {
    let mut paths = page.split('"').filter(|text| text.starts_with(start) && text.ends_with(end));
    let path = paths.next().unwrap_or_else(|| panic!("no {start}…{end} in {page}"));
    path[start.len()..path.len() - end.len()].to_owned()
}

#[tokio::test]
async fn a_member_creates_and_changes_domains_and_systems() {
    let app = TestApp::start().await;
    let mut mem = Browser::of(&app, Role::User).await;
    mem.post("/new/team", &[("name", "Core")]).await;
    mem.post("/new/service", &[("name", "Cart")]).await;
    assert!(mem.page("/domains").await.contains("href=\"/new/domain\""));
    let refused = mem.post("/new/domain", &[("name", ""), ("note", "kept")]).await;
    assert!(refused.status == 422 && refused.text().contains("id=\"wrong-name\"") && refused.text().contains("kept"));
    let refused = mem.post("/new/domain", &[("name", "Commerce"), ("ownerId", "nobody")]).await;
    assert!(
        refused.status == 422 && refused.text().contains("No team has the alias &quot;nobody&quot;"),
        "{refused:?}"
    );
    let refused = mem.post("/new/domain", &[("name", "Commerce"), ("ownerId", "Croe")]).await;
    assert!(refused.status == 422 && refused.text().contains("Did you mean Core?"), "{refused:?}");
    let form = [("name", "Commerce"), ("ownerId", "core"), ("description", "**What** customers pay for")];
    assert_eq!(mem.post("/new/domain", &form).await.location(), "/domains/commerce");
    let page = mem.page("/domains/commerce").await;
    assert!(page.contains("<a href=\"/teams/core\">Core</a>") && page.contains("<strong>What</strong>"), "{page}");

    let refused = mem.post("/new/system", &[("name", "Shop"), ("parent.alias", "none")]).await;
    assert!(refused.status == 422 && refused.text().contains("id=\"wrong-parent.alias\""), "{refused:?}");
    assert_eq!(mem.post("/new/system", &[("name", "Shop")]).await.location(), "/systems/shop");
    assert_eq!(
        mem.post("/domains/commerce/child", &[("childSystems.0.alias", "shop")]).await.location(),
        "/domains/commerce/edit?done=saved#children"
    );
    assert!(mem.page("/systems/shop").await.contains("<a href=\"/domains/commerce\">Commerce</a>"));
    let refused = mem.post("/systems/shop/child", &[("childServices.0.alias", "none")]).await;
    let mistake = "No service is called &quot;none&quot;.";
    assert!(refused.status == 422 && refused.text().matches(mistake).count() == 1, "{refused:?}");
    assert!(refused.text().contains("id=\"wrong-childServices.0.alias\""), "beside its field: {refused:?}");
    let child = [("childServices.0.alias", "cart")];
    assert_eq!(mem.post("/systems/shop/child", &child).await.location(), "/systems/shop/edit?done=saved#children");
    assert!(mem.page("/systems/shop").await.contains("<a href=\"/services/cart\">Cart</a>"));

    let edit = mem.page("/systems/shop/edit").await;
    // By its name, as people know it, which is understood again.
    assert!(edit.contains("name=\"parent.alias\" value=\"Commerce\""), "{edit}");
    assert!(edit.contains("value=\"Shop\""), "{edit}");
    let crumbs = "<p class=\"crumbs\"><a href=\"/systems\">Systems</a> / <a href=\"/systems/shop\">Shop</a></p>";
    assert!(edit.contains(crumbs), "{edit}");
    let same = [("name", "Shop"), ("parent.alias", "Commerce")];
    assert_eq!(mem.post("/systems/shop/edit", &same).await.location(), "/systems/shop");
    assert!(mem.page("/systems/shop").await.contains("<a href=\"/domains/commerce\">Commerce</a>"));
    let form = [("name", "Web Shop"), ("parent.alias", "commerce"), ("ownerId", "core"), ("note", "one\r\ntwo")];
    assert_eq!(mem.post("/systems/shop/edit", &form).await.location(), "/systems/shop");
    let page = mem.page("/systems/web_shop").await;
    assert!(page.contains("<h1>Web Shop</h1>") && page.contains("one<br />\ntwo"), "{page}");
    assert_eq!(mem.post("/systems/shop/edit", &[("name", "")]).await.status, 422);

    let edit = mem.page("/systems/shop/edit").await;
    let id =
        edit.split_once("name=\"id\" value=\"").expect("a service").1.split_once('"').expect("its end").0.to_owned();
    assert_eq!(mem.post("/domains/commerce/child-delete", &[("id", &id)]).await.status, 404, "of another");
    assert_eq!(
        mem.post("/systems/shop/child-delete", &[("id", &id)]).await.location(),
        "/systems/shop/edit?done=deleted#children"
    );
    assert!(mem.page("/systems/shop").await.contains("No service belongs to this system."));
    assert_eq!(mem.post("/systems/shop/delete", &[]).await.location(), "/systems");
    assert_eq!(mem.post("/domains/commerce/delete", &[]).await.location(), "/domains");
    assert_eq!(mem.get("/domains/commerce").await.status, 404);
    assert_eq!(mem.post("/systems/none/edit", &[("name", "x")]).await.status, 404);
}

#[tokio::test]
async fn links_of_a_service_are_added_changed_and_deleted() {
    let app = TestApp::start().await;
    let mut mem = Browser::of(&app, Role::User).await;
    mem.post("/new/service", &[("name", "Cart")]).await;
    mem.post("/new/service", &[("name", "Other")]).await;
    let form = [("category", "runbooks"), ("displayName", "Runbook"), ("url", "ftp://x")];
    let refused = mem.post("/services/cart/tools", &form).await;
    assert!(refused.status == 422 && refused.text().contains("id=\"wrong-url\""), "{refused:?}");
    assert!(refused.text().contains("value=\"Runbook\""), "{refused:?}");
    assert_eq!(mem.post("/services/cart/tools", &[("category", "king")]).await.status, 400);
    let form = [("category", "runbooks"), ("displayName", "Run<book>"), ("url", "https://wiki.example.com")];
    assert_eq!(mem.post("/services/cart/tools", &form).await.location(), "/services/cart/tools");
    let list = mem.page("/services/cart/tools").await;
    assert!(list.contains(">Run&lt;book&gt;</a>") && list.contains(">runbooks<"), "{list}");
    let id = id_in(&list, "/services/cart/tools/", "/delete");
    let edit = mem.page(&format!("/services/cart/tools/{id}")).await;
    assert!(edit.contains("<option value=\"runbooks\" selected>") && edit.contains("value=\"https://wiki"), "{edit}");
    let crumbs = "<p class=\"crumbs\"><a href=\"/services\">Services</a> / <a href=\"/services/cart\">Cart</a> / \
                  <a href=\"/services/cart/tools\">Links</a></p>";
    assert!(edit.contains(crumbs), "{edit}");
    assert_eq!(mem.get(&format!("/services/other/tools/{id}")).await.status, 404, "of another service");
    assert_eq!(mem.post(&format!("/services/other/tools/{id}/delete"), &[]).await.status, 404);
    let path = format!("/services/cart/tools/{id}/edit");
    let refused = mem.post(&path, &[("category", "logs"), ("displayName", ""), ("url", "https://x.example.com")]).await;
    assert!(refused.status == 422 && refused.text().contains("id=\"wrong-displayName\""), "{refused:?}");
    let form = [
        ("category", "health_checks"),
        ("displayName", "Up?"),
        ("url", "https://up.example.com"),
        ("environment", "prod"),
    ];
    assert_eq!(mem.post(&path, &form).await.location(), "/services/cart/tools");
    let list = mem.page("/services/cart/tools").await;
    assert!(list.contains("Up?") && list.contains(">health checks<") && list.contains(">prod<"), "{list}");
    assert!(mem.page("/services/cart").await.contains("<a href=\"https://up.example.com\""));
    assert_eq!(mem.post(&format!("/services/cart/tools/{id}/delete"), &[]).await.location(), "/services/cart/tools");
    assert!(mem.page("/services/cart/tools").await.contains("No links yet."));
    assert_eq!(mem.post(&path, &form).await.status, 404);
}

#[tokio::test]
async fn every_category_of_a_link_can_be_chosen() {
    let app = TestApp::start().await;
    let mem = Browser::of(&app, Role::User).await;
    data(&app, "mutation { serviceCreate(input: { name: \"Cart\" }) { errors { message } } }").await;
    let page = mem.page("/services/cart/tools").await;
    let query = "{ __type(name: \"ToolCategory\") { enumValues { name } } }";
    let words = data(&app, query).await["__type"]["enumValues"].clone();
    for word in words.as_array().expect("words") {
        let word = word["name"].as_str().expect("a word");
        assert!(page.contains(&format!("<option value=\"{word}\"")), "{word}");
    }
}

#[tokio::test]
async fn contacts_of_a_service_and_a_team_are_added_changed_and_deleted() {
    let app = TestApp::start().await;
    let mut mem = Browser::of(&app, Role::User).await;
    mem.post("/new/service", &[("name", "Cart")]).await;
    mem.post("/new/team", &[("name", "Core")]).await;
    for owner in ["/services/cart", "/teams/core"] {
        let contacts = format!("{owner}/contacts");
        let refused = mem.post(&contacts, &[("type", "web"), ("address", "javascript:alert(1)")]).await;
        assert!(refused.status == 422 && refused.text().contains("id=\"wrong-address\""), "{refused:?}");
        assert!(refused.text().contains("<option value=\"web\" selected>"), "{refused:?}");
        assert_eq!(mem.post(&contacts, &[("type", "phone"), ("address", "1")]).await.status, 400);
        for address in ["#core", "#on-call"] {
            assert_eq!(mem.post(&contacts, &[("type", "slack"), ("address", address)]).await.location(), contacts);
        }
        let list = mem.page(&contacts).await;
        assert_eq!(list.matches(">default<").count(), 1, "{list}");
        let second = list.rsplit_once("/delete\"").expect("a form").0.rsplit_once('/').expect("an id").1.to_owned();
        let edit = mem.page(&format!("{contacts}/{second}")).await;
        assert!(edit.contains("value=\"#on-call\"") && edit.contains("name=\"makeDefault\""), "{edit}");
        let path = format!("{contacts}/{second}/edit");
        let refused = mem.post(&path, &[("type", "slack"), ("address", "")]).await;
        assert!(refused.status == 422 && refused.text().contains("id=\"wrong-address\""), "{refused:?}");
        let form = [("type", "slack"), ("address", "#help"), ("displayName", "Help <us>"), ("makeDefault", "1")];
        assert_eq!(mem.post(&path, &form).await.location(), contacts);
        let list = mem.page(&contacts).await;
        assert!(list.contains("Help &lt;us&gt;") && list.matches(">default<").count() == 1, "{list}");
        assert!(list.find("Help &lt;us&gt;") < list.find(">default<"), "the second one is the default: {list}");
        assert!(mem.page(owner).await.contains("Help &lt;us&gt;"), "on the page of {owner}");
        assert_eq!(mem.get(&format!("/teams/other/contacts/{second}")).await.status, 404);
        let other = if owner == "/teams/core" { "/services/cart" } else { "/teams/core" };
        assert_eq!(mem.post(&format!("{other}/contacts/{second}/delete"), &[]).await.status, 404, "of another");
        assert_eq!(mem.post(&format!("{contacts}/{second}/delete"), &[]).await.location(), contacts);
        assert!(!mem.page(&contacts).await.contains("Help"));
    }
}

#[tokio::test]
async fn dependencies_of_a_service_are_added_and_deleted() {
    let app = TestApp::start().await;
    let mut mem = Browser::of(&app, Role::User).await;
    for name in ["Cart", "Pay"] {
        mem.post("/new/service", &[("name", name)]).await;
    }
    let on = "dependencyKey.destinationIdentifier.alias";
    let refused = mem.post("/services/cart/dependencies", &[(on, "none"), ("notes", "to pay")]).await;
    assert!(refused.status == 422 && refused.text().contains(&format!("id=\"wrong-{on}\"")), "{refused:?}");
    assert!(refused.text().contains("value=\"none\"") && refused.text().contains("to pay"), "{refused:?}");
    let itself = mem.post("/services/cart/dependencies", &[(on, "cart")]).await;
    assert!(itself.status == 422 && itself.text().contains("a service cannot depend on itself"), "{itself:?}");
    let form = [(on, "pay"), ("notes", "to pay")];
    assert_eq!(mem.post("/services/cart/dependencies", &form).await.location(), "/services/cart/dependencies");
    assert_eq!(mem.post("/services/cart/dependencies", &form).await.status, 422, "once");
    let list = mem.page("/services/cart/dependencies").await;
    assert!(list.contains("<a href=\"/services/pay\">Pay</a>") && list.contains("to pay"), "{list}");
    let id = id_in(&list, "/services/cart/dependencies/", "/delete");
    assert_eq!(
        mem.post(&format!("/services/pay/dependencies/{id}/delete"), &[]).await.status,
        404,
        "of another service"
    );
    let deleted = mem.post(&format!("/services/cart/dependencies/{id}/delete"), &[]).await;
    assert_eq!(deleted.location(), "/services/cart/dependencies");
    assert!(mem.page("/services/cart/dependencies").await.contains("This service depends on no other."));
}

#[tokio::test]
async fn viewers_and_locked_services_have_no_forms() {
    let app = TestApp::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let query = r#"mutation {
        serviceCreate(input: { name: "shop" }) { errors { message } }
        other: serviceCreate(input: { name: "other" }) { errors { message } }
        teamCreate(input: { name: "Core" }) { errors { message } }
        systemCreate(input: { name: "All" }) { errors { message } }
        domainCreate(input: { name: "Whole" }) { errors { message } }
        toolCreate(input: { serviceAlias: "shop", category: wiki, displayName: "Wiki", url: "https://wiki.example.com" }) { errors { message } }
        serviceDependencyCreate(inputV2: { dependencyKey: {
            sourceIdentifier: { alias: "shop" }, destinationIdentifier: { alias: "other" } } }) { errors { message } }
    }"#;
    data(&app, query).await;
    let id = data(&app, "{ account { service(alias: \"shop\") { id } } }").await["account"]["service"]["id"].clone();
    let add = "mutation($id: ID!) { contactCreate(input: { ownerId: $id, type: slack, address: \"#shop\" }) { errors { message } } }";
    app.query(add, json!({ "id": id })).await;
    let mut vera = Browser::of(&app, Role::Viewer).await;
    let mut mem = Browser::of(&app, Role::User).await;
    let shown = [("contacts", "#shop"), ("tools", "Wiki"), ("dependencies", ">other<")];
    for (what, text) in shown {
        let page = vera.page(&format!("/services/shop/{what}")).await;
        assert!(page.contains(text) && page.matches("<form").count() == 1, "only to sign out: {page}");
        assert_eq!(
            vera.post(&format!("/services/shop/{what}"), &[("type", "slack"), ("category", "wiki")]).await.status,
            403
        );
    }
    for path in ["/new/system", "/new/domain", "/systems/all/edit", "/domains/whole/edit"] {
        assert_eq!(vera.get(path).await.status, 403, "{path}");
        assert_eq!(vera.post(path, &[("name", "x")]).await.status, 403, "{path}");
    }
    let page = vera.page("/teams/core/contacts").await;
    assert_eq!(page.matches("<form").count(), 1, "{page}");
    // A form of another site.
    let form = [("type", "slack"), ("address", "#x")];
    let refused = mem.post_from("/teams/core/contacts", &form, &[("sec-fetch-site", "cross-site")]).await;
    assert_eq!(refused.status, 403, "{refused:?}");

    let file = folder.path().join("shop.yml");
    std::fs::write(&file, "version: 1\nservice:\n  name: shop\n").expect("a file");
    crate::harness::service_file::run(&app.db, &[file]).await.expect("it applies");
    for (what, text) in shown {
        let path = format!("/services/shop/{what}");
        let page = mem.page(&path).await;
        assert!(page.contains(text) && page.contains("managed by a service file"), "{page}");
        assert_eq!(page.matches("<form").count(), 1, "only to sign out: {page}");
        let form = [
            ("type", "slack"),
            ("address", "#x"),
            ("category", "wiki"),
            ("displayName", "x"),
            ("url", "https://x.example.com"),
            ("dependencyKey.destinationIdentifier.alias", "other"),
        ];
        let refused = mem.post(&path, &form).await;
        assert!(refused.status == 422 && refused.text().contains("role=\"alert\""), "{path}: {refused:?}");
    }
    assert_eq!(mem.post("/systems/all/child", &[("childServices.0.alias", "shop")]).await.status, 422);
}

#[tokio::test]
async fn the_page_of_a_service_begins_with_what_is_needed_during_an_incident() {
    let endpoint = crate::harness::webhook::Endpoint::start().await;
    let query = r#"mutation {
        teamCreate(input: { name: "Core", contacts: { type: slack, address: "@core" } }) { errors { message } }
        serviceUpdate(input: { alias: "shop", ownerInput: { alias: "core" }, tierAlias: "tier_1", description: "What it is for" }) { errors { message } }
        toolCreate(input: { serviceAlias: "shop", category: runbooks, displayName: "Runbook", url: "https://wiki.example.com" }) { errors { message } }
        serviceOnCallsUpdate(input: { service: { alias: "shop" }, onCalls: [
            { name: "<Ada>", externalEmail: "ada@example.com", url: "https://oncall.example.com", endsAt: "2098-12-02T09:00:00Z" }] }) { errors { message } }
    }"#;
    data(&endpoint.app, query).await;
    let browser = Browser::of(&endpoint.app, Role::Viewer).await;
    let page = browser.page("/services/shop").await;
    assert!(page.contains("<dt>Last deploy</dt><dd><span class=\"soft\">never</span>"), "{page}");
    assert!(page.contains("<span class=\"mark bad\"") && page.contains(">T1 "), "the first tier is loud: {page}");
    assert!(!page.contains("<dt>Broken</dt>") && page.contains("<dt>Type</dt><dd>Service</dd>"), "{page}");
    let now = rollcall::entity::Timestamp::now().to_string();
    let deploy = json!({ "deployed_at": now, "environment": "production", "status": "failed" });
    endpoint.post_with(deploy).await;
    let page = browser.page("/services/shop").await;
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    let order = [
        "What it is for",
        "<dt>Owner",
        "<dt>On call",
        "<a href=\"mailto:ada@example.com\">&lt;Ada&gt;</a><small>until <time",
        ">2 Dec 2098 09:00 UTC</time></small>",
        "<a href=\"https://oncall.example.com\" rel=\"noopener noreferrer\">schedule</a>",
        "<dt>Contact",
        "@core",
        "<dt>Last deploy",
        "<dt>Broken",
        "<dt>Links",
        "Runbook",
        "<dt>Type",
    ];
    let places: Vec<usize> = order.into_iter().map(place).collect();
    assert!(places.is_sorted(), "{places:?}: {page}");
    // The time and the environment of the last deploy are beside it.
    let failed = "href=\"#deploys\">the last deploy failed</a>";
    assert!(page.contains(failed) && !page.contains("No later deploy there succeeded."), "{page}");
    // A later one that did not end there takes nothing back: both are said, so that they do not contradict each other.
    let now = rollcall::entity::Timestamp::now().to_string();
    let later = json!({ "deployed_at": now, "environment": "production", "status": "cancelled", "dedup_id": "later" });
    assert_eq!(endpoint.post_with(later).await.status, 202);
    let page = browser.page("/services/shop").await;
    let failed = "href=\"#deploys\">failed in production, <time";
    assert!(page.contains(failed) && page.contains("No later deploy there succeeded."), "{page}");

    let create =
        "mutation { eventIntegrationCreate(input: { type: datadogCheck, name: \"D\" }) { integration { id } } }";
    let integration = data(&endpoint.app, create).await["eventIntegrationCreate"]["integration"]["id"].clone();
    let identifier = json!({ "integration": { "id": integration }, "externalId": "m-1" });
    let watch = "mutation($input: AlertSourceInput!, $identifier: ExternalResourceIdentifierInput!) {
        alertSourceUpsert(input: $input) { errors { message } }
        alertSourceServiceCreate(input: {
            alertSourceExternalIdentifier: { type: datadog, externalId: \"m-1\" }, service: { alias: \"shop\" }
        }) { errors { message } }
        alertSourceStatusUpdate(input: { alertSource: $identifier, status: alert }) { errors { message } }
    }";
    let input = json!({ "identifier": identifier, "name": "Latency <high>", "url": "https://x.example.com" });
    endpoint.app.query(watch, json!({ "input": input, "identifier": identifier })).await;
    let page = browser.page("/services/shop").await;
    let broken = page.split_once("<dt>Broken").expect("what is broken").1.split("</dl>").next().expect("its end");
    assert!(broken.contains(">Latency &lt;high&gt;</a>"), "{page}");
}

#[tokio::test]
async fn a_team_member_changes_what_the_team_owns_and_is_refused_the_rest() {
    let app = TestApp::start().await;
    let mut tom = Browser::of(&app, Role::TeamMember).await;
    let query = r#"mutation {
        teamCreate(input: { name: "Core", members: [{ user: { email: "teammember@example.com" } }] }) { errors { message } }
        own: serviceCreate(input: { name: "Own", ownerInput: { alias: "core" } }) { errors { message } }
        other: serviceCreate(input: { name: "Other" }) { errors { message } }
    }"#;
    data(&app, query).await;
    for path in ["/services/own", "/teams/core"] {
        assert!(tom.page(path).await.contains(&format!("href=\"{path}/edit\"")), "{path}");
        let contacts = format!("{path}/contacts");
        let answer = tom.post(&contacts, &[("type", "slack"), ("address", "#core")]).await;
        assert_eq!(answer.location(), contacts);
    }
    let refused = tom.post("/services/other/contacts", &[("type", "slack"), ("address", "#core")]).await;
    assert_eq!(refused.status, 403, "{refused:?}");
    assert!(refused.text().contains("Nobody owns this service. To change it, first"), "{refused:?}");
    assert!(tom.page("/new/system").await.contains("Choose one of your teams as the owner."));
    assert_eq!(tom.get("/new/team").await.status, 403);
}

#[tokio::test]
async fn properties_of_a_service_are_set_and_cleared() {
    let app = TestApp::start().await;
    let mut mem = Browser::of(&app, Role::User).await;
    mem.post("/new/service", &[("name", "Cart")]).await;
    let none = mem.page("/services/cart/properties").await;
    assert!(none.contains("No properties yet.") && none.contains("href=\"/new/property-definition\""), "{none}");
    let page = mem.page("/services/cart").await;
    assert!(!page.contains("id=\"properties\""), "there is nothing to change: {page}");
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    assert!(place(">Missing<") < place("No code issues."), "what is missing comes first: {page}");
    let made = data(
        &app,
        r#"mutation {
            room: propertyDefinitionCreate(input: { name: "Room", description: "Where", schema: { type: "string", maxLength: 3 } }) { definition { id } }
            size: propertyDefinitionCreate(input: { name: "Size", schema: { type: "integer" } }) { definition { id } }
            live: propertyDefinitionCreate(input: { name: "Live", schema: { type: "boolean" } }) { definition { id } }
            lane: propertyDefinitionCreate(input: { name: "Lane", schema: { enum: ["fast", "slow"], type: "string" } }) { definition { id } }
            list: propertyDefinitionCreate(input: { name: "List", schema: { type: "array", items: { type: "string" } } }) { definition { id } }
            any: propertyDefinitionCreate(input: { name: "Any", schema: {} }) { definition { id } }
            shut: propertyDefinitionCreate(input: { name: "Shut", schema: {}, lockedStatus: ui_locked }) { definition { id } }
        }"#,
    )
    .await;
    let id = |name: &str| made[name]["definition"]["id"].as_str().expect("an id").to_owned();
    let values = async || {
        let query = r#"{ account { service(alias: "cart") { properties { nodes { value definition { name } } } } } }"#;
        let service = data(&app, query).await["account"]["service"].clone();
        let nodes = service["properties"]["nodes"].as_array().expect("properties").clone();
        let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
        let value =
            |node: &serde_json::Value| format!("{}={}", text(&node["definition"]["name"]), text(&node["value"]));
        nodes.iter().map(value).collect::<Vec<_>>()
    };
    for (name, given) in
        [("room", "12a"), ("size", "7"), ("live", "true"), ("lane", "fast"), ("list", "[\"a\"]"), ("any", "a b")]
    {
        let done = mem.post("/services/cart/properties", &[(&format!("value-{}", id(name)), given)]).await;
        assert_eq!(done.location(), "/services/cart/properties", "{name}");
    }
    let expected = ["Room=\"12a\"", "Size=7", "Live=true", "Lane=\"fast\"", "List=[\"a\"]", "Any=\"a b\""];
    assert_eq!(values().await, expected);
    let page = mem.page("/services/cart/properties").await;
    for shown in [
        "value=\"12a\"",
        "value=\"7\"",
        "<option value=\"true\" selected>",
        "<option value=\"fast\" selected>",
        "set through the API only",
    ] {
        assert!(page.contains(shown), "{shown} in {page}");
    }
    let room = ("/services/cart/properties", format!("value-{}", id("room")));
    let refused = mem.post(room.0, &[(&room.1, "far too long")]).await;
    assert!(refused.status == 422 && refused.text().contains("value=\"far too long\""), "{refused:?}");
    assert!(refused.text().contains(&format!("id=\"wrong-{}\"", room.1)), "{refused:?}");
    assert_eq!(mem.post(room.0, &[(&room.1, " ")]).await.location(), "/services/cart/properties");
    assert_eq!(values().await, expected[1..]);
    assert_eq!(mem.post(room.0, &[(&format!("value-{}", id("shut")), "1")]).await.status, 400);
    assert_eq!(mem.post("/services/none/properties", &[]).await.status, 404);
    let mut reader = Browser::of(&app, Role::Viewer).await;
    assert!(!reader.page("/services/cart/properties").await.contains("<button>Save"), "a reader changes nothing");
    assert_eq!(reader.post(room.0, &[(&room.1, "9")]).await.status, 403);
}

#[tokio::test]
async fn infrastructure_and_relationships_are_shown_with_links_both_ways() {
    let app = TestApp::start().await;
    let mem = Browser::of(&app, Role::Viewer).await;
    assert!(mem.page("/infrastructure").await.contains("No infrastructure yet."));
    let made = data(
        &app,
        r#"mutation {
            serviceCreate(input: { name: "Cart" }) { errors { message } }
            teamCreate(input: { name: "Core" }) { errors { message } }
            ledger: infrastructureResourceCreate(input: {
                schema: { type: "Database" }, data: { name: "Ledger <1>", port: 5432 },
                providerData: { accountName: "live", externalUrl: "https://cloud.example.com/1", providerName: "Cloud" }
            }) { infrastructureResource { id } }
            relationshipDefinitionCreate(input: { name: "Billed to", componentType: { alias: "service" } }) { errors { message } }
        }"#,
    )
    .await;
    let id = made["ledger"]["infrastructureResource"]["id"].as_str().expect("an id");
    let tie = "mutation($id: ID!) {
        relationshipCreate(relationshipDefinition: { type: depends_on, source: { alias: \"cart\" }, target: { id: $id } }) { errors { message } }
        billed: relationshipCreate(relationshipDefinition: {
            type: related_to, relationshipDefinition: { alias: \"billed_to\" }, source: { alias: \"cart\" }, target: { alias: \"core\" }
        }) { errors { message } }
    }";
    let tied = app.query(tie, json!({ "id": id })).await;
    assert_eq!(tied["data"], json!({ "relationshipCreate": { "errors": [] }, "billed": { "errors": [] } }));
    let link = format!("<a href=\"/infrastructure/{id}\">Ledger &lt;1&gt;</a>");
    assert!(mem.page("/infrastructure").await.contains(&link));
    let page = mem.page("/services/cart").await;
    assert!(
        page.contains(&format!("Depends on {link}")) && page.contains("Billed to: <a href=\"/teams/core\">Core</a>"),
        "{page}"
    );
    let page = mem.page(&format!("/infrastructure/{id}")).await;
    assert!(page.contains("Is needed by <a href=\"/services/cart\">Cart</a>") && page.contains("5432"), "{page}");
    assert!(page.contains("<a href=\"https://cloud.example.com/1\""), "{page}");
    assert_eq!(mem.get("/infrastructure/none").await.status, 404);
}
