//! Runs an operation within its budget, and writes the text of the response.

use async_graphql::{ServerError, Value};

use super::execute::{level, resolve, write_relation};
use super::input::Arguments;
use super::object::{Arena, Execution, Object, Objects, Slot, Written, objects};
use super::plan::{FieldPlan, Plan, Source};
use super::request_error::{errors_json, request_error};
use super::state::{AnyState, State};
use super::write::Writer;
use crate::budget::{Budget, Excess, Used};
use crate::error::Code;

/// The outcome of an operation.
#[derive(Debug)]
pub struct Response {
    /// The response as JSON text: `{"data":…}`, preceded by `errors` if there are any.
    pub text: Vec<u8>,
    /// The first errors, in response order.
    pub errors: Vec<ServerError>,
    /// The resources it used.
    pub used: Used,
    /// The limit that it exceeded, if any.
    pub excess: Option<Excess>,
    /// The mutations that the caller may not run, as far as that was found while they ran.
    pub forbidden: Vec<&'static str>,
}

impl Response {
    /// The response to an operation that failed as a whole.
    pub fn failed(error: ServerError) -> Self {
        with_errors(b"{\"data\":null}", vec![error], Used::default())
    }

    /// The response to an operation that exceeded its budget.
    pub fn ended(excess: Excess, budget: &Budget) -> Self {
        let error = request_error(excess.sentence(&budget.limits()), Vec::new(), Code::TooExpensive);
        Self { excess: Some(excess), ..with_errors(b"{\"data\":null}", vec![error], budget.used()) }
    }

    /// The code of its first error.
    pub fn class(&self) -> Option<&str> {
        match self.errors.first()?.extensions.as_ref()?.get("code")? {
            Value::String(code) => Some(code),
            _ => None,
        }
    }

    /// Adds an entry to `extensions` of the response.
    pub fn extend(&mut self, name: &str, value: &serde_json::Value) {
        self.text.pop();
        self.text.extend_from_slice(format!(",\"extensions\":{{\"{name}\":{value}}}}}").as_bytes());
    }
}

/// Runs an operation. The root fields of a query are resolved concurrently. Those of a mutation run one after the
/// other, each with its whole selection, so that each sees the writes of the previous one.
///
/// A query that exceeds its budget returns only that error.
pub async fn run<S: State, T: Object>(root: &T, plan: &Plan, arguments: &[Arguments], state: &S) -> Response {
    run_any(root, plan, arguments, (state, state.budget())).await
}

/// A root object of any type.
trait Root: Sync {
    fn level<'a>(&'a self) -> Box<dyn Objects<'a> + 'a>;
}

impl<T: Object> Root for T {
    fn level<'a>(&'a self) -> Box<dyn Objects<'a> + 'a> {
        objects(vec![self])
    }
}

async fn run_any(
    root: &dyn Root,
    plan: &Plan,
    arguments: &[Arguments],
    (state, budget): (&dyn AnyState, &Budget),
) -> Response {
    let arena = Arena::new();
    let execution = Execution { state, budget, reading: None, arguments, arena: &arena, mutation: 0 };
    let mut out = Writer::new(plan.size_hint());
    out.limit(budget);
    out.raw("{\"data\":");
    if plan.serial {
        let start = out.text.len();
        if let Err(error) = write_serially(&*root.level(), plan, &execution, &mut out).await {
            out.text.truncate(start);
            out.null();
            out.errors.push(*error);
        }
    } else {
        let rows = level(root.level(), &plan.root, &execution).await;
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
    if errors.is_empty() {
        Response { text, errors, used, excess: None, forbidden: Vec::new() }
    } else {
        with_errors(&text, errors, used)
    }
}

/// Runs mutations one after the other. When the budget is exhausted, no further mutation starts, and the current
/// mutation's payload is left out unless it is in memory already and short enough. Committed writes stay, and the errors
/// say which mutations ran.
async fn write_serially<'a>(
    root: &(dyn Objects<'a> + 'a),
    plan: &'a Plan,
    execution: &Execution<'a>,
    out: &mut Writer<'a>,
) -> Written {
    let budget = execution.budget;
    out.raw("{");
    for (mutation, field) in plan.root.fields.iter().enumerate() {
        out.raw(&field.key);
        match field.source {
            Source::Typename => out.string(plan.root.info.name),
            Source::Column(index) => root.write_column(0, index, out),
            Source::Relation { .. } => {
                if budget.check().is_err() {
                    let why = "This mutation was not run, because the request had used up its budget.";
                    leave_out(field, why.to_owned(), out)?;
                    continue;
                }
                let execution = &Execution { mutation, reading: None, ..*execution };
                let slot = resolve(root, &plan.root, field, execution).await;
                let (text, errors) = (out.text.len(), out.errors.len());
                write_relation(field, &slot, 0, out)?;
                if out.is_full() {
                    budget.exceed(Excess::Answer);
                }
                if let Some(excess) = budget.exceeded() {
                    out.text.truncate(text);
                    out.errors.truncate(errors);
                    let limit = excess.sentence(&budget.limits());
                    let why = format!("This mutation ran, but its result is incomplete. {limit}");
                    leave_out(field, why, out)?;
                }
            }
        }
    }
    out.raw("}");
    Ok(())
}

/// Writes null instead of a mutation's payload, with the reason as an error.
fn leave_out<'a>(field: &'a FieldPlan, why: String, out: &mut Writer<'a>) -> Written {
    write_relation(field, &Slot::Failed { message: why, code: Code::TooExpensive }, 0, out)
}

/// Puts the errors before the data, as the specification recommends.
fn with_errors(text: &[u8], errors: Vec<ServerError>, used: Used) -> Response {
    let mut whole = Vec::with_capacity(text.len() + 256 * errors.len());
    whole.extend_from_slice(b"{\"errors\":");
    whole.extend_from_slice(&errors_json(&errors));
    whole.push(b',');
    whole.extend_from_slice(&text[1..]);
    Response { text: whole, errors, used, excess: None, forbidden: Vec::new() }
}
