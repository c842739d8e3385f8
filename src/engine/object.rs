//! The interface between generated code and the engine. Generated code gives access to the columns and relations of
//! each type ([`Object`] for each object type, [`Composite`] for each interface and union). The engine holds objects and
//! answers of any type ([`Objects`], [`List`], [`Answered`]), so that it is compiled once for all of them.

use std::any::Any;
use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;

use super::input::{Arguments, InputArgument};
use super::plan::FieldPlan;
use super::state::{AnyState, BoxFuture};
use super::tables::ObjectInfo;
use super::write::{Bubble, Writer};
use crate::budget::{Budget, Excess};
use crate::error::{Code, Error, Result, UserError};

/// Owns answers until the response is written, so that everything else can borrow them.
pub(super) type Arena = elsa::sync::FrozenVec<Answered>;

/// One run of a plan.
pub struct Execution<'a> {
    pub(super) state: &'a dyn AnyState,
    pub(super) budget: &'a Budget,
    /// The snapshot for a mutation's payload.
    pub(super) reading: Option<Arc<dyn AnyState>>,
    pub(super) arguments: &'a [Arguments],
    pub(super) arena: &'a Arena,
    /// The position of the running mutation among the root fields.
    pub(super) mutation: usize,
}

/// What a resolver receives besides its parents and arguments.
pub struct Context<'a, S> {
    /// The request's state.
    pub state: &'a S,
    field: &'a FieldPlan,
}

/// The state's own methods.
impl<S> Deref for Context<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        self.state
    }
}

impl<S> Context<'_, S> {
    /// Whether the client selects a connection's rows or page info.
    pub fn selects_rows(&self) -> bool {
        ["nodes", "edges", "pageInfo"].iter().any(|field| self.selects(field))
    }

    /// Whether the client selects a connection's count.
    pub fn selects_count(&self) -> bool {
        ["totalCount", "filteredCount"].iter().any(|field| self.selects(field))
    }

    /// Whether the client selects `field` directly below the current field.
    pub fn selects(&self, field: &str) -> bool {
        self.field.below().any(|child| child.name() == field)
    }

    /// Whether all that the client selects below `path`, which begins directly below the current field, is among `fields`.
    pub fn selects_only_at(&self, path: &[&str], fields: impl Fn(&str) -> bool) -> bool {
        fn all(field: &FieldPlan, path: &[&str], fields: &impl Fn(&str) -> bool) -> bool {
            match path {
                [] => field.below().all(|child| fields(child.name())),
                [first, rest @ ..] => {
                    field.below().filter(|child| child.name() == *first).all(|child| all(child, rest, fields))
                }
            }
        }
        all(self.field, path, &fields)
    }

    /// The groups of columns that the fields selected of a connection's nodes read, as a bit set. All groups, if the
    /// current field is not a connection whose nodes are of the type `T`.
    pub fn reads_of_nodes<T: Parted>(&self) -> u8 {
        let objects = self.field.info.map_or(&[][..], |info| info.objects);
        if !matches!(objects, [connection] if connection.pages_through(T::info())) {
            return u8::MAX;
        }
        let reads = |node: &FieldPlan| node.below().fold(0, |groups, field| groups | field.read_groups());
        self.field.below().fold(0, |groups, field| match field.name() {
            "nodes" => groups | reads(field),
            "edges" => field.below().filter(|below| below.name() == "node").fold(groups, |all, node| all | reads(node)),
            _ => groups,
        })
    }
}

/// An attempt to run a mutation.
#[derive(Clone, Copy)]
pub struct Attempt<'a> {
    /// The [`State::Writing`](super::state::State::Writing) of the running state.
    pub(super) writing: &'a (dyn Any + Send + Sync),
    pub(super) field: &'a FieldPlan,
    pub(super) arguments: &'a [Arguments],
}

impl<'a> Attempt<'a> {
    /// The context of the resolver.
    ///
    /// # Panics
    /// When `W` is not the type of the transaction. Generated code names the one of the state that `types` binds.
    pub fn context<W: 'static>(self) -> Context<'a, W> {
        context(self.writing, self.field)
    }

    /// The arguments of the field, coerced before execution began.
    ///
    /// # Panics
    /// When `A` is not the type that the field's table reads. Generated code names both.
    pub fn arguments<A: 'static>(self) -> &'a A {
        arguments_of(self.field, self.arguments)
    }

    /// The argument `input` of a field without others.
    pub fn input<I: Clone + 'static>(self) -> I {
        self.arguments::<InputArgument<I>>().input.clone()
    }
}

fn context<'a, S: 'static>(state: &'a dyn Any, field: &'a FieldPlan) -> Context<'a, S> {
    let state = state.downcast_ref().expect("generated code runs with the state that it names");
    Context { state, field }
}

fn arguments_of<'a, A: 'static>(field: &FieldPlan, arguments: &'a [Arguments]) -> &'a A {
    let slot = field.arguments.expect("a field with arguments has a slot for them");
    arguments[slot].downcast_ref().expect("the slot holds the type that the field's arguments are read into")
}

impl<'a> Execution<'a> {
    /// Keeps an answer while the response is written.
    pub(super) fn keep(&self, answered: Answered) -> &'a dyn Values {
        self.arena.push_get(answered)
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
}

/// A relation that is to be resolved for all objects of a level.
pub struct Call<'r, 'a, T> {
    /// The objects of the level.
    pub rows: &'r [&'a T],
    pub(super) field: &'a FieldPlan,
    pub(super) execution: &'r Execution<'a>,
}

impl<T> Clone for Call<'_, '_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Call<'_, '_, T> {}

impl<'r, 'a, T> Call<'r, 'a, T> {
    /// The index of the field in the table of the type.
    pub fn index(self) -> u16 {
        self.field.index()
    }

    /// The name of the field in the SDL.
    pub(super) fn name(self) -> &'static str {
        self.field.name()
    }

    /// Whether the SDL allows null in the nodes of a connection.
    pub(super) fn items_are_nullable(self) -> bool {
        self.field.info.is_some_and(|info| info.nullable_items)
    }

    /// The context of the resolver.
    ///
    /// # Panics
    /// When `S` is not the type of the running state. Generated code names the one that `types` binds.
    pub fn context<S: 'static>(self) -> Context<'r, S> {
        context(self.execution.reading.as_deref().unwrap_or(self.execution.state).as_any(), self.field)
    }

    /// The arguments of the field, coerced before execution began.
    ///
    /// # Panics
    /// When `A` is not the type that the field's table reads. Generated code names both.
    pub fn arguments<A: 'static>(self) -> &'a A {
        arguments_of(self.field, self.execution.arguments)
    }

    /// The argument `input` of a field without others.
    pub fn input<I: Clone + 'static>(self) -> I {
        self.arguments::<InputArgument<I>>().input.clone()
    }

    /// The schema that introspection describes.
    pub(super) fn schema(self) -> &'a Arc<Valid<Schema>> {
        self.execution.state.schema()
    }

    /// Creates and boxes the future of a resolver in a stack frame of its own. Without optimisation, a function that
    /// creates one of many futures reserves stack for all of them; with all mutations in one function, the stack
    /// overflowed.
    pub fn later<F>(self, make: impl FnOnce() -> F) -> Resolved<'r, 'a>
    where
        F: Future<Output = Result<Answered>> + Send + 'r,
    {
        Resolved::Later(Box::pin(make()))
    }

    /// The answer to a field without a resolver. Plans never contain such a field.
    pub fn unresolved(self) -> Resolved<'r, 'a> {
        Resolved::Now(Err(Error::internal(format!("{} has no resolver", self.field.name()))))
    }
}

/// The answer to a relation.
pub enum Resolved<'r, 'a> {
    /// What the parents hold already: a value for each.
    Held(Box<dyn List<'a> + 'a>),
    /// An answer without a future: a value for each parent.
    Now(Result<Answered>),
    /// The future of a resolver, which answers with a value for each parent.
    Later(BoxFuture<'r, Result<Answered>>),
    /// A mutation.
    Mutation(Mutation<'r>),
}

/// A mutation that is to run. It may have to run several times.
pub struct Mutation<'r> {
    pub(super) resolver: Resolver,
    /// Makes the payload of errors that the caller can fix. `None` without a payload: they are top-level errors then, and
    /// the audit records no ids.
    pub(super) refused: Option<Refused<'r>>,
}

/// The resolver of a mutation.
pub type Resolver = for<'c> fn(Attempt<'c>) -> BoxFuture<'c, Result<Answered>>;

/// Makes the payload of a mutation that was refused.
pub(super) type Refused<'r> = Box<dyn Fn(Vec<UserError>) -> Answered + Send + Sync + 'r>;

/// What a resolver answered: one value for each parent, of any type.
pub type Answered = Box<dyn Values>;

/// The values of an [`Answered`].
pub trait Values: Send + Sync {
    /// How many there are.
    fn count(&self) -> usize;
    /// The values as a list, which borrows them.
    fn list<'a>(&'a self) -> Box<dyn List<'a> + 'a>;
}

/// A value for each parent: scalars, or objects in some shape.
pub trait List<'a>: Send + Sync {
    /// Collects the objects in the values. `None` for scalars.
    fn collect(&self) -> Option<Collected<'a>>;
    /// Writes the value of a parent. `first` is the index of its first object among all collected.
    fn write(&self, row: usize, first: usize, children: &Children<'a>, out: &mut Writer<'a>) -> Written;
}

/// The objects in a list.
pub struct Collected<'a> {
    /// The index of each value's first object.
    pub(super) starts: Vec<usize>,
    /// How many objects there are.
    pub(super) count: usize,
    pub(super) leaves: Leaves<'a>,
}

/// Objects by their concrete types, in the order of the types in the field's table.
pub struct Leaves<'a> {
    pub(super) types: Vec<Box<dyn Objects<'a> + 'a>>,
    /// For interfaces and unions, the type and row of each object. `None` for an object type.
    pub(super) places: Option<Vec<(u16, u32)>>,
}

impl<'a> Leaves<'a> {
    /// The objects of an interface or union: those of each possible type, and the place of each object.
    pub fn of_several(types: Vec<Box<dyn Objects<'a> + 'a>>, places: Vec<(u16, u32)>) -> Self {
        Self { types, places: Some(places) }
    }
}

/// Objects of one concrete type.
pub fn objects<'a, T: Object>(rows: Vec<&'a T>) -> Box<dyn Objects<'a> + 'a> {
    Box::new(rows)
}

/// Objects of one concrete type, whichever it is.
pub trait Objects<'a>: Send + Sync {
    /// How many there are.
    fn count(&self) -> usize;
    /// Writes a column of an object.
    fn write_column(&self, row: usize, field: u16, out: &mut Writer<'_>);
    /// Resolves a relation for all of them.
    fn resolve<'r>(&'r self, field: &'a FieldPlan, execution: &'r Execution<'a>) -> Resolved<'r, 'a>;
}

impl<'a, T: Object> Objects<'a> for Vec<&'a T> {
    fn count(&self) -> usize {
        self.len()
    }

    fn write_column(&self, row: usize, field: u16, out: &mut Writer<'_>) {
        self[row].write_column(field, out);
    }

    fn resolve<'r>(&'r self, field: &'a FieldPlan, execution: &'r Execution<'a>) -> Resolved<'r, 'a> {
        T::resolve(Call { rows: self, field, execution })
    }
}

/// A relation of a level, with everything below it.
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
    pub(super) levels: Vec<Box<dyn Rows<'a> + 'a>>,
    /// For interfaces and unions, the level and row of each object. `None` for an object type, which has one level.
    pub(super) places: Option<Vec<(u16, u32)>>,
}

impl<'a> Children<'a> {
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

/// The Rust type of an object type.
pub trait Object: Send + Sync + Sized + 'static {
    /// Writes a column. `field` is its index in the table of the type.
    fn write_column(&self, field: u16, out: &mut Writer<'_>) {
        let _ = field;
        out.null();
    }

    /// Resolves a relation for all objects of a level.
    fn resolve<'r, 'a: 'r>(call: Call<'r, 'a, Self>) -> Resolved<'r, 'a> {
        call.unresolved()
    }
}

/// The Rust type of an object type whose rows may be read in part: without the groups of columns that no selected field
/// reads. The generator implements it, and says for each field which groups it reads
/// ([`FieldInfo::reads`](super::tables::FieldInfo::reads)).
pub trait Parted: Object {
    /// The description of the type.
    fn info() -> &'static ObjectInfo;
}

/// The Rust type of an object type, interface or union: the result of a field with a selection.
pub trait Composite: Send + Sync + Sized + 'static {
    /// Sorts the objects by their concrete types.
    fn leaves<'a>(nodes: Vec<&'a Self>) -> Leaves<'a>;
}

impl<T: Object> Composite for T {
    fn leaves<'a>(nodes: Vec<&'a Self>) -> Leaves<'a> {
        Leaves { types: vec![objects(nodes)], places: None }
    }
}
