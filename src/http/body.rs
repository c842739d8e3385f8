//! Reads bodies, as long as they are short, quick and of the right kind.

use std::time::Duration;

use bytes::{Buf, Bytes};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use hyper::header::{self, HeaderMap};

use super::reply::Rejection;

/// What is read of a body that nobody wants, so that its sender gets to read the answer.
const DISCARDED_BYTES: usize = 4 * 1024 * 1024;

/// How long that may take.
const DISCARD_TIME: Duration = Duration::from_secs(1);

/// Checks that a request says that its body is JSON, not compressed.
pub fn check_is_json(headers: &HeaderMap) -> Result<(), Rejection> {
    let value = |name| headers.get(name).map_or(Ok(""), |value| value.to_str());
    let (Ok(kind), Ok(coding)) = (value(header::CONTENT_TYPE), value(header::CONTENT_ENCODING)) else {
        return Err(Rejection::NotJson);
    };
    let mut parts = kind.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
    let is_utf8 = parts.all(|parameter| match parameter.split_once('=') {
        Some((name, value)) if name.eq_ignore_ascii_case("charset") => {
            let value = value.trim_matches('"');
            value.eq_ignore_ascii_case("utf-8") || value.eq_ignore_ascii_case("utf8")
        }
        _ => true,
    });
    let is_plain = coding.is_empty() || coding.eq_ignore_ascii_case("identity");
    if is_json && is_utf8 && is_plain { Ok(()) } else { Err(Rejection::NotJson) }
}

/// Checks that a request says that its body is a form's, as HTML sends it by default.
pub fn check_is_form(headers: &HeaderMap) -> Result<(), Rejection> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") { Ok(()) } else { Err(Rejection::NotForm) }
}

/// The whole body, of at most `limit` bytes, unless it takes longer than `timeout`.
pub async fn read(body: &mut Incoming, limit: usize, timeout: Duration) -> Result<Bytes, Rejection> {
    if body.size_hint().lower() > limit as u64 {
        return Err(Rejection::BodyTooLarge(limit));
    }
    match tokio::time::timeout(timeout, Limited::new(body, limit).collect()).await {
        Ok(Ok(body)) => {
            let mut body = body.aggregate();
            Ok(body.copy_to_bytes(body.remaining()))
        }
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Rejection::BodyTooLarge(limit)),
        Ok(Err(_)) => Err(Rejection::BadRequest("The body of the request ended early.".to_owned())),
        Err(_) => Err(Rejection::BodyTimeout),
    }
}

/// Reads and forgets what is left of a body, within bounds. A connection that is closed while its peer still sends is
/// reset, and the answer with it.
pub async fn discard(headers: &HeaderMap, body: Incoming) {
    if body.is_end_stream() || headers.contains_key(header::EXPECT) {
        return;
    }
    let mut body = Limited::new(body, DISCARDED_BYTES);
    let all = async { while let Some(Ok(_)) = body.frame().await {} };
    // Late or not, the answer is next.
    let _ = tokio::time::timeout(DISCARD_TIME, all).await;
}
