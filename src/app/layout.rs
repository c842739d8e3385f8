//! The frame of every page: head, navigation and main part.

use maud::{DOCTYPE, Markup, html};

use super::assets::{ICON, SCRIPT, STYLE};
use super::visit::{Session, Visit};
use crate::entity::user::Role;

/// The navigation: label, first path segment, and the minimum role that sees it.
const PARTS: &[(&str, &str, Role)] = &[
    ("Services", "services", Role::Viewer),
    ("Systems", "systems", Role::Viewer),
    ("Teams", "teams", Role::Viewer),
    ("Repositories", "repositories", Role::Viewer),
    ("Infrastructure", "infrastructure", Role::Viewer),
    ("Definitions", "definitions", Role::Viewer),
    ("Suggestions", "suggestions", Role::Viewer),
    ("Integrations", "integrations", Role::Viewer),
    ("Explorer", "explorer", Role::Viewer),
    ("Reference", "reference", Role::Viewer),
    ("Tokens", "tokens", Role::Admin),
    ("Users", "users", Role::Admin),
    ("Audit", "audit", Role::Admin),
];

/// Builds a page with `main` in the common frame. `title` becomes the page's heading, so `main` begins below it.
pub fn layout(visit: &Visit, title: &str, main: Markup) -> Markup {
    frame(visit.session.as_ref(), visit.path.first().map_or("", String::as_str), title, main)
}

/// Builds a page without a visit, as for a visitor who is not signed in.
pub fn bare(title: &str, main: Markup) -> Markup {
    frame(None, "", title, main)
}

fn frame(session: Option<&Session>, here: &str, title: &str, main: Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · rollcall" }
                link rel="icon" type="image/svg+xml" href=(ICON.path());
                link rel="stylesheet" href=(STYLE.path());
                script defer src=(SCRIPT.path()) {}
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    a.brand href="/" { "rollcall" }
                    @if let Some(session) = session {
                        nav aria-label="Main" {
                            ul {
                                @for (name, part, role) in PARTS {
                                    @if session.user.role >= *role {
                                        li {
                                            a href={ "/" (part) } aria-current=[(here == *part).then_some("page")] { (name) }
                                        }
                                    }
                                }
                            }
                        }
                        a.find href="/search" aria-keyshortcuts="/ Control+K" aria-current=[(here == "search").then_some("page")] {
                            "Search " kbd { "/" }
                        }
                        div.who {
                            a href="/account" aria-current=[(here == "account").then_some("page")] {
                                (session.user.name)
                            }
                            form method="post" action="/sign-out" { button.quiet { "Sign out" } }
                        }
                    }
                }
                main #main tabindex="-1" {
                    h1 { (title) }
                    (main)
                }
            }
        }
    }
}
