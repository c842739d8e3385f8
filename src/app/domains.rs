//! The list of domains, and the page of a domain.

use maud::html;

use super::ask::ask;
use super::layout::layout;
use super::markdown::prose;
use super::operations::{Domain, Domains};
use super::parts::{count, empty, pages};
use super::systems::{aliases, link, owner, tags};
use super::visit::{Visit, path};
use super::{Answer, Fault, Site};

/// Lists the domains.
pub async fn page(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let domains = ask(site, visit, Domains { after: visit.query.given("after") }).await?.account.domains;
    let main = html! {
        p.actions { a.button.quiet href="/systems" { "Systems" } }
        @if domains.nodes.is_empty() {
            (empty("No domains yet.", html! {
                p { "A domain is a group of systems that serve one part of the business. Create one with the API's " code { "domainCreate" } "." }
            }))
        } @else {
            div.scroll tabindex="0" role="region" aria-label="Domains" {
                table {
                    thead { tr { th scope="col" { "Domain" } th scope="col" { "Owner" } th scope="col" { "Systems" } } }
                    tbody { @for domain in &domains.nodes {
                        tr {
                            th scope="row" { (link("domains", &domain.aliases, &domain.name)) }
                            td { (owner(domain.owner.as_ref().map(|team| (&*team.alias, &*team.name)))) }
                            td.number { (domain.child_systems.total_count) }
                        }
                    } }
                }
            }
            (pages(visit, "/domains", &domains.page_info))
        }
    };
    Ok(Answer::page(layout(visit, "Domains", main)))
}

/// Shows the domain with this alias.
pub async fn one(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let found = ask(site, visit, Domain { alias, after: visit.query.given("after") }).await?;
    let domain = found.account.domain.ok_or(Fault::NotFound)?;
    let main = html! {
        @if let Some(text) = &domain.description { (prose(text)) }
        dl.facts {
            dt { "Owner" } dd { (owner(domain.owner.as_ref().map(|team| (&*team.alias, &*team.name)))) }
            dt { "Aliases" } dd { (aliases(&domain.aliases)) }
            @if !domain.tags.nodes.is_empty() {
                dt { "Tags" } dd { (tags(domain.tags.nodes.iter().map(|tag| (&*tag.key, &*tag.value)))) }
            }
        }
        @if let Some(note) = &domain.note { h2 { "Notes" } (prose(note)) }
        h2 { "Systems" }
        @if domain.child_systems.nodes.is_empty() { p.soft { "No system belongs to this domain." } } @else {
            p.soft { (count(domain.child_systems.total_count, "system")) }
            ul { @for system in &domain.child_systems.nodes {
                li {
                    (link("systems", &system.aliases, &system.name)) " "
                    span.soft { (count(system.child_services.total_count, "service")) }
                    @if let Some(text) = &system.description { (prose(text)) }
                }
            } }
            (pages(visit, &path(["domains", alias]), &domain.child_systems.page_info))
        }
    };
    Ok(Answer::page(layout(visit, &domain.name, main)))
}
