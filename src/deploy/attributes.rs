//! Reads the attributes of a JSON object one by one, and collects their mistakes in that order.

use serde_json::{Map, Value};

use crate::entity::{Timestamp, text};

/// A mistake in a post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// `<Field> Error`.
    pub title: String,
    /// One sentence.
    pub detail: String,
}

impl Mistake {
    /// A mistake about the attribute at a path: `commit.committer_name` becomes `Commit committer name Error`.
    pub(super) fn about(path: &str, detail: String) -> Self {
        let mut field = path.replace(['_', '.'], " ");
        if let Some(first) = field.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        Self { title: format!("{field} Error"), detail }
    }
}

/// An object whose attributes are being read.
pub(super) struct Attributes<'a> {
    object: &'a Map<String, Value>,
    /// The name of the attribute that holds this object.
    within: Option<&'static str>,
    mistakes: &'a mut Vec<Mistake>,
}

impl<'a> Attributes<'a> {
    pub(super) fn new(object: &'a Map<String, Value>, mistakes: &'a mut Vec<Mistake>) -> Self {
        Self { object, within: None, mistakes }
    }

    /// Reads a text of at most `most` characters.
    pub(super) fn text(&mut self, name: &str, most: usize) -> Option<String> {
        let text = self.string(name)?;
        match text::fault(text, most) {
            None => Some(text.to_owned()),
            Some(fault) => {
                self.mistake(name, |path| format!("{path} {fault}"));
                None
            }
        }
    }

    /// Reads a required text.
    pub(super) fn required_text(&mut self, name: &str, most: usize) -> Option<String> {
        self.require(name);
        self.text(name, most)
    }

    /// Reads a date and time.
    pub(super) fn moment(&mut self, name: &str) -> Option<Timestamp> {
        match self.string(name)?.parse::<Timestamp>() {
            Ok(moment) => Some(moment),
            Err(error) => {
                self.mistake(name, |path| format!("{path} is {error}"));
                None
            }
        }
    }

    /// Reads a required date and time.
    pub(super) fn required_moment(&mut self, name: &str) -> Option<Timestamp> {
        self.require(name);
        self.moment(name)
    }

    /// Reads an object. An empty one counts as absent.
    pub(super) fn object(&mut self, name: &'static str) -> Option<Attributes<'_>> {
        match self.given(name)? {
            Value::Object(object) if object.is_empty() => None,
            Value::Object(object) => Some(Attributes { object, within: Some(name), mistakes: self.mistakes }),
            other => {
                self.wrong_type(name, "an object", other);
                None
            }
        }
    }

    /// Reads a required object with at least one of these attributes.
    pub(super) fn required_object(&mut self, name: &'static str, one_of: &[&str]) -> Option<Attributes<'_>> {
        let lacks = match self.given(name) {
            None => true,
            Some(Value::Object(object)) => one_of.iter().all(|inner| object.get(*inner).is_none_or(is_nothing)),
            Some(_) => false,
        };
        if lacks {
            self.missing(name);
        }
        self.object(name)
    }

    fn require(&mut self, name: &str) {
        if self.given(name).is_none() {
            self.missing(name);
        }
    }

    /// Reports a missing attribute, in the words that existing clients of the webhook expect.
    fn missing(&mut self, name: &str) {
        self.mistake(name, |path| format!("param is missing or the value is empty: {path}"));
    }

    fn given(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !is_nothing(value))
    }

    fn string(&mut self, name: &str) -> Option<&'a str> {
        match self.given(name)? {
            Value::String(text) => Some(text),
            other => {
                self.wrong_type(name, "a string", other);
                None
            }
        }
    }

    fn wrong_type(&mut self, name: &str, expected: &str, found: &Value) {
        let found = type_of(found);
        self.mistake(name, |path| format!("{path} must be {expected}, not {found}"));
    }

    fn mistake(&mut self, name: &str, detail: impl FnOnce(&str) -> String) {
        let path = self.within.map_or_else(|| name.to_owned(), |object| format!("{object}.{name}"));
        self.mistakes.push(Mistake::about(&path, detail(&path)));
    }
}

/// Whether a value counts as absent: null or blank text.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// The type of a JSON value, with its article.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
