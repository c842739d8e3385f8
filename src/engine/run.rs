//! Runs an operation: from its plan to the text of the response, within its budget.

use async_graphql::{ServerError, Value};

use super::execute::{level, resolve, write_relation};
use super::input::Arguments;
use super::object::{Arena, Execution, Object, Slot, State, Written};
use super::plan::{FieldPlan, Plan, Source};
use super::request_error::{errors_json, request_error};
use super::write::Writer;
use crate::budget::{Budget, Excess, Used};
use crate::error::Code;

/// What one operation came to.
#[derive(Debug)]
pub struct Response {
    /// The response as JSON text: `{"data":…}`, with `errors` before it when there are any.
    pub text: Vec<u8>,
    /// The errors met on the way, in the order of the text: the first of them.
    pub errors: Vec<ServerError>,
    /// What it cost.
    pub used: Used,
    /// The limit that ended it, if one did.
    pub excess: Option<Excess>,
}

impl Response {
    /// The answer to an operation of which nothing can be resolved.
    pub fn failed(error: ServerError) -> Self {
        with_errors(b"{\"data\":null}", vec![error], Used::default())
    }

    /// The answer to an operation that was ended.
    pub fn ended(excess: Excess, budget: &Budget) -> Self {
        let error = request_error(excess.sentence(budget.limits()), Vec::new(), Code::TooExpensive);
        Self { excess: Some(excess), ..with_errors(b"{\"data\":null}", vec![error], budget.used()) }
    }

    /// The class of its first error.
    pub fn class(&self) -> Option<&str> {
        match self.errors.first()?.extensions.as_ref()?.get("code")? {
            Value::String(code) => Some(code),
            _ => None,
        }
    }

    /// Adds an entry to the response's `extensions`.
    pub fn extend(&mut self, name: &str, value: &serde_json::Value) {
        self.text.pop();
        self.text.extend_from_slice(format!(",\"extensions\":{{\"{name}\":{value}}}}}").as_bytes());
    }
}

/// Runs an operation. The root fields of a query are resolved together; those of a mutation one after the other,
/// each with all that is selected below it, so that each sees what the one before wrote.
///
/// A query that goes over its budget answers nothing but that.
pub async fn run<S: State, T: Object<S>>(root: &T, plan: &Plan, arguments: &[Arguments], state: &S) -> Response {
    let (arena, budget) = (Arena::new(), state.budget());
    let execution = Execution { state, budget, reading: None, arguments, arena: &arena, mutation: 0 };
    let mut out = Writer::new(plan.size_hint());
    out.limit(budget.limits().answer);
    out.raw("{\"data\":");
    if plan.serial {
        let start = out.text.len();
        if let Err(error) = write_serially(root, plan, &execution, &mut out).await {
            out.text.truncate(start);
            out.null();
            out.errors.push(*error);
        }
    } else {
        let rows = level(vec![root], &plan.root, &execution).await;
        out.nullable(|out| rows.write(0, out));
        if out.is_full() {
            budget.exceed(Excess::Answer);
        }
        if let Some(excess) = budget.exceeded() {
            return Response::ended(excess, budget);
        }
    }
    out.raw("}");
    plan.remember_size(out.text.len());
    let used = budget.used();
    let (text, errors) = out.finish();
    if errors.is_empty() { Response { text, errors, used, excess: None } } else { with_errors(&text, errors, used) }
}

/// Runs mutations one after the other. When the budget is used up, the answer of the one that runs is left out, and no
/// other is begun: what has been written is kept, and the client is told which mutations ran.
async fn write_serially<'a, S: State, T: Object<S>>(
    root: &'a T,
    plan: &'a Plan,
    execution: &Execution<'a, S>,
    out: &mut Writer<'a>,
) -> Written {
    let budget = execution.budget;
    out.raw("{");
    for (mutation, field) in plan.root.fields.iter().enumerate() {
        out.raw(&field.key);
        match field.source {
            Source::Typename => out.string(T::INFO.name),
            Source::Column(index) => root.write_column(index, out),
            Source::Relation { .. } => {
                if budget.check().is_err() {
                    let why = "This mutation was not run, because the request had used up what it may use.";
                    leave_out(field, why.to_owned(), out)?;
                    continue;
                }
                let execution = &Execution { mutation, reading: None, ..*execution };
                let slot = resolve(&[root], field, execution).await;
                let (text, errors) = (out.text.len(), out.errors.len());
                write_relation(field, &slot, 0, out)?;
                if out.is_full() {
                    budget.exceed(Excess::Answer);
                }
                if let Some(excess) = budget.exceeded() {
                    out.text.truncate(text);
                    out.errors.truncate(errors);
                    let why =
                        format!("This mutation ran, but not all of its answer. {}", excess.sentence(budget.limits()));
                    leave_out(field, why, out)?;
                }
            }
        }
    }
    out.raw("}");
    Ok(())
}

/// Writes null in the place of a mutation's answer, and why.
fn leave_out<'a>(field: &'a FieldPlan, why: String, out: &mut Writer<'a>) -> Written {
    write_relation(field, &Slot::Failed { message: why, code: Code::TooExpensive }, 0, out)
}

/// Puts the errors before the data, where the specification asks for them.
fn with_errors(text: &[u8], errors: Vec<ServerError>, used: Used) -> Response {
    let mut whole = Vec::with_capacity(text.len() + 256 * errors.len());
    whole.extend_from_slice(b"{\"errors\":");
    whole.extend_from_slice(&errors_json(&errors));
    whole.push(b',');
    whole.extend_from_slice(&text[1..]);
    Response { text: whole, errors, used, excess: None }
}
