//! Plans: a validated operation, compiled once for the executor.
//!
//! Compiling resolves fragments, type conditions, `@skip`, `@include` and merged fields. What remains is, for each
//! concrete object type, a list of fields in response order.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use apollo_compiler::ast;
use apollo_compiler::collections::{HashMap, HashSet, IndexMap};
use apollo_compiler::executable::{ExecutableDocument, Field, Operation, Selection, SelectionSet};
use apollo_compiler::{Node, Schema};
use async_graphql::{Pos, ServerError, Value};

use super::cost::{self, DocumentLimits};
use super::faults::Faults;
use super::input::{self, Arguments, InputError, ReadArguments, Substitution};
use super::lines::Lines;
use super::literals::Literals;
use super::request_error::request_error;
use super::room::Room;
use super::sizing::Sizing;
use super::tables::{Cost, FieldInfo, FieldKind, ObjectInfo, Scope};
use crate::error::Code;

/// An executable operation. Valid for all variables that leave its conditions unchanged.
#[derive(Debug)]
pub struct Plan {
    /// The root type's fields.
    pub root: ObjectPlan,
    /// Whether the root fields run one after the other, as in a mutation.
    pub serial: bool,
    arguments: Vec<ArgumentPlan>,
    /// The length of the last response, used as the initial capacity of the next buffer.
    size: AtomicUsize,
    is_slow: AtomicBool,
    takes_several: AtomicBool,
}

/// The most fields of a plan. A selection on an interface is planned for each of its types.
pub const MOST_FIELDS: usize = 10_000;

/// The selection on one concrete object type.
#[derive(Debug)]
pub struct ObjectPlan {
    /// The type.
    pub(super) info: &'static ObjectInfo,
    /// The fields in response order.
    pub fields: Vec<FieldPlan>,
    /// How many of them are relations.
    pub relation_count: usize,
}

/// One field of the response.
#[derive(Debug)]
pub struct FieldPlan {
    /// `"name":`, with a comma before it for all but the first.
    pub key: Box<str>,
    /// The name in the response.
    pub response_key: Box<str>,
    /// Where its value comes from.
    pub source: Source,
    pub(super) info: Option<&'static FieldInfo>,
    /// The slot of its arguments, if it has any.
    pub arguments: Option<usize>,
    /// The selections below it, one for each object type in [`FieldInfo::objects`].
    pub children: Vec<ObjectPlan>,
    /// All its locations in the document.
    pub locations: Vec<Pos>,
}

/// Where a field's value comes from. Indexes refer to [`ObjectInfo::fields`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The name of the object's type.
    Typename,
    /// The object itself.
    Column(u16),
    /// A resolver. Its values are stored in slot `slot` of the level.
    Relation {
        /// The index of the field.
        index: u16,
        /// The position among the relations of the plan.
        slot: usize,
    },
}

#[derive(Debug)]
struct ArgumentPlan {
    read: ReadArguments,
    given: Vec<Node<ast::Argument>>,
    locations: Vec<Pos>,
    /// The coerced arguments, if they contain no variables or literals that vary.
    constant: Option<(Arguments, Sizing)>,
    /// The bytes of the texts in `constant`.
    text: usize,
}

impl ArgumentPlan {
    /// Renames the path of an error to the variable that the value came from, if any.
    fn named(&self, InputError { message, path }: InputError) -> InputError {
        let mut steps = path.iter();
        let argument = steps.next().and_then(|name| self.given.iter().find(|argument| argument.name == name.as_str()));
        let mut value = argument.map(|argument| &*argument.value);
        while let Some(literal) = value {
            if let ast::Value::Variable(name) = literal {
                let path = std::iter::once(format!("${name}")).chain(steps.cloned()).collect();
                return InputError { message, path };
            }
            value = steps.next().and_then(|step| match literal {
                ast::Value::Object(fields) => {
                    fields.iter().find(|(name, _)| name == step.as_str()).map(|(_, value)| &**value)
                }
                ast::Value::List(items) => items.get(step.parse::<usize>().ok()?).map(|item| &**item),
                _ => None,
            });
        }
        InputError { message, path }
    }
}

impl ObjectPlan {
    /// The relations in the order of their slots.
    pub fn relations(&self) -> impl Iterator<Item = &FieldPlan> {
        self.fields.iter().filter(|field| matches!(field.source, Source::Relation { .. }))
    }
}

impl FieldPlan {
    /// Its cost according to the SDL. `None` for `__typename`.
    pub(super) fn cost(&self) -> Option<Cost> {
        self.info.map(|info| info.cost)
    }

    /// The groups of columns of its object that it reads, as a bit set. `__typename` reads none.
    pub(super) fn read_groups(&self) -> u8 {
        self.info.map_or(0, |info| info.reads)
    }

    /// Whether it has a resolver.
    pub(super) fn reads(&self) -> bool {
        self.info.is_some_and(|info| info.kind == FieldKind::Relation)
    }

    /// Whether any field below it has a resolver.
    pub(super) fn reads_below(&self) -> bool {
        let reads = |field: &Self| field.reads() || field.reads_below();
        self.below().any(reads)
    }

    /// The fields directly below it, for all object types that it can return.
    pub(super) fn below(&self) -> impl Iterator<Item = &Self> {
        self.children.iter().flat_map(|object| &object.fields)
    }

    /// The field's name in the SDL.
    pub fn name(&self) -> &'static str {
        self.info.map_or("__typename", |info| info.name)
    }

    /// Whether the SDL allows null.
    pub fn nullable(&self) -> bool {
        self.info.is_some_and(|info| info.nullable)
    }

    /// The scope that a caller needs to select it.
    pub fn scope(&self) -> Scope {
        self.info.map_or(Scope::Read, |info| info.scope)
    }

    /// Its index in [`ObjectInfo::fields`].
    pub fn index(&self) -> u16 {
        match self.source {
            Source::Typename => u16::MAX,
            Source::Column(index) | Source::Relation { index, .. } => index,
        }
    }
}

impl Plan {
    /// Compiles an operation. The variables decide its conditions (`@skip`, `@include`).
    pub(super) fn compile(
        schema: &Schema,
        document: &ExecutableDocument,
        lines: &Lines,
        operation: &Operation,
        root: &'static ObjectInfo,
        substitution: &Substitution<'_>,
        limits: &DocumentLimits,
    ) -> Result<Self, Vec<ServerError>> {
        let Substitution { variables, literals } = *substitution;
        let (arguments, errors, room) = (Vec::new(), Faults::default(), Ok(Room::new(limits)));
        let mut compiler =
            Compiler { schema, document, lines, variables, literals, arguments, errors, room, fields: 0 };
        let root = compiler.object(root, &[&operation.selection_set]);
        compiler.room?;
        if compiler.fields > MOST_FIELDS {
            let message = "The operation's number of fields, counted for every possible type, is over the limit of";
            return Err(vec![request_error(format!("{message} {MOST_FIELDS}."), Vec::new(), Code::ValidationFailed)]);
        }
        compiler.errors.none()?;
        let (arguments, size) = (compiler.arguments, AtomicUsize::new(1024));
        let serial = operation.is_mutation();
        Ok(Self {
            root,
            serial,
            arguments,
            size,
            is_slow: AtomicBool::new(false),
            takes_several: AtomicBool::new(false),
        })
    }

    /// Coerces all arguments of the operation with these variables and literals, and returns the page sizes in them for
    /// the estimate.
    pub(super) fn arguments(
        &self,
        substitution: &Substitution<'_>,
        limits: &DocumentLimits,
    ) -> Result<(Vec<Arguments>, Vec<Sizing>), Vec<ServerError>> {
        let (mut errors, mut room) = (Faults::default(), Room::new(limits));
        let mut arguments = Vec::with_capacity(self.arguments.len());
        let mut sizings = Vec::with_capacity(self.arguments.len());
        for plan in &self.arguments {
            if let Some((constant, sizing)) = &plan.constant {
                arguments.push(constant.clone());
                sizings.push(*sizing);
                continue;
            }
            room.take(substitution, &plan.given, &plan.locations)?;
            let given = substitution.arguments(&plan.given);
            sizings.push(Sizing::from_arguments(&given));
            match (plan.read)(&given) {
                Ok(read) => arguments.push(read),
                Err(error) => errors.push(input::bad_input(plan.named(error), plan.locations.clone())),
            }
        }
        errors.none()?;
        Ok((arguments, sizings))
    }

    /// Whether the last run was slow. If so, the next one starts in the slow queue.
    pub fn is_slow(&self) -> bool {
        self.is_slow.load(Ordering::Relaxed)
    }

    /// Records whether the run was slow.
    pub fn remember_slow(&self, is_slow: bool) {
        self.is_slow.store(is_slow, Ordering::Relaxed);
    }

    /// Whether a run has taken several statements. If so, the next one begins in a transaction.
    pub fn takes_several(&self) -> bool {
        self.takes_several.load(Ordering::Relaxed)
    }

    /// Records that a run has taken several statements.
    pub fn remember_several(&self) {
        self.takes_several.store(true, Ordering::Relaxed);
    }

    /// Estimates the memory that the plan takes, in bytes.
    pub(super) fn weight(&self) -> u64 {
        fn object(plan: &ObjectPlan) -> usize {
            let field = |field: &FieldPlan| {
                let texts = field.key.len() + field.response_key.len();
                let places = size_of_val(&*field.locations);
                size_of::<FieldPlan>() + texts + places + field.children.iter().map(object).sum::<usize>()
            };
            size_of::<ObjectPlan>() + plan.fields.iter().map(field).sum::<usize>()
        }
        let argument = |plan: &ArgumentPlan| {
            let values: u64 = plan.given.iter().map(|given| cost::value_count(&given.value)).sum();
            size_of::<ArgumentPlan>() + size_of_val(&*plan.locations) + 128 * values as usize + plan.text
        };
        (object(&self.root) + self.arguments.iter().map(argument).sum::<usize>()) as u64
    }

    /// The arguments of a mutation's root fields, in order, as objects.
    pub(super) fn inputs(&self, substitution: &Substitution<'_>) -> Vec<serde_json::Value> {
        let given = |field: &FieldPlan| {
            let plan = field.arguments.and_then(|slot| self.arguments.get(slot));
            let fields = plan.map(|plan| substitution.arguments(&plan.given)).unwrap_or_default();
            Value::Object(fields).into_json().unwrap_or_default()
        };
        if self.serial { self.root.fields.iter().map(given).collect() } else { Vec::new() }
    }

    pub(super) fn size_hint(&self) -> usize {
        self.size.load(Ordering::Relaxed)
    }

    pub(super) fn remember_size(&self, size: usize) {
        self.size.store(size + size / 8, Ordering::Relaxed);
    }
}

struct Compiler<'d> {
    schema: &'d Schema,
    document: &'d ExecutableDocument,
    lines: &'d Lines,
    variables: &'d HashMap<String, Value>,
    literals: &'d Literals,
    arguments: Vec<ArgumentPlan>,
    errors: Faults,
    /// For the constants. If there is too little, why.
    room: Result<Room<'d>, Vec<ServerError>>,
    /// The number of fields planned so far.
    fields: usize,
}

impl<'d> Compiler<'d> {
    fn object(&mut self, info: &'static ObjectInfo, sets: &[&'d SelectionSet]) -> ObjectPlan {
        let mut collected = IndexMap::default();
        let mut visited = HashSet::default();
        for set in sets {
            self.collect(info, set, &mut visited, &mut collected);
        }
        self.fields += collected.len();
        if self.fields > MOST_FIELDS {
            return ObjectPlan { info, fields: Vec::new(), relation_count: 0 };
        }
        let mut fields = Vec::with_capacity(collected.len());
        let mut relation_count = 0;
        for (key, nodes) in collected {
            fields.push(self.field(info, key, &nodes, fields.is_empty(), &mut relation_count));
        }
        ObjectPlan { info, fields, relation_count }
    }

    /// The specification's CollectFields: the fields that apply to `info`, by response key, in order.
    fn collect(
        &mut self,
        info: &'static ObjectInfo,
        set: &'d SelectionSet,
        visited: &mut HashSet<&'d str>,
        collected: &mut IndexMap<&'d str, Vec<&'d Node<Field>>>,
    ) {
        for selection in &set.selections {
            if !self.is_included(selection.directives()) {
                continue;
            }
            match selection {
                Selection::Field(field) => collected.entry(field.response_key().as_str()).or_default().push(field),
                Selection::InlineFragment(fragment) => {
                    if fragment.type_condition.as_ref().is_none_or(|condition| self.applies(info, condition)) {
                        self.collect(info, &fragment.selection_set, visited, collected);
                    }
                }
                Selection::FragmentSpread(spread) => {
                    let Some(fragment) = self.document.fragments.get(&spread.fragment_name) else { continue };
                    if visited.insert(spread.fragment_name.as_str()) && self.applies(info, &fragment.selection_set.ty) {
                        self.collect(info, &fragment.selection_set, visited, collected);
                    }
                }
            }
        }
    }

    fn applies(&self, info: &ObjectInfo, condition: &str) -> bool {
        condition == info.name || self.schema.is_subtype(condition, info.name)
    }

    fn is_included(&mut self, directives: &ast::DirectiveList) -> bool {
        self.condition(directives, "skip") != Some(true) && self.condition(directives, "include") != Some(false)
    }

    fn condition(&mut self, directives: &ast::DirectiveList, name: &str) -> Option<bool> {
        let directive = directives.get(name)?;
        let condition = directive.specified_argument_by_name("if")?;
        match (Substitution { variables: self.variables, literals: &Literals::default() }).value(condition) {
            Some(Value::Boolean(outcome)) => Some(outcome),
            // A nullable variable is allowed here if it has a default, and an explicit null overrides the default.
            _ => {
                let mut error = InputError::new("expected true or false, found null");
                if let Some(variable) = condition.as_variable() {
                    error = error.within(format!("${variable}"));
                }
                self.errors.push_new(input::bad_input(error, self.lines.locations(directive.location())));
                None
            }
        }
    }

    fn field(
        &mut self,
        parent: &'static ObjectInfo,
        response_key: &'d str,
        nodes: &[&'d Node<Field>],
        first: bool,
        relation_count: &mut usize,
    ) -> FieldPlan {
        let node = nodes[0];
        let comma = if first { "" } else { "," };
        let mut plan = FieldPlan {
            key: format!("{comma}\"{response_key}\":").into(),
            response_key: response_key.into(),
            source: Source::Typename,
            info: None,
            arguments: None,
            children: Vec::new(),
            locations: Vec::new(),
        };
        let Some(index) = parent.fields.iter().position(|field| field.name == node.name.as_str()) else {
            return plan;
        };
        let info = &parent.fields[index];
        plan.info = Some(info);
        let index = index as u16;
        if info.kind == FieldKind::Column {
            plan.source = Source::Column(index);
            return plan;
        }
        plan.source = Source::Relation { index, slot: *relation_count };
        *relation_count += 1;
        plan.locations = nodes.iter().flat_map(|node| self.lines.locations(node.location())).collect();
        if let Some(read) = info.arguments {
            plan.arguments = Some(self.argument(read, node, &plan.locations));
        }
        let sets: Vec<_> = nodes.iter().map(|node| &node.selection_set).collect();
        plan.children = info.objects.iter().map(|child| self.object(child, &sets)).collect();
        plan
    }

    fn argument(&mut self, read: ReadArguments, node: &'d Node<Field>, locations: &[Pos]) -> usize {
        let given = node.arguments.clone();
        let (variables, literals) = (HashMap::default(), Literals::default());
        let substitution = Substitution { variables: &variables, literals: &literals };
        let (mut constant, mut text) = (None, 0);
        let is_constant = given.iter().all(|argument| input::is_constant(&argument.value));
        let room = self.room.as_mut().ok().filter(|_| is_constant);
        match room.map(|room| room.take(&substitution, &given, locations)) {
            None => {}
            Some(Err(errors)) => self.room = Err(errors),
            Some(Ok(bytes)) => {
                let values = substitution.arguments(&given);
                let varies = given.iter().any(|argument| self.literals.are_in(&argument.value));
                match read(&values) {
                    Ok(read) => {
                        (constant, text) = (Some((read, Sizing::from_arguments(&values))).filter(|_| !varies), bytes)
                    }
                    Err(error) => self.errors.push(input::bad_input(error, locations.to_vec())),
                }
            }
        }
        self.arguments.push(ArgumentPlan { read, given, locations: locations.to_vec(), constant, text });
        self.arguments.len() - 1
    }
}
