//! The engine: runs GraphQL requests over the types that the build generates from an SDL.
//!
//! Invariants: it knows no type and no table of the catalogue; what resolvers share is a [`State`] of any type. No file
//! depends on one that depends on it.
//!
//! The files are listed in the order of a request. [`document`] turns a text into a [`plan`]: [`lexical`] and
//! [`literals`] see the text before the parser, [`validate`] has the rules that the parser lacks, [`cost`] and
//! [`estimate`] bound it, and [`advice`] says what a refused request should say instead. [`input`] reads values.
//! [`run`] executes the plan and writes the response, within its [`budget`]. Generated code implements the traits of
//! [`object`], describes its types in [`tables`], and calls nothing but [`generated`]. [`selected`] reads the answers
//! to the pages' operations.

// What a request may use.
pub mod budget;

// Errors, their locations and advice.
mod advice;
pub mod error;
pub mod faults;
mod lines;
pub mod request_error;
pub mod sdl;

// The text: tokens, literals, values.
mod argument_path;
pub mod input;
mod lexical;
mod literals;

// Validation and cost.
pub mod cost;
mod estimate;
mod sizing;
pub mod tables;
mod validate;

// Documents and plans.
pub mod document;
pub mod plan;

// Execution.
mod excess;
pub mod execute;
pub mod generated;
pub mod introspection;
pub mod object;
pub mod page;
mod room;
pub mod run;
pub mod selected;
pub mod shape;
mod state;
pub mod write;

pub use document::{Documents, Prepared};
pub use execute::{Answer, Answers};
pub use input::{Arguments, Boxed};
pub use object::{Context, Object};
pub use request_error::{errors_json, request_error};
pub use run::{Response, run};
pub use state::{BoxFuture, Relation, State, ValidSchema};
pub use tables::{Cost, FieldInfo, FieldKind, ObjectInfo, Scope, Size};
