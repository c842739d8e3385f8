//! Tests through the front door, all in one binary.

mod app;
mod command_line;
mod codegen_fixtures;
mod executor;
mod graphql_over_http;
mod http;
mod library;
mod limits;
