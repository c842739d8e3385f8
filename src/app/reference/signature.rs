//! Types, defaults and deprecations, as the SDL writes them; every type leads to its page.

use apollo_compiler::ast::{DirectiveList, InputValueDefinition, Type, Value};
use apollo_compiler::{Node, Schema};
use maud::{Markup, html};

use super::{PATH, description, directives};

/// A type with its lists and marks: `[Tag!]!`.
pub(super) fn ty(ty: &Type) -> Markup {
    let (whole, name) = (ty.to_string(), ty.inner_named_type().as_str());
    // The name stands in it once, among brackets and marks.
    let (before, after) = whole.split_once(name).unwrap_or_default();
    html! { (before) (named(name)) (after) }
}

/// The name of a type.
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

/// What follows the name of an argument or of an input's field.
pub(super) fn input_value(value: &InputValueDefinition) -> Markup {
    html! {
        ": " (ty(&value.ty))
        @if let Some(value) = &value.default_value { " = " (default(value)) }
    }
}

/// The arguments of the field or directive `of`.
pub(super) fn arguments(schema: &Schema, of: &str, arguments: &[Node<InputValueDefinition>]) -> Markup {
    html! {
        @if !arguments.is_empty() {
            dl.arguments aria-label={ "Arguments of " (of) } {
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

/// Why something is not to be used any more.
pub(super) fn deprecation(directives: &DirectiveList) -> Option<&str> {
    let reason = directives.get("deprecated")?.specified_argument_by_name("reason");
    Some(reason.and_then(|reason| reason.as_str()).unwrap_or("No longer supported"))
}

/// The same, as a line of its own.
pub(super) fn deprecated(directives: &DirectiveList) -> Markup {
    html! {
        @if let Some(reason) = deprecation(directives) { p.warning { strong { "Deprecated:" } " " (reason) } }
    }
}
