//! `/scim/v2`: users and groups, for identity providers (RFC 7644). The token is checked before the body is read.

use hyper::Method;

use crate::app::openid;
use crate::entity::Timestamp;
use crate::entity::audit::Actor;
use crate::entity::token::Scope;
use crate::graphql::request::caller::Caller;
use crate::http::charset::ContentType;
use crate::http::expand::Coding;
use crate::http::limits::Key;
use crate::http::reply::{self, Rejection, Reply};
use crate::http::router::has_body;
use crate::http::upload::Upload;
use crate::http::{App, Call};
use crate::scim::{self, Does, Failure, Request, Service};

const OTHER_SCOPE: &str = "SCIM requires a token with the scope scim, and this one has another. An administrator can create \
     one on the page API tokens, or with `rollcall token create --scope scim`.";

/// Authenticates, counts, reads and answers a request.
pub async fn answer(app: &App, call: &mut Call, body: Option<&mut Upload>) -> Result<Reply, Rejection> {
    let (token, counted) = app.tokens.any(&call.parts.headers, call.network(), Timestamp::now()).await?;
    app.count(call, Key::Token(token.id), counted).await?;
    if token.scope != Scope::Scim {
        app.site.refusals.note(Actor::token(&token), "forbidden", scim::PATH).await;
        return Err(Rejection::Forbidden(OTHER_SCOPE));
    }
    let does = match call.parts.method {
        Method::GET => Does::Get,
        Method::POST => Does::Post,
        Method::PUT => Does::Put,
        Method::PATCH => Does::Patch,
        Method::DELETE => Does::Delete,
        _ => return Err(Rejection::MethodNotAllowed),
    };
    let given = match body.filter(|_| has_body(&call.parts.method)) {
        Some(body) => read(app, call, body).await?,
        None => Vec::new(),
    };
    call.is_mutation = does != Does::Get;
    let catalogue = app.catalogue(call);
    let service = Service {
        db: &app.db,
        base: format!("{}{}", catalogue.settings().app_url, scim::PATH),
        caller: Caller::provider(&token),
        catalogue,
        mapping: openid::settings(app.site(call)),
        request_id: &call.id,
    };
    let uri = &call.parts.uri;
    let request = Request { does, path: uri.path(), query: uri.query().unwrap_or_default(), body: &given };
    match scim::answer(&service, &request).await {
        Ok(answer) => Ok(reply::scim(answer)),
        Err(Failure::Unavailable(reason)) => Err(Rejection::Unavailable(reason)),
        Err(Failure::Internal(cause)) => Err(Rejection::Internal(cause)),
    }
}

/// Reads a body, which must be JSON in UTF-8, by any of the names of JSON.
async fn read(app: &App, call: &Call, body: &mut Upload) -> Result<Vec<u8>, Rejection> {
    let kind = ContentType::from_headers(&call.parts.headers);
    if !kind.is_json() || !kind.is_utf8() {
        let must = "The body must be JSON in UTF-8, with Content-Type: application/scim+json.";
        return Err(Rejection::Unsupported(must.to_owned()));
    }
    let coding = Coding::from_headers(&call.parts.headers)?;
    let read = app.bodies.read_packed(body, coding, call.owner, app.edge.max_body, app.edge.body_timeout).await?;
    Ok(read.to_vec())
}
