//! The schema reference: one page for each type, rendered from the schema that requests are validated against. It is
//! public, because it shows nothing that `/public/schema.graphql` does not.
//!
//! Invariant: it reads the schema alone, and never the database.

use std::sync::Arc;

use apollo_compiler::collections::HashMap;
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Schema};
use maud::html;

use super::layout::layout;
use super::visit::Visit;
use super::{Answer, Fault, PagePolicy};
use catalogue::entity::text::SHORT;

mod description;
mod directives;
mod index;
pub mod search;
mod signature;
mod type_page;
mod uses;

/// The path of the reference.
const PATH: &str = "/reference";

/// The reference of a schema.
pub struct Reference {
    schema: Arc<Valid<Schema>>,
    uses: HashMap<Name, uses::Uses>,
}

impl Reference {
    /// Creates the reference of `schema`.
    pub fn new(schema: Arc<Valid<Schema>>) -> Self {
        Self { uses: uses::by_type(&schema), schema }
    }

    /// Shows all types, queries and mutations, or search results.
    pub fn page(&self, visit: &Visit) -> Result<Answer, Fault> {
        let text = visit.query.get("q");
        // Anyone may search, and the work grows with the text.
        if text.chars().count() > SHORT {
            return Err(Fault::BadRequest(format!("Search for at most {SHORT} characters.")));
        }
        let main = html! {
            (search::form(text))
            @if text.is_empty() { (index::show(&self.schema, &self.uses)) } @else { (search::show(&self.schema, text)) }
        };
        Ok(Answer::special(PagePolicy::Cached, layout(visit, "Schema reference", main)))
    }

    /// Shows one type.
    pub fn type_page(&self, visit: &Visit, name: &str) -> Result<Answer, Fault> {
        let definition = self.schema.types.get(name).ok_or(Fault::NotFound)?;
        let uses = self.uses.get(name);
        Ok(Answer::special(PagePolicy::Cached, layout(visit, name, type_page::show(&self.schema, definition, uses))))
    }
}
