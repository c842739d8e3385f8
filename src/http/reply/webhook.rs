//! The responses of webhooks: what was recorded, and what is wrong with a post.

use hyper::StatusCode;
use serde::Serialize;

use super::{Reply, json};
use crate::deploy::{Mistake, Outcome};

/// An error in the webhook's format, as docs/deploys.md describes it.
#[derive(Serialize)]
struct WebhookError<'a> {
    status: u16,
    title: &'a str,
    detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

/// The first error's status is that of the response.
fn webhook_errors(errors: &[WebhookError<'_>]) -> Reply {
    #[derive(Serialize)]
    struct Errors<'a> {
        errors: &'a [WebhookError<'a>],
    }
    let status = errors.first().and_then(|error| StatusCode::from_u16(error.status).ok());
    json(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), &Errors { errors })
}

/// The response to an invalid deploy.
pub fn mistakes(mistakes: &[Mistake]) -> Reply {
    let errors = mistakes.iter().map(|mistake| {
        let Mistake { title, detail, hint } = mistake;
        WebhookError { status: 400, title, detail, hint: hint.as_deref() }
    });
    webhook_errors(&errors.collect::<Vec<_>>())
}

/// The response to a post that is refused for one reason.
pub fn refused(status: StatusCode, title: &'static str, detail: String) -> Reply {
    webhook_errors(&[WebhookError { status: status.as_u16(), title, detail: &detail, hint: None }])
}

/// The response to a valid deploy, with how it was changed.
pub fn outcome(outcome: &Outcome, mut notes: Vec<String>) -> Reply {
    notes.extend(outcome.note());
    accepted(outcome.result(), outcome.message(), &notes)
}

/// The response to what was recorded.
pub fn accepted(result: &'static str, message: Option<String>, notes: &[String]) -> Reply {
    #[derive(Serialize)]
    struct Recorded<'a> {
        result: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        notes: &'a [String],
    }
    json(StatusCode::ACCEPTED, &Recorded { result, message, notes })
}
