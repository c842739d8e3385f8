//! Builds every response, so that none lacks a header that all must have.

use async_graphql::ServerError;
use bytes::Bytes;
use std::time::Duration;

use data_encoding::HEXLOWER;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Response, StatusCode};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::auth::NoToken;
use super::connection::{HEAD_BYTES, HEADERS};
use super::limits::Standing;
use super::router::{Route, page_asked_for};
use super::streamed::Chunks;
use super::{Call, accept, coding, expand, streamed};
use crate::app::assets::Asset;
use crate::app::{self, Page, PagePolicy};
use crate::db;
use crate::engine::{errors_json, request_error};
use crate::error::Code;
use crate::scim::Answer;

mod feed;
mod scim;
mod webhook;

pub use self::feed::feed;
pub use self::scim::scim;
pub use self::webhook::{accepted, mistakes, outcome, refused};

/// A response.
pub type Reply = Response<Bytes>;

/// The media types of a GraphQL response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// `application/json`, for clients older than GraphQL over HTTP: any well-formed request gets status 200.
    Json,
    /// `application/graphql-response+json`: the status says whether the request was executed.
    GraphQlResponse,
}

/// The kind of client, which decides the format of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// A GraphQL client.
    GraphQl(Media),
    /// A CI system that posts deploys.
    Webhook,
    /// An identity provider.
    Scim,
    /// A person with a browser.
    Page,
    /// Anyone else.
    Plain,
}

/// Why a request was not carried out.
#[derive(Debug)]
pub enum Rejection {
    /// 400: the request is malformed, for the given reason.
    BadRequest(String),
    /// 401: there is no valid token, for the given reason.
    Unauthenticated(NoToken),
    /// 403: the caller is not allowed to do this, for the given reason.
    Forbidden(&'static str),
    /// 404: unknown path.
    NotFound,
    /// 404: nothing has the name that the request gives, as this sentence says.
    Absent(String),
    /// 405: the route does not support the method.
    MethodNotAllowed,
    /// 408: the body did not arrive in time.
    BodyTimeout,
    /// 413: the body exceeds this many bytes.
    BodyTooLarge(usize),
    /// 413: the body, decompressed, exceeds this many bytes.
    ExpandedTooLarge(usize),
    /// 431: the head has too many headers or bytes.
    HeadTooLarge,
    /// 409: a request with this idempotency key was sent before, and there is no response to repeat, for the given
    /// reason. With the seconds to wait before another attempt.
    Conflict(&'static str, Option<u64>),
    /// 422: another request was sent with the same idempotency key.
    KeyReused,
    /// 415: the body is not in a form that is read here, for the given reason.
    Unsupported(String),
    /// 415: the body has a content coding that is not read here, as this sentence says.
    Coding(String),
    /// 415: the body is not a form.
    NotForm,
    /// 429: the caller has exceeded its rate limit.
    TooManyRequests(Standing),
    /// 500: an internal error. The reason is logged and never shown to the client.
    Internal(String),
    /// 503: the service is unavailable, for the given reason.
    Unavailable(&'static str),
    /// 503: the mutation was carried out, but its response cannot be sent.
    Undelivered,
}

/// The `Retry-After` of an unavailable service, in seconds.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

/// One year. Without `includeSubDomains`: the other hosts of the domain are not ours.
const ENCRYPTED_ONLY: HeaderValue = HeaderValue::from_static("max-age=31536000");

const RATE_LIMIT_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RATE_LIMIT_RETRY_AFTER: HeaderName = HeaderName::from_static("ratelimit-retry-after");
const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

impl Media {
    /// The media type that `Accept` prefers: the older one, unless the newer is named explicitly.
    pub fn preferred(headers: &HeaderMap) -> Self {
        let newer = accept::media(headers, "application", "graphql-response+json");
        let newer = newer.filter(|newer| newer.closeness == 2).map_or(0.0, |newer| newer.weight);
        let older = accept::media(headers, "application", "json").map_or(0.0, |older| older.weight);
        if newer > 0.0 && newer >= older { Self::GraphQlResponse } else { Self::Json }
    }

    fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Json => "application/json; charset=utf-8",
            Self::GraphQlResponse => "application/graphql-response+json; charset=utf-8",
        })
    }
}

impl Rejection {
    /// Why a database error keeps a request from being carried out.
    pub fn of_database(error: &db::Error) -> Self {
        match error.refusal() {
            Some(reason) => Self::Unavailable(reason),
            None => Self::Internal(error.to_string()),
        }
    }

    /// Whether it is the client's error.
    pub fn is_the_callers(&self) -> bool {
        self.status().is_client_error()
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::BadRequest(_) => StatusCode::BAD_REQUEST,
            Self::Unauthenticated(_) => StatusCode::UNAUTHORIZED,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::NotFound | Self::Absent(_) => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::BodyTooLarge(_) | Self::ExpandedTooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unsupported(_) | Self::Coding(_) | Self::NotForm => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::HeadTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::Conflict(..) => StatusCode::CONFLICT,
            Self::KeyReused => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooManyRequests(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable(_) | Self::Undelivered => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn code(&self) -> Code {
        match self {
            Self::Unauthenticated(_) => Code::Unauthenticated,
            Self::Forbidden(_) => Code::Forbidden,
            Self::NotFound | Self::Absent(_) => Code::NotFound,
            Self::TooManyRequests(_) => Code::RateLimited,
            Self::Internal(_) | Self::Undelivered => Code::Internal,
            Self::Unavailable(_) => Code::Unavailable,
            Self::Conflict(..) => Code::Conflict,
            Self::BadRequest(_)
            | Self::KeyReused
            | Self::MethodNotAllowed
            | Self::BodyTimeout
            | Self::BodyTooLarge(_)
            | Self::ExpandedTooLarge(_)
            | Self::HeadTooLarge
            | Self::Unsupported(_)
            | Self::Coding(_)
            | Self::NotForm => Code::BadUserInput,
        }
    }

    fn message(&self, call: &Call) -> String {
        match self {
            Self::BadRequest(reason) | Self::Absent(reason) => reason.clone(),
            Self::Unsupported(reason) | Self::Coding(reason) => reason.clone(),
            Self::Unauthenticated(reason) => reason.to_string(),
            Self::Forbidden(reason) | Self::Conflict(reason, _) => (*reason).to_owned(),
            Self::KeyReused => "This Idempotency-Key belongs to another request. Use a new one.".to_owned(),
            Self::NotFound => "There is nothing at this address.".to_owned(),
            Self::MethodNotAllowed => format!("This address accepts {} only.", call.route.methods()),
            Self::BodyTimeout => "The body of the request did not arrive in time.".to_owned(),
            Self::BodyTooLarge(limit) => format!("The body of the request is longer than {limit} bytes."),
            Self::ExpandedTooLarge(limit) => {
                format!("The body of the request, decompressed, is longer than {limit} bytes.")
            }
            Self::HeadTooLarge => unread_message(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE),
            Self::NotForm => {
                "The body must be a form, with Content-Type: application/x-www-form-urlencoded.".to_owned()
            }
            Self::TooManyRequests(standing) => {
                format!("Too many requests. Try again in {} s.", standing.retry_after)
            }
            Self::Internal(_) => with_id("Something went wrong on our side.", &call.id),
            Self::Unavailable(reason) => with_id(reason, &call.id),
            Self::Undelivered => with_id(
                "The mutation was carried out, but its response was dropped: too many large responses are waiting.",
                &call.id,
            ),
        }
    }
}

/// Adds the request id, which is also in the log, to the message of a server error.
fn with_id(sentence: &str, id: &str) -> String {
    format!("{sentence} The request was {id}.")
}

/// The response to a request that was not carried out.
pub fn rejection(call: &Call, rejection: &Rejection) -> Reply {
    let (status, message) = (rejection.status(), rejection.message(call));
    let graphql = |media, message| errors(media, status, &[request_error(message, Vec::new(), rejection.code())]);
    let mut reply = match call.surface() {
        Surface::GraphQl(media) => graphql(media, message),
        Surface::Webhook => {
            let title = status.canonical_reason().unwrap_or("Error");
            refused(status, title, message)
        }
        Surface::Scim => scim(Answer::refused(status.as_u16(), None, &message)),
        Surface::Page => {
            let again = page_asked_for(&call.parts);
            page(app::rejection(call.visitor.as_deref(), status.as_u16(), &message, again))
        }
        Surface::Plain => graphql(Media::Json, message),
    };
    let headers = reply.headers_mut();
    match rejection {
        Rejection::Unauthenticated(_) => {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        Rejection::Coding(_) => {
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(expand::CODINGS));
        }
        Rejection::MethodNotAllowed => {
            headers.insert(header::ALLOW, HeaderValue::from_static(call.route.methods()));
        }
        Rejection::TooManyRequests(standing) => {
            headers.insert(header::RETRY_AFTER, standing.retry_after.into());
        }
        Rejection::Conflict(_, Some(seconds)) => {
            headers.insert(header::RETRY_AFTER, (*seconds).into());
        }
        Rejection::Unavailable(_) => {
            headers.insert(header::RETRY_AFTER, RETRY_AFTER);
        }
        // The rest of the body would be read as the next request.
        Rejection::BodyTimeout | Rejection::BodyTooLarge(_) => {
            close(call, headers);
        }
        _ => {}
    }
    reply
}

/// A response that consists of errors.
pub fn errors(media: Media, status: StatusCode, errors: &[ServerError]) -> Reply {
    let text = [b"{\"errors\":", &*errors_json(errors), b"}"].concat();
    with_body(status, media.content_type(), text)
}

/// The response to a GraphQL request. `text` is its JSON.
pub fn graphql(media: Media, status: StatusCode, text: Vec<u8>) -> Reply {
    with_body(status, media.content_type(), text)
}

/// The response to an earlier request with the same idempotency key.
pub fn replayed(media: Media, answer: String) -> Reply {
    let mut reply = graphql(media, StatusCode::OK, answer.into_bytes());
    reply.headers_mut().insert(IDEMPOTENCY_REPLAYED, HeaderValue::from_static("true"));
    reply
}

fn json(status: StatusCode, body: &impl Serialize) -> Reply {
    // These types always serialise.
    with_body(status, Media::Json.content_type(), serde_json::to_vec(body).unwrap_or_default())
}

/// The Content-Security-Policy of pages: only resources from this origin, and no inline scripts or styles.
const PAGE_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

/// The policy of the explorer's page. Its editor, Monaco, uses inline styles, workers and its own font. Scripts still
/// come from this origin only.
const EDITOR_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; worker-src 'self'; font-src 'self'; \
     img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

/// A page of the application.
pub fn page(page: Page) -> Reply {
    let status = StatusCode::from_u16(page.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    // Weak, because the page may be sent with different content codings.
    let tag = (page.policy == PagePolicy::Cached).then(|| tag("W/", page.html.as_bytes()));
    let mut reply = with_body(status, HeaderValue::from_static("text/html; charset=utf-8"), page.html);
    if let Some(tag) = tag {
        reply = with_tag(reply, &tag);
        // It names who is signed in.
        reply.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    }
    let policy = if page.policy == PagePolicy::Editor { EDITOR_POLICY } else { PAGE_POLICY };
    reply.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    // Without a referrer, browsers would send no origin with our own forms either.
    reply.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    reply
}

/// A redirect to another page, followed with GET.
pub fn redirect(to: &str, cookies: &[String]) -> Reply {
    let mut reply = Reply::default();
    *reply.status_mut() = StatusCode::SEE_OTHER;
    // The target is one of our paths, or the OpenID provider's URL, and is already encoded.
    let to = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/"));
    reply.headers_mut().insert(header::LOCATION, to);
    for cookie in cookies.iter().filter_map(|cookie| HeaderValue::from_str(cookie).ok()) {
        reply.headers_mut().append(header::SET_COOKIE, cookie);
    }
    reply
}

/// A list in CSV, which browsers save under this name. Its chunks are made while it is sent.
pub fn saved(name: &'static str, chunks: Chunks) -> Reply {
    let mut reply = with_body(StatusCode::OK, HeaderValue::from_static("text/csv; charset=utf-8"), Bytes::new());
    streamed::put(&mut reply, chunks);
    let how = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    reply.headers_mut().insert(header::CONTENT_DISPOSITION, how.unwrap_or(HeaderValue::from_static("attachment")));
    reply
}

/// A static file of a page. Its name changes with its content, so it may be cached forever.
pub fn asset(asset: &'static Asset) -> Reply {
    let mut reply = with_body(StatusCode::OK, HeaderValue::from_static(asset.media), asset.content);
    let kept = HeaderValue::from_static("public, max-age=31536000, immutable");
    reply.headers_mut().insert(header::CACHE_CONTROL, kept);
    if asset.is_gzipped {
        // For clients that cannot read gzip.
        reply.extensions_mut().insert(asset);
        reply.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    reply
}

/// A short text, for machines that look at the status.
pub fn text(text: impl Into<Bytes>) -> Reply {
    with_body(StatusCode::OK, HeaderValue::from_static("text/plain; charset=utf-8"), text)
}

/// A public file with its entity tag.
pub fn file(content: &'static str, tag: &HeaderValue) -> Reply {
    with_tag(with_body(StatusCode::OK, HeaderValue::from_static("text/plain; charset=utf-8"), content), tag)
}

/// A picture that may be shown in other pages, and kept for some time.
pub fn badge(picture: String, age: Duration) -> Reply {
    let tag = entity_tag(picture.as_bytes());
    let mut reply = with_tag(with_body(StatusCode::OK, HeaderValue::from_static("image/svg+xml"), picture), &tag);
    let kept = HeaderValue::from_str(&format!("public, max-age={}", age.as_secs()));
    reply.headers_mut().insert(header::CACHE_CONTROL, kept.unwrap_or(HeaderValue::from_static("no-cache")));
    reply
}

/// The metrics of the process.
pub fn metrics(text: String, asked: &HeaderMap) -> Reply {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let mut reply = with_body(StatusCode::OK, HeaderValue::from_static(kind), text);
    coding::compress(&mut reply, asked);
    protect(reply.headers_mut());
    reply
}

/// Why bytes were refused before they became a request. `status` is hyper's status.
fn unread_message(status: StatusCode) -> String {
    match status {
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
            format!("The head of the request is longer than {HEAD_BYTES} bytes, or has more than {HEADERS} headers.")
        }
        StatusCode::URI_TOO_LONG => "The address of the request is too long.".to_owned(),
        _ => "The request cannot be read as HTTP.".to_owned(),
    }
}

/// The response to bytes that are not a valid request.
pub fn unread(status: StatusCode) -> Reply {
    let error = request_error(unread_message(status), Vec::new(), Code::BadUserInput);
    let mut reply = errors(Media::Json, status, &[error]);
    protect(reply.headers_mut());
    reply
}

/// A response with no body, and the allowed methods.
pub fn bare(status: StatusCode, allowed: Option<&'static str>) -> Reply {
    let mut reply = Reply::default();
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    if let Some(allowed) = allowed {
        headers.insert(header::ALLOW, HeaderValue::from_static(allowed));
    }
    protect(headers);
    reply
}

/// Adds the headers that every response has. `is_secure` means that the application is reached by `https:` only, which
/// browsers then enforce (RFC 6797).
pub fn finish(reply: &mut Reply, call: &Call, is_secure: bool) {
    apply_if_none_match(reply, &call.parts.headers);
    if call.parts.method == Method::HEAD && reply.status() != StatusCode::NOT_MODIFIED {
        // Of a body that is written while it is sent, nobody knows the length.
        if streamed::take(reply).is_none() {
            coding::describe(reply, &call.parts.headers);
        }
    } else {
        coding::compress(reply, &call.parts.headers);
    }
    let headers = reply.headers_mut();
    protect(headers);
    if call.route == Route::Feed {
        // The page of an error is found at the address with the token.
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    }
    if is_secure {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, ENCRYPTED_ONLY);
    }
    if let Ok(id) = HeaderValue::from_str(&call.id) {
        headers.insert(X_REQUEST_ID, id);
    }
    if let (Route::GraphQl, Some(standing)) = (call.route, call.standing) {
        headers.insert(RATE_LIMIT_REMAINING, standing.remaining.into());
        headers.insert(RATE_LIMIT_RETRY_AFTER, standing.retry_after.into());
    }
}

/// Restricts what a browser does with a response that is not meant for it.
fn protect(headers: &mut HeaderMap) {
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::REFERRER_POLICY).or_insert(HeaderValue::from_static("no-referrer"));
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// Replaces the response by 304 if `If-None-Match` names its entity tag (RFC 9110, section 13.1.2).
fn apply_if_none_match(reply: &mut Reply, asked: &HeaderMap) {
    let Some(tag) = reply.headers().get(header::ETAG) else { return };
    let opaque = |tag: &str| tag.strip_prefix("W/").unwrap_or(tag).to_owned();
    let tag = opaque(tag.to_str().unwrap_or_default());
    let lines = asked.get_all(header::IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
    let mut known = lines.flat_map(|line| line.split(',')).map(str::trim);
    if known.any(|known| known == "*" || opaque(known) == tag) {
        *reply.status_mut() = StatusCode::NOT_MODIFIED;
        *reply.body_mut() = Bytes::new();
        reply.headers_mut().remove(header::CONTENT_TYPE);
    }
}

/// The strong entity tag of a file.
pub fn entity_tag(content: &[u8]) -> HeaderValue {
    tag("", content)
}

fn tag(strength: &str, content: &[u8]) -> HeaderValue {
    let tag = format!("{strength}\"{}\"", HEXLOWER.encode(&Sha256::digest(content)[..16]));
    HeaderValue::try_from(tag).unwrap_or(HeaderValue::from_static("\"\""))
}

fn with_body(status: StatusCode, content_type: HeaderValue, body: impl Into<Bytes>) -> Reply {
    let mut reply = Reply::new(body.into());
    *reply.status_mut() = status;
    reply.headers_mut().insert(header::CONTENT_TYPE, content_type);
    reply
}

fn with_tag(mut reply: Reply, tag: &HeaderValue) -> Reply {
    reply.headers_mut().insert(header::ETAG, tag.clone());
    reply.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    reply
}

/// Closes the connection after the response. HTTP/2 ends only the stream, and forbids the header.
fn close(call: &Call, headers: &mut HeaderMap) {
    if call.parts.version <= hyper::Version::HTTP_11 {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
}
