//! Tokens whose scope only a newer version knows: they may do nothing, and they stop nobody else.

use hyper::Method;
use rollcall::db::Write;
use rollcall::entity::token::{self, Scope};
use rollcall::entity::user::Role;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::json;

use crate::harness::agent::post;
use crate::harness::app::{Response, TestApp, data};
use crate::harness::browser::Browser;
use crate::harness::webhook::{Endpoint, record};

const REFUSED: &str = "This token has a scope that this server does not know, so it may do nothing here: a newer version of \
     rollcall has made it. Use it once this server is upgraded, or create another one on the page API tokens.";

/// A token that a newer version has made. Returns it with its id.
async fn newer(app: &TestApp, expires: Option<i64>) -> (String, i64) {
    let token = app.new_token(Scope::Admin, expires).await;
    let id = token::all(app.db.read()).await.expect("tokens").last().expect("the token").id;
    let update = token::Entity::update_many()
        .col_expr(token::Column::Scope, Expr::value("fly"))
        .filter(token::Column::Id.eq(id));
    assert_eq!(app.db.write(async |tx| tx.exec(update).await).await.expect("a write"), 1);
    (token, id)
}

/// The answers to a query, a mutation, an agent, and an identity provider that reads and writes.
async fn answers(app: &TestApp, token: &str) -> Vec<Response> {
    let bearer = format!("Bearer {token}");
    let create = r#"mutation { teamCreate(input: { name: "Flying" }) { errors { message } } }"#;
    let headers = [("authorization", &*bearer)];
    let scim = [("authorization", &*bearer), ("content-type", "application/scim+json")];
    let user = json!({ "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "fly@example.com" });
    vec![
        app.post_with("{ account { name } }", json!({}), &headers).await,
        app.post_with(create, json!({}), &headers).await,
        post(app, token, r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#).await,
        app.request(Method::GET, "/scim/v2/Users", &scim, "").await,
        app.request(Method::POST, "/scim/v2/Users", &scim, user.to_string()).await,
    ]
}

#[tokio::test]
async fn a_token_whose_scope_only_a_newer_version_knows_may_do_nothing() {
    // On PostgreSQL, a token is read by the statement that counts the request, or with those of other requests.
    for limit in ["400", "0"] {
        let app = TestApp::with(&["--token-limit", limit]).await;
        let (token, _) = newer(&app, None).await;
        for answer in answers(&app, &token).await {
            assert_eq!(answer.status, 403, "{limit}: {}", answer.text());
            let told = answer.json();
            let message = told["errors"][0]["message"].as_str().or(told["detail"].as_str());
            assert_eq!(message, Some(REFUSED), "{told}");
        }
        let found = data(&app, r#"{ account { teams { totalCount } users(filter: [{ key: email, arg: "fly@example.com" }]) { totalCount } } }"#).await;
        assert_eq!(found["account"], json!({ "teams": { "totalCount": 0 }, "users": { "totalCount": 0 } }));
        // One that has expired is refused as any other.
        let (expired, _) = newer(&app, Some(-1)).await;
        for answer in answers(&app, &expired).await {
            assert_eq!(answer.status, 401, "{limit}: {}", answer.text());
            assert!(answer.text().contains("This token expired at"), "{}", answer.text());
        }
    }
}

#[tokio::test]
async fn a_token_of_an_unknown_scope_is_listed_and_deleted_and_not_rotated() {
    let app = TestApp::start().await;
    let (token, id) = newer(&app, None).await;
    let mut admin = Browser::of(&app, Role::Admin).await;
    let page = admin.page("/tokens").await;
    assert!(page.contains("of a newer version: refused here"), "{page}");
    assert!(page.contains(&format!("/tokens/{id}/delete")) && !page.contains(&format!("/tokens/{id}/rotate")));
    let rotated = admin.post(&format!("/tokens/{id}/rotate"), &[("overlap", "24")]).await;
    assert_eq!(rotated.status, 422, "{}", rotated.text());
    assert!(rotated.text().contains("does not know the scope of the token"), "{}", rotated.text());
    let scopes = async || {
        let all = token::all(app.db.read()).await.expect("tokens");
        all.iter().filter(|one| one.scope == Scope::Unknown).count()
    };
    assert_eq!(scopes().await, 1, "it was not rotated");
    assert_eq!(admin.post(&format!("/tokens/{id}/delete"), &[]).await.place(), "/tokens");
    assert_eq!(scopes().await, 0);
    assert_eq!(answers(&app, &token).await[0].status, 401, "it is not known any more");
}

#[tokio::test]
async fn a_webhook_and_a_feed_have_secrets_of_their_own_and_no_scope() {
    let endpoint = Endpoint::start().await;
    let app = &endpoint.app;
    let (token, _) = newer(app, None).await;
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", &*bearer), ("content-type", "application/json")];
    let posted = app.request(Method::POST, &endpoint.path, &headers, record(json!({})).to_string()).await;
    assert_eq!(posted.status, 202, "its address is its secret: {}", posted.text());
    let mut viewer = Browser::of(app, Role::Viewer).await;
    let page = viewer.post("/account/feeds", &[]).await;
    let (_, rest) = page.text().split_once("/feeds/").expect("an address");
    let feed = format!("/feeds/{}/deploys.atom", rest.split('/').next().expect("a token"));
    assert_eq!(app.get_with(&feed, &[("authorization", &bearer)]).await.status, 200);
    // The token itself opens no feed.
    assert_eq!(app.get(&format!("/feeds/{token}/deploys.atom")).await.status, 404);
}
