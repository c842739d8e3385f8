//! The same schema with async-graphql's macros.

use async_graphql::parser::types::ExecutableDocument;
use async_graphql::{EmptyMutation, EmptySubscription, Enum, ID, Object, Request, Schema, ValidationMode};

use super::{ChildRow, ItemRow, ROWS, generated};

/// A schema and a parsed document.
pub struct Engine {
    schema: Schema<Query, EmptyMutation, EmptySubscription>,
    document: ExecutableDocument,
}

impl Engine {
    pub fn new(query: &str) -> Self {
        let schema = Schema::build(Query, EmptyMutation, EmptySubscription).validation_mode(ValidationMode::Fast);
        Self { schema: schema.finish(), document: async_graphql::parser::parse_query(query).expect("a valid query") }
    }

    /// The response as JSON.
    pub async fn run(&self) -> Vec<u8> {
        let mut request = Request::new("");
        request.set_parsed_query(self.document.clone());
        serde_json::to_vec(&self.schema.execute(request).await).expect("an answer is JSON")
    }
}

pub struct Query;

struct Item(&'static ItemRow);

struct Child(&'static ChildRow);

#[derive(Enum, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Planned,
    Running,
    Retired,
}

impl From<generated::Phase> for Phase {
    fn from(phase: generated::Phase) -> Self {
        match phase {
            generated::Phase::Planned => Self::Planned,
            generated::Phase::Running => Self::Running,
            generated::Phase::Retired => Self::Retired,
        }
    }
}

#[Object]
impl Query {
    async fn items(&self) -> Vec<Item> {
        ROWS.iter().map(Item).collect()
    }
}

#[Object]
impl Item {
    async fn id(&self) -> ID {
        self.0.id.into()
    }
    async fn name(&self) -> &str {
        &self.0.name
    }
    async fn description(&self) -> Option<&str> {
        self.0.description.as_deref()
    }
    async fn language(&self) -> Option<&str> {
        self.0.language.as_deref()
    }
    async fn framework(&self) -> Option<&str> {
        self.0.framework.as_deref()
    }
    async fn product(&self) -> Option<&str> {
        self.0.product.as_deref()
    }
    async fn count(&self) -> i32 {
        self.0.count
    }
    async fn rank(&self) -> Option<i32> {
        self.0.rank
    }
    async fn ratio(&self) -> f64 {
        self.0.ratio
    }
    async fn active(&self) -> bool {
        self.0.active
    }
    async fn phase(&self) -> Phase {
        self.0.phase.into()
    }
    async fn created_at(&self) -> &str {
        &self.0.created_at
    }
    async fn children(&self) -> Vec<Child> {
        self.0.children.iter().map(Child).collect()
    }
}

#[Object]
impl Child {
    async fn id(&self) -> ID {
        self.0.id.into()
    }
    async fn key(&self) -> &str {
        &self.0.key
    }
    async fn value(&self) -> &str {
        &self.0.value
    }
}
