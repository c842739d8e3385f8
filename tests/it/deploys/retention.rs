//! Expired deploys: which are removed, and which stay.

use rollcall::db::{Read, Write};
use rollcall::deploy::retention;
use rollcall::entity::{Timestamp, deploy};
use sea_orm::{EntityTrait, Set};
use serde_json::json;

use crate::harness::webhook::Endpoint;

async fn deployed(endpoint: &Endpoint, deploys: &[(&str, u32)]) {
    for (service, day) in deploys {
        let moment = format!("2026-11-{day:02} 12:00:00");
        assert_eq!(endpoint.post_with(json!({ "service": service, "deployed_at": moment })).await.status, 202);
    }
}

/// Removes deploys from before noon of a day of November. Returns their number, and `alias day` of the rest.
async fn remove(endpoint: &Endpoint, day: u32) -> (u64, Vec<String>) {
    let before: Timestamp = format!("2026-11-{day:02}T12:00:00Z").parse().expect("a moment");
    let removed = retention::remove(&endpoint.app.db, before).await.expect("what is old is removed");
    let left = endpoint.deploys("serviceAlias deployedAt").await;
    let name = |deploy: &serde_json::Value| {
        let text = |field: &str| deploy[field].as_str().expect("a text").to_owned();
        format!("{} {}", text("serviceAlias"), &text("deployedAt")[8..10])
    };
    (removed, left.as_array().expect("deploys").iter().map(name).collect())
}

#[tokio::test]
async fn older_deploys_are_removed_except_the_last_one_of_each_service() {
    let endpoint = Endpoint::start().await;
    endpoint.create_service("cart").await;
    deployed(&endpoint, &[("shop", 1), ("shop", 5), ("shop", 9), ("cart", 2), ("cart", 1), ("org/repo", 3)]).await;
    assert_eq!(remove(&endpoint, 1).await.0, 0);
    assert_eq!(remove(&endpoint, 8).await, (4, vec!["shop 09".to_owned(), "cart 02".to_owned()]));
    assert_eq!(remove(&endpoint, 8).await.0, 0);
    assert_eq!(remove(&endpoint, 20).await, (0, vec!["shop 09".to_owned(), "cart 02".to_owned()]));

    let query = "{ account {
        services { nodes { lastDeploy { deployedAt } } }
        serviceSuggestions { nodes { alias deployCount } }
    } }";
    let expected = json!({
        "services": { "nodes": [
            { "lastDeploy": { "deployedAt": "2026-11-09T12:00:00Z" } },
            { "lastDeploy": { "deployedAt": "2026-11-02T12:00:00Z" } },
        ] },
        "serviceSuggestions": { "nodes": [{ "alias": "org/repo", "deployCount": 1 }] },
    });
    assert_eq!(endpoint.app.query(query, json!({})).await["data"]["account"], expected);
}

#[tokio::test]
async fn of_deploys_at_the_same_time_one_is_the_last() {
    let endpoint = Endpoint::start().await;
    deployed(&endpoint, &[("shop", 1), ("shop", 1), ("shop", 1)]).await;
    assert_eq!(remove(&endpoint, 2).await, (2, vec!["shop 01".to_owned()]));
    assert_eq!(endpoint.deploys("deployNumber").await, json!([{ "deployNumber": "3" }]));
}

#[tokio::test]
async fn a_removed_deploys_dedup_id_is_free_and_its_number_is_not_reused() {
    let endpoint = Endpoint::start().await;
    let old = json!({ "deployed_at": "2026-11-01 12:00:00", "dedup_id": "run-1" });
    endpoint.post_with(old.clone()).await;
    deployed(&endpoint, &[("shop", 9)]).await;
    assert_eq!(endpoint.post_with(old.clone()).await.json()["result"], "duplicate_deploy");
    assert_eq!(remove(&endpoint, 8).await.0, 1);
    assert_eq!(endpoint.post_with(old).await.json()["result"], "ok");
    assert_eq!(endpoint.deploys("deployNumber").await, json!([{ "deployNumber": "2" }, { "deployNumber": "3" }]));
}

/// This many expired deploys without a service.
async fn many(endpoint: &Endpoint, count: i64) {
    let rows = (0..count).map(|number| deploy::ActiveModel {
        service_alias: Set("org/repo".to_owned()),
        description: Set("d".to_owned()),
        deploy_number: Set(number.to_string()),
        deployed_at: Set(Timestamp::from_micros(number / 3)),
        created_at: Set(Timestamp::from_micros(0)),
        ..Default::default()
    });
    let written = endpoint.app.db.write(async |tx| tx.exec(deploy::Entity::insert_many(rows)).await);
    written.await.expect("deploys");
}

#[tokio::test]
async fn more_than_one_batch_is_removed_also_by_two_at_the_same_time() {
    let endpoint = Endpoint::start().await;
    many(&endpoint, 1_250).await;
    let before = Timestamp::from_micros(1_000_000);
    let db = &endpoint.app.db;
    let (one, other) = tokio::join!(retention::remove(db, before), retention::remove(db, before));
    assert_eq!(one.expect("the one") + other.expect("the other"), 1_250);
    assert_eq!(db.read().count(deploy::Entity::find()).await.expect("a count"), 0);
}

#[tokio::test]
async fn deploys_are_posted_while_old_ones_are_removed() {
    let endpoint = Endpoint::start().await;
    many(&endpoint, 1_250).await;
    let posting = async {
        for _ in 0..5 {
            let new = json!({ "deployed_at": "2099-01-01 00:00:00" });
            assert_eq!(endpoint.post_with(new).await.status, 202);
        }
    };
    let removing = retention::remove(&endpoint.app.db, Timestamp::from_micros(1_000_000));
    let (removed, ()) = tokio::join!(removing, posting);
    assert_eq!(removed, Ok(1_250));
    assert_eq!(endpoint.deploys("deployNumber").await.as_array().map(Vec::len), Some(5));
}
