//! The responses of SCIM (RFC 7644, section 3).

use hyper::StatusCode;
use hyper::header::{self, HeaderValue};

use super::{Reply, with_body};
use crate::scim::Answer;

/// A resource, a list of resources, an error, or nothing.
pub fn scim(answer: Answer) -> Reply {
    let Answer { status, body, location } = answer;
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut reply = match body {
        Some(body) => with_body(status, HeaderValue::from_static("application/scim+json"), body.to_string()),
        None => {
            let mut reply = Reply::default();
            *reply.status_mut() = status;
            reply
        }
    };
    if let Some(location) = location.and_then(|location| HeaderValue::from_str(&location).ok()) {
        reply.headers_mut().insert(header::LOCATION, location);
    }
    reply
}
