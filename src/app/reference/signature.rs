//! Types, default values and deprecations in SDL syntax. Types link to their pages.

use apollo_compiler::ast::{DirectiveList, InputValueDefinition, Type, Value};
use apollo_compiler::{Node, Schema};
use maud::{Markup, html};

use super::{PATH, description, directives};

/// A type with list and non-null marks: `[Tag!]!`.
pub(super) fn ty(ty: &Type) -> Markup {
    let (whole, name) = (ty.to_string(), ty.inner_named_type().as_str());
    // The name occurs once, among brackets and marks.
    let (before, after) = whole.split_once(name).unwrap_or_default();
    html! { (before) (named(name)) (after) }
}

/// A type name with its link.
pub(super) fn named(name: &str) -> Markup {
    html! { a href={ (PATH) "/" (name) } { (name) } }
}

/// A field of a type: `Service.owner`.
pub(super) fn place(ty: &str, field: &str) -> Markup {
    html! { a href={ (PATH) "/" (ty) "#" (field) } { (ty) "." wbr; (field) } }
}

/// A default value.
pub(super) fn default(value: &Node<Value>) -> String {
    value.serialize().no_indent().to_string()
}

/// The part after the name of an argument or input field.
pub(super) fn input_value(value: &InputValueDefinition) -> Markup {
    html! {
        ": " (ty(&value.ty))
        @if let Some(value) = &value.default_value { " = " (default(value)) }
    }
}

/// The arguments of a field or directive.
pub(super) fn arguments(schema: &Schema, arguments: &[Node<InputValueDefinition>]) -> Markup {
    html! {
        @if !arguments.is_empty() {
            dl.arguments {
                @for argument in arguments {
                    dt {
                        code { span.name { (argument.name) } (input_value(argument)) }
                        @if deprecation(&argument.directives).is_some() { " " span.mark.warn { "deprecated" } }
                    }
                    dd {
                        (deprecated(&argument.directives))
                        (directives::applied(schema, &argument.directives))
                        @if let Some(text) = &argument.description { (description::full(schema, text)) }
                    }
                }
            }
        }
    }
}

/// The reason of a deprecation.
pub(super) fn deprecation(directives: &DirectiveList) -> Option<&str> {
    let reason = directives.get("deprecated")?.specified_argument_by_name("reason");
    Some(reason.and_then(|reason| reason.as_str()).unwrap_or("No longer supported"))
}

/// The deprecation as its own line.
pub(super) fn deprecated(directives: &DirectiveList) -> Markup {
    html! {
        @if let Some(reason) = deprecation(directives) { p.warning { strong { "Deprecated:" } " " (reason) } }
    }
}
