//! A request as the pages see it: parsed, and independent of HTTP.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use percent_encoding::percent_decode_str;

use super::Fault;
use super::attempt::Attempt;
pub use super::fields::Fields;
use super::fields::printable;
pub use super::trail::Trail;
pub use catalogue::entity::pages::path;
use catalogue::entity::user::Role;
use catalogue::entity::{session, user};
use catalogue::graphql::request::caller::Caller;

/// A request for a page.
#[derive(Debug, Clone)]
pub struct Visit {
    /// What to do.
    pub method: Method,
    /// The path segments, decoded. `/` has one empty segment.
    pub path: Vec<String>,
    /// The query parameters, without the note about a form and without the trail.
    pub query: Fields,
    /// The pages before this one, if it is a page of a list.
    pub trail: Trail,
    /// What the form did that led to this page.
    pub done: Option<Done>,
    /// The number of open suggestions, for the navigation.
    pub waiting: usize,
    /// The form fields.
    pub form: Fields,
    /// The session, if the visitor is signed in.
    pub session: Option<Session>,
    /// The sign-in in progress at the OpenID provider.
    pub attempt: Option<Attempt>,
    /// The client's address, or the first address of its IPv6 /64 network.
    pub client: IpAddr,
    /// The `User-Agent` header.
    pub user_agent: Option<String>,
    /// The request id, in responses and in the log.
    pub request_id: String,
    /// Whether its page reads from the database at the moment.
    pub reads: Reads,
    /// The id of the only part of the page that is wanted, if the script asks for one.
    pub part: Option<String>,
}

/// Whether a page reads from the database.
#[derive(Debug, Clone, Default)]
pub struct Reads(Arc<AtomicBool>);

impl Reads {
    /// Whether it does.
    pub fn are_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Begins to, until the guard is dropped. `None` if it does already.
    pub fn begin(&self) -> Option<Begun> {
        (!self.0.swap(true, Ordering::Relaxed)).then(|| Begun(self.clone()))
    }
}

/// A page reads until this is dropped.
#[derive(Debug)]
pub struct Begun(Reads);

impl Drop for Begun {
    fn drop(&mut self) {
        self.0.0.store(false, Ordering::Relaxed);
    }
}

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Show the page.
    Get,
    /// Handle a form.
    Post,
}

/// The query parameter that tells a page what the form before it did.
const DONE: &str = "done";

/// The query parameters of pages that say in their own words what the form before them did.
const SAYS_ITSELF: [&str; 3] = ["accepted", "ignored", "made"];

/// What a form did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// It created or changed something.
    Saved,
    /// It deleted something.
    Deleted,
    /// It gave an integration a new URL.
    Moved,
    /// It sends a test to a receiver of events.
    Tested,
    /// It sends again what a receiver of events did not take.
    Resent,
}

impl Done {
    const ALL: [Self; 5] = [Self::Saved, Self::Deleted, Self::Moved, Self::Tested, Self::Resent];

    /// What a form at this path does.
    fn at(path: &[String]) -> Self {
        let (first, last) = (path.first().map_or("", String::as_str), path.last().map_or("", String::as_str));
        match (first, last) {
            (_, last) if last == "delete" || last.ends_with("-delete") => Self::Deleted,
            ("integrations", "rotate") => Self::Moved,
            ("events", "test") => Self::Tested,
            ("events", "resend") => Self::Resent,
            _ => Self::Saved,
        }
    }

    /// Takes the note out of a page's query.
    pub fn take(query: &mut Fields) -> Option<Self> {
        let word = query.get(DONE).to_owned();
        *query = query.without(DONE);
        Self::ALL.into_iter().find(|done| done.word() == word)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Saved => "saved",
            Self::Deleted => "deleted",
            Self::Moved => "moved",
            Self::Tested => "tested",
            Self::Resent => "resent",
        }
    }

    /// The note, as the page shows it.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Saved => "Saved.",
            Self::Deleted => "Deleted.",
            Self::Moved => {
                "It has a new URL, which is below. The old one no longer works: put the new one into whatever posts to it."
            }
            Self::Tested => "A test is being sent. Reload this page to see what came back.",
            Self::Resent => "What failed is being sent again. Reload this page to see what came back.",
        }
    }
}

impl Visit {
    /// Whether only the part of the page with this id is wanted. A page may answer more.
    pub fn is_about(&self, part: &str) -> bool {
        self.part.as_deref() == Some(part)
    }

    /// Adds a note to the address of the page that follows a form. Signing in and out needs none, nor does a page that says
    /// itself what was done.
    pub fn noted(&self, to: String) -> String {
        let first = self.path.first().map_or("", String::as_str);
        let is_form = self.method == Method::Post && self.session.is_some();
        let query = to.split_once('?').map_or("", |(_, query)| query);
        let says_itself = |field: &str| field.split_once('=').is_some_and(|(name, _)| SAYS_ITSELF.contains(&name));
        if !is_form || !to.starts_with('/') || first.starts_with("sign-") || query.split('&').any(says_itself) {
            return to;
        }
        let (address, fragment) = to.split_at(to.find('#').unwrap_or(to.len()));
        let joint = if address.contains('?') { '&' } else { '?' };
        format!("{address}{joint}{DONE}={}{fragment}", Done::at(&self.path).word())
    }
}

/// A session and its user.
#[derive(Debug, Clone)]
pub struct Session {
    /// The session.
    pub row: session::Model,
    /// The user, with the role that counts here: see [`Session::new`].
    pub user: user::Model,
    /// Whether the user is a member whom the server lets change only what their teams own.
    pub is_held_to_own: bool,
}

impl Session {
    /// A session and its user. With owner-only writes, a member may do what a team member may, and nothing else: in every
    /// page and in the API.
    pub fn new(row: session::Model, user: user::Model, owner_only_writes: bool) -> Self {
        let is_held_to_own = owner_only_writes && user.role == Role::User;
        let role = if is_held_to_own { Role::TeamMember } else { user.role };
        Self { row, user: user::Model { role, ..user }, is_held_to_own }
    }

    /// The caller that the API sees.
    pub fn caller(&self) -> Caller {
        Caller { is_held_to_own: self.is_held_to_own, ..Caller::session(&self.row, &self.user) }
    }

    /// Refuses users with less than `role`.
    pub fn require(&self, role: Role) -> Result<(), Fault> {
        if self.user.role >= role { Ok(()) } else { Err(Fault::Forbidden(role)) }
    }
}

/// The segments of a path, decoded. One that is not valid UTF-8 matches no page.
pub fn parts(path: &str) -> Vec<String> {
    let path = path.strip_prefix('/').unwrap_or(path);
    path.split('/').map(|part| printable(&percent_decode_str(part).decode_utf8_lossy())).collect()
}
