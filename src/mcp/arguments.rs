//! The arguments of a call: read, and refused with what was expected.

use rmcp::model::JsonObject;
use serde_json::Value as Json;
use spelling::nearest;

use crate::error::quoted;

/// An argument: its name, its JSON type, whether it is required, and what it means.
pub(super) type Argument = (&'static str, &'static str, bool, &'static str);

/// The longest argument but a document, in bytes.
pub(super) const ARGUMENT: usize = 255;

/// The arguments of a call.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'c>(&'c JsonObject);

impl<'c> Arguments<'c> {
    /// Takes the arguments of a tool. The error names the argument, what was expected, and the nearest name.
    pub(super) fn read(tool: &str, arguments: &[Argument], given: &'c JsonObject) -> Result<Self, String> {
        let known = |name: &str| arguments.iter().any(|one| one.0 == name);
        if let Some(name) = given.keys().find(|name| !known(name)) {
            let names: Vec<&str> = arguments.iter().map(|one| one.0).collect();
            let near = near(name, names.iter().copied());
            return Err(format!(
                "{tool} has no argument {}{near}; its arguments are {}",
                quoted(name),
                names.join(", ")
            ));
        }
        for (name, kind, is_required, means) in arguments {
            match given.get(*name) {
                None | Some(Json::Null) if *is_required => {
                    return Err(format!("{name} is required, a JSON {kind}: {means}"));
                }
                None | Some(Json::Null) => {}
                Some(value) if is_a(value, kind) => {}
                Some(value) => {
                    let article = if kind.starts_with(['i', 'o']) { "an" } else { "a" };
                    return Err(format!("{name} must be {article} {kind}, not {}: {means}", json_kind(value)));
                }
            }
        }
        Ok(Self(given))
    }

    /// The value as it is.
    pub(super) fn get(self, name: &str) -> Option<&'c Json> {
        self.0.get(name)
    }

    /// A text of at most `most` bytes, without the blanks around it. `None` if it is blank.
    pub(super) fn text(self, name: &str, most: usize) -> Result<Option<&'c str>, String> {
        match self.0.get(name).and_then(Json::as_str) {
            Some(text) if text.len() > most => Err(format!("{name} is longer than {most} bytes")),
            text => Ok(text.map(str::trim).filter(|text| !text.is_empty())),
        }
    }

    /// A text that must be given.
    pub(super) fn required(self, name: &str, most: usize) -> Result<&'c str, String> {
        self.text(name, most)?.ok_or_else(|| format!("{name} is required, and must not be blank"))
    }
}

/// Whether a value is of a type of JSON Schema.
fn is_a(value: &Json, kind: &str) -> bool {
    match kind {
        "integer" => value.is_i64() || value.is_u64(),
        "object" => value.is_object(),
        _ => value.is_string(),
    }
}

/// What a value is, in JSON's words.
fn json_kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    }
}

/// Names the nearest of some names in the middle of a sentence, if one is near.
pub(super) fn near<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> String {
    nearest(name, names).map(|near| format!("; the nearest is {near}")).unwrap_or_default()
}

/// The refusal of an argument that is none of a few words.
pub(super) fn none_of(name: &str, word: &str, words: &[&str]) -> String {
    format!("{name} must be one of {}, not {}{}", words.join(", "), quoted(word), near(word, words.iter().copied()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TAKEN: [Argument; 3] = [
        ("service", "string", true, "A service"),
        ("hours", "integer", false, "How far"),
        ("variables", "object", false, "The variables"),
    ];

    #[test]
    fn a_wrong_argument_is_named_with_what_was_expected() {
        for (given, said) in [
            (
                json!({ "servce": "x" }),
                "t has no argument \"servce\"; the nearest is service; its arguments are service, hours, variables",
            ),
            (
                json!({ "service": "x", "colour": 1 }),
                "t has no argument \"colour\"; its arguments are service, hours, variables",
            ),
            (json!({}), "service is required, a JSON string: A service"),
            (json!({ "service": null }), "service is required, a JSON string: A service"),
            (json!({ "service": 7 }), "service must be a string, not a number: A service"),
            (json!({ "service": ["x"] }), "service must be a string, not an array: A service"),
            (json!({ "service": "x", "hours": "7" }), "hours must be an integer, not a string: How far"),
            (json!({ "service": "x", "hours": 1.5 }), "hours must be an integer, not a number: How far"),
            (json!({ "service": "x", "variables": [] }), "variables must be an object, not an array: The variables"),
        ] {
            let given = given.as_object().expect("an object");
            assert_eq!(Arguments::read("t", &TAKEN, given).err().as_deref(), Some(said));
        }
        let given = json!({ "service": "  ", "hours": null, "variables": {} });
        let given = Arguments::read("t", &TAKEN, given.as_object().expect("an object")).expect("arguments");
        assert_eq!(given.required("service", 9), Err("service is required, and must not be blank".to_owned()));
        assert_eq!(given.text("variables", 9), Ok(None));
    }
}
