//! The pages that say why there is no other, and what to do instead. People who are signed in keep their navigation.

use maud::{Markup, html};

use super::ask::ask;
use super::form::{Mistakes, Text};
use super::layout::{bare, layout};
use super::operations::Search;
use super::parts::link;
use super::visit::path;
use super::{Fields, Method, Page, PagePolicy, Session, Site, Visit, search};
use catalogue::entity::user;

/// The most names that a page proposes in the place of one that nothing has.
const NEAREST: usize = 3;

/// The most administrators that a refusal names.
pub const ADMINISTRATORS: u64 = 3;

/// The error page of a visit.
pub fn refusal(visit: &Visit, status: u16, message: &str) -> Page {
    let main = explained(visit.session.is_some(), status, message);
    shown(status, layout(visit, title(status), main))
}

/// Who is signed in, and what the navigation of their pages says.
pub struct Visitor {
    /// The session.
    pub session: Session,
    /// The number of open suggestions.
    pub waiting: usize,
}

/// The error page of a request that is no visit, with the navigation of whoever is signed in. `again` is the address of a
/// page that can be asked for again.
pub fn rejection(visitor: Option<&Visitor>, status: u16, message: &str, again: Option<&str>) -> Page {
    // Nobody is known to be signed in before a request is counted and has room: the session is read from the database.
    let main = html! {
        (explained(visitor.is_some(), status, message))
        @if let Some(again) = again.filter(|again| is_transient(status) && is_path(again)) {
            p { a href=(again) { "Try again" } }
        }
    };
    let navigation = visitor.map(|visitor| (&visitor.session, visitor.waiting));
    shown(status, bare(navigation, title(status), main))
}

/// Whether the same request may succeed later.
fn is_transient(status: u16) -> bool {
    matches!(status, 429 | 500..)
}

/// Whether a browser takes the address for a path of this host. It takes `//` and `/\` for the beginning of another host.
fn is_path(address: &str) -> bool {
    address.strip_prefix('/').is_some_and(|rest| !rest.starts_with(['/', '\\']))
}

/// The error page for an alias that nothing of its kind has. Proposes the nearest names, and to search for it.
pub async fn unknown_alias(site: &Site, visit: &Visit, noun: &str, alias: &str) -> Page {
    let nearest = nearest(site, visit, alias).await;
    let main = html! {
        p { "No " (noun) " has the alias " bdi { (alias) } "." }
        @if !nearest.is_empty() {
            p { "Did you mean one of these?" }
            ul { @for (address, name) in &nearest { li { a href=(address) { (name) } } } }
        }
        p { a href=(link("/search", &Fields::one("q", alias).query())) { "Search for " (alias) } }
    };
    shown(404, layout(visit, title(404), main))
}

/// The addresses and names of what a search for the alias finds first. None if it cannot be searched for: the page is shown
/// without them.
async fn nearest(site: &Site, visit: &Visit, alias: &str) -> Vec<(String, String)> {
    let Ok(found) = ask(site, visit, Search { term: alias }).await else { return Vec::new() };
    let app_url = &site.catalogue.settings().app_url;
    let found = found.account.search;
    let with_pages = found.iter().filter_map(|one| Some((search::address(one, app_url)?.to_owned(), one.name.clone())));
    with_pages.take(NEAREST).collect()
}

/// The error page for whoever lacks a role. Names administrators, who can help: people who are signed in find their addresses
/// on the pages of users too.
pub async fn lacking_role(site: &Site, visit: &Visit, message: &str) -> Page {
    let named = administrators(site, visit).await;
    let main = html! {
        p { (message) }
        @if !named.is_empty() {
            p {
                "You can ask "
                @for (at, one) in named.iter().enumerate() {
                    @if at > 0 { @if at + 1 == named.len() { " or " } @else { ", " } }
                    a href={ "mailto:" (one.email) } { (one.name) }
                }
                "."
            }
        }
        (elsewhere(visit.session.is_some()))
    };
    shown(403, layout(visit, title(403), main))
}

/// The administrators to ask. None for a visitor who is not signed in, and none if they cannot be read in time: the page is
/// shown without them.
async fn administrators(site: &Site, visit: &Visit) -> Vec<user::Model> {
    let Ok(reading) = site.reading(visit).await else { return Vec::new() };
    let found = reading.optional(|db| user::administrators(db, ADMINISTRATORS)).await;
    found.ok().flatten().unwrap_or_default()
}

/// The error page for a page of a list that does not exist, such as one of another order. Leads to the first page.
pub fn no_such_page(visit: &Visit) -> Page {
    let first = (visit.method == Method::Get).then(|| {
        let here: String = visit.path.iter().map(|part| path([part.as_str()])).collect();
        link(&here, &visit.query.without("after").query())
    });
    let main = html! {
        p { "This page of the list is no longer there." }
        @if let Some(first) = first { p { a href=(first) { "First page of the list" } } }
        (elsewhere(visit.session.is_some()))
    };
    shown(400, layout(visit, "No such page", main))
}

/// The error page for what others own.
pub fn not_own(visit: &Visit, why: &Markup) -> Page {
    shown(403, layout(visit, title(403), html! { (why) (elsewhere(visit.session.is_some())) }))
}

fn shown(status: u16, document: Markup) -> Page {
    Page { status, html: document.into_string(), policy: PagePolicy::Plain }
}

fn title(status: u16) -> &'static str {
    match status {
        403 => "Not allowed",
        404 => "Not found",
        500.. => "Something went wrong",
        _ => "We couldn't do that",
    }
}

/// Why, and what to do.
fn explained(is_signed_in: bool, status: u16, message: &str) -> Markup {
    html! {
        p { (message) }
        @match status {
            404 if is_signed_in => {
                p { "Check the address, or search for what it was about." }
                (search_form())
            },
            _ if is_transient(status) => p { "Wait a moment and load the page again. If it does not help, tell your administrator." },
            400 | 413 | 415 | 422 => p { "Go back and change what you sent, or begin again." },
            _ => {},
        }
        (elsewhere(is_signed_in))
    }
}

fn elsewhere(is_signed_in: bool) -> Markup {
    html! {
        p {
            a href="/" { "Home" }
            @if is_signed_in { " · " a href="/services" { "Services" } " · " a href="/teams" { "Teams" } }
        }
    }
}

fn search_form() -> Markup {
    let field = Text { name: "q", label: "Name or alias", hint: "", kind: "search", required: false };
    html! {
        form.filters method="get" action="/search" role="search" {
            (field.show(&Fields::default(), &Mistakes::none()))
            button { "Search" }
        }
    }
}
