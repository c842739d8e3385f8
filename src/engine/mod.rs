//! The engine: runs GraphQL requests over the types that the build generates from an SDL. It knows no type of the catalogue
//! and no table, and is generic over the state that resolvers share.
//!
//! The files stand here in the order of a request. [`document`] checks a text and compiles it to a [`plan`]; [`run`] walks
//! the plan and writes the response. Generated code implements the traits of [`object`] and describes its types in [`tables`].

// What a request is made of, and what may be wrong with it.
pub mod faults;
mod lines;
pub mod request_error;
pub mod sdl;

// Its text: words and marks, literals, values.
mod argument_path;
pub mod input;
mod lexical;
mod literals;

// Whether it is valid, and what it costs.
pub mod cost;
mod estimate;
mod sizing;
pub mod tables;
mod validate;

// What is to be run.
pub mod document;
pub mod plan;

// Running it.
pub mod execute;
pub mod introspection;
pub mod object;
pub mod page;
pub mod run;
pub mod shape;
pub mod write;

pub use document::{Documents, Prepared};
pub use execute::{Answer, Answers, held, into_payload, level, objects, payload, scalars};
pub use input::{Arguments, Boxed};
pub use object::{
    BoxFuture, Children, Composite, Context, Execution, Node, Object, Rows, Slot, State, ValidSchema, Written,
};
pub use request_error::{errors_json, request_error};
pub use run::{Response, run};
pub use shape::AnswerShape;
pub use tables::{Cost, FieldInfo, Kind, ObjectInfo, Scope, Size};
