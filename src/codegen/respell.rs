//! Rewrites the SDL for graphql-parser.
//!
//! graphql-parser refuses some of what the specification allows: `extend schema`, a description on `schema`, an
//! interface extended by `implements` alone, `1e09`, integers over 64 bits, `\u{…}`. It misreads `\b`, and block
//! strings with non-ASCII indentation, on which it may panic. apollo-compiler's syntax tree gives the location and
//! meaning of these places. `schema` definitions are blanked out, and strings and unusual numbers are rewritten in a
//! form that is read correctly. Line numbers are kept.

use std::ops::Range;

use apollo_compiler::{
    Node,
    ast::{Definition, Directive, Document, InputValueDefinition, Value},
    parser::SourceSpan,
};

use super::syntax::parts;

/// Rewrites `text`, whose syntax tree is `document`, for graphql-parser.
pub(super) fn respell(text: &str, document: &Document) -> String {
    let mut respelling = Respelling(Vec::new());
    document.definitions.iter().for_each(|definition| respelling.definition(definition));
    respelling.apply(text)
}

/// Byte ranges and their replacements.
struct Respelling(Vec<(Range<usize>, String)>);

impl Respelling {
    fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| range.start);
        let mut copy = String::with_capacity(text.len());
        let mut copied = 0;
        for (range, spelling) in self.0 {
            let (Some(before), Some(original)) = (text.get(copied..range.start), text.get(range.clone())) else {
                continue;
            };
            copy.push_str(before);
            copy.push_str(&spelling);
            copy.extend(original.chars().filter(|c| *c == '\n'));
            copied = range.end;
        }
        copy.push_str(&text[copied..]);
        // graphql-parser counts CRLF at the end of a comment as two lines.
        copy.replace("\r\n", "\n")
    }

    fn push(&mut self, location: Option<SourceSpan>, spelling: String) {
        if let Some(span) = location {
            self.0.push((span.offset()..span.end_offset(), spelling));
        }
    }

    fn definition(&mut self, definition: &Definition) {
        match definition {
            Definition::SchemaDefinition(_) | Definition::SchemaExtension(_) => {
                self.push(definition.location(), " ".to_owned());
            }
            Definition::InterfaceTypeExtension(bare) if bare.directives.is_empty() && bare.fields.is_empty() => {
                self.insert(definition.location(), " @_");
            }
            _ => {}
        }
        let parts = parts(definition);
        self.description(parts.description);
        self.directives(parts.directives);
        self.input_values(parts.inputs);
        for field in parts.fields {
            self.description(field.description.as_ref());
            self.input_values(&field.arguments);
            self.directives(&field.directives);
        }
        for value in parts.values {
            self.description(value.description.as_ref());
            self.directives(&value.directives);
        }
    }

    /// Inserts text after a definition.
    fn insert(&mut self, location: Option<SourceSpan>, addition: &str) {
        if let Some(span) = location {
            self.0.push((span.end_offset()..span.end_offset(), addition.to_owned()));
        }
    }

    fn input_values(&mut self, values: &[Node<InputValueDefinition>]) {
        for value in values {
            self.description(value.description.as_ref());
            if let Some(default) = &value.default_value {
                self.value(default);
            }
            self.directives(&value.directives);
        }
    }

    fn directives(&mut self, directives: &[Node<Directive>]) {
        for argument in directives.iter().flat_map(|directive| &directive.arguments) {
            self.value(&argument.value);
        }
    }

    fn description(&mut self, description: Option<&Node<str>>) {
        if let Some(description) = description {
            self.push(description.location(), quoted(description.as_str()));
        }
    }

    /// The recursion is bounded: apollo-compiler has refused deep nesting.
    fn value(&mut self, value: &Node<Value>) {
        match &**value {
            Value::String(string) => self.push(value.location(), quoted(string)),
            Value::Float(float) => self.push(value.location(), decimal(float.try_to_f64().unwrap_or_default())),
            Value::Int(int) if int.as_str().parse::<i64>().is_err() => {
                self.push(value.location(), decimal(int.try_to_f64().unwrap_or_default()));
            }
            Value::List(values) => values.iter().for_each(|value| self.value(value)),
            Value::Object(fields) => fields.iter().for_each(|(_, value)| self.value(value)),
            Value::Int(_) | Value::Boolean(_) | Value::Null | Value::Enum(_) | Value::Variable(_) => {}
        }
    }
}

/// A quoted string with the three escapes that are necessary.
fn quoted(string: &str) -> String {
    format!("\"{}\"", string.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// A number without an exponent.
fn decimal(float: f64) -> String {
    let digits = float.to_string();
    if digits.contains('.') { digits } else { digits + ".0" }
}
