//! The pages of services and teams: what they show with many deploys and long texts, and what their forms change.

use rollcall::db::Read;
use rollcall::entity::audit;
use rollcall::entity::user::{self, Role};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::integration;
use crate::harness::webhook::Endpoint;

/// The time this many hours ago.
fn ago(hours: i64) -> String {
    let now = rollcall::entity::Timestamp::now().as_micros();
    rollcall::entity::Timestamp::from_micros(now - hours * 3_600_000_000).to_string()
}

/// The heights of the bars in the chart with this label.
fn heights(page: &str, label: &str) -> Vec<f64> {
    let plot = page.split_once(&format!("aria-label=\"{label}\"")).expect("the plot").1;
    let plot = plot.split_once("</svg>").expect("its end").0;
    let height = |bar: &str| bar.split_once('"').expect("a height").0.parse().expect("a number");
    plot.split(" height=\"").skip(1).map(height).collect()
}

#[tokio::test]
async fn a_plot_counts_all_deploys_of_its_weeks() {
    let endpoint = Endpoint::start().await;
    for _ in 0..120 {
        endpoint.post_with(json!({ "deployed_at": ago(2), "status": "success" })).await;
    }
    for _ in 0..60 {
        endpoint.post_with(json!({ "deployed_at": ago(24 * 17), "status": "success" })).await;
    }
    endpoint.post_with(json!({ "deployed_at": ago(24 * 17), "status": "failed" })).await;
    endpoint.post_with(json!({ "deployed_at": ago(24 * 17), "status": "cancelled" })).await;
    let page = Browser::of(&endpoint.app, Role::Viewer).await.page("/services/shop").await;
    let went_well = heights(&page, "Deployment frequency by week");
    assert_eq!((went_well.len(), went_well[11], went_well[9], went_well[10]), (12, 48.0, 24.0, 1.0), "{page}");
    assert_eq!(heights(&page, "Change failure rate by week")[9], 48.0);
    assert_eq!(heights(&page, "Recovery time by week")[9], 48.0);
    // A week without a value has no bar, but one of which the number is zero has.
    let gaps = |label: &str| {
        let plot = page.split_once(&format!("aria-label=\"{label}\"")).expect("the plot").1;
        plot.split_once("</svg>").expect("its end").0.matches("<rect class=\"plot gap\"").count()
    };
    assert_eq!((gaps("Recovery time by week"), gaps("Change failure rate by week")), (11, 0), "{page}");
    assert_eq!(gaps("Change lead time by week"), 12, "{page}");
    for text in [
        ">180 deploys</a>",
        "1 of 181 failed",
        "<title>60 deploys, week of ",
        "All 182 deploys",
        // What the full height of a chart stands for.
        "<div class=\"axis most\"><span>120 deploys</span></div>",
        "<div class=\"axis most\"><span>1 failure</span></div>",
        "<span title=\"Deployment frequency\">Deploys</span>",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    // Nothing is better than nothing, which is said once.
    assert_eq!(page.matches("no earlier deploys").count(), 1, "{page}");
    assert!(!page.contains(">better<") && !page.contains(">worse<") && !page.contains("0.0 a month"), "{page}");
}

#[tokio::test]
async fn the_metrics_of_a_service_are_those_of_production_in_any_letter_case() {
    let endpoint = Endpoint::start().await;
    for (environment, status, count) in
        [("Production", "success", 2), ("prod", "failed", 1), ("staging", "success", 5), ("Test", "failed", 3)]
    {
        for _ in 0..count {
            let deploy = json!({ "deployed_at": ago(2), "environment": environment, "status": status });
            endpoint.post_with(deploy).await;
        }
    }
    let page = Browser::of(&endpoint.app, Role::Viewer).await.page("/services/shop").await;
    for text in [">2 deploys</a>", "1 of 3 failed", "<title>2 deploys, ", "<title>1 failure, "] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("<title>5 deploys") && !page.contains("<title>7 deploys"), "{page}");
}

#[tokio::test]
async fn all_deploys_of_a_service_are_paged_through_by_environment_and_day() {
    let endpoint = Endpoint::start().await;
    for number in 1..=60 {
        let environment = if number > 55 { "staging" } else { "production" };
        let at = format!("2026-10-{:02}T12:00:00Z", if number == 60 { 9 } else { 8 });
        endpoint
            .post_with(json!({ "deploy_number": number.to_string(), "environment": environment, "deployed_at": at }))
            .await;
    }
    let browser = Browser::of(&endpoint.app, Role::Viewer).await;
    let rows = |page: &str| page.matches("<th scope=\"row\">").count();
    let first = browser.page("/services/shop/deploys").await;
    assert!(rows(&first) == 50 && first.contains("#60 ·") && !first.contains("#10 ·"), "{first}");
    let next = first.split_once("rel=\"next\" href=\"").expect("a next page").1.split_once('"').expect("its end").0;
    assert!(browser.page(&next.replace("&amp;", "&")).await.contains("#10 ·"));
    assert_eq!(rows(&browser.page("/services/shop/deploys?environment=Staging").await), 5);
    assert_eq!(rows(&browser.page("/services/shop/deploys?from=2026-10-09&until=2026-10-09").await), 1);
    assert!(browser.page("/services/shop/deploys?until=2026-10-07").await.contains("No deploys match."));
    assert_eq!(browser.get("/services/shop/deploys?from=yesterday").await.status, 400);
    assert_eq!(browser.get("/services/none/deploys").await.status, 404);
}

#[tokio::test]
async fn long_texts_and_long_lists_keep_the_page_small() {
    let endpoint = Endpoint::start().await;
    let service = endpoint.create_service("Long").await;
    let update = "mutation($id: ID!, $tags: [TagInput!]!, $note: String!) {
        serviceUpdate(input: { id: $id, note: $note }) { errors { message } }
        tagAssign(input: { id: $id, tags: $tags }) { errors { message } }
    }";
    let tags: Vec<Value> = (0..100).map(|key| json!({ "key": format!("k{key}"), "value": "v".repeat(200) })).collect();
    endpoint.app.query(update, json!({ "id": service, "tags": tags, "note": "wörd ".repeat(2_000) })).await;
    for number in 0..200 {
        let create = "mutation($id: ID!, $alias: String!) { aliasCreate(input: { ownerId: $id, alias: $alias }) { errors { message } } }";
        endpoint.app.query(create, json!({ "id": service, "alias": format!("org/long-{number}") })).await;
    }
    for _ in 0..20 {
        let text = format!("First line\n{}", "d".repeat(40_000));
        endpoint.post_with(json!({ "service": "long", "description": text, "commit": { "message": text } })).await;
    }
    let mut browser = Browser::of(&endpoint.app, Role::User).await;
    let page = browser.page("/services/long").await;
    assert!(page.len() < 100_000 && page.contains("First line …") && page.contains("190 more"), "{}", page.len());
    let integrations = browser.page("/integrations").await;
    let path = integrations.split('"').find(|text| text.starts_with("/integrations/Z")).expect("an integration");
    let page = browser.page(path).await;
    assert!(page.len() < 100_000 && page.contains("First line …"), "{}", page.len());
    assert_eq!(browser.post("/services/long/edit", &[]).await.status, 422, "what it was is not known");
}

/// Creates the service "shop" with issues of these severities, named "issue 0" and so on.
async fn create_issues(app: &TestApp, severities: impl IntoIterator<Item = Option<&str>>) {
    let custom = integration::custom(app, "Scanner").await;
    let create = "mutation { serviceCreate(input: { name: \"shop\" }) { errors { message } } }";
    app.query(create, json!({})).await;
    let project = json!({ "integration": { "id": custom }, "externalId": "p" });
    let upsert =
        "mutation($p: CodeIssueProjectUpsertInput!) { codeIssueProjectUpsert(input: $p) { errors { message } } }";
    app.query(upsert, json!({ "p": { "identifier": project, "name": "shop", "url": "https://example.com" } })).await;
    for (number, severity) in severities.into_iter().enumerate() {
        let issue = json!({
            "identifier": { "externalId": number.to_string(), "codeIssueProject": project },
            "name": format!("issue {number}"), "issueCategory": "vulnerability", "severity": severity,
        });
        let upsert = "mutation($i: CodeIssueInput!) { codeIssueUpsert(input: $i) { errors { message } } }";
        let answer = app.query(upsert, json!({ "i": issue })).await;
        assert_eq!(answer["data"]["codeIssueUpsert"]["errors"], json!([]), "{answer}");
    }
}

#[tokio::test]
async fn issues_are_counted_in_total_and_the_most_severe_come_first() {
    let app = TestApp::start().await;
    let severities = (0..115).map(|number| match number {
        0..110 => Some("low"),
        110..112 => None,
        112 => Some("CRITICAL"),
        113 => Some("critical"),
        _ => Some("odd"),
    });
    create_issues(&app, severities).await;
    let page = Browser::of(&app, Role::Viewer).await.page("/services/shop").await;
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    assert!(place("2 issues") < place("issue 113") && place("issue 113") < place("issue 112"));
    assert!(place("critical</span>") < place("low</span>") && place("low</span>") < place("odd</span>"));
    assert!(place("110 issues") < place("12 more. Read all of them") && place("without severity") > 0);
    // After the first 100 there is nothing to list.
    assert!(!page.contains("<ul></ul>"), "{page}");
    assert!(place("1 issue</summary>") < place("1 not shown here. Read all of them"));
    assert!(place("2 issues</summary>") < place("2 not shown here. Read all of them"));
}

/// In words that a database and this program write in lower case in different ways.
#[tokio::test]
async fn every_issue_is_listed_below_its_severity() {
    let app = TestApp::start().await;
    create_issues(&app, ["GRÖSSER", "größer", "GRÖSSER", "grösser"].map(Some)).await;
    let page = Browser::of(&app, Role::Viewer).await.page("/services/shop").await;
    assert!(page.contains("grösser</span> 3 issues") && page.contains("größer</span> 1 issue<"), "{page}");
    for number in 0..4 {
        assert_eq!(page.matches(&format!("issue {number} <")).count(), 1, "{number}: {page}");
    }
    assert!(!page.contains("Use the API to read"), "{page}");
}

#[tokio::test]
async fn the_kind_of_an_integration_does_not_follow_from_its_name() {
    let app = TestApp::start().await;
    let create = "mutation {
        deploy: eventIntegrationCreate(input: { name: \"x\", type: githubActions }) { integration { id } }
        document: eventIntegrationCreate(input: { name: \"y\", type: apiDoc }) { integration { id } }
        custom: customIntegrationCreate(input: { name: \"z\" }) { integration { id } }
    }";
    let made = app.query(create, json!({})).await;
    let mut browser = Browser::of(&app, Role::Admin).await;
    for (field, kind) in [("deploy", "GitHub Actions"), ("document", "API documents"), ("custom", "Custom")] {
        let id = made["data"][field]["integration"]["id"].as_str().expect("an id");
        for name in ["AWS", "Custom", "Deploy", "apiDoc", "kubernetes"] {
            let renamed = browser.post(&format!("/integrations/{id}/rename"), &[("name", name)]).await;
            assert_eq!(renamed.status, 303, "{name}");
            let page = browser.page(&format!("/integrations/{id}")).await;
            assert!(page.contains(&format!("{kind} integration, added")), "{name}: {page}");
        }
    }
}

#[tokio::test]
async fn notes_are_rendered_as_markdown_and_link_only_to_the_web() {
    let endpoint = Endpoint::start().await;
    let update =
        "mutation($note: String!) { serviceUpdate(input: { alias: \"shop\", note: $note }) { errors { message } } }";
    let note = "# Runbook\n- see https://wiki.example.com/run.\n\n[bad](javascript:alert(1)) <script>alert(1)</script>";
    endpoint.app.query(update, json!({ "note": note })).await;
    let page = Browser::of(&endpoint.app, Role::Viewer).await.page("/services/shop").await;
    assert!(page.contains("<h3>Runbook</h3>"), "{page}");
    assert!(page.contains("<a href=\"https://wiki.example.com/run\">https://wiki.example.com/run</a>."), "{page}");
    assert!(!page.contains("javascript:") && !page.contains("<script>"), "{page}");
}

#[tokio::test]
async fn the_filter_by_days_accepts_any_number() {
    let endpoint = Endpoint::start().await;
    let browser = Browser::of(&endpoint.app, Role::Viewer).await;
    assert!(browser.page("/services?quiet=4294967295").await.contains("1 service"));
}

#[tokio::test]
async fn a_member_creates_and_changes_a_service() {
    let app = TestApp::start().await;
    let mut mem = Browser::of(&app, Role::User).await;
    let empty = mem.post("/new/service", &[("name", ""), ("language", "Rust")]).await;
    assert!(empty.status == 422 && empty.text().contains("aria-invalid") && empty.text().contains("value=\"Rust\""));
    assert_eq!(mem.post("/new/team", &[("name", "Shop Team")]).await.location(), "/teams/shop_team");
    let form = [("name", "Shop"), ("ownerInput.alias", "shop_team"), ("description", "one\r\ntwo"), ("language", "")];
    assert_eq!(mem.post("/new/service", &form).await.location(), "/services/shop");
    let page = mem.page("/services/shop").await;
    assert!(page.contains(">Shop Team</a>") && page.contains("one<br />\ntwo"), "{page}");

    let edit = mem.page("/services/shop/edit").await;
    let seen = |page: &str| {
        let seen = page.split_once("name=\"seen\" value=\"").expect("when it was changed").1;
        seen.split_once('"').expect("its end").0.to_owned()
    };
    let before = seen(&edit);
    let form = |name: &'static str, owner: &'static str, seen: &str| {
        [("name", name), ("ownerInput.alias", owner), ("description", "one\r\ntwo"), ("language", "Go")]
            .map(|(name, text)| (name, text.to_owned()))
            .into_iter()
            .chain([("seen", seen.to_owned())])
            .collect::<Vec<_>>()
    };
    let send = async |mem: &mut Browser<'_>, form: Vec<(&'static str, String)>| {
        let form: Vec<_> = form.iter().map(|(name, text)| (*name, &**text)).collect();
        mem.post("/services/shop/edit", &form).await
    };
    let unknown = send(&mut mem, form("Shop", "nobody", &before)).await;
    assert!(unknown.status == 422 && unknown.text().contains("id=\"wrong-ownerInput.alias\""), "{unknown:?}");
    assert_eq!(send(&mut mem, form("Web Shop", "", &before)).await.location(), "/services/shop");
    assert!(mem.page("/services/web_shop").await.contains("<h1>Web Shop</h1>"));
    let last = app.db.read().one(audit::Entity::find().order_by_desc(audit::Column::Id)).await;
    let last = last.expect("an answer").expect("an entry");
    let detail: Value = serde_json::from_str(&last.detail).expect("JSON");
    let mut input = detail["input"].clone();
    input.as_object_mut().expect("an input").remove("id");
    assert_eq!(input, json!({ "name": "Web Shop", "ownerInput": null, "language": "Go" }), "only what was changed");

    let late = send(&mut mem, form("Shop", "shop_team", &before)).await;
    assert!(late.status == 422 && late.text().contains("Someone else changed this service"), "{late:?}");
    let again = form("Shop", "shop_team", &seen(late.text()));
    assert_eq!(send(&mut mem, again).await.location(), "/services/shop");
}

#[tokio::test]
async fn aliases_and_tags_are_added_and_removed_and_a_service_is_deleted() {
    let endpoint = Endpoint::start().await;
    endpoint.create_service("other").await;
    let mut mem = Browser::of(&endpoint.app, Role::User).await;
    assert_eq!(
        mem.post("/services/shop/alias", &[("alias", "org/shop")]).await.location(),
        "/services/shop/edit?done=saved#alias"
    );
    assert!(mem.page("/services/org%2Fshop").await.contains("<h1>shop</h1>"));
    let taken = mem.post("/services/shop/alias", &[("alias", "other")]).await;
    assert!(taken.status == 422 && taken.text().contains("another service has the alias"), "{taken:?}");
    assert_eq!(mem.post("/services/shop/alias-delete", &[("alias", "other")]).await.status, 404);
    assert_eq!(
        mem.post("/services/org%2Fshop/alias-delete", &[("alias", "org/shop")]).await.location(),
        "/services/shop/edit?done=deleted#alias"
    );
    assert_eq!(mem.get("/services/org%2Fshop").await.status, 404);

    assert_eq!(mem.post("/services/shop/tag", &[("key", "Bad Key"), ("value", "")]).await.status, 422);
    assert_eq!(
        mem.post("/services/shop/tag", &[("key", "env"), ("value", "a:b")]).await.location(),
        "/services/shop/edit?done=saved#tag"
    );
    let page = mem.page("/services/shop").await;
    assert!(page.contains("href=\"/services?tag=env%3Aa%3Ab\""), "{page}");
    assert!(mem.page("/services?tag=env%3Aa%3Ab").await.contains(">shop<"));
    let edit = mem.page("/services/shop/edit").await;
    let id = edit.split_once("name=\"id\" value=\"").expect("a tag").1.split_once('"').expect("its end").0.to_owned();
    assert_eq!(mem.post("/services/other/tag-delete", &[("id", &id)]).await.status, 404);
    assert_eq!(
        mem.post("/services/shop/tag-delete", &[("id", &id)]).await.location(),
        "/services/shop/edit?done=deleted#tag"
    );
    assert_eq!(mem.post("/services/shop/delete", &[]).await.location(), "/services");
    assert_eq!(mem.get("/services/shop").await.status, 404);
}

#[tokio::test]
async fn a_member_creates_and_changes_a_team() {
    let app = TestApp::start().await;
    let mut mem = Browser::of(&app, Role::User).await;
    assert_eq!(mem.post("/new/team", &[("name", "Shop"), ("managerEmail", "nobody@example.com")]).await.status, 422);
    let form = [("name", "Shop"), ("managerEmail", "user@example.com"), ("responsibilities", "**All** of it")];
    assert_eq!(mem.post("/new/team", &form).await.location(), "/teams/shop");
    let member = [("email", "user@example.com"), ("role", "lead")];
    assert_eq!(mem.post("/teams/shop/member", &member).await.location(), "/teams/shop/edit?done=saved#members");
    let page = mem.page("/teams/shop").await;
    assert!(page.contains("<strong>All</strong>") && page.contains(">lead<"), "{page}");
    let edit = mem.page("/teams/shop/edit").await;
    let manager = app.db.read().one(user::Entity::find().filter(user::Column::Email.eq("user@example.com"))).await;
    let manager = manager.expect("an answer").expect("a user").name;
    assert!(edit.contains(&format!("name=\"managerEmail\" value=\"{manager}\"")), "by name: {edit}");
    let id =
        edit.split_once("name=\"id\" value=\"").expect("a member").1.split_once('"').expect("its end").0.to_owned();
    assert_eq!(
        mem.post("/teams/shop/member-delete", &[("id", &id)]).await.location(),
        "/teams/shop/edit?done=deleted#members"
    );
    assert_eq!(mem.post("/teams/shop/edit", &[("name", "Web Shop")]).await.location(), "/teams/shop");
    let page = mem.page("/teams/shop").await;
    assert!(page.contains("<h1>Web Shop</h1>") && page.contains("This team has no members."), "{page}");
    assert_eq!(mem.post("/teams/shop/delete", &[]).await.location(), "/teams");
}

#[tokio::test]
async fn a_viewer_is_offered_no_change_and_can_make_none() {
    let endpoint = Endpoint::start().await;
    let mut mem = Browser::of(&endpoint.app, Role::User).await;
    mem.post("/new/team", &[("name", "Shop")]).await;
    let mut vera = Browser::of(&endpoint.app, Role::Viewer).await;
    for path in ["/services", "/services/shop", "/teams", "/teams/shop"] {
        let page = vera.page(path).await;
        assert!(!page.contains("/edit") && !page.contains("href=\"/new/"), "{path}: {page}");
    }
    for path in ["/new/service", "/new/team", "/services/shop/edit", "/teams/shop/edit"] {
        assert_eq!(vera.get(path).await.status, 403, "{path}");
    }
    for path in ["/new/service", "/new/team", "/services/shop/delete", "/services/shop/alias", "/teams/shop/delete"] {
        assert_eq!(vera.post(path, &[("name", "x"), ("alias", "x")]).await.status, 403, "{path}");
    }
}

#[tokio::test]
async fn a_service_managed_by_a_file_has_no_form() {
    let endpoint = Endpoint::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("shop.yml");
    std::fs::write(&file, "version: 1\nservice:\n  name: shop\n").expect("a file");
    crate::harness::service_file::run(&endpoint.app.db, &[file]).await.expect("it applies");
    let mut mem = Browser::of(&endpoint.app, Role::User).await;
    assert!(!mem.page("/services/shop").await.contains("/edit\""));
    let edit = mem.page("/services/shop/edit").await;
    assert!(edit.contains("This service is managed by a service file") && !edit.contains("<textarea"), "{edit}");
    let refused = mem.post("/services/shop/delete", &[]).await;
    assert_eq!(refused.status, 422, "{refused:?}");
}

#[tokio::test]
async fn the_page_of_a_service_shows_its_owner_contacts_links_and_dependencies() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        Core: teamCreate(input: { name: "Core", contacts: { type: slack, address: "@core", displayName: "Core & friends" } }) { errors { message } }
        Cart: serviceCreate(input: { name: "Cart", tierAlias: "tier_1", ownerInput: { alias: "core" } }) { errors { message } }
        Mail: serviceCreate(input: { name: "<Mail>", tierAlias: "tier_3" }) { errors { message } }
        tool: toolCreate(input: { serviceAlias: "cart", category: runbooks, displayName: "Run<book>", url: "https://wiki.example.com/cart" }) {
            errors { message }
        }
        needs: serviceDependencyCreate(inputV2: { dependencyKey: {
            sourceIdentifier: { alias: "cart" }, destinationIdentifier: { alias: "mail" }
        }, notes: "to confirm orders" }) { errors { message } }
        domainCreate(input: { name: "Commerce" }) { errors { message } }
        systemCreate(input: { name: "Shop", parent: { alias: "commerce" }, ownerId: null }) { errors { message } }
        systemChildAssign(system: { alias: "shop" }, childServices: { alias: "cart" }) { errors { message } }
    }"#;
    let answer = data(&app, query).await;
    for (name, payload) in answer.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    let browser = Browser::of(&app, Role::Viewer).await;
    let page = browser.page("/services/cart").await;
    for shown in [
        "Core &amp; friends",
        "@core",
        "<a href=\"https://wiki.example.com/cart\"",
        "Run&lt;book&gt;",
        "Depends on 1 service",
        "<a href=\"/services/mail\">&lt;Mail&gt;</a>",
        "less critical than this service",
        "to confirm orders",
        "<a href=\"/systems/shop\">Shop</a>",
    ] {
        assert!(page.contains(shown), "{shown} is missing: {page}");
    }
    let page = browser.page("/services/mail").await;
    assert!(page.contains("1 service depends on it") && page.contains("<a href=\"/services/cart\">Cart</a>"), "{page}");
    assert!(!page.contains("less critical than") && page.contains("more critical than this service"), "{page}");
    for (path, shown) in [
        ("/systems", "<a href=\"/domains/commerce\">Commerce</a>"),
        ("/systems/shop", "<a href=\"/services/cart\">Cart</a>"),
        ("/domains", "<a href=\"/domains/commerce\">Commerce</a>"),
        ("/domains/commerce", "<a href=\"/systems/shop\">Shop</a>"),
    ] {
        let page = browser.page(path).await;
        assert!(page.contains(shown), "{path} lacks {shown}: {page}");
    }
    let long = "x".repeat(2000);
    let add = "mutation($address: String!) { contactCreate(input: { teamAlias: \"core\", type: slack, address: $address }) { errors { message } } }";
    for _ in 0..99 {
        let answer = app.query(add, json!({ "address": long })).await;
        assert_eq!(answer["data"]["contactCreate"]["errors"], json!([]));
    }
    let page = browser.page("/services/cart").await;
    assert!(page.contains("97 more") && page.len() < 100_000, "{}", page.len());
    assert_eq!(browser.get("/systems/no").await.status, 404);
    assert_eq!(browser.get("/domains/no").await.status, 404);
}
