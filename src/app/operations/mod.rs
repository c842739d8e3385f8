//! The GraphQL operations of the pages. Each `.graphql` file here holds the operations of the page with the same name;
//! `parts.graphql` holds shared fragments. Every file can use the fragments of the others.
//!
//! The build validates the operations against the SDL and generates their Rust types: a struct of the operation's
//! variables, named like the operation, and a module with the types of its response. [`ask`](super::ask::ask) runs an
//! operation. The compiler warns about a selected field that no page reads ("field is never read").

pub mod types;

include!(concat!(env!("OUT_DIR"), "/operations.rs"));
