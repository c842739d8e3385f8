//! Adds advice to apollo-compiler's messages about a request: the name that was probably meant, the selection that is
//! missing, the type that has a field.
//!
//! apollo-compiler exposes nothing but the texts of its messages, so they are matched here. A text that is not
//! recognised is shown unchanged; tests fail when a text changes.
//!
//! Only reported errors get here, at most [`super::faults::MOST`]. Each compares the names of one type once. An unknown
//! type is compared with the names of all types.

use std::fmt::Display;

use apollo_compiler::ast::{Document, FieldDefinition, OperationType, Type};
use apollo_compiler::collections::IndexMap;
use apollo_compiler::parser::SourceSpan;
use apollo_compiler::schema::{Component, EnumType, ExtendedType};
use apollo_compiler::{Name, Schema};

use crate::error::shortened;
use spelling::{expected_token, nearest};

type Fields = IndexMap<Name, Component<FieldDefinition>>;

/// The most values of an enum that an error lists.
const VALUES: usize = 10;

/// The keywords that begin a definition.
const KEYWORDS: [&str; 3] = ["query", "mutation", "fragment"];

/// Rewords a syntax error: tokens are shown as their characters.
pub(super) fn syntax(message: String, text: &str, place: Option<SourceSpan>) -> String {
    let Some(problem) = message.strip_prefix("syntax error: ") else { return message };
    let found = at(text, place).split_whitespace().next();
    let expected = match problem {
        "Unexpected <EOF>." => return "syntax error: the document is empty".to_owned(),
        "expected definition" | "expected a StringValue, Name or OperationDefinition" => {
            let advice = found.and_then(|found| did_you_mean(found, KEYWORDS.into_iter()));
            return with(wanted("`query`, `mutation`, `fragment` or `{`", found), advice);
        }
        "expected at least one Selection in Selection Set" => "a field",
        "expected an Argument" | "expected an Argument Definition" => "an argument",
        "expected a Variable Definition" => "a variable",
        _ => match expected_token(problem) {
            Some(token) => return wanted(&format!("`{token}`"), found),
            None => return message,
        },
    };
    wanted(expected, found)
}

fn wanted(expected: &str, found: Option<&str>) -> String {
    match found {
        Some(found) => format!("syntax error: expected {expected}, found `{}`", shortened(found)),
        None => format!("syntax error: expected {expected}, found the end of the document"),
    }
}

/// Rewords an error of validation, and adds advice. `document` is the request.
pub(super) fn validation(
    schema: &Schema,
    document: &Document,
    message: String,
    text: &str,
    place: Option<SourceSpan>,
) -> String {
    if message.ends_with("must have a subselection set") {
        return without_selection(at(text, place));
    }
    let expected = message.strip_prefix("expected value of type ").and_then(|rest| rest.split_once(", found "));
    if let Some((expected, "a variable")) = expected
        && let Some(declared) = variable_type(document, at(text, place).trim_start_matches('$'))
    {
        return wrong_variable(at(text, place), declared, expected);
    }
    let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let says = |words: &str| message.contains(words);
    let advice = match names[..] {
        [] => expected.and_then(|(ty, found)| in_place_of_enum(schema, ty, found, at(text, place))),
        [of, name] if says("does not have a field") => field(schema, of, name),
        [name, of] if says("is not supported by") => argument(schema, name, of),
        [name, of] if says("does not exist on") => match schema.types.get(of) {
            Some(ExtendedType::Enum(it)) => Some(enum_value(it, Some(name))),
            Some(ExtendedType::InputObject(it)) => did_you_mean(name, it.fields.keys().map(Name::as_str)),
            _ => None,
        },
        [name] if says("cannot find type") => type_name(schema, name, ExtendedType::is_input_type),
        [name, ..] if says("is not a type defined") => {
            type_name(schema, name, |ty| fields(ty).is_some() || ty.is_union())
        }
        [name] if says("cannot find directive") => {
            let known = schema.directive_definitions.keys().map(Name::as_str);
            nearest(name.trim_start_matches('@'), known).map(|known| format!("Did you mean `@{known}`?"))
        }
        [_] if says("must not have subselections") => Some("Remove the braces after it.".to_owned()),
        _ => None,
    };
    // Types and directives are in the schema, and the document is the request.
    let message = match says("cannot find type") || says("cannot find directive") {
        true => message.replace(" in this document", " in the schema"),
        false => message,
    };
    with(message, advice)
}

/// The message about a variable whose type does not fit its position.
pub(super) fn wrong_variable(variable: &str, declared: &Type, expected: impl Display) -> String {
    format!("variable `{variable}` of type `{declared}` cannot be used for type `{expected}`")
}

/// The type that the document declares for a variable. `None` if its operations declare several.
fn variable_type<'d>(document: &'d Document, name: &str) -> Option<&'d Type> {
    let operations = document.definitions.iter().filter_map(|definition| definition.as_operation_definition());
    let variables = operations.flat_map(|operation| &operation.variables);
    let mut types = variables.filter(|variable| variable.name == name).map(|variable| &*variable.ty);
    let first = types.next()?;
    types.all(|ty| ty == first).then_some(first)
}

fn with(message: String, advice: Option<String>) -> String {
    match advice {
        Some(advice) => format!("{message}. {advice}"),
        None => message,
    }
}

/// Suggests the candidate that `name` probably misspells.
pub(super) fn did_you_mean<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    nearest(name, candidates).map(|known| format!("Did you mean `{known}`?"))
}

/// The advice for something that an enum does not have: the value that `word` probably misspells, or the first values.
pub(super) fn enum_value(of: &EnumType, word: Option<&str>) -> String {
    let known = || of.values.keys().map(Name::as_str);
    word.and_then(|word| did_you_mean(word, known())).unwrap_or_else(|| {
        let first: Vec<String> = known().take(VALUES).map(|value| format!("`{value}`")).collect();
        let more = match of.values.len().saturating_sub(VALUES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("The values of `{}` are {}{more}.", of.name, first.join(", "))
    })
}

/// The advice for a literal of another kind where an enum of the type `ty` is expected. `found` is its kind.
fn in_place_of_enum(schema: &Schema, ty: &str, found: &str, literal: &str) -> Option<String> {
    let Some(ExtendedType::Enum(of)) = schema.types.get(ty.trim_matches(['[', ']', '!'])) else { return None };
    let word = literal.trim().trim_matches('"');
    Some(match found {
        "a string" if of.values.contains_key(word) => format!("Write it without quotes: `{word}`."),
        _ => enum_value(of, Some(word)),
    })
}

/// The text at the location of an error.
fn at(text: &str, place: Option<SourceSpan>) -> &str {
    place.and_then(|place| text.get(place.offset()..place.end_offset())).unwrap_or_default()
}

/// The message about a field that returns objects and has no selection.
fn without_selection(field: &str) -> String {
    // Before the name there may be an alias, and after it arguments and directives.
    let head = field.split(['(', '@', '{']).next().unwrap_or_default();
    let name = head.rsplit(':').next().unwrap_or_default().trim();
    if !head.contains('#') && Name::is_valid_syntax(name) {
        format!("the field `{name}` needs a selection. Select fields of it: {name} {{ … }}")
    } else {
        "a field that returns objects needs a selection. Select fields of it in braces".to_owned()
    }
}

/// The advice for a field that the type `of` does not have.
fn field(schema: &Schema, of: &str, name: &str) -> Option<String> {
    let ty = schema.types.get(of)?;
    let below = if is_root(schema, OperationType::Query, of) { fields(ty) } else { None };
    in_other_root(schema, of, name)
        .or_else(|| below.and_then(|roots| below_root(schema, roots, name)))
        .or_else(|| in_possible_type(schema, ty, of, name))
        .or_else(|| did_you_mean(name, fields(ty)?.keys().map(Name::as_str).chain(["__typename"])))
        .or_else(|| below.and_then(|roots| near_below_root(schema, roots, name)))
}

fn is_root(schema: &Schema, operation: OperationType, ty: &str) -> bool {
    schema.root_operation(operation).is_some_and(|root| root == ty)
}

/// A mutation that was requested as a query, or the other way round.
fn in_other_root(schema: &Schema, of: &str, name: &str) -> Option<String> {
    let (operation, what, keyword) = if is_root(schema, OperationType::Query, of) {
        (OperationType::Mutation, "a mutation", "mutation")
    } else if is_root(schema, OperationType::Mutation, of) {
        (OperationType::Query, "a query", "query")
    } else {
        return None;
    };
    let root = schema.root_operation(operation)?;
    let field = fields(schema.types.get(root)?)?.get(name)?;
    Some(format!("`{name}` is {what}: write {keyword} {{ {} }}", selected(schema, field)))
}

/// A field of an object that a root field returns.
fn below_root(schema: &Schema, roots: &Fields, name: &str) -> Option<String> {
    parents(schema, roots).find_map(|(parent, below)| {
        let field = selected(schema, below.get(name)?);
        Some(format!("`{name}` is a field of `{parent}`: write {{ {parent} {{ {field} }} }}"))
    })
}

/// The same for a misspelt field.
fn near_below_root(schema: &Schema, roots: &Fields, name: &str) -> Option<String> {
    parents(schema, roots).find_map(|(parent, below)| {
        let known = nearest(name, below.keys().map(Name::as_str))?;
        let field = selected(schema, below.get(known)?);
        Some(format!("Did you mean `{known}` of `{parent}`? Write {{ {parent} {{ {field} }} }}"))
    })
}

/// The root fields that can be selected without arguments, with the fields of what they return.
fn parents<'s>(schema: &'s Schema, roots: &'s Fields) -> impl Iterator<Item = (&'s Name, &'s Fields)> {
    roots
        .iter()
        .filter(|(_, field)| !field.arguments.iter().any(|argument| argument.is_required()))
        .filter_map(|(name, field)| Some((name, fields(schema.types.get(field.ty.inner_named_type())?)?)))
}

/// A field that not all types of an interface or a union have.
fn in_possible_type(schema: &Schema, ty: &ExtendedType, of: &str, name: &str) -> Option<String> {
    if ty.is_object() {
        return None;
    }
    let (possible, field) = schema.types.iter().find_map(|(possible, ty)| {
        let field = fields(ty).filter(|_| ty.is_object())?.get(name)?;
        schema.is_subtype(of, possible).then_some((possible, field))
    })?;
    let field = selected(schema, field);
    Some(format!("`{name}` is a field of `{possible}`: write ... on {possible} {{ {field} }}"))
}

/// A selection of the field, abbreviated.
fn selected(schema: &Schema, field: &FieldDefinition) -> String {
    let leaf = schema.types.get(field.ty.inner_named_type()).is_none_or(ExtendedType::is_leaf);
    if leaf && field.arguments.is_empty() { field.name.to_string() } else { format!("{} …", field.name) }
}

/// The advice for an argument that a field or a directive does not have.
fn argument(schema: &Schema, name: &str, of: &str) -> Option<String> {
    let known = match (of.strip_prefix('@'), of.split_once('.')) {
        (Some(directive), _) => &schema.directive_definitions.get(directive)?.arguments,
        (None, Some((ty, field))) => &schema.type_field(ty, field).ok()?.arguments,
        (None, None) => return None,
    };
    did_you_mean(name, known.iter().map(|argument| argument.name.as_str()))
}

/// The advice for an unknown type: a type that is allowed in its place.
fn type_name(schema: &Schema, name: &str, is_allowed: fn(&ExtendedType) -> bool) -> Option<String> {
    let types = schema.types.iter().filter(|(name, ty)| !name.starts_with("__") && is_allowed(ty));
    did_you_mean(name, types.map(|(name, _)| name.as_str()))
}

/// The fields of an object type or an interface.
fn fields(ty: &ExtendedType) -> Option<&Fields> {
    match ty {
        ExtendedType::Object(object) => Some(&object.fields),
        ExtendedType::Interface(interface) => Some(&interface.fields),
        _ => None,
    }
}
