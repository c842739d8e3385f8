//! The example company of `rollcall demo`.

use rollcall::demo;
use rollcall::entity::Timestamp;
use rollcall::entity::user::Role;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;

#[tokio::test]
async fn the_demo_is_a_company_whose_pages_have_something_to_show() {
    let app = TestApp::start().await;
    let (services, deploys) = demo::fill(&app.db, Timestamp::now()).await.expect("a company");
    assert!(services == 22 && deploys > 500, "{services} {deploys}");
    let counts = "{ account { services(hasOwner: false) { totalCount } teams { totalCount } systems { totalCount }
        serviceSuggestions(state: open) { totalCount } service(alias: \"cart\") { locked tools { totalCount } } } }";
    let account = &data(&app, counts).await["account"];
    assert_eq!(account["services"]["totalCount"], json!(1));
    assert_eq!([&account["teams"]["totalCount"], &account["systems"]["totalCount"]], [&json!(6), &json!(3)]);
    assert_eq!(account["serviceSuggestions"]["totalCount"], json!(6));
    assert_eq!(account["service"], json!({ "locked": false, "tools": { "totalCount": 3 } }));
    let browser = Browser::of(&app, Role::Viewer).await;
    let home = browser.page("/").await;
    for text in ["href=\"/services/cart\"", "Lena Fischer", "Fraud Score"] {
        assert!(home.contains(text), "{text}: {home}");
    }
    assert!(browser.page("/teams").await.contains("class=\"tree\""));
    // Its deploys are of 60 days: there is nothing to compare the last weeks with.
    assert!(browser.page("/delivery?team=payments").await.contains("no earlier deploys"));
    assert!(browser.page("/services/ledger").await.contains("critical"));
    standards(&app, &browser).await;
    let again = demo::fill(&app.db, Timestamp::now()).await.expect_err("a second company");
    assert!(again.to_string().contains("the demo needs an empty one"), "{again}");
}

/// The standards of the company, of which some services miss something.
async fn standards(app: &TestApp, browser: &Browser<'_>) {
    let query = r#"{ account {
        rubric { levels { nodes { name lockedBy } } categories { nodes { name lockedBy } } }
        scorecards { nodes { name lockedBy serviceCount totalChecks passingChecks } }
        campaigns { nodes { name lockedBy status checks { nodes { name } } checkStats { total totalSuccessful } } }
        ledger: service(alias: "ledger") { maturityReport { overallLevel { name } } checkStats { totalChecks } }
        orphan: service(alias: "fraud_score") { maturityReport { overallLevel { name } } }
    } }"#;
    let account = &data(app, query).await["account"];
    let names = |list: &Value| -> Vec<String> {
        let nodes = list["nodes"].as_array().expect("nodes");
        assert!(nodes.iter().all(|node| node["lockedBy"].is_null()), "they can be edited: {list}");
        nodes.iter().map(|node| node["name"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(names(&account["rubric"]["levels"]), ["Beginner", "Bronze", "Silver", "Gold"]);
    assert_eq!(names(&account["scorecards"]), ["Ready for the sale"]);
    assert!(names(&account["rubric"]["categories"]).len() >= 3);
    let card = &account["scorecards"]["nodes"][0];
    let [services, all, passing] = ["serviceCount", "totalChecks", "passingChecks"].map(|name| card[name].as_i64());
    assert!(services > Some(5) && all == services && passing > Some(0) && passing < all, "{card}");
    assert_eq!(names(&account["campaigns"]), ["A runbook for every service"]);
    let campaign = &account["campaigns"]["nodes"][0];
    assert_eq!(campaign["status"], "in_progress");
    let [all, passing] = ["total", "totalSuccessful"].map(|name| campaign["checkStats"][name].as_i64());
    assert!(all == Some(22) && passing > Some(0) && passing < all, "{campaign}");
    // It has a critical code issue, and the other has no owner.
    assert_eq!(account["ledger"]["maturityReport"]["overallLevel"]["name"], "Bronze");
    assert_eq!(
        account["ledger"]["checkStats"]["totalChecks"], 5,
        "those of the scorecard and the campaign do not count"
    );
    assert_eq!(account["orphan"]["maturityReport"]["overallLevel"]["name"], "Beginner");
    let page = browser.page("/standards").await;
    for text in
        ["Has a runbook", "Was deployed in the last 14 days", "Ready for the sale", "A runbook for every service"]
    {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(browser.page("/services/ledger").await.contains("Bronze"));
    assert!(browser.page("/services/ledger/standards").await.contains("Ledger"));
    assert!(browser.page("/teams/payments").await.contains("Has a runbook"));
}
