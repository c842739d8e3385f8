//! The interface between generated code and the engine. Generated code gives access to a type's columns and relations
//! ([`Object`] for each object type, [`Composite`] for each interface and union); the engine passes the [`Execution`]
//! that they run in.
//!
//! Everything is generic over the resolvers' shared [`State`], so that introspection works for every schema.

use std::any::Any;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;

use super::input::Arguments;
use super::plan::{FieldPlan, ObjectPlan};
use super::tables::ObjectInfo;
use super::write::{Bubble, Writer};
use crate::budget::{Budget, Excess};
use crate::error::{Code, Error, Result};

/// A boxed future: one for each relation of a level, never one for each row.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Creates and boxes a future in a stack frame of its own. Without optimisation, a function that creates one of many
/// futures reserves stack for all of them; with all mutations in one function, the stack overflowed.
pub fn boxed<'a, T, F>(make: impl FnOnce() -> F) -> BoxFuture<'a, T>
where
    F: Future<Output = T> + Send + 'a,
{
    Box::pin(make())
}

/// What the resolvers of one request share: the database, the settings, the caller.
pub trait State: Send + Sync + Sized + 'static {
    /// The state of a mutation's resolver: a write transaction.
    type Writing: Send + Sync + 'static;
    /// Begins the transaction of the mutation `name`.
    fn begin(&self, name: &str) -> impl Future<Output = Result<Self::Writing>> + Send;
    /// Records a mutation in the audit, inside its transaction. `name` is the field, `index` its position among the
    /// operation's root fields, and `subject` the ids in its payload, as JSON.
    fn note(
        &self,
        writing: &Self::Writing,
        name: &str,
        index: usize,
        subject: &[u8],
    ) -> impl Future<Output = Result<()>> + Send {
        let _ = (writing, name, index, subject);
        async { Ok(()) }
    }
    /// Ends the transaction: commits it or rolls it back. Rolling back fails as a [lost race](Self::lost_a_race) if what
    /// the mutation has read may never be committed.
    fn end(&self, writing: Self::Writing, commit: bool) -> impl Future<Output = Result<()>> + Send;
    /// Opens a snapshot to read the payload of a mutation, after it has committed.
    fn read(&self) -> impl Future<Output = Result<Self>> + Send;
    /// The resources that the request may still use.
    fn budget(&self) -> &Budget {
        Budget::unlimited()
    }
    /// Runs the writes of the mutation `name`, and fails when they take too long. Nothing is committed yet.
    fn in_time<T: Send>(
        &self,
        name: &str,
        writes: impl Future<Output = Result<T>> + Send,
    ) -> impl Future<Output = Result<T>> + Send {
        let _ = name;
        writes
    }
    /// Logs an internal error and returns the text and the code to show to the client.
    fn report(&self, error: &Error) -> (String, Code);
    /// Whether a mutation failed because of a concurrent change, so that it can be retried from the start.
    fn lost_a_race(&self, error: &Error) -> bool;
    /// The schema that introspection describes.
    fn schema(&self) -> &Arc<Valid<Schema>>;
}

/// A schema that was validated.
pub type ValidSchema = Valid<Schema>;

/// Owns resolved values until the response is written, so that everything else can borrow them.
pub(super) type Arena = elsa::sync::FrozenVec<Box<dyn Any + Send + Sync>>;

/// One run of a plan.
pub struct Execution<'a, S> {
    pub(super) state: &'a S,
    pub(super) budget: &'a Budget,
    /// The snapshot for a mutation's payload.
    pub(super) reading: Option<Arc<S>>,
    pub(super) arguments: &'a [Arguments],
    pub(super) arena: &'a Arena,
    /// The position of the running mutation among the root fields.
    pub(super) mutation: usize,
}

/// What a resolver receives besides its parents and arguments.
pub struct Context<'a, S> {
    /// The request's state.
    pub state: &'a S,
    pub(super) field: &'a FieldPlan,
}

impl<S> Context<'_, S> {
    /// Whether the client selects `field` directly below the current field.
    pub fn selects(&self, field: &str) -> bool {
        self.field.below().any(|child| child.name() == field)
    }

    /// Whether the client selects any of `fields` below `path`, which begins directly below the current field.
    pub fn selects_at(&self, path: &[&str], fields: &[&str]) -> bool {
        fn finds(field: &FieldPlan, path: &[&str], fields: &[&str]) -> bool {
            match path {
                [] => field.below().any(|child| fields.contains(&child.name())),
                [first, rest @ ..] => {
                    field.below().filter(|child| child.name() == *first).any(|child| finds(child, rest, fields))
                }
            }
        }
        finds(self.field, path, fields)
    }
}

impl<'a, S: State> Execution<'a, S> {
    /// The context of the resolver of `field`.
    pub fn context<'c>(&'c self, field: &'c FieldPlan) -> Context<'c, S> {
        Context { state: self.reading.as_deref().unwrap_or(self.state), field }
    }

    /// The arguments of `field`, coerced before execution began.
    ///
    /// # Panics
    /// When `A` is not the type that the field's [`FieldInfo::arguments`] reads. Generated code names both.
    pub fn arguments<A: 'static>(&self, field: &FieldPlan) -> &'a A {
        let slot = field.arguments.expect("a field with arguments has a slot for them");
        self.arguments[slot].downcast_ref().expect("the slot holds the type that the field's arguments are read into")
    }

    pub(super) fn keep<T: Send + Sync + 'static>(&self, value: T) -> &'a T {
        self.arena.push_get(Box::new(value)).downcast_ref().expect("the arena returns the value just pushed")
    }

    /// Charges objects to the budget. Returns the slot to use when they exceed it.
    pub(super) fn charge(&self, objects: usize) -> Result<(), Slot<'a>> {
        let ended = |excess: Excess| Slot::Failed { message: excess.to_string(), code: Code::TooExpensive };
        self.budget.charge_objects(objects).map_err(ended)
    }

    pub(super) fn fail(&self, error: Error) -> Slot<'a> {
        // An exhausted budget is reported once, as itself, rather than as the errors it causes.
        if let Some(excess) = self.budget.exceeded() {
            return Slot::Failed { message: excess.to_string(), code: Code::TooExpensive };
        }
        let (message, code) = match &error {
            Error::User(errors) => (error.to_string(), errors.first().map_or(Code::BadUserInput, |e| e.code)),
            Error::Internal(_) => self.state.report(&error),
        };
        Slot::Failed { message, code }
    }

    /// Resolves a field that has no resolver, to an internal error. Plans never contain such a field.
    pub fn unresolved<'r>(&self, field: &FieldPlan) -> BoxFuture<'r, Slot<'a>>
    where
        'a: 'r,
    {
        Box::pin(ready(self.fail(Error::internal(format!("{} has no resolver", field.name())))))
    }

    /// The schema that introspection describes.
    pub fn schema(&self) -> &'a Arc<Valid<Schema>> {
        self.state.schema()
    }
}

/// A relation of a level, resolved.
pub enum Slot<'a> {
    /// A value for each parent.
    Values(Box<dyn Rows<'a> + 'a>),
    /// The same error for each parent.
    Failed {
        /// The message for the client.
        message: String,
        /// The error code.
        code: Code,
    },
}

/// `Err` when the value must become null.
pub type Written = std::result::Result<(), Bubble>;

/// Resolved objects of one or more concrete types, in the order in which they were collected.
pub struct Children<'a> {
    levels: Vec<Box<dyn Rows<'a> + 'a>>,
    /// For interfaces and unions, the level and row of each object. `None` for an object type, which has one level.
    places: Option<Vec<(u16, u32)>>,
}

impl<'a> Children<'a> {
    /// Objects of one concrete type.
    pub(super) fn of_one(level: Box<dyn Rows<'a> + 'a>) -> Self {
        Self { levels: vec![level], places: None }
    }

    /// The objects of an interface or union: those of each possible type, and the place of each object.
    pub fn of_several(types: Vec<Self>, places: Vec<(u16, u32)>) -> Self {
        Self { levels: types.into_iter().flat_map(|children| children.levels).collect(), places: Some(places) }
    }

    /// Writes the object that was collected at position `place`.
    #[inline]
    pub fn write(&self, place: usize, out: &mut Writer<'a>) -> Written {
        match &self.places {
            None => self.levels[0].write(place, out),
            Some(places) => {
                let (level, row) = places[place];
                self.levels[level as usize].write(row as usize, out)
            }
        }
    }
}

/// Values that can be written one by one.
pub trait Rows<'a>: Send + Sync {
    /// Writes the value of a row.
    fn write(&self, row: usize, out: &mut Writer<'a>) -> Written;
}

/// Marks the Rust type of an SDL object, interface or union. The marker distinguishes the leaves of an
/// [`AnswerShape`] from lists.
pub trait Node: Send + Sync + Sized + 'static {}

/// An object type, resolved with state `S`.
pub trait Object<S: State>: Node {
    /// Its name and fields.
    const INFO: &'static ObjectInfo;

    /// Writes a column. `field` is an index into [`ObjectInfo::fields`].
    fn write_column(&self, field: u16, out: &mut Writer<'_>);

    /// Resolves a relation for all objects of a level.
    fn resolve<'r, 'a: 'r>(
        rows: &'r [&'a Self],
        field: &'a FieldPlan,
        execution: &'r Execution<'a, S>,
    ) -> BoxFuture<'r, Slot<'a>>;
}

/// An object type, interface or union: the result of a field with a selection.
pub trait Composite<S: State>: Node {
    /// Resolves everything selected below these objects. `plans` has one entry for each possible object type.
    fn resolve<'r, 'a: 'r>(
        nodes: Vec<&'a Self>,
        plans: &'a [ObjectPlan],
        execution: &'r Execution<'a, S>,
    ) -> BoxFuture<'r, Children<'a>>;
}
