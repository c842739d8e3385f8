//! From a request's text to something that can run: parsed, validated, costed, compiled, and remembered.
//!
//! Everything that can be refused is refused here, before a resolver runs. A text that was seen before, with these or
//! other [`literals`], is neither parsed nor validated again; the memory for remembered texts is bounded by their total
//! length.

use std::sync::{Arc, Mutex, PoisonError};

use apollo_compiler::collections::HashMap;
use apollo_compiler::diagnostic::ToCliReport;
use apollo_compiler::executable::{ExecutableDocument, Operation, Selection};
use apollo_compiler::parser::{Parser, SourceSpan};
use apollo_compiler::validation::{DiagnosticList, Valid};
use apollo_compiler::{Name, Node, Schema};
use async_graphql::{Pos, Request, ServerError, Value};
use quick_cache::sync::Cache;

use super::cost::{self, Limits};
use super::execute::{Arguments, ObjectInfo};
use super::input::{self, InputError, InputTypes, Scalar, Substitution};
use super::lines::Lines;
use super::literals::{self, Literals};
use super::plan::Plan;
use super::{argument_path, lexical, sdl, validate};
use crate::error::{Code, quoted};

/// Turns requests into runnable operations; keeps what it learnt of each text.
pub struct Documents {
    schema: Arc<Valid<Schema>>,
    query: &'static ObjectInfo,
    mutation: Option<&'static ObjectInfo>,
    scalars: &'static [Scalar],
    limits: Limits,
    seen: Cache<Vec<u8>, Arc<Document>, ByLength>,
}

/// An operation that was checked in full, with its variables and arguments.
pub struct Prepared {
    /// What to run.
    pub plan: Arc<Plan>,
    /// The arguments of its fields.
    pub arguments: Vec<Arguments>,
    /// What was given to the root fields of a mutation, in their order, for the audit.
    pub inputs: Vec<serde_json::Value>,
    /// The operation's name, if it has one.
    pub operation: Option<String>,
}

struct Document {
    document: Valid<ExecutableDocument>,
    /// Those of the text that it was made of; other texts have others in their places.
    literals: Literals,
    lines: Lines,
    /// The variables that decide a `@skip` or an `@include`, by operation.
    conditions: HashMap<Option<Name>, Vec<Name>>,
    plans: Mutex<Vec<(PlanKey, Arc<Plan>)>>,
}

/// A plan holds for one operation and one outcome of each of its conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PlanKey {
    operation: Option<Name>,
    outcomes: Vec<Option<bool>>,
}

/// At most this many plans are kept for one text.
const PLANS_PER_DOCUMENT: usize = 16;

/// At most this many bytes of text are remembered. A parsed document takes some thirty times its text.
const REMEMBERED_BYTES: u64 = 512 * 1024;

#[derive(Clone)]
struct ByLength;

impl quick_cache::Weighter<Vec<u8>, Arc<Document>> for ByLength {
    fn weight(&self, text: &Vec<u8>, _: &Arc<Document>) -> u64 {
        text.len() as u64 + 64
    }
}

impl Documents {
    /// Documents for a schema. `text` is trusted to be valid: the build checked it.
    ///
    /// # Panics
    /// When it is not.
    pub fn new(
        text: &str,
        query: &'static ObjectInfo,
        mutation: Option<&'static ObjectInfo>,
        scalars: &'static [Scalar],
        limits: Limits,
    ) -> Self {
        let schema = sdl::parse(text).unwrap_or_else(|error| panic!("the schema was checked by the build: {error}"));
        let seen = Cache::with_weighter(1024, REMEMBERED_BYTES, ByLength);
        Self { schema: Arc::new(schema), query, mutation, scalars, limits, seen }
    }

    /// The schema that documents are checked against.
    pub fn schema(&self) -> &Arc<Valid<Schema>> {
        &self.schema
    }

    /// Checks a request in full. What it answers can be run; what is wrong is told at once, nothing has happened.
    pub fn prepare(&self, request: &Request) -> Result<Prepared, Vec<ServerError>> {
        let (text, literals) = literals::taken_out_of(&request.query);
        if let Some(document) = self.seen.get(&text) {
            let prepared = self.prepare_by(&document, &literals, request);
            // What is wrong with a literal is for a document of its own text to say.
            if prepared.is_ok() || literals == document.literals {
                return prepared;
            }
        }
        let document = Arc::new(self.check(&request.query, literals)?);
        let prepared = self.prepare_by(&document, &document.literals, request);
        self.seen.insert(text, document);
        prepared
    }

    fn prepare_by(
        &self,
        document: &Document,
        literals: &Literals,
        request: &Request,
    ) -> Result<Prepared, Vec<ServerError>> {
        let operation = document.operation(request.operation_name.as_deref())?;
        let variables = input::variables(self.types(), operation, &request.variables, &document.lines)?;
        let plan = self.plan(document, operation, &variables)?;
        let substitution = Substitution { variables: &variables, literals };
        let arguments = plan.arguments(&substitution)?;
        let inputs = plan.inputs(&substitution);
        Ok(Prepared { plan, arguments, inputs, operation: operation.name.as_ref().map(ToString::to_string) })
    }

    fn types(&self) -> InputTypes<'_> {
        InputTypes { schema: &self.schema, scalars: self.scalars }
    }

    fn check(&self, text: &str, literals: Literals) -> Result<Document, Vec<ServerError>> {
        let mut parser = Parser::new().recursion_limit(self.limits.nesting).token_limit(self.limits.tokens);
        let lines = Lines::new(text);
        let normal = lexical::normal(text)
            .map_err(|(at, mistake)| vec![request_error(mistake, vec![lines.at(at)], Code::ParseFailed)])?;
        let parsed = parser.parse_ast(normal, "query");
        let parsed = parsed.map_err(|e| diagnostics(&e.errors, &lines, Code::ParseFailed, |_| None))?;
        let refuse = |errors: &DiagnosticList| {
            diagnostics(errors, &lines, Code::ValidationFailed, |place| argument_path::at(&parsed, place))
        };
        let document = parsed.to_executable(&self.schema).map_err(|e| refuse(&e.errors))?;
        cost::check(&document, &self.limits)?;
        let document = document.validate(&self.schema).map_err(|e| refuse(&e.errors))?;
        validate::check(self.types(), &parsed, &document, &lines)?;
        let conditions = |operation: &Node<Operation>| {
            (operation.name.clone(), conditions(&validate::selections(&document, operation)))
        };
        let conditions = document.operations.iter().map(conditions).collect();
        Ok(Document { document, literals, lines, conditions, plans: Mutex::default() })
    }

    fn plan(
        &self,
        document: &Document,
        operation: &Node<Operation>,
        variables: &HashMap<String, Value>,
    ) -> Result<Arc<Plan>, Vec<ServerError>> {
        let key = PlanKey { operation: operation.name.clone(), outcomes: document.outcomes(operation, variables) };
        let plans = || document.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, plan)) = plans().iter().find(|(known, _)| *known == key) {
            return Ok(Arc::clone(plan));
        }
        let root = if operation.is_mutation() { self.mutation.unwrap_or(self.query) } else { self.query };
        let Document { document: executable, lines, literals, .. } = document;
        let plan = Plan::compile(&self.schema, executable, lines, operation, root, variables, literals)?;
        let plan = Arc::new(plan);
        let mut plans = plans();
        if plans.len() < PLANS_PER_DOCUMENT {
            plans.push((key, Arc::clone(&plan)));
        }
        Ok(plan)
    }
}

impl Document {
    fn operation(&self, name: Option<&str>) -> Result<&Node<Operation>, Vec<ServerError>> {
        let operations = &self.document.operations;
        let found = match name {
            Some(name) => operations.named.get(name),
            None => match (&operations.anonymous, operations.named.len()) {
                (Some(operation), 0) => Some(operation),
                (None, 1) => operations.named.values().next(),
                _ => None,
            },
        };
        found.ok_or_else(|| {
            let message = match name {
                Some(name) => format!("The document has no operation named {}.", quoted(name)),
                None if operations.is_empty() => "The document has no operation.".to_owned(),
                None => "The document has several operations: operationName must name one.".to_owned(),
            };
            vec![request_error(message, Vec::new(), Code::BadUserInput)]
        })
    }

    /// What the variables say to the operation's conditions. Where one is null the plan tells whether that matters.
    fn outcomes(&self, operation: &Operation, variables: &HashMap<String, Value>) -> Vec<Option<bool>> {
        let conditions = self.conditions.get(&operation.name).map_or(&[][..], Vec::as_slice);
        let outcome = |variable: &Name| match variables.get(variable.as_str()) {
            Some(Value::Boolean(outcome)) => Some(*outcome),
            _ => None,
        };
        conditions.iter().map(outcome).collect()
    }
}

/// A top-level error about the request as a whole.
pub fn request_error(message: impl Into<String>, locations: Vec<Pos>, code: Code) -> ServerError {
    let mut extensions = async_graphql::ErrorExtensionValues::default();
    extensions.set("code", code.as_str());
    ServerError { message: message.into(), source: None, locations, path: Vec::new(), extensions: Some(extensions) }
}

/// The errors of apollo-compiler. Those about a value of an argument are told with its path, as `path` knows it.
fn diagnostics(
    list: &DiagnosticList,
    lines: &Lines,
    code: Code,
    path: impl Fn(Option<SourceSpan>) -> Option<Vec<String>>,
) -> Vec<ServerError> {
    /// One mistake can be reported many times over; the first few say it.
    const MOST: usize = 20;
    let first = list.iter().take(MOST).map(|found| {
        let place = found.error.location();
        let message = found.error.to_string();
        let message = match path(place) {
            Some(path) => InputError { message, path }.to_string(),
            None => message,
        };
        request_error(message, lines.of(place), code)
    });
    first.collect()
}

/// The variables in `@skip(if:)` and `@include(if:)`, each once.
fn conditions(selections: &[&Selection]) -> Vec<Name> {
    let directives = selections.iter().flat_map(|selection| selection.directives().iter());
    let conditions = directives.filter(|directive| matches!(directive.name.as_str(), "skip" | "include"));
    let mut variables: Vec<Name> = Vec::new();
    for directive in conditions {
        let variable = directive.specified_argument_by_name("if").and_then(|value| value.as_variable());
        variables.extend(variable.filter(|variable| !variables.contains(variable)).cloned());
    }
    variables
}
