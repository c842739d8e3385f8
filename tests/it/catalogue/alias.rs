//! Aliases of services and teams.

use rollcall::db::Write;
use rollcall::entity::alias::AliasKind;
use rollcall::entity::{ByAlias, service, service_alias};
use sea_orm::{EntityTrait, Set};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};

/// Creates a service `Cart` and a team `Core`, and returns their ids.
async fn owners(app: &TestApp) -> (Value, Value) {
    let query = r#"mutation {
        serviceCreate(input: { name: "Cart" }) { service { id } }
        teamCreate(input: { name: "Core" }) { team { id } }
    }"#;
    let mut made = data(app, query).await;
    (made["serviceCreate"]["service"]["id"].take(), made["teamCreate"]["team"]["id"].take())
}

async fn create(app: &TestApp, owner: &Value, alias: &str) -> Value {
    let query = "mutation($owner: ID!, $alias: String!) {
        aliasCreate(input: { ownerId: $owner, alias: $alias }) { ownerId aliases errors { message path } }
    }";
    app.query(query, json!({ "owner": owner, "alias": alias })).await["data"]["aliasCreate"].take()
}

async fn delete(app: &TestApp, owner_type: &str, alias: &str) -> Value {
    let query = "mutation($type: AliasOwnerTypeEnum!, $alias: String!) {
        aliasDelete(input: { ownerType: $type, alias: $alias }) { deletedAlias errors { message path } }
    }";
    app.query(query, json!({ "type": owner_type, "alias": alias })).await["data"]["aliasDelete"].take()
}

fn refused(field: &str, message: &str) -> Value {
    json!([{ "message": message, "path": [field] }])
}

#[tokio::test]
async fn alias_create_adds_an_alias_that_finds_its_owner() {
    let app = TestApp::start().await;
    let (service, team) = owners(&app).await;
    let expected = json!({ "ownerId": service, "aliases": ["cart", "Cart", "org/repo: x"], "errors": [] });
    assert_eq!(create(&app, &service, "org/repo: x").await, expected);
    let expected = json!({ "ownerId": team, "aliases": ["core", "org/repo: x"], "errors": [] });
    assert_eq!(create(&app, &team, "org/repo: x").await, expected);
    let query = r#"{ account {
        service(alias: "org/repo: x") { name managedAliases } team(alias: "org/repo: x") { name managedAliases }
    } }"#;
    let expected = json!({
        "service": { "name": "Cart", "managedAliases": ["org/repo: x"] },
        "team": { "name": "Core", "managedAliases": ["org/repo: x"] },
    });
    assert_eq!(data(&app, query).await["account"], expected);
}

#[tokio::test]
async fn an_alias_belongs_to_one_service_at_a_time() {
    let app = TestApp::start().await;
    let (service, _) = owners(&app).await;
    data(&app, r#"mutation { serviceCreate(input: { name: "Other" }) { errors { path } } }"#).await;
    let answer = create(&app, &service, "other").await;
    assert_eq!(answer["errors"], refused("alias", "another service has the alias \"other\""));
    assert_eq!(answer["ownerId"], Value::Null);
}

#[tokio::test]
async fn an_alias_that_the_owner_already_has_is_kept() {
    let app = TestApp::start().await;
    let (service, _) = owners(&app).await;
    create(&app, &service, "x").await;
    assert_eq!(create(&app, &service, "x").await["aliases"], json!(["cart", "Cart", "x"]));
}

#[tokio::test]
async fn alias_create_refuses_invalid_aliases_and_owners() {
    let app = TestApp::start().await;
    let (service, _) = owners(&app).await;
    assert_eq!(create(&app, &service, " ").await["errors"], refused("alias", "alias must not be empty"));
    let long = create(&app, &service, &"x".repeat(256)).await;
    assert_eq!(long["errors"], refused("alias", "alias has 256 characters; at most 255 are allowed"));
    let malformed = create(&app, &json!("x"), "x").await;
    assert_eq!(malformed["errors"][0]["path"], json!(["ownerId"]));
    let tier = create(&app, &json!("Z2lkOi8vcm9sbGNhbGwvVGllci8x"), "x").await;
    let message = "a service, team, system, domain, infrastructure resource or scorecard with this id does not exist on this account: it is the id of a Tier";
    assert_eq!(tier["errors"], refused("ownerId", message));
}

#[tokio::test]
async fn an_owner_has_at_most_a_thousand_aliases() {
    let app = TestApp::start().await;
    let (service, _) = owners(&app).await;
    let id = service::Entity::by_alias(app.db.read(), "cart").await.expect("an answer").expect("a service").id;
    let alias = |number: u32| service_alias::ActiveModel {
        service_id: Set(id),
        value: Set(format!("a{number}")),
        kind: Set(AliasKind::Managed),
        ..Default::default()
    };
    // Together with the slug and the name, one less than the limit.
    let rows = service_alias::Entity::insert_many((0..997).map(alias));
    app.db.write(async |db| db.exec(rows).await).await.expect("aliases");
    assert_eq!(create(&app, &service, "last").await["errors"], json!([]));
    let message = "the service has 1000 aliases; no more can be added";
    assert_eq!(create(&app, &service, "one more").await["errors"], refused("alias", message));
    let read = data(
        &app,
        r#"{ account { services(search: "ONE MORE") { totalCount } a: services(search: "LAST") { totalCount } } }"#,
    );
    let expected = json!({ "account": { "services": { "totalCount": 0 }, "a": { "totalCount": 1 } } });
    assert_eq!(read.await, expected);
}

#[tokio::test]
async fn a_slug_is_locked() {
    let app = TestApp::start().await;
    owners(&app).await;
    for (owner_type, alias) in [("service", "cart"), ("team", "core")] {
        let expected =
            json!({ "deletedAlias": null, "errors": refused("alias", "slug is locked, it cannot be deleted") });
        assert_eq!(delete(&app, owner_type, alias).await, expected);
    }
    let name = delete(&app, "service", "Cart").await;
    assert_eq!(name["errors"], refused("alias", "name is locked, it cannot be deleted"));
}

#[tokio::test]
async fn alias_delete_removes_a_managed_alias() {
    let app = TestApp::start().await;
    let (service, _) = owners(&app).await;
    create(&app, &service, "x").await;
    let wrong_type = delete(&app, "team", "x").await;
    assert_eq!(wrong_type["errors"], refused("alias", "a team with the alias \"x\" does not exist on this account"));
    assert_eq!(delete(&app, "service", "x").await, json!({ "deletedAlias": "x", "errors": [] }));
    let read = data(&app, r#"{ account { service(alias: "x") { id } } }"#).await;
    assert_eq!(read, json!({ "account": { "service": null } }));
}

#[tokio::test]
async fn of_many_who_create_the_same_alias_one_gets_it() {
    let app = TestApp::start().await;
    let ids: Vec<Value> = {
        let create = |i| format!("s{i}: serviceCreate(input: {{ name: \"s{i}\" }}) {{ service {{ id }} }}");
        let query = format!("mutation {{ {} }}", (0..16).map(create).collect::<Vec<_>>().join(" "));
        data(&app, &query).await.as_object().expect("data").values().map(|made| made["service"]["id"].clone()).collect()
    };
    let answers = futures_util::future::join_all(ids.iter().map(|id| create(&app, id, "wanted"))).await;
    let winners = answers.iter().filter(|answer| answer["errors"] == json!([])).count();
    let losers = refused("alias", "another service has the alias \"wanted\"");
    assert_eq!(winners, 1);
    assert_eq!(answers.iter().filter(|answer| answer["errors"] == losers).count(), 15);
}
