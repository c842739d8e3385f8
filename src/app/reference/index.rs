//! The reference's start page: queries, mutations, and all types by kind.

use apollo_compiler::ast::{FieldDefinition, OperationType, Type};
use apollo_compiler::collections::HashMap;
use apollo_compiler::schema::{ExtendedType, ObjectType};
use apollo_compiler::{Name, Node, Schema};
use maud::{Markup, html};

use super::uses::Uses;
use super::{description, signature};

/// Everything below the search form.
pub(super) fn show(schema: &Schema, uses: &HashMap<Name, Uses>) -> Markup {
    let root = |operation| schema.get_object(schema.root_operation(operation)?).map(|root| &**root);
    let (query, mutation) = (root(OperationType::Query), root(OperationType::Mutation));
    html! {
        @if let Some(text) = &schema.schema_definition.description { (description::full(schema, text)) }
        p { "As one file: " a href="/public/schema.graphql" { "schema.graphql" } "." }
        @if let Some(query) = query { h2 #queries { "Queries" } (fields(query)) }
        // A query with a single entry point says little, so list the fields below it too.
        @if let Some(inner) = query.and_then(|query| only_field_type(schema, query)) {
            p { "And the fields of " code { (signature::named(&inner.name)) } ":" }
            (fields(inner))
        }
        @if let Some(mutation) = mutation {
            h2 #mutations { "Mutations" }
            p { "By name. " a href={ (super::PATH) "/" (mutation.name) } { "The page of all mutations" } " says what each does." }
            (names(mutation.fields.values().map(|it| (link(mutation, it), is_deprecated(it)))))
        }
        @for (group, title) in GROUPS {
            @let types = schema.types.values().filter(|ty| is_listed(schema, ty));
            @let types: Vec<_> = types.filter(|ty| Group::containing(ty, mutation, uses) == *group).collect();
            @if !types.is_empty() {
                h2 { (title) }
                // What these are for is in their names.
                @if [Group::Input, Group::Payload, Group::Connection].contains(group) {
                    (names(types.iter().map(|ty| (signature::named(ty.name()), false))))
                } @else {
                    (list(types.iter().map(|ty| (signature::named(ty.name()), ty.description(), false))))
                }
            }
        }
        (directives(schema))
    }
}

/// Lists the directives and their arguments, each under an anchor of its name.
fn directives(schema: &Schema) -> Markup {
    let definitions: Vec<_> = schema.directive_definitions.values().filter(|it| !it.is_built_in()).collect();
    html! {
        @if !definitions.is_empty() { h2 #directives { "Directives" } }
        @for definition in definitions {
            h3.entry id={ "@" (definition.name) } { code { a.name href={ "#@" (definition.name) } { "@" (definition.name) } } }
            @if let Some(text) = &definition.description { (description::full(schema, text)) }
            (signature::arguments(schema, &definition.arguments))
        }
    }
}

/// The type of a root's only field, if that field has no arguments.
fn only_field_type<'s>(schema: &'s Schema, root: &ObjectType) -> Option<&'s ObjectType> {
    let mut fields = root.fields.values();
    let (field, None) = (fields.next()?, fields.next()) else { return None };
    let (Type::Named(name) | Type::NonNullNamed(name)) = &field.ty else { return None };
    let behind = schema.get_object(name).filter(|_| field.arguments.is_empty());
    behind.map(|object| &**object)
}

fn is_listed(schema: &Schema, ty: &ExtendedType) -> bool {
    let operations = [OperationType::Query, OperationType::Mutation];
    !ty.name().starts_with("__") && !operations.iter().any(|it| schema.root_operation(*it) == Some(ty.name()))
}

#[derive(PartialEq)]
enum Group {
    Object,
    Interface,
    Union,
    Input,
    Enum,
    Scalar,
    Payload,
    Connection,
}

const GROUPS: &[(Group, &str)] = &[
    (Group::Object, "Types"),
    (Group::Interface, "Interfaces"),
    (Group::Union, "Unions"),
    (Group::Input, "Inputs"),
    (Group::Enum, "Enums"),
    (Group::Scalar, "Scalars"),
    (Group::Payload, "Mutation payloads"),
    (Group::Connection, "Connections and edges"),
];

impl Group {
    fn containing(ty: &ExtendedType, mutation: Option<&ObjectType>, uses: &HashMap<Name, Uses>) -> Self {
        match ty {
            ExtendedType::Object(object) => {
                let has = |field: &str| object.fields.contains_key(field);
                let returned_by = uses.get(&object.name).map_or(&[][..], |uses| &uses.returned_by);
                let answers = mutation.is_some_and(|root| returned_by.iter().any(|place| place.ty == root.name));
                if answers {
                    Self::Payload
                } else if has("pageInfo") || (has("node") && has("cursor")) {
                    Self::Connection
                } else {
                    Self::Object
                }
            }
            ExtendedType::Interface(_) => Self::Interface,
            ExtendedType::Union(_) => Self::Union,
            ExtendedType::InputObject(_) => Self::Input,
            ExtendedType::Enum(_) => Self::Enum,
            ExtendedType::Scalar(_) => Self::Scalar,
        }
    }
}

fn link(ty: &ObjectType, field: &FieldDefinition) -> Markup {
    html! { a href={ (super::PATH) "/" (ty.name) "#" (field.name) } { (field.name) } }
}

fn is_deprecated(field: &FieldDefinition) -> bool {
    signature::deprecation(&field.directives).is_some()
}

fn fields(ty: &ObjectType) -> Markup {
    let field = |field: &FieldDefinition| html! { (link(ty, field)) ": " (signature::ty(&field.ty)) };
    list(ty.fields.values().map(|it| (field(it), it.description.as_ref(), is_deprecated(it))))
}

/// Names alone, one behind the other: a list with the sentences of all mutations would be half of the start page.
fn names(entries: impl Iterator<Item = (Markup, bool)>) -> Markup {
    html! {
        p.names {
            @for (place, (name, deprecated)) in entries.enumerate() {
                @if place > 0 { ", " }
                (name)
                @if deprecated { " " span.mark.warn { "deprecated" } }
            }
        }
    }
}

/// A list of names, each with the first sentence of its description. The style sheet shows names as code: a `code` element
/// for each would add 7 % to the start page.
pub(super) fn list<'s>(entries: impl Iterator<Item = (Markup, Option<&'s Node<str>>, bool)>) -> Markup {
    html! {
        dl.listing {
            @for (name, text, deprecated) in entries {
                div {
                    dt { (name) @if deprecated { " " span.mark.warn { "deprecated" } } }
                    dd { @if let Some(text) = text { (description::summary(text)) } }
                }
            }
        }
    }
}
