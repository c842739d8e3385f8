//! `GET /llms.txt`: what is where, for language models (llmstxt.org).

use std::sync::LazyLock;

use hyper::header::HeaderValue;

use crate::http::reply::{self, Reply};

static TEXT: &str = include_str!("llms.txt");

static TAG: LazyLock<HeaderValue> = LazyLock::new(|| reply::entity_tag(TEXT.as_bytes()));

/// Returns the file.
pub fn answer() -> Reply {
    reply::file(TEXT, &TAG)
}
