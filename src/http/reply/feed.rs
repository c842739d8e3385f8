//! The response with a feed.

use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{self, HeaderValue};

use super::{Reply, tag, with_body, with_tag};

/// A feed, which its reader may keep for some time.
pub fn feed(document: String, age: Duration) -> Reply {
    // Weak, because the feed may be sent with different content codings.
    let tag = tag("W/", document.as_bytes());
    let kind = HeaderValue::from_static("application/atom+xml; charset=utf-8");
    let mut reply = with_tag(with_body(StatusCode::OK, kind, document), &tag);
    let kept = HeaderValue::from_str(&format!("private, max-age={}", age.as_secs()));
    reply.headers_mut().insert(header::CACHE_CONTROL, kept.unwrap_or(HeaderValue::from_static("no-cache")));
    reply
}
