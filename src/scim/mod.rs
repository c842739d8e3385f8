//! SCIM 2.0 (RFC 7643 and 7644): an identity provider creates, changes and deactivates users, and tells who is in which
//! group.
//!
//! - [`users`] and [`groups`] are the two kinds of resources: how rows are shown, and what a request changes.
//! - [`filter`] reads filters, [`conditions`] makes SQL of them, [`patch`] reads the operations of a PATCH.
//! - [`attributes`] has the names of attributes, and which of them a client wants to see.
//! - [`change`] is the transaction of a change, with its audit and its events.
//! - [`schemas`] says what this service can do.
//!
//! It knows no HTTP but methods and statuses. `http/handlers/scim.rs` checks the token and reads the body.
//!
//! Invariants: every change is one transaction, with its audit and its events ([`change::carry_out`]); nothing else
//! here writes.

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::app::openid_settings::OpenId;
use crate::budget::Excess;
use crate::db::Db;
use crate::graphql::Catalogue;
use crate::graphql::request::caller::Caller;

mod attributes;
mod change;
mod conditions;
mod error;
mod filter;
mod groups;
mod list;
mod membership;
mod patch;
mod person;
mod resource;
mod schemas;
mod users;

pub use change::MOST_CHANGED;
use error::{Error, Refusal, ScimType};
pub use filter::{DEEPEST, LONGEST as LONGEST_FILTER, MOST_TERMS};
pub use groups::{GROUPS_OF_USER, MEMBERS, MEMBERS_AT_ONCE, MOST_GROUPS};
pub use list::IN_PAGE;
pub use patch::MOST_OPERATIONS;
pub use users::MOST_USERS;

/// The most resources of a page.
pub const MOST_RESULTS: u64 = 200;

/// The beginning of all paths.
pub const PATH: &str = "/scim/v2";

/// The rest of a path below [`PATH`].
pub fn below(path: &str) -> Option<&str> {
    let rest = path.strip_prefix(PATH)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// Reads.
    Get,
    /// Creates.
    Post,
    /// Replaces.
    Put,
    /// Changes.
    Patch,
    /// Deletes.
    Delete,
}

/// A request.
#[derive(Debug, Clone, Copy)]
pub struct Request<'r> {
    /// Its method.
    pub does: Does,
    /// Its path, from the root.
    pub path: &'r str,
    /// The query of its URL, or an empty text.
    pub query: &'r str,
    /// Its body, if its method has one.
    pub body: &'r [u8],
}

/// What requests are answered with.
pub struct Service<'s> {
    /// The database.
    pub db: &'s Db,
    /// Where clients reach the service, up to [`PATH`].
    pub base: String,
    /// Who asks.
    pub caller: Caller,
    /// The API, which deletes users.
    pub catalogue: &'s Catalogue,
    /// What groups give.
    pub mapping: Option<&'s OpenId>,
    /// The id of the request.
    pub request_id: &'s str,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The body, in `application/scim+json`.
    pub body: Option<Value>,
    /// Where the resource is, if it is new.
    pub location: Option<String>,
}

impl Answer {
    fn new(status: u16, body: Value) -> Self {
        let location = body["meta"]["location"].as_str().filter(|_| status == 201).map(str::to_owned);
        Self { status, body: Some(body), location }
    }

    fn nothing() -> Self {
        Self { status: 204, body: None, location: None }
    }

    /// An error in the form of RFC 7644, section 3.12.
    pub fn refused(status: u16, kind: Option<&str>, detail: &str) -> Self {
        let mut body = json!({ "schemas": [schemas::ERROR], "status": status.to_string(), "detail": detail });
        if let Some(kind) = kind {
            body["scimType"] = kind.into();
        }
        Self { status, body: Some(body), location: None }
    }
}

/// Why a request was not answered, if that is not the client's fault.
#[derive(Debug)]
pub enum Failure {
    /// The service is not available at the moment, for this reason.
    Unavailable(&'static str),
    /// Something went wrong. The cause is for the log.
    Internal(String),
}

/// Answers a request whose token has the scope `scim`. A request that reads ends with the time that a query has; one that
/// changes something is never cancelled.
pub async fn answer(service: &Service<'_>, request: &Request<'_>) -> Result<Answer, Failure> {
    let limits = service.catalogue.settings().budget;
    let answered = Box::pin(repeated(service, request));
    let answered = match request.does {
        Does::Get => timeout(limits.time, answered)
            .await
            .unwrap_or_else(|_| Err(Refusal::new(ScimType::TooMany, Excess::Time.sentence(&limits)).into())),
        _ => answered.await,
    };
    match answered {
        Ok(answer) => Ok(answer),
        Err(Error::Refused(refusal)) => Ok(refusal.answer()),
        Err(Error::Database(error)) => Err(match error.refusal() {
            Some(reason) => Failure::Unavailable(reason),
            None => Failure::Internal(error.to_string()),
        }),
        Err(Error::Unavailable(reason)) => Err(Failure::Unavailable(reason)),
        Err(Error::Internal(cause)) => Err(Failure::Internal(cause)),
    }
}

/// How often a request is tried that loses races.
const ATTEMPTS: usize = 5;

const LOST: &str = "Other changes came between, again and again. Try again.";

/// Answers a request, and starts over if it loses a race.
async fn repeated(service: &Service<'_>, request: &Request<'_>) -> Result<Answer, Error> {
    for _ in 0..ATTEMPTS {
        match route(service, request).await {
            Err(error) if error.is_lost_race() => {}
            answered => return answered,
        }
    }
    Err(Error::Unavailable(LOST))
}

async fn route(service: &Service<'_>, request: &Request<'_>) -> Result<Answer, Error> {
    let path = below(request.path).unwrap_or_default();
    let parts =
        path.split('/').filter(|part| !part.is_empty()).map(|part| percent_decode_str(part).decode_utf8_lossy());
    let parts: Vec<_> = parts.collect();
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    match (request.does, &*parts) {
        (_, ["Me" | "Bulk" | ".search", ..] | ["Users" | "Groups", ".search"]) => {
            Err(Refusal::not_implemented().into())
        }
        (Does::Get, ["Users"]) => users::list(service, request.query).await,
        (Does::Post, ["Users"]) => users::create(service, request).await,
        (does, ["Users", id]) => {
            let id = resource::id(id)?;
            match does {
                Does::Get => users::show(service, id, request.query).await,
                Does::Put => users::replace(service, id, request).await,
                Does::Patch => users::change(service, id, request).await,
                Does::Delete => users::delete(service, id).await,
                Does::Post => Err(Refusal::not_allowed().into()),
            }
        }
        (Does::Get, ["Groups"]) => groups::list(service, request.query).await,
        (Does::Post, ["Groups"]) => groups::create(service, request).await,
        (does, ["Groups", id]) => {
            let id = resource::id(id)?;
            match does {
                Does::Get => groups::show(service, id, request.query).await,
                Does::Put => groups::replace(service, id, request).await,
                Does::Patch => groups::change(service, id, request).await,
                Does::Delete => groups::delete(service, id).await,
                Does::Post => Err(Refusal::not_allowed().into()),
            }
        }
        (does, ["ServiceProviderConfig" | "ResourceTypes" | "Schemas", ..]) => match does {
            Does::Get => Ok(schemas::answer(&service.base, request.query, &parts)?),
            _ => Err(Refusal::not_allowed().into()),
        },
        (_, ["Users" | "Groups"]) => Err(Refusal::not_allowed().into()),
        _ => Err(Refusal::not_found("There is nothing at this address.").into()),
    }
}
