//! The search over everything that has a name: a page, from which the script also fills the dialog of every page.

use maud::{Markup, html};

use super::ask::ask;
use super::form::{self, Mistakes};
use super::layout::{Head, layout, page as framed};
use super::operations::search::SearchResult;
use super::operations::search_page::{SearchItem, SearchResult as Found};
use super::operations::{SearchPage, SearchTypeEnum};
use super::parts::{count, empty, link, short, tier as tier_chip};
use super::people::{self, RESULTS};
use super::schema_words::spoken;
use super::visit::{Fields, Visit};
use super::{Answer, Fault, Site, owns};
use catalogue::entity::text;
use catalogue::graphql::search::MOST;

/// What a search can be for alone: the part of the pages that shows such things, which is its word in the address, and their
/// type. People are searched for by [`people`].
const KINDS: [(&str, SearchTypeEnum); 6] = [
    ("services", SearchTypeEnum::Service),
    ("systems", SearchTypeEnum::System),
    ("domains", SearchTypeEnum::Domain),
    ("teams", SearchTypeEnum::Team),
    ("repositories", SearchTypeEnum::Repository),
    ("infrastructure", SearchTypeEnum::InfrastructureResource),
];

/// Shows the results for the search term, if there is one: of everything, or of one kind of things, which the address names.
pub async fn page(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    if visit.query.get("of") == form::PEOPLE {
        return people::page(site, visit).await;
    }
    let (part, kind) = KINDS.into_iter().find(|(part, _)| *part == visit.query.get("of")).unzip();
    let mut mistakes = Mistakes::none();
    let term = visit.query.given("q");
    if let Some(fault) = term.and_then(|term| text::fault(term, text::SHORT)) {
        mistakes.push("q", format!("The text {fault}."));
    }
    let found = match term.filter(|_| mistakes.is_empty()) {
        Some(term) => Some(ask(site, visit, SearchPage { term, kind }).await?.account.search),
        None => None,
    };
    let app_url = &site.catalogue.settings().app_url;
    let main = html! {
        (fields(part, Some(RESULTS), &visit.query, &mistakes))
        div id=(RESULTS) {
            @match (found, part) {
                (None, Some(part)) => p.soft { "Finds " (part) " by name or alias." },
                (None, None) => p.soft { "Finds services, systems, domains, teams, people, repositories and infrastructure. "
                    "Press " kbd { "/" } " or " kbd { "Ctrl+K" } " on any page to search." },
                (Some(found), _) if found.is_empty() => (empty("Nothing matches.", html! { p { "Try another word, or fewer letters." } })),
                (Some(found), _) => (list(&found, visit.query.get("q"), app_url)),
            }
        }
        @if let Some(part) = part { p { a href={ "/" (part) } { "All " (part) } } }
    };
    let document = match part {
        Some(part) => framed(visit, &Head::with_parent(&format!("Search for {part}"), "/search", "Search"), main),
        None => layout(visit, "Search", main),
    };
    Ok(Answer::checked(&mistakes, document))
}

/// The field above the list of a part of the pages, which searches for what the list has.
pub fn field(part: &str) -> Markup {
    fields(Some(part), None, &Fields::default(), &Mistakes::none())
}

/// The form of a search. With `results`, the script shows the results there while somebody types.
fn fields(part: Option<&str>, results: Option<&str>, query: &Fields, mistakes: &Mistakes) -> Markup {
    let field = form::Text { name: "q", label: "Name or alias", hint: "", kind: "search", required: false };
    html! {
        form.filters.one[results.is_none()] method="get" action="/search" role="search" data-live=[results] {
            @if let Some(part) = part { input type="hidden" name="of" value=(part); }
            (field.show(query, mistakes))
            button { "Search" }
        }
    }
}

/// The results. A search ends at [`MOST`]: of more, the page says so, and the list of services has all services.
fn list(found: &[Found], term: &str, app_url: &str) -> Markup {
    let is_cut = found.len() >= MOST;
    let has_services = found.iter().any(|one| matches!(one.item, SearchItem::Service(_)));
    html! {
        p.soft role="status" {
            @if is_cut { "The first " (MOST) " results. There may be more: write more letters to find them." }
            @else { (count(i64::try_from(found.len()).unwrap_or(i64::MAX), "result")) }
        }
        ul.results {
            @for one in found {
                li {
                    @match own(&one.html_url, app_url) {
                        Some(address) => a href=(address) { (one.name) },
                        None => bdi { (one.name) },
                    }
                    " " span.mark.none { (spoken(&one.r#type.to_string())) }
                    @if let Some(alias) = &one.alias { " " code { (alias) } }
                    (apart(&one.item, one.alias.as_deref()))
                }
            }
        }
        @if is_cut && has_services {
            p { a href=(link("/services", &Fields::one("search", term).query())) { "All services that match" } }
        }
    }
}

/// What tells a result from others of the same name: its alias, if no other matched, and whose it is. Without links: the
/// dialog and the fields that search take each link for a result.
fn apart(item: &SearchItem, matched: Option<&str>) -> Markup {
    let first = |aliases: &[String]| aliases.first().cloned();
    let owned = |owner: Option<&str>| Some(owner.map_or_else(|| "no owner".to_owned(), |name| format!("owner {name}")));
    let within = |kind: &str, name: Option<&str>| name.map(|name| format!("{kind} {name}"));
    let (alias, facts) = match item {
        SearchItem::Service(one) => {
            let owner = owned(one.owner.as_ref().map(|team| &*team.name));
            (first(&one.aliases), vec![owner, within("system", one.parent.as_ref().map(|system| &*system.name))])
        }
        SearchItem::System(one) => {
            let owner = owned(one.owner.as_ref().map(|team| &*team.name));
            (first(&one.aliases), vec![owner, within("domain", one.parent.as_ref().map(|domain| &*domain.name))])
        }
        SearchItem::Domain(one) => (first(&one.aliases), vec![owned(one.owner.as_ref().map(|team| &*team.name))]),
        SearchItem::Team(one) => {
            (Some(one.alias.clone()), vec![within("part of", one.parent_team.as_ref().map(|team| &*team.name))])
        }
        SearchItem::User(one) => (Some(one.email.clone()), Vec::new()),
        SearchItem::Repository(one) => {
            (Some(one.default_alias.clone()), vec![within("owner", one.owner.as_ref().map(|team| &*team.name))])
        }
        SearchItem::InfrastructureResource(one) => {
            let owner = owned(one.owner.as_ref().map(|team| &*team.name));
            (first(&one.aliases), vec![Some(one.r#type.clone()), owner])
        }
    };
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    html! {
        @if let Some(alias) = alias.filter(|_| matched.is_none()) { " " code { (short(&alias)) } }
        @if let SearchItem::Service(one) = item {
            @if let Some(tier) = &one.tier { " " (tier_chip(tier.index, &tier.name)) }
        }
        @if !facts.is_empty() {
            small { @for (at, fact) in facts.iter().enumerate() { @if at > 0 { " · " } bdi { (short(fact)) } } }
        }
    }
}

/// The path of its page, if the application has it.
pub fn address<'a>(one: &'a SearchResult, app_url: &str) -> Option<&'a str> {
    own(&one.html_url, app_url)
}

fn own<'a>(url: &'a str, app_url: &str) -> Option<&'a str> {
    url.strip_prefix(app_url).filter(|path| owns(path))
}
