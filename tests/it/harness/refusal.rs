//! What users are told who may change only what their teams own.

use serde_json::Value;

/// The rule that a team member is told first.
pub const NOT_OWN: &str = "you can change only your own teams and what they own";

/// The same value with the rules of its refusals alone, without whose the things are.
pub fn rules_alone(mut value: Value) -> Value {
    match &mut value {
        Value::String(text) => {
            if let Some(end) = text.find("; this would change ") {
                text.truncate(end);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = rules_alone(item.take())),
        Value::Object(fields) => fields.values_mut().for_each(|field| *field = rules_alone(field.take())),
        _ => {}
    }
    value
}
