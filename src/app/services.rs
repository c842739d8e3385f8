//! The list of services, with search and filters.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::ask::ask_counting;
use super::form::{self, Mistakes};
use super::layout::layout;
use super::operations::services::{Account, Service, Team};
use super::operations::types::Moment;
use super::operations::{IdentifierInput, ServiceFilterEnum, ServiceFilterInput, ServiceRow, Services, TagArgs};
use super::parts::{COUNTED, FOUND, count_to, empty, order, pages, sorted, status, time};
use super::visit::{Session, Visit, path};
use super::{Answer, Fault, Site};
use crate::deploy::days::DAY;
use crate::entity::user::Role;
use crate::entity::{Timestamp, text};

/// Shows the list of services, with its filters and orders.
pub async fn page(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    let query = &visit.query;
    let tag = query.given("tag").map(|tag| match tag.split_once([':', '=']) {
        Some((key, value)) => {
            TagArgs { key: MaybeUndefined::Value(text::trim(key)), value: MaybeUndefined::Value(text::trim(value)) }
        }
        None => TagArgs { key: MaybeUndefined::Value(tag), ..Default::default() },
    });
    let since = match query.given("quiet") {
        Some(days) => Some(days_ago(days)?),
        None => None,
    };
    let services = Services {
        sort: order(visit)?,
        after: query.given("after"),
        search: query.given("search"),
        language: query.given("language"),
        owner: query.given("owner"),
        tier: query.given("tier"),
        tag,
        has_owner: query.given("unowned").map(|_| false),
        not_deployed_since: since.map(Moment),
        filter: query
            .given("filter")
            .map(|id| IdentifierInput { id: MaybeUndefined::Value(id), alias: MaybeUndefined::Undefined }),
        conditions: query.given("type").map(|id| vec![of_type(id)]),
    };
    let found = ask_counting(counted(visit), site, visit, services).await?.account;
    let main = html! {
        @if session.user.role >= Role::User { p.actions { a.button.quiet href="/new/service" { "New service" } } }
        (filters(visit, &found))
        div #services { (list(visit, &found)) }
    };
    Ok(Answer::page(layout(visit, "Services", main)))
}

/// Up to which number services are counted.
fn counted(visit: &Visit) -> u32 {
    if visit.query.given("search").is_some() { FOUND } else { COUNTED }
}

/// The condition that a service is of the component type with this id.
fn of_type(id: &str) -> ServiceFilterInput<'_> {
    ServiceFilterInput {
        key: MaybeUndefined::Value(ServiceFilterEnum::ComponentTypeId),
        arg: MaybeUndefined::Value(id),
        ..Default::default()
    }
}

/// The time this many days ago.
fn days_ago(days: &str) -> Result<Timestamp, Fault> {
    let days: u32 = days.parse().map_err(|_| Fault::BadRequest("The days must be a whole number.".to_owned()))?;
    Ok(Timestamp::from_micros(Timestamp::now().as_micros().saturating_sub(DAY.saturating_mul(days.into()))))
}

fn filters(visit: &Visit, found: &Account) -> Markup {
    let none = Mistakes::none();
    let text =
        |name, label, kind| form::Text { name, label, hint: "", kind, required: false }.show(&visit.query, &none);
    let mut tiers = vec![("", "any")];
    tiers.extend(found.tiers.iter().map(|tier| (&*tier.alias, &*tier.name)));
    let mut types = vec![("", "any")];
    types.extend(found.component_types.nodes.iter().map(|one| (&*one.id, &*one.name)));
    let mut filters = vec![("", "none")];
    filters.extend(found.filters.nodes.iter().map(|filter| (&*filter.id, &*filter.name)));
    html! {
        form.filters method="get" action="/services" role="search" data-live="services" {
            (text("search", "Name or alias", "search"))
            (form::suggested("owner", "Owner's alias", found.teams.nodes.iter().map(|team| (&*team.alias, &*team.name)), &visit.query, &none))
            (form::select("tier", "Tier", "", &tiers, &visit.query, &none))
            (form::select("type", "Type", "", &types, &visit.query, &none))
            @if !found.filters.nodes.is_empty() {
                (form::select("filter", "Saved filter", "", &filters, &visit.query, &none))
            }
            (text("language", "Language", "text"))
            (text("tag", "Tag (key or key:value)", "text"))
            (text("quiet", "No deploy in … days", "number"))
            label.check { input type="checkbox" name="unowned" value="1" checked[visit.query.given("unowned").is_some()]; "No owner" }
            @if let Some(sort) = visit.query.given("sort") { input type="hidden" name="sort" value=(sort); }
            button { "Search" }
        }
    }
}

fn list(visit: &Visit, found: &Account) -> Markup {
    let services = &found.services;
    let filtered = visit.query.without("sort").any();
    if services.nodes.is_empty() {
        return html! {
            @if filtered {
                (empty("No services match.", html! {
                        p { "Remove a filter or shorten the search, or see " a href="/services" { "all services" } "." }
                    }))
            } @else {
                (empty("No services yet.", html! {
                    p { "Services appear when you accept a suggestion, apply service files, or create them here or through the API." }
                    p { a href="/integrations" { "Add a deploy integration" } " and let your pipelines report deploys: "
                        "each unknown name becomes a " a href="/suggestions" { "suggestion" } "." }
                }))
            }
        };
    }
    html! {
        p.soft role="status" {
            (count_to(counted(visit), services.total_count, "service"))
            @if filtered { " · " a href="/services" { "All services" } }
        }
        (table_with(
            |label, order| sorted(visit, "/services", label, order),
            services.nodes.iter().map(|Service { service_row, owner }| (service_row, Some(owner.as_ref())))
        ))
        (pages(visit, "/services", &services.page_info))
    }
}

/// The table of services, without links to sort it. Omits the column of owners if no row has an owner to show, as on a
/// team's page.
pub(super) fn table<'a>(services: impl Iterator<Item = (&'a ServiceRow, Option<Option<&'a Team>>)> + Clone) -> Markup {
    table_with(|label, _| html! { th scope="col" { (label) } }, services)
}

/// The same, with headings built by `heading` from their label and the name of their order.
fn table_with<'a>(
    heading: impl Fn(&str, &str) -> Markup,
    services: impl Iterator<Item = (&'a ServiceRow, Option<Option<&'a Team>>)> + Clone,
) -> Markup {
    let now = Timestamp::now();
    let with_owner = services.clone().any(|(_, owner)| owner.is_some());
    html! {
        div.scroll tabindex="0" role="region" aria-label="Services" {
            table {
                thead { tr {
                    (heading("Service", "name")) @if with_owner { (heading("Owner", "owner")) } (heading("Tier", "tier"))
                    (heading("Lifecycle", "lifecycle")) (heading("Language", "language"))
                    (heading("Last deploy", "last_deploy"))
                } }
                tbody {
                    @for (service, owner) in services {
                        tr {
                            th scope="row" {
                                a href=(address(&service.aliases)) { (service.name) }
                                @if service.locked { " " span.mark.none { "locked" } }
                            }
                            @if let Some(owner) = owner { td { @match owner {
                                Some(owner) => a href=(path(["teams", &owner.alias])) { (owner.name) },
                                None => span.soft { "none" },
                            } } }
                            td { @if let Some(tier) = &service.tier { (tier.name) } }
                            td { @if let Some(lifecycle) = &service.lifecycle { (lifecycle.name) } }
                            td { @if let Some(language) = &service.language { (language) } }
                            td { @match &service.last_deploy {
                                Some(deploy) => {
                                    (time(deploy.deployed_at.0, now)) " "
                                    (status(deploy.deploy_status, deploy.status.as_deref()))
                                },
                                None => span.soft { "never" },
                            } }
                        }
                    }
                }
            }
        }
    }
}

/// The path of a service's page. Any alias would do; a service always has one.
pub(super) fn address(aliases: &[String]) -> String {
    path(["services", aliases.first().map_or("", String::as_str)])
}
