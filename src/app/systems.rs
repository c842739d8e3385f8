//! The list of systems, and the page of a system.

use maud::{Markup, html};

use super::ask::ask;
use super::layout::layout;
use super::markdown::prose;
use super::operations::{System, Systems};
use super::parts::{count, empty, pages};
use super::visit::{Visit, path};
use super::{Answer, Fault, Site, services};

/// Lists the systems.
pub async fn page(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let systems = ask(site, visit, Systems { after: visit.query.given("after") }).await?.account.systems;
    let main = html! {
        p.actions { a.button.quiet href="/domains" { "Domains" } }
        @if systems.nodes.is_empty() {
            (empty("No systems yet.", html! {
                p { "A system is a group of services that do one thing together. Create one with the API's " code { "systemCreate" } "." }
            }))
        } @else {
            div.scroll tabindex="0" role="region" aria-label="Systems" {
                table {
                    thead { tr {
                        th scope="col" { "System" } th scope="col" { "Domain" } th scope="col" { "Owner" }
                        th scope="col" { "Services" }
                    } }
                    tbody { @for system in &systems.nodes {
                        tr {
                            th scope="row" { (link("systems", &system.aliases, &system.name)) }
                            td { @match &system.parent {
                                Some(domain) => (link("domains", &domain.aliases, &domain.name)),
                                None => span.soft { "none" },
                            } }
                            td { (owner(system.owner.as_ref().map(|team| (&*team.alias, &*team.name)))) }
                            td.number { (system.child_services.total_count) }
                        }
                    } }
                }
            }
            (pages(visit, "/systems", &systems.page_info))
        }
    };
    Ok(Answer::page(layout(visit, "Systems", main)))
}

/// Shows the system with this alias.
pub async fn one(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let found = ask(site, visit, System { alias, after: visit.query.given("after") }).await?;
    let system = found.account.system.ok_or(Fault::NotFound)?;
    let main = html! {
        @if let Some(text) = &system.description { (prose(text)) }
        dl.facts {
            dt { "Owner" } dd { (owner(system.owner.as_ref().map(|team| (&*team.alias, &*team.name)))) }
            @if let Some(domain) = &system.parent {
                dt { "Domain" } dd { (link("domains", &domain.aliases, &domain.name)) }
            }
            dt { "Aliases" } dd { (aliases(&system.aliases)) }
            @if !system.tags.nodes.is_empty() {
                dt { "Tags" } dd { (tags(system.tags.nodes.iter().map(|tag| (&*tag.key, &*tag.value)))) }
            }
        }
        @if let Some(note) = &system.note { h2 { "Notes" } (prose(note)) }
        h2 { "Services" }
        @if system.child_services.nodes.is_empty() { p.soft { "No service belongs to this system." } } @else {
            p.soft { (count(system.child_services.total_count, "service")) }
            (services::table(system.child_services.nodes.iter().map(|service| (service, None))))
            (pages(visit, &path(["systems", alias]), &system.child_services.page_info))
        }
    };
    Ok(Answer::page(layout(visit, &system.name, main)))
}

/// Links to a system or a domain by its first alias.
pub fn link(part: &str, aliases: &[String], name: &str) -> Markup {
    html! { a href=(path([part, aliases.first().map_or("", String::as_str)])) { (name) } }
}

/// Links to the team that owns something.
pub fn owner(team: Option<(&str, &str)>) -> Markup {
    html! {
        @match team {
            Some((alias, name)) => a href=(path(["teams", alias])) { (name) },
            None => span.soft { "none" },
        }
    }
}

/// Lists aliases.
pub fn aliases(aliases: &[String]) -> Markup {
    html! { ul.marks { @for alias in aliases { li { code.mark.none { (alias) } } } } }
}

/// Lists tags: keys with their values.
pub fn tags<'t>(tags: impl Iterator<Item = (&'t str, &'t str)>) -> Markup {
    html! {
        ul.marks { @for (key, value) in tags {
            li { span.mark.none { (key) @if !value.is_empty() { ": " (value) } } }
        } }
    }
}
