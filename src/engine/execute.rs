//! The executor: runs a [`Plan`](super::plan::Plan) from the root objects and writes the text of the response.
//!
//! Execution is breadth first. A level is all objects of one concrete type that one selection applies to: all services
//! of a page, or all their owners. Columns are read while the response is written. A relation is resolved once for all
//! parents of the level together, and its results form the next level. When everything is resolved, the text is written
//! depth first, in the order of the selection.
//!
//! Nothing here is generic over the types of a schema or the resolvers' state.

use std::future::Future;

use async_graphql::{ErrorExtensionValues, ServerError};
use futures_util::future::join_all;

use super::object::{
    Answered, Attempt, Children, Collected, Execution, Leaves, List, Mutation, Objects, Resolved, Rows, Slot, Values,
    Written,
};
use super::plan::{FieldPlan, ObjectPlan, Source};
use super::state::{BoxFuture, Relation};
use super::write::{Bubble, Step, Writer};
use crate::budget::{Budget, Excess};
use crate::error::{Code, Error, Result, UserError};

/// The future of a relation's resolver: one `T` for each parent, in order. Implemented by any `async fn` that returns
/// `Result<Vec<T>>`.
pub trait Answers<T>: Future<Output = Result<Vec<T>>> + Send {}

impl<T, F: Future<Output = Result<Vec<T>>> + Send> Answers<T> for F {}

/// The future of a root field's resolver. Implemented by any `async fn` that returns `Result<T>`.
pub trait Answer<T>: Future<Output = Result<T>> + Send {}

impl<T, F: Future<Output = Result<T>> + Send> Answer<T> for F {}

/// The most attempts for a mutation that loses races. After the last one, the caller gets an error.
const ATTEMPTS: usize = 5;

/// Runs a mutation in its own transaction and records it in the audit, in the same transaction. A failed mutation is
/// rolled back. One that lost a race is retried from the start.
async fn mutate(mutation: &Mutation<'_>, field: &FieldPlan, execution: &Execution<'_>) -> Result<Answered> {
    let (state, arguments, name) = (execution.state, execution.arguments, field.name());
    for _ in 0..ATTEMPTS {
        let writing = state.begin(name).await?;
        let mut answered = None;
        let writes = async {
            let payload = (mutation.resolver)(Attempt { writing: &*writing, field, arguments }).await?;
            state.note(&*writing, name, execution.mutation).await?;
            answered = Some(payload);
            Ok(())
        };
        let ran = state.in_time(name, Box::pin(writes)).await;
        let ended = state.end(writing, ran.is_ok()).await;
        let error = match (ran, ended, answered) {
            (Ok(()), Ok(()), Some(answered)) => return Ok(answered),
            (Ok(()), Ok(()), None) => return Err(Error::internal("a mutation ended without its answer")),
            (Ok(()), Err(error), _) => error,
            (Err(error), ..) => error,
        };
        if !state.lost_a_race(&error) {
            return Err(error);
        }
    }
    Err(UserError::base("Conflict with another change. Please retry.").into())
}

/// Runs a mutation and resolves the payload that it answers with.
async fn mutated<'a>(mutation: Mutation<'_>, field: &'a FieldPlan, execution: &Execution<'a>) -> Slot<'a> {
    let (error, refused) = match (mutate(&mutation, field, execution).await, mutation.refused) {
        (Ok(payload), _) => return payload_of(payload, field, execution).await,
        (Err(Error::User(errors)), Some(refused)) => {
            execution.state.note_refused(field.name(), &errors);
            (errors, refused)
        }
        (Err(error), _) => return execution.fail(error),
    };
    let refusal = execution.keep(refused(error));
    // Its objects are null and its other lists empty, so nothing is read below them.
    let reads = field.below().any(FieldPlan::reads);
    let execution = Execution { budget: Budget::unlimited(), reading: None, ..*execution };
    whole(resolve_payload(refusal, reads, field, &execution).await)
}

/// Resolves the payload of a mutation that has already committed. The selection below it is read like a query: in one
/// snapshot, and until the deadline.
async fn payload_of<'a>(payload: Answered, field: &'a FieldPlan, execution: &Execution<'a>) -> Slot<'a> {
    let reads = field.reads_below();
    let slot = resolve_payload(execution.keep(payload), reads, field, execution).await;
    if reads { slot } else { whole(slot) }
}

/// Resolves a payload. `reads` says whether anything below it must be read.
async fn resolve_payload<'a>(
    payload: &'a dyn Values,
    reads: bool,
    field: &'a FieldPlan,
    execution: &Execution<'a>,
) -> Slot<'a> {
    if !reads {
        let execution = Execution { budget: Budget::unlimited(), reading: None, ..*execution };
        return held(payload.list(), field, &execution).await;
    }
    let read = async {
        match execution.state.read().await {
            Ok(state) => {
                let execution = Execution { reading: Some(state), ..*execution };
                held(payload.list(), field, &execution).await
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

/// Objects of one concrete type, with everything below them resolved.
struct Level<'a> {
    rows: Box<dyn Objects<'a> + 'a>,
    plan: &'a ObjectPlan,
    /// One for each relation of the plan.
    slots: Vec<Slot<'a>>,
}

/// Resolves a level and everything below it.
pub(super) async fn level<'a>(
    rows: Box<dyn Objects<'a> + 'a>,
    plan: &'a ObjectPlan,
    execution: &Execution<'a>,
) -> Box<dyn Rows<'a> + 'a> {
    if execution.budget.pause().await.is_err() {
        return Box::new(Ended);
    }
    let mut relations = plan.relations();
    let slots = match (rows.count(), plan.relation_count) {
        (0, _) | (_, 0) => Vec::new(),
        (_, 1) => match relations.next() {
            Some(field) => vec![resolve(&*rows, plan, field, execution).await],
            None => Vec::new(),
        },
        _ => join_all(relations.map(|field| resolve(&*rows, plan, field, execution))).await,
    };
    Box::new(Level { rows, plan, slots })
}

/// Resolves a relation of a level and everything below it, in its own span. `plan` is the level's.
pub(super) fn resolve<'r, 'a: 'r>(
    rows: &'r (dyn Objects<'a> + 'a),
    plan: &ObjectPlan,
    field: &'a FieldPlan,
    execution: &'r Execution<'a>,
) -> BoxFuture<'r, Slot<'a>> {
    let slot = slot(rows.resolve(field, execution), rows.count(), field, execution);
    if !field.reads() || !execution.state.traces() {
        return Box::pin(slot);
    }
    let relation = Relation { parent: plan.info.name, field: field.name(), parents: rows.count() };
    Box::pin(traced(relation, Box::pin(slot), execution))
}

async fn traced<'a>(relation: Relation, slot: BoxFuture<'_, Slot<'a>>, execution: &Execution<'a>) -> Slot<'a> {
    let mut resolved = None;
    let resolving = async {
        let slot = resolved.insert(slot.await);
        if let Slot::Failed { code, .. } = slot { Some(*code) } else { None }
    };
    execution.state.trace(relation, Box::pin(resolving)).await;
    resolved.unwrap_or_else(|| execution.fail(Error::internal("a relation was not resolved")))
}

/// Awaits the answer to a relation, and resolves everything below it.
async fn slot<'a>(
    resolved: Resolved<'_, 'a>,
    parents: usize,
    field: &'a FieldPlan,
    execution: &Execution<'a>,
) -> Slot<'a> {
    let answered = match resolved {
        Resolved::Held(list) => return held(list, field, execution).await,
        Resolved::Mutation(mutation) => return Box::pin(mutated(mutation, field, execution)).await,
        Resolved::Now(answered) => answered,
        Resolved::Later(answered) => answered.await,
    };
    match answered.and_then(|answered| checked(answered, parents)) {
        Ok(answered) => held(execution.keep(answered).list(), field, execution).await,
        Err(error) => execution.fail(error),
    }
}

fn checked(answered: Answered, parents: usize) -> Result<Answered> {
    match answered.count() {
        count if count == parents => Ok(answered),
        count => Err(Error::internal(format!("a relation returned {count} values for {parents} parents"))),
    }
}

/// Resolves everything below the objects in a list.
async fn held<'a>(list: Box<dyn List<'a> + 'a>, field: &'a FieldPlan, execution: &Execution<'a>) -> Slot<'a> {
    let (starts, children) = match list.collect() {
        None => (Vec::new(), Children { levels: Vec::new(), places: None }),
        Some(Collected { starts, count, leaves }) => {
            if let Err(ended) = execution.charge(count) {
                return ended;
            }
            (starts, children(leaves, &field.children, execution).await)
        }
    };
    Slot::Values(Box::new(ListRows { list, starts, children }))
}

/// Resolves the levels of a list. `plans` has one entry for each possible object type.
async fn children<'a>(leaves: Leaves<'a>, plans: &'a [ObjectPlan], execution: &Execution<'a>) -> Children<'a> {
    let Leaves { types, places } = leaves;
    let mut levels = Vec::with_capacity(types.len());
    for (rows, plan) in types.into_iter().zip(plans) {
        levels.push(level(rows, plan, execution).await);
    }
    Children { levels, places }
}

struct ListRows<'a> {
    list: Box<dyn List<'a> + 'a>,
    /// The index of each value's first object among the children. Empty for scalars.
    starts: Vec<usize>,
    children: Children<'a>,
}

impl<'a> Rows<'a> for ListRows<'a> {
    fn write(&self, row: usize, out: &mut Writer<'a>) -> Written {
        let first = self.starts.get(row).copied().unwrap_or_default();
        self.list.write(row, first, &self.children, out)
    }
}

/// A level of a request that has exhausted its budget.
struct Ended;

impl<'a> Rows<'a> for Ended {
    fn write(&self, _: usize, out: &mut Writer<'a>) -> Written {
        out.null();
        Ok(())
    }
}

impl<'a> Rows<'a> for Level<'a> {
    fn write(&self, row: usize, out: &mut Writer<'a>) -> Written {
        if !out.goes_on() {
            return Ok(());
        }
        out.raw("{");
        for field in &self.plan.fields {
            out.raw(&field.key);
            match field.source {
                Source::Typename => out.string(self.plan.info.name),
                Source::Column(index) => self.rows.write_column(row, index, out),
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
