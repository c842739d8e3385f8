//! `POST /integrations/document/<webhook_id>/<alias>`, or `…/services/<alias>/openapi`: the webhook for API documents.
//!
//! The segment after `document` is a secret, like that of a deploy endpoint.

use hyper::StatusCode;
use percent_encoding::percent_decode_str;

use super::no_endpoint;
use crate::api_document::{self, Stored};
use crate::entity::integration::{self, DOCUMENTS, Kind};
use crate::entity::text;
use crate::error::quoted;
use crate::http::expand::Coding;
use crate::http::reply::{self, Rejection, Reply};
use crate::http::router::{below, webhook_id};
use crate::http::upload::Upload;
use crate::http::{App, Call};

/// Finds the endpoint and the service, and stores the document.
pub async fn answer(app: &App, call: &Call, body: &mut Upload) -> Result<Reply, Rejection> {
    let rest = below(call.parts.uri.path(), DOCUMENTS).unwrap_or_default();
    let (id, alias) = rest.split_once('/').unwrap_or((rest, ""));
    if alias.is_empty() && !id.is_empty() {
        let detail = "The alias of the service is missing: add it to the URL, after a slash.";
        return Ok(reply::refused(StatusCode::NOT_FOUND, "Not Found", detail.to_owned()));
    }
    let endpoint = integration::by_webhook(app.db.read(), &webhook_id(id)).await;
    let endpoint = endpoint.map_err(|error| Rejection::of_database(&error))?;
    let Some(endpoint) = endpoint.filter(|endpoint| endpoint.kind == Kind::ApiDoc) else {
        return Ok(no_endpoint("endpoint for API documents"));
    };
    let reply = match store(app, call, body, endpoint.id, alias).await {
        Ok(reply) => reply,
        Err(rejection) if rejection.is_the_callers() => reply::rejection(call, &rejection),
        Err(rejection) => return Err(rejection),
    };
    app.deliveries.note(endpoint.id, reply.status().as_u16(), reply.body());
    Ok(reply)
}

async fn store(app: &App, call: &Call, body: &mut Upload, endpoint: i64, alias: &str) -> Result<Reply, Rejection> {
    let refused = |title, detail| Ok(reply::refused(StatusCode::BAD_REQUEST, title, detail));
    let coding = Coding::from_headers(&call.parts.headers)?;
    let body = app.bodies.read_packed(body, coding, call.owner, app.edge.max_body, app.edge.body_timeout).await?;
    let Ok(path) = percent_decode_str(alias).decode_utf8() else {
        return refused("No such service", "The alias in the path is not UTF-8.".to_owned());
    };
    // The command line of existing clients posts here. An alias may hold slashes, so its ends are matched first.
    let within = path.strip_prefix("services/").and_then(|rest| rest.trim_end_matches('/').strip_suffix("/openapi"));
    let alias = within.unwrap_or(&path);
    let text = match api_document::text_of(&body) {
        Err(wrong) => return refused("Not a text", format!("The document {wrong}.")),
        Ok(text) if text::is_nothing(&text) => {
            return refused("No document", "The body is empty: post the document as it is.".to_owned());
        }
        Ok(text) => text,
    };
    let alias = text::trim(alias);
    // No alias contains NUL, and PostgreSQL cannot compare with it.
    let stored = match alias.contains('\0') {
        true => Ok(Stored::NoService),
        false => api_document::store(&app.db, endpoint, alias, text).await,
    };
    let stored = stored.map_err(|error| Rejection::of_database(&error))?;
    match stored {
        Stored::Created => Ok(reply::accepted("created", None, &[])),
        Stored::Replaced => Ok(reply::accepted("replaced", None, &[])),
        Stored::NoService => {
            let detail = format!("No service has the alias {}.", quoted(alias));
            Ok(reply::refused(StatusCode::NOT_FOUND, "No such service", detail))
        }
        Stored::EndpointGone => Ok(no_endpoint("endpoint for API documents")),
    }
}
