//! `POST /graphql`: GraphQL over HTTP.
//!
//! The checks run in order of cost: without a valid token, the body is not read.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Instant;

use async_graphql::{Request, ServerError, Variables};
use bytes::Bytes;
use hyper::header::{self, HeaderMap, HeaderName};
use hyper::{StatusCode, Uri};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::engine::{Prepared, request_error};
use crate::entity::Timestamp;
use crate::error::Code;
use crate::graphql::Unavailable;
use crate::graphql::request::caller::Caller;
use crate::graphql::request::idempotency::{Claim, Claimed, Key as RequestKey};
use crate::http::expand::Coding;
use crate::http::handlers::app as pages;
use crate::http::limits::{Key, Window};
use crate::http::reply::{self, Media, Rejection, Reply};
use crate::http::upload::Upload;
use crate::http::{App, Call, body};

/// Authenticates, counts, reads, validates and executes a request.
pub async fn answer(app: &App, call: &mut Call, body: &mut Upload) -> Result<Reply, Rejection> {
    let (caller, key, counted) = caller(app, call).await?;
    app.count(call, key, counted).await?;
    body::check_is_json(&call.parts.headers)?;
    let coding = Coding::from_headers(&call.parts.headers)?;
    let body = app.bodies.read_packed(body, coding, call.owner, app.edge.max_body, app.edge.body_timeout).await?;
    let media = Media::preferred(&call.parts.headers);
    let Some(request) = parse(&body)? else { return Ok(not_persisted(media)) };
    let prepared = match app.catalogue.prepare(&request) {
        Ok(prepared) => prepared,
        Err(errors) => return Ok(refuse(media, StatusCode::BAD_REQUEST, &errors)),
    };
    call.operation.clone_from(&prepared.operation);
    if let Some(reason) = caller.refused(&prepared.plan) {
        let names: Vec<&str> = prepared.plan.root.fields.iter().map(|field| field.name()).collect();
        app.site.refusals.note(caller.actor, "forbidden", &names.join(", ")).await;
        let error = request_error(reason, Vec::new(), Code::Forbidden);
        return Ok(refuse(media, StatusCode::FORBIDDEN, &[error]));
    }
    let (started, is_mutation) = (Instant::now(), prepared.plan.serial);
    call.is_mutation = is_mutation;
    let claim = match idempotency_key(&call.parts.headers)?.filter(|_| is_mutation) {
        None => None,
        Some(key) => match claim(app, &caller, key, &body, &prepared).await? {
            ControlFlow::Continue(claim) => Some(claim),
            ControlFlow::Break(answer) => return Ok(reply::replayed(media, answer)),
        },
    };
    let response = app.catalogue(call).execute(&prepared, &caller, &call.id, claim).await;
    let mut response = response.map_err(|Unavailable(reason)| Rejection::Unavailable(reason))?;
    if !response.forbidden.is_empty() {
        app.site.refusals.note_aside(caller.actor.clone(), "forbidden", &response.forbidden.join(", "));
    }
    app.metrics.operation(is_mutation, prepared.operation.as_deref(), started.elapsed(), &response.used);
    call.cost = Some((prepared.estimate, response.used));
    if call.parts.headers.contains_key(COST) {
        response.extend("cost", &app.catalogue.cost(&prepared, &response.used));
    }
    Ok(reply::graphql(media, StatusCode::OK, response.text))
}

/// Answers the GET request of an Apollo client that sends only the hash of a query.
pub async fn answer_get(app: &App, call: &mut Call) -> Result<Reply, Rejection> {
    let (_, key, counted) = caller(app, call).await?;
    app.count(call, key, counted).await?;
    Ok(not_persisted(Media::preferred(&call.parts.headers)))
}

/// Whether a GET request has the hash of a query in the place of its text.
pub fn is_persisted(uri: &Uri) -> bool {
    let (mut has_hash, mut has_query) = (false, false);
    for (name, value) in form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
        match &*name {
            "query" => has_query |= !value.is_empty(),
            "extensions" => {
                let extensions: Option<Extensions> = serde_json::from_str(&value).ok();
                has_hash |= extensions.is_some_and(|extensions| extensions.contains_key(PERSISTED));
            }
            _ => {}
        }
    }
    has_hash && !has_query
}

/// The reply to a client that sends only the hash of a document: it then sends the text, and no more hashes. Clients read
/// it only with status 200.
fn not_persisted(media: Media) -> Reply {
    let error = request_error("PersistedQueryNotSupported", Vec::new(), Code::PersistedQueryNotSupported);
    reply::errors(media, StatusCode::OK, &[error])
}

/// The request header that asks for the cost of a request. Its value does not matter.
const COST: HeaderName = HeaderName::from_static("graphql-cost");

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The longest idempotency key, in bytes.
pub const LONGEST_KEY: usize = 255;

const RUNNING: &str = "The request with this Idempotency-Key is still running.";

const DONE: &str = "The request with this Idempotency-Key was carried out, and its answer is not kept. Look at what it \
     has changed.";

const HIDDEN: &str = "The request with this Idempotency-Key was carried out. Its answer is not repeated, because it holds \
     the URL of a webhook, which your role no longer allows you to see.";

const LATE: &str = "Other requests with mutations kept this one waiting. Send it again.";

/// Returns the idempotency key of a request, with or without quotes. The draft of the header's standard requires
/// quotes.
fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, Rejection> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let key = value.to_str().unwrap_or_default();
    let key = key.strip_prefix('"').and_then(|key| key.strip_suffix('"')).unwrap_or(key);
    let is_allowed = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\' | b',');
    if values.next().is_some() || !(1..=LONGEST_KEY).contains(&key.len()) || !key.bytes().all(is_allowed) {
        let rule =
            format!("Idempotency-Key must be one key of 1 to {LONGEST_KEY} letters, digits or signs, such as a UUID.");
        return Err(Rejection::BadRequest(rule));
    }
    Ok(Some(key))
}

/// Claims the idempotency key of a mutation. Breaks with the answer to an earlier request with the same key.
async fn claim(
    app: &App,
    caller: &Caller,
    key: &str,
    body: &[u8],
    prepared: &Prepared,
) -> Result<ControlFlow<String, Claim>, Rejection> {
    let key = RequestKey { key: Sha256::digest(key).into(), request: Sha256::digest(body).into() };
    let claimed = app.catalogue.claim(caller, key, prepared).await;
    match claimed.map_err(|error| Rejection::of_database(&error))? {
        Claimed::New(claim) => Ok(ControlFlow::Continue(claim)),
        Claimed::Answered(answer) => Ok(ControlFlow::Break(answer)),
        Claimed::Hidden => Err(Rejection::Conflict(HIDDEN, None)),
        Claimed::Done => Err(Rejection::Conflict(DONE, None)),
        Claimed::Running => Err(Rejection::Conflict(RUNNING, Some(1))),
        Claimed::Reused => Err(Rejection::KeyReused),
        Claimed::Late => Err(Rejection::Unavailable(LATE)),
    }
}

/// Authenticates the caller by the request's token. Without a token, accepts the session of a signed-in user whose page
/// calls the API.
async fn caller(app: &App, call: &Call) -> Result<(Caller, Key, Option<Window>), Rejection> {
    let parts = &call.parts;
    if !parts.headers.contains_key(header::AUTHORIZATION)
        && let Some(session) = pages::session(app, call).await?
    {
        pages::check_is_from_here(app, call)?;
        return Ok((session.caller(), Key::Session(session.row.id), None));
    }
    let (token, counted) = app.tokens.check(&parts.headers, call.network(), Timestamp::now()).await?;
    Ok((Caller::token(&token), Key::Token(token.id), counted))
}

/// The reply to a well-formed request that was not executed. Legacy clients take any status but 200 for a network
/// failure; other clients get `status`.
fn refuse(media: Media, status: StatusCode, errors: &[ServerError]) -> Reply {
    let status = match media {
        Media::Json => StatusCode::OK,
        Media::GraphQlResponse => status,
    };
    reply::errors(media, status, errors)
}

/// The members of a request. `null` means absent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parameters {
    query: Option<String>,
    operation_name: Option<String>,
    variables: Option<Box<RawValue>>,
    /// Must be an object. Only one extension is known: the hash of a document.
    extensions: Option<Extensions>,
}

type Extensions = BTreeMap<String, IgnoredAny>;

/// The extension of Apollo's automatic persisted queries.
const PERSISTED: &str = "persistedQuery";

/// Reads a request. `None` if it has the hash of a document in the place of its text.
fn parse(body: &Bytes) -> Result<Option<Request>, Rejection> {
    let bad = |reason: String| Rejection::BadRequest(reason);
    if let Err(wrong) = str::from_utf8(body) {
        return Err(bad(format!("The body is not UTF-8 from byte {} on. Send JSON in UTF-8.", wrong.valid_up_to())));
    }
    match &**body {
        [] => return Err(bad("The body is empty. Send JSON with a query.".to_owned())),
        [0, ..] | [_, 0, ..] => return Err(bad("The body is UTF-16 or UTF-32. Send JSON in UTF-8.".to_owned())),
        [0xef, 0xbb, 0xbf, ..] => {
            return Err(bad("The body begins with a byte order mark, which JSON does not have.".to_owned()));
        }
        _ => {}
    }
    // serde would read an array as the members in order.
    if body.trim_ascii_start().first() == Some(&b'[') {
        return Err(bad("The body must be a JSON object: batched requests are not supported.".to_owned()));
    }
    let parameters: Parameters = serde_json::from_slice(body).map_err(|error| {
        bad(match error.classify() {
            _ if is_too_deep(&error) => format!("The body is nested too deeply: {error}."),
            serde_json::error::Category::Data => format!("The body is not a GraphQL request: {error}."),
            _ if is_document(body) => format!("The body is not JSON: {error}. {AS_JSON}"),
            _ => format!("The body is not JSON: {error}."),
        })
    })?;
    let is_persisted = parameters.extensions.is_some_and(|extensions| extensions.contains_key(PERSISTED));
    let query = match parameters.query {
        Some(query) if !(query.is_empty() && is_persisted) => query,
        _ if is_persisted => return Ok(None),
        _ => return Err(bad("The request has no query.".to_owned())),
    };
    let mut request = Request::new(query);
    request.operation_name = parameters.operation_name;
    request.variables = Variables::default();
    if let Some(variables) = parameters.variables {
        if parts(variables.get()) > MOST_PARTS {
            let message =
                format!("The variables hold more than {MOST_PARTS} values. Split them over several requests.");
            return Err(bad(message));
        }
        let found = match variables.get().as_bytes().first() {
            Some(b'"') => Some("a string: send the object itself, not its text"),
            Some(b'[') => Some("an array"),
            Some(b'{') | None => None,
            Some(b't' | b'f') => Some("a boolean"),
            Some(_) => Some("a number"),
        };
        if let Some(found) = found {
            return Err(bad(format!("The variables of the request must be a JSON object, not {found}.")));
        }
        let read = serde_json::from_str(variables.get());
        *request.variables = read.map_err(|error: serde_json::Error| {
            bad(match is_too_deep(&error) {
                true => "The variables are nested more than 127 levels deep.".to_owned(),
                false => format!("The variables of the request cannot be read: {error} of the variables."),
            })
        })?;
    }
    Ok(Some(request))
}

/// Whether a parser gave up on nested values. serde_json has no kind for it.
fn is_too_deep(error: &serde_json::Error) -> bool {
    error.to_string().starts_with("recursion limit exceeded")
}

/// What a client should do that sends a GraphQL document without JSON around it.
const AS_JSON: &str = r#"Send the GraphQL document as a member of a JSON object: {"query": "…"}."#;

/// Whether a body that is not JSON begins like a GraphQL document.
fn is_document(body: &[u8]) -> bool {
    let text = body.trim_ascii_start();
    let word = text.split(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
    match text {
        // A member of a JSON object begins with a quotation mark, and a selection with a name, a spread or a comment.
        [b'{', selection @ ..] => {
            let first = selection.trim_ascii_start().first();
            first.is_some_and(|byte| byte.is_ascii_alphabetic() || b"_.#".contains(byte))
        }
        [b'#', ..] => true,
        _ => [&b"query"[..], b"mutation", b"subscription", b"fragment"].contains(&word),
    }
}

/// The maximum number of values in the variables. A parsed value takes many times the size of its text.
pub const MOST_PARTS: usize = 50_000;

/// An upper bound on the number of values in a JSON text, from its commas and brackets.
fn parts(json: &str) -> usize {
    let (mut parts, mut is_text, mut is_escaped) = (0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b',' | b'[' | b'{' if !is_text => parts += 1,
            _ => {}
        }
    }
    parts
}
