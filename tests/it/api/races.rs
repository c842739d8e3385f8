//! 64 clients that change the same thing at the same time: one wins, the others get an error or the winner's row, and
//! nobody gets an internal error. Races about a single noun are tested with that noun.

use std::cell::Cell;
use std::collections::BTreeSet;

use futures_util::future::{join, join_all};
use rollcall::db::{Read, Write};
use rollcall::entity::service_last_deploy;
use sea_orm::EntityTrait;
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data, until_somebody_waits};
use crate::harness::database::is_postgres;
use crate::harness::webhook::Endpoint;

const CLIENTS: usize = 64;

/// A service without rate limits for 64 clients, each with its own token.
async fn start() -> TestApp {
    TestApp::with(&["--token-limit", "0", "--ip-limit", "0"]).await
}

/// Sends an operation from all clients at once, each with its own variable `n`, and returns the payloads.
async fn at_once(app: &TestApp, query: &str, variables: Value) -> Vec<Value> {
    let send = |n: usize| {
        let mut variables = variables.clone();
        variables["n"] = json!(n.to_string());
        app.query(query, variables)
    };
    let answers = join_all((0..CLIENTS).map(send)).await;
    let payload = |answer: Value| {
        assert_eq!(answer.get("errors"), None, "{answer}");
        answer["data"].as_object().and_then(|data| data.values().next()).expect("a payload").clone()
    };
    answers.into_iter().map(payload).collect()
}

/// Asserts that one payload has no errors, and all others have this one.
fn one_wins(payloads: &[Value], field: &str, message: &str) {
    let (won, lost): (Vec<_>, Vec<_>) = payloads.iter().partition(|payload| payload["errors"] == json!([]));
    assert_eq!(won.len(), 1, "{payloads:?}");
    for payload in lost {
        assert_eq!(payload["errors"], json!([{ "path": [field], "message": message }]));
    }
}

/// Asserts that all payloads are the same, without errors.
fn all_get_the_same(payloads: &[Value]) {
    assert_eq!(payloads[0]["errors"], json!([]));
    for payload in payloads {
        assert_eq!(payload, &payloads[0]);
    }
}

#[tokio::test]
async fn of_64_who_create_the_same_alias_on_as_many_services_one_gets_it() {
    let app = start().await;
    let create = |i| format!("s{i}: serviceCreate(input: {{ name: \"s{i}\" }}) {{ service {{ id }} }}");
    let made = data(&app, &format!("mutation {{ {} }}", (0..CLIENTS).map(create).collect::<Vec<_>>().join(" "))).await;
    let query =
        "mutation($id: ID!) { aliasCreate(input: { ownerId: $id, alias: \"wanted\" }) { errors { path message } } }";
    let made = made.as_object().expect("data");
    let answers = join_all(made.values().map(|made| app.query(query, json!({ "id": made["service"]["id"] })))).await;
    let payloads: Vec<_> = answers.iter().map(|answer| answer["data"]["aliasCreate"].clone()).collect();
    one_wins(&payloads, "alias", "another service has the alias \"wanted\"");
    let read = data(&app, r#"{ account { service(alias: "wanted") { managedAliases } } }"#).await;
    assert_eq!(read["account"]["service"], json!({ "managedAliases": ["wanted"] }));
}

#[tokio::test]
async fn of_64_who_give_one_service_the_same_alias_everyone_gets_it() {
    let app = start().await;
    let made = data(&app, r#"mutation { serviceCreate(input: { name: "Cart" }) { service { id } } }"#).await;
    let query =
        "mutation($id: ID!) { aliasCreate(input: { ownerId: $id, alias: \"x\" }) { aliases errors { path message } } }";
    let payloads = at_once(&app, query, json!({ "id": made["serviceCreate"]["service"]["id"] })).await;
    all_get_the_same(&payloads);
    assert_eq!(payloads[0]["aliases"], json!(["cart", "Cart", "x"]));
}

#[tokio::test]
async fn of_64_who_assign_one_tag_key_everyone_is_given_the_same_tag() {
    let app = start().await;
    data(&app, r#"mutation { serviceCreate(input: { name: "Cart" }) { service { id } } }"#).await;
    let query = "mutation($n: String!) {
        tagAssign(input: { alias: \"cart\", tags: { key: \"env\", value: $n } }) { tags { id value } errors { message } }
    }";
    let payloads = at_once(&app, query, json!({})).await;
    let ids: BTreeSet<_> = payloads.iter().map(|payload| payload["tags"][0]["id"].to_string()).collect();
    assert_eq!(ids.len(), 1);
    for (n, payload) in payloads.iter().enumerate() {
        assert_eq!((&payload["tags"][0]["value"], &payload["errors"]), (&json!(n.to_string()), &json!([])));
    }
    let read = data(&app, r#"{ account { service(alias: "cart") { tags { totalCount } } } }"#).await;
    assert_eq!(read["account"]["service"]["tags"]["totalCount"], 1);
}

#[tokio::test]
async fn of_64_who_create_one_tag_one_succeeds() {
    let app = start().await;
    data(&app, r#"mutation { serviceCreate(input: { name: "Cart" }) { service { id } } }"#).await;
    let query = "mutation {
        tagCreate(input: { alias: \"cart\", key: \"env\", value: \"dev\" }) { errors { path message } }
    }";
    let message = "the tag with the key \"env\" and the value \"dev\" already exists";
    one_wins(&at_once(&app, query, json!({})).await, "value", message);
}

#[tokio::test]
async fn of_64_who_rename_their_tags_to_one_key_one_succeeds() {
    let app = start().await;
    data(&app, r#"mutation { serviceCreate(input: { name: "Cart" }) { service { id } } }"#).await;
    let tags: Vec<_> = (0..CLIENTS).map(|i| json!({ "key": format!("k{i}"), "value": "" })).collect();
    let assign = "mutation($tags: [TagInput!]!) { tagAssign(input: { alias: \"cart\", tags: $tags }) { tags { id } } }";
    let answer = app.query(assign, json!({ "tags": tags })).await;
    let query = "mutation($id: ID!) { tagUpdate(input: { id: $id, key: \"env\" }) { errors { path message } } }";
    let tags = answer["data"]["tagAssign"]["tags"].as_array().expect("tags");
    let answers = join_all(tags.iter().map(|tag| app.query(query, json!({ "id": tag["id"] })))).await;
    let payloads: Vec<_> = answers.iter().map(|answer| answer["data"]["tagUpdate"].clone()).collect();
    one_wins(&payloads, "key", "the tag with the key \"env\" and the value \"\" already exists");
}

#[tokio::test]
async fn of_64_services_of_one_name_each_has_a_slug_of_its_own() {
    let app = start().await;
    let query = r#"mutation { serviceCreate(input: { name: "Cart" }) { service { aliases } errors { message } } }"#;
    let payloads = at_once(&app, query, json!({})).await;
    let aliases: Vec<_> =
        payloads.iter().flat_map(|payload| payload["service"]["aliases"].as_array().expect("aliases")).collect();
    let distinct: BTreeSet<_> = aliases.iter().map(ToString::to_string).collect();
    assert_eq!((aliases.len(), distinct.len()), (CLIENTS + 1, CLIENTS + 1), "one of them has the name itself, too");
}

#[tokio::test]
async fn of_64_teams_of_one_name_one_is_created() {
    let app = start().await;
    let query = r#"mutation { teamCreate(input: { name: "Core" }) { errors { path message } } }"#;
    one_wins(&at_once(&app, query, json!({})).await, "name", "another team has the name \"Core\"");
    assert_eq!(data(&app, "{ account { teams { totalCount } } }").await["account"]["teams"]["totalCount"], 1);
}

#[tokio::test]
async fn of_64_tiers_of_one_alias_one_is_created() {
    let app = start().await;
    let query = r#"mutation { tierCreate(input: { name: "Hobby" }) { errors { path message } } }"#;
    one_wins(&at_once(&app, query, json!({})).await, "alias", "another tier has the alias \"hobby\"");
}

#[tokio::test]
async fn of_64_who_link_the_same_two_one_succeeds() {
    let app = start().await;
    let made = r#"mutation {
        serviceCreate(input: { name: "Cart" }) { errors { path } }
        repositoryCreate(input: { name: "org/cart" }) { errors { path } }
    }"#;
    data(&app, made).await;
    let query = r#"mutation {
        serviceRepositoryCreate(input: { service: { alias: "cart" }, repository: { alias: "org/cart" } }) { errors { path message } }
    }"#;
    let payloads = at_once(&app, query, json!({})).await;
    assert_eq!(payloads.iter().filter(|payload| payload["errors"] == json!([])).count(), 1);
    let read = data(&app, r#"{ account { service(alias: "cart") { repositories { totalCount } } } }"#).await;
    assert_eq!(read["account"]["service"]["repositories"]["totalCount"], 1);
}

#[tokio::test]
async fn of_64_who_add_one_member_everyone_sees_one_membership() {
    let app = start().await;
    let made = r#"mutation {
        userInvite(email: "ada@example.com", input: {}) { user { id } }
        teamCreate(input: { name: "Core" }) { team { id } }
    }"#;
    let team = data(&app, made).await["teamCreate"]["team"]["id"].clone();
    let query = "mutation($team: ID!) {
        teamMembershipCreate(input: { teamId: $team, members: { user: { email: \"ada@example.com\" }, role: \"lead\" } }) {
            memberships { role user { name } } errors { path message }
        }
    }";
    all_get_the_same(&at_once(&app, query, json!({ "team": team })).await);
    let read = data(&app, r#"{ account { team(alias: "core") { memberships { totalCount } } } }"#).await;
    assert_eq!(read["account"]["team"]["memberships"]["totalCount"], 1);
}

#[tokio::test]
async fn of_64_who_delete_one_service_one_succeeds() {
    let app = start().await;
    data(&app, r#"mutation { serviceCreate(input: { name: "Cart" }) { service { id } } }"#).await;
    let query = r#"mutation { serviceDelete(input: { alias: "cart" }) { errors { path message } } }"#;
    let payloads = at_once(&app, query, json!({})).await;
    one_wins(&payloads, "alias", "a service with the alias \"cart\" does not exist on this account");
}

#[tokio::test]
async fn of_64_who_accept_one_suggestion_one_creates_the_service() {
    let endpoint = Endpoint::start().await;
    endpoint.post_with(json!({ "service": "ledger" })).await;
    let app = &endpoint.app;
    let read = data(app, "{ account { serviceSuggestions { nodes { id } } } }").await;
    let id = &read["account"]["serviceSuggestions"]["nodes"][0]["id"];
    let query = "mutation($id: ID!) { serviceSuggestionAccept(input: { id: $id }) { errors { path message } } }";
    one_wins(&at_once(app, query, json!({ "id": id })).await, "id", "the suggestion has already been accepted");
    let read = data(app, r#"{ account { services(search: "ledger") { totalCount } } }"#).await;
    assert_eq!(read["account"]["services"]["totalCount"], 1);
}

#[tokio::test]
async fn of_64_who_tag_a_concurrently_deleted_service_each_gets_one_of_two_results() {
    let app = start().await;
    data(&app, r#"mutation { serviceCreate(input: { name: "Cart" }) { service { id } } }"#).await;
    let tag = "mutation($n: String!) { tagAssign(input: { alias: \"cart\", tags: { key: \"k\", value: $n } }) { errors { path } } }";
    let delete = r#"mutation { serviceDelete(input: { alias: "cart" }) { errors { path } } }"#;
    let both = futures_util::future::join(at_once(&app, tag, json!({})), async {
        tokio::task::yield_now().await;
        app.query(delete, json!({})).await
    });
    let (payloads, deleted) = both.await;
    assert_eq!(deleted["data"]["serviceDelete"]["errors"], json!([]));
    for payload in payloads {
        let expected = [json!([]), json!([{ "path": ["alias"] }])];
        assert!(expected.contains(&payload["errors"]), "{payload}");
    }
}

#[tokio::test]
async fn of_64_who_change_services_of_a_concurrently_deleted_team_each_gets_one_of_two_results() {
    let app = start().await;
    let fields = (0..CLIENTS).map(|i| {
        format!("s{i}: serviceCreate(input: {{ name: \"s{i}\", ownerInput: {{ alias: \"core\" }} }}) {{ errors {{ path }} }}")
    });
    let fields: Vec<_> = fields.collect();
    data(
        &app,
        &format!("mutation {{ teamCreate(input: {{ name: \"Core\" }}) {{ errors {{ path }} }} {} }}", fields.join(" ")),
    )
    .await;
    let update = "mutation($alias: String!) {
        serviceUpdate(input: { alias: $alias, note: \"n\", ownerInput: { alias: \"core\" } }) { errors { path } }
    }";
    let updates = join_all((0..CLIENTS).map(|i| app.query(update, json!({ "alias": format!("s{i}") }))));
    let delete = r#"mutation { teamDelete(input: { alias: "core" }) { errors { message } } }"#;
    let (answers, deleted) = futures_util::future::join(updates, async {
        tokio::task::yield_now().await;
        app.query(delete, json!({})).await
    })
    .await;
    assert_eq!(deleted, json!({ "data": { "teamDelete": { "errors": [] } } }));
    for answer in answers {
        let errors = &answer["data"]["serviceUpdate"]["errors"];
        assert!(*errors == json!([]) || *errors == json!([{ "path": ["ownerInput", "alias"] }]), "{answer}");
    }
    let read = data(&app, r#"{ account { services(ownerAlias: "core") { totalCount } } }"#).await;
    assert_eq!(read["account"]["services"]["totalCount"], 0);
}

/// Two transactions of which neither sees the other's deploys. SQLite has one writer.
#[tokio::test]
async fn the_time_of_the_last_deploy_is_right_after_a_removal_and_a_concurrent_change_on_postgres() {
    let app = start().await;
    if !is_postgres() {
        return;
    }
    data(&app, r#"mutation { serviceCreate(input: { name: "Cart" }) { service { id } } }"#).await;
    let store = |at: i64| {
        format!(
            "INSERT INTO deploy (service_id, service_alias, description, deploy_number, deployed_at, created_at) \
             SELECT id, 'cart', 'd', '1', {at}, 0 FROM service"
        )
    };
    let remove = |at: i64| format!("DELETE FROM deploy WHERE deployed_at = {at}");
    let change = |from: i64, to: i64| format!("UPDATE deploy SET deployed_at = {to} WHERE deployed_at = {from}");
    for (before, one, other, last) in [
        (vec![10, 30], store(20), remove(30), 20),
        (vec![10, 20, 30], remove(20), remove(30), 10),
        (vec![10, 30], store(20), change(30, 5), 20),
        (vec![10, 30], change(10, 20), remove(30), 20),
    ] {
        for (first, second) in [(&one, &other), (&other, &one)] {
            let clear = "DELETE FROM deploy".to_owned();
            for statement in [clear].into_iter().chain(before.iter().map(|at| store(*at))) {
                app.db.write(async |tx| tx.script(&statement).await).await.expect("deploys");
            }
            let transaction = app.db.begin_write().await.expect("a transaction");
            transaction.script(first).await.expect("a change");
            let is_done = Cell::new(false);
            let concurrent = async {
                app.db.write(async |tx| tx.script(second).await).await.expect("a change");
                is_done.set(true);
            };
            let committed = async {
                until_somebody_waits(&app, || is_done.get()).await;
                app.db.commit(transaction).await.expect("a commit");
            };
            join(concurrent, committed).await;
            let found = app.db.read().one(service_last_deploy::Entity::find()).await.expect("a row");
            let found = found.and_then(|row| row.deployed_at).map(|at| at.as_micros());
            assert_eq!(found, Some(last), "{first}; {second}");
        }
    }
}
