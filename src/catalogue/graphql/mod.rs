//! The GraphQL API: the catalogue's resolvers, run by the [`engine`].
//!
//! The build generates [`schema`] from `schema/schema.graphql`: types, and a trait for every object type and every root
//! field. A noun's file, or its folder, implements its traits over [`crate::entity`]. [`types`] binds SDL types to Rust
//! types.
//!
//! Three folders are shared by the nouns. [`request`] is what one request has: its caller, its context, its place among
//! the others, and what it leaves in the audit. [`list`] pages through tables. [`field`] reads and writes the values that
//! many nouns have, such as ids and aliases. HTTP, tokens and rate limits are left to the edge.
//!
//! Invariants: nothing here imports `http`, `app` or `config`. A relation is resolved for all its parents at once. What
//! the transaction of a mutation changes commits together with its entries of the audit, or not at all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;
use async_graphql::{Request, ServerError};
use futures_util::future::BoxFuture;

use crate::api_document::hosts::Hosts;
use crate::budget::{Budget, Excess, Limits, Used};
use crate::db::Db;
use crate::engine::{self, Documents, Prepared, Response, request_error};
use crate::entity::deploy::{Environments, PRODUCTION};
use crate::error::Code;
use crate::events;
use crate::spans;
use request::caller::Caller;
use request::context;
use request::idempotency::Claim;
use request::places::Lane;
use request::rules::Rules;

// What all nouns share.
pub mod field;
pub mod list;
mod prelude;
pub mod request;
pub mod types;

/// Generated from the SDL.
#[allow(missing_docs, clippy::all)]
pub mod schema {
    include!(concat!(env!("OUT_DIR"), "/schema.rs"));
}

// The nouns.
mod account;
mod code_issue;
mod deploy;
mod domain;
mod event;
pub mod filter;
mod grade;
pub mod history;
mod infrastructure_resource;
mod integration;
mod property;
mod relationship;
pub mod repository;
pub mod revert;
pub mod saved_view;
pub mod search;
pub mod service;
pub mod standards;
mod system;
mod tag;
pub mod team;

impl From<crate::error::UserError> for schema::Error {
    fn from(error: crate::error::UserError) -> Self {
        Self {
            message: error.message.into_owned(),
            path: error.path.into_iter().map(std::borrow::Cow::into_owned).collect(),
        }
    }
}

/// The SDL, as it is written in the repository and served to clients.
pub const SDL: &str = include_str!("../../../schema/schema.graphql");

/// The configuration that resolvers read.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The name of the account.
    pub account_name: String,
    /// The public origin of this installation, without a trailing slash.
    pub app_url: String,
    /// The limits of each request's budget.
    pub budget: Limits,
    /// The maximum estimate of a request: the number of objects that its page sizes could return.
    pub estimate: u64,
    /// The maximum length of a request's body, in bytes.
    pub body: usize,
    /// The environments that count as production. Checks ask `remembered::production`, which the server has stored, so that
    /// commands mean the same.
    pub production: Environments,
    /// The hosts from which API documents may be pulled.
    pub document_hosts: Hosts,
    /// The hosts with private addresses to which events may be sent.
    pub event_hosts: Hosts,
    /// Sends mail, if there is a mail server.
    pub mail: Option<events::mail::Mailer>,
    /// How long a critical code issue is open before it is overdue.
    pub issues_overdue_after: Duration,
    /// The kinds of events that somebody wants. None if nobody sends them.
    pub events: events::Wanted,
    /// Whether members change only their own teams and what those own.
    pub owner_only_writes: bool,
}

impl Settings {
    /// Settings with the default limits and the default production environments.
    pub fn new(account_name: impl Into<String>, app_url: impl Into<String>) -> Self {
        let (budget, estimate) = (Limits::default(), engine::cost::DocumentLimits::default().estimate);
        let production = Environments::production(&PRODUCTION.map(str::to_owned));
        let document_hosts = Hosts::default();
        Self {
            account_name: account_name.into(),
            app_url: app_url.into(),
            budget,
            estimate,
            body: 0,
            production,
            document_hosts,
            event_hosts: Hosts::default(),
            mail: None,
            issues_overdue_after: events::deliver::OVERDUE_AFTER,
            events: events::Wanted::default(),
            owner_only_writes: false,
        }
    }
}

/// Why the database cannot serve a request at the moment. Nothing was changed; the client can retry the same request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unavailable(pub &'static str);

/// The API, ready to answer. Cheap to clone.
#[derive(Clone)]
pub struct Catalogue(Arc<context::Shared>);

impl Catalogue {
    /// Creates the API over a migrated database.
    pub fn new(db: Db, settings: Settings) -> Self {
        let query = &schema::info::Query;
        let (mutation, scalars) = (Some(&schema::info::Mutation), schema::info::SCALARS);
        let limits = engine::cost::DocumentLimits::default();
        // A body may give its texts to two arguments, however long it may be.
        let text = limits.text.max(settings.body.saturating_mul(2));
        let limits = engine::cost::DocumentLimits { estimate: settings.estimate, text, ..limits };
        let documents = Arc::new(Documents::new(SDL, query, mutation, scalars, limits));
        let rules = Arc::new(Rules::from_schema(documents.schema()));
        let places = Arc::default();
        Self(Arc::new(context::Shared { db, settings, documents, rules, places }))
    }

    /// The same API, with links for whoever reaches it at another address.
    pub fn reached_at(&self, app_url: &str) -> Self {
        let context::Shared { db, settings, documents, rules, places } = &*self.0;
        let settings = Settings { app_url: app_url.to_owned(), ..settings.clone() };
        let (documents, rules, places) = (Arc::clone(documents), Arc::clone(rules), Arc::clone(places));
        Self(Arc::new(context::Shared { db: db.clone(), settings, documents, rules, places }))
    }

    /// The configuration of this installation.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The schema that requests are validated against.
    pub fn schema(&self) -> &Arc<Valid<Schema>> {
        self.0.documents.schema()
    }

    /// Validates a request in full: syntax, schema, cost, variables. Has no side effects.
    pub fn prepare(&self, request: &Request) -> Result<Prepared, Vec<ServerError>> {
        self.0.documents.prepare(request)
    }

    /// Executes a prepared request within its budget. Check the caller with [`Caller::refused`] first. Errors become
    /// part of the response; `request_id` identifies the request in the log.
    ///
    /// At the deadline, a query is cancelled, and so is a request with mutations that still waits for a place. A
    /// mutation that has begun to write is not cancelled: the deadline is checked before the next mutation, and while a
    /// payload is read. At the end a claimed idempotency key is settled: the response is stored, or the key is
    /// released.
    ///
    /// # Errors
    /// The database cannot serve the request at the moment, and nothing was changed.
    pub fn execute<'f>(
        &'f self,
        prepared: &'f Prepared,
        caller: &'f Caller,
        request_id: &'f str,
        claim: Option<Claim>,
    ) -> BoxFuture<'f, Result<Response, Unavailable>> {
        Box::pin(async move {
            let span = spans::operation(prepared.plan.serial, prepared.operation.as_deref());
            let (claim, place) = claim.map(|Claim { held, place }| (held, place)).unzip();
            let outcome = Arc::new(context::RequestOutcome::new(claim, place));
            let mut response = span.instrument(Box::pin(self.run(prepared, caller, request_id, &outcome))).await;
            response.forbidden = outcome.forbidden();
            if let Some(claim) = claim {
                Box::pin(claim.end(self, &outcome, &response)).await;
            }
            span.executed(prepared.estimate, &response.used, response.errors.len(), response.class());
            outcome.unavailable().map_or(Ok(response), |reason| Err(Unavailable(reason)))
        })
    }

    async fn run(
        &self,
        prepared: &Prepared,
        caller: &Caller,
        request_id: &str,
        outcome: &Arc<context::RequestOutcome>,
    ) -> Response {
        let (plan, limits) = (&prepared.plan, self.0.settings.budget);
        if plan.serial {
            return self.change(prepared, caller, request_id, outcome).await;
        }
        let deadline = Instant::now() + limits.time;
        // Introspection needs no database.
        let reads = plan.root.relations().any(|field| !field.name().starts_with("__"));
        let mut lane = if plan.is_slow() { Lane::Slow } else { Lane::Quick };
        let mut used = Duration::ZERO;
        let mut replica_failed = false;
        loop {
            let budget = Arc::new(Budget::new(limits, deadline, lane == Lane::Quick, used));
            let at_replica = reads && !replica_failed && self.0.db.replica_lag().is_some();
            let attempt = at_replica.then(|| Arc::new(context::RequestOutcome::at_replica()));
            let outcome = attempt.as_ref().unwrap_or(outcome);
            // Boxed, because each wrapper around a future reserves space for it twice.
            let answer = Box::pin(self.answer(prepared, caller, (request_id, outcome), &budget, lane, reads));
            let answer = budget.within(budget.metered(answer));
            let response = match at_replica {
                true => Box::pin(self.0.db.while_replica_is_usable(answer)).await,
                false => Some(answer.await),
            };
            match (budget.exceeded(), response) {
                (Some(Excess::Quick), _) => (lane, used) = (Lane::Slow, budget.used().processor),
                // The plan remembers.
                (Some(Excess::Statement), _) => used = budget.used().processor,
                (Some(excess), _) => return Response::ended(excess, &budget),
                (None, Some(response)) if !at_replica || !outcome.database_failed() => {
                    // Only the last run counts: a single slow one may have met a cold cache.
                    plan.remember_slow(budget.was_slow());
                    return response.map_or_else(
                        |excess| Response::ended(excess, &budget),
                        |response| Response { used: budget.used(), ..response },
                    );
                }
                (None, _) => (replica_failed, used) = (true, budget.used().processor),
            }
        }
    }

    /// Waits for a place, unless the request has one, then runs mutations.
    async fn change(
        &self,
        prepared: &Prepared,
        caller: &Caller,
        request_id: &str,
        outcome: &Arc<context::RequestOutcome>,
    ) -> Response {
        let limits = self.0.settings.budget;
        let budget = Arc::new(Budget::new(limits, Instant::now() + limits.time, false, Duration::ZERO));
        if !outcome.has_place() {
            let lane = self.0.lane(&prepared.plan);
            let Ok(place) = budget.within(self.0.places.take(lane, caller.key())).await else {
                let why = format!(
                    "No mutation was run: other requests kept this one waiting for {:?}. Send it again.",
                    limits.time
                );
                return Response::failed(request_error(why, Vec::new(), Code::TooExpensive));
            };
            outcome.keep(place);
        }
        let state = context::State::new(Arc::clone(&self.0), request_id, caller, prepared, &budget, outcome);
        let run = Box::pin(engine::run(&schema::Mutation, &prepared.plan, &prepared.arguments, &state));
        let response = budget.metered(run).await;
        // The last slice is charged by now, so this is the whole cost.
        Response { used: budget.used(), ..response }
    }

    /// Returns the estimate of a request, what it used, and the limits, as JSON.
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

    /// Waits for a place, then answers a query.
    async fn answer(
        &self,
        prepared: &Prepared,
        caller: &Caller,
        (request_id, outcome): (&str, &Arc<context::RequestOutcome>),
        budget: &Arc<Budget>,
        lane: Lane,
        reads: bool,
    ) -> Response {
        let _place = self.0.places.take(lane, caller.key()).await;
        let state = context::State::new(Arc::clone(&self.0), request_id, caller, prepared, budget, outcome);
        let state = match reads {
            true => state.reading(!prepared.plan.takes_several()).await,
            false => Ok(state),
        };
        match state {
            Ok(state) => {
                let response = engine::run(&schema::Query, &prepared.plan, &prepared.arguments, &state).await;
                if state.takes_several() {
                    prepared.plan.remember_several();
                }
                response
            }
            Err(response) => response,
        }
    }
}
