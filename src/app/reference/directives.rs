//! The schema's own directives: their definitions and where they are applied. The specification's directives
//! (`@deprecated`, `@specifiedBy`, `@oneOf`) are shown in words instead.

use apollo_compiler::Schema;
use apollo_compiler::ast::DirectiveList;
use maud::{Markup, html};

use super::{PATH, description, signature};

/// Lists the directives and their arguments, each under an anchor of its name.
pub(super) fn defined(schema: &Schema) -> Markup {
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

/// The directives applied to a definition, in SDL syntax, each linked to its definition.
pub(super) fn applied(schema: &Schema, directives: &DirectiveList) -> Markup {
    let is_own = |name: &str| schema.directive_definitions.get(name).is_some_and(|it| !it.is_built_in());
    let own: Vec<_> = directives.iter().filter(|directive| is_own(&directive.name)).collect();
    html! {
        @if !own.is_empty() {
            p { @for directive in own {
                code { a href={ (PATH) "#@" (directive.name) } { (directive.serialize().no_indent()) } } " "
            } }
        }
    }
}
