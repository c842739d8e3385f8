//! What the resolvers of one request share: [`State`], and the same as the engine holds it, of any type.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;

use crate::budget::Budget;
use crate::error::{Code, Error, Result, UserError};

/// A boxed future: one for each relation of a level, never one for each row.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A schema that was validated.
pub type ValidSchema = Valid<Schema>;

/// What the resolvers of one request share: the database, the settings, the caller.
pub trait State: Send + Sync + Sized + 'static {
    /// The state of a mutation's resolver: a write transaction.
    type Writing: Send + Sync + 'static;
    /// Begins the transaction of the mutation `name`.
    fn begin(&self, name: &str) -> impl Future<Output = Result<Self::Writing>> + Send;
    /// Checks and records what a mutation has changed, inside its transaction. `name` is the field, `index` its position
    /// among the operation's root fields.
    fn note(&self, writing: &Self::Writing, name: &str, index: usize) -> impl Future<Output = Result<()>> + Send {
        let _ = (writing, name, index);
        async { Ok(()) }
    }
    /// Ends the transaction: commits it or rolls it back.
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
    /// Whether [`trace`](Self::trace) does anything.
    fn traces(&self) -> bool {
        false
    }
    /// Runs the resolving of a relation, or of a mutation, in a span. It ends with the code of its error, if it fails.
    fn trace(
        &self,
        relation: Relation,
        resolving: impl Future<Output = Option<Code>> + Send,
    ) -> impl Future<Output = ()> + Send {
        let _ = relation;
        async {
            let _ = resolving.await;
        }
    }
    /// Notes the errors for which the mutation `name` was refused. They are shown to the client.
    fn note_refused(&self, name: &'static str, errors: &[UserError]) {
        let _ = (name, errors);
    }
    /// Logs an internal error and returns the text and the code to show to the client.
    fn report(&self, error: &Error) -> (String, Code);
    /// Whether a mutation failed because of a concurrent change, so that it can be retried from the start.
    fn lost_a_race(&self, error: &Error) -> bool;
    /// The schema that introspection describes.
    fn schema(&self) -> &Arc<Valid<Schema>>;
}

/// A relation that is resolved.
#[derive(Debug, Clone, Copy)]
pub struct Relation {
    /// The type of the parents.
    pub parent: &'static str,
    /// The field.
    pub field: &'static str,
    /// How many parents there are.
    pub parents: usize,
}

/// The [`State::Writing`] of any state.
pub(super) type AnyWriting = Box<dyn Any + Send + Sync>;

/// A [`State`] of any type, so that the engine is compiled once. Resolvers get the state itself again, from
/// [`as_any`](Self::as_any).
pub(super) trait AnyState: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn begin<'s>(&'s self, name: &'s str) -> BoxFuture<'s, Result<AnyWriting>>;
    fn note<'s>(
        &'s self,
        writing: &'s (dyn Any + Send + Sync),
        name: &'s str,
        index: usize,
    ) -> BoxFuture<'s, Result<()>>;
    fn end(&self, writing: AnyWriting, commit: bool) -> BoxFuture<'_, Result<()>>;
    fn read(&self) -> BoxFuture<'_, Result<Arc<dyn AnyState>>>;
    fn in_time<'s>(&'s self, name: &'s str, writes: BoxFuture<'s, Result<()>>) -> BoxFuture<'s, Result<()>>;
    fn traces(&self) -> bool;
    fn trace<'s>(&'s self, relation: Relation, resolving: BoxFuture<'s, Option<Code>>) -> BoxFuture<'s, ()>;
    fn note_refused(&self, name: &'static str, errors: &[UserError]);
    fn report(&self, error: &Error) -> (String, Code);
    fn lost_a_race(&self, error: &Error) -> bool;
    fn schema(&self) -> &Arc<Valid<Schema>>;
}

impl<S: State> AnyState for S {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn begin<'s>(&'s self, name: &'s str) -> BoxFuture<'s, Result<AnyWriting>> {
        Box::pin(async move { Ok(Box::new(State::begin(self, name).await?) as AnyWriting) })
    }

    fn note<'s>(
        &'s self,
        writing: &'s (dyn Any + Send + Sync),
        name: &'s str,
        index: usize,
    ) -> BoxFuture<'s, Result<()>> {
        match writing.downcast_ref() {
            Some(writing) => Box::pin(State::note(self, writing, name, index)),
            None => Box::pin(async { Err(another_type()) }),
        }
    }

    fn end(&self, writing: AnyWriting, commit: bool) -> BoxFuture<'_, Result<()>> {
        match writing.downcast() {
            Ok(writing) => Box::pin(State::end(self, *writing, commit)),
            Err(_) => Box::pin(async { Err(another_type()) }),
        }
    }

    fn read(&self) -> BoxFuture<'_, Result<Arc<dyn AnyState>>> {
        Box::pin(async move { Ok(Arc::new(State::read(self).await?) as Arc<dyn AnyState>) })
    }

    fn in_time<'s>(&'s self, name: &'s str, writes: BoxFuture<'s, Result<()>>) -> BoxFuture<'s, Result<()>> {
        Box::pin(State::in_time(self, name, writes))
    }

    fn traces(&self) -> bool {
        State::traces(self)
    }

    fn trace<'s>(&'s self, relation: Relation, resolving: BoxFuture<'s, Option<Code>>) -> BoxFuture<'s, ()> {
        Box::pin(State::trace(self, relation, resolving))
    }

    fn note_refused(&self, name: &'static str, errors: &[UserError]) {
        State::note_refused(self, name, errors);
    }

    fn report(&self, error: &Error) -> (String, Code) {
        State::report(self, error)
    }

    fn lost_a_race(&self, error: &Error) -> bool {
        State::lost_a_race(self, error)
    }

    fn schema(&self) -> &Arc<Valid<Schema>> {
        State::schema(self)
    }
}

/// The error of a transaction that did not begin with this state. The engine never mixes them up.
fn another_type() -> Error {
    Error::internal("the transaction is of another state")
}
