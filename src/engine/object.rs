//! What generated code gives the engine for a type, and what it is given: the way to a type's columns and relations
//! ([`Object`] for each object type, [`Composite`] for each interface and union), and the [`Execution`] that they are part of.
//!
//! All of it is generic over the resolvers' shared [`State`], so that introspection serves every schema.

use std::any::Any;
use std::future::Future;
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

/// A future on the heap; one for each relation of a level, never one for each row.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What resolvers share: the database, the settings, who asks. One for each request.
pub trait State: Send + Sync + Sized + 'static {
    /// What the resolver of a mutation is given instead: a transaction that it writes in.
    type Writing: Send + Sync + 'static;
    /// Begins the transaction of one mutation.
    fn begin(&self) -> impl Future<Output = Result<Self::Writing>> + Send;
    /// Notes, inside the transaction, that the mutation `name` was done, the root field `index` of its operation.
    /// `subject` is JSON: what identifies the things that it answered with.
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
    /// Ends it: the writes are kept when `commit` says so, and gone otherwise.
    fn end(&self, writing: Self::Writing, commit: bool) -> impl Future<Output = Result<()>> + Send;
    /// Begins to read what a mutation answered with, once its writes are kept: all of it at one moment.
    fn read(&self) -> impl Future<Output = Result<Self>> + Send;
    /// What the request may still use.
    fn budget(&self) -> &Budget {
        Budget::unlimited()
    }
    /// Logs an error that the caller cannot mend and answers with what may be shown of it.
    fn report(&self, error: &Error) -> String;
    /// Whether a mutation failed because others came between: run again, from its beginning, it sees what they did.
    fn lost_a_race(&self, error: &Error) -> bool;
    /// The schema that introspection describes.
    fn schema(&self) -> &Arc<Valid<Schema>>;
}

/// A schema that was validated.
pub type ValidSchema = Valid<Schema>;

/// Resolved values live here until the answer is written, so that everything else may borrow them.
pub(super) type Arena = elsa::sync::FrozenVec<Box<dyn Any + Send + Sync>>;

/// One run of a plan.
pub struct Execution<'a, S> {
    pub(super) state: &'a S,
    pub(super) budget: &'a Budget,
    /// What a mutation's answer is read with.
    pub(super) reading: Option<Arc<S>>,
    pub(super) arguments: &'a [Arguments],
    pub(super) arena: &'a Arena,
    /// The root field of a mutation that is being run, by its place.
    pub(super) mutation: usize,
}

/// What a resolver is given beside its parents and its arguments.
pub struct Context<'a, S> {
    /// The request's state.
    pub state: &'a S,
    pub(super) field: &'a FieldPlan,
}

impl<S> Context<'_, S> {
    /// Whether the client selects `field` directly below the field that is being resolved.
    pub fn selects(&self, field: &str) -> bool {
        self.field.children.iter().flat_map(|object| &object.fields).any(|child| child.name() == field)
    }
}

impl<'a, S: State> Execution<'a, S> {
    /// The context of the resolver of `field`.
    pub fn context<'c>(&'c self, field: &'c FieldPlan) -> Context<'c, S> {
        Context { state: self.reading.as_deref().unwrap_or(self.state), field }
    }

    /// The arguments of `field`, read before execution began.
    ///
    /// # Panics
    /// When `A` is not what the field's [`FieldInfo::arguments`] reads; generated code names both.
    pub fn arguments<A: 'static>(&self, field: &FieldPlan) -> &'a A {
        let slot = field.arguments.expect("a field with arguments has a slot for them");
        self.arguments[slot].downcast_ref().expect("a field's arguments are of the field's own type")
    }

    pub(super) fn keep<T: Send + Sync + 'static>(&self, value: T) -> &'a T {
        self.arena.push_get(Box::new(value)).downcast_ref().expect("what was kept is of its own type")
    }

    /// Charges objects of the answer: a slot when there are too many.
    pub(super) fn charge(&self, objects: usize) -> Result<(), Slot<'a>> {
        let ended = |excess: Excess| Slot::Failed { message: excess.to_string(), code: Code::TooExpensive };
        self.budget.charge_objects(objects).map_err(ended)
    }

    pub(super) fn fail(&self, error: Error) -> Slot<'a> {
        // The request is told once why it was ended.
        if let Some(excess) = self.budget.exceeded() {
            return Slot::Failed { message: excess.to_string(), code: Code::TooExpensive };
        }
        let (message, code) = match &error {
            Error::User(errors) => (error.to_string(), errors.first().map_or(Code::BadUserInput, |e| e.code)),
            Error::Internal(_) => (self.state.report(&error), Code::Internal),
        };
        Slot::Failed { message, code }
    }

    /// The slot of a field that is no relation; a plan never asks for one.
    pub fn unresolved(&self, field: &FieldPlan) -> Slot<'a> {
        self.fail(Error::internal(format!("{} has no resolver", field.name())))
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
        /// What the client is told.
        message: String,
        /// Its class.
        code: Code,
    },
}

/// Whether a value was written, or has to become null.
pub type Written = std::result::Result<(), Bubble>;

/// Resolved objects of one or several concrete types, in the order in which they were collected.
pub struct Children<'a> {
    levels: Vec<Box<dyn Rows<'a> + 'a>>,
    /// For interfaces and unions: which level, and which row of it. Objects have but one level.
    places: Option<Vec<(u16, u32)>>,
}

impl<'a> Children<'a> {
    /// Objects of one concrete type.
    pub(super) fn of_one(level: Box<dyn Rows<'a> + 'a>) -> Self {
        Self { levels: vec![level], places: None }
    }

    /// The objects of an interface or a union: a level for each possible type, and where each object is.
    pub fn of_several(levels: Vec<Box<dyn Rows<'a> + 'a>>, places: Vec<(u16, u32)>) -> Self {
        Self { levels, places: Some(places) }
    }

    /// Writes one of them, by its place in that order.
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

/// Things that can be written one by one.
pub trait Rows<'a>: Send + Sync {
    /// Writes one of them.
    fn write(&self, row: usize, out: &mut Writer<'a>) -> Written;
}

/// What stands for an SDL object, interface or union. It has no methods: it tells the ends of a [`AnswerShape`] from lists.
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
