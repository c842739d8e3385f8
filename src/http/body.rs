//! Reads request bodies within limits on size, time and media type.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body, Incoming};
use hyper::header::{self, HeaderMap};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::limits::Key;
use super::reply::Rejection;
use crate::shares::{Bounds, Hold, Shares};

/// How much of an unwanted body is read, so that its sender gets to read the response.
pub const DISCARDED_BYTES: usize = 4 * 1024 * 1024;

/// How long an unwanted body is read.
pub const DISCARD_TIME: Duration = Duration::from_secs(1);

/// The maximum number of bodies discarded concurrently. Anyone can cause that, without a token.
pub const DISCARDED: usize = 256;

/// Checks that the request declares an uncompressed JSON body.
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

/// Checks that the request declares a URL-encoded form, the default of HTML forms.
pub fn check_is_form(headers: &HeaderMap) -> Result<(), Rejection> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") { Ok(()) } else { Err(Rejection::NotForm) }
}

/// Limits on the bytes of bodies being read, in total and per caller, and on the bytes waiting for their turn.
pub const BOUNDS: Bounds = Bounds {
    most: 64 * 1024 * 1024,
    share: 16 * 1024 * 1024,
    waiting: 16 * 1024 * 1024,
    waiting_share: 4 * 1024 * 1024,
};

/// Bodies are accounted in pieces of this many bytes: the largest frame that HTTP/2 sends by default.
const PIECE: usize = 16 * 1024;

/// How long a body waits for its turn.
pub const TURN: Duration = Duration::from_secs(5);

/// The request bodies being read by the process.
#[derive(Debug)]
pub struct Bodies {
    read: Arc<Shares<Key>>,
    discarded: Semaphore,
}

impl Default for Bodies {
    fn default() -> Self {
        Self { read: Shares::new(BOUNDS), discarded: Semaphore::new(DISCARDED) }
    }
}

impl Bodies {
    /// Reads a whole body of at most `limit` bytes, charged to `owner`, within `timeout`.
    pub async fn read(
        &self,
        body: &mut Incoming,
        owner: Key,
        limit: usize,
        timeout: Duration,
    ) -> Result<Bytes, Rejection> {
        if body.size_hint().lower() > limit as u64 {
            return Err(Rejection::BodyTooLarge(limit));
        }
        let read = tokio::time::timeout(timeout, self.read_all(body, owner, limit)).await;
        read.unwrap_or(Err(Rejection::BodyTimeout))
    }

    async fn read_all(&self, body: &mut Incoming, owner: Key, limit: usize) -> Result<Bytes, Rejection> {
        let (mut whole, mut room) = (Vec::new(), 0);
        let mut hold: Option<Hold<Key>> = None;
        while let Some(frame) = body.frame().await {
            // Other frames are trailers.
            let Ok(data) = frame.map_err(|error| broken(&error))?.into_data() else { continue };
            if whole.len() + data.len() > limit {
                return Err(Rejection::BodyTooLarge(limit));
            }
            if whole.is_empty() && body.is_end_stream() {
                return Ok(data);
            }
            if whole.len() + data.len() > room {
                let piece = data.len().max(PIECE);
                let more = self.read.take(owner, piece, Instant::now() + TURN).await;
                let more =
                    more.ok_or(Rejection::Unavailable("Too many large requests are being read. Try again soon."))?;
                match &mut hold {
                    Some(hold) => hold.join(more),
                    None => hold = Some(more),
                }
                room = whole.len() + piece;
                whole.reserve(piece);
            }
            whole.extend_from_slice(&data);
        }
        Ok(whole.into())
    }

    /// Reads and drops the rest of a body, within limits. Closing a connection while the peer still sends would reset
    /// it, and the peer would lose the response.
    pub async fn discard(&self, headers: &HeaderMap, body: Incoming) {
        if body.is_end_stream() || headers.contains_key(header::EXPECT) {
            return;
        }
        let Ok(_place) = self.discarded.try_acquire() else { return };
        let mut body = Limited::new(body, DISCARDED_BYTES);
        let all = async { while let Some(Ok(_)) = body.frame().await {} };
        // Complete or not, the response comes next.
        let _ = tokio::time::timeout(DISCARD_TIME, all).await;
    }
}

/// Why a body ended too early.
fn broken(error: &hyper::Error) -> Rejection {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    let is_malformed = matches!(cause, Some(io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData));
    Rejection::BadRequest(match is_malformed {
        true => "A chunk of the request's body is malformed.".to_owned(),
        false => "The body of the request ended early.".to_owned(),
    })
}
