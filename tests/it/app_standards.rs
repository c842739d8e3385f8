//! The pages about standards: the rubric, a check, and the card of a service.

use rollcall::entity::user::Role;

use crate::app::TestApp;
use crate::app_browser::Browser;
use crate::tour::Tour;

#[tokio::test]
async fn the_rubric_leads_to_checks_and_these_to_the_services_that_miss_them() {
    let tour = Tour::start().await;
    let app = &tour.endpoint.app;
    let viewer = Browser::of(app, Role::Viewer).await;
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
    let service = viewer.page("/services/shop").await;
    for text in ["id=\"standards\"", "checks to pass, the next step first:", &clean, "It has 1 such code issue."] {
        assert!(service.contains(text), "{text}: {service}");
    }
    assert_eq!(viewer.get("/standards/nothing").await.status, 404);
}

#[tokio::test]
async fn without_checks_the_page_says_how_to_begin() {
    let app = TestApp::start().await;
    let mut ada = Browser::of(&app, Role::User).await;
    assert!(ada.page("/standards").await.contains("No checks yet."));
    ada.post("/new/service", &[("name", "shop")]).await;
    assert!(!ada.page("/services/shop").await.contains("id=\"standards\""));
}
