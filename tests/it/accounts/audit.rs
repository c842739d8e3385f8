//! The audit: every change is recorded in the same transaction, through whatever interface it came, and nothing else
//! is.

use rollcall::db::{Read, Write};
use rollcall::entity::Timestamp;
use rollcall::entity::audit::{self, Actor, ActorKind};
use rollcall::entity::token;
use rollcall::entity::user::Role;
use rollcall::{retention, service_file};
use sea_orm::{EntityTrait, QueryOrder, Set};
use serde_json::{Value, json};

use crate::harness::app::TestApp;
use crate::harness::browser::Browser;

/// All entries except the one of the test's own token: action, class and name of the subject, input.
async fn entries(app: &TestApp) -> Vec<(String, Option<String>, Option<String>, Value)> {
    let rows = app.db.read().all(audit::Entity::find().order_by_asc(audit::Column::Id)).await.expect("entries");
    let entry = |row: audit::Model| {
        let detail = serde_json::from_str(&row.detail).expect("JSON");
        (row.action, row.subject_class, row.subject_name, detail)
    };
    rows.into_iter().skip(1).map(entry).collect()
}

fn entry(action: &str, class: &str, name: &str, detail: Value) -> (String, Option<String>, Option<String>, Value) {
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    (action.to_owned(), some(class), some(name), detail)
}

#[tokio::test]
async fn each_mutation_is_audited_with_its_subject_input_and_changes() {
    let app = TestApp::start().await;
    app.query(
        r#"mutation($name: String!) {
            serviceCreate(input: { name: $name }) { errors { message } }
            again: serviceUpdate(input: { alias: "shop", note: null, language: "Rust" }) { service { name } }
            tagAssign(input: { alias: "shop", tags: { key: "k", value: "v" } }) { errors { message } }
            serviceDelete(input: { alias: "shop" }) { errors { message } }
        }"#,
        json!({ "name": "Shop" }),
    )
    .await;
    let of = |old: Value, new: Value| json!({ "old": old, "new": new });
    let expected = [
        entry(
            "serviceCreate",
            "Service",
            "Shop",
            json!({ "input": { "name": "Shop" }, "changed": {
                "name": of(json!(null), json!("Shop")), "slug": of(json!(null), json!("shop")),
                "aliases": { "removed": [], "added": ["Shop", "shop"] },
            } }),
        ),
        entry(
            "serviceUpdate",
            "Service",
            "Shop",
            json!({
                "input": { "alias": "shop", "note": null, "language": "Rust" },
                "changed": { "language": of(json!(null), json!("Rust")) },
            }),
        ),
        entry(
            "tagAssign",
            "Service",
            "shop",
            json!({
                "input": { "alias": "shop", "tags": { "key": "k", "value": "v" } },
                "changed": { "tags.k": of(json!(null), json!("v")) },
            }),
        ),
        entry(
            "serviceDelete",
            "Service",
            "shop",
            json!({ "input": { "alias": "shop" }, "changed": {
                "name": of(json!("Shop"), json!(null)), "slug": of(json!("shop"), json!(null)),
                "language": of(json!("Rust"), json!(null)), "aliases": { "removed": ["Shop", "shop"], "added": [] },
                "tags.k": of(json!("v"), json!(null)),
            } }),
        ),
    ];
    assert_eq!(entries(&app).await, expected);
}

#[tokio::test]
async fn a_failed_mutation_leaves_no_audit_entry() {
    let app = TestApp::start().await;
    let refused = r#"mutation {
        serviceCreate(input: { name: "" }) { errors { message } }
        serviceDelete(input: { alias: "none" }) { errors { message } }
    }"#;
    app.query(refused, json!({})).await;
    app.query("{ account { name } }", json!({})).await;
    assert_eq!(entries(&app).await, []);
}

#[tokio::test]
async fn a_long_input_is_cut_short() {
    let app = TestApp::start().await;
    let create = "mutation($name: String!, $note: String) { serviceCreate(input: { name: $name, note: $note }) {
        errors { message } } }";
    app.query(create, json!({ "name": "Shop", "note": "é".repeat(40_000) })).await;
    let entries = entries(&app).await;
    let note = entries[0].3["input"]["note"].as_str().expect("a note");
    assert_eq!(note.chars().count(), 201);
}

#[tokio::test]
async fn changes_by_pages_and_the_command_line_are_audited_too() {
    let app = TestApp::start().await;
    let mut ada = Browser::of(&app, Role::Admin).await;
    ada.post("/tokens", &[("description", "import"), ("scope", "write"), ("expires", "never")]).await;
    ada.post("/integrations", &[("type", "deploy"), ("name", "CI")]).await;
    ada.post("/users", &[("email", "bob@example.com"), ("name", "Bob"), ("role", "viewer")]).await;
    let tokens = token::all(app.db.read()).await.expect("tokens");
    let id = tokens.last().expect("a token").id;
    app.db.write(async |db| token::delete(db, &Actor::command_line(), id).await).await.expect("a deletion");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("shop.yml");
    std::fs::write(&file, "version: 1\nservice:\n  name: Shop\n").expect("a file");
    crate::harness::service_file::run(&app.db, std::slice::from_ref(&file)).await.expect("it applies");
    crate::harness::service_file::run(&app.db, std::slice::from_ref(&file))
        .await
        .expect("it applies again, and changes nothing");
    service_file::release(&app.db, "shop").await.expect("a service");

    let rows = app.db.read().all(audit::Entity::find().order_by_asc(audit::Column::Id)).await.expect("entries");
    let rows: Vec<_> = rows.iter().map(|row| (row.actor_kind, &*row.action, row.subject_name.as_deref())).collect();
    use ActorKind::{CommandLine, Session};
    let expected = [
        (CommandLine, "tokenCreate", Some("a test")),
        (Session, "signIn", Some("admin@example.com")),
        (Session, "tokenCreate", Some("import")),
        (Session, "eventIntegrationCreate", Some("CI")),
        (Session, "userInvite", Some("Bob")),
        (Session, "signInLinkCreate", Some("bob@example.com")),
        (CommandLine, "tokenDelete", Some("import")),
        (CommandLine, "apply", Some("shop")),
        (CommandLine, "release", Some("shop")),
    ];
    assert_eq!(rows, expected);
}

#[tokio::test]
async fn the_audit_page_shows_the_newest_first_and_filters_by_actor_and_subject() {
    let app = TestApp::start().await;
    let mut ada = Browser::of(&app, Role::Admin).await;
    for number in 0..60 {
        let create = "mutation($name: String!) { serviceCreate(input: { name: $name }) { errors { message } } }";
        app.query(create, json!({ "name": format!("service {number}") })).await;
    }
    ada.post("/integrations", &[("type", "deploy"), ("name", "CI")]).await;
    let first = ada.page("/audit").await;
    assert!(first.contains(">service 59<") && first.contains(">service 11<") && !first.contains(">service 10<"));
    let next = first.split('"').find(|text| text.starts_with("/audit?after=")).expect("a next page");
    let second = ada.page(next).await;
    assert!(second.contains(">service 10<") && second.contains("tokenCreate") && !second.contains("rel=\"next\""));

    let of = |page: &str, what: &str| {
        let found = page.split('"').find(|text| text.starts_with(&format!("/audit?{what}="))).map(str::to_owned);
        found.unwrap_or_else(|| panic!("no {what}"))
    };
    let adas = ada.page(&of(&first, "actor")).await;
    assert!(adas.contains(">CI<") && !adas.contains(">service 59<"));
    let about = ada.page(&of(&second, "subject")).await;
    assert_eq!(about.matches("<code>serviceCreate</code>").count(), 1);
}

#[tokio::test]
async fn audit_entries_are_found_by_day_and_action() {
    let app = TestApp::start().await;
    let ada = Browser::of(&app, Role::Admin).await;
    for (day, action) in [(1, "serviceCreate"), (2, "serviceUpdate"), (2, "serviceCreate"), (3, "serviceCreate")] {
        noted(&app, day, action).await;
    }
    let found = async |query: &str| ada.page(&format!("/audit?{query}")).await.matches("<code>service").count();
    assert_eq!(found("from=2020-01-02&until=2020-01-02").await, 2);
    assert_eq!(found("until=2020-01-02").await, 3);
    assert_eq!(found("from=2020-01-02&action=serviceCreate").await, 2);
    assert_eq!(found("actor=command_line&action=serviceUpdate").await, 1);
    assert_eq!(found("actor=token").await, 0);
    assert_eq!(found("actor=visitor").await, 0);
    assert!(ada.page("/audit?action=none").await.contains("No entries match."));
    for wrong in ["from=2020-02-30", "after=7", "actor=nobody", "subject=Service"] {
        assert_eq!(ada.get(&format!("/audit?{wrong}")).await.status, 400, "{wrong}");
    }
}

#[tokio::test]
async fn audit_entries_beyond_the_retention_are_removed() {
    let app = TestApp::start().await;
    for day in 1..=20 {
        for _ in 0..60 {
            noted(&app, day, "serviceCreate").await;
        }
    }
    let before: Timestamp = "2020-01-20T00:00:00Z".parse().expect("a moment");
    assert_eq!(retention::remove_audit(&app.db, before).await, Ok(19 * 60));
    assert_eq!(retention::remove_audit(&app.db, before).await, Ok(0));
    assert_eq!(entries(&app).await.len(), 60, "the first is that of the test's token");
}

/// An entry on this day of January 2020.
async fn noted(app: &TestApp, day: u32, action: &str) {
    let entry = audit::ActiveModel {
        at: Set(format!("2020-01-{day:02}T12:00:00Z").parse().expect("a moment")),
        actor_kind: Set(ActorKind::CommandLine),
        actor_name: Set("command line".to_owned()),
        action: Set(action.to_owned()),
        detail: Set("{}".to_owned()),
        ..Default::default()
    };
    app.db.write(async |db| db.insert(entry).await).await.expect("an entry");
}

/// The recorded changes of the entries with an action, oldest first.
async fn changed(app: &TestApp, action: &str) -> Vec<Value> {
    let entries = entries(app).await.into_iter().filter(|(own, ..)| own == action);
    entries.map(|(.., mut detail)| detail["changed"].take()).collect()
}

/// Runs mutations. All must succeed.
async fn change(app: &TestApp, mutations: &str) -> Value {
    let answer = app.query(&format!("mutation {{ {mutations} }}"), json!({})).await;
    let payloads = answer["data"].as_object().unwrap_or_else(|| panic!("{answer}"));
    assert!(payloads.values().all(|payload| payload["errors"] == json!([])), "{answer}");
    answer["data"].clone()
}

#[tokio::test]
async fn an_update_is_audited_with_old_and_new_values_and_the_names_of_references() {
    let app = TestApp::start().await;
    change(
        &app,
        r#"a: teamCreate(input: { name: "Platform" }) { errors { message } }
        b: teamCreate(input: { name: "Payments" }) { errors { message } }
        c: serviceCreate(input: { name: "Shop", language: "Go", tierAlias: "tier_1", ownerInput: { alias: "platform" } }) { errors { message } }
        d: serviceUpdate(input: { alias: "shop", name: "Store", language: null, tierAlias: "tier_2", ownerInput: { alias: "payments" } }) { errors { message } }"#,
    )
    .await;
    let expected = json!({
        "name": { "old": "Shop", "new": "Store" }, "slug": { "old": "shop", "new": "store" },
        "language": { "old": "Go", "new": null }, "owner": { "old": "platform", "new": "payments" },
        "tier": { "old": "tier_1", "new": "tier_2" }, "aliases": { "removed": [], "added": ["Store", "store"] },
    });
    assert_eq!(changed(&app, "serviceUpdate").await, [expected]);
}

#[tokio::test]
async fn tags_aliases_and_members_are_audited_with_their_previous_values() {
    let app = TestApp::start().await;
    let made = change(
        &app,
        r#"user: userInvite(email: "ada@example.com", input: { name: "Ada" }) { errors { message } }
        team: teamCreate(input: { name: "Platform" }) { team { id } errors { message } }
        service: serviceCreate(input: { name: "Shop" }) { service { id } errors { message } }
        set: tagAssign(input: { alias: "shop", tags: [{ key: "env", value: "dev" }, { key: "size", value: "4" }] }) { tags { id } errors { message } }
        again: tagAssign(input: { alias: "shop", tags: [{ key: "env", value: "prod" }, { key: "size", value: "4" }] }) { errors { message } }"#,
    )
    .await;
    let (team, service) = (&made["team"]["team"]["id"], &made["service"]["service"]["id"]);
    let (env, size) = (&made["set"]["tags"][0]["id"], &made["set"]["tags"][1]["id"]);
    change(
        &app,
        &format!(
            r#"a: tagUpdate(input: {{ id: {env}, key: "stage" }}) {{ errors {{ message }} }}
            b: tagDelete(input: {{ id: {size} }}) {{ errors {{ message }} }}
            c: aliasCreate(input: {{ ownerId: {service}, alias: "store" }}) {{ errors {{ message }} }}
            d: aliasDelete(input: {{ ownerType: service, alias: "store" }}) {{ errors {{ message }} }}
            e: teamMembershipCreate(input: {{ teamId: {team}, members: [{{ user: {{ email: "ada@example.com" }}, role: "lead" }}] }}) {{ errors {{ message }} }}
            f: teamMembershipDelete(input: {{ teamId: {team}, members: [{{ user: {{ email: "ada@example.com" }} }}] }}) {{ errors {{ message }} }}"#
        ),
    )
    .await;
    let assigned = [
        json!({ "tags.env": { "old": null, "new": "dev" }, "tags.size": { "old": null, "new": "4" } }),
        json!({ "tags.env": { "old": "dev", "new": "prod" } }),
    ];
    assert_eq!(changed(&app, "tagAssign").await, assigned);
    let renamed = json!({ "tags.env": { "old": "prod", "new": null }, "tags.stage": { "old": null, "new": "prod" } });
    assert_eq!(changed(&app, "tagUpdate").await, [renamed]);
    assert_eq!(changed(&app, "tagDelete").await, [json!({ "tags.size": { "old": "4", "new": null } })]);
    let only = |list: &str, removed: &[&str], added: &[&str]| json!({ list: { "removed": removed, "added": added } });
    assert_eq!(changed(&app, "aliasCreate").await, [only("aliases", &[], &["store"])]);
    assert_eq!(changed(&app, "aliasDelete").await, [only("aliases", &["store"], &[])]);
    assert_eq!(changed(&app, "teamMembershipCreate").await, [only("members", &[], &["ada@example.com (lead)"])]);
    assert_eq!(changed(&app, "teamMembershipDelete").await, [only("members", &["ada@example.com (lead)"], &[])]);
    let of_shop = entries(&app).await.into_iter().filter(|(_, _, name, _)| name.as_deref() == Some("shop"));
    let actions: Vec<_> = of_shop.map(|(action, ..)| action).collect();
    assert_eq!(actions, ["tagAssign", "tagAssign", "tagUpdate", "tagDelete", "aliasCreate", "aliasDelete"]);
}

#[tokio::test]
async fn the_changes_of_a_service_file_are_audited_field_by_field() {
    let app = TestApp::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("shop.yml");
    let apply = async |text: &str| {
        std::fs::write(&file, text).expect("a file");
        crate::harness::service_file::run(&app.db, std::slice::from_ref(&file)).await.expect("it applies");
    };
    let repository = "version: 1\nrepository: { name: org/shop, url: https://github.com/org/shop }\n";
    let service = |rest: &str| format!("version: 1\nservice: {{ name: Shop, {rest} }}\n");
    apply(repository).await;
    apply(&service("language: Go, aliases: [a, b], tags: { env: dev, old: x }")).await;
    apply(&service("language: Rust, tier: tier_1, aliases: [b, c], tags: { env: prod, new: y }, repositories: [github.com:org/shop]")).await;
    apply(&service("language: Rust")).await;
    let of = |old: Value, new: Value| json!({ "old": old, "new": new });
    let name = json!(file.display().to_string());
    let expected = [
        json!({
            "name": of(json!(null), json!("org/shop")), "defaultAlias": of(json!(null), json!("github.com:org/shop")),
            "url": of(json!(null), json!("https://github.com/org/shop")), "private": of(json!(null), json!(false)),
            "visible": of(json!(null), json!(true)),
        }),
        json!({
            "name": of(json!(null), json!("Shop")), "slug": of(json!(null), json!("shop")),
            "language": of(json!(null), json!("Go")), "lockedBy": of(json!(null), name),
            "aliases": { "removed": [], "added": ["Shop", "a", "b", "shop"] },
            "tags.env": of(json!(null), json!("dev")), "tags.old": of(json!(null), json!("x")),
        }),
        json!({
            "language": of(json!("Go"), json!("Rust")), "tier": of(json!(null), json!("tier_1")),
            "aliases": { "removed": ["a"], "added": ["c"] }, "tags.env": of(json!("dev"), json!("prod")),
            "tags.old": of(json!("x"), json!(null)), "tags.new": of(json!(null), json!("y")),
            "repositories": { "removed": [], "added": ["github.com:org/shop"] },
        }),
    ];
    assert_eq!(changed(&app, "apply").await, expected, "and nothing of what stays as it is");
    service_file::release(&app.db, "shop").await.expect("a service");
    let released = changed(&app, "release").await;
    assert_eq!(released, [json!({ "lockedBy": of(json!(file.display().to_string()), json!(null)) })]);
}

#[tokio::test]
async fn the_audit_holds_no_secrets_of_new_objects() {
    let app = TestApp::start().await;
    let made = change(&app, r#"a: eventIntegrationCreate(input: { type: deploy, name: "CI" }) { integration { id webhookUrl } errors { message } }"#).await;
    let url = made["a"]["integration"]["webhookUrl"].as_str().expect("an address");
    let secret = url.rsplit('/').next().expect("an id");
    let rows = app.db.read().all(audit::Entity::find()).await.expect("entries");
    assert!(rows.iter().all(|row| !row.detail.contains(secret) && !row.detail.contains("hash")), "{rows:?}");
    assert_eq!(rows[0].action, "tokenCreate");
    let detail: Value = serde_json::from_str(&rows[0].detail).expect("JSON");
    assert_eq!(detail["changed"]["scope"]["new"], json!("admin"));
}

#[tokio::test]
async fn sign_ins_sign_outs_and_ended_sessions_are_audited() {
    let app = TestApp::start().await;
    let mut ada = Browser::of(&app, Role::Admin).await;
    let other = Browser::of(&app, Role::Admin).await;
    let sessions = app.db.read().all(rollcall::entity::session::Entity::find()).await.expect("sessions");
    let id = sessions.last().expect("a session").id;
    assert_eq!(ada.post(&format!("/account/sessions/{id}/end"), &[]).await.location(), "/account");
    assert_eq!(other.get("/services").await.status, 303);
    assert_eq!(ada.post("/sign-out", &[]).await.location(), "/sign-in");
    let entries = entries(&app).await;
    let actions: Vec<_> = entries.iter().map(|(action, _, name, _)| (&**action, name.as_deref())).collect();
    let admin = Some("admin@example.com");
    assert_eq!(actions, [("signIn", admin), ("signIn", admin), ("sessionEnd", admin), ("signOut", admin)]);
    assert_eq!((&entries[0].3["through"], &entries[0].3["address"]), (&json!("link"), &json!("127.0.0.1")));
    assert_eq!(entries[2].3, json!({ "session": id }));
}

#[tokio::test]
async fn refused_attempts_are_audited_once_per_address_and_minute() {
    let app = TestApp::start().await;
    let stranger = Browser::new(&app);
    for number in 0..5 {
        let key = format!("{number}").repeat(43);
        assert_eq!(stranger.get(&format!("/sign-in/{key}")).await.status, 404);
    }
    let wrong = [("authorization", "Bearer rc_x")];
    assert_eq!(app.post_with("{ account { name } }", json!({}), &wrong).await.status, 401);
    assert_eq!(app.post_with("{ account { name } }", json!({}), &[]).await.status, 401);
    let viewer = Browser::of(&app, Role::Viewer).await;
    assert_eq!(viewer.get("/tokens").await.status, 403);
    let token = app.new_token(token::Scope::Read, None).await;
    let read = [("authorization", &*format!("Bearer {token}"))];
    app.post_with(r#"mutation { serviceDelete(input: { alias: "x" }) { errors { message } } }"#, json!({}), &read)
        .await;

    let rows = app.db.read().all(audit::Entity::find().order_by_asc(audit::Column::Id)).await.expect("entries");
    let refused = rows.iter().filter(|row| row.action.ends_with("Refused") || row.action == "forbidden");
    let refused: Vec<_> = refused
        .map(|row| {
            let detail: Value = serde_json::from_str(&row.detail).expect("JSON");
            let attempts = detail["attempts"].as_u64().expect("a count");
            (row.actor_kind, &*row.action, detail["why"].as_str().expect("a reason").to_owned(), attempts)
        })
        .collect();
    // The minute may change between two attempts.
    let links: Vec<_> = refused.iter().filter(|(_, action, ..)| *action == "signInRefused").collect();
    assert!((1..=2).contains(&links.len()) && links.iter().all(|(kind, ..)| *kind == ActorKind::Visitor), "{links:?}");
    assert!(links.len() == 2 || links[0].3 == 4, "the count is written when it doubles: {links:?}");
    let expected = [
        (ActorKind::Visitor, "tokenRefused", "The token is not valid.".to_owned(), 1),
        (ActorKind::Session, "forbidden", "GET /tokens".to_owned(), 1),
        (ActorKind::Token, "forbidden", "serviceDelete".to_owned(), 1),
    ];
    assert_eq!(refused[links.len()..], expected);
}

#[tokio::test]
async fn an_audit_entry_is_bounded_in_bytes() {
    let app = TestApp::start().await;
    let tags: Vec<_> =
        (0..200).map(|number| json!({ "key": format!("k{number}"), "value": "é".repeat(900) })).collect();
    let assign = "mutation($tags: [TagInput!]!) {
        serviceCreate(input: { name: \"Shop\" }) { errors { message } }
        tagAssign(input: { alias: \"shop\", tags: $tags }) { tags { key } errors { message } }
    }";
    let answer = app.query(assign, json!({ "tags": tags })).await;
    assert_eq!(answer["data"]["tagAssign"]["tags"].as_array().map(Vec::len), Some(200), "{answer}");
    let rows = app.db.read().all(audit::Entity::find()).await.expect("entries");
    assert!(rows.iter().all(|row| row.detail.len() <= audit::DETAIL), "{rows:?}");
    let last = entries(&app).await.pop().expect("an entry").3;
    assert!(last["changed"]["tags.k0"]["new"].as_str().is_some_and(|value| value.starts_with("ééé")), "{last}");
}

#[tokio::test]
async fn the_audit_page_shows_changed_values() {
    let app = TestApp::start().await;
    change(
        &app,
        r#"a: serviceCreate(input: { name: "Shop", language: "Go" }) { errors { message } }
        b: serviceUpdate(input: { alias: "shop", language: "Rust<", note: null }) { errors { message } }"#,
    )
    .await;
    let ada = Browser::of(&app, Role::Admin).await;
    let page = ada.page("/audit?action=serviceUpdate").await;
    assert!(page.contains("<span class=\"soft\">language: </span>Go → Rust&lt;"), "{page}");
    let page = ada.page("/audit?action=signIn").await;
    assert!(page.contains("<span class=\"soft\">through: </span>link"), "{page}");
}

#[tokio::test]
async fn what_the_page_reads_has_the_budget_of_a_query() {
    let app = TestApp::with(&["--max-rows", "100"]).await;
    let refused = Browser::of(&app, Role::Admin).await.get("/audit").await;
    assert_eq!(refused.status, 503);
    assert!(refused.text().contains("narrow the filter"), "{refused:?}");
}
