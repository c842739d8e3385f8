//! Concurrent changes that affect a running mutation: a service file locks a service, an administrator is demoted. Each
//! test keeps a transaction with such a change open until the mutation waits for it, or has ended without waiting. Then
//! it commits. On SQLite the mutation waits for the only writer.

use std::cell::Cell;
use std::time::Instant;

use futures_util::future::{join, join_all};
use rollcall::db::{Read, Write};
use rollcall::deploy::commit::{GROUP, LOCK_WAIT};
use rollcall::deploy::{Deploys, Outcome, Post, Record};
use rollcall::entity::integration;
use rollcall::events::Wanted;
use sea_orm::EntityTrait;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data, until_somebody_waits};
use crate::harness::browser::Browser;
use crate::harness::database::is_postgres;
use crate::harness::services::{repository, service};
use crate::harness::webhook::{Endpoint, record};
use rollcall::entity::user::Role;

/// Sends a mutation while the statements `meanwhile` are uncommitted, and returns its response.
async fn sent_during(app: &TestApp, meanwhile: &str, query: &str, variables: Value) -> Value {
    let transaction = app.db.begin_write().await.expect("a transaction");
    transaction.script(meanwhile).await.expect("statements that work");
    let is_answered = Cell::new(false);
    let sent = async {
        let answer = app.query(query, variables).await;
        is_answered.set(true);
        answer
    };
    let committed = async {
        until_somebody_waits(app, || !is_postgres() || is_answered.get()).await;
        app.db.commit(transaction).await.expect("a commit");
    };
    let (mut answer, ()) = join(sent, committed).await;
    assert_eq!(answer.get("errors"), None, "{query}");
    answer["data"].as_object_mut().and_then(|data| data.values_mut().next()).expect("a payload").take()
}

/// A deploy locks the services that it names before the suggestions. Were a suggestion accepted in the other order, the
/// two could deadlock.
#[tokio::test]
async fn a_suggestion_that_waits_for_its_service_does_not_hold_up_deploys_on_postgres() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    if !is_postgres() {
        return;
    }
    let cart = service(app, "cart").await;
    endpoint.post_with(json!({ "service": "unknown" })).await;
    let read = data(app, "{ account { serviceSuggestions { nodes { id } } } }").await;
    let suggestion = &read["account"]["serviceSuggestions"]["nodes"][0]["id"];
    let query = "mutation($id: ID!, $service: ID!) {
        serviceSuggestionAccept(input: { id: $id, service: { id: $service } }) { errors { message } }
    }";
    let deploy = app.db.begin_write().await.expect("a transaction");
    deploy.script("SELECT id FROM service FOR KEY SHARE").await.expect("a lock");
    let is_answered = Cell::new(false);
    let accepted = async {
        let answer = app.query(query, json!({ "id": suggestion, "service": cart })).await;
        is_answered.set(true);
        answer
    };
    let committed = async {
        until_somebody_waits(app, || is_answered.get()).await;
        deploy.script("SELECT id FROM suggestion FOR UPDATE NOWAIT").await.expect("nobody has locked it");
        app.db.commit(deploy).await.expect("a commit");
    };
    let (answer, ()) = join(accepted, committed).await;
    assert_eq!(answer["data"]["serviceSuggestionAccept"], json!({ "errors": [] }));
}

/// The deploys of a group wait for locks one after another, half a second each: 24 of them would wait for 12 seconds.
#[tokio::test]
async fn deploys_of_many_locked_services_delay_a_later_one_for_a_bounded_time_on_postgres() {
    if !is_postgres() {
        return;
    }
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let names: Vec<String> = (0..24).map(|number| format!("cart{number}")).collect();
    for name in &names {
        endpoint.create_service(name).await;
    }
    let integration = app.db.read().one(integration::Entity::find()).await.expect("a row").expect("the endpoint");
    let deploys = Deploys::start(app.db.reserved(), Wanted::default(), GROUP);
    let post = |service: &str| {
        let body = record(json!({ "service": service })).to_string();
        let record = Record::read(&body, false).expect("a record").record;
        deploys.record(Post { integration_id: integration.id, record })
    };
    let holder = app.db.begin_write().await.expect("a transaction");
    holder.script("SELECT id FROM service WHERE slug <> 'shop' FOR UPDATE").await.expect("locks");
    // All are queued before the first is taken, so they are one group.
    let locked = join_all(names.iter().map(|name| post(name)));
    let later = async {
        until_somebody_waits(app, || false).await;
        let began = Instant::now();
        let recorded = post("shop").await;
        let took = began.elapsed();
        app.db.roll_back(holder).await.expect("the end");
        (recorded, took)
    };
    let (locked, (recorded, took)) = join(locked, later).await;
    assert_eq!(recorded, Ok(Outcome::Ok { alias: None }));
    assert!(took < 3 * LOCK_WAIT, "{took:?}");
    assert!(locked.iter().all(|outcome| *outcome == Ok(Outcome::Ok { alias: None })), "{locked:?}");
}

const LOCK: &str = "UPDATE service SET locked_by = 'rollcall.yml' WHERE slug = 'cart'";

#[tokio::test]
async fn a_service_that_gets_locked_during_a_mutation_is_not_changed_by_it() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let cart = service(app, "cart").await;
    let setup = r#"mutation($id: ID!) {
        tagAssign(input: { alias: "cart", tags: { key: "k", value: "v" } }) { tags { id } }
        aliasCreate(input: { ownerId: $id, alias: "kept" }) { errors { message } }
        a: repositoryCreate(input: { name: "org/a" }) { errors { message } }
        b: repositoryCreate(input: { name: "org/b" }) { errors { message } }
        link: serviceRepositoryCreate(input: { service: { alias: "cart" }, repository: { alias: "org/a" } }) {
            serviceRepository { id } errors { message }
        }
    }"#;
    let made = app.query(setup, json!({ "id": cart })).await;
    endpoint.post_with(json!({ "service": "unknown" })).await;
    let read = data(app, "{ account { serviceSuggestions { nodes { id } } } }").await;
    let variables = json!({
        "service": cart,
        "tag": made["data"]["tagAssign"]["tags"][0]["id"],
        "link": made["data"]["link"]["serviceRepository"]["id"],
        "suggestion": read["account"]["serviceSuggestions"]["nodes"][0]["id"],
    });
    let state = r#"{ account { service(alias: "cart") {
        name note aliases tags { nodes { key value } } repositories { nodes { name } } deploys { totalCount }
    } } }"#;
    let before = data(app, state).await;
    for mutation in [
        "serviceUpdate(input: { id: $service, note: \"x\" })",
        "serviceDelete(input: { id: $service })",
        "aliasCreate(input: { ownerId: $service, alias: \"x\" })",
        "aliasDelete(input: { ownerType: service, alias: \"kept\" })",
        "tagAssign(input: { id: $service, tags: { key: \"x\", value: \"x\" } })",
        "tagAssign(input: { id: $service, tags: [{ key: \"k\", value: \"x\" }, { key: \"y\", value: \"y\" }] })",
        "tagCreate(input: { id: $service, key: \"x\", value: \"x\" })",
        "tagUpdate(input: { id: $tag, value: \"x\" })",
        "tagDelete(input: { id: $tag })",
        "serviceRepositoryCreate(input: { service: { id: $service }, repository: { alias: \"org/b\" } })",
        "serviceRepositoryDelete(input: { id: $link })",
        "serviceSuggestionAccept(input: { id: $suggestion, service: { id: $service } })",
    ] {
        let names = variables.as_object().expect("variables").keys();
        let used: Vec<_> = names.filter(|name| mutation.contains(&format!("${name}"))).collect();
        let declared: Vec<_> = used.iter().map(|name| format!("${name}: ID!")).collect();
        let declared = if declared.is_empty() { String::new() } else { format!("({})", declared.join(" ")) };
        let query = format!("mutation{declared} {{ {mutation} {{ errors {{ message path }} }} }}");
        let payload = sent_during(app, LOCK, &query, variables.clone()).await;
        let message = "the service is locked: its service file rollcall.yml governs it; change it there";
        assert_eq!(payload["errors"], json!([{ "message": message, "path": ["locked"] }]), "{mutation}");
        assert_eq!(data(app, state).await, before, "{mutation}");
        let unlock = app.db.write(async |db| db.script("UPDATE service SET locked_by = NULL").await);
        unlock.await.expect("the service is unlocked");
    }
}

#[tokio::test]
async fn an_object_that_a_locked_service_starts_to_refer_to_is_not_deleted() {
    let app = TestApp::start().await;
    service(&app, "cart").await;
    repository(&app, "org/cart").await;
    let setup = r#"mutation {
        teamCreate(input: { name: "Core" }) { errors { message } }
        tierCreate(input: { name: "Gold" }) { tier { id } }
        lifecycleCreate(input: { name: "Dusk" }) { lifecycle { id } }
    }"#;
    let made = data(&app, setup).await;
    let refers = |column: &str, table: &str, alias: &str| {
        format!("{LOCK}; UPDATE service SET {column} = (SELECT id FROM {table} WHERE alias = '{alias}')")
    };
    let linked = format!(
        "{LOCK}; INSERT INTO service_repository (service_id, repository_id, base_directory)
        SELECT service.id, repository.id, '/' FROM service, repository"
    );
    let tier = format!("tierDelete(input: {{ id: {} }})", made["tierCreate"]["tier"]["id"]);
    let lifecycle = format!("lifecycleDelete(input: {{ id: {} }})", made["lifecycleCreate"]["lifecycle"]["id"]);
    for (mutation, meanwhile) in [
        ("teamDelete(input: { alias: \"core\" })", refers("owner_id", "team", "core")),
        (&*tier, refers("tier_id", "tier", "gold")),
        (&*lifecycle, refers("lifecycle_id", "lifecycle", "dusk")),
        ("repositoryDelete(input: { alias: \"org/cart\" })", linked),
    ] {
        let query = format!("mutation {{ {mutation} {{ errors {{ path }} }} }}");
        let payload = sent_during(&app, &meanwhile, &query, json!({})).await;
        assert_eq!(payload["errors"], json!([{ "path": ["locked"] }]), "{mutation}");
    }
    let state = r#"{ account { service(alias: "cart") {
        owner { name } tier { name } lifecycle { name } repositories { nodes { name } }
    } } }"#;
    let expected = json!({
        "owner": { "name": "Core" }, "tier": { "name": "Gold" }, "lifecycle": { "name": "Dusk" },
        "repositories": { "nodes": [{ "name": "org/cart" }] },
    });
    assert_eq!(data(&app, state).await["account"]["service"], expected);
}

#[tokio::test]
async fn a_contact_that_stops_being_the_default_during_a_mutation_does_not_become_it_again() {
    let app = TestApp::start().await;
    let setup = r#"mutation { teamCreate(input: { name: "Core", contacts: [
        { type: slack, address: "A" }, { type: slack, address: "B" }
    ] }) { team { contacts { id } } errors { message } } }"#;
    let made = data(&app, setup).await;
    let id = &made["teamCreate"]["team"]["contacts"][0]["id"];
    let meanwhile = "UPDATE team SET name = name; UPDATE contact SET is_default = (address = 'B')";
    let query = "mutation($id: ID!) {
        contactUpdate(input: { id: $id, displayName: \"a\" }) { contact { isDefault } errors { message } }
    }";
    let payload = sent_during(&app, meanwhile, query, json!({ "id": id })).await;
    assert_eq!(payload, json!({ "contact": { "isDefault": false }, "errors": [] }));
    let read = data(&app, r#"{ account { team(alias: "core") { contacts { address isDefault } } } }"#).await;
    let expected = json!([{ "address": "A", "isDefault": false }, { "address": "B", "isDefault": true }]);
    assert_eq!(read["account"]["team"]["contacts"], expected);
}

#[tokio::test]
async fn an_integration_keeps_a_concurrent_change_to_another_of_its_fields() {
    let app = TestApp::start().await;
    let setup = r#"mutation { azureResourcesIntegrationCreate(input: { name: "Blue", tenantId: "t" }) {
        integration { id } errors { message }
    } }"#;
    let made = data(&app, setup).await;
    let id = &made["azureResourcesIntegrationCreate"]["integration"]["id"];
    let meanwhile = "UPDATE integration SET name = 'Green'";
    let query = "mutation($id: ID!) {
        azureResourcesIntegrationUpdate(integration: { id: $id }, input: { tenantId: \"u\" }) {
            integration { name ... on AzureResourcesIntegration { tenantId } } errors { message }
        }
    }";
    let payload = sent_during(&app, meanwhile, query, json!({ "id": id })).await;
    assert_eq!(payload, json!({ "integration": { "name": "Green", "tenantId": "u" }, "errors": [] }));
}

const ONLY_ADMINISTRATOR: &str = "\"ada\" is the only administrator; make another user an administrator first";

#[tokio::test]
async fn the_only_administrator_is_neither_demoted_nor_deleted() {
    let app = TestApp::start().await;
    let refused = json!({ "errors": [{ "message": ONLY_ADMINISTRATOR, "path": ["base"] }] });
    let query = r#"mutation {
        userInvite(email: "ada@example.com", input: { role: admin }) { errors { message } }
        bob: userInvite(email: "bob@example.com", input: {}) { errors { message } }
        member: userUpdate(user: { email: "ada@example.com" }, input: { role: user }) { errors { message path } }
        viewer: userUpdate(user: { email: "ada@example.com" }, input: { role: viewer }) { errors { message path } }
        delete: userDelete(user: { email: "ada@example.com" }) { errors { message path } }
        same: userUpdate(user: { email: "ada@example.com" }, input: { role: admin }) { errors { message path } }
        promote: userUpdate(user: { email: "bob@example.com" }, input: { role: admin }) { errors { message path } }
        second: userUpdate(user: { email: "ada@example.com" }, input: { role: user }) { user { role } errors { message } }
    }"#;
    let expected = json!({
        "userInvite": { "errors": [] }, "bob": { "errors": [] },
        "member": refused, "viewer": refused, "delete": refused,
        "same": { "errors": [] }, "promote": { "errors": [] },
        "second": { "user": { "role": "user" }, "errors": [] },
    });
    assert_eq!(data(&app, query).await, expected);
}

#[tokio::test]
async fn the_page_of_users_says_why_the_only_administrator_stays() {
    let app = TestApp::start().await;
    let mut admin = Browser::of(&app, Role::Admin).await;
    let read = data(&app, "{ account { users { nodes { id } } } }").await;
    let id = read["account"]["users"]["nodes"][0]["id"].as_str().expect("an id").to_owned();
    let refused = admin.post(&format!("/users/{id}/delete"), &[]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("is the only administrator"), "{}", refused.text());
    assert!(admin.page("/users").await.contains("admin@example.com"));
}

#[tokio::test]
async fn of_two_administrators_who_leave_at_the_same_time_one_stays() {
    let app = TestApp::start().await;
    let invite = r#"mutation {
        ada: userInvite(email: "ada@example.com", input: { role: admin }) { errors { message } }
        bob: userInvite(email: "bob@example.com", input: { role: admin }) { errors { message } }
    }"#;
    data(&app, invite).await;
    let promote = "UPDATE \"user\" SET role = 'admin'";
    let demote = "UPDATE \"user\" SET role = 'viewer' WHERE email = 'bob@example.com'";
    for mutation in [
        "userUpdate(user: { email: \"ada@example.com\" }, input: { role: viewer })",
        "userDelete(user: { email: \"ada@example.com\" })",
    ] {
        let query = format!("mutation {{ {mutation} {{ errors {{ message path }} }} }}");
        let payload = sent_during(&app, demote, &query, json!({})).await;
        assert_eq!(payload["errors"], json!([{ "message": ONLY_ADMINISTRATOR, "path": ["base"] }]), "{mutation}");
        let both = app.db.write(async |db| db.script(promote).await);
        both.await.expect("both are administrators again");
    }
    let demote = |name: &str| {
        format!(
            "mutation {{ userUpdate(user: {{ email: \"{name}@example.com\" }}, input: {{ role: viewer }}) {{ errors {{ path }} }} }}"
        )
    };
    for _ in 0..8 {
        let (ada, bob) = (demote("ada"), demote("bob"));
        let (ada, bob) = join(app.query(&ada, json!({})), app.query(&bob, json!({}))).await;
        let refused = [ada, bob].iter().filter(|answer| answer["data"]["userUpdate"]["errors"] != json!([])).count();
        assert_eq!(refused, 1);
        let both = app.db.write(async |db| db.script(promote).await);
        both.await.expect("both are administrators again");
    }
}
