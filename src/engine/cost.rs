//! Measures a document before anything is expanded and refuses it when it exceeds a limit.
//!
//! The cost of a fragment is computed once and reused at every spread. The work is linear in the size of the text, even
//! where the expansion would be exponential.

use apollo_compiler::collections::HashMap;
use apollo_compiler::executable::{ExecutableDocument, Selection, SelectionSet};
use apollo_compiler::{Node, ast};
use async_graphql::ServerError;

use super::request_error::request_error;
use crate::error::Code;

/// The limits of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentLimits {
    /// Nesting depth of fields, fragments expanded.
    pub depth: u32,
    /// Total number of fields, fragments expanded.
    pub fields: u64,
    /// Number of aliased fields, fragments expanded.
    pub aliases: u64,
    /// Number of directives, fragments expanded.
    pub directives: u64,
    /// Nesting depth of fragments that spread each other.
    pub spreads: usize,
    /// Nesting depth of brackets in the text.
    pub nesting: usize,
    /// Number of tokens in the text.
    pub tokens: usize,
    /// Nesting depth of introspection lists (`fields` of the types of `fields`), fragments expanded. The schema is a
    /// graph, and each such level multiplies the response by its size.
    pub lists: u32,
    /// Number of operations in the document.
    pub operations: usize,
    /// Number of fields and argument values in all operations together, fragments expanded. Bounds the work of
    /// validation.
    pub parts: u64,
    /// Number of argument values, after substituting variables.
    pub values: usize,
    /// Bytes of the texts in argument values, after substituting variables.
    pub text: usize,
    /// Number of mutations plus the entries of the lists in their arguments.
    pub changes: usize,
    /// Estimated cost of an operation ([`super::estimate`]).
    pub estimate: u64,
}

impl Default for DocumentLimits {
    fn default() -> Self {
        Self {
            depth: 20,
            fields: 2_000,
            aliases: 500,
            directives: 200,
            spreads: 100,
            nesting: 64,
            tokens: 15_000,
            lists: 2,
            operations: 100,
            parts: 30_000,
            values: 20_000,
            text: 4 << 20,
            changes: 2_000,
            estimate: 10_000_000,
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    depth: u32,
    fields: u64,
    aliases: u64,
    directives: u64,
    lists: u32,
    values: u64,
}

/// The lists of `__Type` that lead to other types.
const LISTS: [&str; 4] = ["fields", "interfaces", "possibleTypes", "inputFields"];

impl Cost {
    fn add(&mut self, other: Self) {
        self.depth = self.depth.max(other.depth);
        self.fields = self.fields.saturating_add(other.fields);
        self.aliases = self.aliases.saturating_add(other.aliases);
        self.directives = self.directives.saturating_add(other.directives);
        self.lists = self.lists.max(other.lists);
        self.values = self.values.saturating_add(other.values);
    }
}

/// Refuses a document when one of its operations, or all of them together, exceed a limit.
pub fn check(document: &ExecutableDocument, limits: &DocumentLimits) -> Result<(), Vec<ServerError>> {
    let refuse = |message| Err(vec![request_error(message, Vec::new(), Code::ValidationFailed)]);
    let count = document.operations.iter().count();
    if count > limits.operations {
        return refuse(format!("The document's number of operations is over the limit of {}.", limits.operations));
    }
    let mut counter =
        Counter { document, fragments: HashMap::default(), most: limits.spreads, depth: 0, is_deep: false };
    let mut parts = 0_u64;
    for operation in document.operations.iter() {
        let cost = counter.selection(&operation.selection_set);
        if counter.is_deep {
            return refuse(format!("The document's fragments are nested more than {} deep.", limits.spreads));
        }
        parts = parts.saturating_add(cost.fields).saturating_add(cost.values);
        let bounds = [
            ("depth", u64::from(cost.depth), u64::from(limits.depth)),
            ("number of fields", cost.fields, limits.fields),
            ("number of aliases", cost.aliases, limits.aliases),
            ("number of directives", cost.directives, limits.directives),
            ("depth of introspection", u64::from(cost.lists), u64::from(limits.lists)),
        ];
        for (what, count, limit) in bounds {
            if count > limit {
                return refuse(format!("The operation's {what} is over the limit of {limit}."));
            }
        }
    }
    if parts > limits.parts {
        let what = "The document's number of fields and values, in all operations and with fragments expanded,";
        return refuse(format!("{what} is over the limit of {}.", limits.parts));
    }
    Ok(())
}

/// Estimates the memory that a parsed document takes, in bytes.
pub fn weight(document: &ExecutableDocument) -> u64 {
    /// The size of a field with its lists and names, or of a value.
    const PART: u64 = 400;
    fn parts(set: &SelectionSet) -> u64 {
        let part = |selection: &Selection| {
            let directives: u64 = selection.directives().iter().map(|directive| 1 + values(&directive.arguments)).sum();
            directives
                + match selection {
                    Selection::Field(field) => 1 + values(&field.arguments) + parts(&field.selection_set),
                    Selection::InlineFragment(fragment) => 1 + parts(&fragment.selection_set),
                    Selection::FragmentSpread(_) => 1,
                }
        };
        set.selections.iter().map(part).sum()
    }
    let operations = document.operations.iter().map(|operation| {
        let variables = operation.variables.iter().map(|variable| {
            let directives: u64 = variable.directives.iter().map(|directive| 1 + values(&directive.arguments)).sum();
            2 + directives + variable.default_value.as_ref().map_or(0, |value| value_count(value))
        });
        let directives: u64 = operation.directives.iter().map(|directive| 1 + values(&directive.arguments)).sum();
        2 + directives + variables.sum::<u64>() + parts(&operation.selection_set)
    });
    let fragments = document.fragments.values().map(|fragment| 2 + parts(&fragment.selection_set));
    PART * (operations.sum::<u64>() + fragments.sum::<u64>())
}

fn values(arguments: &[Node<ast::Argument>]) -> u64 {
    arguments.iter().map(|argument| value_count(&argument.value)).sum()
}

/// Counts the values in a literal, itself included.
pub(super) fn value_count(value: &ast::Value) -> u64 {
    1 + match value {
        ast::Value::List(items) => items.iter().map(|item| value_count(item)).sum(),
        ast::Value::Object(fields) => fields.iter().map(|(_, value)| value_count(value)).sum(),
        _ => 0,
    }
}

struct Counter<'d> {
    document: &'d ExecutableDocument,
    /// `None` while the fragment is being counted. Found only where a fragment spreads itself, which validation refuses
    /// later.
    fragments: HashMap<&'d str, Option<Cost>>,
    /// The maximum depth of fragments, the current one, and whether it was exceeded. Bounds the stack.
    most: usize,
    depth: usize,
    is_deep: bool,
}

impl<'d> Counter<'d> {
    fn selection(&mut self, set: &'d SelectionSet) -> Cost {
        let mut total = Cost::default();
        for selection in &set.selections {
            let directives = selection.directives();
            total.directives = total.directives.saturating_add(directives.len() as u64);
            let given = directives.iter().map(|directive| values(&directive.arguments)).sum();
            total.values = total.values.saturating_add(given);
            total.add(match selection {
                Selection::Field(field) => {
                    let mut cost = self.selection(&field.selection_set);
                    cost.depth = cost.depth.saturating_add(1);
                    cost.fields = cost.fields.saturating_add(1);
                    cost.values = cost.values.saturating_add(values(&field.arguments));
                    cost.aliases = cost.aliases.saturating_add(u64::from(field.alias.is_some()));
                    let is_list = set.ty == "__Type" && LISTS.contains(&field.name.as_str());
                    cost.lists = cost.lists.saturating_add(u32::from(is_list));
                    cost
                }
                Selection::InlineFragment(fragment) => self.selection(&fragment.selection_set),
                Selection::FragmentSpread(spread) => self.fragment(&spread.fragment_name),
            });
        }
        total
    }

    fn fragment(&mut self, name: &'d str) -> Cost {
        if let Some(known) = self.fragments.get(name) {
            return known.unwrap_or_default();
        }
        let Some(fragment) = self.document.fragments.get(name) else { return Cost::default() };
        if self.depth == self.most {
            self.is_deep = true;
            return Cost::default();
        }
        self.fragments.insert(name, None);
        self.depth += 1;
        let cost = self.selection(&fragment.selection_set);
        self.depth -= 1;
        self.fragments.insert(name, Some(cost));
        cost
    }
}
