//! The deploy record: which bodies the webhook accepts, and what it says about the others.

use std::collections::BTreeMap;

use rollcall::deploy::record::STATUSES;
use serde_json::{Value, json};

use crate::webhook::Endpoint;

fn errors(expected: &[(&str, &str)]) -> Value {
    let errors = expected.iter().map(|(title, detail)| json!({ "status": 400, "title": title, "detail": detail }));
    json!({ "errors": errors.collect::<Vec<_>>() })
}

#[tokio::test]
async fn all_missing_attributes_are_reported_at_once_and_in_order() {
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
async fn optional_attributes_may_be_empty_or_null() {
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
async fn an_invalid_date_is_refused_with_the_accepted_formats() {
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
async fn texts_have_a_maximum_length() {
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
async fn every_status_is_stored_as_sent_and_known_ones_are_normalised() {
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

#[test]
fn the_page_of_deploys_lists_every_word_for_a_status() {
    let mut lines = include_str!("../../docs/deploys.md").lines();
    let row = lines.find(|line| line.starts_with("| `status` |")).expect("a row");
    for (word, _) in STATUSES {
        assert!(row.contains(&format!("`{word}`")), "{word}");
    }
}

#[tokio::test]
async fn each_text_has_a_maximum_length_and_no_null_character() {
    let endpoint = Endpoint::start().await;
    let short = [
        ("service", "Service Error", 255),
        ("description", "Description Error", 50_000),
        ("deployer.email", "Deployer email Error", 255),
        ("deployer.name", "Deployer name Error", 255),
        ("deployer.id", "Deployer id Error", 255),
        ("deploy_url", "Deploy url Error", 2_000),
        ("dedup_id", "Dedup id Error", 255),
        ("environment", "Environment Error", 255),
        ("deploy_number", "Deploy number Error", 255),
        ("status", "Status Error", 255),
        ("commit.sha", "Commit sha Error", 255),
        ("commit.message", "Commit message Error", 50_000),
        ("commit.branch", "Commit branch Error", 2_000),
        ("commit.committer_name", "Commit committer name Error", 255),
        ("commit.committer_email", "Commit committer email Error", 255),
        ("commit.author_name", "Commit author name Error", 255),
        ("commit.author_email", "Commit author email Error", 255),
    ];
    let with = |path: &str, value: &str| match path.split_once('.') {
        None => json!({ path: value }),
        Some((object, name)) => {
            let mut inner = json!({ "name": "Ada" });
            inner[name] = json!(value);
            json!({ object: inner })
        }
    };
    for (path, title, most) in short {
        // Four bytes each, because the limit counts characters.
        let longest = endpoint.post_with(with(path, &"🚀".repeat(most))).await;
        assert_eq!(longest.status, 202, "{path}");
        let answer = endpoint.post_with(with(path, &"x".repeat(most + 1))).await;
        let detail = format!("{path} has {} characters; at most {most} are allowed", most + 1);
        assert_eq!((answer.status, answer.json()), (400, errors(&[(title, &detail)])), "{path}");
        let answer = endpoint.post_with(with(path, "a\0b")).await;
        let detail = format!("{path} must not contain the null character");
        assert_eq!((answer.status, answer.json()), (400, errors(&[(title, &detail)])), "{path}");
    }
}

#[tokio::test]
async fn unknown_attributes_are_ignored_and_the_last_of_two_equal_ones_counts() {
    let endpoint = Endpoint::start().await;
    let body = r#"{"service":"none","service":"shop","description":7,"description":"Sell more","extra":[{"a":null}],
        "deployed_at":"2026-11-21 01:44:00","deployer":{"name":"Ada","name":"Grace","Name":1},"Service":"x","":{},
        "commit":{"sha":"a","unknown":{"deep":[[]]}},"deploy_number":"9007199254740993"}"#;
    assert_eq!(endpoint.post(body).await.body, r#"{"result":"ok"}"#);
    let expected = json!([{
        "serviceAlias": "shop", "description": "Sell more", "deployerName": "Grace", "commitSha": "a",
        "deployNumber": "9007199254740993",
    }]);
    assert_eq!(endpoint.deploys("serviceAlias description deployerName commitSha deployNumber").await, expected);
}

#[tokio::test]
async fn a_body_that_is_no_record_is_refused() {
    let endpoint = Endpoint::start().await;
    let deep = "[".repeat(100_000);
    let deep_attribute = format!("{{\"commit\":{}{}}}", "{\"a\":".repeat(5_000), "}".repeat(5_000));
    for (body, detail) in [
        ("", "the body is not JSON: EOF while parsing a value at line 1 column 0"),
        ("{\"service\": ", "the body is not JSON: EOF while parsing a value at line 1 column 12"),
        ("[]", "the body must be a JSON object, not an array"),
        ("null", "the body must be a JSON object, not null"),
        ("\"shop\"", "the body must be a JSON object, not a string"),
        ("7", "the body must be a JSON object, not a number"),
        ("{} {}", "the body is not JSON: trailing characters at line 1 column 4"),
        (
            "{\"service\": \"a\nb\"}",
            "the body is not JSON: control character (\\u0000-\\u001F) found while parsing a string at line 2 column 0",
        ),
        ("service=shop&description=x", "the body is not JSON: expected value at line 1 column 1"),
        ("\u{feff}{}", "the body is not JSON: expected value at line 1 column 1"),
        ("{\"service\": \"\\ud800\"}", "the body is not JSON: unexpected end of hex escape at line 1 column 20"),
        (&deep, "the body is not JSON: recursion limit exceeded at line 1 column 128"),
        (&deep_attribute, "the body is not JSON: recursion limit exceeded at line 1 column 641"),
    ] {
        let answer = endpoint.post(body).await;
        assert_eq!((answer.status, answer.json()), (400, errors(&[("Body Error", detail)])), "{:.40}", body);
    }
    let headers = [("content-type", "application/json")];
    let answer =
        endpoint.app.request(hyper::Method::POST, &endpoint.path, &headers, &b"{\"service\": \"\xff\"}"[..]).await;
    let detail = "the body is not JSON: invalid unicode code point at line 1 column 14";
    assert_eq!((answer.status, answer.json()), (400, errors(&[("Body Error", detail)])));
    assert_eq!(endpoint.deploys("id").await, json!([]));
}

#[tokio::test]
async fn a_body_of_10_megabytes_is_refused_before_it_is_sent() {
    let endpoint = Endpoint::start().await;
    // curl asks for permission before sending so much.
    let head = format!(
        "POST {} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 10485760\r\n\
         Expect: 100-continue\r\n\r\n",
        endpoint.path
    );
    let answer = endpoint.app.raw(head).await;
    assert!(answer.starts_with("HTTP/1.1 413 Payload Too Large\r\n"), "{answer}");
    let body = concat!(
        r#"{"errors":[{"status":413,"title":"Payload Too Large","#,
        r#""detail":"The body of the request is longer than 262144 bytes."}]}"#
    );
    assert!(answer.ends_with(body), "{answer}");
}
