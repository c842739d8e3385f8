//! How a schema change affects existing clients: the changes between two SDL texts, each `Breaking` (requests that
//! worked can fail), `Dangerous` (requests stay valid, but their results can surprise) or `Safe`.
//!
//! The breaking and dangerous changes are those of graphql-js's `findBreakingChanges` and `findDangerousChanges`, with
//! the same names and sentences (`tests/graphql-js-diff` compares them). Some changes that graphql-js ignores do affect
//! clients. They have kinds of our own:
//!
//! | kind | class | why |
//! |---|---|---|
//! | `ROOT_OPERATION_REMOVED`, `ROOT_OPERATION_CHANGED` | breaking | every such operation, or every fragment on the old type, is refused |
//! | `ONE_OF_ADDED` | breaking | an input with two fields, or a null one, is refused |
//! | `ARG_BECAME_REQUIRED`, `INPUT_FIELD_BECAME_REQUIRED`, `DIRECTIVE_ARG_BECAME_REQUIRED` | breaking | the default of a non-null input went away, so leaving it out is refused |
//! | `DIRECTIVE_ARG_CHANGED_KIND` | breaking | as for arguments of fields |
//! | `DIRECTIVE_ARG_DEFAULT_VALUE_CHANGE`, `INPUT_FIELD_DEFAULT_VALUE_CHANGE` | dangerous | as for arguments of fields |
//! | `TYPE_ADDED_TO_INTERFACE` | dangerous | a client that knows all implementers can get an object of a new type |
//! | `SPECIFIED_BY_CHANGED` | dangerous | a scalar's values may be written differently |
//!
//! The order of definitions does not matter. Changes inside a type that was added, removed or changed its kind are not
//! listed.
//!
//! Invariant: it is a function of two texts, and does no I/O. The command line reads the files and chooses the exit
//! status.

mod default_value;
mod documentation;
mod inputs;
mod types;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use apollo_compiler::ast::{self, DirectiveDefinition, DirectiveLocation};
use apollo_compiler::diagnostic::Diagnostic;
use apollo_compiler::validation::{DiagnosticData, DiagnosticList, Valid};
use apollo_compiler::{Name, Node, Schema, name};

/// How badly a change can affect clients, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A request that worked can be refused, or lose its result.
    Breaking,
    /// Every request stays valid, but its effect or result can surprise the client.
    Dangerous,
    /// No existing request is affected, except introspection of documentation.
    Safe,
}

/// A change. Changes are sorted in the order of these fields.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// How badly it can affect clients.
    pub class: Class,
    /// The coordinate: `Service`, `Service.name`, `Query.account(first:)`, `@tag(name:)`, or for the schema definition
    /// `schema` or `schema.mutation`.
    pub coordinate: String,
    /// The kind of change, as a constant: `FIELD_REMOVED`.
    pub kind: &'static str,
    /// The change in one sentence.
    pub description: String,
}

/// A sorted list of changes for people: a heading for each class, a line for each change.
pub struct Report<'a>(pub &'a [Change]);

/// Returns the changes from `old` to `new`, each given as a file name and an SDL text. The result is sorted and
/// deterministic.
///
/// # Errors
/// If a text is not valid SDL: a line `name:line:column: what is wrong` for each mistake in either text.
pub fn diff(old: (&str, &str), new: (&str, &str)) -> Result<Vec<Change>, String> {
    let (old, new) = match (parse(old), parse(new)) {
        (Ok(old), Ok(new)) => (old, new),
        (old, new) => {
            let mistakes: Vec<String> = [old.err(), new.err()].into_iter().flatten().collect();
            return Err(mistakes.join("\n"));
        }
    };
    let mut differ = Differ { old: &old, new: &new, changes: Vec::new() };
    differ.schema_definition();
    differ.types();
    differ.directive_definitions();
    differ.changes.sort();
    Ok(differ.changes)
}

/// Parses and validates an SDL. `@oneOf` needs no definition, as in the current specification.
fn parse((name, sdl): (&str, &str)) -> Result<Valid<Schema>, String> {
    let mistakes = |errors: &DiagnosticList| {
        let line = |mistake: Diagnostic<DiagnosticData>| match mistake.line_column_range() {
            Some(Range { start, .. }) => {
                format!("{name}:{}:{}: {}", start.line, start.column, mistake.error)
            }
            None => format!("{name}: {}", mistake.error),
        };
        errors.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    let mut document = ast::Document::parse(sdl, name).map_err(|e| mistakes(&e.errors))?;
    let defines_one_of = document.definitions.iter().any(|definition| {
        let directive = definition.as_directive_definition();
        directive.is_some_and(|directive| directive.name == "oneOf")
    });
    if !defines_one_of {
        document.definitions.push(Node::new(one_of()).into());
    }
    let schema = document.to_schema_validate().map_err(|e| mistakes(&e.errors))?;
    default_value::check(name, &schema)?;
    Ok(schema)
}

/// `directive @oneOf on INPUT_OBJECT`
fn one_of() -> DirectiveDefinition {
    DirectiveDefinition {
        description: None,
        name: name!("oneOf"),
        arguments: Vec::new(),
        repeatable: false,
        locations: vec![DirectiveLocation::InputObject],
    }
}

struct Differ<'a> {
    old: &'a Schema,
    new: &'a Schema,
    changes: Vec<Change>,
}

impl<'a> Differ<'a> {
    fn push(&mut self, class: Class, kind: &'static str, coordinate: &str, description: String) {
        self.changes.push(Change { class, coordinate: coordinate.to_owned(), kind, description });
    }

    fn breaking(&mut self, kind: &'static str, coordinate: &str, description: String) {
        self.push(Class::Breaking, kind, coordinate, description);
    }

    fn dangerous(&mut self, kind: &'static str, coordinate: &str, description: String) {
        self.push(Class::Dangerous, kind, coordinate, description);
    }

    fn safe(&mut self, kind: &'static str, coordinate: &str, description: String) {
        self.push(Class::Safe, kind, coordinate, description);
    }
}

/// What happened to the definition of a name.
enum Fate<T> {
    Removed(T),
    Added(T),
    Kept(T, T),
}

/// The fate of every name: those of `old` in their order, then the added ones in theirs.
fn fates<'a, T: Copy>(
    old: impl IntoIterator<Item = (&'a Name, T)>,
    new: impl IntoIterator<Item = (&'a Name, T)>,
) -> Vec<(&'a Name, Fate<T>)> {
    let new: Vec<(&Name, T)> = new.into_iter().collect();
    let mut added: HashMap<&Name, T> = new.iter().copied().collect();
    let mut fates: Vec<_> = old
        .into_iter()
        .map(|(name, item)| match added.remove(name) {
            Some(kept) => (name, Fate::Kept(item, kept)),
            None => (name, Fate::Removed(item)),
        })
        .collect();
    let added = new.into_iter().filter(|(name, _)| added.contains_key(name));
    fates.extend(added.map(|(name, item)| (name, Fate::Added(item))));
    fates
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Class::Breaking => "breaking",
            Class::Dangerous => "dangerous",
            Class::Safe => "safe",
        })
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.coordinate, self.description, self.kind)
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return writeln!(f, "no changes");
        }
        for changes in self.0.chunk_by(|a, b| a.class == b.class) {
            writeln!(f, "{} ({})", changes[0].class, changes.len())?;
            for change in changes {
                writeln!(f, "  {change}")?;
            }
        }
        Ok(())
    }
}
