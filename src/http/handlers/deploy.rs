//! `POST /integrations/deploy/<webhook_id>`: the deploy webhook.
//!
//! The last part of the path is the secret, so whoever does not have it learns nothing: not whether there ever was such
//! an endpoint, and not what its posts look like.

use hyper::body::Incoming;
use tracing::warn;

use crate::deploy::{Failure, Outcome, Post, Record};
use crate::entity::Timestamp;
use crate::entity::delivery;
use crate::entity::integration::{self, WEBHOOKS};
use crate::http::reply::{self, Rejection, Reply};
use crate::http::{App, Call, body};

/// Finds the endpoint, reads, checks and records.
pub async fn answer(app: &App, call: &Call, body: &mut Incoming) -> Result<Reply, Rejection> {
    let webhook_id = call.parts.uri.path().strip_prefix(WEBHOOKS).unwrap_or_default();
    let endpoint = integration::by_webhook(app.db.read(), webhook_id).await;
    let endpoint = endpoint.map_err(|error| rejection(error.into()))?.ok_or(Rejection::NotFound)?;
    let answer = take(app, call, body, &endpoint).await;
    let reply = match answer {
        Ok(Taken::Recorded(reply)) => return Ok(reply),
        Ok(Taken::Otherwise(reply)) => reply,
        Err(rejection) if rejection.is_the_callers() => reply::rejection(call, &rejection),
        Err(rejection) => return Err(rejection),
    };
    let (status, text) = (reply.status().as_u16(), String::from_utf8_lossy(reply.body()));
    let noted = app.db.write(async |db| delivery::note(db, endpoint.id, status, &text, Timestamp::now()).await).await;
    if let Err(error) = noted {
        warn!(endpoint = endpoint.id, %error, "an answer to a delivery cannot be noted");
    }
    Ok(reply)
}

/// What became of a post.
enum Taken {
    /// It is a deploy now, which tells of itself.
    Recorded(Reply),
    /// It is not; the endpoint's page shows why.
    Otherwise(Reply),
}

async fn take(app: &App, call: &Call, body: &mut Incoming, endpoint: &integration::Model) -> Result<Taken, Rejection> {
    body::check_is_json(&call.parts.headers)?;
    let body = body::read(body, app.edge.max_webhook_body, app.edge.body_timeout).await?;
    let record = match Record::read(&body) {
        Ok(record) => record,
        Err(mistakes) => return Ok(Taken::Otherwise(reply::mistakes(&mistakes))),
    };
    match app.deploys.record(Post { integration_id: endpoint.id, record }).await {
        Ok(outcome @ Outcome::Duplicate) => Ok(Taken::Otherwise(reply::outcome(&outcome))),
        Ok(outcome) => Ok(Taken::Recorded(reply::outcome(&outcome))),
        Err(failure) => Err(rejection(failure)),
    }
}

fn rejection(failure: Failure) -> Rejection {
    match failure {
        Failure::EndpointGone => Rejection::NotFound,
        Failure::Unavailable(reason) => Rejection::Unavailable(reason),
        Failure::Internal(cause) => Rejection::Internal(cause),
    }
}
