//! GraphQL errors: creates and serialises them.

use async_graphql::{Pos, ServerError};

use crate::error::Code;

/// Creates a top-level error about the whole request.
pub fn request_error(message: impl Into<String>, locations: Vec<Pos>, code: Code) -> ServerError {
    let mut extensions = async_graphql::ErrorExtensionValues::default();
    extensions.set("code", code.as_str());
    ServerError { message: message.into(), source: None, locations, path: Vec::new(), extensions: Some(extensions) }
}

/// The list of errors as JSON text.
pub fn errors_json(errors: &[ServerError]) -> Vec<u8> {
    serde_json::to_vec(errors).unwrap_or_else(|_| b"[]".to_vec())
}
