//! Finds SDL types that need a hand-written Rust type and have none in the module `types`.
//!
//! Generated structs hold the values of all their fields, which suits payloads and other plain data. A type must be
//! bound if its values are looked up: a field has arguments or needs the request, a connection pages through it, or it
//! has a field `id: ID!`. A scalar must be bound if it is used.

use apollo_compiler::Schema as Checked;

use super::bindings::{Bindings, TYPES};
use super::diagnostics::Problem;
use super::model::{Object, Schema, Type};
use super::names::{resolver, snake_case};
use super::source::Source;

/// Reports every unbound type at its name. `schema` has the locations of the types of `model`.
pub(super) fn check(model: &Schema, bindings: &Bindings, schema: &Checked, source: &Source<'_>) -> Vec<Problem> {
    let at = |name: &str| source.range(schema.types.get(name)?.name().location());
    let mut problems = Vec::new();
    for object in model.objects().filter(|object| !model.is_root(&object.name) && !bindings.binds(&object.name)) {
        let name = &object.name;
        if let Some(reason) = reason(object, model, bindings) {
            let module = snake_case(name);
            problems.push(Problem::new(
                at(name),
                format!("`{name}` must be bound to a Rust type: {reason}"),
                Some(format!(
                    "make the entity in src/catalogue/entity/{module}.rs, add `pub use crate::entity::{module}::Model as {name};` to \
                     {TYPES}, and write `impl {} for {name}` in {}",
                    resolver(name),
                    bindings.file(name)
                )),
            ));
        }
    }
    for ty in &model.types {
        if let Type::Scalar(scalar) = ty
            && !bindings.binds(&scalar.name)
            && is_used(model, &scalar.name)
        {
            let name = &scalar.name;
            problems.push(Problem::new(
                at(name),
                format!("the scalar `{name}` must be bound to a Rust type"),
                Some(format!(
                    "make a type that implements `Scalar`, to be written, and `Input`, to be read, and add \
                     `pub use crate::entity::{name};` to {TYPES}"
                )),
            ));
        }
    }
    // `ID` is built in, so it is reported at the first field that returns one.
    let mut fields = model.objects().flat_map(|object| object.fields.iter().map(move |field| (object, field)));
    if !bindings.binds("ID")
        && let Some((object, field)) = fields.find(|(_, field)| field.ty.name() == "ID")
    {
        let definition = schema.get_object(&object.name).and_then(|object| object.fields.get(field.name.as_str()));
        problems.push(Problem::new(
            source.range(definition.and_then(|field| field.name.location())),
            "the scalar `ID` must be bound to a Rust type",
            Some(format!("make a type that implements `Scalar`, and add `pub use super::id::Id as ID;` to {TYPES}")),
        ));
    }
    problems
}

/// Why the object type cannot be plain data. `None` if it can.
fn reason(object: &Object, model: &Schema, bindings: &Bindings) -> Option<String> {
    for field in &object.fields {
        let name = &field.name;
        if !field.args.is_empty() {
            return Some(format!("its field `{name}` has arguments"));
        }
        if bindings.is_computed(&object.name, name) {
            return Some(format!("its field `{name}` depends on the request"));
        }
        if name == "id" && field.ty.to_string() == "ID!" {
            return Some("its field `id` makes it a row that can be looked up".to_owned());
        }
    }
    let connection = model.objects().find(|other| model.connection(other) == Some(&object.name))?;
    Some(format!("`{}` pages through it", connection.name))
}

/// Whether a field, an argument or an input field has this scalar as its type.
fn is_used(model: &Schema, scalar: &str) -> bool {
    model.types.iter().any(|ty| match ty {
        Type::Object(object) => {
            let mut fields = object.fields.iter();
            fields.any(|field| field.ty.name() == scalar || field.args.iter().any(|given| given.ty.name() == scalar))
        }
        Type::Input(input) => input.fields.iter().any(|field| field.ty.name() == scalar),
        _ => false,
    })
}
