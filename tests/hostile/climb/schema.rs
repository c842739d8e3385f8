//! The schema for the search: the fields of each type, read from the SDL.

use std::collections::HashMap;

use apollo_compiler::ast::{InputValueDefinition, Type};
use apollo_compiler::schema::{Component, ExtendedType, FieldDefinition};
use apollo_compiler::{Name, Node, Schema as Compiled};

/// All types except scalars, including those of introspection, by name.
pub struct Schema {
    types: HashMap<String, Kind>,
}

/// The kind of a type.
pub enum Kind {
    /// An object or an interface, with its fields and possible types.
    Composite { fields: Vec<Selectable>, narrower: Vec<String> },
    /// An input object.
    Input(Vec<Argument>),
    /// An enum.
    Enum(Vec<String>),
}

/// A selectable field.
pub struct Selectable {
    pub name: String,
    pub arguments: Vec<Argument>,
    /// The type's name, inside its lists.
    pub of: String,
}

/// An argument or input field.
pub struct Argument {
    pub name: String,
    pub of: Type,
    pub required: bool,
}

impl Schema {
    /// Reads the SDL of the project.
    pub fn read() -> Self {
        let sdl = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/schema/schema.graphql"));
        let compiled = Compiled::parse_and_validate(sdl, "schema.graphql").expect("the schema is valid");
        let mut narrower: HashMap<String, Vec<String>> = HashMap::new();
        for (name, object) in &compiled.types {
            if let ExtendedType::Object(object) = object {
                for interface in &object.implements_interfaces {
                    narrower.entry(interface.to_string()).or_default().push(name.to_string());
                }
            }
        }
        let kind = |(name, of): (&Name, &ExtendedType)| {
            let narrower = || narrower.get(name.as_str()).cloned().unwrap_or_default();
            let kind = match of {
                ExtendedType::Object(object) => Kind::composite(object.fields.values(), Vec::new()),
                ExtendedType::Interface(interface) => Kind::composite(interface.fields.values(), narrower()),
                ExtendedType::Union(of) => {
                    Kind::composite(std::iter::empty(), of.members.iter().map(ToString::to_string).collect())
                }
                ExtendedType::InputObject(input) => {
                    Kind::Input(input.fields.values().map(|field| Argument::from(&***field)).collect())
                }
                ExtendedType::Enum(of) => Kind::Enum(of.values.keys().map(ToString::to_string).collect()),
                ExtendedType::Scalar(_) => return None,
            };
            Some((name.to_string(), kind))
        };
        let mut types: HashMap<String, Kind> = compiled.types.iter().filter_map(kind).collect();
        let text = Type::NonNullNamed(Name::new_unchecked("String"));
        let name = Argument { name: "name".to_owned(), of: text, required: true };
        if let Some(Kind::Composite { fields, .. }) = types.get_mut("Query") {
            let meta =
                |name: &str, of: &str, arguments| Selectable { name: name.to_owned(), arguments, of: of.to_owned() };
            fields.extend([meta("__schema", "__Schema", Vec::new()), meta("__type", "__Type", vec![name])]);
        }
        Self { types }
    }

    /// A type. `None` for a scalar.
    pub fn kind(&self, name: &str) -> Option<&Kind> {
        self.types.get(name)
    }

    /// The fields of a type. Empty for a scalar or an enum.
    pub fn fields(&self, name: &str) -> &[Selectable] {
        match self.kind(name) {
            Some(Kind::Composite { fields, .. }) => fields,
            _ => &[],
        }
    }

    /// Whether a type has selections.
    pub fn is_composite(&self, name: &str) -> bool {
        matches!(self.kind(name), Some(Kind::Composite { .. }))
    }

    /// The possible types of an interface.
    pub fn narrower(&self, name: &str) -> &[String] {
        match self.kind(name) {
            Some(Kind::Composite { narrower, .. }) => narrower,
            _ => &[],
        }
    }

    /// A field of a type.
    pub fn field(&self, of: &str, name: &str) -> Option<&Selectable> {
        self.fields(of).iter().find(|field| field.name == name)
    }
}

impl Kind {
    fn composite<'f>(fields: impl Iterator<Item = &'f Component<FieldDefinition>>, narrower: Vec<String>) -> Self {
        let field = |field: &Component<FieldDefinition>| Selectable {
            name: field.name.to_string(),
            arguments: field
                .arguments
                .iter()
                .map(|argument: &Node<InputValueDefinition>| Argument::from(&**argument))
                .collect(),
            of: field.ty.inner_named_type().to_string(),
        };
        Self::Composite { fields: fields.map(field).collect(), narrower }
    }
}

impl From<&InputValueDefinition> for Argument {
    fn from(value: &InputValueDefinition) -> Self {
        Self { name: value.name.to_string(), of: (*value.ty).clone(), required: value.is_required() }
    }
}
