//! The application's pages: turns a request into a visit, and the page's answer into a reply.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use hyper::header::{self, HeaderMap};
use hyper::http::uri::{Authority, PathAndQuery};
use hyper::{Method, Uri, Version};
use tokio::time::{Instant, timeout};

use super::download::Download;
use super::no_endpoint;
use crate::app::visit::{Done, Trail};
use crate::app::{
    self, Answer, Fault, Fields, File, Method as Does, Session, Site, Visit, Visitor, cookie, sign_in, visit,
};
use crate::budget::{Excess, Limits};
use crate::db::Db;
use crate::entity::key::Key as SessionKey;
use crate::entity::user::Role;
use crate::entity::{Timestamp, session};
use crate::http::auth::LastUse;
use crate::http::charset::ContentType;
use crate::http::coding::Packer;
use crate::http::limits::Key;
use crate::http::outbox::{FULL, Outbox};
use crate::http::reply::{self, Rejection, Reply, Surface};
use crate::http::streamed::{Chunks, Cut};
use crate::http::upload::Upload;
use crate::http::{App, Call, body};
use crate::log;
use crate::shares::{Bounds, Shares};

/// The most files that a session downloads at once.
pub const DOWNLOADS: usize = 2;
/// The most files that are downloaded at once, by all sessions together.
pub const ALL_DOWNLOADS: usize = 64;

/// The header with which the script asks for a part of a page, by its id.
const PART: &str = "x-part";

/// Said when a session begins one file too many.
const DOWNLOADING: &str = "Too many files are being downloaded. Try again when one of them has ended.";

/// Counts the files that are downloaded, by session.
pub fn downloads() -> Arc<Shares<Key>> {
    Shares::new(Bounds { most: ALL_DOWNLOADS, share: DOWNLOADS, waiting: 0, waiting_share: 0 })
}

/// Finds the session, reads the form if there is one, and calls the page. Does not read a stranger's form unless its
/// path needs no session.
pub async fn answer(app: &App, call: &mut Call, body: Option<&mut Upload>) -> Result<Reply, Rejection> {
    let (session, waiting) = signed_in(app, call).await?;
    let (parts, uri, site) = (&call.parts, &call.parts.uri, app.site(call));
    let method = if parts.method == Method::POST { Does::Post } else { Does::Get };
    if method == Does::Post {
        if session.is_none() && is_mistyped_webhook(call) {
            return Ok(no_endpoint("webhook"));
        }
        check_is_from_here(app, call)?;
        body::check_is_form(&parts.headers)?;
    }
    let user_agent = parts.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let mut query = Fields::parse(uri.query().unwrap_or_default().as_bytes());
    let mut visit = Visit {
        method,
        path: visit::parts(uri.path()),
        done: Done::take(&mut query),
        trail: Trail::take(&mut query),
        waiting,
        query,
        form: Fields::default(),
        session,
        attempt: cookie::read_attempt(cookies(&parts.headers), site.is_secure()),
        client: call.network(),
        user_agent: user_agent.map(str::to_owned),
        request_id: call.id.clone(),
        reads: Default::default(),
        part: parts.headers.get(PART).and_then(|part| part.to_str().ok()).map(str::to_owned),
    };
    let longest = if method == Does::Post { site.max_form_size(&visit).await } else { Ok(None) };
    let answer = match longest {
        Ok(longest) => {
            if let (Some(longest), Some(body)) = (longest, body) {
                let form = app.bodies.read(body, call.owner, longest, app.edge.body_timeout).await?;
                visit.form = Fields::parse(&form);
            }
            in_time(site, app.catalogue.settings().budget, &visit).await
        }
        Err(fault) => Err(fault),
    };
    if let (Err(Fault::Forbidden(_) | Fault::NotOwn(_)), Some(session)) = (&answer, &visit.session) {
        app.site.refusals.note(session.caller().actor, "forbidden", &format!("{} {}", parts.method, uri.path())).await;
    }
    match answer {
        Ok(Answer::Page(page)) => Ok(reply::page(page)),
        Ok(Answer::Redirect { to, cookies }) => Ok(reply::redirect(&visit.noted(to), &cookies)),
        Ok(Answer::File(file)) => saved(app, call, &visit, *file),
        Ok(Answer::Asset(asset)) => Ok(reply::asset(asset)),
        Err(Fault::SignInFirst) => Ok(reply::redirect(&sign_in::path(wanted(&visit, uri)), &[])),
        Err(Fault::NotFound) => Ok(refused(&visit, 404, "This page does not exist, or no longer exists.")),
        Err(Fault::UnknownAlias(noun, alias)) => Ok(reply::page(app::unknown_alias(site, &visit, noun, &alias).await)),
        Err(Fault::Forbidden(role)) => Ok(reply::page(app::lacking_role(site, &visit, lacking(&visit, role)).await)),
        Err(Fault::NotOwn(why)) => Ok(reply::page(app::not_own(&visit, &why))),
        Err(Fault::NoSuchPage) => Ok(reply::page(app::no_such_page(&visit))),
        Err(Fault::BadRequest(reason)) => Ok(refused(&visit, 400, &reason)),
        Err(Fault::TooMuch(reason)) => Ok(refused(&visit, 503, &reason)),
        Err(Fault::Busy(reason)) => Err(Rejection::Unavailable(reason)),
        Err(Fault::Internal(cause)) => Err(Rejection::Internal(cause)),
    }
}

/// Who is signed in, with the number of open suggestions. Error pages have their navigation from now on, and the request is
/// charged to the session.
async fn signed_in(app: &App, call: &mut Call) -> Result<(Option<Session>, usize), Rejection> {
    let Some(session) = session(app, call).await? else { return Ok((None, 0)) };
    let waiting = app.site(call).waiting().await;
    call.owner = Key::Session(session.row.id);
    call.visitor = Some(Box::new(Visitor { session: session.clone(), waiting }));
    Ok((Some(session), waiting))
}

/// Answers an address that is nobody's. Whoever is signed in and looks for a page keeps the navigation.
pub async fn unknown(app: &App, call: &mut Call) -> Result<Reply, Rejection> {
    let reads = call.parts.method == Method::GET || call.parts.method == Method::HEAD;
    if reads
        && matches!(call.surface(), Surface::Page)
        && let Ok(Some(session)) = session(app, call).await
    {
        let waiting = app.site(call).waiting().await;
        call.visitor = Some(Box::new(Visitor { session, waiting }));
    }
    Err(Rejection::NotFound)
}

/// Answers a file, unless its reader downloads as many as may be already.
fn saved(app: &App, call: &Call, visit: &Visit, file: File) -> Result<Reply, Rejection> {
    let hold = app.downloads.take_now(call.owner, 1).ok_or(Rejection::Unavailable(DOWNLOADING))?;
    let (name, shows_cuts) = (file.name, call.parts.version >= Version::HTTP_11);
    // The last row of a body that is cut off is added to what is sent. It could not be read there behind a part that is not.
    let packer = if shows_cuts { Packer::asked_for(&call.parts.headers) } else { None };
    let is_packed = packer.is_some();
    let download = Download::begin(file, hold, call.id.clone(), call.parts.method != Method::HEAD);
    let mut reply = reply::saved(name, chunks(app, call, visit, (Sending { download, packer }, shows_cuts)));
    Packer::declare(is_packed, reply.headers_mut());
    Ok(reply)
}

/// A file that is being sent.
struct Sending {
    download: Download,
    packer: Option<Packer>,
}

impl Sending {
    /// A part of the file as a chunk.
    fn chunk(&mut self, part: Result<String, Fault>) -> Result<Bytes, Cut> {
        let part = part.map_err(|fault| Cut(format!("{fault:?}")))?;
        match &mut self.packer {
            Some(packer) => packer.pack(part.as_bytes()).map(Bytes::from).map_err(|error| Cut(error.to_string())),
            None => Ok(part.into()),
        }
    }

    /// What comes after the last part, if anything does.
    fn end(self) -> Option<Result<Bytes, Cut>> {
        let end = self.packer?.end();
        Some(end.map(Bytes::from).map_err(|error| Cut(error.to_string())))
    }
}

/// A file as a body that is written while it is sent. A chunk is counted, like any large response, until it is sent. A fault
/// after the first chunk cuts the body off, so that nobody takes it for whole. Before HTTP/1.1 a body that is cut off looks
/// like a whole one, so its last row says so.
fn chunks(app: &App, call: &Call, visit: &Visit, (begun, shows_cuts): (Sending, bool)) -> Chunks {
    let (outbox, owner, id) = (app.outbox.clone(), call.owner, call.id.clone());
    let patience = app.catalogue.settings().budget.time;
    let reader = Arc::new(Reader::new(app, call, visit));
    let next = move |begun: Option<Sending>| {
        let (outbox, id, reader) = (outbox.clone(), id.clone(), Arc::clone(&reader));
        async move {
            let mut sending = begun?;
            sending.download.asked();
            let written = log::within(id, None, async {
                match reader.check().await {
                    Ok(()) => sending.download.next().await,
                    Err(fault) => Some(Err(fault)),
                }
            });
            let Some(part) = written.await else { return sending.end().map(|end| (end, None)) };
            let chunk = match sending.chunk(part) {
                Ok(chunk) if Outbox::counts(&chunk) => {
                    let counted = outbox.count(chunk, owner, Instant::now() + patience).await;
                    counted.ok_or_else(|| Cut(FULL.to_owned()))
                }
                chunk => chunk,
            };
            if let Err(Cut(cause)) = &chunk {
                sending.download.cut(cause);
                if !shows_cuts {
                    return Some((Ok(Bytes::from(sending.download.broken_off())), None));
                }
            }
            let rest = chunk.is_ok().then_some(sending);
            Some((chunk, rest))
        }
    };
    Box::pin(stream::unfold(Some(begun), next))
}

/// Who reads a file while it is written.
struct Reader {
    db: Db,
    key: Option<SessionKey>,
    /// The role when the file was begun.
    role: Option<Role>,
}

impl Reader {
    fn new(app: &App, call: &Call, visit: &Visit) -> Self {
        let key = cookie::read(cookies(&call.parts.headers), app.site(call).is_secure());
        Self { db: app.reserved.clone(), key, role: visit.session.as_ref().map(|session| session.user.role) }
    }

    /// Refuses to go on for a person who has signed out since the file was begun, or has a lower role.
    async fn check(&self) -> Result<(), Fault> {
        let (Some(key), Some(role)) = (&self.key, self.role) else { return Ok(()) };
        match session::by_key(self.db.read(), key, Timestamp::now()).await? {
            Some((_, user)) if user.role >= role => Ok(()),
            Some(_) => Err(Fault::Forbidden(role)),
            None => Err(Fault::SignInFirst),
        }
    }
}

/// Whether a program seems to post to a webhook whose URL is wrong: no form is JSON.
fn is_mistyped_webhook(call: &Call) -> bool {
    visit::parts(call.parts.uri.path()).first().is_some_and(|first| first == "integrations")
        && ContentType::from_headers(&call.parts.headers).is_json()
}

/// Renders the page within the time limit of a query. A form's changes are never cancelled.
async fn in_time(site: &Site, limits: Limits, visit: &Visit) -> Result<Answer, Fault> {
    let answer = site.answer(visit);
    match visit.method {
        Does::Get => {
            let ended = |_| Err(Fault::TooMuch(Excess::Time.sentence(&limits)));
            timeout(limits.time, answer).await.unwrap_or_else(ended)
        }
        Does::Post => answer.await,
    }
}

/// The session of the request's cookie.
pub async fn session(app: &App, call: &Call) -> Result<Option<Session>, Rejection> {
    let key = cookie::read(cookies(&call.parts.headers), app.site(call).is_secure());
    let Some(key) = key else { return Ok(None) };
    let now = Timestamp::now();
    let found = session::by_key(app.reserved.read(), &key, now).await;
    let found = found.map_err(|error| Rejection::of_database(&error))?;
    let Some((row, user)) = found else { return Ok(None) };
    if row.is_use_worth_noting(now) {
        app.tokens.last_uses.note(LastUse::Session(row.id), now);
    }
    Ok(Some(Session::new(row, user, app.catalogue.settings().owner_only_writes)))
}

/// What a visitor lacks who may not do what this role may.
fn lacking(visit: &Visit, role: Role) -> &'static str {
    match &visit.session {
        _ if role == Role::Admin => "Only administrators can do this.",
        _ if role == Role::StandardsAdmin => {
            "Levels, categories, checks and campaigns are changed by standards administrators and administrators. An \
             administrator can give you that role."
        }
        Some(session) if session.is_held_to_own => {
            "This server lets members change only their own teams and what those own. An administrator can do this."
        }
        Some(session) if session.user.role == Role::TeamMember => {
            "You can change your own teams and what they own. An administrator can make you a member on the Users page."
        }
        _ => "You have read-only access. An administrator can make you a member on the Users page.",
    }
}

fn refused(visit: &Visit, status: u16, why: &str) -> Reply {
    reply::page(app::refusal(visit, status, why))
}

/// The page to return to after signing in.
fn wanted<'a>(visit: &Visit, uri: &'a Uri) -> Option<&'a str> {
    let path = uri.path_and_query().map(PathAndQuery::as_str);
    path.filter(|path| visit.method == Does::Get && *path != "/")
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok())
}

/// Refuses cross-site requests. Browsers state the origin of a request in one of two headers that pages cannot forge. A
/// client that sends neither is not a current browser, and must not use a cookie.
pub fn check_is_from_here(app: &App, call: &Call) -> Result<(), Rejection> {
    let headers = &call.parts.headers;
    let refused =
        Err(Rejection::Forbidden("This request comes from another site, or does not say where it comes from."));
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    match (text("sec-fetch-site"), text("origin")) {
        (Some("same-origin"), _) => Ok(()),
        (Some(_), _) | (None, None) => refused,
        (None, Some(origin)) => {
            // A proxy that names the origin may have changed the host.
            if call.here.is_some() && origin.eq_ignore_ascii_case(&app.catalogue(call).settings().app_url) {
                return Ok(());
            }
            let host = text("host").or(call.parts.uri.authority().map(Authority::as_str));
            let from = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            match (from, host) {
                (Some(from), Some(host)) if from.eq_ignore_ascii_case(host) => Ok(()),
                _ => refused,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_downloads_some_files_at_once() {
        let downloads = downloads();
        let (own, other) = (Key::Session(1), Key::Session(2));
        let held: Vec<_> = (0..DOWNLOADS).map_while(|_| downloads.take_now(own, 1)).collect();
        assert_eq!(held.len(), DOWNLOADS);
        assert!(downloads.take_now(own, 1).is_none(), "one too many");
        assert!(downloads.take_now(other, 1).is_some());
        drop(held);
        assert!(downloads.take_now(own, 1).is_some(), "they have ended");
    }
}
