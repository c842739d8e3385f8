//! Input coercion: converts the values of a request to the Rust types of arguments and input objects.
//!
//! All of it happens before execution. [`variables`] checks the request's variables against their declared types,
//! [`Substitution`] puts them into the document's literals, and [`Input`] (generated for enums and input objects) reads
//! the result. The rules are the specification's sections on input coercion.

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

use super::advice;
use super::faults::Faults;
use super::lines::Lines;
use super::literals::Literals;
use crate::error::{Code, shortened};

/// Named values: the arguments of a field, the fields of an input object.
pub type Fields = IndexMap<Name, Value>;

/// The arguments of a field, in the type that its resolver takes.
pub type Arguments = Arc<dyn Any + Send + Sync>;

/// Reads a field's arguments into that type.
pub type ReadArguments = fn(&Fields) -> Result<Arguments, InputError>;

/// A boxed value, for input types that contain themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct Boxed<T>(pub Box<T>);

/// A custom scalar's name and the function that validates a value of it.
pub type ScalarCheck = (&'static str, fn(&Value) -> Result<(), InputError>);

/// Validates a value by reading it as a `T`. The function of a [`ScalarCheck`].
pub fn check<T: Input>(value: &Value) -> Result<(), InputError> {
    T::read(value).map(drop)
}

/// The types that values are checked against.
#[derive(Clone, Copy)]
pub(super) struct InputTypes<'a> {
    /// The schema.
    pub schema: &'a Schema,
    /// The checks of its custom scalars.
    pub scalars: &'static [ScalarCheck],
}

impl InputTypes<'_> {
    /// Checks a value of a custom scalar. Accepts any value for other types.
    pub(super) fn check(self, scalar: &str, value: &Value) -> Result<(), InputError> {
        self.scalars.iter().find(|(name, _)| *name == scalar).map_or(Ok(()), |(_, check)| check(value))
    }
}

/// An error about a value that does not fit its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputError {
    /// What is wrong, without the place.
    pub message: String,
    /// Argument, input fields and list positions, outermost first.
    pub path: Vec<String>,
}

impl InputError {
    /// Creates an error about the value itself.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), path: Vec::new() }
    }

    /// Appends advice to the message.
    fn advised(mut self, advice: Option<String>) -> Self {
        if let Some(advice) = advice {
            self.message = format!("{}. {advice}", self.message);
        }
        self
    }

    /// Prefixes the path with `step`.
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

/// The arguments of a field whose only argument is the input object `input`.
#[derive(Debug, Clone, PartialEq)]
pub struct InputArgument<T> {
    /// The input object.
    pub input: T,
}

impl<T: Input> FromFields for InputArgument<T> {
    fn from_fields(fields: &Fields) -> Result<Self, InputError> {
        Ok(Self { input: required(fields, "input")? })
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
                .map_or_else(|| expected("a 32-bit integer", value), Ok),
            _ => expected("a 32-bit integer", value),
        }
    }
}

impl Input for f64 {
    fn read(value: &Value) -> Result<Self, InputError> {
        match value {
            Value::Number(number) => number.as_f64().map_or_else(|| expected("a finite number", value), Ok),
            // An integer literal beyond 64 bits, kept as text. Other strings never get here: validation and
            // [`variables`] refuse them.
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

/// `String` and `ID`. An `ID` also accepts a number; [`variables`] and validation refuse numbers for a `String`.
impl Input for String {
    fn read(value: &Value) -> Result<Self, InputError> {
        match value {
            Value::String(text) if text.contains('\0') => {
                Err(InputError::new("a string must not contain the null character"))
            }
            Value::String(text) => Ok(text.clone()),
            Value::Number(number) => whole(number).map_or_else(|| expected("a string", value), Ok),
            _ => expected("a string", value),
        }
    }
}

impl<T: Input> Input for Option<T> {
    fn read(value: &Value) -> Result<Self, InputError> {
        if *value == Value::Null { Ok(None) } else { T::read(value).map(Some) }
    }
}

/// A single value is coerced to a list of one.
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

/// Creates a float. For default values of the SDL.
pub fn float(value: f64) -> Value {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// Creates an input object. For default values of the SDL.
pub fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (Name::new(name), value)).collect())
}

/// Reads a required field.
pub fn required<T: Input>(fields: &Fields, name: &str) -> Result<T, InputError> {
    match fields.get(name) {
        None => Err(InputError::new("is required").within(name)),
        Some(value) => T::read(value).map_err(|e| e.within(name)),
    }
}

/// Reads an optional field: absent, null or a value.
pub fn optional<T: Input>(fields: &Fields, name: &str) -> Result<MaybeUndefined<T>, InputError> {
    match fields.get(name) {
        None => Ok(MaybeUndefined::Undefined),
        Some(Value::Null) => Ok(MaybeUndefined::Null),
        Some(value) => T::read(value).map(MaybeUndefined::Value).map_err(|e| e.within(name)),
    }
}

/// The optional texts of an input that are stored in columns, by the names of their fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Texts(Vec<(&'static str, MaybeUndefined<String>)>);

/// Reads the optional texts with these names.
pub fn texts(fields: &Fields, names: &[&'static str]) -> Result<Texts, InputError> {
    names.iter().map(|name| Ok((*name, optional(fields, name)?))).collect::<Result<_, _>>().map(Texts)
}

impl Texts {
    /// The fields in the order of the SDL.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &MaybeUndefined<String>)> {
        self.0.iter().map(|(name, given)| (*name, given))
    }
}

/// Reads a field with a default value.
pub fn defaulted<T: Input>(fields: &Fields, name: &str, default: impl FnOnce() -> Value) -> Result<T, InputError> {
    let read = match fields.get(name) {
        None => T::read(&default()),
        Some(value) => T::read(value),
    };
    read.map_err(|e| e.within(name))
}

/// Returns the name of an enum value: a name in a document, a string in variables.
pub fn word(value: &Value) -> Option<&str> {
    match value {
        Value::Enum(name) => Some(name.as_str()),
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// The error for a value that the enum does not have.
pub fn no_such_word<T>(enum_name: &str, value: &Value) -> Result<T, InputError> {
    expected(&format!("a value of {enum_name}"), value)
}

/// Reads a value of an enum.
pub fn enum_value<T>(value: &Value, from_word: fn(&str) -> Option<T>, enum_name: &str) -> Result<T, InputError> {
    word(value).and_then(from_word).map_or_else(|| no_such_word(enum_name, value), Ok)
}

/// Checks an input object with `@oneOf`: exactly one field must be given, and it must not be null.
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

/// Returns the digits of a number without a fraction, of any size. `5.0` and `5` are the same number.
fn whole(number: &Number) -> Option<String> {
    let digits = number.as_i64().map(|n| n.to_string()).or_else(|| number.as_u64().map(|n| n.to_string()));
    digits.or_else(|| number.as_f64().filter(|float| float.fract() == 0.0).map(|float| (float + 0.0).to_string()))
}

/// Reads a value that does not come from a request as an input type of the schema.
pub fn from_json<T: Input>(
    schema: &Schema,
    scalars: &'static [ScalarCheck],
    ty: &str,
    value: serde_json::Value,
) -> Result<T, InputError> {
    let unknown = |error: &dyn fmt::Display| InputError::new(error.to_string());
    let value = Value::from_json(value).map_err(|error| unknown(&error))?;
    let name = apollo_compiler::Name::new(ty).map_err(|error| unknown(&error))?;
    T::read(&coerce(InputTypes { schema, scalars }, &Type::NonNullNamed(name), &value)?)
}

/// Coerces the request's variables to their declared types. Ignores undeclared variables. A variable that is absent and
/// has no default stays absent.
pub(super) fn variables(
    types: InputTypes<'_>,
    operation: &Operation,
    given: &Variables,
    lines: &Lines,
) -> Result<HashMap<String, Value>, Vec<ServerError>> {
    let mut coerced = HashMap::default();
    let mut errors = Faults::default();
    for definition in &operation.variables {
        if errors.are_enough() {
            break;
        }
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
            Err(error) => {
                errors.push(bad_input(error.within(format!("${name}")), lines.locations(definition.location())))
            }
        }
    }
    errors.none()?;
    Ok(coerced)
}

/// The top-level error for invalid input.
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
                _ => {
                    let advice = advice::enum_value(definition, word(value));
                    no_such_word(name, value).map_err(|error: InputError| error.advised(Some(advice)))
                }
            },
            Some(ExtendedType::InputObject(definition)) => {
                let Value::Object(given) = value else { return expected("an object", value) };
                if let Some(unknown) = given.keys().find(|key| !definition.fields.contains_key(key.as_str())) {
                    let known = definition.fields.keys().map(|known| known.as_str());
                    let error = InputError::new(format!("{name} has no such field"));
                    return Err(error.advised(advice::did_you_mean(unknown, known)).within(shortened(unknown)));
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
        ("String", _) => expected("a string", value),
        ("ID", _) => String::read(value).map(Value::String),
        _ => types.check(name, value).map(|()| value.clone()),
    }
}

/// Evaluates literals by substituting variables.
pub(super) struct Substitution<'a> {
    /// The coerced variables.
    pub variables: &'a HashMap<String, Value>,
    /// Replaces literals of the parsed document by those of the actual text.
    pub literals: &'a Literals,
}

impl Substitution<'_> {
    /// Evaluates the arguments of a field. Omits those whose variable is absent.
    pub fn arguments(&self, given: &[Node<ast::Argument>]) -> Fields {
        given.iter().filter_map(|argument| Some((Name::new(&argument.name), self.value(&argument.value)?))).collect()
    }

    /// Evaluates a literal. Returns `None` for an absent variable.
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

/// Evaluates an integer literal. One beyond 64 bits becomes text, which is still a valid `ID`.
fn integer_literal(text: &str) -> Value {
    text.parse::<i64>().map_or_else(|_| Value::String(text.to_owned()), |int| Value::Number(int.into()))
}

/// Evaluates a literal without variables.
pub(super) fn constant(literal: &Node<ast::Value>) -> Option<Value> {
    Substitution { variables: &HashMap::default(), literals: &Literals::default() }.value(literal)
}

/// Whether a literal contains no variable.
pub fn is_constant(literal: &ast::Value) -> bool {
    match literal {
        ast::Value::Variable(_) => false,
        ast::Value::List(items) => items.iter().all(|item| is_constant(item)),
        ast::Value::Object(fields) => fields.iter().all(|(_, value)| is_constant(value)),
        _ => true,
    }
}
