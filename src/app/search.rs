//! The search over everything that has a name: a page, from which the script also fills the dialog of every page.

use maud::{Markup, html};

use super::ask::ask;
use super::form::{self, Mistakes};
use super::layout::layout;
use super::operations::Search;
use super::operations::search::SearchResult;
use super::parts::{count, empty};
use super::people::{self, RESULTS};
use super::schema_form::spoken;
use super::visit::Visit;
use super::{Answer, Fault, Site, owns};

/// Shows the results for the search term, if there is one. Fields that name people ask for people alone.
pub async fn page(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    if visit.query.get("of") == form::PEOPLE {
        return people::page(site, visit).await;
    }
    let found = match visit.query.given("q") {
        Some(term) => Some(ask(site, visit, Search { term }).await?.account.search),
        None => None,
    };
    let label = "Name or alias";
    let field = form::Text { name: "q", label, hint: "", kind: "search", required: false };
    let app_url = &site.catalogue.settings().app_url;
    let main = html! {
        form.filters method="get" action="/search" role="search" data-live=(RESULTS) {
            (field.show(&visit.query, &Mistakes::none()))
            button { "Search" }
        }
        div id=(RESULTS) {
            @match found {
                None => p.soft { "Finds services, systems, domains, teams, people, repositories and infrastructure. "
                    "Press " kbd { "/" } " or " kbd { "Ctrl+K" } " on any page to search." },
                Some(found) if found.is_empty() => (empty("Nothing matches.", html! { p { "Try another word, or fewer letters." } })),
                Some(found) => (list(&found, app_url)),
            }
        }
    };
    Ok(Answer::page(layout(visit, "Search", main)))
}

fn list(found: &[SearchResult], app_url: &str) -> Markup {
    html! {
        p.soft role="status" { (count(i64::try_from(found.len()).unwrap_or(i64::MAX), "result")) }
        ul.results {
            @for one in found {
                li {
                    @match address(one, app_url) {
                        Some(address) => a href=(address) { (one.name) },
                        None => bdi { (one.name) },
                    }
                    " " span.mark.none { (spoken(&one.r#type.to_string())) }
                    @if let Some(alias) = &one.alias { " " code { (alias) } }
                }
            }
        }
    }
}

/// The path of its page, if the application has it.
pub fn address<'a>(one: &'a SearchResult, app_url: &str) -> Option<&'a str> {
    one.html_url.strip_prefix(app_url).filter(|path| owns(path))
}
