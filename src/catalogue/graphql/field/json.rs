//! JSON in the API: the scalars `JSON`, `JSONSchema` and `JsonString`.

use async_graphql::Value;
use serde::de::IgnoredAny;

use crate::engine::input::{Input, InputError};
use crate::engine::write::{Scalar, Writer};

/// JSON text. An input gives it as an object, or as text in a string. The mutation must check that the text is JSON and
/// not too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json(pub String);

impl Scalar for Json {
    fn write(&self, out: &mut Writer<'_>) {
        // The text may be invalid: an import does not check it.
        match serde_json::from_str::<IgnoredAny>(&self.0) {
            Ok(_) => out.raw(&self.0),
            Err(_) => out.null(),
        }
    }
}

impl Input for Json {
    fn read(value: &Value) -> Result<Self, InputError> {
        let unreadable = |_| InputError::new("expected a JSON object, or JSON text in a string");
        match value {
            Value::String(text) => Ok(Self(text.clone())),
            Value::Object(_) => serde_json::to_string(value).map(Self).map_err(unreadable),
            _ => Err(InputError::new("expected a JSON object, or JSON text in a string")),
        }
    }
}

/// JSON text in a string. The mutation must check that it is JSON and not too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonText(pub String);

impl Scalar for JsonText {
    fn write(&self, out: &mut Writer<'_>) {
        out.string(&self.0);
    }
}

impl Input for JsonText {
    fn read(value: &Value) -> Result<Self, InputError> {
        match value {
            Value::String(text) => Ok(Self(text.clone())),
            _ => Err(InputError::new("expected JSON text in a string")),
        }
    }
}
