//! The catalogue: what rollcall knows, and its GraphQL API. Every surface of the program stands on it.
//!
//! Invariant: nothing here knows pages, HTTP or settings: those are in the crates `app` and `rollcall`, above. The
//! folders depend on each other in one direction, without a circle: `graphql` on `service_file` and `deploy`, these on
//! `entity`, that on `db`. `tests/it/project/tidy.rs` checks it.
//!
//! The body of an `async fn` is compiled in every crate that awaits it, with all that it awaits in turn. So what other
//! crates call, and does much, gives a `BoxFuture` instead.

pub use ::engine::{self, budget, error};

pub mod api_document;
pub mod background;
pub mod db;
pub mod deploy;
pub mod entity;
pub mod evaluation;
pub mod events;
pub mod graphql;
pub mod json_schema;
pub mod new_file;
pub mod outgoing;
pub mod retention;
pub mod service_file;
pub mod shares;
pub mod spans;
