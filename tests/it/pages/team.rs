//! The page of a team: who is on call, what is open, how it delivers, and how to reach its members.

use rollcall::entity::Timestamp;
use rollcall::entity::user::Role;
use serde_json::json;

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::integration;
use crate::harness::webhook::Endpoint;

/// The card with this heading's id.
fn card<'a>(page: &'a str, id: &str) -> &'a str {
    let start = format!("id=\"{id}\"");
    let rest = page.split_once(&start).unwrap_or_else(|| panic!("no {id} in {page}")).1;
    rest.split_once("</section>").expect("its end").0
}

/// Pushes code issues of the service "Cart": name, severity, and when each came into the code.
async fn issues(app: &TestApp, issues: &[(&str, Option<&str>, &str)]) {
    let custom = integration::custom(app, "Scanner").await;
    let project = json!({ "integration": { "id": custom }, "externalId": "p" });
    let upsert =
        "mutation($p: CodeIssueProjectUpsertInput!) { codeIssueProjectUpsert(input: $p) { errors { message } } }";
    app.query(upsert, json!({ "p": { "identifier": project, "name": "Cart" } })).await;
    for (number, (name, severity, introduced)) in issues.iter().enumerate() {
        let issue = json!({
            "identifier": { "externalId": number.to_string(), "codeIssueProject": project },
            "name": name, "issueCategory": "vulnerability", "severity": severity, "introducedAt": introduced,
            "url": "https://scanner.example.com/1",
        });
        let upsert = "mutation($i: CodeIssueInput!) { codeIssueUpsert(input: $i) { errors { message } } }";
        let answer = app.query(upsert, json!({ "i": issue })).await;
        assert_eq!(answer["data"]["codeIssueUpsert"]["errors"], json!([]), "{answer}");
    }
}

#[tokio::test]
async fn a_team_says_who_is_on_call_what_is_open_and_how_it_delivers() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let now = Timestamp::now().as_micros();
    let ago = |hours: i64| Timestamp::from_micros(now - hours * 3_600_000_000).to_string();
    let query = format!(
        r#"mutation {{
            ada: userInvite(email: "ada@example.com", input: {{ name: "Ada" }}) {{ user {{ id }} errors {{ message }} }}
            core: teamCreate(input: {{ name: "Core", members: [{{ user: {{ email: "ada@example.com" }} }}] }}) {{ errors {{ message }} }}
            rest: teamCreate(input: {{ name: "Rest" }}) {{ errors {{ message }} }}
            cart: serviceCreate(input: {{ name: "Cart", ownerInput: {{ alias: "core" }} }}) {{ errors {{ message }} }}
            other: serviceCreate(input: {{ name: "Other", ownerInput: {{ alias: "rest" }} }}) {{ errors {{ message }} }}
            calls: serviceOnCallsUpdate(input: {{ service: {{ alias: "cart" }}, onCalls: [
                {{ name: "Lena <b>", endsAt: "{}" }}, {{ name: "Gone", endsAt: "{}" }}
            ] }}) {{ errors {{ message }} }}
            more: serviceOnCallsUpdate(input: {{ service: {{ alias: "other" }}, onCalls: [{{ name: "Jon" }}] }}) {{ errors {{ message }} }}
        }}"#,
        ago(-30),
        ago(1)
    );
    let made = data(app, &query).await;
    for (name, payload) in made.as_object().expect("data") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    let contact = "mutation($id: ID!) { contactCreate(input: { ownerId: $id, type: slack, address: \"@ada\" }) { errors { message } } }";
    app.query(contact, json!({ "id": made["ada"]["user"]["id"] })).await;
    let low = |name| (name, Some("low"), "2019-01-01T00:00:00Z");
    issues(
        app,
        &[
            ("old high", Some("High"), "2020-01-01T00:00:00Z"),
            ("new critical", Some("critical"), "2025-01-01T00:00:00Z"),
            ("old critical", Some("CRITICAL"), "2021-01-01T00:00:00Z"),
            low("low one"),
            low("low two"),
            low("low three"),
            ("unrated", None, "2018-01-01T00:00:00Z"),
        ],
    )
    .await;
    for (number, (status, hours)) in
        [("success", 24 * 100), ("failure", 24 * 20), ("success", 24)].into_iter().enumerate()
    {
        let deploy = json!({
            "service": "cart", "status": status, "environment": "production", "dedup_id": number.to_string(),
            "deployed_at": ago(hours),
        });
        assert_eq!(endpoint.post_with(deploy).await.status, 202);
    }

    let browser = Browser::of(app, Role::Viewer).await;
    let page = browser.page("/teams/core").await;
    let on_call = card(&page, "on-call");
    for text in ["Lena &lt;b&gt;", ">until <time", " UTC</time>", "href=\"/services/cart\""] {
        assert!(on_call.contains(text), "{text}: {on_call}");
    }
    assert!(!on_call.contains("Gone") && !on_call.contains("Jon"), "{on_call}");
    let open = card(&page, "issues");
    let places: Vec<Option<usize>> = [
        "critical</span> 2",
        "high</span> 1",
        "low</span> 3",
        "without severity</span> 1",
        "old critical",
        "new critical",
        "old high",
        "low one",
        "low two",
    ]
    .map(|text| open.find(text))
    .to_vec();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}: {open}");
    assert!(!open.contains("low three") && !open.contains("unrated"), "five are shown: {open}");
    assert!(open.contains("https://scanner.example.com/1") && open.contains("href=\"/services/cart\""), "{open}");
    let delivery = card(&page, "delivery");
    for text in ["Change failure rate", "<strong>50 %</strong>", "worse", "before: 0 %", "/delivery?team=core"] {
        assert!(delivery.contains(text), "{text}: {delivery}");
    }
    assert!(page.contains("@ada"), "how to reach a member: {page}");

    // Nothing is said of what is not there.
    let page = browser.page("/teams/rest").await;
    assert!(card(&page, "on-call").contains("Jon") && !card(&page, "on-call").contains("Lena"), "{page}");
    assert!(!page.contains("id=\"issues\"") && !page.contains("id=\"delivery\""), "{page}");
    data(app, "mutation { teamCreate(input: { name: \"Empty\" }) { errors { message } } }").await;
    let page = browser.page("/teams/empty").await;
    for id in ["on-call", "issues", "delivery"] {
        assert!(!page.contains(&format!("id=\"{id}\"")), "{id}: {page}");
    }
}
