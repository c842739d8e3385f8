//! What the pages show of things that the visitor may not change, and of things that nobody owns.

use rollcall::entity::user::Role;
use serde_json::json;

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::rows::rows;

/// A catalogue with two teams, the first led by a team member, and a service and a system of each and of nobody.
async fn catalogue() -> TestApp {
    let app = TestApp::start().await;
    let _member = Browser::of(&app, Role::TeamMember).await;
    let made = r#"mutation {
        own: teamCreate(input: { name: "Own", managerEmail: "teammember@example.com" }) { errors { message } }
        other: teamCreate(input: { name: "Pay Team" }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart", ownerInput: { alias: "own" } }) { errors { message } }
        mail: serviceCreate(input: { name: "Mail", ownerInput: { alias: "pay_team" } }) { errors { message } }
        free: serviceCreate(input: { name: "Free" }) { errors { message } }
        till: systemCreate(input: { name: "Till" }) { errors { message } }
    }"#;
    let made = data(&app, made).await;
    for (name, payload) in made.as_object().expect("payloads") {
        assert_eq!(payload["errors"], json!([]), "{name}");
    }
    app
}

#[tokio::test]
async fn a_form_about_what_others_own_is_refused_with_the_owner_and_the_way_to_reach_them() {
    let app = catalogue().await;
    let mut member = Browser::of(&app, Role::TeamMember).await;
    let before = rows(&app).await;
    for (path, form) in [
        ("/services/mail/tools", vec![("category", "logs"), ("displayName", "L"), ("url", "https://l.example.com")]),
        ("/services/mail/tag", vec![("key", "env"), ("value", "prod")]),
        ("/services/mail/delete", vec![]),
    ] {
        let refused = member.post(path, &form).await;
        assert_eq!(refused.status, 403, "{path}: {refused:?}");
        for said in [
            "<a href=\"/teams/pay_team\">Pay Team</a> owns this service.",
            "<a href=\"/teams/pay_team/contacts\">How to reach Pay Team</a>",
            "<a href=\"/services/mail\">Back to the service</a>",
        ] {
            assert!(refused.text().contains(said), "{said} at {path}: {refused:?}");
        }
    }
    let refused = member.post("/teams/pay_team/edit", &[("name", "Mine")]).await;
    assert!(refused.status == 403 && refused.text().contains("You are not in this team."), "{refused:?}");
    assert_eq!(rows(&app).await, before);
    // An address that names nothing is still unknown.
    assert_eq!(member.post("/services/none/tag", &[("key", "env")]).await.status, 404);
}

#[tokio::test]
async fn what_nobody_owns_is_taken_by_its_own_form_and_changed_by_no_other() {
    let app = catalogue().await;
    let mut member = Browser::of(&app, Role::TeamMember).await;
    for (page, noun) in [("/services/free", "service"), ("/systems/till", "system")] {
        let shown = member.page(page).await;
        let note =
            format!("Nobody owns this {noun}. To change it, first <a href=\"{page}/edit\">make one of your teams");
        assert!(shown.contains(&note), "{shown}");
        let form = member.page(&format!("{page}/edit")).await;
        assert!(form.contains("To save it, choose one of your teams as its owner."), "{form}");
    }
    let links = member.page("/services/free/tools").await;
    assert!(
        links.contains("Nobody owns this service.") && !links.contains("action=\"/services/free/tools\""),
        "{links}"
    );
    let link = [("category", "logs"), ("displayName", "L"), ("url", "https://l.example.com")];
    assert_eq!(member.post("/services/free/tools", &link).await.status, 403);
    let taken = member.post("/systems/till/edit", &[("name", "Till"), ("ownerId", "own")]).await;
    assert_eq!(taken.location(), "/systems/till");
    let shown = member.page("/systems/till").await;
    assert!(shown.contains("href=\"/systems/till/edit\"") && !shown.contains("Nobody owns"), "{shown}");

    // Whoever is in no team can take nothing.
    let left = r#"mutation { teamUpdate(input: { alias: "own", managerEmail: null }) { errors { message } } }"#;
    assert_eq!(data(&app, left).await["teamUpdate"]["errors"], json!([]));
    let shown = member.page("/services/free").await;
    let note =
        "Only members of a team can make that team its owner. People with a higher role than yours can change it.";
    assert!(shown.contains(note) && !shown.contains("/services/free/edit"), "{shown}");
    assert_eq!(member.get("/services/free/edit").await.location(), "/services/free");
    let refused = member.get("/new/service").await;
    assert!(refused.status == 403 && refused.text().contains("your own teams"), "{refused:?}");
}
