//! Lets pages call our own GraphQL API, in the same process. The operations are in [`operations`](super::operations).

use async_graphql::{MaybeUndefined, Request, Variables};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::form::Mistakes;
use super::operations::{IdentifierInput, Mistake, Operation};
use super::parts::COUNTED;
use super::visit::{Session, Visit};
use super::{Fault, Site};
use catalogue::engine::page::is_about_cursor;
use catalogue::entity::user::Role;
use catalogue::error::Code;
use catalogue::graphql::Unavailable;
use catalogue::graphql::request::caller::Caller;

/// A response of the API.
#[derive(Deserialize)]
struct Response<T> {
    #[serde(default)]
    errors: Vec<TopLevel>,
    data: Option<T>,
}

#[derive(Deserialize)]
struct TopLevel {
    message: String,
    extensions: Option<Extensions>,
}

#[derive(Deserialize)]
struct Extensions {
    code: Option<String>,
}

/// Runs an operation and returns its data.
pub async fn ask<O: Operation>(site: &Site, visit: &Visit, operation: O) -> Result<O::Answer, Fault> {
    ask_counting(COUNTED, site, visit, operation).await
}

/// Does the same as [`ask`], and counts lists only up to a number.
pub async fn ask_counting<O: Operation>(
    most: u32,
    site: &Site,
    visit: &Visit,
    operation: O,
) -> Result<O::Answer, Fault> {
    let variables = serde_json::to_value(&operation).map_err(|error| Fault::Internal(error.to_string()))?;
    run(most, site, visit, O::DOCUMENT, variables).await
}

/// Runs a document that a page has made from the SDL, and returns its data.
pub async fn ask_json(site: &Site, visit: &Visit, document: &str, variables: Json) -> Result<Json, Fault> {
    run(COUNTED, site, visit, document, variables).await
}

async fn run<T: DeserializeOwned>(
    most: u32,
    site: &Site,
    visit: &Visit,
    document: &str,
    variables: Json,
) -> Result<T, Fault> {
    if visit.reads.are_on() {
        return Err(Fault::Internal("a page asks the API while it holds a connection to read".to_owned()));
    }
    let request = Request::new(document).variables(Variables::from_json(variables));
    let prepared = site.catalogue.prepare(&request).map_err(|errors| {
        // Our documents are valid, so a mistake can only be in a value from the visitor.
        Fault::BadRequest(errors.first().map_or_else(String::new, |error| error.message.clone()))
    })?;
    let session = visit.session.as_ref().ok_or(Fault::SignInFirst)?;
    let caller = Caller { counts_to: Some(most), ..session.caller() };
    if caller.refused(&prepared.plan).is_some() {
        return Err(forbidden(session));
    }
    let response = site.catalogue.execute(&prepared, &caller, &visit.request_id, None).await;
    let response = response.map_err(|Unavailable(reason)| Fault::Busy(reason))?;
    if !response.forbidden.is_empty() {
        site.refusals.note_aside(caller.actor, "forbidden", &response.forbidden.join(", "));
    }
    let Response { errors, data } =
        serde_json::from_slice::<Response<T>>(&response.text).map_err(|error| Fault::Internal(error.to_string()))?;
    if let Some(TopLevel { message, extensions }) = errors.into_iter().next() {
        if response.excess.is_some() {
            return Err(Fault::TooMuch(message));
        }
        return Err(match extensions.and_then(|extensions| extensions.code).as_deref() {
            Some("NOT_FOUND") => Fault::NotFound,
            Some("FORBIDDEN") => forbidden(session),
            Some("BAD_USER_INPUT") if is_about_cursor(&message) => Fault::NoSuchPage,
            Some("BAD_USER_INPUT") => Fault::BadRequest(message),
            // What a mutation that ran has to read for its answer.
            Some(code) if code == Code::TooExpensive.as_str() => Fault::TooMuch(message),
            _ => Fault::Internal(message),
        });
    }
    data.ok_or_else(|| Fault::Internal("the catalogue returned no data".to_owned()))
}

/// Fails if a mutation reported mistakes in its input. A mistake's path, joined by dots, is the name of the form's
/// field.
pub fn settled(errors: Vec<Mistake>) -> Result<(), Mistakes> {
    if errors.is_empty() {
        return Ok(());
    }
    let mut mistakes = Mistakes::none();
    for Mistake { message, path } in errors {
        mistakes.push(path.join("."), message);
    }
    Err(mistakes)
}

/// The fault for a mutation that returns null without an error. The API never does that, but the SDL allows it.
pub fn unanswered() -> Fault {
    Fault::Internal("the catalogue returned null for a mutation".to_owned())
}

/// Converts an optional input: `None` becomes null, which clears the field.
pub fn or_null<T>(value: Option<T>) -> MaybeUndefined<T> {
    value.map_or(MaybeUndefined::Null, MaybeUndefined::Value)
}

/// Names a thing by its alias.
pub fn by_alias(alias: &str) -> IdentifierInput<'_> {
    IdentifierInput { id: MaybeUndefined::Undefined, alias: MaybeUndefined::Value(alias) }
}

/// Names the role that the user probably lacks: a member's for viewers and team members, an administrator's for others.
fn forbidden(session: &Session) -> Fault {
    Fault::Forbidden(if session.user.role < Role::User { Role::User } else { Role::Admin })
}
