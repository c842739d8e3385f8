//! Compares which requests are accepted with graphql-js: `tests/graphql-js-validation/record.mjs` has generated
//! requests over our schema and recorded the verdict on each.

use std::collections::HashSet;

use async_graphql::Request;
use hyper::Method;
use rollcall::engine::cost::DocumentLimits;
use rollcall::engine::document::Documents;
use rollcall::entity::token::Scope;
use rollcall::graphql::{SDL, schema};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::harness::app::TestApp;

/// A request, and the verdict of graphql-js.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    /// How it was broken, or `valid`, `mutated`, `variables`.
    kind: String,
    query: String,
    /// As JSON text, because 1.0 and 1 are different texts for one number.
    variables: Box<str>,
    operation_name: Option<String>,
    verdict: Verdict,
}

/// `Accepted`, or the step that refused it; see `record.mjs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Accepted,
    Syntax,
    Validation,
    Root,
    Operation,
    Variables,
    Arguments,
}

fn cases() -> Vec<Case> {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/graphql-js-validation/cases.json"));
    serde_json::from_str(text).expect("the recorded cases")
}

#[tokio::test]
async fn exactly_the_requests_that_graphql_js_refuses_are_refused() {
    let app = TestApp::with(&["--token-limit", "0", "--ip-limit", "0"]).await;
    // A mutation fails at the token's scope and changes nothing.
    let token = format!("Bearer {}", app.new_token(Scope::Read, None).await);
    let headers = [
        ("authorization", &*token),
        ("content-type", "application/json"),
        ("accept", "application/graphql-response+json"),
    ];
    let cases = cases();
    let mut disagreements = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let variables: &RawValue = serde_json::from_str(&case.variables).expect("JSON");
        let [query, operation] = [json!(case.query), json!(case.operation_name)];
        let body = format!(r#"{{"query":{query},"variables":{variables},"operationName":{operation}}}"#);
        let response = app.request(Method::POST, "/graphql", &headers, body).await;
        let accepted = match response.status {
            200 | 403 => true,
            400 => false,
            status => panic!("case {number}: status {status}"),
        };
        if accepted != (case.verdict == Verdict::Accepted) {
            let text = String::from_utf8_lossy(&response.body);
            disagreements.push(format!("case {number}: {case:?}\n  we say {text}"));
        }
    }
    let count = disagreements.len();
    assert!(count == 0, "{count} disagreements with graphql-js\n{}", disagreements.join("\n"));
}

#[tokio::test]
async fn the_grammar_is_the_specifications_even_where_the_parser_differs() {
    let app = TestApp::start().await;
    let data = json!({ "data": { "a": "Query" } });
    for query in [
        "{ a ,: __typename }",
        "{ ..., on Query { a: __typename } }",
        "{ ...,F } fragment, F on Query { a: __typename }",
        r#""d" query A("d" $v: Boolean! = true, """e,{""" $w: Boolean! = false) { ...Q @include(if: $v) @skip(if: $w) }
            """ d """ fragment Q on Query { a: __typename }"#,
    ] {
        assert_eq!(app.query(query, json!({})).await, data, "{query}");
    }
    for (query, line, column) in [
        ("{ account {\n service(alias) { id } } }", 2, 10),
        (r#"mutation { tagDelete(input: { id }) { errors { message } } }"#, 1, 31),
        (r#""\q" query A { __typename }"#, 1, 1),
        ("{ account { service(alias: \"\nx\") { id } } }", 1, 29),
    ] {
        let error = &app.query(query, json!({})).await["errors"][0];
        let expected = json!([[{ "line": line, "column": column }], "GRAPHQL_PARSE_FAILED"]);
        assert_eq!(json!([error["locations"], error["extensions"]["code"]]), expected, "{query}");
    }
}

#[tokio::test]
async fn a_whole_number_of_any_size_is_an_id() {
    let app = TestApp::start().await;
    let query = "query($id: ID!) { account { integration(id: $id) { id } } }";
    for (number, found) in [("7", true), ("7.0", true), ("12345678901234567890", true), ("1e30", true), ("7.5", false)]
    {
        let body = format!(r#"{{"query":"{query}","variables":{{"id":{number}}}}}"#);
        let data = app.post_body(body).await.json()["data"].clone();
        assert_eq!(data == json!({ "account": { "integration": null } }), found, "{number}: {data}");
    }
}

#[tokio::test]
async fn unused_parts_of_a_request_are_validated_too() {
    let app = TestApp::start().await;
    let date = "query($d: ISO8601DateTime) { account { id deploys(start: $d) @skip(if: true) { totalCount } } }";
    let literal = r#"{ account { id deploys(start: "soon") @skip(if: true) { totalCount } } }"#;
    let condition = "query($b: Boolean = true) { a: __typename ... @skip(if: true) { account @skip(if: $b) { id } } }";
    for (query, variables, code) in [
        (date, json!({ "d": "soon" }), "BAD_USER_INPUT"),
        (date, json!({ "d": "2026-11-21T01:44:00Z" }), ""),
        (literal, json!({}), "GRAPHQL_VALIDATION_FAILED"),
        // A null condition is an error where it is evaluated, and none where it is skipped.
        (condition, json!({ "b": null }), ""),
        ("query($b: Boolean = true) { a: __typename @skip(if: $b) }", json!({ "b": null }), "BAD_USER_INPUT"),
    ] {
        assert_eq!(app.post(query, variables.clone()).await.code(), code, "{query} {variables}");
    }
}

/// `query` with each one of its literals replaced.
fn with_other_literals(query: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut strings = query.match_indices('"').map(|(at, _)| at);
    while let (Some(begin), Some(end)) = (strings.next(), strings.next()) {
        for other in ["x", "2026-13-01T00:00:00Z", "2026-11-21T01:44:00Z", "soon"] {
            texts.push(format!("{}{other}{}", &query[..=begin], &query[end..]));
        }
    }
    let bytes = query.as_bytes();
    let is_number = |at: &usize| {
        bytes[*at].is_ascii_digit()
            && !bytes[..*at].last().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(byte))
    };
    for begin in (0..bytes.len()).filter(is_number) {
        let end = begin + bytes[begin..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        texts.extend(["0", "7", "123456789"].map(|other| format!("{}{other}{}", &query[..begin], &query[end..])));
    }
    texts
}

#[test]
fn the_cache_does_not_change_how_a_text_is_judged() {
    let (query, mutation) = (&schema::info::Query, Some(&schema::info::Mutation));
    let documents = Documents::new(SDL, query, mutation, schema::info::SCALARS, DocumentLimits::default());
    let judge = |text: String, case: &Case| {
        let mut request = Request::new(text).variables(serde_json::from_str(&case.variables).unwrap_or_default());
        request.operation_name = case.operation_name.clone();
        // The location of an early end depends on the comment at the end.
        let prepared = documents.prepare(&request).map(|prepared| prepared.estimate);
        prepared.map_err(|errors| errors.into_iter().map(|error| error.message).collect::<Vec<_>>())
    };
    let (mut texts, mut accepted) = (0, 0);
    for (index, case) in cases().into_iter().enumerate() {
        // From now on it is cached, if it is valid.
        let _ = judge(case.query.clone(), &case);
        // A third of the variants, a different one each time: there are many.
        for (number, text) in with_other_literals(&case.query).into_iter().enumerate().skip(index % 3).step_by(3) {
            let known = judge(text.clone(), &case);
            // No other text has this comment, so it is not cached.
            let anew = judge(format!("{text}\n# {number}"), &case);
            assert_eq!(known, anew, "{text}");
            (texts, accepted) = (texts + 1, accepted + usize::from(known.is_ok()));
        }
    }
    assert!(texts > 5_000 && accepted > 500, "{texts} texts, of which {accepted} are accepted");
}

#[test]
fn a_thousand_cases_of_forty_kinds_of_mistakes_are_recorded() {
    let cases = cases();
    let kinds: HashSet<_> = cases.iter().map(|case| &case.kind).collect();
    let verdicts: HashSet<_> = cases.iter().map(|case| case.verdict).collect();
    assert!(cases.len() >= 1_000 && kinds.len() >= 43, "{} cases of {} kinds", cases.len(), kinds.len());
    assert_eq!(verdicts.len(), 7, "{verdicts:?}");
}
