//! Reads request bodies within limits on size, time and media type.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Body;
use hyper::header::{self, HeaderMap};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::charset::{ContentType, shown};
use super::expand::Coding;
use super::limits::Key;
use super::reply::Rejection;
use super::upload::Upload;
use crate::shares::{Bounds, Hold, Shares};

/// How much of an unwanted body is read, so that its sender gets to read the response.
pub const DISCARDED_BYTES: usize = 4 * 1024 * 1024;

/// How long an unwanted body is read.
pub const DISCARD_TIME: Duration = Duration::from_secs(1);

/// The maximum number of bodies discarded concurrently. Anyone can cause that, without a token.
pub const DISCARDED: usize = 256;

/// Checks that the request declares a JSON body in UTF-8.
pub fn check_is_json(headers: &HeaderMap) -> Result<(), Rejection> {
    let kind = ContentType::from_headers(headers);
    if kind.media != "application/json" {
        return Err(Rejection::Unsupported(not_json(&kind)));
    }
    if !kind.is_utf8() {
        let charset = shown(kind.charset.unwrap_or_default());
        return Err(Rejection::Unsupported(format!(
            "The body must be UTF-8, which JSON always is: the charset of Content-Type is {charset}."
        )));
    }
    Ok(())
}

/// Says that a body is not declared as JSON.
pub fn not_json(kind: &ContentType<'_>) -> String {
    let must = "The body must be JSON, with Content-Type: application/json";
    match &*kind.media {
        "" => format!("{must}. The request has no Content-Type."),
        media => format!("{must}, not {}.", shown(media)),
    }
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

const TOO_MANY: &str = "Too many large requests are being read. Try again soon.";

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
        body: &mut Upload,
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

    /// The same for a body that may be compressed, as `coding` says. The limit holds for it decompressed, too.
    pub async fn read_packed(
        &self,
        body: &mut Upload,
        coding: Option<Coding>,
        owner: Key,
        limit: usize,
        timeout: Duration,
    ) -> Result<Bytes, Rejection> {
        let body = self.read(body, owner, limit, timeout).await?;
        match coding {
            None => Ok(body),
            Some(coding) => self.expand(&body, coding, owner, limit).await,
        }
    }

    /// Decompresses a body of at most `limit` bytes, charged to `owner`.
    pub async fn expand(&self, body: &[u8], coding: Coding, owner: Key, limit: usize) -> Result<Bytes, Rejection> {
        let hold = self.read.take(owner, limit, Instant::now() + TURN).await;
        let _hold = hold.ok_or(Rejection::Unavailable(TOO_MANY))?;
        coding.expand(body, limit)
    }

    async fn read_all(&self, body: &mut Upload, owner: Key, limit: usize) -> Result<Bytes, Rejection> {
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
                let more = more.ok_or(Rejection::Unavailable(TOO_MANY))?;
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
    pub async fn discard(&self, headers: &HeaderMap, body: Upload) {
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
