//! The scope that a mutation requires: `@access(requires: write)`. The directive may have a second argument, which
//! generates nothing.
//!
//! In a schema that defines the directive, every mutation must have one. In a schema that does not, every mutation
//! requires the highest scope. Only mutations may have one, because no other scope would be enforced.

use apollo_compiler::{Name, Schema as Checked, ast::Type, schema::ExtendedType};

use super::{diagnostics::Problem, source::Source};

/// The directive's name.
pub(super) const DIRECTIVE: &str = "access";
/// Its argument.
pub(super) const ARGUMENT: &str = "requires";
/// The lowest scope.
pub(super) const READ: &str = "read";
/// The highest scope.
pub(super) const ADMIN: &str = "admin";
/// All scopes, lowest first.
const SCOPES: [&str; 3] = [READ, "write", ADMIN];

/// Reports every mutation without a scope, and every scope that would not be enforced.
pub(super) fn check(schema: &Checked, source: &Source<'_>) -> Vec<Problem> {
    let Some(definition) = schema.directive_definitions.get(DIRECTIVE) else { return Vec::new() };
    let mut problems = Vec::new();
    let mut report = |at: &Name, message: String, help: String| {
        problems.push(Problem::new(source.range(at.location()), message, Some(help)));
    };
    let listed = SCOPES.join(", ");
    let scopes = match &definition.arguments[..] {
        [argument] | [argument, _] if argument.name == ARGUMENT && argument.default_value.is_none() => {
            match &*argument.ty {
                Type::NonNullNamed(scopes) => schema.get_enum(scopes),
                _ => None,
            }
        }
        _ => None,
    };
    match scopes {
        None => report(
            &definition.name,
            format!("`@{DIRECTIVE}` sets the scope that a mutation requires, but is not defined as expected"),
            format!(
                "define `directive @{DIRECTIVE}({ARGUMENT}: Scope!) on FIELD_DEFINITION`, where `Scope` is an enum"
            ),
        ),
        Some(scopes) => {
            for value in scopes.values.values().filter(|value| !SCOPES.contains(&value.value.as_str())) {
                report(&value.value, format!("`{}` is not a scope", value.value), format!("the scopes are {listed}"));
            }
        }
    }
    let mutation = schema.schema_definition.mutation.as_ref().map(|root| &root.name);
    for ty in schema.types.values().filter(|ty| !ty.is_built_in()) {
        let fields = match ty {
            ExtendedType::Object(object) => &object.fields,
            ExtendedType::Interface(interface) => &interface.fields,
            _ => continue,
        };
        let is_mutation = mutation == Some(ty.name());
        for field in fields.values().filter(|field| field.directives.has(DIRECTIVE) != is_mutation) {
            let place = format!("`{}.{}`", ty.name(), field.name);
            if is_mutation {
                report(
                    &field.name,
                    format!("{place} does not say which scope it requires"),
                    format!("write `@{DIRECTIVE}({ARGUMENT}: write)` after its type; the scopes are {listed}"),
                );
            } else {
                report(
                    &field.name,
                    format!("{place} is not a mutation, so its `@{DIRECTIVE}` would not be enforced"),
                    format!("remove `@{DIRECTIVE}`; its resolver can check the caller"),
                );
            }
        }
    }
    problems
}
