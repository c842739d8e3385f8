//! The directives that the schema itself defines: what they mean, and where they stand. Those of the specification are
//! told in words where they stand: `@deprecated`, `@specifiedBy`, `@oneOf`.

use apollo_compiler::Schema;
use apollo_compiler::ast::DirectiveList;
use maud::{Markup, html};

use super::{PATH, description, signature};

/// Each directive with its arguments, under an anchor of its name.
pub(super) fn defined(schema: &Schema) -> Markup {
    let definitions: Vec<_> = schema.directive_definitions.values().filter(|it| !it.is_built_in()).collect();
    html! {
        @if !definitions.is_empty() { h2 #directives { "Directives" } }
        @for definition in definitions {
            h3.entry id={ "@" (definition.name) } { code { a.name href={ "#@" (definition.name) } { "@" (definition.name) } } }
            @if let Some(text) = &definition.description { (description::full(schema, text)) }
            (signature::arguments(schema, &definition.name, &definition.arguments))
        }
    }
}

/// The directives that stand at a definition, as the SDL writes them, each with a link to what it means.
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
