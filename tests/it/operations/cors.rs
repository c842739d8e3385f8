//! `--cors-origins`: pages of other origins that may call the API with a token.

use hyper::Method;
use rollcall::entity::token::Scope;

use crate::harness::app::{Response, TestApp};

const ALLOWED: &str = "https://tools.example.com";
const QUESTION: [(&str, &str); 2] =
    [("access-control-request-method", "POST"), ("access-control-request-headers", "authorization,content-type")];

async fn ask(app: &TestApp, origin: &str) -> Response {
    let token = app.new_token(Scope::Read, None).await;
    let bearer = format!("Bearer {token}");
    let headers = [("origin", origin), ("authorization", &bearer), ("content-type", "application/json")];
    app.request(Method::POST, "/graphql", &headers, r#"{"query":"{ account { name } }"}"#).await
}

#[tokio::test]
async fn a_page_of_a_named_origin_may_call_the_api_with_a_token_and_never_with_cookies() {
    let app = TestApp::with(&["--cors-origins", "https://tools.example.com,http://localhost:3000"]).await;
    for origin in [ALLOWED, "http://localhost:3000"] {
        let question = [&[("origin", origin)][..], &QUESTION].concat();
        let may = app.request(Method::OPTIONS, "/graphql", &question, "").await;
        assert_eq!(may.status, 204, "{origin}");
        assert_eq!(may.header("access-control-allow-origin"), Some(origin));
        assert_eq!(may.header("access-control-allow-methods"), Some("POST"));
        let headers = may.header("access-control-allow-headers").expect("headers");
        assert!(headers.contains("authorization") && headers.contains("idempotency-key"), "{headers}");
        assert_eq!(may.header("access-control-allow-credentials"), None);

        let answer = ask(&app, origin).await;
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, Some(origin)));
        assert!(answer.header("access-control-expose-headers").is_some_and(|headers| headers.contains("x-request-id")));
        assert!(answer.headers.get_all("vary").iter().any(|vary| vary == "origin"));
        assert_eq!(answer.header("access-control-allow-credentials"), None);
    }
    // A page is to read why it was refused.
    let refused =
        app.request(Method::POST, "/graphql", &[("origin", ALLOWED), ("content-type", "application/json")], "{}").await;
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (401, Some(ALLOWED)));
}

#[tokio::test]
async fn no_other_origin_and_no_other_path_is_opened() {
    let app = TestApp::with(&["--cors-origins", ALLOWED]).await;
    for origin in ["https://evil.example.com", "https://tools.example.com.evil.org", "http://tools.example.com", "null"]
    {
        let question = [&[("origin", origin)][..], &QUESTION].concat();
        let may = app.request(Method::OPTIONS, "/graphql", &question, "").await;
        assert_eq!((may.status, may.header("access-control-allow-origin")), (204, None), "{origin}");
        assert_eq!(ask(&app, origin).await.header("access-control-allow-origin"), None, "{origin}");
    }
    for path in ["/", "/integrations/deploy/x", "/sign-in"] {
        let question = [&[("origin", ALLOWED)][..], &QUESTION].concat();
        let may = app.request(Method::OPTIONS, path, &question, "").await;
        assert_eq!((may.status, may.header("access-control-allow-origin")), (405, None), "{path}");
    }
    let closed = TestApp::start().await;
    let question = [&[("origin", ALLOWED)][..], &QUESTION].concat();
    let may = closed.request(Method::OPTIONS, "/graphql", &question, "").await;
    assert_eq!((may.status, may.header("access-control-allow-origin")), (405, None));
    let answer = ask(&closed, ALLOWED).await;
    assert!(answer.status == 200 && !answer.headers.get_all("vary").iter().any(|vary| vary == "origin"));
}
