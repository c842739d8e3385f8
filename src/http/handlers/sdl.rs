//! `GET /public/schema.graphql`: the schema file, byte for byte.

use std::sync::LazyLock;

use hyper::header::HeaderValue;

use crate::graphql::SDL;
use crate::http::reply::{self, Reply};

static TAG: LazyLock<HeaderValue> = LazyLock::new(|| reply::entity_tag(SDL.as_bytes()));

/// Returns the file.
pub fn answer() -> Reply {
    reply::file(SDL, &TAG)
}
