//! `POST /graphql`: requests and responses.

use hyper::Method;
use rollcall::db::Write;
use rollcall::entity::token::Scope;
use serde_json::json;

use crate::harness::app::{TestApp, soon};

const NEWER: &str = "application/graphql-response+json";

#[tokio::test]
async fn a_query_is_answered_in_compact_json() {
    let app = TestApp::start().await;
    let response = app.post("{ account { name } }", json!({})).await;
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("application/json; charset=utf-8"));
    assert_eq!(response.body, r#"{"data":{"account":{"name":"rollcall"}}}"#);
}

#[tokio::test]
async fn a_slash_after_the_path_changes_nothing() {
    let app = TestApp::start().await;
    let token = format!("Bearer {}", app.token);
    let headers = [("content-type", "application/json"), ("authorization", &*token)];
    let response = app.request(Method::POST, "/graphql/", &headers, r#"{"query":"{__typename}"}"#).await;
    assert_eq!((response.status, response.json()), (200, json!({ "data": { "__typename": "Query" } })));
}

#[tokio::test]
async fn accept_chooses_the_media_type() {
    let app = TestApp::start().await;
    let token = format!("Bearer {}", app.token);
    let older = "application/json; charset=utf-8";
    let newer = "application/graphql-response+json; charset=utf-8";
    for (accept, expected) in [
        ("*/*", older),
        ("application/*", older),
        ("application/json", older),
        ("text/html", older),
        (NEWER, newer),
        ("Application/GraphQL-Response+JSON;q=0.5", newer),
        ("application/graphql-response+json, application/json;q=0.9", newer),
        ("application/graphql-response+json, application/graphql+json, application/json", newer),
        ("application/json, application/graphql-response+json;q=0.9", older),
        ("application/json;q=0.5, application/graphql-response+json;q=0.8, */*;q=0.1", newer),
        ("application/graphql-response+json;q=0, */*", older),
        ("*/*, application/json;q=0.1, application/graphql-response+json;q=0.5", newer),
    ] {
        let response = app.post_with("{__typename}", json!({}), &[("authorization", &token), ("accept", accept)]).await;
        assert_eq!((response.status, response.header("content-type")), (200, Some(expected)), "{accept}");
    }
}

#[tokio::test]
async fn a_document_that_is_refused_gets_200_from_the_older_media_type_and_400_from_the_newer() {
    let app = TestApp::start().await;
    let token = format!("Bearer {}", app.token);
    for (query, variables, code) in [
        ("{ account { name }", json!({}), "GRAPHQL_PARSE_FAILED"),
        ("", json!({}), "GRAPHQL_PARSE_FAILED"),
        ("{ nothing }", json!({}), "GRAPHQL_VALIDATION_FAILED"),
        ("query($i: Int!) { __typename @skip(if: $i) }", json!({}), "GRAPHQL_VALIDATION_FAILED"),
        ("query($b: Boolean!) { __typename @skip(if: $b) }", json!({}), "BAD_USER_INPUT"),
    ] {
        for (accept, status) in [("application/json", 200), (NEWER, 400)] {
            let headers = [("authorization", &*token), ("accept", accept)];
            let response = app.post_with(query, variables.clone(), &headers).await;
            assert_eq!((response.status, &*response.code()), (status, code), "{query}: {response:?}");
            assert_eq!(response.json().get("data"), None, "{query}");
        }
    }
}

#[tokio::test]
async fn a_body_that_is_not_a_graphql_request_gets_400() {
    let app = TestApp::start().await;
    let deep = format!(r#"{{"query":"{{__typename}}","variables":{{"a":{}{}}}}}"#, "[".repeat(200), "]".repeat(200));
    for body in [
        "",
        "{",
        "null",
        "7",
        "\"{__typename}\"",
        "[]",
        r#"["{__typename}"]"#,
        r#"[{"query":"{__typename}"}]"#,
        "{}",
        r#"{"query":null}"#,
        r#"{"query":7}"#,
        r#"{"query":"{__typename}","query":"{__typename}"}"#,
        r#"{"query":"{__typename}","variables":[]}"#,
        r#"{"query":"{__typename}","variables":"{}"}"#,
        r#"{"query":"{__typename}","operationName":7}"#,
        r#"{"query":"{__typename}","extensions":"x"}"#,
        r#"{"query":"{__typename}"} {}"#,
        r#"{"query":"\ud800"}"#,
        r#"{"query":"{__typename}","variables":{"a":1e999}}"#,
        "\u{feff}{\"query\":\"{__typename}\"}",
        &deep,
    ] {
        let response = app.post_body(body.to_owned()).await;
        assert_eq!((response.status, &*response.code()), (400, "BAD_USER_INPUT"), "{body}");
        assert_eq!(response.json().get("data"), None, "{body}");
    }
    assert_eq!(app.post_body(b"{\"query\":\"\xff\"}".to_vec()).await.status, 400);
}

#[tokio::test]
async fn a_document_without_json_around_it_is_told_where_it_belongs() {
    let app = TestApp::start().await;
    let advice = "Send the GraphQL document as a member of a JSON object: {\"query\": \"…\"}.";
    for (body, is_advised) in [
        ("{ account { name } }", true),
        ("\n{ ...F } fragment F on Query { __typename }", true),
        ("query Name { account { name } }", true),
        ("mutation($a: ID!) { tagDelete(input: { id: $a }) { errors { message } } }", true),
        ("# The name\n{ account { name } }", true),
        ("{", false),
        (r#"{"query": "{ account { name } }""#, false),
        (r#"{"query": "a"} {"#, false),
        ("queries", false),
    ] {
        let answer = app.post_body(body).await;
        let message = answer.json()["errors"][0]["message"].as_str().expect("a message").to_owned();
        assert!(message.starts_with("The body is not JSON: "), "{body}: {message}");
        assert_eq!((answer.status, message.ends_with(advice)), (400, is_advised), "{body}: {message}");
    }
    let empty = app.post_body("").await.json();
    assert_eq!(empty["errors"][0]["message"], "The body is empty. Send JSON with a query.");
}

#[tokio::test]
async fn null_members_are_the_same_as_absent_ones_and_unknown_ones_are_ignored() {
    let app = TestApp::start().await;
    let nulls = r#"{"query":"{__typename}","variables":null,"operationName":null,"extensions":null,"id":"x"}"#;
    let full = r#"{"query":"query A{__typename}","variables":{"unused":1},"operationName":"A","extensions":{"a":[]}}"#;
    for body in [nulls, full] {
        assert_eq!(app.post_body(body).await.json(), json!({ "data": { "__typename": "Query" } }), "{body}");
    }
}

#[tokio::test]
async fn an_unknown_operation_name_is_refused() {
    let app = TestApp::start().await;
    for body in [
        r#"{"query":"query A{__typename}","operationName":"B"}"#,
        r#"{"query":"query A{__typename} query B{__typename}"}"#,
    ] {
        let response = app.post_body(body).await;
        assert_eq!((response.status, &*response.code()), (200, "BAD_USER_INPUT"), "{body}");
    }
}

#[tokio::test]
async fn a_body_that_is_not_json_gets_415() {
    let app = TestApp::start().await;
    let token = format!("Bearer {}", app.token);
    for kind in [
        None,
        Some("text/plain"),
        Some("application/x-www-form-urlencoded"),
        Some("multipart/form-data; boundary=x"),
        Some("application/jsonp"),
        Some("application/graphql"),
        Some("application/json; charset=utf-16"),
    ] {
        let mut headers = vec![("authorization", &*token)];
        headers.extend(kind.map(|kind| ("content-type", kind)));
        let response = app.request(Method::POST, "/graphql", &headers, r#"{"query":"{__typename}"}"#).await;
        assert_eq!(response.status, 415, "{kind:?}");
    }
    let packed = [("authorization", &*token), ("content-type", "application/json"), ("content-encoding", "br")];
    assert_eq!(app.request(Method::POST, "/graphql", &packed, "x").await.status, 415);
    for kind in ["application/json", "Application/JSON", "application/json;charset=\"UTF-8\""] {
        let headers = [("authorization", &*token), ("content-type", kind)];
        let response = app.request(Method::POST, "/graphql", &headers, r#"{"query":"{__typename}"}"#).await;
        assert_eq!(response.status, 200, "{kind}");
    }
}

#[tokio::test]
async fn other_methods_than_post_get_405() {
    let app = TestApp::start().await;
    for method in [Method::GET, Method::HEAD, Method::PUT, Method::DELETE, Method::OPTIONS] {
        let response = app.request(method.clone(), "/graphql?query=%7B__typename%7D", &[], "").await;
        assert_eq!((response.status, response.header("allow")), (405, Some("POST")), "{method}");
    }
}

#[tokio::test]
async fn a_browser_is_sent_to_the_explorer() {
    let app = TestApp::with(&["--app-url", "https://catalogue.example.com"]).await;
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    for path in ["/graphql", "/graphql/?query=x"] {
        let answer = app.get_with(path, &[("accept", browser)]).await;
        let explorer = "https://catalogue.example.com/explorer";
        assert_eq!((answer.status, answer.header("location")), (303, Some(explorer)), "{path}");
    }
    for accept in ["*/*", "application/json", NEWER, "application/json, text/html"] {
        let answer = app.get_with("/graphql", &[("accept", accept)]).await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{accept}");
    }
    let posted = app.request(Method::PUT, "/graphql", &[("accept", browser)], "").await;
    assert_eq!(posted.status, 405);
}

#[tokio::test]
async fn a_body_over_the_limit_gets_413() {
    let app = TestApp::with(&["--max-body", "1000"]).await;
    let body = |length: usize| {
        let start = r#"{"query":"{__typename}"#;
        format!("{start}{}\"}}", " ".repeat(length - start.len() - 2))
    };
    assert_eq!(app.post_body(body(1000)).await.status, 200);
    for length in [1001, 1_000_000] {
        let response = app.post_body(body(length)).await;
        assert_eq!((response.status, &*response.code()), (413, "BAD_USER_INPUT"), "{length}");
    }
    let chunk = format!("3e8\r\n{}\r\n", "x".repeat(1000));
    let chunked = format!("{}Transfer-Encoding: chunked\r\n\r\n{chunk}{chunk}0\r\n\r\n", app.head());
    let answer = app.raw(chunked).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}

#[tokio::test]
async fn a_request_without_a_valid_token_gets_401() {
    let app = TestApp::start().await;
    let wrong = rollcall::entity::token::Secret::new().expect("a token");
    let absent = "There is no token. Send the header Authorization: Bearer <token>.";
    let malformed = "The Authorization header must read: Bearer <token>.";
    let mistyped = "This is not a token of rollcall: one begins with rc_ and has 52 characters. Copy all of it.";
    let unknown = "This token is not known here: it was deleted, or it belongs to another database. Create one on the \
                   page API tokens, or with `rollcall token create`.";
    for (header, message) in [
        (None, absent),
        (Some(String::new()), absent),
        (Some("Bearer".to_owned()), absent),
        (Some("Bearer ".to_owned()), absent),
        (Some("Bearer rc_x".to_owned()), mistyped),
        (Some(app.token.clone()), malformed),
        (Some(format!("Basic {}", app.token)), malformed),
        (Some(format!("Bearer {}x", app.token)), mistyped),
        (Some(format!("Bearer {}", wrong.reveal())), unknown),
    ] {
        let headers: Vec<_> = header.iter().map(|header| ("authorization", &**header)).collect();
        let response = app.post_with("{__typename}", json!({}), &headers).await;
        assert_eq!(response.status, 401, "{header:?}");
        assert_eq!(response.header("www-authenticate"), Some("Bearer"));
        let expected = json!({ "errors": [{
            "message": message,
            "extensions": { "code": "UNAUTHENTICATED" },
        }] });
        assert_eq!(response.json(), expected);
    }
}

#[tokio::test]
async fn a_token_is_sent_as_bearer_or_as_token() {
    let app = TestApp::start().await;
    for scheme in ["Bearer", "Token", "bearer", "TOKEN"] {
        let header = format!("{scheme} {}", app.token);
        let response = app.post_with("{__typename}", json!({}), &[("authorization", &header)]).await;
        assert_eq!(response.status, 200, "{scheme}");
    }
}

#[tokio::test]
async fn a_token_works_until_it_expires() {
    let app = TestApp::start().await;
    for (expires, status) in [(Some(-1), 401), (Some(60_000_000), 200), (None, 200)] {
        let header = format!("Bearer {}", app.new_token(Scope::Write, expires).await);
        let response = app.post_with("{__typename}", json!({}), &[("authorization", &header)]).await;
        assert_eq!(response.status, status, "{expires:?}");
    }
}

#[tokio::test]
async fn the_error_for_an_expired_token_says_when_it_expired() {
    let app = TestApp::start().await;
    let header = format!("Bearer {}", app.new_token(Scope::Write, Some(-1)).await);
    let response = app.post_with("{__typename}", json!({}), &[("authorization", &header)]).await;
    assert_eq!((response.status, response.header("www-authenticate")), (401, Some("Bearer")));
    let answer = response.json();
    let message = answer["errors"][0]["message"].as_str().expect("a message");
    let (time, rest) =
        message.strip_prefix("This token expired at ").and_then(|m| m.split_once("Z. ")).expect("a time");
    assert!(time.starts_with("20") && time.contains('T'), "{message}");
    assert_eq!(rest, "Create one on the page API tokens, or with `rollcall token create`.");
}

#[tokio::test]
async fn two_authorization_headers_are_refused() {
    let app = TestApp::start().await;
    let header = format!("Bearer {}", app.token);
    let twice = [("authorization", &*header), ("authorization", &*header)];
    let response = app.post_with("{__typename}", json!({}), &twice).await;
    let message = "The Authorization header must read: Bearer <token>.";
    assert_eq!((response.status, &response.json()["errors"][0]["message"]), (401, &json!(message)));
}

#[tokio::test]
async fn a_deleted_token_stops_working_at_once() {
    let app = TestApp::start().await;
    assert_eq!(app.post("{__typename}", json!({})).await.status, 200);
    let deleted = app
        .db
        .write(async |db| rollcall::entity::token::delete(db, &rollcall::entity::audit::Actor::command_line(), 1).await)
        .await;
    assert_eq!(deleted, Ok(true));
    assert_eq!(app.post("{__typename}", json!({})).await.status, 401);
}

#[tokio::test]
async fn the_last_use_of_a_token_is_recorded() {
    let app = TestApp::start().await;
    assert_eq!(app.post("{__typename}", json!({})).await.status, 200);
    let last_use = async || rollcall::entity::token::all(app.db.read()).await.expect("tokens")[0].last_used_at;
    soon("the use is recorded", async {
        while last_use().await.is_none() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_read_token_allows_queries_and_no_mutations() {
    let app = TestApp::start().await;
    let header = format!("Bearer {}", app.new_token(Scope::Read, None).await);
    let response = app.post_with("{__typename}", json!({}), &[("authorization", &header)]).await;
    assert_eq!(response.status, 200);
    let mutation = r#"mutation { teamCreate(input: { name: "Search" }) { team { name } } }"#;
    for (accept, status) in [("application/json", 200), (NEWER, 403)] {
        let headers = [("authorization", &*header), ("accept", accept)];
        let response = app.post_with(mutation, json!({}), &headers).await;
        assert_eq!((response.status, &*response.code()), (status, "FORBIDDEN"), "{accept}");
        assert_eq!(response.json().get("data"), None, "{accept}");
    }
    let expected = json!({ "data": { "teamCreate": { "team": { "name": "Search" } } } });
    assert_eq!(app.query(mutation, json!({})).await, expected);
}

#[tokio::test]
async fn a_write_token_changes_the_catalogue_and_no_user() {
    let app = TestApp::start().await;
    let header = format!("Bearer {}", app.new_token(Scope::Write, None).await);
    let headers = [("authorization", &*header), ("accept", NEWER)];
    let create = r#"mutation { serviceCreate(input: { name: "Cart" }) { errors { message } } }"#;
    let made = app.post_with(create, json!({}), &headers).await;
    assert_eq!(made.json(), json!({ "data": { "serviceCreate": { "errors": [] } } }));
    for (field, call) in [
        ("userInvite", r#"userInvite(email: "eve@example.com", input: { role: admin })"#),
        ("userUpdate", r#"userUpdate(user: { email: "ada@example.com" }, input: { name: "A" })"#),
        ("userDelete", r#"userDelete(user: { email: "ada@example.com" })"#),
    ] {
        // Allowed mutations in the same document do not run either.
        let query = format!(
            r#"mutation {{ tagAssign(input: {{ alias: "cart", tags: {{ key: "k", value: "v" }} }}) {{ errors {{ path }} }}
            {call} {{ errors {{ path }} }} }}"#
        );
        let refused = app.post_with(&query, json!({}), &headers).await;
        assert_eq!((refused.status, &*refused.code()), (403, "FORBIDDEN"), "{field}");
        let message = format!(
            "{field} requires a token with the scope admin, and this one has the scope write. An administrator can create \
             one on the page API tokens, or with `rollcall token create --scope admin`."
        );
        assert_eq!(refused.json()["errors"][0]["message"], message);
        assert_ne!(app.query(&query, json!({})).await["data"], json!(null), "an admin token may: {field}");
        let untag = r#"mutation { serviceDelete(input: { alias: "cart" }) { errors { path } } }"#;
        assert_eq!(app.query(untag, json!({})).await["data"]["serviceDelete"]["errors"], json!([]));
        app.query(create, json!({})).await;
    }
}

#[tokio::test]
async fn the_url_of_a_webhook_is_shown_only_to_tokens_that_can_write() {
    let app = TestApp::start().await;
    let (_, url) = crate::harness::integration::deploy_endpoint(&app, "CI").await;
    for (scope, shown) in [(Scope::Read, json!(null)), (Scope::Write, json!(url)), (Scope::Admin, json!(url))] {
        let header = format!("Bearer {}", app.new_token(scope, None).await);
        let query = "{ account { integrations { nodes { webhookUrl } } } }";
        let answer = app.post_with(query, json!({}), &[("authorization", &header)]).await.json();
        let expected = json!({ "data": { "account": { "integrations": { "nodes": [{ "webhookUrl": shown }] } } } });
        assert_eq!(answer, expected, "{scope:?}");
    }
}

#[tokio::test]
async fn a_mutation_without_a_selection_on_its_payload_is_refused() {
    let app = TestApp::start().await;
    let response = app.post(r#"mutation { serviceCreate(input: { name: "Cart" }) }"#, json!({})).await;
    assert_eq!((response.status, &*response.code()), (200, "GRAPHQL_VALIDATION_FAILED"));
    assert_eq!(response.json().get("data"), None);
    let read = app.query("{ account { services { totalCount } } }", json!({})).await;
    assert_eq!(read["data"]["account"]["services"]["totalCount"], 0);
}

#[tokio::test]
async fn mutations_of_one_document_run_in_order_and_each_sees_what_the_one_before_wrote() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        create: serviceCreate(input: { name: "Cart" }) { errors { path } }
        tag: tagAssign(input: { alias: "cart", tags: { key: "a", value: "1" } }) { errors { path } }
        again: tagAssign(input: { alias: "cart", tags: { key: "a", value: "2" } }) { tags { value } }
        delete: serviceDelete(input: { alias: "cart" }) { errors { path } }
        late: tagAssign(input: { alias: "cart", tags: { key: "a", value: "3" } }) { errors { path } }
    }"#;
    let expected = json!({
        "create": { "errors": [] },
        "tag": { "errors": [] },
        "again": { "tags": [{ "value": "2" }] },
        "delete": { "errors": [] },
        "late": { "errors": [{ "path": ["alias"] }] },
    });
    assert_eq!(app.query(query, json!({})).await, json!({ "data": expected }));
}

#[tokio::test]
async fn a_field_error_has_its_path_and_location_and_the_other_fields_have_values() {
    let app = TestApp::start().await;
    let answer = app.query("{ account { name missing: team(alias: \"no\") { id } } }", json!({})).await;
    let error = json!({
        "message": "a team with the alias \"no\" does not exist on this account",
        "locations": [{ "line": 1, "column": 18 }],
        "path": ["account", "missing"],
        "extensions": { "code": "NOT_FOUND" },
    });
    assert_eq!(answer, json!({ "errors": [error], "data": { "account": { "name": "rollcall", "missing": null } } }));
}

#[tokio::test]
async fn an_internal_error_is_a_fixed_message_with_the_request_id() {
    let app = TestApp::start().await;
    let broken = app.db.write(async |db| db.script("ALTER TABLE tier RENAME TO was_tier").await);
    broken.await.expect("a table less");
    let token = format!("Bearer {}", app.token);
    let headers = [("authorization", &*token), ("x-request-id", "request-7")];
    let response = app.post_with("{ account { name tiers { id } } }", json!({}), &headers).await;
    let error = json!({
        "message": "Something went wrong on our side. The request was request-7.",
        "locations": [{ "line": 1, "column": 18 }],
        "path": ["account", "tiers"],
        "extensions": { "code": "INTERNAL" },
    });
    assert_eq!((response.status, response.json()), (200, json!({ "errors": [error], "data": null })));
}

#[tokio::test]
async fn a_document_that_costs_too_much_is_refused_before_it_runs() {
    let app = TestApp::start().await;
    let deep = |depth: usize| {
        let open = "services(first: 1) { nodes { owner { ".repeat(depth);
        format!("{{ account {{ {open} id {} }} }}", "} } }".repeat(depth))
    };
    assert_eq!(app.post(&deep(5), json!({})).await.json().get("errors"), None);
    let wide = format!("{{ {} }}", (0..600).map(|i| format!("a{i}: __typename")).collect::<Vec<_>>().join(" "));
    for query in [deep(10), wide] {
        let response = app.post(&query, json!({})).await;
        assert_eq!(&*response.code(), "GRAPHQL_VALIDATION_FAILED", "{query:.40}");
        assert_eq!(response.json().get("data"), None);
    }
}

#[tokio::test]
async fn an_unknown_header_changes_nothing() {
    let app = TestApp::start().await;
    let token = format!("Bearer {}", app.token);
    let headers = [("authorization", &*token), ("graphql-visibility", "public"), ("x-client", "cli")];
    let response = app.post_with("{ account { name } }", json!({}), &headers).await;
    assert_eq!(response.body, r#"{"data":{"account":{"name":"rollcall"}}}"#);
}

#[tokio::test]
async fn the_last_of_too_many_errors_says_how_many_are_left_out() {
    let app = TestApp::start().await;
    for (wrong, listed) in [(99, 99), (100, 100), (101, 101), (120, 101)] {
        let fields: String =
            (0..wrong).map(|number| format!("t{number}: team(alias: \"no{number}\") {{ id }} ")).collect();
        let answer = app.query(&format!("{{ account {{ {fields} }} }}"), json!({})).await;
        let errors = answer["errors"].as_array().expect("errors");
        assert_eq!(errors.len(), listed, "{wrong}");
        let codes = errors.iter().map(|error| error["extensions"]["code"].as_str().expect("a code"));
        let mut codes: Vec<_> = codes.collect();
        let last = codes.pop();
        assert!(codes.iter().all(|code| *code == "NOT_FOUND"), "{codes:?}");
        if wrong > 100 {
            assert_eq!(last, Some("ERRORS_OMITTED"));
            let message = format!("{} more errors are not shown: a response lists 100.", wrong - 100);
            assert_eq!(errors[100]["message"], message);
        } else {
            assert_eq!(last, Some("NOT_FOUND"));
        }
    }
}
