//! Converts the text to the model: graphql-parser reads the SDL, extensions are merged into their types, and syntax is
//! dropped. Does not validate: `check` has done that.

use std::collections::HashMap;

use apollo_compiler::ast;
use graphql_parser::schema as sdl;

use super::model::{
    Directive, Enum, EnumValue, Field, Input, InputValue, Interface, Object, Scalar, Schema, Type, TypeRef, TypeShape,
    Union, Value,
};
use super::respell::respell;

/// The specification's default reason of `@deprecated`.
const NO_LONGER_SUPPORTED: &str = "No longer supported";

/// The model of a test's SDL, without validation and roots.
#[cfg(test)]
pub(super) fn lower_trusted(text: &str) -> Schema {
    let document = ast::Document::parse(text, "test").expect("the SDL is well-formed");
    lower(text, &document).expect("graphql-parser reads it")
}

/// The model of `text` with the syntax tree `document`, without roots and description. The error is graphql-parser's.
pub(super) fn lower(text: &str, document: &ast::Document) -> Result<Schema, String> {
    let text = respell(text, document);
    let document = sdl::parse_schema::<String>(&text).map_err(|error| error.to_string())?.into_static();
    let mut types = Vec::new();
    let mut extensions = Vec::new();
    for definition in document.definitions {
        match definition {
            sdl::Definition::TypeDefinition(definition) => types.push(type_definition(definition)),
            sdl::Definition::TypeExtension(extension) => extensions.push(extension),
            // Introspection reads directives from the SDL itself. They generate no Rust.
            sdl::Definition::DirectiveDefinition(_) | sdl::Definition::SchemaDefinition(_) => {}
        }
    }
    let index: HashMap<String, usize> = types.iter().enumerate().map(|(at, ty)| (ty.name().to_owned(), at)).collect();
    for extension in extensions {
        if let Some(&at) = index.get(extension_name(&extension)) {
            extend(&mut types[at], extension);
        }
    }
    Ok(Schema::new(types))
}

fn type_definition(definition: sdl::TypeDefinition<'static, String>) -> Type {
    match definition {
        sdl::TypeDefinition::Scalar(ty) => {
            Type::Scalar(Scalar { name: ty.name, specified_by: specified_by(&ty.directives) })
        }
        sdl::TypeDefinition::Object(ty) => Type::Object(Object {
            name: ty.name,
            description: ty.description,
            implements: ty.implements_interfaces,
            fields: fields(ty.fields),
        }),
        sdl::TypeDefinition::Interface(ty) => Type::Interface(Interface {
            name: ty.name,
            description: ty.description,
            implements: ty.implements_interfaces,
            fields: fields(ty.fields),
            possible: Vec::new(),
        }),
        sdl::TypeDefinition::Union(ty) => {
            Type::Union(Union { name: ty.name, description: ty.description, members: ty.types })
        }
        sdl::TypeDefinition::Enum(ty) => {
            Type::Enum(Enum { name: ty.name, description: ty.description, values: enum_values(ty.values) })
        }
        sdl::TypeDefinition::InputObject(ty) => Type::Input(Input {
            name: ty.name,
            description: ty.description,
            fields: input_values(ty.fields),
            one_of: is_one_of(&ty.directives),
        }),
    }
}

fn extension_name<'a>(extension: &'a sdl::TypeExtension<'static, String>) -> &'a str {
    match extension {
        sdl::TypeExtension::Scalar(extension) => &extension.name,
        sdl::TypeExtension::Object(extension) => &extension.name,
        sdl::TypeExtension::Interface(extension) => &extension.name,
        sdl::TypeExtension::Union(extension) => &extension.name,
        sdl::TypeExtension::Enum(extension) => &extension.name,
        sdl::TypeExtension::InputObject(extension) => &extension.name,
    }
}

/// Merges an extension into its type. `check` has refused an extension of another kind.
fn extend(ty: &mut Type, extension: sdl::TypeExtension<'static, String>) {
    match (ty, extension) {
        (Type::Scalar(ty), sdl::TypeExtension::Scalar(more)) => {
            ty.specified_by = ty.specified_by.take().or_else(|| specified_by(&more.directives));
        }
        (Type::Object(ty), sdl::TypeExtension::Object(more)) => {
            ty.implements.extend(more.implements_interfaces);
            ty.fields.extend(fields(more.fields));
        }
        (Type::Interface(ty), sdl::TypeExtension::Interface(more)) => {
            ty.implements.extend(more.implements_interfaces);
            ty.fields.extend(fields(more.fields));
        }
        (Type::Union(ty), sdl::TypeExtension::Union(more)) => ty.members.extend(more.types),
        (Type::Enum(ty), sdl::TypeExtension::Enum(more)) => ty.values.extend(enum_values(more.values)),
        (Type::Input(ty), sdl::TypeExtension::InputObject(more)) => {
            ty.one_of |= is_one_of(&more.directives);
            ty.fields.extend(input_values(more.fields));
        }
        _ => {}
    }
}

fn fields(fields: Vec<sdl::Field<'static, String>>) -> Vec<Field> {
    let lower = |field: sdl::Field<'static, String>| Field {
        name: field.name,
        description: field.description,
        args: input_values(field.arguments),
        ty: type_ref(&field.field_type),
        deprecated: deprecated(&field.directives),
        directives: directives(field.directives),
    };
    fields.into_iter().map(lower).collect()
}

fn input_values(values: Vec<sdl::InputValue<'static, String>>) -> Vec<InputValue> {
    let lower = |value: sdl::InputValue<'static, String>| InputValue {
        name: value.name,
        description: value.description,
        ty: type_ref(&value.value_type),
        default: value.default_value.map(constant),
        deprecated: deprecated(&value.directives),
    };
    values.into_iter().map(lower).collect()
}

fn enum_values(values: Vec<sdl::EnumValue<'static, String>>) -> Vec<EnumValue> {
    let lower = |value: sdl::EnumValue<'static, String>| EnumValue {
        name: value.name,
        description: value.description,
        deprecated: deprecated(&value.directives),
    };
    values.into_iter().map(lower).collect()
}

fn type_ref(ty: &sdl::Type<'static, String>) -> TypeRef {
    match ty {
        sdl::Type::NamedType(name) => TypeRef { shape: TypeShape::Named(name.clone()), nullable: true },
        sdl::Type::ListType(item) => TypeRef { shape: TypeShape::List(Box::new(type_ref(item))), nullable: true },
        sdl::Type::NonNullType(inner) => TypeRef { nullable: false, ..type_ref(inner) },
    }
}

fn constant(value: sdl::Value<'static, String>) -> Value {
    match value {
        // The grammar of default values has no variables.
        sdl::Value::Null | sdl::Value::Variable(_) => Value::Null,
        sdl::Value::Int(int) => int.as_i64().map_or(Value::Null, Value::Int),
        sdl::Value::Float(float) => Value::Float(float),
        sdl::Value::String(string) => Value::String(string),
        sdl::Value::Boolean(boolean) => Value::Boolean(boolean),
        sdl::Value::Enum(name) => Value::Enum(name),
        sdl::Value::List(values) => Value::List(values.into_iter().map(constant).collect()),
        sdl::Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (name, constant(value))).collect())
        }
    }
}

fn directives(directives: Vec<sdl::Directive<'static, String>>) -> Vec<Directive> {
    let lower = |directive: sdl::Directive<'static, String>| Directive {
        name: directive.name,
        arguments: directive.arguments.into_iter().map(|(name, value)| (name, constant(value))).collect(),
    };
    directives.into_iter().map(lower).collect()
}

fn deprecated(directives: &[sdl::Directive<'static, String>]) -> Option<String> {
    let directive = directives.iter().find(|directive| directive.name == "deprecated")?;
    Some(string_argument(directive, "reason").unwrap_or_else(|| NO_LONGER_SUPPORTED.to_owned()))
}

fn specified_by(directives: &[sdl::Directive<'static, String>]) -> Option<String> {
    string_argument(directives.iter().find(|directive| directive.name == "specifiedBy")?, "url")
}

fn is_one_of(directives: &[sdl::Directive<'static, String>]) -> bool {
    directives.iter().any(|directive| directive.name == "oneOf")
}

fn string_argument(directive: &sdl::Directive<'static, String>, name: &str) -> Option<String> {
    directive.arguments.iter().find_map(|(argument, value)| match value {
        sdl::Value::String(string) if argument == name => Some(string.clone()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{bindings::Bindings, check::check, model::TypeRef};
    use super::*;

    /// Everything that graphql-parser refuses or misreads, and the correct result.
    #[test]
    fn syntax_that_graphql_parser_cannot_read_is_lowered() {
        let schema = check(
            "odd.graphql",
            r#"
            """
            The "schema".
              Indented, \"""quoted\""", \ and \n kept.
            """
            schema @mark { query: Root }
            extend schema { mutation: Change }
            directive @mark repeatable on | SCHEMA | OBJECT
            extend scalar Big @specifiedBy(url: "https://example.org/big")
            scalar Big
            "\u{1F600} \uD83D\uDE00 \b"
            type Root {
              all(huge: Big = 12345678901234567890123, small: Float = 1e09, text: String = """
                \u3000a
                \u00a0b
              """, min: Big = -9223372036854775808): Int @deprecated
            }
            type Change { old: [[Int!]]! @deprecated(reason: "\u0041") }
            interface Node { id: ID! }
            interface Deep { id: ID! }
            extend interface Deep implements Node
            extend input By { name: String }
            input By @oneOf { id: ID }
            "#
            .replace("\\u3000", "\u{3000}")
            .replace("\\u00a0", "\u{a0}")
            .as_str(),
            &Bindings::read("types.rs", "pub struct Big;").expect("bindings"),
        )
        .expect("a valid schema")
        .model;
        let said = schema.description.as_deref();
        assert_eq!(said, Some("The \"schema\".\n  Indented, \"\"\"quoted\"\"\", \\ and \\n kept."));
        assert_eq!((schema.query.as_str(), schema.mutation.as_deref()), ("Root", Some("Change")));
        let Some(Type::Scalar(big)) = schema.get("Big") else { panic!("Big") };
        assert_eq!(big.specified_by.as_deref(), Some("https://example.org/big"));
        let root = schema.object("Root").expect("Root");
        assert_eq!(root.description.as_deref(), Some("\u{1F600} \u{1F600} \u{8}"));
        assert_eq!(root.fields[0].deprecated.as_deref(), Some("No longer supported"));
        let defaults: Vec<_> = root.fields[0].args.iter().filter_map(|argument| argument.default.clone()).collect();
        let text = Value::String("\u{3000}a\n\u{a0}b".into());
        assert_eq!(defaults, [Value::Float(12345678901234567890123.0), Value::Float(1e9), text, Value::Int(i64::MIN)]);
        let old = &schema.object("Change").expect("Change").fields[0];
        assert_eq!((old.ty.to_string().as_str(), old.deprecated.as_deref()), ("[[Int!]]!", Some("A")));
        let Some(Type::Interface(deep)) = schema.get("Deep") else { panic!("Deep") };
        assert_eq!(deep.implements, ["Node"]);
        let by = schema.input("By").expect("By");
        assert!(by.one_of);
        assert_eq!(by.fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>(), ["id", "name"]);
        assert_eq!(by.fields[0].ty, TypeRef { shape: TypeShape::Named("ID".into()), nullable: true });
    }
}
