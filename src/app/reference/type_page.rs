//! The page of a type: its description, its members, and where it is used.

use apollo_compiler::ast::{DirectiveList, FieldDefinition};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Name, Node, Schema};
use maud::{Markup, html};

use super::signature::{self, deprecation};
use super::uses::{FieldRef, Uses};
use super::{PATH, description, directives};

/// Everything below the type's name.
pub(super) fn show(schema: &Schema, definition: &ExtendedType, uses: Option<&Uses>) -> Markup {
    let specified_by = definition.directives().get("specifiedBy");
    let specified_by = specified_by.and_then(|it| it.specified_argument_by_name("url")?.as_str());
    html! {
        p { span.mark { (kind(definition)) } " · " a href=(PATH) { "All types" } }
        @if let Some(text) = definition.description() { (description::full(schema, text)) }
        @if definition.directives().has("oneOf") { p { "Exactly one of its fields must be given." } }
        @if let Some(url) = specified_by { p { "Specified by " a href=(url) { (url) } "." } }
        @match definition {
            ExtendedType::Object(object) => {
                (names("Implements", object.implements_interfaces.iter().map(|name| &name.name)))
                (fields(schema, object.fields.values().map(|field| &***field)))
            },
            ExtendedType::Interface(interface) => {
                (names("Implements", interface.implements_interfaces.iter().map(|name| &name.name)))
                (fields(schema, interface.fields.values().map(|field| &***field)))
            },
            ExtendedType::InputObject(input) => {
                h2 { "Fields" }
                @for field in input.fields.values() {
                    (entry(schema, &field.name, signature::input_value(field), field.description.as_ref(), &field.directives))
                }
            },
            ExtendedType::Enum(definition) => {
                h2 { "Values" }
                @for value in definition.values.values() {
                    (entry(schema, &value.value, html! {}, value.description.as_ref(), &value.directives))
                }
            },
            ExtendedType::Scalar(_) | ExtendedType::Union(_) => {},
        }
        @if let Some(uses) = uses {
            (names("Possible types", uses.possible.iter()))
            (names("Part of", uses.unions.iter()))
            (places("Returned by", &uses.returned_by))
            (places("Argument of", &uses.argument_of))
            (places("Field of", &uses.part_of))
        }
    }
}

/// The SDL's word for this kind of type.
fn kind(definition: &ExtendedType) -> &'static str {
    match definition {
        ExtendedType::Object(_) => "type",
        ExtendedType::Interface(_) => "interface",
        ExtendedType::Union(_) => "union",
        ExtendedType::Enum(_) => "enum",
        ExtendedType::InputObject(_) => "input",
        ExtendedType::Scalar(_) => "scalar",
    }
}

fn fields<'s>(schema: &Schema, fields: impl Iterator<Item = &'s FieldDefinition>) -> Markup {
    html! {
        h2 { "Fields" }
        @for field in fields {
            @match &*field.arguments {
                // The page of the input says what it is. With a list for each, the page of all mutations would be too long.
                [only] if schema.get_input_object(only.ty.inner_named_type()).is_some() => {
                    @let signature = html! { "(" (only.name) ": " (signature::ty(&only.ty)) "): " (signature::ty(&field.ty)) };
                    (entry(schema, &field.name, signature, field.description.as_ref(), &field.directives))
                },
                arguments => {
                    (entry(schema, &field.name, html! { ": " (signature::ty(&field.ty)) }, field.description.as_ref(), &field.directives))
                    (signature::arguments(schema, arguments))
                },
            }
        }
    }
}

/// A member with its name as an anchor.
fn entry(
    schema: &Schema,
    name: &Name,
    signature: Markup,
    description: Option<&Node<str>>,
    list: &DirectiveList,
) -> Markup {
    html! {
        h3.entry id=(name) {
            code { a.name href={ "#" (name) } { (name) } (signature) }
            @if deprecation(list).is_some() { " " span.mark.warn { "deprecated" } }
        }
        (signature::deprecated(list))
        (directives::applied(schema, list))
        @if let Some(text) = description { (description::full(schema, text)) }
    }
}

fn names<'s>(title: &str, names: impl ExactSizeIterator<Item = &'s Name>) -> Markup {
    html! {
        @if names.len() > 0 {
            h2 { (title) }
            ul.names { @for name in names { li { code { (signature::named(name)) } } } }
        }
    }
}

fn places(title: &str, places: &[FieldRef]) -> Markup {
    html! {
        @if !places.is_empty() {
            h2 { (title) }
            ul.names { @for place in places { li { code { (signature::place(&place.ty, &place.field)) } } } }
        }
    }
}
