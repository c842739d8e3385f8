//! Which web pages of other origins may call the API: those that `--cors-origins` names, with a token (Fetch Standard,
//! "CORS protocol").
//!
//! Only `/graphql` is opened. Cookies are never allowed with it, so a page of another origin cannot act as a person who is
//! signed in here.

use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, StatusCode};

use super::reply::Reply;

/// The headers that a page may send, besides those that it may always send.
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, content-encoding, graphql-cost, idempotency-key, traceparent, x-request-id",
);

/// The headers of a response that a page may read.
const RESPONSE_HEADERS: HeaderValue =
    HeaderValue::from_static("x-request-id, retry-after, ratelimit-remaining, ratelimit-retry-after");

/// How long a browser may remember what it may do, in seconds. Browsers limit this themselves.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

/// Whether a request is a browser's question whether a page may send another.
pub fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    *method == Method::OPTIONS
        && headers.contains_key(header::ORIGIN)
        && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// The origin of the page that sends a request, if it is an allowed one.
pub fn allowed(headers: &HeaderMap, origins: &[String]) -> Option<HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    let text = origin.to_str().ok()?;
    origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(text)).then(|| origin.clone())
}

/// The answer to a preflight. A page of an origin that is not allowed gets no permission.
pub fn preflight() -> Reply {
    let mut reply = Reply::default();
    *reply.status_mut() = StatusCode::NO_CONTENT;
    reply
}

/// Adds what a browser wants to see in a response of the API. `origin` is that of an allowed page.
pub fn permit(reply: &mut Reply, origin: Option<HeaderValue>, is_preflight: bool) {
    let headers = reply.headers_mut();
    // A cache must not give the answer to the page of one origin to that of another.
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    let Some(origin) = origin else { return };
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    if is_preflight {
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST"));
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    } else {
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, RESPONSE_HEADERS);
    }
}
