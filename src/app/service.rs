//! The page of a service: what one asks first, what changes, and its facts.

use maud::{Markup, html};

use super::ask::ask;
use super::glance::at_a_glance;
use super::issues::Issues;
use super::layout::{Head, page as framed};
use super::markdown::prose;
use super::operations::service::Service;
use super::operations::{self, Neighbour};
use super::parts::{self, count, count_to_most, empty, external_link, short};
use super::reading::too_long;
use super::rights::{Owner, Rights, Thing};
use super::service_list::favourites;
use super::service_name::address;
use super::visit::{Session, Visit};
use super::{
    Answer, Fault, Site, delivery, delivery_figures, deploys, facts, graph, groups, relationships, standards,
    suggestions,
};
use catalogue::deploy::delivery::{self as weeks, Delivery, READ_OF_ONE, WEEKS};
use catalogue::entity::{Timestamp, service};
use catalogue::graphql::field::id;

/// The number of changes that the page shows of the deploys.
const CHANGES: usize = 5;
/// The maximum length of a description above everything else. A longer one has a part of its own.
const LEAD: usize = 240;

/// Shows the service with this alias.
pub async fn page(site: &Site, visit: &Visit, session: &Session, alias: &str) -> Result<Answer, Fault> {
    let now = Timestamp::now();
    let found = ask(site, visit, operations::Service { alias }).await?;
    let has_properties = found.account.property_definitions.total_count > 0;
    let service = found.account.service.ok_or_else(|| Fault::unknown("service", alias))?;
    let owner = service.owner.as_ref().map(|team| Owner { id: &team.id, alias: &team.alias, name: &team.name });
    let rights = Thing { noun: "service", page: address(&service.aliases), owner };
    let rights = Rights::read(site, visit, rights).await?;
    let may = rights.may_change() && !service.locked;
    let production = &site.catalogue.settings().production;
    let standing = standards::of_service(site, visit, alias, rights.may_change()).await?;
    let more = read_more(site, visit, &service, now).await?;
    let main = html! {
        (suggestions::accepted(visit, session))
        @if let Some(file) = &service.service_file {
            div.notice { p { "This service is managed by the file " code { (external_link(file.url.as_deref(), &file.path)) }
                @if let Some(repository) = &file.repository { " in " (external_link(Some(repository), repository)) }
                ". Change it there. To edit it here, run " code { "rollcall release " (service.aliases.first().map_or(alias, String::as_str)) } " first." } }
        } @else {
            (rights.note())
        }
        @if let Some(lead) = lead(&service) { div.lead { (prose(lead)) } }
        (at_a_glance(&service, &more.issues, production, now))
        div.two {
            div.stack { (wide(&service, &more, may, now)) }
            div.stack {
                (standing.card)
                (facts::missing(&service, may))
                (facts::section(&service, &site.catalogue.settings().app_url, may, now))
                (facts::properties(&service, may && has_properties))
                @if more.issues.are_none() { (more.issues.card()) }
            }
        }
    };
    Ok(Answer::page(framed(visit, &head(&service, standing.level.as_deref(), may), main)))
}

/// The description, if it is short enough to stand above everything else.
fn lead(service: &Service) -> Option<&str> {
    let text = service.description.as_deref()?;
    (text.len() <= LEAD && !text.trim().contains('\n')).then_some(text)
}

/// What the API does not offer.
struct More {
    /// The weeks of the metrics. `None` if they were not read.
    delivery: Option<Delivery>,
    picture: Markup,
    issues: Issues,
}

async fn read_more(site: &Site, visit: &Visit, service: &Service, now: Timestamp) -> Result<More, Fault> {
    let number = id::number::<service::Entity>(&service.id).unwrap_or_default();
    let production = &site.catalogue.settings().production;
    let reading = site.reading(visit).await?;
    let (end, services) = (delivery_figures::end(now), [number]);
    let delivery = reading.optional(|db| weeks::of_services(db, &services, end, production, READ_OF_ONE)).await?;
    let picture = graph::small(&reading, &service.id, &service.name, &service.aliases).await?;
    // Last: nothing else takes as long.
    let issues = Issues::of_service(&reading, number).await?;
    Ok(More { delivery, picture, issues })
}

fn head<'s>(service: &'s Service, level: Option<&str>, may: bool) -> Head<'s> {
    let here = address(&service.aliases);
    let system = service.parent.as_ref();
    Head {
        title: &service.name,
        crumbs: html! {
            a href="/services" { "Services" }
            @if let Some(system) = system {
                @if let Some(domain) = &system.parent { " / " (groups::link("domains", &domain.aliases, &domain.name)) }
                " / " (groups::link("systems", &system.aliases, &system.name))
            }
        },
        chips: html! {
            @if let Some(tier) = &service.tier {
                @let class = if tier.index == 1 { "mark bad" } else { "mark none" };
                span class=(class) title=[&tier.description] { "T" (tier.index) " " (tier.name) }
            }
            @if let Some(stage) = &service.lifecycle { span.mark.none title=[&stage.description] { (stage.name) } }
            @if let Some(level) = level { a.mark.none href="#standards" { span.hidden { "Level " } (level) } }
            @if service.locked { span.mark.none { "locked" } }
        },
        actions: html! {
            (favourites::button(service))
            a.button.quiet href={ (here) "/history" } { "History" }
            @if may { a.button.quiet href={ (here) "/edit" } { "Edit" } }
        },
    }
}

/// What changes: the wide column.
fn wide(service: &Service, more: &More, may: bool, now: Timestamp) -> Markup {
    let alias = service.aliases.first().map_or("", String::as_str);
    let (nodes, total) = (&service.deploys.nodes, service.deploys.total_count);
    html! {
        @if let Some(text) = service.description.as_deref().filter(|_| lead(service).is_none()) {
            section.card { h2 { "About" } (prose(text)) }
        }
        @if nodes.is_empty() {
            section.card {
                h2 #deploys { "Deploys" }
                (empty("No deploys yet.", html! {
                    p { "Send deploys of " code { (alias) } " to a " a href="/integrations" { "deploy integration" } "." }
                }))
            }
        } @else {
            section {
                @let weeks = more.delivery.as_ref().map_or(WEEKS, |found| found.weeks.len());
                h2 { "Delivery to production, " (count(weeks as i64, "week")) a href=(delivery::address("service", alias)) { "Delivery" } }
                @match &more.delivery {
                    None => (too_long()),
                    Some(found) if delivery_figures::is_empty(found) => p.soft {
                        "No deploy to production succeeded or failed in the last " (2 * WEEKS) " weeks."
                    },
                    Some(found) => (delivery_figures::show(found, &[("service", alias)])),
                }
            }
            section.card {
                h2 #deploys { "Deploys" a href=(deploys::address(&service.aliases)) { @if total == 1 { "Find deploys by environment and day" } @else {
                    "All " (count_to_most(total, "deploy")) ", by environment and day"
                } } }
                (deploys::table(nodes, CHANGES, now))
            }
        }
        (dependencies(service, &more.picture, may))
        @if let Some(note) = &service.note { section.card { h2 { "Notes" } (prose(note)) } }
        (related(service))
        @if !more.issues.are_none() { (more.issues.card()) }
    }
}

fn related(service: &Service) -> Markup {
    let (from, to) = (&service.relationships, &service.incoming_relationships);
    let total = from.total_count + to.total_count;
    html! {
        @if total > 0 { section.card { (relationships::section(&from.nodes, &to.nodes, total)) } }
    }
}

/// The service's dependencies and dependents: a picture, and the first of them as lists.
fn dependencies(service: &Service, picture: &Markup, may: bool) -> Markup {
    let change = if may { "Change" } else { "All" };
    let entry = |node: &Neighbour, notes: Option<&str>, warning: Option<&str>| {
        html! {
            li {
                a href=(address(&node.aliases)) { (node.name) }
                @if let Some(tier) = &node.tier { " " (parts::tier(tier.index, &tier.name)) }
                @if let Some(warning) = warning { " " span.mark.warn { (warning) } }
                @if let Some(notes) = notes { " " span.soft { (short(notes)) } }
            }
        }
    };
    let warning = |is_warned: bool, text| is_warned.then_some(text);
    let (needs, needed) = (&service.dependencies, &service.dependents);
    let here = address(&service.aliases);
    let rest = |total: i32, shown: usize, path: &str| {
        let rest = usize::try_from(total).unwrap_or_default().saturating_sub(shown);
        html! { @if rest > 0 { p { a href={ (here) (path) } { (rest) " more" } } } }
    };
    html! {
        @if needs.total_count > 0 || needed.total_count > 0 {
            section.card {
                h2 #dependencies { "Dependencies" a href={ (here) "/dependencies" } { (change) } }
                (picture)
                @if needs.total_count > 0 {
                    h3 { "Depends on " (count(needs.total_count, "service")) }
                    ul { @for edge in &needs.edges {
                        (entry(&edge.node, edge.notes.as_deref(), warning(edge.on_less_critical_tier, "less critical than this service")))
                    } }
                    (rest(needs.total_count, needs.edges.len(), "/dependencies"))
                }
                @if needed.total_count > 0 {
                    h3 { (count(needed.total_count, "service")) @if needed.total_count == 1 { " depends on it" } @else { " depend on it" } }
                    ul { @for edge in &needed.edges {
                        (entry(&edge.node, edge.notes.as_deref(), warning(edge.on_less_critical_tier, "more critical than this service")))
                    } }
                    (rest(needed.total_count, needed.edges.len(), "/graph?steps=1#impact"))
                }
            }
        } @else {
            section.card {
                h2 #dependencies { "Dependencies" a href={ (here) "/dependencies" } { (change) } }
                p.soft { "None is recorded, in either direction." }
            }
        }
    }
}
