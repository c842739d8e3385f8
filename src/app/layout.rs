//! The frame of every page: the rail with the navigation, the page's head, and its main part.

use maud::{DOCTYPE, Markup, html};

use super::assets::{ICON, SCRIPT, STYLE};
use super::visit::{Done, Session, Visit};
use super::waiting::MOST;
use catalogue::entity::user::Role;

/// A link of the navigation: label, first path segment, and the minimum role that sees it.
type Link = (&'static str, &'static str, Role);

/// The groups of the navigation: name and links.
const GROUPS: &[(&str, &[Link])] = &[
    (
        "Catalogue",
        &[
            ("Home", "", Role::Viewer),
            ("Services", "services", Role::Viewer),
            ("Systems", "systems", Role::Viewer),
            ("Domains", "domains", Role::Viewer),
            ("Teams", "teams", Role::Viewer),
            ("Deploys", "deploys", Role::Viewer),
            ("Standards", "standards", Role::Viewer),
            ("Delivery", "delivery", Role::Viewer),
            ("Repositories", "repositories", Role::Viewer),
            ("Infrastructure", "infrastructure", Role::Viewer),
            ("Suggestions", "suggestions", Role::Viewer),
        ],
    ),
    (
        "Set up",
        &[
            ("Integrations", "integrations", Role::Viewer),
            ("Events", "events", Role::Viewer),
            ("Definitions", "definitions", Role::Viewer),
            ("Tokens", "tokens", Role::Admin),
            ("Users", "users", Role::Admin),
            ("Audit", "audit", Role::Admin),
        ],
    ),
    ("For programs", &[("Explorer", "explorer", Role::Viewer), ("Reference", "reference", Role::Viewer)]),
];

/// A part that no link of the navigation has. The empty one is the first page.
const NOWHERE: &str = "-";

/// What stands above the main part of a page.
pub struct Head<'h> {
    /// The page's heading.
    pub title: &'h str,
    /// Links to what the page's subject belongs to.
    pub crumbs: Markup,
    /// Chips beside the heading.
    pub chips: Markup,
    /// The buttons of the page.
    pub actions: Markup,
}

impl<'h> Head<'h> {
    /// A heading alone.
    pub fn new(title: &'h str) -> Self {
        let none = || html! {};
        Self { title, crumbs: none(), chips: none(), actions: none() }
    }

    /// A heading below a link to the page above.
    pub fn with_parent(title: &'h str, address: &str, name: &str) -> Self {
        Self { crumbs: html! { a href=(address) { (name) } }, ..Self::new(title) }
    }

    /// A heading below the list of the navigation that the page is below, and below what is between them: the address
    /// and the name of each.
    pub fn below(visit: &Visit, title: &'h str, between: &[(&str, &str)]) -> Self {
        let list = parent_links(visit);
        let crumbs = html! {
            (list)
            @for (place, (address, name)) in between.iter().enumerate() {
                @if place > 0 || !list.0.is_empty() { " / " }
                a href=(address) { (name) }
            }
        };
        Self { crumbs, ..Self::new(title) }
    }

    fn show(&self) -> Markup {
        html! {
            @if !self.crumbs.0.is_empty() { p.crumbs { (self.crumbs) } }
            div.head {
                h1 { (self.title) }
                (self.chips)
                @if !self.actions.0.is_empty() { div.actions { (self.actions) } }
            }
        }
    }
}

/// Builds a page with `main` in the common frame. `title` becomes the page's heading, so `main` begins below it; a page
/// below a list of the navigation links to the list.
pub fn layout(visit: &Visit, title: &str, main: Markup) -> Markup {
    page(visit, &Head { crumbs: parent_links(visit), ..Head::new(title) }, main)
}

/// The same for a page about something, which stands between the list and the page: its address and its name.
pub fn below(visit: &Visit, (address, name): (&str, &str), title: &str, main: Markup) -> Markup {
    page(visit, &Head::below(visit, title, &[(address, name)]), main)
}

/// Links to the list of the navigation that the page is below.
fn parent_links(visit: &Visit) -> Markup {
    let (here, role) = (section(visit), visit.session.as_ref().map(|session| session.user.role));
    let mut links = GROUPS.iter().flat_map(|(_, links)| *links);
    // The reference is for everybody.
    let may = |part: &str, least| part == "reference" || role >= Some(least);
    let list = links.find(|(_, part, least)| *part == here && may(part, *least));
    html! { @if let Some((label, part, _)) = list.filter(|_| visit.path.len() > 1) { a href={ "/" (part) } { (label) } } }
}

/// Builds a page with a head of its own.
pub fn page(visit: &Visit, head: &Head<'_>, main: Markup) -> Markup {
    let rail = visit.session.as_ref().map(|session| rail(session, section(visit), visit.waiting));
    frame(rail, section(visit), visit.done, head, main)
}

/// Builds a page without a visit, which is no part of the navigation. For whoever is signed in: with the number of open
/// suggestions.
pub fn bare(visitor: Option<(&Session, usize)>, title: &str, main: Markup) -> Markup {
    let rail = visitor.map(|(session, waiting)| rail(session, NOWHERE, waiting));
    frame(rail, NOWHERE, None, &Head::new(title), main)
}

/// The part of the navigation that the page belongs to.
fn section(visit: &Visit) -> &str {
    let part = |at: usize| visit.path.get(at).map_or("", String::as_str);
    match (part(0), part(1)) {
        ("new", "system") => "systems",
        ("new", "domain") => "domains",
        ("new", "team") => "teams",
        ("new", "campaign" | "check" | "level" | "category" | "scorecard") => "standards",
        ("new", "event-subscription") => "events",
        ("new", "tier" | "lifecycle" | "property-definition" | "filter") => "definitions",
        ("new" | "documents" | "changes" | "views", _) => "services",
        (first, _) => first,
    }
}

/// The whole document. Only people who are signed in have a rail.
fn frame(rail: Option<Markup>, here: &str, done: Option<Done>, head: &Head<'_>, main: Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (head.title) " · rollcall" }
                link rel="icon" type="image/svg+xml" href=(ICON.path());
                link rel="stylesheet" href=(STYLE.path());
                script defer src=(SCRIPT.path()) {}
            }
            body class=(if rail.is_some() { "app" } else { "guest" }) {
                a.skip href="#main" { "Skip to the content" }
                header.bar {
                    a.brand href="/" { "rollcall" }
                    @if rail.is_some() {
                        (find(here))
                        button.quiet type="button" popovertarget="rail" { "Menu" }
                    }
                }
                @if let Some(rail) = rail { (rail) }
                main #main tabindex="-1" {
                    (head.show())
                    @if let Some(done) = done { div.notice role="status" { p { (done.sentence()) } } }
                    (main)
                }
            }
        }
    }
}

fn find(here: &str) -> Markup {
    html! {
        a.find href="/search" aria-keyshortcuts="/ Control+K" aria-current=[(here == "search").then_some("page")] {
            "Search " kbd { "/" }
        }
    }
}

/// The navigation: a column beside the page, or a popover that the bar of a phone opens.
fn rail(session: &Session, here: &str, waiting: usize) -> Markup {
    let count = match waiting {
        0 => None,
        few if few < MOST => Some(few.to_string()),
        _ => Some(format!("{}+", MOST - 1)),
    };
    let current = |part: &str| (here == part).then_some("page");
    // The script's search offers this form beside the pages below.
    let create = (session.user.role >= Role::TeamMember).then_some("/new/service");
    html! {
        aside.rail #rail aria-label="Menu" popover="auto" data-create=[create] {
            a.brand href="/" { "rollcall" }
            (find(here))
            @for (at, (name, links)) in GROUPS.iter().enumerate() {
                nav aria-label=(name) {
                    @if at > 0 { h2 { (name) } }
                    ul { @for (label, part, role) in *links {
                        @if session.user.role >= *role {
                            li { a href={ "/" (part) } aria-current=[current(part)] {
                                (label)
                                @if let Some(count) = count.as_deref().filter(|_| *part == "suggestions") {
                                    " " span.count { (count) span.hidden { " open" } }
                                }
                            } }
                        }
                    } }
                }
            }
            div.who {
                a href="/account" aria-current=[current("account")] { (session.user.name) }
                form method="post" action="/sign-out" { button.quiet { "Sign out" } }
            }
        }
    }
}
