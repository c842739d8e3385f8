//! Rules of the specification on inputs that apollo-compiler does not check:
//!
//! - A default must be a value of its type.
//! - Defaults must not depend on themselves.
//! - `@oneOf` fields must be nullable.
//! - Required inputs must not be deprecated.

use std::collections::HashMap;

use apollo_compiler::{
    Name, Node, Schema as Checked,
    ast::{InputValueDefinition, Type, Value},
    schema::{Component, EnumType, ExtendedType, InputObjectType},
};
use spelling::nearest;

use super::{diagnostics::Problem, source::Source};

/// The maximum length of a chain of defaults.
const DEEPEST_DEFAULT: usize = 64;

/// Returns all violations of these rules.
pub(super) fn check(schema: &Checked, source: &Source<'_>) -> Vec<Problem> {
    let mut inputs = Inputs { schema, source, problems: Vec::new() };
    let mut known = HashMap::new();
    for ty in schema.types.values().filter(|ty| !ty.is_built_in()) {
        let fields = match ty {
            ExtendedType::Object(object) => &object.fields,
            ExtendedType::Interface(interface) => &interface.fields,
            ExtendedType::InputObject(input) => {
                for field in input.fields.values() {
                    inputs.value_definition(field);
                    inputs.one_of_field(input, field);
                    inputs.depth(&mut Vec::new(), &mut known, input, field);
                }
                continue;
            }
            ExtendedType::Scalar(_) | ExtendedType::Union(_) | ExtendedType::Enum(_) => continue,
        };
        fields.values().flat_map(|field| &field.arguments).for_each(|argument| inputs.value_definition(argument));
    }
    for directive in schema.directive_definitions.values().filter(|directive| !directive.is_built_in()) {
        directive.arguments.iter().for_each(|argument| inputs.value_definition(argument));
    }
    inputs.problems
}

/// An input object and one of its fields.
type InputField = (Name, Name);

struct Inputs<'a> {
    schema: &'a Checked,
    source: &'a Source<'a>,
    problems: Vec<Problem>,
}

impl<'a> Inputs<'a> {
    fn value_definition(&mut self, definition: &InputValueDefinition) {
        if let Some(default) = &definition.default_value {
            self.value(&definition.ty, default);
        }
        if definition.is_required() && definition.directives.has("deprecated") {
            self.report(
                &definition.name,
                format!("`{}` is required and deprecated", definition.name),
                Some("make it nullable or give it a default, so that clients can stop sending it".to_owned()),
            );
        }
    }

    fn one_of_field(&mut self, input: &InputObjectType, field: &InputValueDefinition) {
        if !is_one_of(input) {
            return;
        }
        if field.ty.is_non_null() {
            let message = format!("`{}` of the `@oneOf` input `{}` must be nullable", field.name, input.name);
            self.report(&field.name, message, Some("remove the `!`: exactly one field is given".to_owned()));
        }
        if field.default_value.is_some() {
            let message = format!("`{}` of the `@oneOf` input `{}` must not have a default", field.name, input.name);
            self.report(&field.name, message, Some("remove the default: exactly one field is given".to_owned()));
        }
    }

    /// Checks that `value` is a value of `ty` (the specification's "Input Coercion" of each kind of type).
    fn value(&mut self, ty: &Type, value: &Node<Value>) {
        if value.is_null() {
            if ty.is_non_null() {
                self.mismatch(ty, value, Some("give a value, or remove the `!` of the type".to_owned()));
            }
            return;
        }
        match (ty, &**value) {
            (Type::List(item) | Type::NonNullList(item), Value::List(values)) => {
                values.iter().for_each(|value| self.value(item, value));
            }
            (Type::List(item) | Type::NonNullList(item), _) => self.value(item, value),
            (Type::Named(name) | Type::NonNullNamed(name), _) => self.named(name, ty, value),
        }
    }

    fn named(&mut self, name: &Name, ty: &Type, value: &Node<Value>) {
        let fits = match (name.as_str(), &**value) {
            ("Int", Value::Int(int)) => {
                if int.try_to_i32().is_err() {
                    let help = "an `Int` has 32 bits; use `Float` or a custom scalar".to_owned();
                    self.problem(value, format!("`{}` is too large for `Int`", int.as_str()), Some(help));
                }
                true
            }
            ("Float", Value::Int(_) | Value::Float(_)) | ("ID", Value::Int(_) | Value::String(_)) => true,
            ("String", Value::String(_)) | ("Boolean", Value::Boolean(_)) => true,
            ("Int" | "Float" | "ID" | "String" | "Boolean", _) => false,
            (_, given) => match (self.schema.types.get(name), given) {
                (Some(ExtendedType::Enum(enumeration)), Value::Enum(given)) => {
                    return self.enum_value(enumeration, given, value);
                }
                (Some(ExtendedType::InputObject(input)), Value::Object(given)) => {
                    return self.object(input, given, value);
                }
                (Some(ExtendedType::Enum(_) | ExtendedType::InputObject(_)), _) => false,
                // A custom scalar accepts anything. Other kinds of types, and unknown ones, are reported elsewhere.
                _ => true,
            },
        };
        if !fits {
            self.mismatch(ty, value, self.spelling(name, value));
        }
    }

    fn enum_value(&mut self, enumeration: &EnumType, given: &Name, value: &Node<Value>) {
        if !enumeration.values.contains_key(given) {
            let candidates = enumeration.values.keys().map(Name::as_str);
            let help = match nearest(given, candidates) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("its values are {}", list(enumeration.values.keys())),
            };
            self.problem(value, format!("`{given}` is not a value of the enum `{}`", enumeration.name), Some(help));
        }
    }

    fn object(&mut self, input: &InputObjectType, given: &[(Name, Node<Value>)], value: &Node<Value>) {
        for (name, value) in given {
            match input.fields.get(name) {
                Some(field) => self.value(&field.ty, value),
                None => {
                    let help = nearest(name, input.fields.keys().map(Name::as_str))
                        .map(|name| format!("did you mean `{name}`?"));
                    self.report(name, format!("the input `{}` has no field `{name}`", input.name), help);
                }
            }
        }
        if is_one_of(input) {
            if given.len() != 1 || given[0].1.is_null() {
                let message = format!("a value of the `@oneOf` input `{}` has exactly one field, not null", input.name);
                self.problem(value, message, None);
            }
            return;
        }
        for field in input.fields.values().filter(|field| field.is_required()) {
            if !given.iter().any(|(name, _)| *name == field.name) {
                let message = format!("the required field `{}.{}` is missing in this value", input.name, field.name);
                self.problem(value, message, Some(format!("add `{}: …` of type `{}`", field.name, field.ty)));
            }
        }
    }

    /// The length of the chain of defaults that starts when `field` is absent. Reports a cycle, and a chain that is too
    /// long.
    fn depth(
        &mut self,
        path: &mut Vec<InputField>,
        known: &mut HashMap<InputField, usize>,
        input: &InputObjectType,
        field: &InputValueDefinition,
    ) -> usize {
        let Some(default) = &field.default_value else { return 0 };
        let here = (input.name.clone(), field.name.clone());
        if let Some(depth) = known.get(&here) {
            return *depth;
        }
        let help = Some("remove one of the defaults, or write the inner fields out in this one".to_owned());
        if path.contains(&here) {
            self.problem(default, format!("the default of `{}.{}` depends on itself", input.name, field.name), help);
            return 0;
        }
        path.push(here.clone());
        let mut depth = 1;
        if path.len() <= DEEPEST_DEFAULT {
            depth += self.needs(path, known, &field.ty, default);
        }
        path.pop();
        if path.len() == DEEPEST_DEFAULT || depth > DEEPEST_DEFAULT {
            let message = format!(
                "the default of `{}.{}` starts a chain of more than {DEEPEST_DEFAULT} defaults",
                input.name, field.name
            );
            self.problem(default, message, help);
            depth = 0;
        }
        known.insert(here, depth);
        depth
    }

    /// [`Self::depth`] of the fields that `value` leaves to their defaults.
    fn needs(
        &mut self,
        path: &mut Vec<InputField>,
        known: &mut HashMap<InputField, usize>,
        ty: &Type,
        value: &Value,
    ) -> usize {
        match value {
            Value::List(values) => values.iter().map(|value| self.needs(path, known, ty, value)).max().unwrap_or(0),
            Value::Object(given) => {
                let Some(ExtendedType::InputObject(input)) = self.schema.types.get(ty.inner_named_type()) else {
                    return 0;
                };
                let depth_of = |field: &Component<InputValueDefinition>| match given
                    .iter()
                    .find(|(name, _)| *name == field.name)
                {
                    Some((_, value)) => self.needs(path, known, &field.ty, value),
                    None => self.depth(path, known, input, field),
                };
                input.fields.values().map(depth_of).max().unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// Suggests how the value was probably meant.
    fn spelling(&self, name: &Name, value: &Value) -> Option<String> {
        match (self.schema.types.get(name), value) {
            (Some(ExtendedType::Enum(_)), Value::String(given)) => {
                Some(format!("write the enum value without quotes: `{given}`"))
            }
            (_, Value::Enum(given)) if name == "String" || name == "ID" => {
                Some(format!("write it in quotes: `\"{given}\"`"))
            }
            (_, Value::String(given)) => match name.as_str() {
                "Int" if given.parse::<i32>().is_ok() => Some(format!("write it without quotes: `{given}`")),
                "Boolean" if given.parse::<bool>().is_ok() => Some(format!("write it without quotes: `{given}`")),
                _ => None,
            },
            _ => None,
        }
    }

    fn mismatch(&mut self, ty: &Type, value: &Node<Value>, help: Option<String>) {
        let found = match &**value {
            Value::Null => "null",
            Value::Enum(_) => "an enum value",
            Value::Variable(_) => "a variable",
            Value::String(_) => "a string",
            Value::Float(_) => "a float",
            Value::Int(_) => "an integer",
            Value::Boolean(_) => "a boolean",
            Value::List(_) => "a list",
            Value::Object(_) => "an input object",
        };
        self.problem(value, format!("expected a value of type `{ty}`, found {found}"), help);
    }

    fn problem(&mut self, at: &Node<Value>, message: String, help: Option<String>) {
        self.problems.push(Problem::new(self.source.range(at.location()), message, help));
    }

    fn report(&mut self, at: &Name, message: String, help: Option<String>) {
        self.problems.push(Problem::new(self.source.range(at.location()), message, help));
    }
}

fn is_one_of(input: &InputObjectType) -> bool {
    input.directives.has("oneOf")
}

fn list<'a>(names: impl Iterator<Item = &'a Name>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
