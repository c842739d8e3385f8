//! The deploy record: which bodies the webhook reads, and what it says of those that it does not.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::webhook::Endpoint;

fn errors(expected: &[(&str, &str)]) -> Value {
    let errors = expected.iter().map(|(title, detail)| json!({ "status": 400, "title": title, "detail": detail }));
    json!({ "errors": errors.collect::<Vec<_>>() })
}

#[tokio::test]
async fn all_that_is_missing_is_told_at_once_and_in_order() {
    let endpoint = Endpoint::start().await;
    let missing = errors(&[
        ("Service Error", "param is missing or the value is empty: service"),
        ("Description Error", "param is missing or the value is empty: description"),
        ("Deployed at Error", "param is missing or the value is empty: deployed_at"),
        ("Deployer Error", "param is missing or the value is empty: deployer"),
    ]);
    for body in [
        json!({}),
        json!({ "deployer": {}, "service": "", "description": null, "deployed_at": " " }),
        json!({ "deployer": { "id": "7" } }),
        json!({ "deployer": { "email": "", "name": null } }),
    ] {
        let answer = endpoint.post(&body).await;
        assert_eq!((answer.status, answer.json()), (400, missing.clone()), "{body}");
    }
    let answer = endpoint.post_with(json!({ "description": "" })).await;
    let expected = concat!(
        r#"{"errors":[{"status":400,"title":"Description Error","#,
        r#""detail":"param is missing or the value is empty: description"}]}"#
    );
    assert_eq!(answer.body, expected);
    assert_eq!(endpoint.deploys("id").await, json!([]));
}

#[tokio::test]
async fn an_attribute_of_the_wrong_type_is_named() {
    let endpoint = Endpoint::start().await;
    let wrong = [json!(true), json!(1), json!(1.5), json!([]), json!(["a"]), json!({ "a": "b" }), json!({})];
    let kinds = ["a boolean", "a number", "a number", "an array", "an array", "an object", "an object"];
    for (attribute, title) in [
        ("service", "Service Error"),
        ("description", "Description Error"),
        ("deployed_at", "Deployed at Error"),
        ("started_at", "Started at Error"),
        ("deploy_url", "Deploy url Error"),
        ("dedup_id", "Dedup id Error"),
        ("environment", "Environment Error"),
        ("deploy_number", "Deploy number Error"),
        ("status", "Status Error"),
    ] {
        for (value, kind) in wrong.iter().zip(kinds) {
            let answer = endpoint.post_with(json!({ attribute: value })).await;
            let detail = format!("{attribute} must be a string, not {kind}");
            assert_eq!((answer.status, answer.json()), (400, errors(&[(title, &detail)])), "{attribute}: {value}");
        }
    }
    for (object, attribute, title) in [
        ("deployer", "email", "Deployer email Error"),
        ("deployer", "name", "Deployer name Error"),
        ("deployer", "id", "Deployer id Error"),
        ("commit", "sha", "Commit sha Error"),
        ("commit", "message", "Commit message Error"),
        ("commit", "branch", "Commit branch Error"),
        ("commit", "date", "Commit date Error"),
        ("commit", "committer_name", "Commit committer name Error"),
        ("commit", "committer_email", "Commit committer email Error"),
        ("commit", "author_name", "Commit author name Error"),
        ("commit", "author_email", "Commit author email Error"),
        ("commit", "authoring_date", "Commit authoring date Error"),
    ] {
        let mut value = json!({ "name": "Ada", "email": "ada@example.com" });
        value[attribute] = json!(7);
        let answer = endpoint.post_with(json!({ object: value })).await;
        let detail = format!("{object}.{attribute} must be a string, not a number");
        assert_eq!((answer.status, answer.json()), (400, errors(&[(title, &detail)])), "{object}.{attribute}");
    }
    for (object, title) in [("deployer", "Deployer Error"), ("commit", "Commit Error")] {
        for (value, kind) in [(json!("Ada"), "a string"), (json!(1), "a number"), (json!([]), "an array")] {
            let answer = endpoint.post_with(json!({ object: value })).await;
            let detail = format!("{object} must be an object, not {kind}");
            assert_eq!((answer.status, answer.json()), (400, errors(&[(title, &detail)])), "{object}: {value}");
        }
    }
    assert_eq!(endpoint.deploys("id").await, json!([]));
}

#[tokio::test]
async fn what_is_optional_may_be_empty_or_null() {
    let endpoint = Endpoint::start().await;
    for nothing in [json!(null), json!("")] {
        let names = ["started_at", "deploy_url", "dedup_id", "environment", "deploy_number", "status", "commit"];
        let attributes = BTreeMap::from(names.map(|name| (name, &nothing)));
        let answer = endpoint.post_with(json!(attributes)).await;
        assert_eq!(answer.body, r#"{"result":"ok"}"#, "{nothing}");
    }
    let fields =
        "startedAt duration deployUrl dedupId environment deployNumber status deployStatus commitSha committedAt";
    let nothing = |number: &str| {
        json!({
            "startedAt": null, "duration": null, "deployUrl": null, "dedupId": null, "environment": null,
            "deployNumber": number, "status": null, "deployStatus": null, "commitSha": null, "committedAt": null,
        })
    };
    assert_eq!(endpoint.deploys(fields).await, json!([nothing("2"), nothing("1")]));
}

#[tokio::test]
async fn an_unreadable_date_is_refused_with_the_forms_that_are_read() {
    let endpoint = Endpoint::start().await;
    let forms = "is not a date and time such as 2026-11-21T01:44:00Z or 2026-11-21 01:44:00";
    let answer = endpoint
        .post_with(
            json!({ "deployed_at": "yesterday", "started_at": "2026-02-30 00:00:00", "commit": { "date": "1" } }),
        )
        .await;
    let expected = errors(&[
        ("Deployed at Error", &format!("deployed_at {forms}")),
        ("Started at Error", &format!("started_at {forms}")),
        ("Commit date Error", &format!("commit.date {forms}")),
    ]);
    assert_eq!((answer.status, answer.json()), (400, expected));
}

#[tokio::test]
async fn texts_have_a_greatest_length() {
    let endpoint = Endpoint::start().await;
    let answer = endpoint
        .post_with(json!({ "service": "s".repeat(256), "description": "d".repeat(50_001), "environment": "a\u{0}b" }))
        .await;
    let expected = errors(&[
        ("Service Error", "service has 256 characters; at most 255 are allowed"),
        ("Description Error", "description has 50001 characters; at most 50000 are allowed"),
        ("Environment Error", "environment must not contain the null character"),
    ]);
    assert_eq!((answer.status, answer.json()), (400, expected));
    let answer = endpoint.post_with(json!({ "service": "ß".repeat(255), "description": "d".repeat(50_000) })).await;
    assert_eq!(answer.status, 202);
}

#[tokio::test]
async fn every_word_for_a_status_is_kept_and_known_ones_are_understood() {
    let endpoint = Endpoint::start().await;
    let words = [
        ("succeeded", json!("succeeded")),
        ("success", json!("succeeded")),
        ("FAILED", json!("failed")),
        ("failure", json!("failed")),
        ("cancelled", json!("cancelled")),
        ("canceled", json!("cancelled")),
        ("queued", json!("queued")),
        ("running", json!("running")),
        ("exploded", json!(null)),
    ];
    for (word, _) in &words {
        assert_eq!(endpoint.post_with(json!({ "status": word })).await.status, 202);
    }
    let expected: Vec<_> =
        words.iter().rev().map(|(word, known)| json!({ "status": word, "deployStatus": known })).collect();
    assert_eq!(endpoint.deploys("status deployStatus").await, json!(expected));
}

#[tokio::test]
async fn a_body_that_is_no_record_is_refused() {
    let endpoint = Endpoint::start().await;
    for (body, detail) in [
        ("", "the body is not JSON: EOF while parsing a value at line 1 column 0"),
        ("{\"service\": ", "the body is not JSON: EOF while parsing a value at line 1 column 12"),
        ("[]", "the body must be a JSON object, not an array"),
        ("null", "the body must be a JSON object, not null"),
        ("\"shop\"", "the body must be a JSON object, not a string"),
    ] {
        let answer = endpoint.post(body).await;
        assert_eq!((answer.status, answer.json()), (400, errors(&[("Body Error", detail)])), "{body}");
    }
}
