//! The tables of the introspection types: their fields, in the order of the specification.

use super::{IncludeDeprecated, TypeArguments};
use crate::engine::input;
use crate::engine::tables::{Cost, FieldInfo, Kind, ObjectInfo, Scope, Size};

/// The root field `__schema`.
pub const SCHEMA_FIELD: FieldInfo = FieldInfo {
    name: "__schema",
    kind: Kind::Relation,
    nullable: false,
    arguments: None,
    objects: &[&SCHEMA],
    cost: ONE,
    scope: Scope::Read,
};

/// The root field `__type`.
pub const TYPE_FIELD: FieldInfo = FieldInfo {
    name: "__type",
    kind: Kind::Relation,
    nullable: true,
    arguments: Some(input::read_arguments::<TypeArguments>),
    objects: &[&TYPE],
    cost: ONE,
    scope: Scope::Read,
};

const fn column(name: &'static str, nullable: bool) -> FieldInfo {
    FieldInfo {
        name,
        kind: Kind::Column,
        nullable,
        arguments: None,
        objects: &[],
        cost: Cost::NONE,
        scope: Scope::Read,
    }
}

/// The cost of one object. An introspection response is bounded by the size of the schema and the limit on nested
/// lists.
const ONE: Cost = Cost { weight: 1, per_day: 0, size: Size::One };

const fn relation(name: &'static str, nullable: bool, objects: &'static [&'static ObjectInfo]) -> FieldInfo {
    FieldInfo { name, kind: Kind::Relation, nullable, arguments: None, objects, cost: ONE, scope: Scope::Read }
}

const fn deprecable(name: &'static str, nullable: bool, objects: &'static [&'static ObjectInfo]) -> FieldInfo {
    let arguments = Some(input::read_arguments::<IncludeDeprecated> as input::ReadArguments);
    FieldInfo { name, kind: Kind::Relation, nullable, arguments, objects, cost: ONE, scope: Scope::Read }
}

pub(super) static SCHEMA: ObjectInfo = ObjectInfo {
    name: "__Schema",
    fields: &[
        column("description", true),
        relation("types", false, &[&TYPE]),
        relation("queryType", false, &[&TYPE]),
        relation("mutationType", true, &[&TYPE]),
        relation("subscriptionType", true, &[&TYPE]),
        relation("directives", false, &[&DIRECTIVE]),
    ],
};

pub(super) static TYPE: ObjectInfo = ObjectInfo {
    name: "__Type",
    fields: &[
        column("kind", false),
        column("name", true),
        column("description", true),
        column("specifiedByURL", true),
        deprecable("fields", true, &[&FIELD]),
        relation("interfaces", true, &[&TYPE]),
        relation("possibleTypes", true, &[&TYPE]),
        deprecable("enumValues", true, &[&ENUM_VALUE]),
        deprecable("inputFields", true, &[&INPUT_VALUE]),
        relation("ofType", true, &[&TYPE]),
        column("isOneOf", true),
    ],
};

pub(super) static FIELD: ObjectInfo = ObjectInfo {
    name: "__Field",
    fields: &[
        column("name", false),
        column("description", true),
        deprecable("args", false, &[&INPUT_VALUE]),
        relation("type", false, &[&TYPE]),
        column("isDeprecated", false),
        column("deprecationReason", true),
    ],
};

pub(super) static INPUT_VALUE: ObjectInfo = ObjectInfo {
    name: "__InputValue",
    fields: &[
        column("name", false),
        column("description", true),
        relation("type", false, &[&TYPE]),
        column("defaultValue", true),
        column("isDeprecated", false),
        column("deprecationReason", true),
    ],
};

pub(super) static ENUM_VALUE: ObjectInfo = ObjectInfo {
    name: "__EnumValue",
    fields: &[
        column("name", false),
        column("description", true),
        column("isDeprecated", false),
        column("deprecationReason", true),
    ],
};

pub(super) static DIRECTIVE: ObjectInfo = ObjectInfo {
    name: "__Directive",
    fields: &[
        column("name", false),
        column("description", true),
        column("isRepeatable", false),
        relation("locations", false, &[]),
        deprecable("args", false, &[&INPUT_VALUE]),
    ],
};
