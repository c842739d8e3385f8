//! Static descriptions of types and fields, generated from the SDL.

use super::input::{self, FromFields};

/// The static description of an object type.
#[derive(Debug)]
pub struct ObjectInfo {
    /// The name in the SDL.
    pub name: &'static str,
    /// The fields in the SDL's order, without `__typename`.
    pub fields: &'static [FieldInfo],
}

/// The static description of a field.
#[derive(Debug)]
pub struct FieldInfo {
    /// The name in the SDL.
    pub name: &'static str,
    /// How the field is resolved.
    pub kind: FieldKind,
    /// Whether the SDL allows null.
    pub nullable: bool,
    /// Whether the SDL allows null in the field's list. Only known of the nodes of a connection.
    pub nullable_items: bool,
    /// Coerces the arguments. `None` when the field has none.
    pub arguments: Option<input::ReadArguments>,
    /// The object types that the field can return, in the SDL's order. Empty for scalars and enums.
    pub objects: &'static [&'static ObjectInfo],
    /// What it adds to the estimate of a request.
    pub cost: Cost,
    /// The scope that a caller needs to select the field.
    pub scope: Scope,
    /// The groups of columns that it reads, as a bit set ([`Parted`](super::object::Parted)). All of them, unless the
    /// generator knows better.
    pub reads: u8,
}

impl ObjectInfo {
    /// The object types of a field.
    fn objects_of(&self, field: &str) -> &'static [&'static ObjectInfo] {
        self.fields.iter().find(|info| info.name == field).map_or(&[], |info| info.objects)
    }

    /// Whether this is a connection of nodes of the type `node` and no other.
    pub(super) fn pages_through(&self, node: &'static ObjectInfo) -> bool {
        let is_node = |objects: &[&'static ObjectInfo]| matches!(objects, [one] if std::ptr::eq(*one, node));
        let is_edge = |objects: &[&'static ObjectInfo]| matches!(objects, [edge] if is_node(edge.objects_of("node")));
        is_node(self.objects_of("nodes")) && is_edge(self.objects_of("edges"))
    }
}

/// A field that is read from the object while the response is written.
pub const fn column(name: &'static str) -> FieldInfo {
    FieldInfo::new(name, FieldKind::Column, &[])
}

/// A field of a resolver. `objects` are the object types that it can return, none for scalars and enums.
pub const fn relation(name: &'static str, objects: &'static [&'static ObjectInfo]) -> FieldInfo {
    FieldInfo::new(name, FieldKind::Relation, objects)
}

/// A field whose objects, or scalars, the parents already hold.
pub const fn held(name: &'static str, objects: &'static [&'static ObjectInfo]) -> FieldInfo {
    FieldInfo::new(name, FieldKind::Held, objects)
}

impl FieldInfo {
    /// A field that is never null and has no arguments. It costs one object, or nothing without objects.
    const fn new(name: &'static str, kind: FieldKind, objects: &'static [&'static ObjectInfo]) -> Self {
        let cost = if objects.is_empty() { Cost::NONE } else { Cost { weight: 1, ..Cost::NONE } };
        let (nullable, nullable_items, arguments, scope, reads) = (false, false, None, Scope::Read, u8::MAX);
        Self { name, kind, nullable, nullable_items, arguments, objects, cost, scope, reads }
    }

    /// It may be null.
    pub const fn nullable(self) -> Self {
        Self { nullable: true, ..self }
    }

    /// It is a list in which null may be.
    pub const fn nullable_items(self) -> Self {
        Self { nullable_items: true, ..self }
    }

    /// It has arguments, which are read into an `A`.
    pub const fn args<A: FromFields + Send + Sync + 'static>(self) -> Self {
        Self { arguments: Some(input::read_arguments::<A>), ..self }
    }

    /// It has the weight that `@cost` says.
    pub const fn weighing(self, weight: u32, per_day: u32) -> Self {
        Self { cost: Cost { weight, per_day, ..self.cost }, ..self }
    }

    const fn sized(self, size: Size) -> Self {
        Self { cost: Cost { size, ..self.cost }, ..self }
    }

    /// It is a connection.
    pub const fn connection(self) -> Self {
        self.sized(Size::Connection)
    }

    /// It is a list of a connection.
    pub const fn page(self) -> Self {
        self.sized(Size::Page)
    }

    /// It is another list, of this assumed length.
    pub const fn list(self, length: u32) -> Self {
        self.sized(Size::List(length))
    }

    /// It reads no other groups of columns than these, a bit set.
    pub const fn reading(self, groups: u8) -> Self {
        Self { reads: groups, ..self }
    }

    /// It requires [`Scope::Write`].
    pub const fn write(self) -> Self {
        Self { scope: Scope::Write, ..self }
    }

    /// It requires [`Scope::Admin`].
    pub const fn admin(self) -> Self {
        Self { scope: Scope::Admin, ..self }
    }
}

/// What a caller may do. Each scope includes the ones before it. The SDL says which scope a mutation requires;
/// everything else requires [`Scope::Read`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Queries.
    Read,
    /// Also mutations, except those that require [`Scope::Admin`].
    Write,
    /// Every mutation.
    Admin,
}

/// How a field is resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// Read from the object while the response is written.
    Column,
    /// By a resolver, once for all objects of the level.
    Relation,
    /// Read from the parents, which already hold the objects.
    Held,
}

/// What a field adds to the estimate of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// The weight of each value: 1 for an object, 0 for anything else, unless the SDL says otherwise (`@cost`).
    pub weight: u32,
    /// The additional weight of each day between the arguments `start` and `end`.
    pub per_day: u32,
    /// How many values there are for each parent.
    pub size: Size,
}

/// How many values a field has for each parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// At most one.
    One,
    /// One connection. Its lists hold a page, sized by the argument `first`.
    Connection,
    /// The page of the parent connection.
    Page,
    /// A list without pages, of this assumed length (`@listSize`).
    List(u32),
}

impl Cost {
    /// The cost of a scalar.
    pub const NONE: Self = Self { weight: 0, per_day: 0, size: Size::One };
}
