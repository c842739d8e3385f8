//! The project itself. Always tested here: that the engine and the generator do as graphql-js does, and that the code
//! keeps its rules, and the documents say what is so.

mod codegen_fixtures;
mod documentation;
mod executor;
mod graphql_js_validation;
mod introspection;
mod library;
mod published_limits;
mod readme;
mod schema_diff;
mod specification;
mod tidy;
