//! `POST /integrations/deploy/<webhook_id>`: the deploy webhook.
//!
//! The last path segment is a secret. A caller without it learns nothing: neither whether such an endpoint ever
//! existed, nor what a valid post looks like.

use hyper::body::Incoming;

use super::no_endpoint;
use crate::deploy::{Failure, Outcome, Post, Record};
use crate::entity::integration::{self, Kind, WEBHOOKS};
use crate::http::metrics::Deploy;
use crate::http::reply::{self, Rejection, Reply};
use crate::http::{App, Call, body};
use crate::spans;

/// Finds the endpoint; reads, validates and records the deploy. Refused posts are recorded too, for those who set up
/// the pipeline.
pub async fn answer(app: &App, call: &Call, body: &mut Incoming) -> Result<Reply, Rejection> {
    let webhook_id = call.parts.uri.path().strip_prefix(WEBHOOKS).unwrap_or_default();
    let endpoint = integration::by_webhook(app.reserved.read(), webhook_id).await;
    let endpoint = endpoint.map_err(|error| Rejection::of_database(&error))?;
    let Some(endpoint) = endpoint.filter(|endpoint| endpoint.kind == Kind::Deploy) else {
        return Ok(no_endpoint("deploy endpoint"));
    };
    let outcome = record(app, call, body, endpoint.id).await;
    app.metrics.deploy(match &outcome {
        Ok(Ok(outcome)) => Deploy::Taken(outcome),
        Err(Rejection::Internal(_) | Rejection::Unavailable(_)) => Deploy::Failed,
        Ok(Err(_)) | Err(_) => Deploy::Refused,
    });
    let reply = match outcome {
        Ok(Ok(Outcome::Duplicate)) => reply::outcome(&Outcome::Duplicate),
        Ok(Ok(outcome)) => return Ok(reply::outcome(&outcome)),
        Ok(Err(refused)) => refused,
        Err(rejection) if rejection.is_the_callers() => reply::rejection(call, &rejection),
        Err(rejection) => return Err(rejection),
    };
    app.deliveries.note(endpoint.id, reply.status().as_u16(), reply.body());
    Ok(reply)
}

/// Records a post, or returns the reply that says what is wrong with it.
async fn record(
    app: &App,
    call: &Call,
    body: &mut Incoming,
    endpoint: i64,
) -> Result<Result<Outcome, Reply>, Rejection> {
    body::check_is_json(&call.parts.headers)?;
    let body = app.bodies.read(body, call.owner, app.edge.max_webhook_body, app.edge.body_timeout).await?;
    match Record::read(&body) {
        Ok(record) => {
            let post = Post { integration_id: endpoint, record };
            let span = spans::deploy();
            let recorded = span.around(app.deploys.record(post)).await;
            match &recorded {
                Ok(outcome) => span.set("rollcall.deploy.result", outcome.result()),
                Err(_) => span.fail("failed"),
            }
            match recorded {
                Ok(outcome) => Ok(Ok(outcome)),
                Err(Failure::EndpointGone) => Ok(Err(no_endpoint("deploy endpoint"))),
                Err(Failure::Unavailable(reason)) => Err(Rejection::Unavailable(reason)),
                Err(Failure::Internal(cause)) => Err(Rejection::Internal(cause)),
            }
        }
        Err(mistakes) => Ok(Err(reply::mistakes(&mistakes))),
    }
}
