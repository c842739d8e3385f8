//! Request handlers: one file for each resource of the service.
//!
//! Invariant: no handler builds a response; [`reply`] does, so that none lacks a header.

use hyper::StatusCode;

use super::reply::{self, Reply};

pub mod app;
pub mod badge;
pub mod deploy;
pub mod document;
mod download;
pub mod feed;
pub mod graphql;
pub mod health;
pub mod llms;
pub mod mcp;
pub mod scim;
pub mod sdl;

/// The response for the URL of a webhook without an endpoint, the same for every such URL. `kind` is what it would be.
fn no_endpoint(kind: &str) -> Reply {
    let detail = format!(
        "There is no {kind} at this URL: it was deleted, the URL was copied incompletely, or it belongs to another database."
    );
    reply::refused(StatusCode::NOT_FOUND, "Not Found", detail)
}
