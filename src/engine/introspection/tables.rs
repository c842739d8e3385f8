//! The tables of the introspection types: their fields, in the order of the specification.

use super::{IncludeDeprecated, TypeArguments};
use crate::tables::{FieldInfo, ObjectInfo, column, relation};

const SCHEMAS: &[&ObjectInfo] = &[&SCHEMA];
const TYPES: &[&ObjectInfo] = &[&TYPE];

/// The root field `__schema`.
pub const SCHEMA_FIELD: FieldInfo = relation("__schema", SCHEMAS);

/// The root field `__type`.
pub const TYPE_FIELD: FieldInfo = relation("__type", TYPES).nullable().args::<TypeArguments>();

// Each costs one object, lists too: an introspection response is bounded by the size of the schema and the limit on nested
// lists.
const fn deprecable(name: &'static str, objects: &'static [&'static ObjectInfo]) -> FieldInfo {
    relation(name, objects).args::<IncludeDeprecated>()
}

pub(super) static SCHEMA: ObjectInfo = ObjectInfo {
    name: "__Schema",
    fields: &[
        column("description").nullable(),
        relation("types", &[&TYPE]),
        relation("queryType", &[&TYPE]),
        relation("mutationType", &[&TYPE]).nullable(),
        relation("subscriptionType", &[&TYPE]).nullable(),
        relation("directives", &[&DIRECTIVE]),
    ],
};

pub(super) static TYPE: ObjectInfo = ObjectInfo {
    name: "__Type",
    fields: &[
        column("kind"),
        column("name").nullable(),
        column("description").nullable(),
        column("specifiedByURL").nullable(),
        deprecable("fields", &[&FIELD]).nullable(),
        relation("interfaces", &[&TYPE]).nullable(),
        relation("possibleTypes", &[&TYPE]).nullable(),
        deprecable("enumValues", &[&ENUM_VALUE]).nullable(),
        deprecable("inputFields", &[&INPUT_VALUE]).nullable(),
        relation("ofType", &[&TYPE]).nullable(),
        column("isOneOf").nullable(),
    ],
};

pub(super) static FIELD: ObjectInfo = ObjectInfo {
    name: "__Field",
    fields: &[
        column("name"),
        column("description").nullable(),
        deprecable("args", &[&INPUT_VALUE]),
        relation("type", &[&TYPE]),
        column("isDeprecated"),
        column("deprecationReason").nullable(),
    ],
};

pub(super) static INPUT_VALUE: ObjectInfo = ObjectInfo {
    name: "__InputValue",
    fields: &[
        column("name"),
        column("description").nullable(),
        relation("type", &[&TYPE]),
        column("defaultValue").nullable(),
        column("isDeprecated"),
        column("deprecationReason").nullable(),
    ],
};

pub(super) static ENUM_VALUE: ObjectInfo = ObjectInfo {
    name: "__EnumValue",
    fields: &[
        column("name"),
        column("description").nullable(),
        column("isDeprecated"),
        column("deprecationReason").nullable(),
    ],
};

pub(super) static DIRECTIVE: ObjectInfo = ObjectInfo {
    name: "__Directive",
    fields: &[
        column("name"),
        column("description").nullable(),
        column("isRepeatable"),
        relation("locations", &[]).weighing(1, 0),
        deprecable("args", &[&INPUT_VALUE]),
    ],
};
