//! Default values in introspection's format, so that they can be compared: coerced to the type (`1` for `[Int]` is
//! `[1]`), with an object's missing fields filled in from their defaults, and fields in natural order. The format is
//! that of graphql-js.

use std::fmt::Write;
use std::ptr;

use apollo_compiler::ast::{InputValueDefinition, Type, Value};
use apollo_compiler::schema::{ExtendedType, InputObjectType};
use apollo_compiler::{Name, Node, Schema};

/// The text of a default. `None` if there is no default, or if it does not match its type.
pub(super) fn text(schema: &Schema, input: &InputValueDefinition) -> Option<String> {
    Coercion { schema, filling: Vec::new() }.text(input.default_value.as_ref()?, &input.ty)
}

/// Checks default values, which the validating library does not. Returns a line for each one that does not match its
/// type.
pub(super) fn check(name: &str, schema: &Schema) -> Result<(), String> {
    let mut mistakes = Vec::new();
    for input in input_values(schema) {
        if let (Some(value), None) = (&input.default_value, text(schema, input)) {
            let at = value.line_column_range(&schema.sources).map(|at| at.start);
            let at = at.map(|at| format!("{}:{}:", at.line, at.column)).unwrap_or_default();
            let (value, input, ty) = (value.serialize().no_indent(), &input.name, &input.ty);
            mistakes.push(format!("{name}:{at} the default value {value} of `{input}` does not fit its type {ty}"));
        }
    }
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes.join("\n")) }
}

fn input_values(schema: &Schema) -> impl Iterator<Item = &Node<InputValueDefinition>> {
    let of_directives = schema.directive_definitions.values().flat_map(|directive| &directive.arguments);
    let of_types = schema.types.values().flat_map(|ty| -> Box<dyn Iterator<Item = _>> {
        match ty {
            ExtendedType::Object(ty) => Box::new(ty.fields.values().flat_map(|field| &field.arguments)),
            ExtendedType::Interface(ty) => Box::new(ty.fields.values().flat_map(|field| &field.arguments)),
            ExtendedType::InputObject(ty) => Box::new(ty.fields.values().map(|field| &field.node)),
            ExtendedType::Scalar(_) | ExtendedType::Union(_) | ExtendedType::Enum(_) => Box::new([].into_iter()),
        }
    });
    of_directives.chain(of_types)
}

struct Coercion<'a> {
    schema: &'a Schema,
    /// The fields whose defaults are being filled in. A field that occurs again would recurse forever.
    filling: Vec<&'a InputValueDefinition>,
}

impl<'a> Coercion<'a> {
    /// Returns `None` if the value does not match the type.
    fn text(&mut self, value: &Value, ty: &Type) -> Option<String> {
        match (value, ty) {
            (Value::Variable(_), _) => None,
            (Value::Null, _) => (!ty.is_non_null()).then(|| "null".to_owned()),
            (Value::List(items), Type::List(of) | Type::NonNullList(of)) => {
                let items: Option<Vec<String>> = items.iter().map(|item| self.text(item, of)).collect();
                Some(format!("[{}]", items?.join(", ")))
            }
            (_, Type::List(of) | Type::NonNullList(of)) => Some(format!("[{}]", self.text(value, of)?)),
            (_, Type::Named(name) | Type::NonNullNamed(name)) => match (self.schema.types.get(name)?, value) {
                (ExtendedType::InputObject(ty), Value::Object(fields)) => self.object(ty, fields),
                (ExtendedType::Enum(ty), Value::Enum(value)) => ty.values.get(value).map(|_| value.to_string()),
                (ExtendedType::Scalar(ty), _) if ty.is_built_in() => built_in_scalar(name, value),
                (ExtendedType::Scalar(_), _) => Some(custom_scalar(value)),
                _ => None,
            },
        }
    }

    fn object(&mut self, ty: &'a InputObjectType, given: &[(Name, Node<Value>)]) -> Option<String> {
        if given.iter().any(|(name, _)| !ty.fields.contains_key(name)) {
            return None;
        }
        let mut fields = Vec::new();
        for (name, field) in &ty.fields {
            let value = match given.iter().find(|(given, _)| given == name) {
                Some((_, value)) => self.text(value, &field.ty)?,
                None => match &field.default_value {
                    Some(default) => self.filled(field, default)?,
                    None if field.ty.is_non_null() => return None,
                    None => continue,
                },
            };
            fields.push((name, value));
        }
        if ty.directives.has("oneOf") && !matches!(&fields[..], [(_, value)] if value != "null") {
            return None;
        }
        fields.sort_by_cached_key(|(name, _)| natural_order(name));
        Some(object_text(fields))
    }

    fn filled(&mut self, field: &'a InputValueDefinition, default: &Value) -> Option<String> {
        if self.filling.iter().any(|seen| ptr::eq(*seen, field)) {
            return None;
        }
        self.filling.push(field);
        let text = self.text(default, &field.ty);
        self.filling.pop();
        text
    }
}

fn built_in_scalar(name: &str, value: &Value) -> Option<String> {
    match (name, value) {
        ("Int", Value::Int(int)) => Some(int.try_to_i32().ok()?.to_string()),
        ("Float", Value::Int(int)) => number(int.as_str()),
        ("Float", Value::Float(float)) => number(float.as_str()),
        ("Boolean", Value::Boolean(boolean)) => Some(boolean.to_string()),
        ("String", Value::String(text)) => Some(quoted(text)),
        ("ID", Value::Int(int)) => Some(int.as_str().to_owned()),
        ("ID", Value::String(text)) if is_integer(text) => Some(text.clone()),
        ("ID", Value::String(text)) => Some(quoted(text)),
        _ => None,
    }
}

/// The text of a custom scalar's default, which may be any value. Equals graphql-js's text, with two exceptions: graphql-js
/// has none for lists and objects, and integers keep all their digits here.
fn custom_scalar(value: &Value) -> String {
    match value {
        Value::Null | Value::Variable(_) => "null".to_owned(),
        Value::Boolean(boolean) => boolean.to_string(),
        Value::Int(int) => int.as_str().to_owned(),
        Value::Float(float) => number(float.as_str()).unwrap_or_else(|| float.as_str().to_owned()),
        Value::Enum(name) => quoted(name),
        Value::String(text) => quoted(text),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| custom_scalar(item)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => object_text(fields.iter().map(|(name, value)| (name, custom_scalar(value)))),
    }
}

fn object_text<'a>(fields: impl IntoIterator<Item = (&'a Name, String)>) -> String {
    let fields: Vec<String> = fields.into_iter().map(|(name, value)| format!("{name}: {value}")).collect();
    format!("{{{}}}", fields.join(", "))
}

/// Whether graphql-js writes this id without quotes.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits == "0" || (!digits.starts_with('0') && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Formats a number as JavaScript does: `1.0` becomes `1`, and only very large and very small numbers get an exponent.
fn number(text: &str) -> Option<String> {
    let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite())?;
    if number == 0.0 {
        return Some("0".to_owned());
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e')?;
    match exponent.parse().ok()? {
        -6..=20 => Some(number.to_string()),
        exponent @ 21.. => Some(format!("{digits}e+{exponent}")),
        exponent => Some(format!("{digits}e{exponent}")),
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{8}' => quoted.push_str("\\b"),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\u{c}' => quoted.push_str("\\f"),
            '\r' => quoted.push_str("\\r"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A part of a name, for natural order: `item2` before `item10`.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// Its length, then its digits: without leading zeros a longer number is greater.
    Number(usize, String),
    Other(char),
}

fn natural_order(name: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut chars = name.chars().peekable();
    while let Some(first) = chars.next() {
        if !first.is_ascii_digit() {
            parts.push(Part::Other(first));
            continue;
        }
        let mut digits = String::from(first);
        while let Some(next) = chars.next_if(|next| first != '0' && next.is_ascii_digit()) {
            digits.push(next);
        }
        parts.push(Part::Number(digits.len(), digits));
    }
    parts
}
