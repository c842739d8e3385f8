//! Turns the text of a request into a runnable operation: parses, validates, costs, compiles and caches it.
//!
//! Every refusal happens here, before a resolver runs. A text that was seen before, with the same or other
//! [`literals`], is neither parsed nor validated again. It is compiled again only for new outcomes of its `@skip` and
//! `@include` conditions. The caches are bounded by the bytes they hold.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use apollo_compiler::collections::HashMap;
use apollo_compiler::diagnostic::ToCliReport;
use apollo_compiler::executable::{ExecutableDocument, Operation, Selection};
use apollo_compiler::parser::{Parser, SourceSpan};
use apollo_compiler::validation::{DiagnosticList, Valid};
use apollo_compiler::{Name, Node, Schema, ast};
use async_graphql::{Request, ServerError, Value};
use quick_cache::sync::Cache;

use super::cost::{self, DocumentLimits};
use super::input::{self, Arguments, InputError, InputTypes, ScalarCheck, Substitution};
use super::lines::Lines;
use super::literals::{self, Literals};
use super::plan::Plan;
use super::request_error::request_error;
use super::sizing::Sizing;
use super::tables::ObjectInfo;
use super::{advice, argument_path, estimate, faults, lexical, sdl, validate};
use crate::error::{Code, quoted};

/// Prepares requests for execution and caches the work by document.
pub struct Documents {
    schema: Arc<Valid<Schema>>,
    query: &'static ObjectInfo,
    mutation: Option<&'static ObjectInfo>,
    scalars: &'static [ScalarCheck],
    limits: DocumentLimits,
    seen: Cache<Vec<u8>, Arc<Document>, ByWeight>,
    /// Plans that are not stored with their document: those with conditions, and those of further operations.
    plans: Cache<PlanKey, Arc<Plan>, ByWeight>,
    documents: AtomicU64,
}

/// A fully validated operation with its variables and arguments.
pub struct Prepared {
    /// The plan to run.
    pub plan: Arc<Plan>,
    /// The coerced arguments of its fields, by slot.
    pub arguments: Vec<Arguments>,
    /// The arguments of a mutation's root fields, in order, for the audit.
    pub inputs: Vec<serde_json::Value>,
    /// The operation's name, if it has one.
    pub operation: Option<String>,
    /// The most objects that the response may hold, estimated from its page sizes.
    pub estimate: u64,
}

struct Document {
    /// Identifies the document in [`PlanKey`].
    number: u64,
    document: Valid<ExecutableDocument>,
    /// The literals of the text that was parsed. Other texts of the same shape have others in their places.
    literals: Literals,
    /// Values that contain literals and are passed to custom scalars, with the scalar's name. Other literals in the
    /// same places must be checked again.
    scalars: Vec<(Node<ast::Value>, Name)>,
    lines: Lines,
    /// The variables that decide `@skip` and `@include`, by operation.
    conditions: HashMap<Option<Name>, Vec<Name>>,
    /// The plan of the operation that was requested first, if that operation has no conditions.
    plan: Option<(Option<Name>, Arc<Plan>)>,
}

/// The cache key of a plan: one operation with one outcome of each of its conditions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct PlanKey {
    document: u64,
    operation: Option<Name>,
    outcomes: Vec<Option<bool>>,
}

/// The most bytes that the document cache holds, including the plans stored with documents.
const DOCUMENTS_BYTES: u64 = 16 << 20;

/// The most bytes that the plan cache holds.
const PLANS_BYTES: u64 = 8 << 20;

/// The overhead of a cache entry, in bytes.
const ENTRY: u64 = 256;

/// Weighs cache entries by their size in bytes.
#[derive(Clone)]
struct ByWeight;

impl quick_cache::Weighter<Vec<u8>, Arc<Document>> for ByWeight {
    fn weight(&self, text: &Vec<u8>, document: &Arc<Document>) -> u64 {
        // The key, and the copy of the text that the parser keeps.
        2 * text.len() as u64 + document.weight() + ENTRY
    }
}

impl quick_cache::Weighter<PlanKey, Arc<Plan>> for ByWeight {
    fn weight(&self, key: &PlanKey, plan: &Arc<Plan>) -> u64 {
        plan.weight() + key.outcomes.len() as u64 + ENTRY
    }
}

impl Documents {
    /// Creates the cache for a schema. `text` must be a valid SDL; the build has checked it.
    ///
    /// # Panics
    /// When `text` is not valid.
    pub fn new(
        text: &str,
        query: &'static ObjectInfo,
        mutation: Option<&'static ObjectInfo>,
        scalars: &'static [ScalarCheck],
        limits: DocumentLimits,
    ) -> Self {
        let schema = sdl::parse(text).unwrap_or_else(|error| panic!("the build has checked the schema: {error}"));
        let seen = Cache::with_weighter(1024, DOCUMENTS_BYTES, ByWeight);
        let plans = Cache::with_weighter(1024, PLANS_BYTES, ByWeight);
        let documents = AtomicU64::new(0);
        Self { schema: Arc::new(schema), query, mutation, scalars, limits, seen, plans, documents }
    }

    /// The limits of documents.
    pub fn limits(&self) -> &DocumentLimits {
        &self.limits
    }

    /// The schema that documents are validated against.
    pub fn schema(&self) -> &Arc<Valid<Schema>> {
        &self.schema
    }

    /// Checks a request completely, before anything runs.
    pub fn prepare(&self, request: &Request) -> Result<Prepared, Vec<ServerError>> {
        let (text, literals) = literals::taken_out_of(&request.query);
        if let Some(document) = self.seen.get(&text) {
            // A text with other literals that is refused is checked again below. Only its own document has the right
            // paths and locations for the errors.
            let fit = literals == document.literals || self.fit(&literals, &document);
            if fit {
                let prepared = self.prepare_by(&document, &literals, request);
                if prepared.is_ok() || literals == document.literals {
                    return prepared;
                }
            }
        }
        let mut document = self.check(&request.query, literals)?;
        let prepared = self.prepare_by(&document, &document.literals, request);
        if let (Ok(prepared), Ok(operation)) = (&prepared, document.operation(request.operation_name.as_deref()))
            && document.conditions_of(operation).is_empty()
        {
            let name = operation.name.clone();
            document.plan = Some((name, Arc::clone(&prepared.plan)));
        }
        self.seen.insert(text, Arc::new(document));
        prepared
    }

    /// Checks that these literals are valid for the custom scalars that they are passed to.
    fn fit(&self, literals: &Literals, document: &Document) -> bool {
        let substitution = Substitution { variables: &HashMap::default(), literals };
        document.scalars.iter().all(|(literal, scalar)| {
            substitution.value(literal).is_some_and(|value| self.types().check(scalar, &value).is_ok())
        })
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
        let (arguments, sizings) = plan.arguments(&substitution, &self.limits)?;
        let estimate = estimate::total(&plan, &sizings);
        if estimate > self.limits.estimate {
            return Err(vec![self.too_much(&plan, &sizings, estimate)]);
        }
        let inputs = plan.inputs(&substitution);
        let changes = inputs.len() + inputs.iter().map(entries).sum::<usize>();
        if changes > self.limits.changes {
            let most = self.limits.changes;
            let message = format!("The number of mutations plus their list entries is over the limit of {most}.");
            return Err(vec![request_error(message, Vec::new(), Code::ValidationFailed)]);
        }
        let operation = operation.name.as_ref().map(ToString::to_string);
        Ok(Prepared { plan, arguments, inputs, operation, estimate })
    }

    fn too_much(&self, plan: &Plan, sizings: &[Sizing], estimate: u64) -> ServerError {
        let (field, own) = estimate::largest(plan, sizings);
        let message = format!(
            "The query may return {estimate} objects, estimated from its page sizes; the limit is {}. The field \
             {field} adds {own}. Ask for smaller pages with `first`, or nest fewer lists.",
            self.limits.estimate
        );
        request_error(message, Vec::new(), Code::EstimateTooHigh)
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
        let parsed = parsed.map_err(|e| {
            let reword = |message, place| advice::syntax(message, text, place);
            diagnostics(&e.errors, &[], &lines, Code::ParseFailed, reword)
        })?;
        let refuse = |errors: &DiagnosticList, accepted: &[SourceSpan]| {
            diagnostics(errors, accepted, &lines, Code::ValidationFailed, |message, place| {
                let message = advice::validation(&self.schema, &parsed, message, text, place);
                match argument_path::at(&parsed, place) {
                    Some(path) => InputError { message, path }.to_string(),
                    None => message,
                }
            })
        };
        let document = parsed.to_executable(&self.schema).map_err(|e| refuse(&e.errors, &[]))?;
        cost::check(&document, &self.limits)?;
        let document = document.validate(&self.schema).or_else(|refused| {
            let accepted = validate::accepted(&self.schema, &refused.partial);
            let errors = refuse(&refused.errors, &accepted);
            if errors.is_empty() { Ok(Valid::assume_valid(refused.partial)) } else { Err(errors) }
        })?;
        let scalars = validate::check(self.types(), &parsed, &document, &lines, &literals)?;
        let conditions = |operation: &Node<Operation>| {
            (operation.name.clone(), conditions(&validate::selections(&document, operation)))
        };
        let conditions = document.operations.iter().map(conditions).collect();
        let number = self.documents.fetch_add(1, Ordering::Relaxed);
        Ok(Document { number, document, literals, scalars, lines, conditions, plan: None })
    }

    fn plan(
        &self,
        document: &Document,
        operation: &Node<Operation>,
        variables: &HashMap<String, Value>,
    ) -> Result<Arc<Plan>, Vec<ServerError>> {
        if let Some((name, plan)) = &document.plan
            && *name == operation.name
        {
            return Ok(Arc::clone(plan));
        }
        let outcomes = document.outcomes(operation, variables);
        let key = PlanKey { document: document.number, operation: operation.name.clone(), outcomes };
        if let Some(plan) = self.plans.get(&key) {
            return Ok(plan);
        }
        let root = if operation.is_mutation() { self.mutation.unwrap_or(self.query) } else { self.query };
        let Document { document: executable, lines, literals, .. } = document;
        let substitution = Substitution { variables, literals };
        let plan = Plan::compile(&self.schema, executable, lines, operation, root, &substitution, &self.limits)?;
        let plan = Arc::new(plan);
        self.plans.insert(key, Arc::clone(&plan));
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

    /// The value of each variable that decides a condition of the operation. `None` for null: the plan's compiler
    /// reports a null that it reaches.
    fn outcomes(&self, operation: &Operation, variables: &HashMap<String, Value>) -> Vec<Option<bool>> {
        let outcome = |variable: &Name| match variables.get(variable.as_str()) {
            Some(Value::Boolean(outcome)) => Some(*outcome),
            _ => None,
        };
        self.conditions_of(operation).iter().map(outcome).collect()
    }

    fn conditions_of(&self, operation: &Operation) -> &[Name] {
        self.conditions.get(&operation.name).map_or(&[][..], Vec::as_slice)
    }

    /// Estimates the memory that the document takes, in bytes.
    fn weight(&self) -> u64 {
        let plan = self.plan.as_ref().map_or(0, |(_, plan)| plan.weight());
        cost::weight(&self.document) + self.literals.weight() + self.lines.weight() + plan
    }
}

/// Counts the entries of all lists in a value.
fn entries(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::Array(items) => items.len() + items.iter().map(entries).sum::<usize>(),
        serde_json::Value::Object(fields) => fields.values().map(entries).sum(),
        _ => 0,
    }
}

/// Converts errors of apollo-compiler, at most [`faults::MOST`]. Those at an accepted place are none. `reword` replaces a
/// message, given its location.
fn diagnostics(
    list: &DiagnosticList,
    accepted: &[SourceSpan],
    lines: &Lines,
    code: Code,
    reword: impl Fn(String, Option<SourceSpan>) -> String,
) -> Vec<ServerError> {
    let is_error = |place: Option<SourceSpan>| place.is_none_or(|place| !accepted.contains(&place));
    let first = list.iter().filter(|found| is_error(found.error.location())).take(faults::MOST).map(|found| {
        let place = found.error.location();
        request_error(reword(found.error.to_string(), place), lines.locations(place), code)
    });
    first.collect()
}

/// The variables in `@skip(if:)` and `@include(if:)`, without duplicates.
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
