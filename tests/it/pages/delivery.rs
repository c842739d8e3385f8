//! Delivery week by week, of the organisation and its parts.

use rollcall::deploy::delivery;
use rollcall::deploy::metrics::{self, Metrics, Wanted, Whose, Window};
use rollcall::entity::deploy::Environments;
use rollcall::entity::user::Role;
use rollcall::entity::{ByAlias, Timestamp, service};
use serde_json::json;

use crate::harness::app::data;
use crate::harness::browser::Browser;
use crate::harness::database::Database;
use crate::harness::webhook::Endpoint;

/// An endpoint with deploys of a service in a system of a domain, of a team, and of another service.
async fn delivered() -> Endpoint {
    let endpoint = Endpoint::start().await;
    let query = r#"mutation {
        team: teamCreate(input: { name: "Core" }) { errors { message } }
        domain: domainCreate(input: { name: "Shop" }) { errors { message } }
        system: systemCreate(input: { name: "Checkout", parent: { alias: "shop" } }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart", ownerInput: { alias: "core" }, parent: { alias: "checkout" } }) { errors { message } }
        other: serviceCreate(input: { name: "Other" }) { errors { message } }
    }"#;
    data(&endpoint.app, query).await;
    let now = Timestamp::now().as_micros();
    let ago = |hours: i64| Timestamp::from_micros(now - hours * 3_600_000_000).to_string();
    let deploys = [
        ("cart", "success", 24 * 100, 48),
        ("cart", "failure", 24 * 20, 0),
        ("cart", "success", 24 * 20 - 2, 24),
        ("cart", "success", 24, 24),
        ("other", "failure", 12, 0),
    ];
    for (number, (service, status, hours, lead)) in deploys.into_iter().enumerate() {
        let mut deploy = json!({
            "service": service, "status": status, "environment": "production", "dedup_id": number.to_string(),
            "deployed_at": ago(hours),
        });
        if lead > 0 {
            deploy["commit"] = json!({ "sha": format!("{number}"), "date": ago(hours + lead) });
        }
        assert_eq!(endpoint.post_with(deploy).await.status, 202);
    }
    endpoint
}

#[tokio::test]
async fn delivery_is_shown_for_a_service_a_team_a_system_a_domain_and_all_against_the_weeks_before() {
    let endpoint = delivered().await;
    let browser = Browser::of(&endpoint.app, Role::Viewer).await;
    for path in [
        "/delivery?service=cart",
        "/delivery?team=core",
        "/delivery?system=checkout",
        "/delivery?domain=shop",
        "/services/cart",
    ] {
        let page = browser.page(path).await;
        for text in
            ["<strong>1 d</strong>", "before: 2 d", "<strong>33 %</strong>", "before: 0 %", "<strong>2 h</strong>"]
        {
            assert!(page.contains(text), "{path}, {text}: {page}");
        }
        for text in ["better</span> before: 2 d", "worse</span> before: 0 %", "better</span> before: 0.4 a month"] {
            assert!(page.contains(text), "{path}, {text}: {page}");
        }
        assert!(page.contains("<title>1 failure, week of ") && page.contains("plot bad"), "{page}");
        assert!(page.contains("<summary>The weeks as a table</summary>"), "{page}");
    }
    assert!(browser.page("/delivery?team=core").await.contains("report of 2023"));
    let page = browser.page("/delivery").await;
    assert!(page.contains("<strong>50 %</strong>") && page.contains("before: 0 %"), "{page}");
    let unknown = browser.get("/delivery?team=none").await;
    assert!(unknown.status == 400 && unknown.text().contains("id=\"wrong-name\">No team"), "{unknown:?}");
    let form = unknown.text().split_once("data-kind=\"kind\"").expect("a form").1;
    for text in ["<option value=\"team\" selected>a team</option>", "value=\"none\"", "data-find=\"teams\""] {
        assert!(form.contains(text), "what was asked is filled in, {text}: {form}");
    }
    // One form, which leads to the address of what it names.
    assert_eq!(page.matches("action=\"/delivery\"").count(), 1, "{page}");
    let chosen = browser.get("/delivery?kind=team&name=Core+%26").await;
    assert_eq!(chosen.location(), "/delivery?team=Core+%26");
    let odd = browser.get("/delivery?kind=odd&name=core").await;
    assert!(odd.status == 400 && odd.text().contains("id=\"wrong-kind\">Choose one of"), "{odd:?}");
    assert!(odd.text().contains("value=\"core\""), "{odd:?}");
    for (path, link) in [
        ("/teams/core", "/delivery?team=core"),
        ("/systems/checkout", "/delivery?system=checkout"),
        ("/domains/shop", "/delivery?domain=shop"),
        ("/services/cart", "/delivery?service=cart"),
    ] {
        assert!(browser.page(path).await.contains(&format!("href=\"{link}\"")), "{path}");
    }
}

#[tokio::test]
async fn delivery_of_several_is_that_of_all_of_them_and_of_several_kinds_of_what_belongs_to_each() {
    let endpoint = delivered().await;
    let browser = Browser::of(&endpoint.app, Role::Viewer).await;
    let both = browser.page("/delivery?service=cart&service=other").await;
    for text in ["<h1>Delivery of Cart, Other</h1>", "<strong>50 %</strong>", "before: 0 %", ">2 of 4 failed</a>"] {
        assert!(both.contains(text), "{text}: {both}");
    }
    let list = both.split('"').find(|text| text.ends_with("status=failed")).expect("a list of deploys");
    assert!(list.starts_with("/deploys?service=cart&amp;service=other&amp;from="), "{list}");
    let list = browser.page(&list.replace("&amp;", "&")).await;
    assert_eq!(list.matches("<th scope=\"row\">").count(), 2, "{list}");
    let each = browser.page("/delivery?team=core&system=checkout").await;
    assert!(each.contains(">1 of 3 failed</a>") && each.contains("<h1>Delivery of Core, Checkout</h1>"), "{each}");
    let neither = browser.page("/delivery?team=core&service=other").await;
    assert!(neither.contains("No deploys to production yet."), "{neither}");
    let unknown = browser.get("/delivery?team=core&team=none").await;
    assert!(unknown.status == 400 && unknown.text().contains("id=\"wrong-name\">No team"), "{unknown:?}");
    let many = browser.page(&format!("/delivery?{}", "team=core&".repeat(21))).await;
    assert!(many.contains("Only the first 20 of a kind are looked for."), "{many}");
}

#[tokio::test]
async fn delivery_speaks_of_the_weeks_before_only_if_they_have_deploys() {
    let endpoint = delivered().await;
    let browser = Browser::of(&endpoint.app, Role::Viewer).await;
    let against = ", against the 12 weeks before. ";
    assert!(browser.page("/delivery?service=cart").await.contains(against));
    for path in ["/delivery?service=other", "/delivery?team=core&service=other"] {
        let page = browser.page(path).await;
        assert!(page.contains("Deploys to production in the last 12 weeks. ") && !page.contains(against), "{page}");
    }
}

#[tokio::test]
async fn each_figure_leads_to_the_deploys_that_it_counts() {
    let endpoint = delivered().await;
    // Neither is to production, or in the weeks that are shown.
    let now = Timestamp::now().as_micros();
    for (environment, hours) in [("staging", 24), ("production", 24 * 90)] {
        let at = Timestamp::from_micros(now - hours * 3_600_000_000).to_string();
        let deploy = json!({
            "service": "cart", "status": "failure", "environment": environment, "deployed_at": at,
            "dedup_id": environment,
        });
        assert_eq!(endpoint.post_with(deploy).await.status, 202);
    }
    let browser = Browser::of(&endpoint.app, Role::Viewer).await;
    for query in ["service=cart", "team=core", "system=checkout", "domain=shop"] {
        let page = browser.page(&format!("/delivery?{query}")).await;
        for (text, status, rows) in [
            (">2 deploys</a>", "&amp;status=succeeded", 2),
            (">2 of 2 deploys with a commit date</a>", "&amp;status=succeeded", 2),
            (">1 of 3 failed</a>", "&amp;status=failed", 1),
            (">1 of 1 failure recovered</a>", "&amp;status=failed", 1),
        ] {
            let before = page.split_once(text).unwrap_or_else(|| panic!("{text}: {page}")).0;
            let list = before.rsplit_once("href=\"").expect("a link").1.trim_end_matches('"');
            assert!(list.starts_with(&format!("/deploys?{query}&amp;from=")) && list.ends_with(status), "{list}");
            let list = browser.page(&list.replace("&amp;", "&")).await;
            assert_eq!(list.matches("<th scope=\"row\">").count(), rows, "{query}, {text}: {list}");
        }
        // The table leads to those of a week.
        let weeks = page.split_once("aria-label=\"Weeks\"").expect("the table").1;
        let list = weeks.split('"').find(|text| text.ends_with("status=failed")).expect("a week with a failure");
        let list = browser.page(&list.replace("&amp;", "&")).await;
        assert_eq!(list.matches("<th scope=\"row\">").count(), 1, "{list}");
    }
}

#[tokio::test]
async fn of_a_service_with_very_many_deploys_there_are_fewer_weeks_and_each_is_whole() {
    let database = Database::new().await;
    let db = database.open().await;
    rollcall::generate::catalogue(&db, 4, |_| {}).await.expect("a catalogue");
    let end = Timestamp::parse("2026-01-01T00:00:00Z").expect("a moment");
    rollcall::generate::deploys(&db, 30_000, end, |_| {}).await.expect("deploys");
    let service = service::Entity::by_alias(db.read(), "svc-1").await.expect("a database").expect("a service").id;
    let environments = Environments::production(&["production".to_owned()]);
    let most = delivery::READ_OF_ONE;
    let found = delivery::of_services(db.read(), &[service], end, &environments, most).await.expect("a database");
    let weeks = found.weeks.len();
    assert!((1..delivery::WEEKS).contains(&weeks) && found.is_whole, "{found:?}");
    let counts = |metrics: &Metrics| (metrics.deploys, metrics.succeeded, metrics.failed);
    let measured = async |start: i64, end: i64| {
        let [start, end] = [start, end].map(Timestamp::from_micros);
        let window = Window { start, end, environments: environments.clone() };
        let all = metrics::measure(db.read(), Whose::Services(&[service]), &window, Wanted::ALL).await;
        counts(&all.expect("a database")[&service])
    };
    let start = found.start.as_micros();
    let period = end.as_micros() - start;
    assert_eq!(period, weeks as i64 * 7 * 86_400_000_000);
    assert_eq!(counts(&found.now), measured(start, end.as_micros()).await);
    assert_eq!(counts(&found.before), measured(start - period, start).await);
    let both = found.now.deploys + found.now.failed + found.before.deploys + found.before.failed;
    assert!(both <= delivery::READ_OF_ONE as i64 && both > delivery::READ_OF_ONE as i64 / 2, "{both}");
}

#[tokio::test]
async fn systems_and_domains_are_measured_by_the_services_that_belong_to_them() {
    let endpoint = delivered().await;
    let ask = async |arguments: &str| {
        let metrics =
            format!("deployMetrics{arguments} {{ deployCount failedCount failedDeploymentRecoveryTime {{ median }} }}");
        let query = format!(
            "{{ account {{ system(input: {{ alias: \"checkout\" }}) {{ {metrics} parent {{ {metrics} }} }} }} }}"
        );
        let mut system = endpoint.app.query(&query, json!({})).await["data"]["account"]["system"].take();
        // The domain has no other system.
        assert_eq!(system["parent"]["deployMetrics"], system["deployMetrics"], "{system}");
        system["deployMetrics"].take()
    };
    let recovery = json!({ "median": 7_200 });
    let month = json!({ "deployCount": 2, "failedCount": 1, "failedDeploymentRecoveryTime": recovery });
    assert_eq!(ask("").await, month);
    let now = Timestamp::now().as_micros();
    let ago = |days: i64| Timestamp::from_micros(now - days * 86_400_000_000);
    let window = format!("start: \"{}\", end: \"{}\"", ago(110), ago(90));
    let earlier = json!({ "deployCount": 1, "failedCount": 0, "failedDeploymentRecoveryTime": null });
    assert_eq!(ask(&format!("({window})")).await, earlier);
    let none = json!({ "deployCount": 0, "failedCount": 0, "failedDeploymentRecoveryTime": null });
    assert_eq!(ask("(environments: [\"staging\"])").await, none);
}
