//! Input coercion: from what a request carries to the Rust types of arguments and input objects.
//!
//! All of it happens before anything executes: [`variables`] checks the request's variables against their declared
//! types, [`Substitution`] puts them into the document's literals, and [`Input`] (generated for enums and input
//! objects) reads the result. The rules are those of the specification's sections on input coercion.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use apollo_compiler::ast::{self, Type};
use apollo_compiler::collections::HashMap;
use apollo_compiler::executable::Operation;
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Node, Schema};
use async_graphql::indexmap::IndexMap;
pub use async_graphql::{MaybeUndefined, Name, Value};
use async_graphql::{Number, Pos, ServerError, Variables};

use super::faults::Faults;
use super::lines::Lines;
use super::literals::Literals;
use crate::error::{Code, shortened};

/// Named values: the arguments of a field, the fields of an input object.
pub type Fields = IndexMap<Name, Value>;

/// Arguments as their field's resolver takes them.
pub type Arguments = Arc<dyn Any + Send + Sync>;

/// Reads a field's arguments into the type that its resolver takes.
pub type ReadArguments = fn(&Fields) -> Result<Arguments, InputError>;

/// A value on the heap, where a type would otherwise hold itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Boxed<T>(pub Box<T>);

/// A scalar of the schema's own: its name, and what tells whether a value is one of its values.
pub type ScalarCheck = (&'static str, fn(&Value) -> Result<(), InputError>);

/// The check of a [`ScalarCheck`].
pub fn check<T: Input>(value: &Value) -> Result<(), InputError> {
    T::read(value).map(drop)
}

/// What values are checked against.
#[derive(Clone, Copy)]
pub(super) struct InputTypes<'a> {
    /// The types.
    pub schema: &'a Schema,
    /// Those of its scalars that can be checked.
    pub scalars: &'static [ScalarCheck],
}

impl InputTypes<'_> {
    /// Checks what a scalar of the schema's own is given; any value of any other type passes.
    pub(super) fn check(self, scalar: &str, value: &Value) -> Result<(), InputError> {
        self.scalars.iter().find(|(name, _)| *name == scalar).map_or(Ok(()), |(_, check)| check(value))
    }
}

/// A value that does not fit its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputError {
    /// What is wrong, without saying where.
    pub message: String,
    /// Argument, input fields and list positions, outermost first.
    pub path: Vec<String>,
}

impl InputError {
    /// An error about the value at hand.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), path: Vec::new() }
    }

    /// The same error about something inside `step`.
    pub fn within(mut self, step: impl ToString) -> Self {
        self.path.insert(0, step.to_string());
        self
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path.join("."))?;
        }
        f.write_str(&self.message)
    }
}

/// A type that can be read from a coerced value.
pub trait Input: Sized {
    /// Reads the value.
    fn read(value: &Value) -> Result<Self, InputError>;
}

/// A struct with a field for each argument or input field. Generated.
pub trait FromFields: Sized {
    /// Reads the struct.
    fn from_fields(fields: &Fields) -> Result<Self, InputError>;
}

impl<T: FromFields> Input for T {
    fn read(value: &Value) -> Result<Self, InputError> {
        match value {
            Value::Object(fields) => T::from_fields(fields),
            _ => expected("an object", value),
        }
    }
}

/// The [`ReadArguments`] of a type.
pub fn read_arguments<T: FromFields + Send + Sync + 'static>(fields: &Fields) -> Result<Arguments, InputError> {
    T::from_fields(fields).map(|arguments| Arc::new(arguments) as Arguments)
}

fn expected<T>(what: &str, value: &Value) -> Result<T, InputError> {
    Err(InputError::new(format!("expected {what}, found {}", shortened(&value.to_string()))))
}

impl Input for i32 {
    fn read(value: &Value) -> Result<Self, InputError> {
        match value {
            Value::Number(number) => integer(number)
                .and_then(|n| Self::try_from(n).ok())
                .map_or_else(|| expected("a whole number of 32 bits", value), Ok),
            _ => expected("a whole number of 32 bits", value),
        }
    }
}

impl Input for f64 {
    fn read(value: &Value) -> Result<Self, InputError> {
        match value {
            Value::Number(number) => number.as_f64().map_or_else(|| expected("a finite number", value), Ok),
            // A literal that no 64 bits hold. Other texts do not get here: validation and [`variables`] refuse them.
            Value::String(text) => text.parse().map_or_else(|_| expected("a number", value), Ok),
            _ => expected("a number", value),
        }
    }
}

impl Input for bool {
    fn read(value: &Value) -> Result<Self, InputError> {
        match value {
            Value::Boolean(value) => Ok(*value),
            _ => expected("true or false", value),
        }
    }
}

/// `String` and `ID`. A number is the text of an `ID`; [`variables`] and validation keep numbers from a `String`.
impl Input for String {
    fn read(value: &Value) -> Result<Self, InputError> {
        match value {
            Value::String(text) if text.contains('\0') => {
                Err(InputError::new("a text must not contain the null character"))
            }
            Value::String(text) => Ok(text.clone()),
            Value::Number(number) => whole(number).map_or_else(|| expected("a text", value), Ok),
            _ => expected("a text", value),
        }
    }
}

impl<T: Input> Input for Option<T> {
    fn read(value: &Value) -> Result<Self, InputError> {
        if *value == Value::Null { Ok(None) } else { T::read(value).map(Some) }
    }
}

/// A single value stands for a list of one.
impl<T: Input> Input for Vec<T> {
    fn read(value: &Value) -> Result<Self, InputError> {
        match value {
            Value::List(items) => {
                items.iter().enumerate().map(|(i, item)| T::read(item).map_err(|e| e.within(i))).collect()
            }
            _ => Ok(vec![T::read(value)?]),
        }
    }
}

impl<T: Input> Input for Boxed<T> {
    fn read(value: &Value) -> Result<Self, InputError> {
        T::read(value).map(|value| Self(Box::new(value)))
    }
}

/// A number with a fraction, as the SDL's default values have it.
pub fn float(value: f64) -> Value {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// An input object, as the SDL's default values have it.
pub fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (Name::new(name), value)).collect())
}

/// Reads a field that must be there.
pub fn required<T: Input>(fields: &Fields, name: &str) -> Result<T, InputError> {
    match fields.get(name) {
        None => Err(InputError::new("is required").within(name)),
        Some(value) => T::read(value).map_err(|e| e.within(name)),
    }
}

/// Reads a field that is absent, null or a value.
pub fn optional<T: Input>(fields: &Fields, name: &str) -> Result<MaybeUndefined<T>, InputError> {
    match fields.get(name) {
        None => Ok(MaybeUndefined::Undefined),
        Some(Value::Null) => Ok(MaybeUndefined::Null),
        Some(value) => T::read(value).map(MaybeUndefined::Value).map_err(|e| e.within(name)),
    }
}

/// Reads a field that has a default value.
pub fn defaulted<T: Input>(fields: &Fields, name: &str, default: impl FnOnce() -> Value) -> Result<T, InputError> {
    let read = match fields.get(name) {
        None => T::read(&default()),
        Some(value) => T::read(value),
    };
    read.map_err(|e| e.within(name))
}

/// The name of an enum's value: a bare word in a document, a string in variables.
pub fn word(value: &Value) -> Option<&str> {
    match value {
        Value::Enum(name) => Some(name.as_str()),
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// The error for a value that an enum does not have.
pub fn no_such_word<T>(enum_name: &str, value: &Value) -> Result<T, InputError> {
    expected(&format!("a value of {enum_name}"), value)
}

/// Of an input object marked `@oneOf` exactly one field is given, and it is not null.
pub fn exactly_one(fields: &Fields) -> Result<(), InputError> {
    if fields.len() == 1 && fields.values().all(|value| *value != Value::Null) {
        Ok(())
    } else {
        Err(InputError::new("exactly one field must be given, and not null"))
    }
}

fn integer(number: &Number) -> Option<i64> {
    number.as_i64().or_else(|| {
        let float = number.as_f64()?;
        let whole = float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0;
        whole.then_some(float as i64)
    })
}

/// The digits of a number without a fraction, however large: `5.0` and `5` are one number.
fn whole(number: &Number) -> Option<String> {
    let digits = number.as_i64().map(|n| n.to_string()).or_else(|| number.as_u64().map(|n| n.to_string()));
    digits.or_else(|| number.as_f64().filter(|float| float.fract() == 0.0).map(|float| (float + 0.0).to_string()))
}

/// The request's variables, checked against their declared types. Undeclared ones are left out; one that is absent
/// and has no default stays absent.
pub(super) fn variables(
    types: InputTypes<'_>,
    operation: &Operation,
    given: &Variables,
    lines: &Lines,
) -> Result<HashMap<String, Value>, Vec<ServerError>> {
    let mut coerced = HashMap::default();
    let mut errors = Faults::default();
    for definition in &operation.variables {
        let name = definition.name.as_str();
        let outcome = match (given.get(&Name::new(name)), &definition.default_value) {
            (Some(value), _) => coerce(types, &definition.ty, value).map(Some),
            (None, Some(default)) => Ok(constant(default)),
            (None, None) if definition.ty.is_non_null() => Err(InputError::new("is required")),
            (None, None) => Ok(None),
        };
        match outcome {
            Ok(Some(value)) => drop(coerced.insert(name.to_owned(), value)),
            Ok(None) => {}
            Err(error) => errors.push(bad_input(error.within(format!("${name}")), lines.of(definition.location()))),
        }
    }
    errors.none()?;
    Ok(coerced)
}

/// How many values there are in a value, itself among them.
pub(super) fn count(value: &Value) -> usize {
    1 + match value {
        Value::List(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// The top-level error for input that does not fit.
pub fn bad_input(error: InputError, locations: Vec<Pos>) -> ServerError {
    let mut extensions = async_graphql::ErrorExtensionValues::default();
    extensions.set("code", Code::BadUserInput.as_str());
    ServerError { message: error.to_string(), source: None, locations, path: Vec::new(), extensions: Some(extensions) }
}

/// Coerces a variable's value, or a part of it.
fn coerce(types: InputTypes<'_>, ty: &Type, value: &Value) -> Result<Value, InputError> {
    if *value == Value::Null {
        return if ty.is_non_null() {
            Err(InputError::new(format!("expected {ty}, found null")))
        } else {
            Ok(Value::Null)
        };
    }
    match ty {
        Type::List(item) | Type::NonNullList(item) => match value {
            Value::List(items) => items
                .iter()
                .enumerate()
                .map(|(i, value)| coerce(types, item, value).map_err(|e| e.within(i)))
                .collect::<Result<_, _>>()
                .map(Value::List),
            single => Ok(Value::List(vec![coerce(types, item, single)?])),
        },
        Type::Named(name) | Type::NonNullNamed(name) => match types.schema.types.get(name) {
            Some(ExtendedType::Scalar(_)) => scalar(types, name, value),
            Some(ExtendedType::Enum(definition)) => match value {
                Value::String(word) if definition.values.contains_key(word.as_str()) => Ok(value.clone()),
                _ => no_such_word(name, value),
            },
            Some(ExtendedType::InputObject(definition)) => {
                let Value::Object(given) = value else { return expected("an object", value) };
                if let Some(unknown) = given.keys().find(|key| !definition.fields.contains_key(key.as_str())) {
                    return Err(InputError::new(format!("{name} has no such field")).within(shortened(unknown)));
                }
                let mut coerced = Fields::new();
                for (field, definition) in &definition.fields {
                    match given.get(field.as_str()) {
                        Some(value) => {
                            let value = coerce(types, &definition.ty, value).map_err(|e| e.within(field))?;
                            coerced.insert(Name::new(field), value);
                        }
                        None if definition.ty.is_non_null() && definition.default_value.is_none() => {
                            return Err(InputError::new("is required").within(field));
                        }
                        None => {}
                    }
                }
                Ok(Value::Object(coerced))
            }
            _ => Err(InputError::new(format!("{name} is not an input type"))),
        },
    }
}

fn scalar(types: InputTypes<'_>, name: &str, value: &Value) -> Result<Value, InputError> {
    match (name, value) {
        ("Int", _) => i32::read(value).map(|n| Value::Number(n.into())),
        ("Float", Value::Number(_)) => f64::read(value).map(|_| value.clone()),
        ("Float", _) => expected("a number", value),
        ("Boolean", _) => bool::read(value).map(Value::Boolean),
        ("String", Value::String(_)) => Ok(value.clone()),
        ("String", _) => expected("a text", value),
        ("ID", _) => String::read(value).map(Value::String),
        _ => types.check(name, value).map(|()| value.clone()),
    }
}

/// Literals with the variables put in.
pub(super) struct Substitution<'a> {
    /// The coerced variables.
    pub variables: &'a HashMap<String, Value>,
    /// What the text has in the place of some literals.
    pub literals: &'a Literals,
}

impl Substitution<'_> {
    /// A field's arguments as they are given; one whose variable is absent is absent.
    pub fn arguments(&self, given: &[Node<ast::Argument>]) -> Fields {
        given.iter().filter_map(|argument| Some((Name::new(&argument.name), self.value(&argument.value)?))).collect()
    }

    /// A literal's value; nothing when it is a variable that is absent.
    pub fn value(&self, literal: &Node<ast::Value>) -> Option<Value> {
        if let Some(value) = self.literals.in_place_of(literal) {
            return Some(value.clone());
        }
        Some(match &**literal {
            ast::Value::Null => Value::Null,
            ast::Value::Variable(name) => return self.variables.get(name.as_str()).cloned(),
            ast::Value::Enum(name) => Value::Enum(Name::new(name)),
            ast::Value::String(text) => Value::String(text.clone()),
            ast::Value::Boolean(value) => Value::Boolean(*value),
            ast::Value::Int(int) => integer_literal(int.as_str()),
            ast::Value::Float(float) => float.try_to_f64().map_or(Value::Null, self::float),
            ast::Value::List(items) => {
                Value::List(items.iter().map(|item| self.value(item).unwrap_or(Value::Null)).collect())
            }
            ast::Value::Object(fields) => Value::Object(
                fields.iter().filter_map(|(name, value)| Some((Name::new(name), self.value(value)?))).collect(),
            ),
        })
    }
}

/// An integer as written; one that no 64 bits hold is kept as its text, which is what an `ID` makes of it.
fn integer_literal(text: &str) -> Value {
    text.parse::<i64>().map_or_else(|_| Value::String(text.to_owned()), |int| Value::Number(int.into()))
}

/// The value of a literal without variables.
pub(super) fn constant(literal: &Node<ast::Value>) -> Option<Value> {
    Substitution { variables: &HashMap::default(), literals: &Literals::default() }.value(literal)
}

/// Whether a literal holds a variable anywhere.
pub fn is_constant(literal: &ast::Value) -> bool {
    match literal {
        ast::Value::Variable(_) => false,
        ast::Value::List(items) => items.iter().all(|item| is_constant(item)),
        ast::Value::Object(fields) => fields.iter().all(|(_, value)| is_constant(value)),
        _ => true,
    }
}
