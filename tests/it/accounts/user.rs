//! Users.

use serde_json::json;

use crate::harness::app::{TestApp, data};
use crate::harness::webhook::Endpoint;

#[tokio::test]
async fn user_invite_makes_a_user_named_after_the_address() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        ada: userInvite(email: " Ada@Example.com ", input: {}) { user { name email role } errors { message path } }
        bob: userInvite(email: "bob@example.com", input: { name: "Bob B.", role: admin }) {
            user { name email role } errors { message path }
        }
    }"#;
    let expected = json!({
        "ada": { "user": { "name": "Ada", "email": "Ada@Example.com", "role": "user" }, "errors": [] },
        "bob": { "user": { "name": "Bob B.", "email": "bob@example.com", "role": "admin" }, "errors": [] },
    });
    assert_eq!(data(&app, query).await, expected);
}

#[tokio::test]
async fn an_email_address_is_unique_whatever_its_letter_case() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        first: userInvite(email: "ada@example.com", input: {}) { errors { message path } }
        second: userInvite(email: "ADA@example.com", input: {}) { user { id } errors { message path } }
    }"#;
    let message = "another user already has the email address \"ADA@example.com\"";
    let expected = json!({
        "first": { "errors": [] },
        "second": { "user": null, "errors": [{ "message": message, "path": ["email"] }] },
    });
    assert_eq!(data(&app, query).await, expected);
}

#[tokio::test]
async fn email_addresses_ignore_the_case_of_ascii_letters_only() {
    let endpoint = Endpoint::start().await;
    let query =
        "mutation($email: String!) { userInvite(email: $email, input: {}) { user { email } errors { message } } }";
    for email in ["kate@example.com", "\u{212A}ate@example.com", "ärzte@example.com", "ÄRZTE@example.com"] {
        let answer = endpoint.app.query(query, json!({ "email": email })).await;
        assert_eq!(answer["data"]["userInvite"]["user"], json!({ "email": email }), "{answer}");
    }
    // The same for every reference to a user, and for the deployer of a deploy.
    let query = "query($email: String!) { account { user(input: { email: $email }) { email } } }";
    for (given, expected) in [
        ("KATE@EXAMPLE.COM", "kate@example.com"),
        ("\u{212A}ATE@Example.com", "\u{212A}ate@example.com"),
        ("äRZTE@example.com", "ärzte@example.com"),
        ("Ärzte@example.com", "ÄRZTE@example.com"),
    ] {
        let answer = endpoint.app.query(query, json!({ "email": given })).await;
        assert_eq!(answer["data"]["account"]["user"], json!({ "email": expected }), "{given}");
        endpoint.post_with(json!({ "deployer": { "email": given } })).await;
        assert_eq!(
            endpoint.deploys("associatedUser { email }").await[0]["associatedUser"]["email"],
            expected,
            "{given}"
        );
    }
    endpoint.post_with(json!({ "deployer": { "email": "\u{212A}aren@example.com" } })).await;
    let answer = endpoint.app.query(query, json!({ "email": "\u{212A}aren@example.com" })).await;
    assert_eq!(answer["data"]["account"]["user"], json!(null));
}

#[tokio::test]
async fn an_invalid_email_address_is_refused() {
    let app = TestApp::start().await;
    let query = "mutation($email: String!) { userInvite(email: $email, input: {}) { errors { path } } }";
    for email in [
        "",
        " ",
        "ada",
        "@example.com",
        "ada@",
        "a da@example.com",
        "ada@evil.example@example.com",
        "@ada@example.com",
        "ada@example.com@",
        "\"a@b\"@example.com",
        "ada\u{a0}@example.com",
        "mailto:ada@example.com",
        "MAILTO:ada@example.com",
        "<ada@example.com>",
        "Ada<ada@example.com>",
        "ada@example.com,",
        "ada@example.com;bob",
        "ada(work)@example.com",
        &format!("{}@example.com", "a".repeat(255)),
    ] {
        let answer = app.query(query, json!({ "email": email })).await;
        assert_eq!(answer["data"]["userInvite"]["errors"], json!([{ "path": ["email"] }]), "{email}");
    }
}

#[tokio::test]
async fn user_update_changes_only_the_given_fields() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        userInvite(email: "ada@example.com", input: { name: "Ada", role: admin }) { errors { path } }
        other: userInvite(email: "eve@example.com", input: { role: admin }) { errors { path } }
        name: userUpdate(user: { email: "ADA@example.com" }, input: { name: "Countess" }) { user { name role } errors { message path } }
        role: userUpdate(user: { email: "ada@example.com" }, input: { role: user }) { user { name role } errors { message path } }
        null: userUpdate(user: { email: "ada@example.com" }, input: { name: null, role: null }) { user { name } errors { message path } }
    }"#;
    let expected = json!({
        "userInvite": { "errors": [] },
        "other": { "errors": [] },
        "name": { "user": { "name": "Countess", "role": "admin" }, "errors": [] },
        "role": { "user": { "name": "Countess", "role": "user" }, "errors": [] },
        "null": { "user": null, "errors": [
            { "message": "name must not be null", "path": ["name"] }, { "message": "role must not be null", "path": ["role"] },
        ] },
    });
    assert_eq!(data(&app, query).await, expected);
}

#[tokio::test]
async fn a_mutation_names_a_user_in_exactly_one_way() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        neither: userDelete(user: {}) { errors { message path } }
        both: userDelete(user: { id: "x", email: "y" }) { errors { message path } }
        nobody: userDelete(user: { id: null, email: "y" }) { errors { message path } }
        other: userUpdate(user: { id: "Z2lkOi8vcm9sbGNhbGwvVGVhbS8x" }, input: {}) { errors { message path } }
    }"#;
    let one = json!({ "errors": [{ "message": "exactly one of id and email must be given", "path": ["user"] }] });
    let expected = json!({
        "neither": one,
        "both": one,
        "nobody": { "errors": [{ "message": "a user with the email address \"y\" does not exist on this account", "path": ["user", "email"] }] },
        "other": { "errors": [{ "message": "a user with this id does not exist on this account: it is the id of a Team", "path": ["user", "id"] }] },
    });
    assert_eq!(data(&app, query).await, expected);
}

#[tokio::test]
async fn a_deleted_user_leaves_teams_without_a_manager() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        userInvite(email: "ada@example.com", input: {}) { user { id } }
        teamCreate(input: {
            name: "Core", managerEmail: "ada@example.com", members: [{ user: { email: "ada@example.com" } }]
        }) { team { manager { email } members { totalCount } } }
        userDelete(user: { email: "ada@example.com" }) { deletedUserId errors { message path } }
    }"#;
    let answer = data(&app, query).await;
    let team = json!({ "manager": { "email": "ada@example.com" }, "members": { "totalCount": 1 } });
    assert_eq!(answer["teamCreate"]["team"], team);
    let expected = json!({ "deletedUserId": answer["userInvite"]["user"]["id"], "errors": [] });
    assert_eq!(answer["userDelete"], expected);
    let read = data(&app, r#"{ account { team(alias: "core") { manager { email } members { totalCount } } } }"#).await;
    assert_eq!(read["account"]["team"], json!({ "manager": null, "members": { "totalCount": 0 } }));
}

#[tokio::test]
async fn a_user_is_found_by_id_and_by_address_with_its_teams() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        userInvite(email: "ada@example.com", input: {}) { user { id } }
        b: teamCreate(input: { name: "B", members: [{ user: { email: "ada@example.com" } }] }) { errors { path } }
        c: teamCreate(input: { name: "C" }) { errors { path } }
        a: teamCreate(input: { name: "A", members: [{ user: { email: "ada@example.com" } }] }) { errors { path } }
    }"#;
    let id = data(&app, query).await["userInvite"]["user"]["id"].clone();
    let query = r#"query($id: ID!) { account {
        user(id: $id) { teams { totalCount nodes { name } } }
        by_email: user(input: { email: "ADA@EXAMPLE.COM" }) { id }
        by_input: user(input: { id: $id }) { email }
        users { totalCount nodes { email } }
    } }"#;
    let expected = json!({ "account": {
        "user": { "teams": { "totalCount": 2, "nodes": [{ "name": "B" }, { "name": "A" }] } },
        "by_email": { "id": id },
        "by_input": { "email": "ada@example.com" },
        "users": { "totalCount": 1, "nodes": [{ "email": "ada@example.com" }] },
    } });
    assert_eq!(app.query(query, json!({ "id": id })).await["data"], expected);
}

#[tokio::test]
async fn of_many_who_invite_the_same_address_one_succeeds() {
    let app = TestApp::start().await;
    let query = "mutation { userInvite(email: \"ada@example.com\", input: {}) { errors { path } } }";
    let answers = futures_util::future::join_all((0..16).map(|_| app.query(query, json!({})))).await;
    let won = answers.iter().filter(|answer| answer["data"]["userInvite"]["errors"] == json!([])).count();
    let lost = json!([{ "path": ["email"] }]);
    let lost = answers.iter().filter(|answer| answer["data"]["userInvite"]["errors"] == lost).count();
    assert_eq!((won, lost), (1, 15));
}
