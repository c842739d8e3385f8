//! What the pages ask our own API. Each `.graphql` file here holds the operations of the page of the same name;
//! `parts.graphql` holds fragments for all of them. Every file can use the fragments of the others.
//!
//! The build checks the operations against the SDL and writes their Rust types: a struct of an operation's variables,
//! named like the operation, and a module with the types of its answer. [`ask`](super::ask::ask) sends an operation.
//! The compiler warns of a selected field that no page reads ("field is never read").

pub mod types;

include!(concat!(env!("OUT_DIR"), "/operations.rs"));
