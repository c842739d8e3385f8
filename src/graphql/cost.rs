//! What a document may cost, found out before anything is expanded.
//!
//! A fragment's cost is computed once and used wherever it is spread, so the work is proportional to the text, also
//! when the expansion would be exponential.

use apollo_compiler::collections::HashMap;
use apollo_compiler::executable::{ExecutableDocument, Selection, SelectionSet};
use async_graphql::ServerError;

use super::document::request_error;
use crate::error::Code;

/// The bounds of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Fields inside fields, fragments expanded.
    pub depth: u32,
    /// Fields in all, fragments expanded.
    pub fields: u64,
    /// Fields with an alias, fragments expanded.
    pub aliases: u64,
    /// Directives, fragments expanded.
    pub directives: u64,
    /// Brackets inside brackets, in the text.
    pub nesting: usize,
    /// Words and marks of the text.
    pub tokens: usize,
    /// Lists of introspection inside one another (`fields` of the types of `fields`), fragments expanded: the schema is
    /// a graph, and each such list multiplies the answer by its size.
    pub lists: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 20, fields: 2_000, aliases: 500, directives: 200, nesting: 64, tokens: 15_000, lists: 2 }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    depth: u32,
    fields: u64,
    aliases: u64,
    directives: u64,
    lists: u32,
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
    }
}

/// Refuses a document one of whose operations is over a limit.
pub fn check(document: &ExecutableDocument, limits: &Limits) -> Result<(), Vec<ServerError>> {
    let mut counter = Counter { document, fragments: HashMap::default() };
    for operation in document.operations.iter() {
        let cost = counter.selection(&operation.selection_set);
        let bounds = [
            ("depth", u64::from(cost.depth), u64::from(limits.depth)),
            ("number of fields", cost.fields, limits.fields),
            ("number of aliases", cost.aliases, limits.aliases),
            ("number of directives", cost.directives, limits.directives),
            ("depth of introspection", u64::from(cost.lists), u64::from(limits.lists)),
        ];
        for (what, count, limit) in bounds {
            if count > limit {
                let message = format!("The operation's {what} is over the limit of {limit}.");
                return Err(vec![request_error(message, Vec::new(), Code::ValidationFailed)]);
            }
        }
    }
    Ok(())
}

struct Counter<'d> {
    document: &'d ExecutableDocument,
    /// `None` while the fragment is being counted: it spreads itself, which validation refuses later.
    fragments: HashMap<&'d str, Option<Cost>>,
}

impl<'d> Counter<'d> {
    fn selection(&mut self, set: &'d SelectionSet) -> Cost {
        let mut total = Cost::default();
        for selection in &set.selections {
            total.directives = total.directives.saturating_add(selection.directives().len() as u64);
            total.add(match selection {
                Selection::Field(field) => {
                    let mut cost = self.selection(&field.selection_set);
                    cost.depth = cost.depth.saturating_add(1);
                    cost.fields = cost.fields.saturating_add(1);
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
        self.fragments.insert(name, None);
        let cost = self.selection(&fragment.selection_set);
        self.fragments.insert(name, Some(cost));
        cost
    }
}
