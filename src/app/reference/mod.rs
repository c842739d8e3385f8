//! The schema reference: every type of the SDL on a page of its own, rendered from the schema that requests are checked
//! against. It tells nothing that `/public/schema.graphql` does not, so it is as public.

use std::sync::Arc;

use apollo_compiler::collections::HashMap;
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Schema};
use maud::html;

use super::layout::layout;
use super::visit::Visit;
use super::{Answer, Fault, Kind};

mod description;
mod directives;
mod index;
mod search;
mod signature;
mod type_page;
mod uses;

/// Where the reference begins.
const PATH: &str = "/reference";

/// The reference of a schema.
pub struct Reference {
    schema: Arc<Valid<Schema>>,
    uses: HashMap<Name, uses::Uses>,
}

impl Reference {
    /// The reference of `schema`.
    pub fn new(schema: Arc<Valid<Schema>>) -> Self {
        Self { uses: uses::of(&schema), schema }
    }

    /// All types, queries and mutations, or what was searched for.
    pub fn page(&self, visit: &Visit) -> Answer {
        let text = visit.query.get("q");
        let main = html! {
            (search::form(text))
            @if text.is_empty() { (index::show(&self.schema, &self.uses)) } @else { (search::show(&self.schema, text)) }
        };
        Answer::special(Kind::Kept, layout(visit, "Schema reference", main))
    }

    /// One type.
    pub fn type_page(&self, visit: &Visit, name: &str) -> Result<Answer, Fault> {
        let definition = self.schema.types.get(name).ok_or(Fault::NotFound)?;
        let uses = self.uses.get(name);
        Ok(Answer::special(Kind::Kept, layout(visit, name, type_page::show(&self.schema, definition, uses))))
    }
}
