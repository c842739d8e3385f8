//! Runs the documents of tools, as the caller.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use async_graphql::{Request, Variables};
use serde_json::Value as Json;

use crate::engine::budget::Used;
use crate::graphql::request::caller::Caller;
use crate::graphql::{Catalogue, Unavailable};

/// The longest response that a tool takes apart, in bytes: what it leaves out of it may be most of it.
const LONGEST_RESPONSE: usize = 4 * super::LONGEST;

/// An operation that a tool has run.
#[derive(Debug)]
pub struct Ran {
    /// Whether it was a mutation.
    pub is_mutation: bool,
    /// How long it took.
    pub took: Duration,
    /// What it used.
    pub used: Used,
    /// The mutations that the caller may not run.
    pub forbidden: Vec<String>,
}

/// Runs documents as one caller.
pub struct Asker {
    catalogue: Catalogue,
    caller: Caller,
    request_id: String,
    /// Whether tools may run mutations, if the token may.
    may_write: bool,
    ran: Mutex<Vec<Ran>>,
}

impl Asker {
    /// Runs documents as `caller`. Mutations run only if `may_write`, and then only with a token that may write.
    pub fn new(catalogue: Catalogue, caller: Caller, request_id: String, may_write: bool) -> Self {
        Self { catalogue, caller, request_id, may_write, ran: Mutex::default() }
    }

    /// Whether this caller's tools include those that write.
    pub(super) fn writes(&self) -> bool {
        self.may_write && self.caller.scope >= crate::engine::Scope::Write
    }

    /// What has run so far.
    pub fn ran(&self) -> Vec<Ran> {
        std::mem::take(&mut *self.ran.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Runs a document and returns its data.
    ///
    /// # Errors
    /// What the document's errors say, for the agent.
    pub(super) async fn ask(&self, document: &str, variables: Json) -> Result<Json, String> {
        let mut response = self.response(document, variables).await?;
        let errors = response["errors"].as_array().into_iter().flatten();
        let messages: Vec<&str> = errors.filter_map(|error| error["message"].as_str()).collect();
        match messages.is_empty() {
            true => Ok(response["data"].take()),
            false => Err(messages.join("; ")),
        }
    }

    /// Runs a query and returns the whole response, taken apart.
    ///
    /// # Errors
    /// It was not run, for this reason, or its response is too long.
    pub(super) async fn response(&self, document: &str, variables: Json) -> Result<Json, String> {
        let text = self.run(document, variables, false).await?;
        // Taken apart, a response is many times as large as its text.
        if text.len() > LONGEST_RESPONSE {
            return Err(super::too_long(text.len(), LONGEST_RESPONSE));
        }
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    /// Runs a document and returns the whole response, as JSON. Mutations run only if `writes`.
    ///
    /// # Errors
    /// It was not run, for this reason.
    pub(super) async fn run(&self, document: &str, variables: Json, writes: bool) -> Result<String, String> {
        let request = Request::new(document).variables(Variables::from_json(variables));
        let prepared = self.catalogue.prepare(&request).map_err(|errors| {
            let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
            messages.join("; ")
        })?;
        let is_mutation = prepared.plan.serial;
        if is_mutation && !writes {
            return Err("this tool runs queries; the document has a mutation".to_owned());
        }
        if let Some(reason) = self.caller.refused(&prepared.plan) {
            let names = prepared.plan.root.fields.iter().map(|field| field.name().to_owned()).collect();
            self.note(Ran { is_mutation, took: Duration::ZERO, used: Used::default(), forbidden: names });
            return Err(reason);
        }
        let started = Instant::now();
        let response = self.catalogue.execute(&prepared, &self.caller, &self.request_id, None).await;
        let response = response.map_err(|Unavailable(reason)| reason.to_owned())?;
        self.note(Ran {
            is_mutation,
            took: started.elapsed(),
            used: response.used,
            forbidden: response.forbidden.iter().map(|name| (*name).to_owned()).collect(),
        });
        String::from_utf8(response.text).map_err(|error| error.to_string())
    }

    fn note(&self, ran: Ran) {
        self.ran.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(ran);
    }
}
