//! How a page asks our own GraphQL API, in the same process: a document that is part of the program, variables, and a
//! struct for the answer.

use async_graphql::{Request, Variables};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::form::Mistakes;
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

/// What the document of a query answers: everything is below the account.
#[derive(Deserialize)]
struct Account<T> {
    account: T,
}

/// What the document of a mutation answers: its one field is called `done`.
#[derive(Deserialize)]
struct Done<T> {
    done: Payload<T>,
}

#[derive(Deserialize)]
struct Payload<T> {
    errors: Vec<UserError>,
    #[serde(flatten)]
    rest: T,
}

#[derive(Deserialize)]
struct UserError {
    message: String,
    path: Vec<String>,
}

/// Runs a query and answers what is selected of `account`.
pub async fn query<T: DeserializeOwned>(
    site: &Site,
    visit: &Visit,
    document: &'static str,
    variables: Value,
) -> Result<T, Fault> {
    Ok(run::<Account<T>>(site, visit, document, variables).await?.account)
}

/// Runs a mutation, whose field the document calls `done`, and answers its payload or what was wrong with its input.
/// `field` names the argument's field for each mistake: forms are flat.
pub async fn change<T: DeserializeOwned>(
    site: &Site,
    visit: &Visit,
    document: &'static str,
    variables: Value,
) -> Result<Result<T, Mistakes>, Fault> {
    let Payload { errors, rest } = run::<Done<T>>(site, visit, document, variables).await?.done;
    if errors.is_empty() {
        return Ok(Ok(rest));
    }
    let mut mistakes = Mistakes::none();
    for UserError { message, path } in errors {
        mistakes.push(path.join("."), message);
    }
    Ok(Err(mistakes))
}

/// What a viewer may not do, a member may as a rule.
fn forbidden(session: &Session) -> Fault {
    Fault::Forbidden(if session.user.role < Role::User { Role::User } else { Role::Admin })
}

async fn run<T: DeserializeOwned>(
    site: &Site,
    visit: &Visit,
    document: &'static str,
    variables: Value,
) -> Result<T, Fault> {
    let request = Request::new(document).variables(Variables::from_json(variables));
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
    let Response { errors, data } =
        serde_json::from_slice::<Response<T>>(&response.text).map_err(|error| Fault::Internal(error.to_string()))?;
    if let Some(TopLevel { message, extensions }) = errors.into_iter().next() {
        return Err(match extensions.and_then(|extensions| extensions.code).as_deref() {
            Some("NOT_FOUND") => Fault::NotFound,
            Some("FORBIDDEN") => forbidden(session),
            Some("BAD_USER_INPUT") => Fault::BadRequest(message),
            Some("COST_ACTUAL_TOO_EXPENSIVE") => Fault::TooMuch(message),
            _ => Fault::Internal(message),
        });
    }
    data.ok_or_else(|| Fault::Internal("the catalogue answered without data".to_owned()))
}
