//! `GET /feeds/<token>/deploys.atom` and `…/changes.atom`: feeds for feed readers.
//!
//! The token is a secret, like that of a deploy endpoint: no line of the log, no span and no answer has it.

use std::time::Duration;

use crate::app::feeds::FeedKind;
use crate::app::{Fault, Fields};
use crate::entity::key::Key;
use crate::entity::{Timestamp, feed};
use crate::error::quoted;
use crate::http::auth::LastUse;
use crate::http::limits;
use crate::http::reply::{self, Rejection, Reply};
use crate::http::{App, Call};

/// How long a feed reader may keep a feed.
pub const AGE: Duration = Duration::from_secs(60);

/// Finds the feed of the token, counts the request, and writes the feed.
pub async fn answer(app: &App, call: &mut Call) -> Result<Reply, Rejection> {
    let (key, kind) = wanted(call.parts.uri.path()).ok_or(Rejection::NotFound)?;
    let found = feed::by_key(app.reserved.read(), &key).await;
    let found = found.map_err(|error| Rejection::of_database(&error))?;
    let feed = found.ok_or(Rejection::NotFound)?;
    app.count(call, limits::Key::Feed(feed.id), None).await?;
    let now = Timestamp::now();
    if feed.is_use_worth_noting(now) {
        app.tokens.last_uses.note(LastUse::Feed(feed.id), now);
    }
    let query = Fields::parse(call.parts.uri.query().unwrap_or_default().as_bytes());
    let written = app.site(call).feed(&feed, kind, &query).await;
    written.map(|document| reply::feed(document, AGE)).map_err(refused)
}

/// The token in a path, and what the feed is to tell.
fn wanted(path: &str) -> Option<(Key, FeedKind)> {
    let (key, file) = path.strip_prefix(feed::PATH)?.split_once('/')?;
    Some((Key::read(key)?, FeedKind::of_file(file)?))
}

fn refused(fault: Fault) -> Rejection {
    match fault {
        Fault::NotFound | Fault::NoSuchPage | Fault::SignInFirst => Rejection::NotFound,
        Fault::Forbidden(_) | Fault::NotOwn(_) => Rejection::NotFound,
        Fault::UnknownAlias(noun, alias) => Rejection::Absent(format!("No {noun} has the alias {}.", quoted(&alias))),
        Fault::BadRequest(reason) => Rejection::BadRequest(reason),
        Fault::TooMuch(_) => Rejection::Unavailable("The feed took too long to read. Ask again later."),
        Fault::Busy(reason) => Rejection::Unavailable(reason),
        Fault::Internal(cause) => Rejection::Internal(cause),
    }
}
