//! What the engine knows of a type before it sees an object of it: the tables that are generated from the SDL.

use super::input;

/// What the executor must know of an object type before it sees an object.
#[derive(Debug)]
pub struct ObjectInfo {
    /// The name in the SDL.
    pub name: &'static str,
    /// The fields in the SDL's order, `__typename` not among them.
    pub fields: &'static [FieldInfo],
}

/// What the executor must know of a field.
#[derive(Debug)]
pub struct FieldInfo {
    /// The name in the SDL.
    pub name: &'static str,
    /// Read from the object when the answer is written, or resolved for the whole level.
    pub kind: Kind,
    /// Whether the SDL lets the field be null.
    pub nullable: bool,
    /// Reads the arguments into the field's own type; absent when the field has none.
    pub arguments: Option<input::ReadArguments>,
    /// The object types that the field can answer with, in the SDL's order; none for scalars and enums.
    pub objects: &'static [&'static ObjectInfo],
    /// What it adds to the estimate of a request.
    pub cost: Cost,
    /// The scope that a caller needs to select the field.
    pub scope: Scope,
}

/// What a caller may do. Each scope includes the ones before it. The SDL says which scope a mutation requires; everything
/// else requires [`Scope::Read`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Queries.
    Read,
    /// Also mutations, except those that require [`Scope::Admin`].
    Write,
    /// Every mutation.
    Admin,
}

/// How a field is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// From the object alone.
    Column,
    /// By a resolver, for all objects of the level at once.
    Relation,
    /// With objects that the parents hold already.
    Held,
}

/// What a field adds to the estimate of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// What each answer counts: 1 for an object and 0 for anything else, unless the SDL says otherwise (`@cost`).
    pub weight: u32,
    /// What each day between the arguments `start` and `end` counts in addition.
    pub per_day: u32,
    /// How many answers there are for each parent.
    pub size: Size,
}

/// How many answers a field has for each parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// One, or none.
    One,
    /// One connection, whose lists hold a page: what the argument `first` asks for.
    Connection,
    /// The page of the connection that is the parent.
    Page,
    /// A list without pages, assumed to be this long (`@listSize`).
    List(u32),
}

impl Cost {
    /// That of a scalar.
    pub const NONE: Self = Self { weight: 0, per_day: 0, size: Size::One };
}
