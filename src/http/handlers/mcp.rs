//! `POST /mcp`: the Model Context Protocol, with a token.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::{Request, Response, header};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::entity::Timestamp;
use crate::graphql::request::caller::Caller;
use crate::http::expand::Coding;
use crate::http::limits::Key;
use crate::http::reply::{Rejection, Reply};
use crate::http::upload::Upload;
use crate::http::{App, Call, body};
use crate::mcp::{Agent, Asker, LONGEST_REQUEST, Ran};

/// Authenticates, counts, reads and answers a request. A session does not count: agents have tokens.
pub async fn answer(app: &App, call: &mut Call, body: &mut Upload) -> Result<Reply, Rejection> {
    let (token, counted) = app.tokens.check(&call.parts.headers, call.network(), Timestamp::now()).await?;
    app.count(call, Key::Token(token.id), counted).await?;
    body::check_is_json(&call.parts.headers)?;
    let coding = Coding::from_headers(&call.parts.headers)?;
    let most = app.edge.max_body.min(LONGEST_REQUEST);
    let body = app.bodies.read_packed(body, coding, call.owner, most, app.edge.body_timeout).await?;
    let mut request = Request::post(call.parts.uri.clone()).body(body.clone()).unwrap_or_default();
    *request.headers_mut() = call.parts.headers.clone();
    for secret in [header::AUTHORIZATION, header::COOKIE, header::CONTENT_ENCODING, header::CONTENT_LENGTH] {
        request.headers_mut().remove(secret);
    }
    let caller = Caller::token(&token);
    let asker = Asker::new(app.catalogue(call).clone(), caller.clone(), call.id.clone(), app.edge.mcp_writes);
    let asker = Arc::new(asker);
    let reply = answer_message(Agent::new(Arc::clone(&asker)), request).await;
    for Ran { is_mutation, took, used, forbidden } in asker.ran() {
        call.is_mutation |= is_mutation;
        app.metrics.operation(is_mutation, Some("mcp"), took, &used);
        if !forbidden.is_empty() {
            app.site.refusals.note_aside(caller.actor.clone(), "forbidden", &forbidden.join(", "));
        }
    }
    Ok(reply)
}

/// Answers a message of the protocol, by its own transport.
async fn answer_message(agent: Agent, request: Request<Bytes>) -> Reply {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        // A token is required of everybody, and cookies do not count: a page of another origin cannot send one.
        .disable_allowed_hosts()
        .with_max_request_body_bytes(LONGEST_REQUEST);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(agent.clone()), sessions, config);
    let response: Response<BoxBody<Bytes, Infallible>> = service.handle(request.map(Full::new)).await;
    let (parts, body) = response.into_parts();
    let Ok(body) = body.collect().await;
    Response::from_parts(parts, body.to_bytes())
}
