//! What generated code tells the executor of a type: its table ([`ObjectInfo`]) and the way to its columns and relations
//! ([`Object`] for each object type, [`Composite`] for each interface and union).

use std::future::Future;
use std::pin::Pin;

use super::execute::{Execution, Slot, State, level};
use super::input;
use super::plan::{FieldPlan, ObjectPlan};
use super::shape::Children;
use super::write::Writer;

/// A future on the heap; one for each relation of a level, never one for each row.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

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

/// What stands for an SDL object, interface or union. It has no methods: it tells the ends of a [`Shape`] from lists.
pub trait Node: Send + Sync + Sized + 'static {}

/// An object type, resolved with a state of type `S`.
pub trait Object<S: State>: Node {
    /// Its name and fields.
    const INFO: &'static ObjectInfo;

    /// Writes a column. `field` counts in the order of [`ObjectInfo::fields`].
    fn write_column(&self, field: u16, out: &mut Writer<'_>);

    /// Resolves a relation of all the objects of a level.
    fn resolve<'r, 'a: 'r>(
        rows: &'r [&'a Self],
        field: &'a FieldPlan,
        execution: &'r Execution<'a, S>,
    ) -> BoxFuture<'r, Slot<'a>>;
}

/// An object type, an interface or a union: what a field with a selection answers with.
pub trait Composite<S: State>: Node {
    /// Resolves all that is selected below these objects; `plans` has one entry for each possible object type.
    fn resolve<'r, 'a: 'r>(
        nodes: Vec<&'a Self>,
        plans: &'a [ObjectPlan],
        execution: &'r Execution<'a, S>,
    ) -> BoxFuture<'r, Children<'a>>;
}

impl<S: State, T: Object<S>> Composite<S> for T {
    fn resolve<'r, 'a: 'r>(
        nodes: Vec<&'a Self>,
        plans: &'a [ObjectPlan],
        execution: &'r Execution<'a, S>,
    ) -> BoxFuture<'r, Children<'a>> {
        Box::pin(async move { Children::of_one(level(nodes, &plans[0], execution).await) })
    }
}
