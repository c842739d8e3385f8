//! Static descriptions of types and fields, generated from the SDL.

use super::input;

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
    pub kind: Kind,
    /// Whether the SDL allows null.
    pub nullable: bool,
    /// Coerces the arguments. `None` when the field has none.
    pub arguments: Option<input::ReadArguments>,
    /// The object types that the field can return, in the SDL's order. Empty for scalars and enums.
    pub objects: &'static [&'static ObjectInfo],
    /// What it adds to the estimate of a request.
    pub cost: Cost,
    /// The scope that a caller needs to select the field.
    pub scope: Scope,
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
pub enum Kind {
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
