//! The deploy record: which bodies the webhook accepts, and what it says about the others.

use std::collections::BTreeMap;

use rollcall::deploy::record::STATUSES;
use serde_json::{Value, json};

use crate::harness::webhook::Endpoint;

/// The body of a refusal. Only the one for a missing deployer has a hint.
fn errors(expected: &[(&str, &str)]) -> Value {
    let errors = expected.iter().map(|(title, detail)| {
        let mut error = json!({ "status": 400, "title": title, "detail": detail });
        if detail.ends_with("empty: deployer") {
            error["hint"] = json!(
                "Set deployer.email, deployer.name or both. In a plugin or a step of a pipeline these are the fields for the \
                 deployer's email address and name; somebody's name, or that of the pipeline, will do."
            );
        }
        error
    });
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
async fn a_required_attribute_of_the_wrong_type_is_named() {
    let endpoint = Endpoint::start().await;
    for (attribute, title) in
        [("service", "Service Error"), ("description", "Description Error"), ("deployed_at", "Deployed at Error")]
    {
        for (value, kind) in [
            (json!(["a", "b"]), "an array"),
            (json!([["a"]]), "an array"),
            (json!({ "a": "b" }), "an object"),
            (json!({}), "an object"),
        ] {
            let answer = endpoint.post_with(json!({ attribute: value })).await;
            let detail = format!("{attribute} must be a string, not {kind}");
            assert_eq!((answer.status, answer.json()), (400, errors(&[(title, &detail)])), "{attribute}: {value}");
        }
    }
    for (value, kind) in [(json!(true), "a boolean"), (json!(1), "a number"), (json!(["Ada", "Grace"]), "an array")] {
        let answer = endpoint.post_with(json!({ "deployer": value })).await;
        let detail = format!("deployer must be an object, not {kind}");
        assert_eq!((answer.status, answer.json()), (400, errors(&[("Deployer Error", &detail)])), "{value}");
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
            "deployNumber": number, "status": null, "deployStatus": "no_status", "commitSha": null, "committedAt": null,
        })
    };
    assert_eq!(endpoint.deploys(fields).await, json!([nothing("2"), nothing("1")]));
}

#[tokio::test]
async fn an_invalid_date_of_the_deploy_is_refused_with_the_accepted_formats() {
    let endpoint = Endpoint::start().await;
    let forms = "is not a date and time such as 2026-11-21T01:44:00Z or 2026-11-21 01:44:00";
    for (date, shown) in [
        (json!("yesterday"), "yesterday"),
        (json!("2026-02-30 00:00:00"), "2026-02-30 00:00:00"),
        (json!("11/12/2026 10:00"), "11/12/2026 10:00"),
        (json!(1), "1"),
        (json!(true), "true"),
    ] {
        let expected = errors(&[("Deployed at Error", &format!("deployed_at \"{shown}\" {forms}"))]);
        let answer = endpoint.post_with(json!({ "deployed_at": date, "started_at": "yesterday" })).await;
        assert_eq!((answer.status, answer.json()), (400, expected), "{date}");
    }
}

#[tokio::test]
async fn an_alias_that_no_service_can_have_is_refused() {
    let endpoint = Endpoint::start().await;
    for (alias, detail) in [
        ("s".repeat(256), "service has 256 characters; at most 255 are allowed"),
        ("a\0b".to_owned(), "service must not contain control characters"),
        ("a\nb".to_owned(), "service must not contain control characters"),
        ("a\u{1b}[1m".to_owned(), "service must not contain control characters"),
    ] {
        let answer = endpoint.post_with(json!({ "service": alias })).await;
        assert_eq!((answer.status, answer.json()), (400, errors(&[("Service Error", detail)])));
    }
    let answer = endpoint.post_with(json!({ "service": "ß".repeat(255), "description": "d".repeat(50_000) })).await;
    assert_eq!((answer.status, answer.json().get("notes")), (202, None));
}

#[tokio::test]
async fn every_status_is_stored_as_sent_and_known_ones_are_normalised() {
    let endpoint = Endpoint::start().await;
    let words = [
        ("succeeded", json!("success")),
        ("success", json!("success")),
        ("FAILED", json!("failure")),
        ("failure", json!("failure")),
        ("cancelled", json!("canceled")),
        ("canceled", json!("canceled")),
        ("queued", json!("queued")),
        ("running", json!("running")),
        ("exploded", json!("no_status")),
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
    let mut lines = include_str!("../../../docs/deploys.md").lines();
    let row = lines.find(|line| line.starts_with("| `status` |")).expect("a row");
    for (word, _) in STATUSES {
        assert!(row.contains(&format!("`{word}`")), "{word}");
    }
}

#[tokio::test]
async fn each_text_of_the_maximum_length_is_stored_whole() {
    let endpoint = Endpoint::start().await;
    let longest = [
        ("service", 255),
        ("description", 50_000),
        ("deployer.email", 255),
        ("deployer.name", 255),
        ("deployer.id", 255),
        ("deploy_url", 2_000),
        ("dedup_id", 255),
        ("environment", 255),
        ("deploy_number", 255),
        ("status", 255),
        ("commit.sha", 255),
        ("commit.message", 50_000),
        ("commit.branch", 2_000),
        ("commit.committer_name", 255),
        ("commit.committer_email", 255),
        ("commit.author_name", 255),
        ("commit.author_email", 255),
    ];
    let with = |path: &str, value: &str| match path.split_once('.') {
        None => json!({ path: value }),
        Some((object, name)) => {
            let mut inner = json!({ "name": "Ada" });
            inner[name] = json!(value);
            json!({ object: inner })
        }
    };
    for (path, most) in longest {
        // Four bytes each, because the limit counts characters.
        let answer = endpoint.post_with(with(path, &"🚀".repeat(most))).await;
        assert_eq!((answer.status, answer.json().get("notes")), (202, None), "{path}");
        let answer = endpoint.post_with(with(path, &"x".repeat(most + 1))).await;
        match path {
            "service" => assert_eq!(answer.status, 400),
            _ => assert!(answer.status == 202 && answer.json()["notes"][0].is_string(), "{path}: {answer:?}"),
        }
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
    for (body, detail) in [
        ("", "the body is not JSON: EOF while parsing a value at line 1 column 0"),
        ("{\"service\": ", "the body is not JSON: EOF while parsing a value at line 1 column 12"),
        ("[]", "the body must be a JSON object, not an array"),
        ("[{}, {}]", "the body must be a JSON object, not an array: post each deploy alone"),
        ("null", "the body must be a JSON object, not null"),
        ("\"shop\"", "the body must be a JSON object, not a string"),
        ("7", "the body must be a JSON object, not a number"),
        ("{} {}", "the body holds several JSON objects: post each deploy alone"),
        ("service=shop&description=x", "the body is not JSON: expected value at line 1 column 1"),
        ("{'service': 'it's'}", "the body is not JSON: key must be a string at line 1 column 2"),
        ("{\"service\": \"say \"hi\"\"}", "the body is not JSON: expected `,` or `}` at line 1 column 19"),
        (
            "{\"service\": \"a\nb",
            "the body is not JSON: control character (\\u0000-\\u001F) found while parsing a string at line 1 column 14",
        ),
        (&deep, "the body is not JSON: EOF while parsing a list at line 1 column 100000"),
    ] {
        let answer = endpoint.post(body).await;
        assert_eq!((answer.status, answer.json()), (400, errors(&[("Body Error", detail)])), "{:.40}", body);
    }
    let deep_attribute = format!("{{\"commit\":{}1{}}}", "{\"a\":".repeat(5_000), "}".repeat(5_000));
    let deep_and_unknown = format!("{{\"x\":{}{}}}", "[".repeat(50_000), "]".repeat(50_000));
    for body in [deep_attribute, deep_and_unknown] {
        let answer = endpoint.post(body).await;
        assert_eq!((answer.status, answer.json()["errors"].as_array().map(Vec::len)), (400, Some(4)));
    }
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

#[tokio::test]
async fn a_text_of_control_characters_alone_is_none() {
    let endpoint = Endpoint::start().await;
    for text in ["\u{1}", "\u{7}\u{8}", " \u{1b} ", "\u{1}\n", "\0\u{2}", "\u{85}\u{1}"] {
        let answer = endpoint.post_with(json!({ "description": text })).await;
        let said = answer.json()["errors"][0]["detail"].to_string();
        assert_eq!((answer.status, said.contains("value is empty: description")), (400, true), "{text:?} {said}");
        let answer = endpoint.post_with(json!({ "deployer": { "email": "a@example.com", "name": text } })).await;
        assert_eq!(answer.status, 202, "{text:?}");
        let deploys = endpoint.deploys("deployerName").await;
        assert_eq!(deploys[0]["deployerName"], json!(null), "{text:?}");
    }
}
