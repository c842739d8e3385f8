//! The GraphQL API: the catalogue's resolvers, run by the [`engine`].
//!
//! [`schema`] is generated from `schema/schema.graphql`: types, and a trait for every object type and every root
//! field. The noun's files implement those traits over [`crate::entity`]; [`types`] says which Rust type stands for
//! which SDL type. What the nouns share stands beside them: [`context`] is what a resolver is given, [`list`] pages
//! through tables, [`id`] reads and writes global ids, [`places`] decides who reads now. HTTP, tokens and limits of requests
//! are left to the edge.

use std::sync::Arc;
use std::time::{Duration, Instant};

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;
use async_graphql::{Request, ServerError};

use crate::budget::{Budget, Excess, Limits, Used};
use crate::db::Db;
use crate::engine::{self, Documents, Prepared, Response, request_error};
use crate::entity::deploy::Environments;
use crate::error::Code;
use crate::spans;
use caller::Caller;
use idempotency::Claim;
use places::{Lane, Places};

pub mod caller;
pub mod context;
mod draft;
pub mod id;
pub mod idempotency;
pub mod identifier;
mod left_out;
pub mod list;
mod note;
mod permit;
pub mod places;
mod timestamp;
pub mod types;

/// Generated from the SDL.
#[allow(missing_docs, clippy::all)]
pub mod schema {
    include!(concat!(env!("OUT_DIR"), "/schema.rs"));
}

mod account;
mod alert_source;
mod alias;
mod cloud_integration;
mod code_issue;
mod code_issue_project;
mod code_issue_project_resource;
mod component_type;
mod contact;
mod deploy;
mod deploy_metrics;
mod domain;
mod filter;
mod grade;
mod infrastructure_resource;
mod integration;
mod json;
mod lifecycle;
mod near_match;
mod on_call;
mod predicate;
mod property;
mod property_definition;
mod relation;
mod relationship;
mod relationship_definition;
mod repository;
mod rubric;
pub mod search;
mod service;
mod service_dependency;
mod service_document;
pub mod service_file;
pub mod service_filter;
mod service_impact;
mod service_list;
mod service_repository;
mod sort;
mod suggestion;
mod system;
mod tag;
mod team;
mod team_membership;
mod tier;
mod tool;
pub mod user;

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
    /// What one request may use.
    pub budget: Limits,
    /// How many objects a request may ask for, by the sizes of its pages.
    pub estimate: u64,
    /// The environments that are production.
    pub production: Environments,
}

impl Settings {
    /// An installation with the limits that are there when nobody sets others.
    pub fn new(account_name: impl Into<String>, app_url: impl Into<String>) -> Self {
        let (budget, estimate) = (Limits::default(), engine::cost::Limits::default().estimate);
        let production = Environments::production(&["production".to_owned()]);
        Self { account_name: account_name.into(), app_url: app_url.into(), budget, estimate, production }
    }
}

/// Why the database cannot serve a request now. Nothing was done: it can be sent again as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unavailable(pub &'static str);

/// The API, ready to answer. Cheap to clone.
#[derive(Clone)]
pub struct Catalogue(Arc<context::Shared>);

impl Catalogue {
    /// The API over a migrated database.
    pub fn new(db: Db, settings: Settings) -> Self {
        let query = &schema::info::Query;
        let (mutation, scalars) = (Some(&schema::info::Mutation), schema::info::SCALARS);
        let limits = engine::cost::Limits { estimate: settings.estimate, ..engine::cost::Limits::default() };
        let documents = Documents::new(SDL, query, mutation, scalars, limits);
        Self(Arc::new(context::Shared { db, settings, documents, places: Places::default() }))
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

    /// Runs a checked request, within its budget. Errors on the way are in the response; `request_id` names it in the
    /// log. Whether the caller may is [`Caller::refused`]'s to say.
    ///
    /// A query is ended at its deadline, also while it waits, and so are mutations that wait. A mutation writes what it has
    /// begun to write; only then its deadline is looked at, before the next one of the request and while its answer is
    /// read. With a claimed idempotency key, its answer is kept.
    ///
    /// # Errors
    /// The database cannot serve the request now, and nothing was done.
    pub async fn execute(
        &self,
        prepared: &Prepared,
        caller: &Caller,
        request_id: &str,
        claim: Option<Claim>,
    ) -> Result<Response, Unavailable> {
        let span = spans::operation(prepared.plan.serial, prepared.operation.as_deref());
        let fate = Arc::new(context::Fate::of(claim));
        let response = span.around(Box::pin(self.run(prepared, caller, request_id, &fate))).await;
        if let Some(claim) = claim {
            Box::pin(claim.end(self, &fate, &response)).await;
        }
        span.executed(prepared.estimate, &response.used, response.errors.len(), response.class());
        fate.unavailable().map_or(Ok(response), |reason| Err(Unavailable(reason)))
    }

    async fn run(&self, prepared: &Prepared, caller: &Caller, request_id: &str, fate: &Arc<context::Fate>) -> Response {
        let (plan, limits) = (&prepared.plan, self.0.settings.budget);
        let deadline = Instant::now() + limits.time;
        if plan.serial {
            let budget = Arc::new(Budget::new(limits, deadline, false, Duration::ZERO));
            let Ok(_place) = budget.within(self.0.places.take(Lane::Change, caller.who())).await else {
                let why = format!(
                    "No mutation was run: others kept this request waiting for {:?}. Send it again.",
                    limits.time
                );
                return Response::failed(request_error(why, Vec::new(), Code::TooExpensive));
            };
            let state = context::State::new(Arc::clone(&self.0), request_id, caller, prepared, &budget, fate);
            let run = Box::pin(engine::run(&schema::Mutation, plan, &prepared.arguments, &state));
            let response = budget.metered(run).await;
            // The last slice of its work is over by now.
            return Response { used: budget.used(), ..response };
        }
        // Introspection asks the database nothing.
        let reads = plan.root.relations().any(|field| !field.name().starts_with("__"));
        let mut lane = if plan.is_slow() { Lane::Slow } else { Lane::Quick };
        let mut used = Duration::ZERO;
        loop {
            let budget = Arc::new(Budget::new(limits, deadline, lane == Lane::Quick, used));
            // On the heap: whatever wraps a future holds it twice.
            let answer = Box::pin(self.answer(prepared, caller, (request_id, fate), &budget, lane, reads));
            let response = budget.within(budget.metered(answer)).await;
            match budget.exceeded() {
                Some(Excess::Quick) => {
                    (lane, used) = (Lane::Slow, budget.used().processor);
                }
                Some(excess) => return Response::ended(excess, &budget),
                None => {
                    // What has taken its time once may have found nothing in a cache.
                    plan.remember_slow(budget.was_slow());
                    return response.map_or_else(
                        |excess| Response::ended(excess, &budget),
                        |response| Response { used: budget.used(), ..response },
                    );
                }
            }
        }
    }

    /// What a request cost and what it might have cost, for whoever asked for it.
    pub fn cost(&self, prepared: &Prepared, used: &Used) -> serde_json::Value {
        let Limits { objects, rows, processor, .. } = self.0.settings.budget;
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        serde_json::json!({
            "estimate": prepared.estimate,
            "objects": used.objects,
            "rowBytes": used.rows,
            "processorMicroseconds": micros(used.processor),
            "limits": {
                "estimate": self.0.documents.limits().estimate,
                "objects": objects,
                "rowBytes": rows,
                "processorMicroseconds": micros(processor),
            },
        })
    }

    /// Answers a query, once it has a place.
    async fn answer(
        &self,
        prepared: &Prepared,
        caller: &Caller,
        (request_id, fate): (&str, &Arc<context::Fate>),
        budget: &Arc<Budget>,
        lane: Lane,
        reads: bool,
    ) -> Response {
        let _place = self.0.places.take(lane, caller.who()).await;
        let state = context::State::new(Arc::clone(&self.0), request_id, caller, prepared, budget, fate);
        let state = match reads {
            true => state.reading().await,
            false => Ok(state),
        };
        match state {
            Ok(state) => engine::run(&schema::Query, &prepared.plan, &prepared.arguments, &state).await,
            Err(response) => response,
        }
    }
}
