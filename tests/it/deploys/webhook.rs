//! The deploy webhook: its responses, and concurrent posts. `record` tests which records it accepts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::Method;
use rollcall::db::{self, Write};
use serde_json::json;

use crate::harness::integration;
use crate::harness::webhook::{Endpoint, record};

#[tokio::test]
async fn a_deploy_of_a_known_service_is_recorded_with_all_attributes() {
    let endpoint = Endpoint::start().await;
    endpoint
        .app
        .query(
            r#"mutation { userInvite(email: "Ada@Example.com", input: { name: "Ada" }) { errors { message } } }"#,
            json!({}),
        )
        .await;
    let body = r#"{
        "service": "shop",
        "description": "Merge pull request #7",
        "deployed_at": "2026-11-21T01:44:00.123456789Z",
        "deployer": {"email": "ada@example.com", "name": "", "id": "17"},
        "started_at": "2026-11-21 01:40:00",
        "deploy_url": "https://ci.example.com/1",
        "dedup_id": "run-1",
        "environment": "Production",
        "deploy_number": "build-9",
        "status": "success",
        "unknown": {"a": [1]},
        "commit": {
            "sha": "38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5", "message": "Sell\nmore", "branch": "main",
            "date": "2026-01-02T03:04:05-05:00", "committer_name": "Grace", "committer_email": "grace@example.com",
            "author_name": "Alan", "author_email": "alan@example.com", "authoring_date": "2026-01-01 00:00:00 UTC",
            "unknown": 1
        }
    }"#;
    let answer = endpoint.post(body).await;
    assert_eq!(answer.status, 202);
    assert_eq!(answer.body, r#"{"result":"ok"}"#);
    assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"));

    let fields =
        "service { name } serviceAlias description deployedAt startedAt duration environment status deployStatus
        deployNumber deployUrl dedupId deployerId deployerName deployerEmail associatedUser { name } commitSha
        commitMessage commitBranch committedAt committerName committerEmail commitAuthorName commitAuthorEmail
        commitAuthoringDate";
    let expected = json!([{
        "service": { "name": "shop" },
        "serviceAlias": "shop",
        "description": "Merge pull request #7",
        "deployedAt": "2026-11-21T01:44:00.123456Z",
        "startedAt": "2026-11-21T01:40:00Z",
        "duration": 240,
        "environment": "Production",
        "status": "success",
        "deployStatus": "success",
        "deployNumber": "build-9",
        "deployUrl": "https://ci.example.com/1",
        "dedupId": "run-1",
        "deployerId": "17",
        "deployerName": null,
        "deployerEmail": "ada@example.com",
        "associatedUser": { "name": "Ada" },
        "commitSha": "38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5",
        "commitMessage": "Sell\nmore",
        "commitBranch": "main",
        "committedAt": "2026-01-02T08:04:05Z",
        "committerName": "Grace",
        "committerEmail": "grace@example.com",
        "commitAuthorName": "Alan",
        "commitAuthorEmail": "alan@example.com",
        "commitAuthoringDate": "2026-01-01T00:00:00Z",
    }]);
    assert_eq!(endpoint.deploys(fields).await, expected);
}

#[tokio::test]
async fn a_deploy_of_an_unknown_service_is_recorded_and_the_response_says_so() {
    let endpoint = Endpoint::start().await;
    let answer = endpoint.post_with(json!({ "service": "org/repo", "commit": {} })).await;
    assert_eq!(answer.status, 202);
    let expected = concat!(
        r#"{"result":"no_service_found","message":"No service has the alias \"org/repo\". "#,
        r#"The deploy is recorded, and the alias is recorded as a suggestion."}"#
    );
    assert_eq!(answer.body, expected);
    let expected = json!([{ "serviceAlias": "org/repo", "service": null, "deployNumber": "1" }]);
    assert_eq!(endpoint.deploys("serviceAlias service { name } deployNumber").await, expected);
}

#[tokio::test]
async fn a_second_post_with_the_same_dedup_id_creates_nothing() {
    let endpoint = Endpoint::start().await;
    assert_eq!(endpoint.post_with(json!({ "dedup_id": "7" })).await.body, r#"{"result":"ok"}"#);
    let answer = endpoint.post_with(json!({ "dedup_id": "7", "service": "other" })).await;
    assert_eq!(answer.status, 202);
    let expected = concat!(
        r#"{"result":"duplicate_deploy","#,
        r#""message":"No deploy was created because of an existing deploy with identical dedup_id."}"#
    );
    assert_eq!(answer.body, expected);
    assert_eq!(endpoint.deploys("deployNumber").await, json!([{ "deployNumber": "1" }]));

    // Another endpoint is another CI system, which may use the same ids.
    let (_, url) = integration::deploy_endpoint(&endpoint.app, "other CI").await;
    let path = url.split_once(&endpoint.app.address.to_string()).expect("our address").1;
    let headers = [("content-type", "application/json")];
    let body = record(json!({ "dedup_id": "7" })).to_string();
    let answer = endpoint.app.request(Method::POST, &format!("{path}?agent=plugin"), &headers, body).await;
    assert_eq!(answer.body, r#"{"result":"ok"}"#);
}

#[tokio::test]
async fn everything_but_a_post_of_json_to_an_endpoint_is_refused_in_the_same_format() {
    let mut endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let json_type = [("content-type", "application/json")];
    let good = || record(json!({})).to_string();
    let error = |status: u16, title: &str, detail: &str| json!({ "errors": [{ "status": status, "title": title, "detail": detail }] });

    let answer = app.request(Method::GET, &endpoint.path, &[], "").await;
    assert_eq!(answer.header("allow"), Some("POST"));
    assert_eq!(answer.json(), error(405, "Method Not Allowed", "This address accepts POST only."));

    let must = "The body must be JSON, with Content-Type: application/json";
    for (headers, rest) in [
        (&[][..], ". The request has no Content-Type."),
        (&[("content-type", "text/plain")], ", not text/plain."),
        (&[("content-type", "application/x-www-form-urlencoded")], ", not application/x-www-form-urlencoded."),
    ] {
        let answer = app.request(Method::POST, &endpoint.path, headers, "service=shop").await;
        let not_json = error(415, "Unsupported Media Type", &format!("{must}{rest}"));
        assert_eq!((answer.status, answer.json()), (415, not_json));
    }

    let long = record(json!({ "description": "d".repeat(300_000) })).to_string();
    let answer = app.request(Method::POST, &endpoint.path, &json_type, long).await;
    let too_large = error(413, "Payload Too Large", "The body of the request is longer than 262144 bytes.");
    assert_eq!((answer.status, answer.json()), (413, too_large));

    let sentence = "There is no deploy endpoint at this URL: it was deleted, the URL was copied incompletely, or it \
                    belongs to another database.";
    let not_found = error(404, "Not Found", sentence);
    let delete = "mutation($id: ID!) { integrationDelete(resource: { id: $id }) { errors { message } } }";
    let deleted = app.query(delete, json!({ "id": endpoint.id })).await;
    assert_eq!(deleted["data"]["integrationDelete"]["errors"], json!([]));
    let deleted = std::mem::take(&mut endpoint.path);
    let unknown = "/integrations/deploy/4b3c2a10-0000-4000-8000-000000000000";
    for path in [&*deleted, unknown, "/integrations/deploy/", "/integrations/deploy", "/integrations/deploy/x/y"] {
        for body in [good(), "{".to_owned()] {
            let answer = endpoint.app.request(Method::POST, path, &json_type, body).await;
            assert_eq!((answer.status, answer.json()), (404, not_found.clone()), "{path}");
        }
    }
    for path in
        ["/integrations/deploys/x", "/integrations/document", "/integrations/x/y", "/integrations", "/integrations/7"]
    {
        let answer = endpoint.app.request(Method::POST, path, &json_type, good()).await;
        assert_eq!((answer.status, &answer.json()["errors"][0]["status"]), (404, &json!(404)), "{path}");
        let form = [("content-type", "application/x-www-form-urlencoded")];
        let answer = endpoint.app.request(Method::POST, path, &form, "name=x").await;
        assert_eq!(answer.status, if path.ends_with("document") { 404 } else { 403 }, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_10000_posts_by_64_clients_with_3000_ids_each_id_is_recorded_once_and_numbered_without_gap_or_repeat() {
    const CLIENTS: usize = 64;
    const POSTS: usize = 10_000;
    const IDS: usize = 3_000;
    let endpoint = Endpoint::start().await;
    endpoint.create_service("cart").await;
    let next = AtomicUsize::new(0);
    let client = async |_| {
        let mut results = BTreeMap::<String, usize>::new();
        loop {
            let post = next.fetch_add(1, Ordering::Relaxed);
            if post >= POSTS {
                return results;
            }
            // Neighbours share an id, so that duplicates arrive at the same time. Each id has one alias.
            let id = post / 3 % IDS;
            let service = ["shop", "cart", "unknown", "org/repo"][id % 4];
            let answer = endpoint.post_with(json!({ "service": service, "dedup_id": id.to_string() })).await;
            assert_eq!(answer.status, 202);
            *results.entry(answer.json()["result"].as_str().expect("a result").to_owned()).or_default() += 1;
        }
    };
    let mut results = BTreeMap::<String, usize>::new();
    for (result, count) in futures_util::future::join_all((0..CLIENTS).map(client)).await.into_iter().flatten() {
        *results.entry(result).or_default() += count;
    }
    let expected = [("duplicate_deploy", POSTS - IDS), ("no_service_found", IDS / 2), ("ok", IDS / 2)];
    assert_eq!(results, expected.map(|(result, count)| (result.to_owned(), count)).into());

    let (mut ids, mut numbers) = (BTreeSet::new(), BTreeMap::<String, Vec<usize>>::new());
    let mut after = json!(null);
    loop {
        let query = "query($after: String) { account { deploys(after: $after) {
            nodes { serviceAlias deployNumber dedupId } pageInfo { hasNextPage endCursor }
        } } }";
        let page = &endpoint.app.query(query, json!({ "after": after })).await["data"]["account"]["deploys"];
        for deploy in page["nodes"].as_array().expect("nodes") {
            let text = |field: &str| deploy[field].as_str().expect("a text").to_owned();
            assert!(ids.insert(text("dedupId")), "{deploy} is there twice");
            numbers.entry(text("serviceAlias")).or_default().push(text("deployNumber").parse().expect("a number"));
        }
        if page["pageInfo"]["hasNextPage"] == false {
            break;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
    assert_eq!(ids.len(), IDS);
    for (service, mut numbers) in numbers {
        numbers.sort_unstable();
        assert_eq!(numbers, Vec::from_iter(1..=IDS / 4), "{service}");
    }
}

#[tokio::test]
async fn a_full_disk_under_sqlite_refuses_posts_with_a_message_until_there_is_room_again() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    // Simulates a full disk: the write connection takes the file for full.
    let limit = async |pages: u32| {
        let limit = format!("PRAGMA max_page_count = {pages}");
        app.db.write::<_, db::Error>(async |db| db.script(&limit).await).await.expect("a limit");
    };
    limit(1).await;
    let big = || json!({ "description": "d".repeat(50_000) });
    let mut acknowledged = 0;
    let refused = loop {
        let answer = endpoint.post_with(big()).await;
        if answer.status != 202 {
            break answer;
        }
        acknowledged += 1;
        assert!(acknowledged < 1_000, "the disk is full long before");
    };
    let id = refused.header("x-request-id").expect("an id");
    let detail = format!("The disk of the database is full. The request was {id}.");
    let expected = json!({ "errors": [{ "status": 503, "title": "Service Unavailable", "detail": detail }] });
    assert_eq!((refused.status, refused.json(), refused.header("retry-after")), (503, expected, Some("1")));
    assert_eq!(app.get("/readyz").await.text(), "ok\nwrites: failing. The disk of the database is full.\n");
    let count = async || endpoint.deploys("id").await.as_array().expect("nodes").len();
    assert_eq!(count().await, acknowledged);
    limit(1_000_000).await;
    assert_eq!(endpoint.post_with(big()).await.status, 202);
    assert_eq!(count().await, acknowledged + 1);
    assert_eq!(app.get("/readyz").await.text(), "ok\nwrites: ok\n");
}

/// Makes PostgreSQL refuse the first attempts to store a deploy, at once or on commit.
async fn lose_races(endpoint: &Endpoint, count: u32, code: &str, at_commit: bool) {
    let trigger = if at_commit {
        "CREATE CONSTRAINT TRIGGER lost AFTER INSERT ON deploy DEFERRABLE INITIALLY DEFERRED"
    } else {
        "CREATE TRIGGER lost BEFORE INSERT ON deploy"
    };
    // A sequence keeps its value when the transaction fails.
    let setup = format!(
        "DROP TRIGGER IF EXISTS lost ON deploy;
        DROP SEQUENCE IF EXISTS attempt;
        CREATE SEQUENCE attempt;
        CREATE OR REPLACE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF nextval('attempt') <= {count} THEN RAISE EXCEPTION 'lost' USING ERRCODE = TG_ARGV[0]; END IF;
            RETURN NEW;
        END $$;
        {trigger} FOR EACH ROW EXECUTE FUNCTION lose('{code}')"
    );
    let done = endpoint.app.db.write(async |db| db.script(&setup).await.map(drop));
    done.await.expect("a trigger");
}

#[tokio::test]
async fn a_deadlock_or_a_serialization_failure_on_postgresql_is_retried() {
    if !crate::harness::database::is_postgres() {
        return;
    }
    let endpoint = Endpoint::start().await;
    for (code, at_commit) in [("40P01", false), ("40001", false), ("40P01", true), ("40001", true)] {
        lose_races(&endpoint, 4, code, at_commit).await;
        let answer = endpoint.post_with(json!({ "dedup_id": format!("{code} {at_commit}") })).await;
        assert_eq!((answer.status, &*answer.body), (202, &br#"{"result":"ok"}"#[..]), "{code} {at_commit}");
    }
    let numbers: Vec<_> = (1..=4).rev().map(|number| json!({ "deployNumber": number.to_string() })).collect();
    assert_eq!(endpoint.deploys("deployNumber").await, json!(numbers), "each is recorded once");
}

#[tokio::test]
async fn a_deploy_that_loses_every_race_on_postgresql_asks_the_client_to_retry() {
    if !crate::harness::database::is_postgres() {
        return;
    }
    let endpoint = Endpoint::start().await;
    lose_races(&endpoint, 1_000, "40P01", false).await;
    let answer = endpoint.post_with(json!({})).await;
    assert_eq!(answer.status, 503, "{answer:?}");
    let detail = "Conflict with concurrent changes. Please retry.";
    assert!(answer.json()["errors"][0]["detail"].as_str().is_some_and(|text| text.contains(detail)), "{answer:?}");
    assert_eq!(endpoint.deploys("id").await, json!([]));
}
