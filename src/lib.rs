//! rollcall: a self-hosted service catalogue.
//!
//! What it knows and does is the crate `catalogue`; its pages are the crate `app`. Their modules have their names here too.
//! Around them, here: HTTP, SCIM, the command line and the settings.
//!
//! Invariant: the folders depend on each other in one direction, without a circle: `http` on `app`, both on `catalogue`.
//! Nothing imports `cli`. `tests/it/project/tidy.rs` checks both.

pub use ::app;
pub use app::group_mapping;
pub use catalogue::{
    api_document, background, budget, db, deploy, engine, entity, error, evaluation, events, graphql, json_schema,
    new_file, outgoing, retention, service_file, shares, spans,
};

pub mod cli;
pub mod config;
pub mod demo;
pub mod generate;
pub mod http;
pub mod log;
pub mod mcp;
pub mod schema_diff;
pub mod scim;
pub mod transfer;
