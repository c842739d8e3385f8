//! A uniform view of apollo-compiler's syntax tree. Its seventeen kinds of definitions contain different parts; code
//! that walks all of them (`respell`, `check`) need not distinguish them.

use apollo_compiler::{
    Name, Node,
    ast::{Definition, Directive, EnumValueDefinition, FieldDefinition, InputValueDefinition},
};

/// The parts of a definition or extension. Parts that its kind cannot have are empty.
#[derive(Default)]
pub(super) struct Parts<'a> {
    pub(super) name: Option<&'a Name>,
    pub(super) description: Option<&'a Node<str>>,
    pub(super) directives: &'a [Node<Directive>],
    pub(super) fields: &'a [Node<FieldDefinition>],
    /// The fields of an input object, or the arguments of a directive.
    pub(super) inputs: &'a [Node<InputValueDefinition>],
    pub(super) values: &'a [Node<EnumValueDefinition>],
}

/// Returns the parts of a definition. Operations and fragments have none: `check` refuses them.
pub(super) fn parts(definition: &Definition) -> Parts<'_> {
    macro_rules! parts {
        ($node:ident $(, $part:ident: $value:expr)*) => {
            Parts { name: Some(&$node.name), $($part: $value,)* ..Parts::default() }
        };
    }
    macro_rules! described {
        ($node:ident $(, $part:ident: $value:expr)*) => {
            parts!($node, description: $node.description.as_ref(), directives: &$node.directives $(, $part: $value)*)
        };
    }
    macro_rules! extension {
        ($node:ident $(, $part:ident: $value:expr)*) => {
            parts!($node, directives: &$node.directives $(, $part: $value)*)
        };
    }
    match definition {
        Definition::DirectiveDefinition(d) => parts!(d, description: d.description.as_ref(), inputs: &d.arguments),
        Definition::ScalarTypeDefinition(d) => described!(d),
        Definition::ObjectTypeDefinition(d) => described!(d, fields: &d.fields),
        Definition::InterfaceTypeDefinition(d) => described!(d, fields: &d.fields),
        Definition::UnionTypeDefinition(d) => described!(d),
        Definition::EnumTypeDefinition(d) => described!(d, values: &d.values),
        Definition::InputObjectTypeDefinition(d) => described!(d, inputs: &d.fields),
        Definition::ScalarTypeExtension(e) => extension!(e),
        Definition::ObjectTypeExtension(e) => extension!(e, fields: &e.fields),
        Definition::InterfaceTypeExtension(e) => extension!(e, fields: &e.fields),
        Definition::UnionTypeExtension(e) => extension!(e),
        Definition::EnumTypeExtension(e) => extension!(e, values: &e.values),
        Definition::InputObjectTypeExtension(e) => extension!(e, inputs: &e.fields),
        Definition::SchemaDefinition(_)
        | Definition::SchemaExtension(_)
        | Definition::OperationDefinition(_)
        | Definition::FragmentDefinition(_) => Parts::default(),
    }
}
