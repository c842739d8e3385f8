//! The schema's own directives where they are applied. The specification's directives (`@deprecated`, `@specifiedBy`,
//! `@oneOf`) are shown in words instead.

use apollo_compiler::Schema;
use apollo_compiler::ast::DirectiveList;
use maud::{Markup, html};

use super::PATH;

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
