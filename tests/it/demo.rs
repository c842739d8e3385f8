//! The example company of `rollcall demo`.

use rollcall::demo;
use rollcall::entity::Timestamp;
use rollcall::entity::user::Role;
use serde_json::json;

use crate::app::TestApp;
use crate::app_browser::Browser;
use crate::service::data;

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
    assert!(browser.page("/delivery?team=payments").await.contains("before: "));
    assert!(browser.page("/services/ledger").await.contains("critical"));
    let again = demo::fill(&app.db, Timestamp::now()).await.expect_err("a second company");
    assert!(again.to_string().contains("the demo needs an empty one"), "{again}");
}
