//! Contacts of services, teams and users.

use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};

async fn owners(app: &TestApp) -> Value {
    let query = r#"mutation {
        Service: serviceCreate(input: { name: "Cart" }) { it: service { id } }
        Team: teamCreate(input: { name: "Core", contacts: [
            { type: slack, address: "@core" }, { type: web, address: "https://core.example.com", displayName: "Handbook" }
        ] }) { it: team { id contacts { type address displayName isDefault } } errors { message } }
        User: userInvite(email: "ada@example.com", input: {}) { it: user { id } }
    }"#;
    data(app, query).await
}

#[tokio::test]
async fn a_new_team_gets_its_contacts() {
    let app = TestApp::start().await;
    let made = owners(&app).await;
    let expected = json!([
        { "type": "slack", "address": "@core", "displayName": null, "isDefault": true },
        { "type": "web", "address": "https://core.example.com", "displayName": "Handbook", "isDefault": true },
    ]);
    assert_eq!(made["Team"]["it"]["contacts"], expected);
    let query = r#"mutation { teamCreate(input: { name: "Bad", contacts: [
        { type: slack, address: "" }, { type: web, address: "javascript:alert(1)" }
    ] }) { team { id } errors { path message } } }"#;
    let expected = json!({ "team": null, "errors": [
        { "path": ["contacts", "0", "address"], "message": "address must not be empty" },
        { "path": ["contacts", "1", "address"], "message": "url must begin with http:// or https:// and name a host" },
    ] });
    assert_eq!(data(&app, query).await["teamCreate"], expected);
}

#[tokio::test]
async fn each_kind_of_owner_has_contacts_and_one_of_a_type_is_the_default() {
    let app = TestApp::start().await;
    let ids = owners(&app).await;
    for owner in ["Service", "User", "Team"] {
        let id = &ids[owner]["it"]["id"];
        let query = "mutation($id: ID!) {
            a: contactCreate(input: { ownerId: $id, type: email, address: \"a@example.com\", displayName: \"A\", displayType: \"Mail\", externalId: \"7\" }) {
                contact { id type address displayName displayType externalId isDefault } errors { message }
            }
            b: contactCreate(input: { ownerId: $id, type: email, address: \"b@example.com\" }) { contact { id isDefault } errors { message } }
        }";
        let made = app.query(query, json!({ "id": id })).await["data"].clone();
        let (a, b) = (&made["a"]["contact"]["id"], &made["b"]["contact"]["id"]);
        let expected = json!({
            "id": a, "type": "email", "address": "a@example.com", "displayName": "A", "displayType": "Mail", "externalId": "7",
            "isDefault": true,
        });
        assert_eq!(made["a"]["contact"], expected, "{owner}");
        assert_eq!(made["b"]["contact"]["isDefault"], false);
        let query = "mutation($a: ID!, $b: ID!) {
            chosen: contactUpdate(input: { id: $b, makeDefault: true, displayName: \"B\" }) { contact { isDefault displayName } errors { message } }
            kept: contactUpdate(input: { id: $a, displayName: null, externalId: null }) { contact { isDefault displayName } errors { message } }
            deleted: contactDelete(input: { id: $b }) { deletedContactId errors { message } }
            last: contactUpdate(input: { id: $a }) { contact { isDefault } errors { message } }
        }";
        let answer = app.query(query, json!({ "a": a, "b": b })).await;
        let expected = json!({
            "chosen": { "contact": { "isDefault": true, "displayName": "B" }, "errors": [] },
            "kept": { "contact": { "isDefault": false, "displayName": null }, "errors": [] },
            "deleted": { "deletedContactId": b, "errors": [] },
            "last": { "contact": { "isDefault": true }, "errors": [] },
        });
        assert_eq!(answer["data"], expected, "{owner}");
    }
    let query = r#"{ account {
        service(alias: "cart") { contacts { address } }
        user(input: { email: "ada@example.com" }) { contacts { address } }
        team(alias: "core") { contacts { address } }
    } }"#;
    let account = data(&app, query).await["account"].clone();
    let of = |owner: &str| account[owner]["contacts"].as_array().expect("contacts").len();
    assert_eq!([of("service"), of("user"), of("team")], [1, 1, 3]);
}

#[tokio::test]
async fn a_contact_that_changes_its_type_leaves_each_type_its_default() {
    let app = TestApp::start().await;
    let query = r#"mutation { teamCreate(input: { name: "Core", contacts: [
        { type: slack, address: "A" }, { type: slack, address: "B" }, { type: email, address: "C" }
    ] }) { team { contacts { id } } errors { message } } }"#;
    let made = data(&app, query).await;
    let contacts = &made["teamCreate"]["team"]["contacts"];
    let contact = |kind: &str, address: &str, is_default: bool| json!({ "type": kind, "address": address, "isDefault": is_default });
    let update = "mutation($input: ContactUpdateInput!) { contactUpdate(input: $input) {
        contact { isDefault } errors { message }
    } }";
    for (input, expected) in [
        (
            json!({ "id": contacts[0]["id"], "type": "email" }),
            json!([contact("email", "A", false), contact("slack", "B", true), contact("email", "C", true)]),
        ),
        (
            json!({ "id": contacts[1]["id"], "type": "github" }),
            json!([contact("email", "A", false), contact("github", "B", true), contact("email", "C", true)]),
        ),
        (
            json!({ "id": contacts[2]["id"], "type": "github", "makeDefault": true }),
            json!([contact("email", "A", true), contact("github", "B", false), contact("github", "C", true)]),
        ),
    ] {
        let answer = app.query(update, json!({ "input": input })).await;
        assert_eq!(answer["data"]["contactUpdate"]["errors"], json!([]), "{input}");
        let read = data(&app, r#"{ account { team(alias: "core") { contacts { type address isDefault } } } }"#).await;
        assert_eq!(read["account"]["team"]["contacts"], expected, "{input}");
    }
}

#[tokio::test]
async fn a_contact_has_exactly_one_owner() {
    let app = TestApp::start().await;
    owners(&app).await;
    let query = r#"mutation {
        alias: contactCreate(input: { teamAlias: "core", type: github, address: "core" }) { errors { path message } }
        none: contactCreate(input: { type: github, address: "core" }) { errors { path message } }
        gone: contactCreate(input: { teamAlias: "no", type: github, address: " " }) { errors { path message } }
        stray: contactCreate(input: { ownerId: "Z2lkOi8vcm9sbGNhbGwvVGllci8x", type: github, address: "core" }) { errors { path message } }
        page: contactCreate(input: { teamAlias: "core", type: web, address: "core" }) { errors { path message } }
    }"#;
    let expected = json!({
        "alias": { "errors": [] },
        "none": { "errors": [{ "path": ["base"], "message": "exactly one of ownerId, teamId and teamAlias must be given" }] },
        "gone": { "errors": [
            { "path": ["teamAlias"], "message": "a team with the alias \"no\" does not exist on this account" },
            { "path": ["address"], "message": "address must not be empty" },
        ] },
        "stray": { "errors": [{ "path": ["ownerId"], "message": "a service, team or user with this id does not exist on this account: it is the id of a Tier" }] },
        "page": { "errors": [{ "path": ["address"], "message": "url must begin with http:// or https:// and name a host" }] },
    });
    assert_eq!(data(&app, query).await, expected);
}
