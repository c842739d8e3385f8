//! `POST /integrations/deploy/<webhook_id>`: the deploy webhook.
//!
//! The last path segment is a secret. A caller without it learns nothing: neither whether such an endpoint ever
//! existed, nor what a valid post looks like.
//!
//! A custom event's endpoint takes any JSON. What is a deploy is recorded as one there too.

use std::borrow::Cow;

use bytes::Bytes;
use form_urlencoded::parse;

use super::no_endpoint;
use crate::deploy::{Failure, Outcome, Post, Reading, Record, event};
use crate::entity::integration::{self, Kind, Model, WEBHOOKS};
use crate::graphql;
use crate::http::charset::{self, ContentType, shown};
use crate::http::expand::Coding;
use crate::http::metrics::Deploy;
use crate::http::reply::{self, Rejection, Reply};
use crate::http::router::{below, webhook_id};
use crate::http::upload::Upload;
use crate::http::{App, Call, body};
use crate::spans;

/// Finds the endpoint; reads, validates and records the deploy. Refused posts are recorded too, for those who set up
/// the pipeline.
pub async fn answer(app: &App, call: &Call, body: &mut Upload) -> Result<Reply, Rejection> {
    let webhook_id = webhook_id(below(call.parts.uri.path(), WEBHOOKS).unwrap_or_default());
    let endpoint = integration::by_webhook(app.reserved.read(), &webhook_id).await;
    let endpoint = endpoint.map_err(|error| Rejection::of_database(&error))?;
    let Some(endpoint) = endpoint.filter(|endpoint| endpoint.kind == Kind::Deploy) else {
        return Ok(no_endpoint("deploy endpoint"));
    };
    let outcome = record(app, call, body, &endpoint).await;
    match &outcome {
        Ok(Done::Deploy(outcome, _)) => app.metrics.deploy(Deploy::Taken(outcome)),
        Ok(Done::Event(_)) => {}
        Err(Rejection::Internal(_) | Rejection::Unavailable(_)) => app.metrics.deploy(Deploy::Failed),
        Ok(Done::Refused(_)) | Err(_) => app.metrics.deploy(Deploy::Refused),
    }
    let reply = match outcome {
        Ok(Done::Deploy(Outcome::Duplicate, notes)) => reply::outcome(&Outcome::Duplicate, notes),
        Ok(Done::Deploy(outcome, notes)) => return Ok(reply::outcome(&outcome, notes)),
        Ok(Done::Event(notes)) => return Ok(reply::accepted("ok", None, &notes)),
        Ok(Done::Refused(refused)) => refused,
        Err(rejection) if rejection.is_the_callers() => reply::rejection(call, &rejection),
        Err(rejection) => return Err(rejection),
    };
    app.deliveries.note(endpoint.id, reply.status().as_u16(), reply.body());
    Ok(reply)
}

/// What became of a post.
enum Done {
    /// It is a deploy, with how it was changed.
    Deploy(Outcome, Vec<String>),
    /// It is an event, with how it was changed.
    Event(Vec<String>),
    /// The reply says what is wrong with it.
    Refused(Reply),
}

/// Records a post.
async fn record(app: &App, call: &Call, body: &mut Upload, endpoint: &Model) -> Result<Done, Rejection> {
    let takes_events = endpoint.event_type.as_deref() == Some(event::CUSTOM);
    let longest =
        if takes_events { Ord::max(event::LONGEST, app.edge.max_webhook_body) } else { app.edge.max_webhook_body };
    let mut notes = Vec::new();
    let body = receive(app, call, body, longest, &mut notes).await?;
    let body = read(call, &body, &mut notes)?;
    let mistakes = match Record::read(&body.text, body.is_lossy) {
        // What an event holds is for those who read the event.
        Ok(Reading { is_wrapped: true, .. }) if takes_events => Vec::new(),
        Ok(Reading { record, notes: of_record, .. }) => {
            notes.extend(of_record);
            return deploy(app, Post { integration_id: endpoint.id, record }, notes).await;
        }
        Err(mistakes) => mistakes,
    };
    if takes_events {
        return custom_event(app, endpoint.id, &body.text, notes).await;
    }
    Ok(Done::Refused(reply::mistakes(&mistakes)))
}

async fn deploy(app: &App, post: Post, notes: Vec<String>) -> Result<Done, Rejection> {
    let span = spans::deploy();
    let recorded = span.instrument(app.deploys.record(post)).await;
    match &recorded {
        Ok(outcome) => span.set("rollcall.deploy.result", outcome.result()),
        Err(_) => span.fail("failed"),
    }
    match recorded {
        Ok(outcome) => Ok(Done::Deploy(outcome, notes)),
        Err(Failure::EndpointGone) => Ok(Done::Refused(no_endpoint("deploy endpoint"))),
        Err(Failure::Unavailable(reason)) => Err(Rejection::Unavailable(reason)),
        Err(Failure::Internal(cause)) => Err(Rejection::Internal(cause)),
    }
}

async fn custom_event(app: &App, endpoint: i64, text: &str, mut notes: Vec<String>) -> Result<Done, Rejection> {
    let payload = match event::payload(text) {
        Ok((payload, mended)) => {
            notes.extend(mended);
            payload
        }
        Err(mistake) => return Ok(Done::Refused(reply::mistakes(&[mistake]))),
    };
    match event::record(&app.db, endpoint, payload).await {
        Ok(true) => {
            // It is stored. What fails now, a background task does again.
            if let Err(error) = graphql::standards::check::judge_events(&app.db, Some(endpoint)).await {
                tracing::warn!(%error, "a custom event is stored, and could not be evaluated yet");
            }
            Ok(Done::Event(notes))
        }
        Ok(false) => Ok(Done::Refused(no_endpoint("deploy endpoint"))),
        Err(error) => Err(Rejection::of_database(&error)),
    }
}

/// Reads the body, decompressed. What compresses it is seen in its first bytes, if the header and the body differ: a proxy
/// may have changed only one of them.
async fn receive(
    app: &App,
    call: &Call,
    body: &mut Upload,
    longest: usize,
    notes: &mut Vec<String>,
) -> Result<Bytes, Rejection> {
    let coding = Coding::from_headers(&call.parts.headers)?;
    let body = app.bodies.read(body, call.owner, longest, app.edge.body_timeout).await?;
    let (named, seen) = (coding.map(Coding::name), Coding::seen(&body));
    let coding = match (coding, seen) {
        (None, None) => return Ok(body),
        (Some(_), None) if is_text(&body) => {
            let named = named.unwrap_or_default();
            notes.push(format!("Content-Encoding is {named}, but the body is not compressed; it is read as it is"));
            return Ok(body);
        }
        (Some(named), None) => named,
        (_, Some(seen)) => seen,
    };
    if named != Some(coding.name()) {
        let said = named.unwrap_or("absent");
        notes.push(format!("Content-Encoding is {said}, but the body is {}; it is read as that", coding.name()));
    }
    app.bodies.expand(&body, coding, call.owner, longest).await
}

/// Whether a body is JSON as it is. Nearly nothing that is compressed begins like this, and none of it is UTF-8.
fn is_text(body: &[u8]) -> bool {
    body.trim_ascii_start().first().is_some_and(|first| b"{[\"".contains(first)) && str::from_utf8(body).is_ok()
}

/// The JSON of a post.
struct Json<'b> {
    text: Cow<'b, str>,
    /// Whether bytes were replaced that are no characters.
    is_lossy: bool,
}

/// Reads the text of a body. JSON is known by its first character: many senders have the wrong `Content-Type`, or none.
fn read<'b>(call: &Call, body: &'b [u8], notes: &mut Vec<String>) -> Result<Json<'b>, Rejection> {
    let kind = ContentType::from_headers(&call.parts.headers);
    let charset::Decoded { text, is_lossy, note } = charset::decode(&kind, body)?;
    notes.extend(note);
    if kind.is_json() {
        return Ok(Json { text, is_lossy });
    }
    let form = "application/x-www-form-urlencoded";
    let is_json = |text: &str| text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[', '"', '\'']);
    let text = match is_json(&text) {
        true => text,
        false if kind.media == form => {
            let fields = parse(text.as_bytes()).flat_map(|(name, value)| [value, name]);
            let json = fields.map(Cow::into_owned).find(|text| is_json(text));
            json.map(Cow::Owned).ok_or_else(|| Rejection::Unsupported(body::not_json(&kind)))?
        }
        false => return Err(Rejection::Unsupported(body::not_json(&kind))),
    };
    notes.push(match &*kind.media {
        "" => "there is no Content-Type; the body is read as application/json".to_owned(),
        media => format!("Content-Type is {}; the body is read as application/json", shown(media)),
    });
    Ok(Json { text, is_lossy })
}
