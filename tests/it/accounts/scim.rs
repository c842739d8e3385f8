//! SCIM: what an identity provider sends, in the forms of RFC 7644, of Entra ID and of Okta, and what comes of it.

use std::collections::BTreeSet;

use futures_util::future::{join, join_all};
use hyper::Method;
use rollcall::db::{Read, Write};
use rollcall::entity::token::Scope;
use rollcall::entity::user::{self, ProvisionedBy, Role};
use rollcall::entity::{Timestamp, audit, scim_group, scim_group_member, session, token};
use rollcall::scim;
use sea_orm::{EntityTrait, QueryOrder, Set};
use serde_json::{Value, json};

use crate::harness::app::{Response, TestApp, data};
use crate::harness::browser::{Browser, link_for};
use crate::harness::openid;
use crate::harness::openid_provider::Provider;
use crate::harness::receiver::{Receiver, subscribed};

const USER: &str = "urn:ietf:params:scim:schemas:core:2.0:User";
const GROUP: &str = "urn:ietf:params:scim:schemas:core:2.0:Group";
const PATCH: &str = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
const ERROR: &str = "urn:ietf:params:scim:api:messages:2.0:Error";

/// An identity provider with a token.
struct Client<'a> {
    app: &'a TestApp,
    token: String,
}

impl<'a> Client<'a> {
    async fn of(app: &'a TestApp) -> Self {
        Self { app, token: app.new_token(Scope::Scim, None).await }
    }

    async fn send(&self, method: Method, path: &str, body: &Value) -> Response {
        let bearer = format!("Bearer {}", self.token);
        let headers = [("authorization", &*bearer), ("content-type", "application/scim+json")];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.app.request(method, &format!("/scim/v2{path}"), &headers, body).await
    }

    /// Gets a resource, which must exist.
    async fn get(&self, path: &str) -> Value {
        let answer = self.send(Method::GET, path, &Value::Null).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        assert_eq!(answer.header("content-type"), Some("application/scim+json"));
        answer.json()
    }

    async fn patch(&self, path: &str, operations: Value) -> Response {
        self.send(Method::PATCH, path, &json!({ "schemas": [PATCH], "Operations": operations })).await
    }

    /// Patches a resource, and returns it.
    async fn patched(&self, path: &str, operations: Value) -> Value {
        let answer = self.patch(path, operations.clone()).await;
        assert!([200, 204].contains(&answer.status), "{operations}: {}", answer.text());
        self.get(path).await
    }

    /// Creates a resource, and returns it.
    async fn post(&self, path: &str, resource: Value) -> Value {
        let answer = self.send(Method::POST, path, &resource).await;
        assert_eq!(answer.status, 201, "{resource}: {}", answer.text());
        let made = answer.json();
        assert_eq!(answer.header("location"), made["meta"]["location"].as_str());
        made
    }

    /// Creates a user with an address, and returns the path.
    async fn user(&self, address: &str) -> String {
        let made = self.post("/Users", json!({ "schemas": [USER], "userName": address })).await;
        format!("/Users/{}", made["id"].as_str().expect("an id"))
    }

    /// Creates a group with members, and returns the path.
    async fn group(&self, name: &str, members: &[&str]) -> String {
        let made = self.post("/Groups", json!({ "displayName": name, "members": values(members) })).await;
        format!("/Groups/{}", made["id"].as_str().expect("an id"))
    }

    /// The names of the resources that a filter selects, in order.
    async fn found(&self, kind: &str, filter: &str) -> Vec<String> {
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("filter", filter).finish();
        let page = self.get(&format!("{kind}?{query}")).await;
        let found = page["Resources"].as_array().expect("resources");
        assert_eq!(page["totalResults"], found.len(), "{filter}");
        let name = |one: &Value| one["userName"].as_str().or(one["displayName"].as_str()).expect("a name").to_owned();
        found.iter().map(name).collect()
    }
}

/// The members with these paths or ids.
fn values(paths: &[&str]) -> Value {
    paths.iter().map(|path| json!({ "value": path.rsplit('/').next().expect("an id") })).collect()
}

/// Asserts that an answer is an error in the form of SCIM.
fn assert_refused(answer: &Response, status: u16, kind: Option<&str>) {
    let body = answer.json();
    assert_eq!(answer.status, status, "{body}");
    assert_eq!(answer.header("content-type"), Some("application/scim+json"));
    assert_eq!(body["schemas"], json!([ERROR]), "{body}");
    assert_eq!(body["status"], status.to_string(), "{body}");
    assert_eq!(body["scimType"].as_str(), kind, "{body}");
    assert!(body["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{body}");
}

async fn stored(app: &TestApp, address: &str) -> user::Model {
    user::by_email(app.db.read(), address).await.expect("an answer").expect("a user")
}

async fn made(app: &TestApp, address: &str, role: Role) -> user::Model {
    let made = app
        .db
        .write(async |db| user::create(db, address, None, role, ProvisionedBy::CommandLine, Timestamp::now()).await)
        .await;
    made.expect("a user")
}

/// The aliases of the teams of a user.
async fn teams(app: &TestApp, address: &str) -> BTreeSet<String> {
    let query =
        format!(r#"{{ account {{ user(input: {{ email: "{address}" }}) {{ teams {{ nodes {{ alias }} }} }} }} }}"#);
    let found = data(app, &query).await;
    let teams = found["account"]["user"]["teams"]["nodes"].as_array().expect("teams").clone();
    teams.iter().map(|team| team["alias"].as_str().expect("an alias").to_owned()).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[tokio::test]
async fn a_user_is_created_read_replaced_changed_and_deleted() {
    let app = TestApp::start().await;
    let client = Client::of(&app).await;
    let made = client
        .post(
            "/Users",
            json!({
                "schemas": [USER],
                "userName": "bjensen",
                "externalId": "bjensen-1",
                "name": { "formatted": "Ms. Barbara J Jensen III", "familyName": "Jensen", "givenName": "Barbara" },
                "emails": [{ "value": "home@example.com", "type": "home" }, { "value": "Babs@example.com", "primary": true }],
                "phoneNumbers": [{ "value": "555" }],
                "roles": [{ "value": "admin" }],
            }),
        )
        .await;
    let id = made["id"].as_str().expect("an id").to_owned();
    let path = format!("/Users/{id}");
    assert_eq!(made["userName"], "bjensen");
    assert_eq!(made["displayName"], "Ms. Barbara J Jensen III");
    let emails = json!([{ "value": "Babs@example.com", "type": "work", "primary": true }]);
    assert_eq!((&made["emails"], &made["active"], &made["groups"]), (&emails, &json!(true), &json!([])));
    assert_eq!(made["meta"]["resourceType"], "User");
    assert_eq!(made["meta"]["created"], made["meta"]["lastModified"]);
    assert!(made["meta"]["location"].as_str().is_some_and(|place| place.ends_with(&format!("/scim/v2/Users/{id}"))));
    assert_eq!(client.get(&path).await, made);
    let row = stored(&app, "babs@EXAMPLE.com").await;
    assert_eq!(
        (row.role, row.provisioned_by),
        (Role::Viewer, Some(ProvisionedBy::Scim)),
        "`roles` makes nobody anything"
    );

    // What a replacement leaves out is gone, but for the name that is shown.
    let answer = client.send(Method::PUT, &path, &json!({ "userName": "babs@example.com", "active": true })).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let replaced = answer.json();
    assert_eq!((&replaced["userName"], &replaced["externalId"]), (&json!("babs@example.com"), &Value::Null));
    assert_eq!(replaced["name"], json!({ "formatted": "Ms. Barbara J Jensen III" }));
    assert_ne!(replaced["meta"]["lastModified"], made["meta"]["lastModified"]);
    let patched = client
        .patched(
            &path,
            json!([
                { "op": "add", "value": { "externalId": "x", "name": { "givenName": "Babs", "familyName": "Jensen" } } },
                { "op": "replace", "path": "displayName", "value": "Babs Jensen" },
            ]),
        )
        .await;
    assert_eq!((&patched["externalId"], &patched["displayName"]), (&json!("x"), &json!("Babs Jensen")));
    // A name that consists of its parts follows them.
    let married = client.patched(&path, json!([{ "op": "replace", "path": "name.familyName", "value": "King" }])).await;
    assert_eq!(married["displayName"], "Babs King");
    let renamed = client.patched(&path, json!([{ "op": "remove", "path": "externalId" }])).await;
    assert_eq!(renamed.get("externalId"), None);
    let same = client.patched(&path, json!([{ "op": "replace", "path": "active", "value": true }])).await;
    assert_eq!(same, renamed, "what changes nothing does not change the time");

    let answer = client.send(Method::DELETE, &path, &Value::Null).await;
    assert_eq!((answer.status, answer.body.len()), (204, 0), "{}", answer.text());
    for (method, body) in
        [(Method::GET, Value::Null), (Method::DELETE, Value::Null), (Method::PUT, json!({ "userName": "a@b.c" }))]
    {
        assert_refused(&client.send(method, &path, &body).await, 404, None);
    }
    assert_refused(&client.patch(&path, json!([])).await, 404, None);
}

#[tokio::test]
async fn entra_id_finds_creates_changes_and_deactivates_a_user() {
    let app = TestApp::start().await;
    let client = Client::of(&app).await;
    let filter = "/Users?filter=userName+eq+%22Test_User_1%22";
    let none = client.get(filter).await;
    assert_eq!((&none["totalResults"], &none["Resources"]), (&json!(0), &json!([])), "no user is an empty page");
    let made = client
        .post(
            "/Users",
            json!({
                "schemas": [USER, "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"],
                "externalId": "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
                "userName": "Test_User_1",
                "active": true,
                "emails": [{ "primary": true, "type": "work", "value": "test.user@example.com" }],
                "meta": { "resourceType": "User" },
                "name": { "formatted": "given family", "familyName": "family", "givenName": "given" },
                "roles": [],
            }),
        )
        .await;
    assert_eq!(client.get(filter).await["Resources"], json!([made]));
    let path = format!("/Users/{}", made["id"].as_str().expect("an id"));
    let changed = client
        .patched(
            &path,
            json!([
                { "op": "Replace", "path": "emails[type eq \"work\"].value", "value": "updated@example.com" },
                { "op": "Replace", "path": "name.familyName", "value": "updated" },
                { "op": "Add", "path": "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department", "value": "IT" },
                { "op": "Add", "path": "phoneNumbers[type eq \"mobile\"].value", "value": "555" },
            ]),
        )
        .await;
    assert_eq!(
        (&changed["emails"][0]["value"], &changed["userName"]),
        (&json!("updated@example.com"), &json!("Test_User_1"))
    );
    assert_eq!(changed["name"], json!({ "formatted": "given updated", "familyName": "updated", "givenName": "given" }));
    let off = client.patched(&path, json!([{ "op": "Replace", "path": "active", "value": "False" }])).await;
    assert_eq!(off["active"], false);
    let on =
        client.patched(&path, json!([{ "op": "Replace", "value": { "active": "True", "name.givenName": "g" } }])).await;
    assert_eq!((&on["active"], &on["name"]["givenName"]), (&json!(true), &json!("g")));

    let group = client.post(
        "/Groups",
        json!({ "schemas": [GROUP], "externalId": "8aa1a0c0", "displayName": "Engineers", "meta": { "resourceType": "Group" } }),
    );
    let group = group.await;
    let groups = format!("/Groups/{}", group["id"].as_str().expect("an id"));
    let by_name = "/Groups?excludedAttributes=members&filter=displayName+eq+%22engineers%22";
    let found = client.get(by_name).await;
    assert_eq!((&found["totalResults"], found["Resources"][0].get("members")), (&json!(1), None));
    let member = json!([{ "$ref": null, "value": made["id"] }]);
    let answer = client.patch(&groups, json!([{ "op": "Add", "path": "members", "value": member }])).await;
    assert_eq!((answer.status, answer.body.len()), (204, 0));
    let is_member = format!("id eq \"{}\" and members eq {}", group["id"].as_str().expect("an id"), made["id"]);
    assert_eq!(client.found("/Groups", &is_member).await, ["Engineers"]);
    assert_eq!(client.get(&path).await["groups"][0]["display"], "Engineers");
    let left = client.patched(&groups, json!([{ "op": "Remove", "path": "members", "value": member }])).await;
    assert_eq!(left["members"], json!([]));
    assert_eq!(client.found("/Groups", &is_member).await, [""; 0]);
}

#[tokio::test]
async fn okta_imports_creates_replaces_and_deactivates() {
    let app = TestApp::start().await;
    let client = Client::of(&app).await;
    made(&app, "earlier@example.com", Role::User).await;
    let page = client.get("/Users?startIndex=1&count=100").await;
    assert_eq!((&page["totalResults"], &page["startIndex"], &page["itemsPerPage"]), (&json!(1), &json!(1), &json!(1)));
    let mut person = json!({
        "schemas": [USER],
        "userName": "test.user@okta.example",
        "name": { "givenName": "Test", "familyName": "User" },
        "emails": [{ "primary": true, "value": "test.user@okta.example", "type": "work" }],
        "displayName": "Test User",
        "locale": "en-US",
        "externalId": "00ujl29u0le5T6Aj10h7",
        "groups": [],
        "password": "1mz050nq",
        "active": true,
    });
    let made = client.post("/Users", person.clone()).await;
    assert!(!made.to_string().contains("1mz050nq"), "nobody keeps a password");
    let path = format!("/Users/{}", made["id"].as_str().expect("an id"));
    person["name"]["familyName"] = "Another".into();
    person["displayName"] = "Test Another".into();
    person["id"] = made["id"].clone();
    person["meta"] = made["meta"].clone();
    let answer = client.send(Method::PUT, &path, &person).await;
    assert_eq!((answer.status, &answer.json()["displayName"]), (200, &json!("Test Another")));
    let off = client.patch(&path, json!([{ "op": "replace", "value": { "active": false } }])).await;
    assert_eq!((off.status, &off.json()["active"]), (200, &json!(false)));
    let second = client.user("second@example.com").await;
    let group = client.group("Test SCIMv2", &[&path]).await;
    let other = json!({ "schemas": [GROUP], "id": "x", "displayName": "Test SCIMv2", "members": values(&[&second]) });
    let replaced = client.send(Method::PUT, &group, &other).await.json();
    let expected = second.rsplit('/').next().expect("an id");
    assert_eq!(replaced["members"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&replaced["members"][0]["value"], &replaced["members"][0]["display"]),
        (&json!(expected), &json!("second"))
    );
    let filter = format!("members[value eq \"{expected}\"]");
    let renamed = client.patched(
        &group,
        json!([
            { "op": "replace", "value": { "id": group.rsplit('/').next(), "displayName": "Renamed" } },
            { "op": "remove", "path": filter },
            { "op": "add", "path": "members", "value": values(&[&path]) },
        ]),
    );
    let renamed = renamed.await;
    assert_eq!((&renamed["displayName"], &renamed["members"][0]["value"]), (&json!("Renamed"), &made["id"]));
    assert_eq!(client.send(Method::DELETE, &group, &Value::Null).await.status, 204);
    assert_refused(&client.send(Method::GET, &group, &Value::Null).await, 404, None);
}

#[tokio::test]
async fn what_another_has_is_refused_as_not_unique() {
    let app = TestApp::start().await;
    let client = Client::of(&app).await;
    let ada = json!({ "userName": "ada", "externalId": "1", "emails": [{ "value": "ada@example.com" }] });
    let made = client.post("/Users", ada.clone()).await;
    let bob = client.user("bob@example.com").await;
    client
        .post("/Users", json!({ "userName": "carol@corp.example", "emails": [{ "value": "carol@example.com" }] }))
        .await;
    for person in [
        ada,
        json!({ "userName": "ADA", "emails": [{ "value": "x@example.com" }] }),
        json!({ "userName": "x@example.com", "externalId": "1" }),
        json!({ "userName": "x", "emails": [{ "value": "ADA@example.com" }] }),
        // The name of one may not be the address of another, who has no other name.
        json!({ "userName": "BOB@example.com", "emails": [{ "value": "x@example.com" }] }),
        // Nor of one who has one, and the other way round.
        json!({ "userName": "ADA@example.com", "emails": [{ "value": "x@example.com" }] }),
        json!({ "userName": "x", "emails": [{ "value": "Carol@corp.example" }] }),
    ] {
        assert_refused(&client.send(Method::POST, "/Users", &person).await, 409, Some("uniqueness"));
    }
    let answer = client.patch(&bob, json!([{ "op": "replace", "path": "userName", "value": "Ada" }])).await;
    assert_refused(&answer, 409, Some("uniqueness"));
    for (path, value) in [("userName", "ada@example.com"), ("emails.value", "carol@corp.example")] {
        let answer = client.patch(&bob, json!([{ "op": "replace", "path": path, "value": value }])).await;
        assert_refused(&answer, 409, Some("uniqueness"));
    }
    let invited = r#"mutation { userInvite(email: "Ada@example.com", input: {}) { errors { message path } } }"#;
    assert_eq!(data(&app, invited).await["userInvite"]["errors"][0]["path"], json!(["email"]));
    client.group("Dev", &[]).await;
    let again = client.send(Method::POST, "/Groups", &json!({ "displayName": "DEV" })).await;
    assert_refused(&again, 409, Some("uniqueness"));
    let path = format!("/Users/{}", made["id"].as_str().expect("an id"));
    assert_eq!(client.get(&path).await, made);
}

/// The number of entries of the audit, of users and of groups.
async fn numbers(app: &TestApp) -> [u64; 3] {
    let db = app.db.read();
    [
        db.count(audit::Entity::find()).await.expect("a count"),
        db.count(user::Entity::find()).await.expect("a count"),
        db.count(scim_group::Entity::find()).await.expect("a count"),
    ]
}

#[tokio::test]
async fn a_request_that_is_sent_again_changes_nothing_more() {
    let app = TestApp::start().await;
    let client = Client::of(&app).await;
    let ada = json!({
        "schemas": [USER], "userName": "ada", "externalId": "1", "displayName": "Ada Moreau",
        "name": { "givenName": "Ada", "familyName": "Moreau" },
        "emails": [{ "value": "ada@example.com", "type": "work", "primary": true }],
    });
    let made = client.post("/Users", ada.clone()).await;
    let user = format!("/Users/{}", made["id"].as_str().expect("an id"));
    let dev = json!({ "schemas": [GROUP], "displayName": "Dev", "externalId": "g1", "members": values(&[&user]) });
    let group = format!("/Groups/{}", client.post("/Groups", dev.clone()).await["id"].as_str().expect("an id"));
    let before = (numbers(&app).await, client.get(&user).await, client.get(&group).await);
    for (path, body) in [("/Users", &ada), ("/Groups", &dev)] {
        assert_refused(&client.send(Method::POST, path, body).await, 409, Some("uniqueness"));
    }
    assert_eq!((numbers(&app).await, client.get(&user).await, client.get(&group).await), before);

    // Each is carried out at the first time, and is the same at the second.
    let bob = client.user("bob@example.com").await;
    let patch = |operation: Value| json!({ "schemas": [PATCH], "Operations": [operation] });
    let mut renamed = ada.clone();
    renamed["displayName"] = json!("Ada King");
    let others = json!({ "schemas": [GROUP], "displayName": "Ops", "members": values(&[&bob]) });
    for (method, path, body, status) in [
        (Method::PATCH, &user, patch(json!({ "op": "replace", "path": "active", "value": false })), 200),
        (Method::PATCH, &user, patch(json!({ "op": "replace", "path": "active", "value": true })), 200),
        (Method::PATCH, &user, patch(json!({ "op": "add", "value": { "displayName": "Ada Lovelace" } })), 200),
        (Method::PUT, &user, renamed, 200),
        (Method::PATCH, &group, patch(json!({ "op": "add", "path": "members", "value": values(&[&bob]) })), 204),
        (Method::PATCH, &group, patch(json!({ "op": "remove", "path": "members", "value": values(&[&user]) })), 204),
        (Method::PUT, &group, others, 200),
    ] {
        let [entries, ..] = numbers(&app).await;
        let first = client.send(method.clone(), path, &body).await;
        assert_eq!(first.status, status, "{method} {body}: {}", first.text());
        let (after, resource) = (numbers(&app).await, client.get(path).await);
        assert_eq!(after[0], entries + 1, "{method} {body} is told");
        let second = client.send(method.clone(), path, &body).await;
        assert_eq!((second.status, &second.body), (status, &first.body), "{method} {body}: {}", second.text());
        assert_eq!((numbers(&app).await, client.get(path).await), (after, resource), "{method} {body}");
    }
    for path in [&group, &user, &bob] {
        assert_eq!(client.send(Method::DELETE, path, &Value::Null).await.status, 204);
        let after = numbers(&app).await;
        assert_refused(&client.send(Method::DELETE, path, &Value::Null).await, 404, None);
        assert_eq!(numbers(&app).await, after, "{path}");
    }
    let [_, users, groups] = numbers(&app).await;
    assert_eq!((users, groups), (0, 0));
}

#[tokio::test]
async fn only_a_token_for_scim_opens_it_and_opens_nothing_else() {
    let app = TestApp::start().await;
    let mut client = Client::of(&app).await;
    let own = client.token.clone();
    let admin = Browser::of(&app, Role::Admin).await;
    let page = admin.page("/tokens").await;
    assert!(page.contains("value=\"scim\""), "administrators make the token on the page");
    for scope in [Scope::Read, Scope::Write, Scope::Admin] {
        client.token = app.new_token(scope, None).await;
        let answer = client.send(Method::GET, "/Users", &Value::Null).await;
        assert_refused(&answer, 403, None);
        assert!(answer.text().contains("scope scim"), "{}", answer.text());
    }
    let expired = app.new_token(Scope::Scim, Some(-1)).await;
    for token in ["", "x", &expired, &own.replace("rc_", "rd_")] {
        client.token = token.to_owned();
        let answer = client.send(Method::POST, "/Users", &json!({ "userName": "a@b.c" })).await;
        assert_refused(&answer, 401, None);
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    // A session does not count.
    let cookie = admin.cookie.clone().expect("a cookie");
    let answer = app.get_with("/scim/v2/Users", &[("cookie", &cookie), ("sec-fetch-site", "same-origin")]).await;
    assert_refused(&answer, 401, None);

    let bearer = format!("Bearer {own}");
    let query = app.post_with("{ account { name } }", json!({}), &[("authorization", &bearer)]).await;
    assert_eq!(query.json()["errors"][0]["extensions"]["code"], "FORBIDDEN", "{}", query.text());
    let headers = [("authorization", &*bearer), ("content-type", "application/json")];
    assert_eq!(app.request(Method::POST, "/mcp", &headers, "{}").await.status, 403);
    client.token = own;
    client.get("/Users").await;
    let tokens = token::all(app.db.read()).await.expect("tokens");
    let refused = app.db.read().all(audit::Entity::find()).await.expect("entries");
    let refused =
        refused.iter().filter(|entry| entry.action == "forbidden" && entry.actor_kind == audit::ActorKind::Token);
    assert!(refused.count() > 0 && tokens.len() == 6, "who has tried is in the audit");
}

#[tokio::test]
async fn who_is_deactivated_is_out_at_once_and_still_shown() {
    let provider = Provider::start().await;
    let app = TestApp::with(&provider.flags()).await;
    let client = Client::of(&app).await;
    let path = client.user("ada@example.com").await;
    let team = r#"mutation { teamCreate(input: { name: "Pay", managerEmail: "ada@example.com",
        members: { email: "ada@example.com" } }) { errors { message } } }"#;
    data(&app, team).await;
    let mut browser = Browser::new(&app);
    assert_eq!(openid::sign_in(&provider, &mut browser).await.status, 303);
    let feed = browser.post("/account/feeds", &[]).await;
    let (_, feed) = feed.text().split_once("/feeds/").expect("an address");
    let feed = format!("/feeds/{}/deploys.atom", feed.split('/').next().expect("a token"));
    let link = link_for(&app.db, "ada@example.com", Role::Viewer).await;
    assert_eq!((app.get(&feed).await.status, browser.get("/services").await.status), (200, 200));

    // Not even a feed that would be left over is read.
    let deactivated = async |at: Option<Timestamp>| {
        let mut row: user::ActiveModel = stored(&app, "ada@example.com").await.into();
        row.deactivated_at = Set(at);
        app.db.write(async |db| db.update(row.clone()).await).await.expect("a user");
    };
    deactivated(Some(Timestamp::now())).await;
    assert_eq!(app.get(&feed).await.status, 404);
    deactivated(None).await;
    assert_eq!(app.get(&feed).await.status, 200);

    client.patched(&path, json!([{ "op": "replace", "path": "active", "value": false }])).await;
    assert_eq!(browser.get("/services").await.status, 303, "the session has ended");
    assert_eq!(app.get(&feed).await.status, 404, "the feed is revoked");
    assert_eq!(Browser::new(&app).post(&link, &[]).await.status, 404, "the link is void");
    assert_eq!(app.db.read().count(session::Entity::find()).await, Ok(0));
    let refused = openid::sign_in(&provider, &mut Browser::new(&app)).await;
    assert_eq!(refused.status, 403);
    assert!(refused.text().contains("is deactivated"), "{}", refused.text());

    // An administrator sees it, and cannot let them in by a link.
    let mut admin = Browser::of(&app, Role::Admin).await;
    let number = path.rsplit('/').next().expect("an id");
    assert!(admin.page(&format!("/users/{number}")).await.contains("deactivated"));
    assert!(admin.page("/users").await.contains("deactivated"));
    let query = r#"{ account { user(input: { email: "ada@example.com" }) { id deactivatedAt teams { nodes { alias } } }
        team(alias: "pay") { manager { email deactivatedAt } }
        active: users(filter: { key: deactivated_at }) { nodes { email } }
        left: users(filter: { key: deactivated_at, type: does_not_equal }) { nodes { email } } } }"#;
    let found = data(&app, query).await["account"].clone();
    let moment = found["user"]["deactivatedAt"].clone();
    assert!(moment.is_string(), "{found}");
    assert_eq!(found["user"]["teams"]["nodes"], json!([{ "alias": "pay" }]));
    assert_eq!(found["team"]["manager"], json!({ "email": "ada@example.com", "deactivatedAt": moment }));
    assert_eq!(found["active"]["nodes"], json!([{ "email": "admin@example.com" }]));
    assert_eq!(found["left"]["nodes"], json!([{ "email": "ada@example.com" }]));
    let id = found["user"]["id"].as_str().expect("an id");
    let answer = admin.post(&format!("/users/{id}/link"), &[]).await;
    assert!(answer.text().contains("is deactivated") && !answer.text().contains("/sign-in/"), "{}", answer.text());
    let entries = app.db.read().all(audit::Entity::find()).await.expect("entries");
    let entry = entries.iter().find(|entry| entry.action == "scimUserUpdate").expect("an entry");
    let detail: Value = serde_json::from_str(&entry.detail).expect("JSON");
    assert_eq!((&detail["endedSessions"], &detail["revokedFeeds"]), (&json!(1), &json!(1)));
    assert_eq!(detail["changed"]["deactivatedAt"]["old"], Value::Null);

    client.patched(&path, json!([{ "op": "replace", "path": "active", "value": true }])).await;
    assert_eq!(openid::sign_in(&provider, &mut Browser::new(&app)).await.status, 303, "activated again");
}

#[tokio::test]
async fn others_are_told_once_when_somebody_is_deactivated_and_once_when_they_are_deleted() {
    let (receiver, chat) = (Receiver::taking(), Receiver::taking());
    let hosts = [receiver.host(), chat.host()].join(",");
    let app = TestApp::with(&["--send-events-to", &hosts]).await;
    let _sending = tokio::spawn(app.events.clone().run());
    let client = Client::of(&app).await;
    let path = client.user("ada@example.com").await;
    subscribed(&app, &receiver.url(), json!({ "events": ["user_deleted"] })).await;
    subscribed(&app, &chat.url(), json!({ "events": ["user_deleted"], "form": "slack" })).await;
    let replace = async |attribute: &str, value: Value| {
        client.patched(&path, json!([{ "op": "replace", "path": attribute, "value": value }])).await
    };
    // Who was never here does not leave.
    client.post("/Users", json!({ "schemas": [USER], "userName": "bob@example.com", "active": false })).await;
    replace("displayName", json!("Ada")).await;
    replace("active", json!(false)).await;
    let body = receiver.exactly(1).await[0].body();
    assert_eq!(
        (&body["type"], &body["data"]["what"], &body["data"]["subject"]["type"]),
        (&json!("user.deleted"), &json!("changed"), &json!("User")),
        "{body}"
    );
    let moment = &body["data"]["changed"]["deactivatedAt"];
    assert!(moment["old"].is_null() && moment["new"].is_string(), "{body}");
    // People are told what it means, not that a field has changed.
    let said = chat.exactly(1).await[0].body()["text"].as_str().expect("a text").to_owned();
    assert!(said.starts_with("The user "), "{said}");
    let deactivated = " is no longer here: deactivated by the identity provider; changed by a test 2";
    assert!(said.contains(deactivated) && !said.contains("deactivated at"), "{said}");

    replace("active", json!(false)).await;
    replace("displayName", json!("Ada Moreau")).await;
    replace("active", json!(true)).await;
    receiver.exactly(1).await;

    // Again, in the other form.
    let put = json!({ "userName": "ada@example.com", "active": false });
    assert_eq!(client.send(Method::PUT, &path, &put).await.status, 200);
    receiver.exactly(2).await;
    assert_eq!(client.send(Method::DELETE, &path, &Value::Null).await.status, 204);
    let told: Vec<Value> = receiver.exactly(3).await.iter().map(|got| got.body()["data"]["what"].clone()).collect();
    assert_eq!(told, ["changed", "changed", "deleted"]);
    let said = chat.exactly(3).await[2].body()["text"].as_str().expect("a text").to_owned();
    assert!(said.contains(" was deleted by a test 2"), "{said}");
}

#[tokio::test]
async fn a_leaver_is_out_whatever_the_request_says_of_the_address() {
    let app = TestApp::start().await;
    let client = Client::of(&app).await;
    let off = json!({ "op": "Replace", "path": "active", "value": "False" });
    let person = |number: usize| {
        let address = format!("ada{number}@example.com");
        json!({ "userName": format!("ada{number}"), "emails": [{ "value": address, "type": "work" }] })
    };
    for (number, operation) in [
        json!({ "op": "Remove", "path": "emails" }),
        json!({ "op": "Remove", "path": "emails[type eq \"work\"].value" }),
        json!({ "op": "Replace", "path": "emails[type eq \"work\"].value", "value": "" }),
        json!({ "op": "Replace", "path": "emails[type eq \"home\"].value", "value": "x@y.z" }),
        json!({ "op": "Replace", "path": "emails", "value": [] }),
        json!({ "op": "Replace", "path": "emails[type eq \"work\"].value", "value": "none" }),
    ]
    .into_iter()
    .enumerate()
    {
        let made = client.post("/Users", person(number)).await;
        let path = format!("/Users/{}", made["id"].as_str().expect("an id"));
        let left = client.patched(&path, json!([operation, off])).await;
        assert_eq!((&left["active"], &left["emails"]), (&json!(false), &made["emails"]), "{operation}");
        assert_eq!(left["userName"], made["userName"]);
    }
    for (number, emails) in
        [Value::Null, json!([]), json!([{ "value": "" }]), json!([{ "value": "none" }])].into_iter().enumerate()
    {
        let number = number + 100;
        let made = client.post("/Users", person(number)).await;
        let path = format!("/Users/{}", made["id"].as_str().expect("an id"));
        let put = json!({ "userName": made["userName"], "emails": emails, "active": false });
        let answer = client.send(Method::PUT, &path, &put).await;
        assert_eq!(answer.status, 200, "{emails}: {}", answer.text());
        let left = answer.json();
        assert_eq!((&left["active"], &left["emails"]), (&json!(false), &made["emails"]), "{emails}");
    }
    // Of somebody who stays, what is no address is an error.
    let made = client.post("/Users", person(200)).await;
    let path = format!("/Users/{}", made["id"].as_str().expect("an id"));
    let put = json!({ "userName": "ada200", "emails": [{ "value": "none" }], "active": true });
    assert_refused(&client.send(Method::PUT, &path, &put).await, 400, Some("invalidValue"));
}

#[tokio::test]
async fn a_leaver_is_out_although_the_request_names_attributes_that_do_not_exist() {
    let app = TestApp::start().await;
    let client = Client::of(&app).await;
    let off = json!({ "op": "Replace", "path": "active", "value": false });
    let several = json!({ "active": "False", "shoeSize": 7, "a b": 1, "id": "9" });
    for (number, operations) in [
        json!([{ "op": "replace", "path": "shoeSize", "value": 7 }, off]),
        json!([off, { "op": "add", "path": "badge.colour", "value": "red" }]),
        json!([{ "op": "remove", "path": "displayName.first" }, off]),
        json!([{ "op": "replace", "path": "meta.created", "value": "7" }, off]),
        json!([{ "op": "replace", "path": "emails[type eq \"work\"].shape", "value": "round" }, off]),
        json!([{ "op": "replace", "value": several }]),
        json!([{ "op": "replace", "value": { USER: several } }]),
    ]
    .into_iter()
    .enumerate()
    {
        let address = format!("ada{number}@example.com");
        let path = client.user(&address).await;
        let before = client.get(&path).await;
        let left = client.patched(&path, operations.clone()).await;
        assert_eq!((&left["active"], &left["userName"]), (&json!(false), &json!(address)), "{operations}");
        assert_eq!((&left["id"], &left["meta"]["created"]), (&before["id"], &before["meta"]["created"]));
        // Once more, as providers do when they have not seen the answer.
        assert_eq!(client.patched(&path, operations).await["active"], false);
    }
    // A whole resource says only what is known.
    let path = client.user("bob@example.com").await;
    let put = json!({ "userName": "bob@example.com", "active": false, "shoeSize": 7, "a b": [{}], "urn:x:y": null });
    let answer = client.send(Method::PUT, &path, &put).await;
    assert_eq!((answer.status, &answer.json()["active"]), (200, &json!(false)), "{}", answer.text());
    // Of somebody who stays, or is activated by the same request, it is an error.
    let unknown = json!({ "op": "replace", "path": "shoeSize", "value": 7 });
    let path = client.user("carol@example.com").await;
    let on = json!({ "op": "replace", "path": "active", "value": true });
    for operations in [json!([unknown]), json!([unknown, off, on]), json!([{ "op": "add", "value": { "a b": 1 } }])] {
        assert_refused(&client.patch(&path, operations).await, 400, Some("invalidPath"));
    }
    // A value that is wrong is one still.
    let wrong = json!({ "op": "replace", "path": "userName", "value": 7 });
    assert_refused(&client.patch(&path, json!([wrong, off])).await, 400, Some("invalidValue"));
    assert_eq!(client.get(&path).await["active"], true);
}

#[tokio::test]
async fn of_two_who_are_named_at_once_none_has_the_address_of_the_other_for_a_name() {
    let app = TestApp::with(&["--token-limit", "0", "--ip-limit", "0"]).await;
    let client = Client::of(&app).await;
    let person = |name: String, address: String| json!({ "userName": name, "emails": [{ "value": address }] });
    let (client, person) = (&client, &person);
    let pairs = (0..32).map(|number| async move {
        let one = person(format!("ada{number}"), format!("ada{number}@example.com"));
        let other = person(format!("ADA{number}@example.com"), format!("other{number}@example.com"));
        let (one, other) =
            join(client.send(Method::POST, "/Users", &one), client.send(Method::POST, "/Users", &other)).await;
        let mut statuses = [one.status, other.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 409], "{number}: {} {}", one.text(), other.text());
    });
    join_all(pairs).await;
    // The same of users that there are: each takes what is the address of the other.
    let mut paths = Vec::new();
    for number in 0..32 {
        for who in ["x", "y"] {
            let made = client.post("/Users", person(format!("{who}{number}"), format!("{who}{number}@example.com")));
            paths.push(format!("/Users/{}", made.await["id"].as_str().expect("an id")));
        }
    }
    let pairs = paths.chunks(2).enumerate().map(|(number, pair)| async move {
        let rename = |value: String| json!([{ "op": "replace", "path": "userName", "value": value }]);
        let named = client.patch(&pair[0], rename(format!("new{number}@example.com")));
        let moved = json!([{ "op": "replace", "path": "emails.value", "value": format!("new{number}@example.com") }]);
        let (named, moved) = join(named, client.patch(&pair[1], moved)).await;
        let mut statuses = [named.status, moved.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{number}: {} {}", named.text(), moved.text());
    });
    join_all(pairs).await;
}

#[tokio::test]
async fn who_is_deactivated_stays_so_until_a_request_says_otherwise() {
    let app = TestApp::start().await;
    let client = Client::of(&app).await;
    let path = client.user("ada@example.com").await;
    client.patched(&path, json!([{ "op": "replace", "path": "active", "value": false }])).await;
    for (put, active) in [
        (json!({ "userName": "ada@example.com", "displayName": "Ada" }), false),
        (json!({ "userName": "ada@example.com", "active": null }), false),
        (json!({ "userName": "ada@example.com", "active": true }), true),
        (json!({ "userName": "ada@example.com" }), true),
    ] {
        let answer = client.send(Method::PUT, &path, &put).await;
        assert_eq!((answer.status, &answer.json()["active"]), (200, &json!(active)), "{put}");
    }
}

#[tokio::test]
async fn a_second_address_does_not_replace_that_for_work() {
    let app = TestApp::start().await;
    let client = Client::of(&app).await;
    let path = client.user("ada@example.com").await;
    for (added, expected) in [
        (json!([{ "value": "ada@home.example", "type": "home" }]), "ada@example.com"),
        (json!({ "value": "ada@other.example" }), "ada@example.com"),
        (
            json!([{ "value": "x@home.example", "type": "home" }, { "value": "ada@work.example", "type": "Work" }]),
            "ada@work.example",
        ),
        (json!([{ "value": "ada@first.example", "primary": true }]), "ada@first.example"),
    ] {
        let user = client.patched(&path, json!([{ "op": "add", "path": "emails", "value": added }])).await;
        assert_eq!(user["emails"][0]["value"], expected, "{added}");
    }
}

#[tokio::test]
async fn the_last_active_administrator_stays() {
    let app = TestApp::start().await;
    let client = Client::of(&app).await;
    let boss = made(&app, "boss@example.com", Role::Admin).await;
    let path = format!("/Users/{}", boss.id);
    let off = json!([{ "op": "replace", "path": "active", "value": false }]);
    assert_refused(&client.patch(&path, off.clone()).await, 400, Some("mutability"));
    let put = json!({ "userName": "boss@example.com", "active": "False" });
    assert_refused(&client.send(Method::PUT, &path, &put).await, 400, Some("mutability"));
    assert_refused(&client.send(Method::DELETE, &path, &Value::Null).await, 409, None);
    let second = made(&app, "second@example.com", Role::Admin).await;
    assert_eq!(client.patch(&path, off.clone()).await.status, 200);
    // An administrator who cannot sign in does not count.
    let second = format!("/Users/{}", second.id);
    assert_refused(&client.patch(&second, off).await, 400, Some("mutability"));
    assert_refused(&client.send(Method::DELETE, &second, &Value::Null).await, 409, None);
    assert_eq!(client.send(Method::DELETE, &path, &Value::Null).await.status, 204);
    assert!(stored(&app, "second@example.com").await.is_active());
}

#[tokio::test]
async fn groups_give_and_take_roles_and_teams_by_the_mapping_of_sign_in() {
    let provider = Provider::start().await;
    let flags = [
        "--oidc-domains",
        "example.com",
        "--oidc-group-roles",
        "platform=admin,dev=user",
        "--oidc-group-teams",
        "pay=payments,platform=payments,guid-1=search",
    ];
    let app = TestApp::with(&[&provider.flags()[..], &flags].concat()).await;
    let client = Client::of(&app).await;
    for team in ["Payments", "Search", "Own"] {
        data(&app, &format!("mutation {{ teamCreate(input: {{ name: \"{team}\" }}) {{ errors {{ message }} }} }}"))
            .await;
    }
    made(&app, "boss@example.com", Role::Admin).await;
    let ada = client.user("ada@example.com").await;
    let join = r#"mutation { teamUpdate(input: { alias: "own", members: { email: "ada@example.com" } }) { errors { message } } }"#;
    data(&app, join).await;
    let state = async || (stored(&app, "ada@example.com").await.role, teams(&app, "ada@example.com").await);
    assert_eq!(state().await, (Role::Viewer, set(&["own"])), "the role of new users");

    let dev = client.group("dev", &[&ada]).await;
    assert_eq!(state().await, (Role::User, set(&["own"])));
    let pay = client.group("pay", &[]).await;
    let platform = client.group("platform", &[&ada]).await;
    assert_eq!(state().await, (Role::Admin, set(&["own", "payments"])), "the highest role");
    client.patched(&pay, json!([{ "op": "add", "path": "members", "value": values(&[&ada]) }])).await;
    client.patched(&platform, json!([{ "op": "remove", "path": "members" }])).await;
    assert_eq!(state().await, (Role::User, set(&["own", "payments"])), "another group gives the same team");
    client.patched(&pay, json!([{ "op": "replace", "path": "displayName", "value": "Payers" }])).await;
    assert_eq!(state().await, (Role::User, set(&["own"])), "a group with another name gives nothing");
    // Some providers name groups by their ids.
    client.patched(&pay, json!([{ "op": "add", "path": "externalId", "value": "guid-1" }])).await;
    assert_eq!(state().await, (Role::User, set(&["own", "search"])));

    // Signing in adds the groups of the claim, and takes none of those that SCIM tells.
    provider.script().claims["groups"] = json!(["/platform"]);
    assert_eq!(openid::sign_in(&provider, &mut Browser::new(&app)).await.status, 303);
    assert_eq!(state().await, (Role::Admin, set(&["own", "payments", "search"])));
    provider.script().claims["groups"] = Value::Null;
    assert_eq!(openid::sign_in(&provider, &mut Browser::new(&app)).await.status, 303);
    assert_eq!(state().await, (Role::User, set(&["own", "search"])), "without the claim, SCIM says all");

    assert_eq!(client.send(Method::DELETE, &dev, &Value::Null).await.status, 204);
    assert_eq!(client.send(Method::DELETE, &pay, &Value::Null).await.status, 204);
    assert_eq!(state().await, (Role::Viewer, set(&["own"])), "what was set by hand stays");
}

#[tokio::test]
async fn a_group_takes_no_more_than_it_gave() {
    let provider = Provider::start().await;
    let flags = ["--oidc-group-roles", "dev=user,ops=standards_admin", "--oidc-group-teams", "dev=payments"];
    let app = TestApp::with(&[&provider.flags()[..], &flags].concat()).await;
    let client = Client::of(&app).await;
    data(&app, r#"mutation { teamCreate(input: { name: "Payments" }) { errors { message } } }"#).await;
    made(&app, "boss@example.com", Role::Admin).await;
    let ada = format!("/Users/{}", made(&app, "ada@example.com", Role::Admin).await.id);
    let eve = client.user("eve@example.com").await;
    let role = async |name: &str| stored(&app, &format!("{name}@example.com")).await.role;

    let dev = client.group("dev", &[&ada, &eve]).await;
    assert_eq!((role("ada").await, role("eve").await), (Role::Admin, Role::User), "set by hand, and higher");
    assert_eq!(teams(&app, "ada@example.com").await, set(&["payments"]));
    let ops = client.group("ops", &[&eve]).await;
    client.patched(&dev, json!([{ "op": "remove", "path": "members", "value": values(&[&ada, &eve]) }])).await;
    assert_eq!((role("ada").await, role("eve").await), (Role::Admin, Role::StandardsAdmin), "dev has not given these");
    assert_eq!(teams(&app, "ada@example.com").await, set(&[]));
    // Who leaves falls back to what another group gives, and by a deleted group to the role of new users.
    client.patched(&dev, json!([{ "op": "add", "path": "members", "value": values(&[&ada, &eve]) }])).await;
    client.patched(&ops, json!([{ "op": "replace", "path": "displayName", "value": "Operations" }])).await;
    assert_eq!((role("ada").await, role("eve").await), (Role::Admin, Role::User));
    assert_eq!(client.send(Method::DELETE, &dev, &Value::Null).await.status, 204);
    assert_eq!((role("ada").await, role("eve").await), (Role::Admin, Role::Viewer));
}

#[tokio::test]
async fn groups_that_the_settings_do_not_name_decide_nothing_at_sign_in() {
    let provider = Provider::start().await;
    let app = TestApp::with(&[&provider.flags()[..], &["--oidc-group-roles", "dev=user"]].concat()).await;
    let client = Client::of(&app).await;
    made(&app, "boss@example.com", Role::Admin).await;
    made(&app, "ada@example.com", Role::StandardsAdmin).await;
    client.group("Lunch", &[]).await;
    assert_eq!(openid::sign_in(&provider, &mut Browser::new(&app)).await.status, 303);
    assert_eq!(stored(&app, "ada@example.com").await.role, Role::StandardsAdmin, "nobody has said anything of dev");
    // Keycloak's name of the group.
    client.group("/dev", &[]).await;
    assert_eq!(openid::sign_in(&provider, &mut Browser::new(&app)).await.status, 303);
    assert_eq!(stored(&app, "ada@example.com").await.role, Role::Viewer, "SCIM says that she is not in dev");
}

#[tokio::test]
async fn groups_change_nothing_without_a_mapping_and_never_the_only_administrator() {
    let app = TestApp::start().await;
    let client = Client::of(&app).await;
    let boss = made(&app, "boss@example.com", Role::Admin).await;
    client.group("admin", &[&client.user("ada@example.com").await]).await;
    assert_eq!(stored(&app, "ada@example.com").await.role, Role::Viewer);
    drop(client);
    let provider = Provider::start().await;
    let mapped = TestApp::with(&[&provider.flags()[..], &["--oidc-group-roles", "dev=viewer"]].concat()).await;
    let client = Client::of(&mapped).await;
    let only = made(&mapped, &boss.email, Role::Admin).await;
    client.group("dev", &[&only.id.to_string()]).await;
    assert_eq!(stored(&mapped, &boss.email).await.role, Role::Admin);
}

#[tokio::test]
async fn filters_select_users_and_groups() {
    let app = TestApp::start().await;
    let client = Client::of(&app).await;
    let ada = client
        .post(
            "/Users",
            json!({
                "userName": "ada", "externalId": "Ext-1", "name": { "givenName": "Ada", "familyName": "Lovelace" },
                "emails": [{ "value": "ada@example.com" }],
            }),
        )
        .await;
    let bob = client.user("bob@example.org").await;
    client.post("/Users", json!({ "userName": "eve@example.com", "displayName": "50%_\\", "active": false })).await;
    let group = client.group("Team A", &[&bob]).await;
    client.group("Team B", &[]).await;
    let all = ["ada", "bob@example.org", "eve@example.com"];
    let (id, created) = (&ada["id"], &ada["meta"]["created"]);
    let member = group.rsplit('/').next().expect("an id");
    for (filter, expected) in [
        (r#"userName eq "ADA""#.to_owned(), &all[..1]),
        (r#"userName eq "ada@example.com""#.to_owned(), &[]),
        (r#"userName Eq "BOB@example.org""#.to_owned(), &all[1..2]),
        (r#"USERNAME ne "ada""#.to_owned(), &all[1..]),
        (r#"urn:ietf:params:scim:schemas:core:2.0:User:userName sw "b""#.to_owned(), &all[1..2]),
        (r#"userName ew "example.COM""#.to_owned(), &all[2..]),
        (r#"userName co "@example""#.to_owned(), &all[1..]),
        (r#"userName gt "b" and userName lt "C""#.to_owned(), &all[1..2]),
        ("userName pr".to_owned(), &all[..]),
        (r#"externalId eq "Ext-1""#.to_owned(), &all[..1]),
        (r#"externalId eq "ext-1""#.to_owned(), &[]),
        (r#"externalId ne "Ext-1""#.to_owned(), &all[1..]),
        ("externalId pr".to_owned(), &all[..1]),
        ("not (externalId pr)".to_owned(), &all[1..]),
        ("externalId eq null".to_owned(), &all[1..]),
        (r#"not (externalId eq "x")"#.to_owned(), &all[..]),
        (format!("id eq {id}"), &all[..1]),
        (format!("id ne {id}"), &all[1..]),
        (r#"id eq "x""#.to_owned(), &[]),
        (r#"emails.value eq "Ada@Example.com""#.to_owned(), &all[..1]),
        (r#"emails eq "ada@example.com""#.to_owned(), &all[..1]),
        (r#"emails[type eq "work" and value co "example.com"]"#.to_owned(), &[all[0], all[2]]),
        (r#"emails[type eq "home"]"#.to_owned(), &[]),
        (r#"displayName eq "ada lovelace""#.to_owned(), &all[..1]),
        (r#"displayName co "%_\\""#.to_owned(), &all[2..]),
        (r#"displayName co "5%""#.to_owned(), &[]),
        (r#"name.familyName eq "LOVELACE""#.to_owned(), &all[..1]),
        ("name.givenName pr".to_owned(), &all[..1]),
        ("active eq true".to_owned(), &all[..2]),
        (r#"active eq "False""#.to_owned(), &all[2..]),
        ("active ne true".to_owned(), &all[2..]),
        (format!("meta.created gt {created}"), &all[1..]),
        (format!("meta.lastModified ge {created}"), &all[..]),
        (r#"meta.lastModified lt "2001-01-01T00:00:00Z""#.to_owned(), &[]),
        (format!("groups.value eq \"{member}\""), &all[1..2]),
        (r#"userName eq "ada" or userName sw "b" and active eq false"#.to_owned(), &all[..1]),
        (r#"(userName eq "ada" or userName sw "b") and not (active eq false)"#.to_owned(), &all[..2]),
        ("(((userName pr)))".to_owned(), &all[..]),
    ] {
        assert_eq!(client.found("/Users", &filter).await, expected, "{filter}");
    }
    let bob = bob.rsplit('/').next().expect("an id");
    for (filter, expected) in [
        (r#"displayName eq "team a""#.to_owned(), &["Team A"][..]),
        (r#"displayName sw "team""#.to_owned(), &["Team A", "Team B"]),
        (format!("members.value eq \"{bob}\""), &["Team A"]),
        (format!("members[value eq \"{bob}\"]"), &["Team A"]),
        (format!("not (members eq \"{bob}\")"), &["Team B"]),
        ("members pr".to_owned(), &["Team A"]),
        (r#"members.value eq "0""#.to_owned(), &[]),
        ("externalId pr".to_owned(), &[]),
    ] {
        assert_eq!(client.found("/Groups", &filter).await, expected, "{filter}");
    }
}

#[tokio::test]
async fn hostile_filters_are_refused_with_their_cause() {
    let app = TestApp::start().await;
    let client = Client::of(&app).await;
    client.user("ada@example.com").await;
    let deep = format!("{}active pr{}", "(".repeat(900), ")".repeat(900));
    let nots = format!("{}active pr{}", "not (".repeat(scim::DEEPEST + 1), ")".repeat(scim::DEEPEST + 1));
    let many = vec!["active eq true"; scim::MOST_TERMS + 1].join(" or ");
    let long = format!("userName eq \"{}\"", "x".repeat(scim::LONGEST_FILTER));
    for filter in [
        "userName",
        "userName eq",
        "userName eq ada",
        "userName is \"a\"",
        "userName eq \"a",
        "userName eq 7",
        "password eq \"a\"",
        "name.title pr",
        "active gt true",
        "active eq \"maybe\"",
        "active co true",
        "id co \"1\"",
        "meta.created eq \"yesterday\"",
        "meta.created co \"2026-01-01T00:00:00Z\"",
        "userName gt null",
        "emails[value eq \"a\"",
        "emails[value eq \"a\"].type eq \"b\"",
        "userName eq \"a\" drop table user",
        "userName eq \"a\\u0000\"",
        "'; --",
        "groups[value ne \"1\"]",
        "members pr",
        "(",
        ")",
        "not",
        "and",
        "[]",
        "\u{0}",
        "𝔲serName pr",
        &deep,
        &nots,
        &many,
        &long,
    ] {
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("filter", filter).finish();
        let answer = client.send(Method::GET, &format!("/Users?{query}"), &Value::Null).await;
        assert_refused(&answer, 400, Some("invalidFilter"));
    }
    for query in ["startIndex=x", "count=1.5"] {
        assert_refused(
            &client.send(Method::GET, &format!("/Users?{query}"), &Value::Null).await,
            400,
            Some("invalidValue"),
        );
    }
    // What is beyond the ends is empty, and no error.
    for (query, shown) in [
        ("startIndex=-5", 1),
        ("startIndex=2", 0),
        ("count=0", 0),
        ("count=-1", 0),
        ("count=9999999", 1),
        ("startIndex=9223372036854775807", 0),
    ] {
        let page = client.get(&format!("/Users?{query}")).await;
        assert_eq!(
            (&page["totalResults"], page["Resources"].as_array().map(Vec::len)),
            (&json!(1), Some(shown)),
            "{query}"
        );
    }
}

#[tokio::test]
async fn hostile_bodies_are_refused_with_their_cause_and_change_nothing() {
    let app = TestApp::start().await;
    let client = Client::of(&app).await;
    let path = client.user("ada@example.com").await;
    let group = client.group("Dev", &[&path]).await;
    let (before, group_before) = (client.get(&path).await, client.get(&group).await);
    let long = "x".repeat(256);
    for (body, kind) in [
        (json!([]), "invalidSyntax"),
        (json!({}), "invalidValue"),
        (json!({ "userName": "" }), "invalidValue"),
        (json!({ "userName": 7 }), "invalidValue"),
        (json!({ "userName": "no address" }), "invalidValue"),
        (json!({ "userName": "a@b@c" }), "invalidValue"),
        (json!({ "userName": "a@b.c", "username": "d@e.f" }), "invalidSyntax"),
        (json!({ "userName": "a@b.c", "active": "yes" }), "invalidValue"),
        (json!({ "userName": "a@b.c", "emails": [7] }), "invalidValue"),
        (json!({ "userName": "a@b.c", "emails": [{ "value": "x" }] }), "invalidValue"),
        (json!({ "userName": "a@b.c", "displayName": long }), "invalidValue"),
        (json!({ "userName": "a@b.c", "externalId": "a\u{0}b" }), "invalidValue"),
        (json!({ "userName": long, "emails": [{ "value": "a@b.c" }] }), "invalidValue"),
    ] {
        assert_refused(&client.send(Method::POST, "/Users", &body).await, 400, Some(kind));
    }
    for (operation, kind) in [
        (json!({ "op": "replace", "path": "userName" }), "invalidValue"),
        (json!({ "op": "remove", "path": "userName" }), "invalidValue"),
        (json!({ "op": "remove", "path": "active" }), "invalidValue"),
        (json!({ "op": "replace", "path": "emails", "value": [7] }), "invalidValue"),
        (json!({ "op": "remove" }), "noTarget"),
        (json!({ "op": "replace", "path": "emails[type eq].value", "value": "x@y.z" }), "invalidPath"),
        (json!({ "op": "replace", "path": "shoeSize", "value": 7 }), "invalidPath"),
        (json!({ "op": "replace", "path": "active.sub", "value": true }), "invalidPath"),
        (json!({ "op": "replace", "path": "id", "value": "7" }), "mutability"),
        (json!({ "op": "replace", "path": "meta.created", "value": "7" }), "mutability"),
        (json!({ "op": "add", "path": "groups", "value": [] }), "mutability"),
        (json!({ "op": "copy", "path": "active", "value": true }), "invalidSyntax"),
        (json!({ "op": "add", "value": [] }), "invalidValue"),
    ] {
        // Nothing of a request is done if a part of it is refused.
        let first = json!({ "op": "replace", "path": "displayName", "value": "Other" });
        assert_refused(&client.patch(&path, json!([first, operation])).await, 400, Some(kind));
    }
    for (operation, kind) in [
        (json!({ "op": "add", "path": "members", "value": [{ "value": "999" }] }), "invalidValue"),
        (json!({ "op": "add", "path": "members", "value": [{ "value": "1", "type": "Group" }] }), "invalidValue"),
        (json!({ "op": "remove", "path": "members[display eq \"x\"]" }), "invalidPath"),
        (json!({ "op": "remove", "path": "members.display" }), "invalidPath"),
        (json!({ "op": "remove", "path": "displayName" }), "invalidValue"),
        (json!({ "op": "replace", "path": "members[value eq \"1\"].value", "value": "2" }), "invalidPath"),
    ] {
        assert_refused(&client.patch(&group, json!([operation])).await, 400, Some(kind));
    }
    let operation = json!({ "op": "replace", "path": "active", "value": true });
    let many = vec![operation; scim::MOST_OPERATIONS + 1];
    assert_refused(&client.patch(&path, json!(many)).await, 413, Some("tooMany"));
    let strangers: Vec<Value> =
        (0..=scim::MEMBERS_AT_ONCE).map(|id| json!({ "value": (id + 1000).to_string() })).collect();
    let add = json!([{ "op": "add", "path": "members", "value": strangers }]);
    assert_refused(&client.patch(&group, add).await, 413, Some("tooMany"));
    let headers = [("authorization", format!("Bearer {}", client.token)), ("content-type", "text/plain".to_owned())];
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, &**value)).collect();
    assert_refused(&app.request(Method::POST, "/scim/v2/Users", &headers, "{}").await, 415, None);
    let headers = [headers[0], ("content-type", "application/json; charset=utf-8")];
    let deep = "[".repeat(10_000);
    for body in ["", "{", "\u{feff}{}", &deep, "{\"userName\": \"\\ud800\"}"] {
        assert_refused(
            &app.request(Method::POST, "/scim/v2/Users", &headers, body.to_owned()).await,
            400,
            Some("invalidSyntax"),
        );
    }
    let large = format!("{{\"userName\": \"{}\"}}", "x".repeat(2 << 20));
    assert_refused(&app.request(Method::POST, "/scim/v2/Users", &headers, large).await, 413, None);
    assert_eq!((client.get(&path).await, client.get(&group).await), (before, group_before));
}

#[tokio::test]
async fn the_service_says_what_it_can_do_and_what_it_cannot() {
    let app = TestApp::start().await;
    let client = Client::of(&app).await;
    let config = client.get("/ServiceProviderConfig").await;
    let supported = |name: &str| config[name]["supported"].clone();
    assert_eq!(
        ["patch", "filter", "bulk", "sort", "etag", "changePassword"].map(supported),
        [true, true, false, false, false, false].map(Value::Bool)
    );
    assert_eq!(config["filter"]["maxResults"], scim::MOST_RESULTS);
    let kinds = client.get("/ResourceTypes").await;
    assert_eq!(kinds["totalResults"], 2);
    assert_eq!(client.get("/ResourceTypes/User").await, kinds["Resources"][0]);
    let schemas = client.get("/Schemas").await;
    assert_eq!(
        client.get("/Schemas/urn%3Aietf%3Aparams%3Ascim%3Aschemas%3Acore%3A2.0%3AGroup").await,
        schemas["Resources"][1]
    );
    // Every attribute of a resource is in its schema.
    let path = client.user("ada@example.com").await;
    let group = client.group("Dev", &[&path]).await;
    for (path, schema) in [(path, &schemas["Resources"][0]), (group, &schemas["Resources"][1])] {
        let known: Vec<&Value> =
            schema["attributes"].as_array().expect("attributes").iter().map(|one| &one["name"]).collect();
        for name in client.get(&path).await.as_object().expect("a resource").keys() {
            let is_common = ["schemas", "id", "meta"].contains(&&**name);
            assert!(is_common || known.contains(&&json!(name)), "{name} is in no schema");
        }
    }
    for (method, path, status) in [
        (Method::GET, "/", 404),
        (Method::GET, "/users", 404),
        (Method::GET, "/Users/0", 404),
        (Method::GET, "/Users/x", 404),
        (Method::GET, "/Users/01", 404),
        (Method::GET, "/Users/99999999999999999999", 404),
        (Method::GET, "/Schemas/x", 404),
        (Method::DELETE, "/Users", 405),
        (Method::POST, "/Users/1", 405),
        (Method::POST, "/Schemas", 405),
        (Method::OPTIONS, "/Users", 405),
        (Method::GET, "/Me", 501),
        (Method::POST, "/Bulk", 501),
        (Method::POST, "/Users/.search", 501),
        (Method::GET, "/Schemas?filter=id+pr", 403),
    ] {
        assert_refused(&client.send(method, path, &json!({})).await, status, None);
    }
}

#[tokio::test]
async fn a_client_sees_the_attributes_that_it_asks_for() {
    let app = TestApp::start().await;
    let client = Client::of(&app).await;
    let path = client.user("ada@example.com").await;
    let group = client.group("Dev", &[&path]).await;
    let id = path.rsplit('/').next().expect("an id");
    let only = client.get(&format!("{path}?attributes=UserName,emails.value")).await;
    let emails = json!([{ "value": "ada@example.com" }]);
    assert_eq!(only, json!({ "schemas": [USER], "id": id, "userName": "ada@example.com", "emails": emails }));
    let page = client.get("/Groups?attributes=displayName").await;
    assert_eq!(
        page["Resources"],
        json!([{ "schemas": [GROUP], "id": group.rsplit('/').next(), "displayName": "Dev" }])
    );
    let without = client.get(&format!("{path}?excludedAttributes=groups,meta,id")).await;
    let names: BTreeSet<&str> = without.as_object().expect("a resource").keys().map(String::as_str).collect();
    assert_eq!(names, BTreeSet::from(["active", "displayName", "emails", "id", "name", "schemas", "userName"]));
    let shown =
        client.patch(&format!("{group}?attributes=members"), json!([{ "op": "remove", "path": "members" }])).await;
    assert_eq!((shown.status, &shown.json()["members"]), (200, &json!([])));
}

#[tokio::test]
async fn every_change_is_in_the_audit_with_the_token_as_its_author() {
    let app = TestApp::start().await;
    let client = Client::of(&app).await;
    let path = client.user("ada@example.com").await;
    client.patched(&path, json!([{ "op": "add", "value": { "externalId": "7", "name.givenName": "Ada" } }])).await;
    let group = client.group("Dev", &[&path]).await;
    client
        .patched(
            &group,
            json!([{ "op": "remove", "path": "members" }, { "op": "replace", "path": "displayName", "value": "Ops" }]),
        )
        .await;
    client.send(Method::DELETE, &group, &Value::Null).await;
    client.send(Method::DELETE, &path, &Value::Null).await;
    // A request that changes nothing is not told.
    client.send(Method::DELETE, &path, &Value::Null).await;
    let token = token::all(app.db.read()).await.expect("tokens").pop().expect("a token");
    let entries = app.db.read().all(audit::Entity::find().order_by_asc(audit::Column::Id)).await.expect("entries");
    let own: Vec<_> = entries.iter().filter(|entry| entry.actor_id == Some(token.id)).collect();
    let told: Vec<_> =
        own.iter().map(|entry| (&*entry.action, entry.subject_class.as_deref().unwrap_or_default())).collect();
    let expected = [
        ("scimUserCreate", "User"),
        ("scimUserUpdate", "User"),
        ("scimGroupCreate", "ScimGroup"),
        ("scimGroupUpdate", "ScimGroup"),
        ("scimGroupDelete", "ScimGroup"),
        ("userDelete", "User"),
    ];
    assert_eq!(told, expected);
    let changed = |place: usize| serde_json::from_str::<Value>(&own[place].detail).expect("JSON")["changed"].clone();
    assert_eq!(changed(0)["email"]["new"], "ada@example.com");
    assert_eq!(changed(1)["externalId"], json!({ "old": null, "new": "7" }));
    assert_eq!(changed(1)["givenName"], json!({ "old": null, "new": "Ada" }));
    assert_eq!(changed(2)["members"]["added"], json!(["ada@example.com"]));
    assert_eq!(changed(3)["members"]["removed"], json!(["ada@example.com"]));
    assert_eq!(changed(3)["displayName"], json!({ "old": "Dev", "new": "Ops" }));
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_users_are_listed_in_pages_and_are_members_of_one_group() {
    const USERS: usize = 10_000;
    let provider = Provider::start().await;
    let flags = ["--oidc-group-roles", "all=user", "--oidc-group-teams", "all=everybody"];
    let app = TestApp::with(&[&provider.flags()[..], &flags].concat()).await;
    let client = Client::of(&app).await;
    data(&app, r#"mutation { teamCreate(input: { name: "Everybody" }) { errors { message } } }"#).await;
    let now = Timestamp::now();
    let row = |number: usize| user::ActiveModel {
        name: Set(format!("User {number}")),
        email: Set(format!("user{number}@example.com")),
        email_key: Set(format!("user{number}@example.com")),
        external_id: Set(Some(format!("external-{number}"))),
        role: Set(Role::Viewer),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    app.db.write(async |db| db.insert_all((0..USERS).map(row).collect()).await).await.expect("users");
    let mut ids: Vec<String> = Vec::new();
    while ids.len() < USERS {
        let page = client.get(&format!("/Users?startIndex={}&count=500&attributes=id", ids.len() + 1)).await;
        let shown = page["Resources"].as_array().expect("resources").clone();
        assert_eq!((&page["totalResults"], shown.len() as u64), (&json!(USERS), scim::MOST_RESULTS));
        ids.extend(shown.iter().map(|one| one["id"].as_str().expect("an id").to_owned()));
    }
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), USERS);
    assert_eq!(client.found("/Users", r#"userName eq "USER7777@example.com""#).await, ["user7777@example.com"]);
    assert_eq!(client.found("/Users", r#"externalId eq "external-9999""#).await, ["user9999@example.com"]);

    let group = client.group("all", &[]).await;
    for some in ids.chunks(scim::MEMBERS_AT_ONCE) {
        let some: Vec<Value> = some.iter().map(|id| json!({ "value": id })).collect();
        let answer = client.patch(&group, json!([{ "op": "add", "path": "members", "value": some }])).await;
        assert_eq!(answer.status, 204, "{}", answer.text());
    }
    let counted = async || {
        let query = r#"{ account { team(alias: "everybody") { memberships { totalCount } } users(filter: { key: role, arg: "user" }) { totalCount } } }"#;
        let found = data(&app, query).await["account"].clone();
        (found["team"]["memberships"]["totalCount"].clone(), found["users"]["totalCount"].clone())
    };
    assert_eq!(counted().await, (json!(USERS), json!(USERS)));
    assert_eq!(client.get(&group).await["members"].as_array().map(Vec::len), Some(USERS));
    let last = ids.last().expect("an id").clone();
    client
        .patched(
            &format!("{group}?excludedAttributes=members"),
            json!([{ "op": "remove", "path": format!("members[value eq \"{last}\"]") }]),
        )
        .await;
    assert_eq!(counted().await, (json!(USERS - 1), json!(USERS - 1)));
    // All at once.
    assert_eq!(client.send(Method::DELETE, &group, &Value::Null).await.status, 204);
    assert_eq!(counted().await, (json!(0), json!(0)));
    assert_eq!(app.db.read().count(scim_group_member::Entity::find()).await, Ok(0));
}
