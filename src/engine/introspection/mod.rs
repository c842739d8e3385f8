//! Introspection: answers `__schema` and `__type` from the SDL, through the same executor as everything else.
//!
//! The types come from the specification's section "Introspection". They are written by hand because they serve every
//! schema, whatever state its resolvers share.

use std::sync::Arc;

use apollo_compiler::ast::{self, DirectiveList, FieldDefinition, InputValueDefinition, Type as TypeRef};
use apollo_compiler::schema::{Component, DirectiveDefinition, EnumValueDefinition, ExtendedType};
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Node as Shared, Schema as Sdl};
use async_graphql::MaybeUndefined;

use crate::input::{self, Fields, FromFields, InputError};
use crate::object::{Call, Object, Resolved};
use crate::shape::{AnswerShape, answer, answers, scalars};
use crate::write::{Scalar, Writer};

mod tables;

use tables::{DIRECTIVE, ENUM_VALUE, FIELD, INPUT_VALUE, SCHEMA, TYPE};
pub use tables::{SCHEMA_FIELD, TYPE_FIELD};

/// Resolves [`SCHEMA_FIELD`].
pub fn schema<'r, 'a, T>(call: Call<'r, 'a, T>) -> Resolved<'r, 'a> {
    Resolved::Now(answer(Ok(Schema(Arc::clone(call.schema())))))
}

/// Resolves [`TYPE_FIELD`].
pub fn type_by_name<'r, 'a, T>(call: Call<'r, 'a, T>) -> Resolved<'r, 'a> {
    let arguments: &TypeArguments = call.arguments();
    let sdl = call.schema();
    let found = sdl.types.get_key_value(arguments.name.as_str()).map(|(name, _)| Type::named(sdl, name));
    Resolved::Now(answer(Ok(found)))
}

struct TypeArguments {
    name: String,
}

impl FromFields for TypeArguments {
    fn from_fields(fields: &Fields) -> Result<Self, InputError> {
        Ok(Self { name: input::required(fields, "name")? })
    }
}

struct IncludeDeprecated(bool);

impl FromFields for IncludeDeprecated {
    fn from_fields(fields: &Fields) -> Result<Self, InputError> {
        let given: MaybeUndefined<bool> = input::optional(fields, "includeDeprecated")?;
        Ok(Self(given.take().unwrap_or(false)))
    }
}

impl IncludeDeprecated {
    fn admits(&self, directives: &DirectiveList) -> bool {
        self.0 || !directives.has("deprecated")
    }
}

/// `__Schema`
struct Schema(Arc<Valid<Sdl>>);

/// `__Type`: a type of the SDL, possibly wrapped in lists and non-null.
struct Type {
    sdl: Arc<Valid<Sdl>>,
    ty: TypeRef,
}

/// `__Field`
struct Field {
    sdl: Arc<Valid<Sdl>>,
    definition: Component<FieldDefinition>,
}

/// `__InputValue`
struct InputValue {
    sdl: Arc<Valid<Sdl>>,
    definition: Shared<InputValueDefinition>,
}

/// `__EnumValue`
struct EnumValue(Component<EnumValueDefinition>);

/// `__Directive`
struct Directive {
    sdl: Arc<Valid<Sdl>>,
    definition: Shared<DirectiveDefinition>,
}

impl Type {
    fn named(sdl: &Arc<Valid<Sdl>>, name: &Name) -> Self {
        Self { sdl: Arc::clone(sdl), ty: TypeRef::Named(name.clone()) }
    }

    fn new(sdl: &Arc<Valid<Sdl>>, ty: &TypeRef) -> Self {
        Self { sdl: Arc::clone(sdl), ty: ty.clone() }
    }

    /// The definition, unless the type is wrapped.
    fn definition(&self) -> Option<&ExtendedType> {
        match &self.ty {
            TypeRef::Named(name) => self.sdl.types.get(name),
            _ => None,
        }
    }

    fn kind(&self) -> &'static str {
        match (&self.ty, self.definition()) {
            (TypeRef::NonNullNamed(_) | TypeRef::NonNullList(_), _) => "NON_NULL",
            (TypeRef::List(_), _) => "LIST",
            (_, Some(ExtendedType::Object(_))) => "OBJECT",
            (_, Some(ExtendedType::Interface(_))) => "INTERFACE",
            (_, Some(ExtendedType::Union(_))) => "UNION",
            (_, Some(ExtendedType::Enum(_))) => "ENUM",
            (_, Some(ExtendedType::InputObject(_))) => "INPUT_OBJECT",
            (_, Some(ExtendedType::Scalar(_)) | None) => "SCALAR",
        }
    }

    fn fields(&self, include: &IncludeDeprecated) -> Option<Vec<Field>> {
        let fields = match self.definition()? {
            ExtendedType::Object(object) => &object.fields,
            ExtendedType::Interface(interface) => &interface.fields,
            _ => return None,
        };
        let admitted = fields.values().filter(|field| include.admits(&field.directives));
        Some(admitted.map(|field| Field { sdl: Arc::clone(&self.sdl), definition: field.clone() }).collect())
    }

    fn interfaces(&self) -> Option<Vec<Self>> {
        let names = match self.definition()? {
            ExtendedType::Object(object) => &object.implements_interfaces,
            ExtendedType::Interface(interface) => &interface.implements_interfaces,
            _ => return None,
        };
        Some(names.iter().map(|name| Self::named(&self.sdl, name)).collect())
    }

    fn possible_types(&self) -> Option<Vec<Self>> {
        match self.definition()? {
            ExtendedType::Union(union) => Some(union.members.iter().map(|name| Self::named(&self.sdl, name)).collect()),
            ExtendedType::Interface(interface) => {
                let implements = |name: &&Name| match self.sdl.types.get(*name) {
                    Some(ExtendedType::Object(object)) => object.implements_interfaces.contains(&interface.name),
                    _ => false,
                };
                Some(self.sdl.types.keys().filter(implements).map(|name| Self::named(&self.sdl, name)).collect())
            }
            _ => None,
        }
    }

    fn enum_values(&self, include: &IncludeDeprecated) -> Option<Vec<EnumValue>> {
        let ExtendedType::Enum(definition) = self.definition()? else { return None };
        let admitted = definition.values.values().filter(|value| include.admits(&value.directives));
        Some(admitted.map(|value| EnumValue(value.clone())).collect())
    }

    fn input_fields(&self, include: &IncludeDeprecated) -> Option<Vec<InputValue>> {
        let ExtendedType::InputObject(definition) = self.definition()? else { return None };
        let admitted = definition.fields.values().filter(|field| include.admits(&field.directives));
        Some(admitted.map(|field| InputValue { sdl: Arc::clone(&self.sdl), definition: field.node.clone() }).collect())
    }

    fn of_type(&self) -> Option<Self> {
        let inner = match &self.ty {
            TypeRef::Named(_) => return None,
            TypeRef::NonNullNamed(name) => TypeRef::Named(name.clone()),
            TypeRef::NonNullList(item) => TypeRef::List(item.clone()),
            TypeRef::List(item) => (**item).clone(),
        };
        Some(Self { sdl: Arc::clone(&self.sdl), ty: inner })
    }

    fn specified_by(&self) -> Option<&str> {
        let ExtendedType::Scalar(scalar) = self.definition()? else { return None };
        scalar.directives.get("specifiedBy")?.specified_argument_by_name("url")?.as_str()
    }

    fn is_one_of(&self) -> Option<bool> {
        let ExtendedType::InputObject(definition) = self.definition()? else { return None };
        Some(definition.directives.has("oneOf"))
    }
}

impl Schema {
    fn directives(&self) -> Vec<Directive> {
        // The SDL's own directives first, then the built-in ones in the order of the specification.
        const BUILT_IN: [&str; 5] = ["include", "skip", "deprecated", "specifiedBy", "oneOf"];
        let definitions = &self.0.directive_definitions;
        let own = definitions.values().filter(|definition| !BUILT_IN.contains(&definition.name.as_str()));
        let built_in = BUILT_IN.iter().filter_map(|name| definitions.get(*name));
        own.chain(built_in)
            .map(|definition| Directive { sdl: Arc::clone(&self.0), definition: definition.clone() })
            .collect()
    }

    fn root(&self, operation: ast::OperationType) -> Option<Type> {
        self.0.root_operation(operation).map(|name| Type::named(&self.0, name))
    }
}

/// The types in the order of `__schema`: the SDL's order, each built-in scalar after the first type that uses it, the
/// introspection types last.
fn types_in_order(sdl: &Sdl) -> impl Iterator<Item = &Name> {
    let (introspection, rest): (Vec<_>, Vec<_>) = sdl.types.values().partition(|ty| ty.name().starts_with("__"));
    let mut order = apollo_compiler::collections::IndexSet::default();
    let name_uses = |ty: &'_ ExtendedType| -> Vec<Name> {
        let arguments = |arguments: &[Shared<InputValueDefinition>]| {
            arguments.iter().map(|argument| argument.ty.inner_named_type().clone()).collect::<Vec<_>>()
        };
        let fields = |fields: &apollo_compiler::collections::IndexMap<Name, Component<FieldDefinition>>| {
            let each = |field: &Component<FieldDefinition>| {
                let mut names = vec![field.ty.inner_named_type().clone()];
                names.extend(arguments(&field.arguments));
                names
            };
            fields.values().flat_map(each).collect::<Vec<_>>()
        };
        match ty {
            ExtendedType::Object(object) => fields(&object.fields),
            ExtendedType::Interface(interface) => fields(&interface.fields),
            ExtendedType::InputObject(input) => {
                input.fields.values().map(|field| field.ty.inner_named_type().clone()).collect()
            }
            _ => Vec::new(),
        }
    };
    for ty in rest.iter().filter(|ty| !ty.is_built_in()) {
        order.insert(ty.name().clone());
        for name in name_uses(ty) {
            if sdl.types.get(&name).is_some_and(ExtendedType::is_built_in) {
                order.insert(name);
            }
        }
    }
    for definition in sdl.directive_definitions.values() {
        for argument in &definition.arguments {
            order.insert(argument.ty.inner_named_type().clone());
        }
    }
    // The introspection types use these two.
    for name in ["String", "Boolean"] {
        if let Some((name, _)) = sdl.types.get_key_value(name) {
            order.insert(name.clone());
        }
    }
    for ty in introspection {
        order.insert(ty.name().clone());
    }
    let found: Vec<_> = order.iter().filter_map(|name| sdl.types.get_key_value(name)).map(|(name, _)| name).collect();
    found.into_iter()
}

/// Implements the executor's trait for an introspection type: its table, columns and relations, by name.
macro_rules! object {
    ($type:ty, $info:ident,
     columns($this:ident, $out:ident) { $($column:literal => $write:expr,)* }
     relations($call:ident) { $($relation:literal => $resolve:expr,)* }) => {
        impl Object for $type {
            fn write_column(&self, field: u16, $out: &mut Writer<'_>) {
                let $this = self;
                match $info.fields[field as usize].name {
                    $($column => $write,)*
                    _ => $out.null(),
                }
            }

            fn resolve<'r, 'a: 'r>($call: Call<'r, 'a, Self>) -> Resolved<'r, 'a> {
                match $call.name() {
                    $($relation => $resolve,)*
                    _ => $call.unresolved(),
                }
            }
        }
    };
}

/// Resolves a relation that is computed for each parent.
fn each<'r, 'a, T, V: AnswerShape>(call: Call<'r, 'a, T>, answer: impl Fn(&'a T) -> V) -> Resolved<'r, 'a> {
    Resolved::Now(answers(Ok(call.rows.iter().map(|row| answer(row)).collect())))
}

object! {
    Schema, SCHEMA,
    columns(schema, out) {
        "description" => schema.0.schema_definition.description.as_deref().write(out),
    }
    relations(call) {
        "types" => each(call, |schema| {
            types_in_order(&schema.0).map(|name| Type::named(&schema.0, name)).collect::<Vec<_>>()
        }),
        "queryType" => each(call, |schema| schema.root(ast::OperationType::Query)),
        "mutationType" => each(call, |schema| schema.root(ast::OperationType::Mutation)),
        "subscriptionType" => each(call, |schema| schema.root(ast::OperationType::Subscription)),
        "directives" => each(call, |schema| schema.directives()),
    }
}

object! {
    Type, TYPE,
    columns(ty, out) {
        "kind" => ty.kind().write(out),
        "name" => ty.definition().map(|definition| definition.name().as_str()).write(out),
        "description" => ty.definition().and_then(|definition| description_of(definition)).write(out),
        "specifiedByURL" => ty.specified_by().write(out),
        "isOneOf" => ty.is_one_of().write(out),
    }
    relations(call) {
        "fields" => {
            let include = call.arguments();
            each(call, |ty| ty.fields(include))
        },
        "interfaces" => each(call, |ty| ty.interfaces()),
        "possibleTypes" => each(call, |ty| ty.possible_types()),
        "enumValues" => {
            let include = call.arguments();
            each(call, |ty| ty.enum_values(include))
        },
        "inputFields" => {
            let include = call.arguments();
            each(call, |ty| ty.input_fields(include))
        },
        "ofType" => each(call, |ty| ty.of_type()),
    }
}

object! {
    Field, FIELD,
    columns(field, out) {
        "name" => field.definition.name.as_str().write(out),
        "description" => field.definition.description.as_deref().write(out),
        "isDeprecated" => field.definition.directives.has("deprecated").write(out),
        "deprecationReason" => deprecation_reason(&field.definition.directives).write(out),
    }
    relations(call) {
        "args" => {
            let include = call.arguments();
            each(call, |field| arguments(&field.sdl, &field.definition.arguments, include))
        },
        "type" => each(call, |field| Type::new(&field.sdl, &field.definition.ty)),
    }
}

object! {
    InputValue, INPUT_VALUE,
    columns(value, out) {
        "name" => value.definition.name.as_str().write(out),
        "description" => value.definition.description.as_deref().write(out),
        "defaultValue" => value.definition.default_value.as_ref().map(|value| literal(value)).write(out),
        "isDeprecated" => value.definition.directives.has("deprecated").write(out),
        "deprecationReason" => deprecation_reason(&value.definition.directives).write(out),
    }
    relations(call) {
        "type" => each(call, |value| Type::new(&value.sdl, &value.definition.ty)),
    }
}

object! {
    EnumValue, ENUM_VALUE,
    columns(value, out) {
        "name" => value.0.value.as_str().write(out),
        "description" => value.0.description.as_deref().write(out),
        "isDeprecated" => value.0.directives.has("deprecated").write(out),
        "deprecationReason" => deprecation_reason(&value.0.directives).write(out),
    }
    relations(call) {}
}

object! {
    Directive, DIRECTIVE,
    columns(directive, out) {
        "name" => directive.definition.name.as_str().write(out),
        "description" => directive.definition.description.as_deref().write(out),
        "isRepeatable" => directive.definition.repeatable.write(out),
    }
    relations(call) {
        "locations" => {
            let locations = call.rows.iter().map(|directive| {
                directive.definition.locations.iter().map(|location| location.name().to_owned()).collect::<Vec<_>>()
            });
            Resolved::Now(scalars(Ok(locations.collect())))
        },
        "args" => {
            let include = call.arguments();
            each(call, |directive| {
                arguments(&directive.sdl, &directive.definition.arguments, include)
            })
        },
    }
}

fn arguments(
    sdl: &Arc<Valid<Sdl>>,
    arguments: &[Shared<InputValueDefinition>],
    include: &IncludeDeprecated,
) -> Vec<InputValue> {
    let admitted = arguments.iter().filter(|argument| include.admits(&argument.directives));
    admitted.map(|argument| InputValue { sdl: Arc::clone(sdl), definition: argument.clone() }).collect()
}

fn description_of(definition: &ExtendedType) -> Option<&str> {
    match definition {
        ExtendedType::Scalar(definition) => definition.description.as_deref(),
        ExtendedType::Object(definition) => definition.description.as_deref(),
        ExtendedType::Interface(definition) => definition.description.as_deref(),
        ExtendedType::Union(definition) => definition.description.as_deref(),
        ExtendedType::Enum(definition) => definition.description.as_deref(),
        ExtendedType::InputObject(definition) => definition.description.as_deref(),
    }
}

/// The reason of `@deprecated`, or the specification's default.
fn deprecation_reason(directives: &DirectiveList) -> Option<&str> {
    let deprecated = directives.get("deprecated")?;
    match deprecated.specified_argument_by_name("reason") {
        Some(reason) => reason.as_str(),
        None => Some("No longer supported"),
    }
}

/// A default value as the SDL writes it, on one line.
fn literal(value: &ast::Value) -> String {
    fn write(value: &ast::Value, out: &mut String) {
        match value {
            ast::Value::Null => out.push_str("null"),
            ast::Value::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
            ast::Value::Int(int) => out.push_str(int.as_str()),
            ast::Value::Float(float) => out.push_str(float.as_str()),
            ast::Value::Enum(name) => out.push_str(name),
            ast::Value::Variable(name) => out.extend(["$", name]),
            ast::Value::String(text) => {
                out.push('"');
                text.chars().for_each(|character| escape(character, out));
                out.push('"');
            }
            ast::Value::List(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    out.push_str(if i > 0 { ", " } else { "" });
                    write(item, out);
                }
                out.push(']');
            }
            ast::Value::Object(fields) => {
                out.push('{');
                for (i, (name, value)) in fields.iter().enumerate() {
                    out.extend([if i > 0 { ", " } else { "" }, name, ": "]);
                    write(value, out);
                }
                out.push('}');
            }
        }
    }
    fn escape(character: char, out: &mut String) {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            control if control.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(control))),
            other => out.push(other),
        }
    }
    let mut text = String::new();
    write(value, &mut text);
    text
}
