//! `GET /public/schema.graphql`: the schema as it is written, byte for byte.

use std::sync::LazyLock;

use hyper::header::{self, HeaderMap, HeaderValue};

use crate::graphql::SDL;
use crate::http::Call;
use crate::http::reply::{self, Reply};

static TAG: LazyLock<HeaderValue> = LazyLock::new(|| reply::entity_tag(SDL.as_bytes()));

/// The file, or 304 for a caller who has it.
pub fn answer(call: &Call) -> Reply {
    if has(&call.parts.headers, &TAG) { reply::not_modified(&TAG) } else { reply::file(SDL, &TAG) }
}

/// Whether `If-None-Match` names the tag (RFC 9110, section 13.1.2).
fn has(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let lines = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
    let mut tags = lines.flat_map(|line| line.split(',')).map(str::trim);
    tags.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known).as_bytes() == tag.as_bytes())
}
