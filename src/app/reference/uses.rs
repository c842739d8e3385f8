//! Where each type of a schema is used.

use apollo_compiler::collections::HashMap;
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Name, Schema};

/// The uses of one type, in the SDL's order.
#[derive(Default)]
pub(super) struct Uses {
    /// The fields that return it.
    pub(super) returned_by: Vec<FieldRef>,
    /// The fields that take it as an argument.
    pub(super) argument_of: Vec<FieldRef>,
    /// The input fields of its type.
    pub(super) part_of: Vec<FieldRef>,
    /// The types that implement it; for a union, its members.
    pub(super) possible: Vec<Name>,
    /// The unions it belongs to.
    pub(super) unions: Vec<Name>,
}

/// A field of a type.
#[derive(Clone, PartialEq)]
pub(super) struct FieldRef {
    pub(super) ty: Name,
    pub(super) field: Name,
}

/// Returns the uses of every type that is used. Skips introspection types.
pub(super) fn by_type(schema: &Schema) -> HashMap<Name, Uses> {
    let mut uses: HashMap<Name, Uses> = HashMap::default();
    for (ty, definition) in schema.types.iter().filter(|(_, definition)| !definition.is_built_in()) {
        let fields = match definition {
            ExtendedType::Object(object) => &object.fields,
            ExtendedType::Interface(interface) => &interface.fields,
            ExtendedType::InputObject(input) => {
                for field in input.fields.values() {
                    let used = uses.entry(field.ty.inner_named_type().clone()).or_default();
                    used.part_of.push(FieldRef { ty: ty.clone(), field: field.name.clone() });
                }
                continue;
            }
            ExtendedType::Union(union) => {
                for member in &union.members {
                    uses.entry(ty.clone()).or_default().possible.push(member.name.clone());
                    uses.entry(member.name.clone()).or_default().unions.push(ty.clone());
                }
                continue;
            }
            ExtendedType::Enum(_) | ExtendedType::Scalar(_) => continue,
        };
        for field in fields.values() {
            let place = FieldRef { ty: ty.clone(), field: field.name.clone() };
            for argument in &field.arguments {
                let taken = &mut uses.entry(argument.ty.inner_named_type().clone()).or_default().argument_of;
                if taken.last() != Some(&place) {
                    taken.push(place.clone());
                }
            }
            uses.entry(field.ty.inner_named_type().clone()).or_default().returned_by.push(place);
        }
        let interfaces = match definition {
            ExtendedType::Object(object) => &object.implements_interfaces,
            ExtendedType::Interface(interface) => &interface.implements_interfaces,
            _ => continue,
        };
        for interface in interfaces {
            uses.entry(interface.name.clone()).or_default().possible.push(ty.clone());
        }
    }
    uses
}
