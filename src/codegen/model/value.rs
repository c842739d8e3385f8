//! Constant values in the SDL: the defaults of arguments and input fields.

use std::fmt;

use super::{InputValue, Schema, TypeRef, TypeShape};

/// A constant value. Displays in SDL syntax.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// An integer. One beyond 64 bits is a [`Value::Float`].
    Int(i64),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// A string, unescaped.
    String(String),
    /// `true` or `false`
    Boolean(bool),
    /// The name of an enum value.
    Enum(String),
    /// A list.
    List(Vec<Value>),
    /// An input object.
    Object(Vec<(String, Value)>),
}

impl Schema {
    /// Returns the default of an argument or input field as a resolver gets it: coerced to its type. A single value
    /// becomes a list, an integer becomes a `Float` or `ID`, and an input object has all its fields' defaults, in the
    /// type's order. `None` if there is no default.
    pub fn default_of(&self, value: &InputValue) -> Option<Value> {
        Some(self.coerce(value.default.as_ref()?, &value.ty))
    }

    fn coerce(&self, value: &Value, ty: &TypeRef) -> Value {
        match (value, &ty.shape) {
            (Value::Null, _) => Value::Null,
            (Value::List(values), TypeShape::List(item)) => {
                Value::List(values.iter().map(|value| self.coerce(value, item)).collect())
            }
            (value, TypeShape::List(item)) => Value::List(vec![self.coerce(value, item)]),
            (Value::Int(int), TypeShape::Named(name)) if name == "Float" => Value::Float(*int as f64),
            (Value::Int(int), TypeShape::Named(name)) if name == "ID" => Value::String(int.to_string()),
            (Value::Object(given), TypeShape::Named(name)) => match self.input(name) {
                Some(input) => {
                    Value::Object(input.fields.iter().filter_map(|field| self.coerce_field(given, field)).collect())
                }
                None => value.clone(),
            },
            _ => value.clone(),
        }
    }

    fn coerce_field(&self, given: &[(String, Value)], field: &InputValue) -> Option<(String, Value)> {
        let value = match given.iter().find(|(name, _)| *name == field.name) {
            Some((_, value)) => self.coerce(value, &field.ty),
            None => self.default_of(field)?,
        };
        Some((field.name.clone(), value))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Int(int) => write!(f, "{int}"),
            Self::Float(float) => write!(f, "{float:?}"),
            Self::String(string) => write_string(f, string),
            Self::Boolean(boolean) => write!(f, "{boolean}"),
            Self::Enum(name) => f.write_str(name),
            Self::List(values) => {
                f.write_str("[")?;
                for (i, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Self::Object(fields) => {
                f.write_str("{")?;
                for (i, (name, value)) in fields.iter().enumerate() {
                    write!(f, "{}{name}: {value}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Writes a quoted single-line string.
fn write_string(f: &mut fmt::Formatter<'_>, string: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in string.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if c.is_control() => write!(f, "\\u{:04X}", u32::from(c))?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

#[cfg(test)]
mod tests {
    use super::super::super::lower::lower_trusted;

    #[test]
    fn defaults_fit_their_types() {
        let schema = lower_trusted(
            r#"input In { scale: Float = 2, keys: [ID!] = 5, inner: Inner = {b: 1}, self: In, many: [In], none: Int }
            input Inner { a: String = "x\"y", b: Int, c: In }"#,
        );
        let input = schema.input("In").expect("In");
        let defaults: Vec<_> =
            input.fields.iter().map(|field| schema.default_of(field).map(|value| value.to_string())).collect();
        let shown: Vec<_> = defaults.iter().map(Option::as_deref).collect();
        assert_eq!(shown, [Some("2.0"), Some(r#"["5"]"#), Some(r#"{a: "x\"y", b: 1}"#), None, None, None]);
    }
}
