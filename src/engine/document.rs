//! From a request's text to something that can run: parsed, validated, costed, compiled, and remembered.
//!
//! Everything that can be refused is refused here, before a resolver runs. A text that was seen before, with these or
//! other [`literals`], is neither parsed nor validated again, and compiled again only where `@skip` or `@include` decide
//! otherwise than before. What is kept is bounded by the bytes that it takes.

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

use super::cost::{self, Limits};
use super::input::{self, Arguments, InputError, InputTypes, ScalarCheck, Substitution};
use super::lines::Lines;
use super::literals::{self, Literals};
use super::plan::Plan;
use super::request_error::request_error;
use super::sizing::Sizing;
use super::tables::ObjectInfo;
use super::{argument_path, estimate, faults, lexical, sdl, validate};
use crate::error::{Code, quoted};

/// Turns requests into runnable operations; keeps what it learnt of each text.
pub struct Documents {
    schema: Arc<Valid<Schema>>,
    query: &'static ObjectInfo,
    mutation: Option<&'static ObjectInfo>,
    scalars: &'static [ScalarCheck],
    limits: Limits,
    seen: Cache<Vec<u8>, Arc<Document>, ByWeight>,
    /// Plans that are not kept with their document.
    plans: Cache<PlanKey, Arc<Plan>, ByWeight>,
    documents: AtomicU64,
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
    /// How many objects the answer may have at the most, by the sizes of its pages.
    pub estimate: u64,
}

struct Document {
    /// Tells it from all others.
    number: u64,
    document: Valid<ExecutableDocument>,
    /// Those of the text that it was made of; other texts have others in their places.
    literals: Literals,
    /// Values that hold such literals, where a scalar of the schema's own is asked for, and which one: other literals in
    /// their places have to be checked.
    scalars: Vec<(Node<ast::Value>, Name)>,
    lines: Lines,
    /// The variables that decide a `@skip` or an `@include`, by operation.
    conditions: HashMap<Option<Name>, Vec<Name>>,
    /// The plan of the operation that was asked for first, when nothing decides over it.
    plan: Option<(Option<Name>, Arc<Plan>)>,
}

/// A plan holds for one operation and one outcome of each of its conditions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct PlanKey {
    document: u64,
    operation: Option<Name>,
    outcomes: Vec<Option<bool>>,
}

/// The most bytes that documents take, with the plans that are kept with them.
const DOCUMENTS_BYTES: u64 = 16 << 20;

/// The most bytes that other plans take.
const PLANS_BYTES: u64 = 8 << 20;

/// What an entry of a cache takes beside what is counted.
const ENTRY: u64 = 256;

/// By bytes.
#[derive(Clone)]
struct ByWeight;

impl quick_cache::Weighter<Vec<u8>, Arc<Document>> for ByWeight {
    fn weight(&self, text: &Vec<u8>, document: &Arc<Document>) -> u64 {
        // The key, and the text that the parser keeps.
        2 * text.len() as u64 + document.weight() + ENTRY
    }
}

impl quick_cache::Weighter<PlanKey, Arc<Plan>> for ByWeight {
    fn weight(&self, key: &PlanKey, plan: &Arc<Plan>) -> u64 {
        plan.weight() + key.outcomes.len() as u64 + ENTRY
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
        scalars: &'static [ScalarCheck],
        limits: Limits,
    ) -> Self {
        let schema = sdl::parse(text).unwrap_or_else(|error| panic!("the schema was checked by the build: {error}"));
        let seen = Cache::with_weighter(1024, DOCUMENTS_BYTES, ByWeight);
        let plans = Cache::with_weighter(1024, PLANS_BYTES, ByWeight);
        let documents = AtomicU64::new(0);
        Self { schema: Arc::new(schema), query, mutation, scalars, limits, seen, plans, documents }
    }

    /// The bounds of documents.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The schema that documents are checked against.
    pub fn schema(&self) -> &Arc<Valid<Schema>> {
        &self.schema
    }

    /// Checks a request in full. What it answers can be run; what is wrong is told at once, nothing has happened.
    pub fn prepare(&self, request: &Request) -> Result<Prepared, Vec<ServerError>> {
        let (text, literals) = literals::taken_out_of(&request.query);
        if let Some(document) = self.seen.get(&text) {
            // What is wrong with a literal is for a document of its own text to say.
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

    /// Whether these literals are values of the scalars in whose places they stand.
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
        let (arguments, sizings) = plan.arguments(&substitution, self.limits.values)?;
        let estimate = estimate::of(&plan, &sizings);
        if estimate > self.limits.estimate {
            return Err(vec![self.too_much(&plan, &sizings, estimate)]);
        }
        let inputs = plan.inputs(&substitution);
        let changes = inputs.len() + inputs.iter().map(entries).sum::<usize>();
        if changes > self.limits.changes {
            let most = self.limits.changes;
            let message =
                format!("The number of mutations, and of entries in their lists, is over the limit of {most}.");
            return Err(vec![request_error(message, Vec::new(), Code::ValidationFailed)]);
        }
        let operation = operation.name.as_ref().map(ToString::to_string);
        Ok(Prepared { plan, arguments, inputs, operation, estimate })
    }

    fn too_much(&self, plan: &Plan, sizings: &[Sizing], estimate: u64) -> ServerError {
        let (field, own) = estimate::largest(plan, sizings);
        let message = format!(
            "The query may answer {estimate} objects, by the sizes of its pages; the limit is {}. The field {field} adds \
             {own}. Ask for smaller pages with `first`, or for fewer lists inside one another.",
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
        let parsed = parsed.map_err(|e| diagnostics(&e.errors, &lines, Code::ParseFailed, |_| None))?;
        let refuse = |errors: &DiagnosticList| {
            diagnostics(errors, &lines, Code::ValidationFailed, |place| argument_path::at(&parsed, place))
        };
        let document = parsed.to_executable(&self.schema).map_err(|e| refuse(&e.errors))?;
        cost::check(&document, &self.limits)?;
        let document = document.validate(&self.schema).map_err(|e| refuse(&e.errors))?;
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
        let plan = Plan::compile(&self.schema, executable, lines, operation, root, variables, literals)?;
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

    /// What the variables say to the operation's conditions. Where one is null the plan tells whether that matters.
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

    /// About how many bytes it takes.
    fn weight(&self) -> u64 {
        let plan = self.plan.as_ref().map_or(0, |(_, plan)| plan.weight());
        cost::weight(&self.document) + self.literals.weight() + self.lines.weight() + plan
    }
}

/// How many entries the lists in a value have.
fn entries(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::Array(items) => items.len() + items.iter().map(entries).sum::<usize>(),
        serde_json::Value::Object(fields) => fields.values().map(entries).sum(),
        _ => 0,
    }
}

/// The errors of apollo-compiler. Those about a value of an argument are told with its path, as `path` knows it.
fn diagnostics(
    list: &DiagnosticList,
    lines: &Lines,
    code: Code,
    path: impl Fn(Option<SourceSpan>) -> Option<Vec<String>>,
) -> Vec<ServerError> {
    let first = list.iter().take(faults::MOST).map(|found| {
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
