//! The executor: runs a [`Plan`] from the root objects and writes the text of the response.
//!
//! Execution is breadth first. A level is all objects of one concrete type that one selection applies to: all services
//! of a page, or all their owners. Columns are read while the response is written. A relation is resolved once for all
//! parents of the level together, and its results form the next level. When everything is resolved, the text is written
//! depth first, in the order of the selection.
//!
//! The build generates an [`Object`] for each object type and a [`Composite`] for each interface and union. Both traits
//! are generic over the resolvers' shared state, so that introspection works for every schema.

use std::future::{Future, ready};
use std::marker::PhantomData;
use std::sync::Arc;

use async_graphql::{ErrorExtensionValues, ServerError};
use futures_util::future::join_all;

use super::object::{Arena, BoxFuture, Children, Composite, Context, Execution, Object, Rows, Slot, State, Written};
use super::plan::{FieldPlan, ObjectPlan, Source};
use super::shape::{AnswerShape, ScalarRows, ShapeRows};
use super::write::{Bubble, Scalar, Step, Writer};
use crate::budget::{Budget, Excess};
use crate::error::{Code, Error, Result, UserError};
use crate::spans;

/// The future of a relation's resolver: one `T` for each parent, in order. Implemented by any `async fn` that returns
/// `Result<Vec<T>>`.
pub trait Answers<T>: Future<Output = Result<Vec<T>>> + Send {}

impl<T, F: Future<Output = Result<Vec<T>>> + Send> Answers<T> for F {}

/// The future of a root field's resolver. Implemented by any `async fn` that returns `Result<T>`.
pub trait Answer<T>: Future<Output = Result<T>> + Send {}

impl<T, F: Future<Output = Result<T>> + Send> Answer<T> for F {}

/// The most attempts for a mutation that loses races. After the last one, the caller gets an error.
const ATTEMPTS: usize = 5;

impl<'a, S: State> Execution<'a, S> {
    /// Runs a mutation in its own transaction and records it in the audit, in the same transaction. A failed mutation
    /// is rolled back. One that lost a race is retried from the start, and so is one that was refused because of
    /// changes which others have not committed yet. `subject` returns the ids to record:
    /// [`identified`](Self::identified) or [`unidentified`](Self::unidentified).
    pub async fn mutate<T: Send>(
        &self,
        field: &FieldPlan,
        resolver: impl for<'c> Fn(&'c Context<'c, S::Writing>) -> BoxFuture<'c, Result<T>> + Sync,
        subject: impl for<'c> Fn(&'c Self, &'c FieldPlan, &'c T) -> BoxFuture<'c, Vec<u8>> + Sync,
    ) -> Result<T> {
        for _ in 0..ATTEMPTS {
            let writing = self.state.begin(field.name()).await?;
            let context = Context { state: &writing, field };
            let writes = async {
                let payload = resolver(&context).await?;
                let subject = subject(self, field, &payload).await;
                self.state.note(&writing, field.name(), self.mutation, &subject).await?;
                Ok(payload)
            };
            let answer = self.state.in_time(field.name(), writes).await;
            let ended = self.state.end(writing, answer.is_ok()).await;
            let error = match (answer, ended) {
                (Ok(answer), Ok(())) => return Ok(answer),
                (Ok(_), Err(error)) => error,
                // The changes for which it was refused may never be committed.
                (Err(Error::User(_)), Err(error)) if self.state.lost_a_race(&error) => continue,
                (Err(error), _) => error,
            };
            if !self.state.lost_a_race(&error) {
                return Err(error);
            }
        }
        Err(UserError::base("Conflict with another change. Please retry.").into())
    }

    /// Runs a mutation and resolves the payload that it answers with. `refused` makes the payload of errors that the
    /// caller can fix. Other errors become top-level errors.
    ///
    /// The future is boxed here, so that the compiler does not look into it for each mutation.
    pub fn mutation<'r, P, E>(
        &'r self,
        field: &'a FieldPlan,
        resolver: impl for<'c> Fn(&'c Context<'c, S::Writing>) -> BoxFuture<'c, Result<P>> + Send + Sync + 'r,
        refused: impl FnOnce(Vec<E>) -> P + Send + 'r,
    ) -> BoxFuture<'r, Slot<'a>>
    where
        'a: 'r,
        P: AnswerShape<S>,
        E: From<UserError>,
    {
        Box::pin(async move {
            let answer = self.mutate(field, resolver, Self::identified).await;
            match answer {
                Err(Error::User(errors)) => {
                    let refusal = self.keep(refused(errors.into_iter().map(E::from).collect()));
                    // Its objects are null and its other lists empty, so nothing is read below them.
                    let reads = field.below().any(|child| child.reads());
                    let execution = Execution { budget: Budget::unlimited(), reading: None, ..*self };
                    whole(resolve_payload(refusal, reads, field, &execution).await)
                }
                answer => payload(answer, field, self).await,
            }
        })
    }

    /// Returns the ids in a payload, as JSON. Returns nothing if they cannot be written: the audit must never make a
    /// mutation fail.
    pub fn identified<'c, T: AnswerShape<S>>(&'c self, field: &'c FieldPlan, payload: &'c T) -> BoxFuture<'c, Vec<u8>> {
        Box::pin(async move {
            let (arena, field) = (Arena::new(), field.identifying());
            let mut out = Writer::new(256);
            let (state, budget, mutation) = (self.state, Budget::unlimited(), self.mutation);
            let execution = Execution { state, budget, reading: None, arguments: &[], arena: &arena, mutation };
            match held(vec![payload], &field, &execution).await {
                Slot::Values(values) if values.write(0, &mut out).is_ok() => out.text,
                _ => Vec::new(),
            }
        })
    }

    /// Returns the empty subject of a payload without ids.
    pub fn unidentified<'c, T>(&'c self, _: &'c FieldPlan, _: &'c T) -> BoxFuture<'c, Vec<u8>> {
        Box::pin(ready(Vec::new()))
    }
}

/// Resolves the payload of a mutation that has already committed. The selection below it is read like a query: in one
/// snapshot, and until the deadline.
pub async fn payload<'r, 'a: 'r, V, S>(
    answer: Result<V>,
    field: &'a FieldPlan,
    execution: &'r Execution<'a, S>,
) -> Slot<'a>
where
    V: AnswerShape<S>,
    S: State,
{
    match answer {
        Ok(payload) => {
            let reads = field.reads_below();
            let slot = resolve_payload(execution.keep(payload), reads, field, execution).await;
            if reads { slot } else { whole(slot) }
        }
        Err(error) => execution.fail(error),
    }
}

/// Resolves a payload. `reads` says whether anything below it must be read.
async fn resolve_payload<'r, 'a: 'r, V, S>(
    payload: &'a V,
    reads: bool,
    field: &'a FieldPlan,
    execution: &'r Execution<'a, S>,
) -> Slot<'a>
where
    V: AnswerShape<S>,
    S: State,
{
    if !reads {
        let execution = Execution { budget: Budget::unlimited(), reading: None, ..*execution };
        return held(vec![payload], field, &execution).await;
    }
    let read = async {
        match execution.state.read().await {
            Ok(state) => {
                let execution = Execution { reading: Some(Arc::new(state)), ..*execution };
                held(vec![payload], field, &execution).await
            }
            Err(error) => execution.fail(error),
        }
    };
    let ended = |excess: Excess| Slot::Failed { message: excess.to_string(), code: Code::TooExpensive };
    execution.budget.within(read).await.unwrap_or_else(ended)
}

/// Makes a payload that is in memory be written whole, however much time the mutation has taken.
fn whole(payload: Slot<'_>) -> Slot<'_> {
    match payload {
        Slot::Values(rows) => Slot::Values(Box::new(Whole(rows))),
        failed => failed,
    }
}

struct Whole<'a>(Box<dyn Rows<'a> + 'a>);

impl<'a> Rows<'a> for Whole<'a> {
    fn write(&self, row: usize, out: &mut Writer<'a>) -> Written {
        out.unmetered(|out| self.0.write(row, out))
    }
}

impl<S: State, T: Object<S>> Composite<S> for T {
    fn resolve<'r, 'a: 'r>(
        nodes: Vec<&'a Self>,
        plans: &'a [ObjectPlan],
        execution: &'r Execution<'a, S>,
    ) -> BoxFuture<'r, Children<'a>> {
        Box::pin(level(nodes, &plans[0], execution))
    }
}

/// Objects of one concrete type, with everything below them resolved.
struct Level<'a, S, T> {
    rows: Vec<&'a T>,
    plan: &'a ObjectPlan,
    /// One for each relation of the plan.
    slots: Vec<Slot<'a>>,
    state: PhantomData<fn(S)>,
}

/// Resolves a level and everything below it.
pub async fn level<'r, 'a: 'r, S: State, T: Object<S>>(
    rows: Vec<&'a T>,
    plan: &'a ObjectPlan,
    execution: &'r Execution<'a, S>,
) -> Children<'a> {
    if execution.budget.pause().await.is_err() {
        return Children::of_one(Box::new(Ended));
    }
    let mut relations = plan.relations();
    let slots = match (rows.is_empty(), plan.relation_count) {
        (true, _) | (_, 0) => Vec::new(),
        (_, 1) => match relations.next() {
            Some(field) => vec![resolve(&rows, field, execution).await],
            None => Vec::new(),
        },
        _ => join_all(relations.map(|field| resolve(&rows, field, execution))).await,
    };
    Children::of_one(Box::new(Level { rows, plan, slots, state: PhantomData }))
}

/// Resolves a relation of a level and everything below it, in its own span.
pub(super) fn resolve<'r, 'a: 'r, S: State, T: Object<S>>(
    rows: &'r [&'a T],
    field: &'a FieldPlan,
    execution: &'r Execution<'a, S>,
) -> BoxFuture<'r, Slot<'a>> {
    let resolved = T::resolve(rows, field, execution);
    if !spans::is_on() || !field.reads() {
        return resolved;
    }
    Box::pin(in_span(T::INFO.name, field, rows.len(), resolved))
}

async fn in_span<'a>(
    class: &'static str,
    field: &FieldPlan,
    parents: usize,
    resolved: BoxFuture<'_, Slot<'a>>,
) -> Slot<'a> {
    let span = spans::field(class, field.name(), parents);
    let slot = span.around(resolved).await;
    if let Slot::Failed { code, .. } = &slot {
        span.fail(code.as_str());
    }
    slot
}

/// A level of a request that has exhausted its budget.
struct Ended;

impl<'a> Rows<'a> for Ended {
    fn write(&self, _: usize, out: &mut Writer<'a>) -> Written {
        out.null();
        Ok(())
    }
}

impl<'a, S: State, T: Object<S>> Rows<'a> for Level<'a, S, T> {
    fn write(&self, row: usize, out: &mut Writer<'a>) -> Written {
        if !out.goes_on() {
            return Ok(());
        }
        let object = self.rows[row];
        out.raw("{");
        for field in &self.plan.fields {
            out.raw(&field.key);
            match field.source {
                Source::Typename => out.string(T::INFO.name),
                Source::Column(index) => object.write_column(index, out),
                Source::Relation { slot, .. } => write_relation(field, &self.slots[slot], row, out)?,
            }
        }
        out.raw("}");
        Ok(())
    }
}

pub(super) fn write_relation<'a>(field: &'a FieldPlan, slot: &Slot<'a>, row: usize, out: &mut Writer<'a>) -> Written {
    out.path.push(Step::Key(&field.response_key));
    let write = |out: &mut Writer<'a>| match slot {
        Slot::Values(values) => values.write(row, out),
        Slot::Failed { message, code } => Err(error(message, *code, field, out)),
    };
    if field.nullable() {
        out.nullable(write);
    } else {
        write(out)?;
    }
    out.path.pop();
    Ok(())
}

fn error(message: &str, code: Code, field: &FieldPlan, out: &Writer<'_>) -> Bubble {
    let mut extensions = ErrorExtensionValues::default();
    extensions.set("code", code.as_str());
    Box::new(ServerError {
        message: message.to_owned(),
        source: None,
        locations: field.locations.clone(),
        path: out.path(),
        extensions: Some(extensions),
    })
}

/// The slot of a relation to scalars or enums: one value for each of `parents`.
pub fn scalars<'a, V, S>(answers: Result<Vec<V>>, parents: usize, execution: &Execution<'a, S>) -> Slot<'a>
where
    V: Scalar + 'static,
    S: State,
{
    match checked(answers, parents) {
        Ok(answers) => Slot::Values(Box::new(ScalarRows(execution.keep(answers).iter().collect()))),
        Err(error) => execution.fail(error),
    }
}

/// The slot of a relation to objects. Resolves everything below them first.
pub async fn objects<'r, 'a: 'r, V, S>(
    answers: Result<Vec<V>>,
    parents: usize,
    field: &'a FieldPlan,
    execution: &'r Execution<'a, S>,
) -> Slot<'a>
where
    V: AnswerShape<S>,
    S: State,
{
    match checked(answers, parents) {
        Ok(answers) => held(execution.keep(answers).iter().collect(), field, execution).await,
        Err(error) => execution.fail(error),
    }
}

/// Resolves objects that the parents already hold.
pub fn hold<'r, 'a: 'r, V, S>(
    values: Vec<&'a V>,
    field: &'a FieldPlan,
    execution: &'r Execution<'a, S>,
) -> BoxFuture<'r, Slot<'a>>
where
    V: AnswerShape<S>,
    S: State,
{
    Box::pin(held(values, field, execution))
}

/// Resolves to a slot that is known already.
pub fn resolved<'r, 'a: 'r>(slot: Slot<'a>) -> BoxFuture<'r, Slot<'a>> {
    Box::pin(ready(slot))
}

/// The slot of objects that the parents already hold.
async fn held<'r, 'a: 'r, V, S>(values: Vec<&'a V>, field: &'a FieldPlan, execution: &'r Execution<'a, S>) -> Slot<'a>
where
    V: AnswerShape<S>,
    S: State,
{
    let mut nodes = Vec::with_capacity(values.len());
    let mut starts = Vec::with_capacity(values.len());
    for value in &values {
        starts.push(nodes.len());
        value.collect(&mut nodes);
    }
    if let Err(ended) = execution.charge(nodes.len()) {
        return ended;
    }
    let children = V::Node::resolve(nodes, &field.children, execution).await;
    Slot::Values(Box::new(ShapeRows { values, starts, children, state: PhantomData }))
}

fn checked<V>(answers: Result<Vec<V>>, parents: usize) -> Result<Vec<V>> {
    let answers = answers?;
    if answers.len() == parents {
        Ok(answers)
    } else {
        Err(Error::internal(format!("a relation returned {} values for {parents} parents", answers.len())))
    }
}
