//! A deploy is not lost for a detail: what senders get slightly wrong is converted, cut or left out, and the answer says
//! so. `record` tests what is refused.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use hyper::Method;
use serde_json::{Value, json};

use crate::harness::app::Response;
use crate::harness::webhook::{Endpoint, record};

const JSON: (&str, &str) = ("content-type", "application/json");

/// Posts bytes with these headers.
async fn send(endpoint: &Endpoint, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Response {
    endpoint.app.request(Method::POST, &endpoint.path, headers, body.into()).await
}

/// The notes of an answer that says that the deploy is recorded.
fn notes(answer: &Response) -> Vec<String> {
    let said = answer.json();
    assert_eq!((answer.status, &said["result"]), (202, &json!("ok")), "{said}");
    let notes = said["notes"].as_array().cloned().unwrap_or_default();
    notes.iter().map(|note| note.as_str().expect("a text").to_owned()).collect()
}

/// Posts the record with these attributes. Returns this field of the deploy, and the notes.
async fn stored(endpoint: &Endpoint, attributes: Value, field: &str) -> (Value, Vec<String>) {
    let answer = endpoint.post_with(attributes).await;
    (endpoint.deploys(field).await[0][field].clone(), notes(&answer))
}

#[tokio::test]
async fn numbers_and_booleans_are_taken_as_the_texts_that_they_were_written_as() {
    let endpoint = Endpoint::start().await;
    for (attribute, field) in [
        ("\"deploy_number\"", "deployNumber"),
        ("\"environment\"", "environment"),
        ("\"dedup_id\"", "dedupId"),
        ("\"commit\": {\"sha\"", "commitSha"),
        ("\"description\"", "description"),
        ("\"deployer\": {\"name\"", "deployerName"),
    ] {
        let digits = ["412", "1234567", "12e7", "123456789012345678901234567890", "1.50", "9007199254740993", "1e999"];
        // Without quotation marks, these are no JSON: a shell has put them there.
        let others = ["0123456", "38d02f1", "true", "+7", "v1.2.3"];
        for sent in digits.into_iter().chain(others) {
            let rest = r#""service": "shop", "deployed_at": "2026-11-21 01:44:00""#;
            let description = if attribute.contains("description") { "" } else { r#", "description": "x""# };
            let deployer = if attribute.contains("deployer") { "" } else { r#", "deployer": {"name": "Ada"}"# };
            let end = if attribute.contains('{') { "}" } else { "" };
            let answer = endpoint.post(format!("{{{attribute}: {sent}{end}, {rest}{description}{deployer}}}")).await;
            assert_eq!(notes(&answer).len(), 1, "{attribute}: {sent}: {answer:?}");
            assert_eq!(endpoint.deploys(field).await[0][field], json!(sent), "{attribute}");
        }
    }
    let (number, said) = stored(&endpoint, json!({ "deploy_number": 412 }), "deployNumber").await;
    assert_eq!((number, &*said[0]), (json!("412"), "deploy_number is a number, and is taken as the text 412"));
}

#[tokio::test]
async fn dates_are_read_as_libraries_print_them() {
    let endpoint = Endpoint::start().await;
    let mut number = 0;
    for sent in [
        json!("2026-11-20T10:00:00,123+00:00"),
        json!("2026-11-20T11:00:00.123+01:00[Europe/Berlin]"),
        json!("Fri, 20 Nov 2026 10:00:00 GMT"),
        json!(" 2026-11-20 10:00:00 +0000\n"),
        json!("2026-11-20T10:00Z"),
        json!("20261120T100000Z"),
        json!("Fri Nov 20 2026 11:00:00 GMT+0100 (Central European Standard Time)"),
        json!("Fri Nov 20 11:00:00 2026 +0100"),
        json!("1795168800"),
        json!(1_795_168_800),
        json!(1_795_168_800_123_u64),
        json!(1_795_168_800_123_456_u64),
        json!(1_795_168_800.5),
    ] {
        let answer = endpoint.post_with(json!({ "deployed_at": sent, "commit": { "date": sent } })).await;
        assert_eq!(answer.status, 202, "{sent}: {answer:?}");
        number += 1;
        let deploys = endpoint.deploys("deployedAt committedAt").await;
        assert_eq!(deploys.as_array().map(Vec::len), Some(number), "{sent}");
        for deploy in deploys.as_array().expect("deploys") {
            for date in [&deploy["deployedAt"], &deploy["committedAt"]] {
                assert!(date.as_str().expect("a date").starts_with("2026-11-20T10:00:00"), "{sent}: {date}");
            }
        }
    }
    let (_, said) = stored(&endpoint, json!({ "started_at": 1_795_168_800 }), "startedAt").await;
    assert_eq!(said, ["started_at is taken as seconds since 1970: 2026-11-20T10:00:00Z"]);
    let (date, said) = stored(&endpoint, json!({ "commit": { "date": "2999-01-01T00:00:00Z" } }), "committedAt").await;
    assert_eq!((date, said.len()), (json!("2999-01-01T00:00:00Z"), 0), "a date in the future");
}

#[tokio::test]
async fn an_optional_date_that_cannot_be_read_is_left_out() {
    let endpoint = Endpoint::start().await;
    for sent in
        [json!("yesterday"), json!("0001-01-01T00:00:00Z"), json!("11/12/2026"), json!(7), json!(["a", "b"]), json!({})]
    {
        let attributes =
            json!({ "started_at": sent, "commit": { "date": sent, "authoring_date": sent, "sha": "abc1234" } });
        let answer = endpoint.post_with(attributes).await;
        let said = notes(&answer).join("\n");
        for attribute in ["started_at", "commit.date", "commit.authoring_date"] {
            assert!(said.contains(attribute) && said.contains("left out"), "{sent}: {said}");
        }
        let stored = endpoint.deploys("startedAt committedAt commitAuthoringDate commitSha").await[0].clone();
        let expected =
            json!({ "startedAt": null, "committedAt": null, "commitAuthoringDate": null, "commitSha": "abc1234" });
        assert_eq!(stored, expected, "{sent}");
    }
}

#[tokio::test]
async fn texts_that_are_only_shown_are_cut_between_characters() {
    let endpoint = Endpoint::start().await;
    for (attributes, field, most) in [
        (json!({ "description": "é".repeat(60_000) }), "description", 50_000),
        (json!({ "commit": { "message": "🚀".repeat(50_001) } }), "commitMessage", 50_000),
        (json!({ "commit": { "branch": format!("renovate/{}", "ü".repeat(3_000)) } }), "commitBranch", 2_000),
        (json!({ "deploy_url": format!("https://ci.example.com/{}", "a".repeat(5_000)) }), "deployUrl", 2_000),
        (json!({ "deployer": { "name": "ß".repeat(256) } }), "deployerName", 255),
        (json!({ "status": "s".repeat(300) }), "status", 255),
        (json!({ "commit": { "author_name": "n".repeat(300) } }), "commitAuthorName", 255),
    ] {
        let (text, said) = stored(&endpoint, attributes, field).await;
        assert_eq!(text.as_str().expect("a text").chars().count(), most, "{field}");
        assert!(said.len() == 1 && said[0].ends_with(&format!("the first {most} are kept")), "{said:?}");
    }
}

#[tokio::test]
async fn what_tells_deploys_apart_stays_different_when_it_is_too_long() {
    let endpoint = Endpoint::start().await;
    let long = |end: &str| format!("{}{end}", "run-".repeat(100));
    for end in ["1", "2", "3\0a", "3a", "3\u{1}a"] {
        let answer = endpoint.post_with(json!({ "dedup_id": long(end) })).await;
        assert!(notes(&answer)[0].contains("SHA-256"), "{answer:?}");
        let again = endpoint.post_with(json!({ "dedup_id": long(end) })).await;
        assert_eq!((again.status, &again.json()["result"]), (202, &json!("duplicate_deploy")), "{end:?}");
    }
    assert_eq!(endpoint.deploys("dedupId").await.as_array().map(Vec::len), Some(5));
    for (attributes, field) in [
        (json!({ "environment": long("a") }), "environment"),
        (json!({ "deploy_number": long("a") }), "deployNumber"),
        (json!({ "deployer": { "email": long("@example.com") } }), "deployerEmail"),
        (json!({ "deployer": { "name": "Ada", "id": "7\0a" } }), "deployerId"),
    ] {
        let (text, said) = stored(&endpoint, attributes, field).await;
        assert!(text.as_str().is_some_and(|text| text.contains('…') && text.chars().count() <= 255), "{field}: {text}");
        assert!(said[0].contains("SHA-256"), "{said:?}");
    }
    // No commit has such a hash.
    let (sha, said) =
        stored(&endpoint, json!({ "commit": { "sha": "a".repeat(300), "branch": "main" } }), "commitSha").await;
    assert!(sha.is_null() && said[0].contains("left out"), "{said:?}");
}

#[tokio::test]
async fn control_characters_are_removed_from_what_is_shown() {
    let endpoint = Endpoint::start().await;
    for (attributes, field, expected) in [
        (json!({ "description": "a\0b" }), "description", "ab"),
        (json!({ "description": "\u{1b}[31mred\u{7}" }), "description", "[31mred"),
        (json!({ "commit": { "message": "one\n\ttwo\u{85}" } }), "commitMessage", "one\n\ttwo"),
        (json!({ "commit": { "branch": "main\nx" } }), "commitBranch", "main x"),
        (json!({ "deployer": { "name": "A\0da" } }), "deployerName", "Ada"),
        (json!({ "deploy_url": "https://ci.example.com/\u{0}1" }), "deployUrl", "https://ci.example.com/1"),
        (json!({ "status": "succ\u{8}eeded" }), "status", "succeeded"),
    ] {
        let (text, said) = stored(&endpoint, attributes, field).await;
        assert_eq!(text, json!(expected));
        assert!(said.len() == 1 && said[0].contains("control characters"), "{said:?}");
    }
}

#[tokio::test]
async fn json_with_slips_is_read() {
    let endpoint = Endpoint::start().await;
    let rest = r#""deployed_at": "2026-11-21 01:44:00", "deployer": {"name": "Ada"}"#;
    let body = |description: &str| format!("{{\"service\": \"shop\", \"description\": \"{description}\", {rest}}}");
    for (body, expected) in [
        (body("Merge\nline\ttwo"), "Merge\nline\ttwo"),
        (body("\u{1b}[1mbold"), "[1mbold"),
        (body(r"C:\dir \x \$1"), r"C:\dir \x \$1"),
        (body(r"it\'s"), "it's"),
        (body(r"half \ud83d of it"), "half \u{fffd} of it"),
        (format!("\u{feff}{}", body("mark")), "mark"),
        (format!("{}\n\0\0", body("zeros")), "zeros"),
        (body("comma").replace("}}", ",},}"), "comma"),
        (json!(body("twice")).to_string(), "twice"),
        (format!("[{}]", body("list")), "list"),
        (body("it has").replace('"', "'"), "it has"),
        (format!("'{}'", body("shell")), "shell"),
    ] {
        let answer = endpoint.post(&body).await;
        let said = notes(&answer);
        assert_eq!(endpoint.deploys("description").await[0]["description"], json!(expected), "{body}");
        // A byte order mark changes nothing.
        assert!(!said.is_empty() || expected == "mark", "{body}");
    }
}

#[tokio::test]
async fn other_encodings_than_utf_8_are_read() {
    let endpoint = Endpoint::start().await;
    let body = record(json!({ "description": "Żółć, né" })).to_string();
    let latin = record(json!({ "description": "né" })).to_string().replace('é', "\u{1}");
    let latin: Vec<u8> = latin.bytes().map(|byte| if byte == 1 { 0xe9 } else { byte }).collect();
    let wide = |order: fn(u16) -> [u8; 2]| body.encode_utf16().flat_map(order).collect::<Vec<u8>>();
    let (little, big) = (wide(u16::to_le_bytes), wide(u16::to_be_bytes));
    for (kind, body, expected) in [
        ("application/json; charset=utf-8", [b"\xef\xbb\xbf", body.as_bytes()].concat(), "Żółć, né"),
        ("application/json", [&b"\xff\xfe"[..], &little].concat(), "Żółć, né"),
        ("application/json", big.clone(), "Żółć, né"),
        ("application/json; charset=UTF-16LE", little, "Żółć, né"),
        ("application/json; charset=\"utf-16be\"", big, "Żółć, né"),
        ("application/json; charset=ISO-8859-1", latin.clone(), "né"),
        ("application/json;charset=windows-1252", latin.clone(), "né"),
        ("application/json", latin.clone(), "n\u{fffd}"),
        ("application/json; charset=klingon", body.clone().into_bytes(), "Żółć, né"),
    ] {
        let answer = send(&endpoint, &[("content-type", kind)], body).await;
        let said = notes(&answer);
        assert_eq!(endpoint.deploys("description").await[0]["description"], json!(expected), "{kind}");
        let is_noted = expected.contains('\u{fffd}') || kind.contains("klingon");
        assert_eq!(!said.is_empty(), is_noted, "{kind}: {said:?}");
    }
    // Where a replaced byte could make two things one, it is refused.
    for attribute in ["service", "dedup_id"] {
        let body = record(json!({ attribute: "n\u{1}" })).to_string().replace("\\u0001", "\u{1}");
        let body: Vec<u8> = body.bytes().map(|byte| if byte == 1 { 0xe9 } else { byte }).collect();
        let answer = send(&endpoint, &[JSON], body).await;
        let detail = format!("{attribute} has bytes that are not UTF-8; send the body as UTF-8");
        assert_eq!((answer.status, &answer.json()["errors"][0]["detail"]), (400, &json!(detail)));
    }
    let answer = send(&endpoint, &[("content-type", "application/json; charset=klingon")], latin).await;
    let detail = "The charset klingon of Content-Type is not known, and the body is not UTF-8.";
    assert_eq!((answer.status, &answer.json()["errors"][0]["detail"]), (415, &json!(detail)));
}

#[tokio::test]
async fn json_is_read_whatever_its_content_type() {
    let endpoint = Endpoint::start().await;
    let body = record(json!({})).to_string();
    for (kind, body) in [
        ("text/plain", body.clone()),
        ("application/x-www-form-urlencoded", body.clone()),
        ("application/x-www-form-urlencoded", format!("payload={}", body.replace('"', "%22").replace(' ', "+"))),
        ("application/x-www-form-urlencoded", body.replace('"', "%22").replace('{', "%7B")),
        ("application/octet-stream", format!("\n {body}")),
        ("", body.clone()),
        ("json", body.clone()),
    ] {
        let answer = send(&endpoint, &[("content-type", kind)], body).await;
        assert!(notes(&answer)[0].contains("Content-Type"), "{answer:?}");
    }
    assert!(notes(&send(&endpoint, &[], body.clone()).await)[0].contains("no Content-Type"));
    for kind in ["application/json", "Application/JSON; charset=UTF-8", "text/json", "application/vnd.ci+json"] {
        assert_eq!(notes(&send(&endpoint, &[("content-type", kind)], body.clone()).await), [""; 0], "{kind}");
    }
    // What is no JSON is told from what is called something else.
    for (kind, body) in
        [("text/plain", "service=shop"), ("application/x-www-form-urlencoded", "service=shop"), ("text/xml", "<a/>")]
    {
        let answer = send(&endpoint, &[("content-type", kind)], body).await;
        let detail = format!("The body must be JSON, with Content-Type: application/json, not {kind}.");
        assert_eq!((answer.status, &answer.json()["errors"][0]["detail"]), (415, &json!(detail)));
    }
}

#[tokio::test]
async fn the_address_may_have_slashes_blanks_and_capitals_beside_it() {
    let endpoint = Endpoint::start().await;
    let (start, id) = endpoint.path.rsplit_once('/').expect("an id");
    for path in [
        format!("{start}/{id}/"),
        format!("{start}//{id}"),
        format!("/{start}/{id}//"),
        format!("/integrations//deploy/{id}"),
        format!("{start}/{}", id.to_uppercase()),
        format!("{start}/{id}%0A"),
        format!("{start}/%20{id}%20/"),
        format!("{start}/{id}/?agent=x"),
    ] {
        let answer = endpoint.app.request(Method::POST, &path, &[JSON], record(json!({})).to_string()).await;
        assert_eq!((answer.status, &*answer.body), (202, &br#"{"result":"ok"}"#[..]), "{path}");
    }
    for path in
        [format!("{start}/{id}/x"), format!("{start}/x{id}"), format!("{start}%2F{id}"), format!("{start}s/{id}")]
    {
        let answer = endpoint.app.request(Method::POST, &path, &[JSON], record(json!({})).to_string()).await;
        assert!(answer.status >= 300, "{path}: {answer:?}");
    }
}

#[tokio::test]
async fn a_service_is_found_whatever_the_letter_case_of_its_alias_where_that_is_clear() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let alias = "mutation($owner: ID!, $alias: String!) {
        aliasCreate(input: { ownerId: $owner, alias: $alias }) { errors { message } } }";
    let cart = endpoint.create_service("Shopping Cart").await;
    app.query(alias, json!({ "owner": cart, "alias": "org/Cart-API" })).await;
    let other = endpoint.create_service("Till").await;
    app.query(alias, json!({ "owner": cart, "alias": "both" })).await;
    app.query(alias, json!({ "owner": other, "alias": "BOTH" })).await;
    for (sent, meant) in [
        ("Shop", "shop"),
        ("SHOPPING CART", "Shopping Cart"),
        ("ORG/CART-API", "org/Cart-API"),
        ("tILL", "Till"),
        (" SHOP\n", "shop"),
        ("\u{feff}Shopping_Cart", "shopping_cart"),
    ] {
        let (stored, said) = stored(&endpoint, json!({ "service": sent }), "serviceAlias").await;
        assert_eq!(stored, json!(meant));
        let expected = format!("service is taken as the alias \"{meant}\"");
        assert_eq!(said.last(), Some(&expected), "{sent}: {said:?}");
        assert!(!endpoint.deploys("service { id }").await[0]["service"].is_null(), "{sent}");
    }
    let (_, said) = stored(&endpoint, json!({ "service": "  shop " }), "serviceAlias").await;
    assert_eq!(said, ["blanks around service are removed"]);
    let (stored, said) = stored(&endpoint, json!({ "service": "BOTH" }), "serviceAlias").await;
    assert_eq!((stored, said.len()), (json!("BOTH"), 0), "the exact alias wins");
    // Two services, one that is spelt with other marks, and one that is not there.
    for unclear in ["Both", "org/cart_api", "Shopping-Cart", "sho", "…"] {
        let answer = endpoint.post_with(json!({ "service": unclear })).await;
        assert_eq!(answer.json()["result"], json!("no_service_found"), "{unclear}");
    }
}

#[tokio::test]
async fn attributes_are_known_in_other_spellings_and_other_shapes() {
    let endpoint = Endpoint::start().await;
    let body = json!({
        "Service": "shop", "DESCRIPTION": ["Sell more"], "deployedAt": "2026-11-21 01:44:00",
        "Deployer": "Ada Lovelace <ada@example.com>", "deploy-url": "https://ci.example.com/1", "DedupID": "run 1",
        "environment": null, "commit": "38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5", "started_at": "",
    });
    let said = notes(&endpoint.post(body).await);
    assert_eq!(said.len(), 8, "{said:?}");
    let expected = json!({
        "serviceAlias": "shop", "description": "Sell more", "deployerName": "Ada Lovelace", "dedupId": "run 1",
        "deployerEmail": "ada@example.com", "deployUrl": "https://ci.example.com/1",
        "commitSha": "38d02f1d7aab64678a7ad3eeb2ad2887ce7253f5",
    });
    let fields = "serviceAlias description deployerName deployerEmail deployUrl dedupId commitSha";
    assert_eq!(endpoint.deploys(fields).await[0], expected);
    for (deployer, name, email) in [
        (json!("Ada"), json!("Ada"), json!(null)),
        (json!("ada@example.com"), json!(null), json!("ada@example.com")),
        (json!({ "email": "Ada <ada@example.com>" }), json!("Ada"), json!("ada@example.com")),
        (json!({ "Email": "ada@example.com", "name": 7 }), json!("7"), json!("ada@example.com")),
        (json!([{ "name": "Ada" }]), json!("Ada"), json!(null)),
    ] {
        endpoint.post_with(json!({ "deployer": deployer })).await;
        let stored = endpoint.deploys("deployerName deployerEmail").await[0].clone();
        assert_eq!(stored, json!({ "deployerName": name, "deployerEmail": email }), "{deployer}");
    }
    // Nothing where an object may stand, and what is no commit.
    for (commit, has_note) in [
        (json!(""), false),
        (json!(null), false),
        (json!([]), false),
        (json!({}), false),
        (json!(7), true),
        (json!("none"), true),
    ] {
        let said = notes(&endpoint.post_with(json!({ "commit": commit })).await);
        assert_eq!(!said.is_empty(), has_note, "{commit}: {said:?}");
    }
    // A bad member of a commit costs that member.
    let commit = json!({ "sha": { "a": 1 }, "branch": ["x", "y"], "message": 5, "author_name": false, "date": "?" });
    let said = notes(&endpoint.post_with(json!({ "commit": commit })).await);
    assert_eq!(said.len(), 5, "{said:?}");
    let stored = endpoint.deploys("commitSha commitBranch commitMessage commitAuthorName").await[0].clone();
    let expected =
        json!({ "commitSha": null, "commitBranch": null, "commitMessage": "5", "commitAuthorName": "false" });
    assert_eq!(stored, expected);
}

#[tokio::test]
async fn a_deploy_is_found_in_the_attribute_that_wraps_it() {
    let endpoint = Endpoint::start().await;
    for (body, within) in [
        (json!({ "payload": record(json!({})) }), "payload"),
        (json!({ "deploy": record(json!({})), "version": 1 }), "deploy"),
        (json!({ "event": "deployed", "data": record(json!({})), "sender": { "login": "ada" } }), "data"),
        (json!([{ "Deployment": record(json!({})) }]), "Deployment"),
        (
            json!({ "body": { "Service": "shop", "description": "x", "deployed_at": 1_795_168_800, "deployer": "Ada" } }),
            "body",
        ),
    ] {
        let said = notes(&endpoint.post(body.to_string()).await).join("\n");
        assert!(said.contains(&format!("the deploy is in the attribute \"{within}\", and is read from it")), "{said}");
    }
    assert_eq!(endpoint.deploys("id").await.as_array().map(Vec::len), Some(5));
    // Nothing that could be meant, or two things.
    for (body, has) in [
        (json!({ "a": 1, "b": { "c": 2 } }), "\"a\", \"b\","),
        (json!({ "one": record(json!({})), "two": record(json!({})) }), "\"one\", \"two\","),
        (json!({ "a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6 }), "\"a\", \"b\", \"c\", \"d\", \"e\" and others,"),
        (json!({ "payload": { "payload": record(json!({})) } }), "\"payload\","),
        (json!({ "payload": record(json!({})).to_string() }), "\"payload\","),
    ] {
        let answer = endpoint.post(body.to_string()).await.json();
        assert_eq!(answer["errors"][0]["detail"], "param is missing or the value is empty: service", "{answer}");
        let hint = format!("The body has {has} and no attribute of a deploy at its top level.");
        assert_eq!(answer["errors"][0]["hint"], json!(hint));
    }
    let body = record(json!({})).to_string();
    for several in
        [format!("{body}\n{body}"), format!("{body}{body}"), format!("{body}\n{{}}\n"), format!("{{}} {body}")]
    {
        let answer = endpoint.post(&several).await;
        let detail = "the body holds several JSON objects: post each deploy alone";
        assert_eq!((answer.status, &answer.json()["errors"][0]["detail"]), (400, &json!(detail)), "{several}");
    }
    assert_eq!(endpoint.deploys("id").await.as_array().map(Vec::len), Some(5));
}

#[tokio::test]
async fn a_post_without_deployer_is_told_what_to_set() {
    let endpoint = Endpoint::start().await;
    for deployer in [json!(null), json!({}), json!({ "id": "7" }), json!({ "name": " " }), json!(""), json!([])] {
        let answer = endpoint.post_with(json!({ "deployer": deployer })).await;
        let said = answer.json();
        let error = &said["errors"][0];
        assert_eq!((answer.status, &error["title"]), (400, &json!("Deployer Error")), "{deployer}");
        assert_eq!(error["detail"], json!("param is missing or the value is empty: deployer"));
        let hint = error["hint"].as_str().expect("a hint");
        assert!(hint.contains("deployer.email") && hint.contains("deployer.name"), "{hint}");
    }
    assert_eq!(endpoint.deploys("id").await, json!([]));
}

fn packed<W: Write>(mut encoder: W, text: &[u8], finish: impl FnOnce(W) -> std::io::Result<Vec<u8>>) -> Vec<u8> {
    encoder.write_all(text).expect("memory");
    finish(encoder).expect("memory")
}

fn gzip(text: &[u8]) -> Vec<u8> {
    packed(GzEncoder::new(Vec::new(), Compression::best()), text, GzEncoder::finish)
}

fn deflate(text: &[u8]) -> Vec<u8> {
    packed(ZlibEncoder::new(Vec::new(), Compression::fast()), text, ZlibEncoder::finish)
}

fn raw_deflate(text: &[u8]) -> Vec<u8> {
    packed(DeflateEncoder::new(Vec::new(), Compression::fast()), text, DeflateEncoder::finish)
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(text, 19).expect("memory")
}

#[tokio::test]
async fn compressed_bodies_are_read_within_the_limit_of_plain_ones() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let deploy = record(json!({})).to_string().into_bytes();
    let query = br#"{"query":"{ __typename }"}"#;
    let token = format!("Bearer {}", app.token);
    let too_long = format!("{{\"query\":\"{}\"}}", " ".repeat(10_000_000)).into_bytes();
    for (coding, pack) in [
        ("gzip", gzip as fn(&[u8]) -> Vec<u8>),
        ("GZIP, identity", gzip),
        ("x-gzip", gzip),
        ("deflate", deflate),
        ("deflate", raw_deflate),
        ("zstd", zstd),
    ] {
        let headers = [JSON, ("content-encoding", coding)];
        let answer = send(&endpoint, &headers, pack(&deploy)).await;
        assert_eq!((answer.status, &*answer.body), (202, &br#"{"result":"ok"}"#[..]), "{coding}");
        let headers = [JSON, ("content-encoding", coding), ("authorization", &token)];
        let answer = app.request(Method::POST, "/graphql", &headers, pack(query)).await;
        assert_eq!((answer.status, &*answer.body), (200, &br#"{"data":{"__typename":"Query"}}"#[..]), "{coding}");

        // A small body that becomes a large one, one that is cut, and one that is something else.
        for (body, status, part) in [
            (pack(&too_long), 413, "decompressed, is longer than"),
            (pack(&deploy)[..20].to_vec(), 400, "Content-Encoding"),
            (vec![0xff; 100], 400, "Content-Encoding"),
        ] {
            let [of_webhook, of_graphql] = [
                send(&endpoint, &headers[..2], body.clone()).await,
                app.request(Method::POST, "/graphql", &headers, body).await,
            ];
            for answer in [of_webhook, of_graphql] {
                assert_eq!(answer.status, status, "{coding}: {answer:?}");
                assert!(String::from_utf8_lossy(&answer.body).contains(part), "{answer:?}");
            }
        }
    }
    for coding in ["br", "compress", "gzip, gzip", "aes128gcm", "gz\u{e9}"] {
        let headers = [JSON, ("content-encoding", coding), ("authorization", &*token)];
        for path in [&*endpoint.path, "/graphql"] {
            let answer = app.request(Method::POST, path, &headers, gzip(&deploy)).await;
            assert_eq!(
                (answer.status, answer.header("accept-encoding")),
                (415, Some("gzip, deflate, zstd")),
                "{coding}"
            );
            assert!(String::from_utf8_lossy(&answer.body).contains("Content-Encoding"), "{answer:?}");
        }
    }
}

#[tokio::test]
async fn a_webhook_sees_what_compresses_a_body_although_the_header_says_something_else() {
    let endpoint = Endpoint::start().await;
    let deploy = record(json!({})).to_string().into_bytes();
    for (headers, body) in [
        (&[JSON, ("content-encoding", "gzip")][..], deploy.clone()),
        (&[JSON, ("content-encoding", "deflate")], deploy.clone()),
        (&[JSON, ("content-encoding", "zstd")], deploy.clone()),
        (&[JSON], gzip(&deploy)),
        (&[JSON], zstd(&deploy)),
        (&[JSON, ("content-encoding", "zstd")], gzip(&deploy)),
    ] {
        let answer = send(&endpoint, headers, body).await;
        assert!(notes(&answer)[0].starts_with("Content-Encoding is "), "{answer:?}");
    }
}
