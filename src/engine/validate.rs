//! Validation rules of the specification that apollo-compiler 1.33 lacks. Runs after its validation and relies on it.
//!
//! - Variables inside lists and input objects must fit the type of their position.
//! - An input object must not repeat a field.
//! - A `@oneOf` input object must have exactly one field.
//! - A value of a custom scalar must be valid.

use apollo_compiler::ast::{self, Argument, DirectiveList, InputValueDefinition, Type, Value, VariableDefinition};
use apollo_compiler::collections::HashSet;
use apollo_compiler::executable::{ExecutableDocument, Operation, Selection, SelectionSet};
use apollo_compiler::parser::SourceSpan;
use apollo_compiler::schema::{ExtendedType, InputObjectType};
use apollo_compiler::{Name, Node, Schema};
use async_graphql::ServerError;

use super::faults::Faults;
use super::input::{self, InputTypes};
use super::lines::Lines;
use super::literals::Literals;
use super::request_error::request_error;
use super::{advice, argument_path};
use crate::error::Code;

/// Validates a document. Returns the values that are passed to custom scalars and contain `literals`, each with its
/// scalar.
pub(super) fn check(
    types: InputTypes<'_>,
    parsed: &ast::Document,
    document: &ExecutableDocument,
    lines: &Lines,
    literals: &Literals,
) -> Result<Vec<(Node<Value>, Name)>, Vec<ServerError>> {
    let (mut errors, mut scalars) = (Faults::default(), Vec::new());
    for operation in document.operations.iter() {
        let mut rules = Rules { types, parsed, variables: &operation.variables, lines, literals, errors, scalars };
        rules.operation(document, operation);
        (errors, scalars) = (rules.errors, rules.scalars);
    }
    errors.none()?;
    Ok(scalars)
}

/// The places of arguments whose variable has another type than the argument's scalar, where the scalar accepts that type
/// (`@accepts`). Validation by the specification refuses these.
pub(super) fn accepted(schema: &Schema, document: &ExecutableDocument) -> Vec<SourceSpan> {
    let mut places = Vec::new();
    for operation in document.operations.iter() {
        for selection in selections(document, operation) {
            let Selection::Field(field) = selection else { continue };
            for argument in &field.arguments {
                let definition = field.definition.arguments.iter().find(|known| known.name == argument.name);
                let Value::Variable(name) = &*argument.value else { continue };
                let variable = operation.variables.iter().find(|variable| variable.name == *name);
                if let (Some(definition), Some(variable)) = (definition, variable)
                    && accepts(schema, &definition.ty, &variable.ty)
                {
                    places.extend([argument.location(), argument.value.location()].into_iter().flatten());
                }
            }
        }
    }
    places
}

/// Whether the scalar `ty` accepts variables of the type `given`.
fn accepts(schema: &Schema, ty: &Type, given: &Type) -> bool {
    let Some(ExtendedType::Scalar(scalar)) = schema.types.get(ty.inner_named_type()) else { return false };
    let types = scalar.directives.get("accepts").and_then(|directive| directive.specified_argument_by_name("types"));
    let named = types.and_then(|types| types.as_list()).unwrap_or_default();
    let is_named = named.iter().any(|name| name.as_str() == Some(given.inner_named_type().as_str()));
    is_named && !ty.is_list() && !given.is_list() && (given.is_non_null() || !ty.is_non_null())
}

/// All selections of an operation, each fragment visited once.
pub(super) fn selections<'d>(document: &'d ExecutableDocument, operation: &'d Operation) -> Vec<&'d Selection> {
    fn visit<'d>(
        document: &'d ExecutableDocument,
        set: &'d SelectionSet,
        spread: &mut HashSet<&'d Name>,
        found: &mut Vec<&'d Selection>,
    ) {
        for selection in &set.selections {
            found.push(selection);
            match selection {
                Selection::Field(field) => visit(document, &field.selection_set, spread, found),
                Selection::InlineFragment(fragment) => visit(document, &fragment.selection_set, spread, found),
                Selection::FragmentSpread(fragment) => {
                    if let Some(fragment) = document.fragments.get(&fragment.fragment_name)
                        && spread.insert(&fragment.name)
                    {
                        visit(document, &fragment.selection_set, spread, found);
                    }
                }
            }
        }
    }
    let mut found = Vec::new();
    visit(document, &operation.selection_set, &mut HashSet::default(), &mut found);
    found
}

/// Validates one operation.
struct Rules<'d> {
    types: InputTypes<'d>,
    parsed: &'d ast::Document,
    variables: &'d [Node<VariableDefinition>],
    lines: &'d Lines,
    literals: &'d Literals,
    errors: Faults,
    scalars: Vec<(Node<Value>, Name)>,
}

impl Rules<'_> {
    fn operation(&mut self, document: &ExecutableDocument, operation: &Operation) {
        self.directives(&operation.directives);
        for variable in &operation.variables {
            self.directives(&variable.directives);
            if let Some(default) = &variable.default_value {
                self.value(default, &variable.ty, false);
            }
        }
        for selection in selections(document, operation) {
            if self.errors.are_enough() {
                return;
            }
            self.directives(selection.directives());
            match selection {
                Selection::Field(field) => self.arguments(&field.arguments, &field.definition.arguments),
                Selection::InlineFragment(_) => {}
                Selection::FragmentSpread(spread) => {
                    if let Some(fragment) = document.fragments.get(&spread.fragment_name) {
                        self.directives(&fragment.directives);
                    }
                }
            }
        }
    }

    fn directives(&mut self, directives: &DirectiveList) {
        for directive in directives.iter() {
            if let Some(definition) = self.types.schema.directive_definitions.get(&directive.name) {
                self.arguments(&directive.arguments, &definition.arguments);
            }
        }
    }

    fn arguments(&mut self, given: &[Node<Argument>], definitions: &[Node<InputValueDefinition>]) {
        for argument in given {
            if let Some(definition) = definitions.iter().find(|definition| definition.name == argument.name) {
                self.value(&argument.value, &definition.ty, definition.default_value.is_some());
            }
        }
    }

    /// Checks a value in a position of type `ty`. `has_default` says whether that position has a default value.
    fn value(&mut self, value: &Node<Value>, ty: &Type, has_default: bool) {
        match &**value {
            Value::Variable(name) => self.variable(value, name, ty, has_default),
            Value::Null => {}
            _ if !ty.is_list() && self.is_custom_scalar(ty) => self.custom_scalar(value, ty.inner_named_type()),
            Value::List(items) => {
                let item_type = if ty.is_list() { ty.item_type() } else { ty };
                items.iter().for_each(|item| self.value(item, item_type, false));
            }
            Value::Object(fields) => self.object(value, fields, ty),
            _ => {}
        }
    }

    fn variable(&mut self, place: &Node<Value>, name: &Name, ty: &Type, has_default: bool) {
        let Some(definition) = self.variables.iter().find(|definition| definition.name == *name) else { return };
        let may_take_default = has_default || definition.default_value.as_ref().is_some_and(|value| !value.is_null());
        let is_allowed = if ty.is_non_null() && !definition.ty.is_non_null() {
            may_take_default && definition.ty.is_assignable_to(&ty.clone().nullable())
        } else {
            definition.ty.is_assignable_to(ty)
        };
        // Inside a custom scalar there is no type to compare with.
        if !is_allowed && !self.is_custom_scalar(ty) {
            self.report(place, advice::wrong_variable(&format!("${name}"), &definition.ty, ty));
        }
    }

    /// Checks the value of a custom scalar. A value that contains variables is checked when they are coerced.
    fn custom_scalar(&mut self, literal: &Node<Value>, scalar: &Name) {
        // Fragments are visited once for each operation that spreads them.
        let is_known = |(known, _): &(Node<Value>, Name)| known.location() == literal.location();
        if self.literals.are_in(literal) && !self.scalars.iter().any(is_known) {
            self.scalars.push((literal.clone(), scalar.clone()));
        }
        if input::is_constant(literal)
            && let Some(value) = input::constant(literal)
            && let Err(mut error) = self.types.check(scalar, &value)
        {
            error.path = argument_path::at(self.parsed, literal.location()).unwrap_or_default();
            self.report(literal, error.to_string());
        }
    }

    fn object(&mut self, place: &Node<Value>, fields: &[(Name, Node<Value>)], ty: &Type) {
        let mut seen = HashSet::default();
        for (name, value) in fields {
            if !seen.insert(name) {
                self.report(value, format!("the input field `{name}` is given more than once"));
            }
        }
        let schema = self.types.schema;
        let Some(ExtendedType::InputObject(definition)) = schema.types.get(ty.inner_named_type()) else { return };
        for (name, value) in fields {
            if let Some(field) = definition.fields.get(name) {
                self.value(value, &field.ty, field.default_value.is_some());
            }
        }
        if definition.directives.has("oneOf") {
            self.one_of(place, fields, definition);
        }
    }

    fn one_of(&mut self, place: &Node<Value>, fields: &[(Name, Node<Value>)], definition: &InputObjectType) {
        let may_be_null = |value: &Value| match value {
            Value::Null => true,
            Value::Variable(name) => {
                self.variables.iter().any(|variable| variable.name == *name && !variable.ty.is_non_null())
            }
            _ => false,
        };
        if !matches!(fields, [(_, value)] if !may_be_null(value)) {
            let message = format!("exactly one field of `{}` must be given, and it must not be null", definition.name);
            self.report(place, message);
        }
    }

    fn is_custom_scalar(&self, ty: &Type) -> bool {
        let definition = self.types.schema.types.get(ty.inner_named_type());
        definition.is_some_and(|ty| matches!(ty, ExtendedType::Scalar(_)) && !ty.is_built_in())
    }

    fn report(&mut self, place: &Node<ast::Value>, message: String) {
        self.errors.push_new(request_error(message, self.lines.locations(place.location()), Code::ValidationFailed));
    }
}
