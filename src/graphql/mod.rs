//! The GraphQL API: the catalogue's resolvers, and the machinery that runs them.
//!
//! [`schema`] is generated from `schema/schema.graphql`: types, and a trait for every object type and every root
//! field. The noun's files implement those traits over [`crate::entity`]; [`types`] says which Rust type stands for
//! which SDL type. The machinery knows no noun: [`document`] checks a request and compiles it to a [`plan`],
//! [`execute`] runs the plan. HTTP, tokens and limits are left to the edge.

use std::sync::Arc;

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;
use async_graphql::{Request, ServerError};

use crate::db::Db;
use crate::entity::deploy::Environments;
use caller::Caller;
use document::{Documents, Prepared};
use execute::Response;

pub mod caller;
pub mod context;
pub mod cost;
pub mod document;
pub mod execute;
pub mod id;
pub mod identifier;
pub mod input;
pub mod introspection;
mod lexical;
mod lines;
pub mod list;
mod literals;
pub mod object;
pub mod page;
pub mod plan;
pub mod sdl;
pub mod shape;
pub mod text;
mod timestamp;
pub mod types;
mod validate;
pub mod write;

/// Generated from the SDL.
#[allow(missing_docs, clippy::all)]
pub mod schema {
    include!(concat!(env!("OUT_DIR"), "/schema.rs"));
}

mod account;
mod alias;
mod argument_path;
mod code_issue;
mod code_issue_project;
mod code_issue_project_resource;
mod deploy;
mod deploy_metrics;
mod hold;
mod integration;
mod near_match;
mod repository;
mod service;
mod suggestion;
mod tag;
mod team;
mod team_membership;
mod tier;
mod user;

impl From<crate::error::UserError> for schema::Error {
    fn from(error: crate::error::UserError) -> Self {
        Self {
            message: error.message.into_owned(),
            path: error.path.into_iter().map(std::borrow::Cow::into_owned).collect(),
        }
    }
}

/// The schema, as it is written and served.
pub const SDL: &str = include_str!("../../schema/schema.graphql");

/// What resolvers need to know of this installation.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The name of the account.
    pub account_name: String,
    /// Where people and CI systems reach this installation: an origin without a slash at its end.
    pub app_url: String,
    /// The environments that are production.
    pub production: Environments,
}

/// The API, ready to answer. Cheap to clone.
#[derive(Clone)]
pub struct Catalogue(Arc<context::Shared>);

impl Catalogue {
    /// The API over a migrated database.
    pub fn new(db: Db, settings: Settings) -> Self {
        let query = &schema::info::Query;
        let (mutation, scalars) = (Some(&schema::info::Mutation), schema::info::SCALARS);
        let documents = Documents::new(SDL, query, mutation, scalars, cost::Limits::default());
        Self(Arc::new(context::Shared { db, settings, documents }))
    }

    /// What is known of this installation.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The schema that requests are checked against.
    pub fn schema(&self) -> &Arc<Valid<Schema>> {
        self.0.documents.schema()
    }

    /// Checks a request in full: syntax, schema, cost, variables. Nothing has happened when it is refused.
    pub fn prepare(&self, request: &Request) -> Result<Prepared, Vec<ServerError>> {
        self.0.documents.prepare(request)
    }

    /// Runs a checked request. Errors on the way are in the response; `request_id` names it in the log. Whether the
    /// caller may is [`Caller::refused`]'s to say.
    pub async fn execute(&self, prepared: &Prepared, caller: &Caller, request_id: &str) -> Response {
        let Prepared { plan, arguments, inputs, .. } = prepared;
        let shared = Arc::clone(&self.0);
        // A mutation begins its own transactions, and introspection asks the database nothing.
        let reads = !plan.serial && plan.root.relations().any(|field| !field.name().starts_with("__"));
        let state = if reads {
            match context::State::reading(shared, request_id, caller).await {
                Ok(state) => state,
                Err(response) => return response,
            }
        } else {
            context::State::new(shared, request_id, caller, inputs)
        };
        if plan.serial {
            execute::run(&schema::Mutation, plan, arguments, &state).await
        } else {
            execute::run(&schema::Query, plan, arguments, &state).await
        }
    }
}
