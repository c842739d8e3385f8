//! Types, defaults and deprecations, as the SDL writes them; every type leads to its page.

use apollo_compiler::Node;
use apollo_compiler::ast::{DirectiveList, Type, Value};
use maud::{Markup, html};

use super::PATH;

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
