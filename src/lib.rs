//! rollcall: a self-hosted service catalogue.
//!
//! Invariant: the folders depend on each other in one direction, without a circle: `http` on `app` and `graphql`, these
//! on `entity`, that on `db`. Nothing imports `cli`. `tests/it/project/tidy.rs` checks both.

extern crate self as rollcall;

pub use ::engine::{self, budget, error};

pub mod api_document;
pub mod app;
mod background;
pub mod cli;
pub mod config;
pub mod db;
pub mod demo;
pub mod deploy;
pub mod entity;
pub mod evaluation;
pub mod events;
pub mod generate;
pub mod graphql;
pub mod group_mapping;
pub mod http;
pub mod json_schema;
pub mod log;
pub mod mcp;
pub mod new_file;
pub mod outgoing;
pub mod retention;
pub mod schema_diff;
pub mod scim;
pub mod service_file;
pub mod shares;
pub mod spans;
pub mod transfer;
