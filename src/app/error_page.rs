//! The pages that say why there is no other.

use maud::html;

use super::layout::{bare, layout};
use super::parts::link;
use super::{Fields, Page, PagePolicy, Visit};

/// The error page. With `visit`, it includes the visitor's navigation.
pub fn refusal(visit: Option<&Visit>, status: u16, message: &str) -> Page {
    let title = match status {
        403 => "Not allowed",
        404 => "Not found",
        500.. => "Something went wrong",
        _ => "We couldn't do that",
    };
    let main = html! {
        p { (message) }
        p { a href="/" { "Home" } }
    };
    let document = match visit {
        Some(visit) => layout(visit, title, main),
        None => bare(title, main),
    };
    Page { status, html: document.into_string(), policy: PagePolicy::Plain }
}

/// The error page for an alias that nothing of its kind has. Suggests to search for it.
pub fn unknown_alias(visit: &Visit, noun: &str, alias: &str) -> Page {
    let main = html! {
        p { "No " (noun) " has the alias " bdi { (alias) } "." }
        p { a href=(link("/search", &Fields::one("q", alias).query())) { "Search for " (alias) } }
    };
    Page { status: 404, html: layout(visit, "Not found", main).into_string(), policy: PagePolicy::Plain }
}
