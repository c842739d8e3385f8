//! Parses the SDL for validation and introspection.

use apollo_compiler::ast::{FieldDefinition, Type};
use apollo_compiler::schema::{Component, ExtendedType};
use apollo_compiler::validation::Valid;
use apollo_compiler::{Schema, name};

/// Built into every schema by the specification of 2025. apollo-compiler 1.33 implements that of 2021.
const ONE_OF: &str = r#"
"Indicates exactly one field must be supplied and this field must not be `null`."
directive @oneOf on INPUT_OBJECT
"#;

/// Parses and validates an SDL text.
///
/// # Errors
/// The problems of the SDL, for the log. The build reports them in more detail.
pub fn parse(sdl: &str) -> Result<Valid<Schema>, String> {
    let mut builder = Schema::builder().parse(sdl, "schema.graphql");
    if !sdl.contains("directive @oneOf") {
        builder = builder.parse(ONE_OF, "built-in.graphql");
    }
    let schema = builder.build().map_err(|e| e.to_string())?;
    let mut schema = schema.validate().map_err(|e| e.to_string())?.into_inner();
    complete_introspection(&mut schema);
    Ok(Valid::assume_valid(schema))
}

/// Adds the newer introspection fields, and orders fields like other servers do.
fn complete_introspection(schema: &mut Schema) {
    fn put(schema: &mut Schema, ty: &str, field: &str, place: usize) {
        if let Some(ExtendedType::Object(object)) = schema.types.get_mut(ty) {
            let fields = &mut object.make_mut().fields;
            if let Some(from) = fields.get_index_of(field) {
                fields.move_index(from, place);
            }
        }
    }
    if let Some(ExtendedType::Object(object)) = schema.types.get_mut("__Type") {
        let is_one_of = FieldDefinition {
            description: None,
            name: name!("isOneOf"),
            arguments: Vec::new(),
            ty: Type::Named(name!("Boolean")),
            directives: Default::default(),
        };
        object.make_mut().fields.entry(name!("isOneOf")).or_insert_with(|| Component::new(is_one_of));
    }
    put(schema, "__Type", "specifiedByURL", 3);
    put(schema, "__Directive", "isRepeatable", 2);
}
