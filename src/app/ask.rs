//! How a page asks our own GraphQL API, in the same process. What it may ask is in [`operations`](super::operations).

use async_graphql::{MaybeUndefined, Request, Variables};
use serde::Deserialize;

use super::form::Mistakes;
use super::operations::{Mistake, Operation};
use super::visit::{Session, Visit};
use super::{Fault, Site};
use crate::entity::user::Role;

/// A response as the API writes it.
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

/// Sends an operation and returns what is answered to it.
pub async fn ask<O: Operation>(site: &Site, visit: &Visit, operation: O) -> Result<O::Answer, Fault> {
    let variables = serde_json::to_value(&operation).map_err(|error| Fault::Internal(error.to_string()))?;
    let request = Request::new(O::DOCUMENT).variables(Variables::from_json(variables));
    let prepared = site.catalogue.prepare(&request).map_err(|errors| {
        // The documents are ours and right; what a visitor can get wrong is a value.
        Fault::BadRequest(errors.first().map_or_else(String::new, |error| error.message.clone()))
    })?;
    let session = visit.session.as_ref().ok_or(Fault::SignInFirst)?;
    let caller = session.caller();
    if caller.refused(&prepared.plan).is_some() {
        return Err(forbidden(session));
    }
    let response = site.catalogue.execute(&prepared, &caller, &visit.request_id).await;
    let Response { errors, data } = serde_json::from_slice::<Response<O::Answer>>(&response.text)
        .map_err(|error| Fault::Internal(error.to_string()))?;
    if let Some(TopLevel { message, extensions }) = errors.into_iter().next() {
        if response.excess.is_some() {
            return Err(Fault::TooMuch(message));
        }
        return Err(match extensions.and_then(|extensions| extensions.code).as_deref() {
            Some("NOT_FOUND") => Fault::NotFound,
            Some("FORBIDDEN") => forbidden(session),
            Some("BAD_USER_INPUT") => Fault::BadRequest(message),
            _ => Fault::Internal(message),
        });
    }
    data.ok_or_else(|| Fault::Internal("the catalogue answered without data".to_owned()))
}

/// Fails with what was wrong with the input of a mutation, if anything was. The path of a mistake, joined by dots, is
/// the name of the form's field.
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

/// The fault for a mutation that answers null without an error. The API never does that, but the SDL allows it.
pub fn unanswered() -> Fault {
    Fault::Internal("the catalogue answered null to a mutation".to_owned())
}

/// An optional field of an input: null, which clears the field, for `None`.
pub fn or_null<T>(value: Option<T>) -> MaybeUndefined<T> {
    value.map_or(MaybeUndefined::Null, MaybeUndefined::Value)
}

/// What a viewer may not do, a member may as a rule.
fn forbidden(session: &Session) -> Fault {
    Fault::Forbidden(if session.user.role < Role::User { Role::User } else { Role::Admin })
}
