//! `--owner-only-writes`: members change only their own teams and what those own.

use rollcall::entity::token::Scope;
use rollcall::entity::user::Role;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;

const RULE: &str = "this server lets members change only their own teams and what those own";

/// A catalogue where a member belongs to one of two teams, with a service each.
async fn held() -> TestApp {
    let app = TestApp::with(&["--owner-only-writes"]).await;
    let made = r#"mutation {
        own: teamCreate(input: { name: "Own", managerEmail: "user@example.com" }) { errors { message } }
        other: teamCreate(input: { name: "Other" }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart", ownerInput: { alias: "own" } }) { errors { message } }
        mail: serviceCreate(input: { name: "Mail", ownerInput: { alias: "other" } }) { errors { message } }
    }"#;
    let _user = Browser::of(&app, Role::User).await;
    let made = data(&app, made).await;
    for name in ["own", "other", "cart", "mail"] {
        assert_eq!(made[name]["errors"], json!([]), "{made}");
    }
    app
}

const CHANGES: &str = r#"mutation {
    cart: serviceUpdate(input: { alias: "cart", language: "Rust" }) { errors { message } }
    mail: serviceUpdate(input: { alias: "mail", language: "Rust" }) { errors { message } }
    other: teamUpdate(input: { alias: "other", responsibilities: "r" }) { errors { message } }
    tier: tierCreate(input: { name: "T" }) { errors { message } }
}"#;

/// The first error of each of [`CHANGES`].
fn errors(answer: &Value) -> Value {
    let payloads = answer["data"].as_object().unwrap_or_else(|| panic!("{answer}"));
    payloads.iter().map(|(name, payload)| (name.clone(), payload["errors"][0]["message"].clone())).collect()
}

#[tokio::test]
async fn a_member_changes_what_their_teams_own_and_is_told_whose_the_rest_is() {
    let app = held().await;
    let user = Browser::of(&app, Role::User).await;
    let expected = json!({
        "cart": null,
        "mail": format!("{RULE}; this would change what the team \"Other\" owns"),
        "other": format!("{RULE}; this would change the team \"Other\""),
        "tier": format!("{RULE}; this would change what no team owns"),
    });
    assert_eq!(errors(&user.query(CHANGES, json!({})).await), expected);
    let left = data(
        &app,
        r#"{ account { cart: service(alias: "cart") { language } mail: service(alias: "mail") { language } } }"#,
    );
    assert_eq!(left.await["account"], json!({ "cart": { "language": "Rust" }, "mail": { "language": null } }));

    let apply =
        "mutation($text: String!) { apply: serviceFilesApply(input: { files: { path: \"f.yml\", text: $text } }) {
        errors { message }
    } }";
    let apply = async |name: &str| {
        let text = format!("version: 1\nservice: {{ name: {name}, language: Go }}\n");
        user.query(apply, json!({ "text": text })).await["data"]["apply"]["errors"].clone()
    };
    assert_eq!(apply("Cart").await, json!([]));
    let message = format!("the service \"mail\": {RULE}; this would change what the team \"Other\" owns");
    assert_eq!(apply("Mail").await, json!([{ "message": message }]));
}

#[tokio::test]
async fn other_roles_and_tokens_are_unaffected() {
    let app = held().await;
    let none = json!({ "cart": null, "mail": null, "other": null, "tier": null });
    let again = |name: &str| CHANGES.replace("\"T\"", &format!("{name:?}"));
    for role in [Role::StandardsAdmin, Role::Admin] {
        let browser = Browser::of(&app, role).await;
        let told = errors(&browser.query(&again(&format!("{role:?}")), json!({})).await);
        assert_eq!(told, none, "{role:?}");
    }
    let token = format!("Bearer {}", app.new_token(Scope::Write, None).await);
    let answer = app.post_with(&again("Token"), json!({}), &[("authorization", &token)]).await;
    assert_eq!(errors(&answer.json()), none, "a pipeline");
    let member = Browser::of(&app, Role::TeamMember).await;
    let rule = "you can change only your own teams and what they own; this would change what the team \"Own\" owns";
    let changes = CHANGES.replace("Rust", "Go");
    assert_eq!(errors(&member.query(&changes, json!({})).await)["cart"], rule);
}

#[tokio::test]
async fn pages_say_that_it_is_the_server_that_refuses() {
    let app = held().await;
    let mut user = Browser::of(&app, Role::User).await;
    let account = user.page("/account").await;
    assert!(
        account.contains("a member: you can read the catalogue, and change your teams and what they own"),
        "{account}"
    );
    let mail = user.page("/services/mail").await;
    assert!(
        mail.contains("Other</a> owns this service. On this server, only its members and administrators"),
        "{mail}"
    );
    for path in ["/new/team", "/integrations/new"] {
        let refused = user.get(path).await;
        let told = "This server lets members change only their own teams and what those own.";
        assert!(refused.status == 403 && refused.text().contains(told), "{path}: {refused:?}");
    }
    let refused = user.post("/views", &[("name", "All"), ("query", ""), ("shared", "on")]).await;
    assert!(refused.status == 422 && refused.text().contains("only an administrator can share"), "{refused:?}");
    // Whoever knows the URL of a webhook can post for every service.
    let made = r#"mutation { eventIntegrationCreate(input: { type: deploy, name: "CI" }) { errors { message } } }"#;
    assert_eq!(data(&app, made).await["eventIntegrationCreate"]["errors"], json!([]));
    let query = "{ account { integrations { nodes { webhookUrl } } } }";
    let seen = user.query(query, json!({})).await["data"]["account"]["integrations"]["nodes"].clone();
    assert_eq!(seen, json!([{ "webhookUrl": null }]));
    // What it makes for its own team is its own.
    let made = user.post("/new/service", &[("name", "New"), ("ownerInput.alias", "own")]).await;
    assert_eq!(made.location(), "/services/new");
    assert!(user.page("/services/new").await.contains("href=\"/services/new/edit\""));
}
