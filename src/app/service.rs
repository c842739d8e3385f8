//! The page of a service: its owner, repositories, deploys and code issues.

use maud::{Markup, html};

use super::ask::ask;
use super::contact_form::contact;
use super::groups::{link as link_to_system, owner};
use super::issues::Issues;
use super::layout::layout;
use super::markdown::prose;
use super::operations::service::{AlertSourceService, Service, Tag};
use super::operations::{self, types::Moment};
use super::operations::{AlertSourceStatusTypeEnum, Contact, DeployStatusEnum, Neighbour};
use super::parts::{count, count_to_most, empty, external_link, link, local, short, status, time};
use super::services::address;
use super::visit::{Fields, Session, Visit};
use super::{Answer, Fault, Site, audit, deploys, graph, properties, relationships};
use crate::deploy::days::{self, DAY, Day};
use crate::entity::deploy::Environments;
use crate::entity::user::Role;
use crate::entity::{Timestamp, service};
use crate::graphql::Settings;
use crate::graphql::id::{self, Class};
use crate::outgoing::authority;

/// The period of the metrics, in days.
pub(super) const DAYS: usize = 30;
/// The number of aliases and tags shown at first.
const SHOWN: usize = 12;
/// The number of contacts and links shown at first, so that the first screen shows all that helps when something is
/// wrong.
const NEAR: usize = 5;

/// Shows the service with this alias.
pub async fn page(site: &Site, visit: &Visit, session: &Session, alias: &str) -> Result<Answer, Fault> {
    let now = Timestamp::now();
    let since = Timestamp::from_micros(now.as_micros() - DAYS as i64 * DAY);
    let found = ask(site, visit, operations::Service { alias, since: Moment(since), now: Moment(now) }).await?;
    let service = found.account.service.ok_or_else(|| Fault::unknown("service", alias))?;
    let number = id::number::<service::Entity>(&service.id).unwrap_or_default();
    let Settings { production, app_url, .. } = site.catalogue.settings();
    let More { days, picture, issues } = more(site, visit, &service, since).await?;
    let main = html! {
        @if let Some(file) = &service.service_file {
            div.notice { p { "This service is managed by the file " code { (external_link(file.url.as_deref(), &file.path)) }
                @if let Some(repository) = &file.repository { " in " (external_link(Some(repository), repository)) }
                ". Change it there. To edit it here, run " code { "rollcall release " (service.aliases.first().map_or(alias, String::as_str)) } " first." } }
        }
        (at_a_glance(&service, &issues, production, now))
        (actions(&service, session, number))
        @if let Some(description) = &service.description { (prose(description)) }
        (facts(&service, app_url, now))
        @if let Some(note) = &service.note { h2 { "Notes" } (prose(note)) }
        (properties::section(&service.properties.nodes, service.properties.page_info.has_next_page))
        (dependencies(&service, &picture))
        (related(&service))
        h2 #deploys { "Deploys" }
        (deploys_of(&service, days.as_deref(), production, now))
        h2 #issues { "Code issues" }
        (issues.list())
    };
    Ok(Answer::page(layout(visit, &service.name, main)))
}

/// What the API does not offer.
struct More {
    /// The days of the metrics. `None` if they were not read.
    days: Option<Vec<Day>>,
    picture: Markup,
    issues: Issues,
}

async fn more(site: &Site, visit: &Visit, service: &Service, since: Timestamp) -> Result<More, Fault> {
    let number = id::number::<service::Entity>(&service.id).unwrap_or_default();
    let production = &site.catalogue.settings().production;
    let reading = site.reading(visit).await?;
    let days = reading.part(|db| days::of_service(db, number, since, DAYS, production)).await?;
    let picture = graph::small(&reading, &service.id, &service.name, &service.aliases).await?;
    // Last: nothing else takes as long.
    let issues = Issues::of_service(&reading, number).await?;
    Ok(More { days, picture, issues })
}

/// The links to the service's forms and history that the visitor may use.
fn actions(service: &Service, session: &Session, number: i64) -> Markup {
    let here = address(&service.aliases);
    html! {
        p.actions {
            @if session.user.role >= Role::TeamMember && !service.locked {
                a.button.quiet href={ (here) "/edit" } { "Edit" } " "
            }
            a.button.quiet href={ (here) "/contacts" } { "Contacts" } " "
            a.button.quiet href={ (here) "/tools" } { "Links" } " "
            a.button.quiet href={ (here) "/dependencies" } { "Dependencies" } " "
            a.button.quiet href={ (here) "/properties" } { "Properties" } " "
            @if session.user.role == Role::Admin {
                a.button.quiet href=(audit::of(service::Entity::CLASS, number)) { "History" }
            }
        }
    }
}

fn related(service: &Service) -> Markup {
    let (from, to) = (&service.relationships, &service.incoming_relationships);
    relationships::section(&from.nodes, &to.nodes, from.total_count + to.total_count)
}

fn deploys_of(service: &Service, days: Option<&[Day]>, production: &Environments, now: Timestamp) -> Markup {
    let (nodes, total) = (&service.deploys.nodes, service.deploys.total_count);
    if nodes.is_empty() {
        let alias = service.aliases.first().map_or("", String::as_str);
        return empty(
            "No deploys yet.",
            html! {
                p { "Send deploys of " code { (alias) } " to a " a href="/integrations" { "deploy integration" } "." }
            },
        );
    }
    html! {
        (deploys::figures(&service.deploy_metrics, days, nodes, production))
        h3 { "Latest deploys" }
        (deploys::line(nodes, now))
        p { a href=(deploys::address(&service.aliases)) {
            @if total == 1 { "Find deploys by environment and day" } @else { "All " (count_to_most(total, "deploy")) ", by environment and day" }
        } }
    }
}

fn facts(service: &Service, app_url: &str, now: Timestamp) -> Markup {
    let step = |step: Option<(&String, &Option<String>)>| {
        html! {
            @match step {
                Some((name, text)) => { (name) @if let Some(text) = text { " " span.soft { (text) } } },
                None => span.soft { "none" },
            }
        }
    };
    let tier = service.tier.as_ref().map(|tier| (&tier.name, &tier.description));
    let lifecycle = service.lifecycle.as_ref().map(|lifecycle| (&lifecycle.name, &lifecycle.description));
    let texts = [("Language", &service.language), ("Framework", &service.framework), ("Product", &service.product)];
    html! {
        dl.facts {
            dt { "Type" } dd { (service.r#type.name) }
            @if let Some(system) = &service.parent {
                dt { "System" } dd { (link_to_system("systems", &system.aliases, &system.name)) }
            }
            dt { "Tier" } dd { (step(tier)) }
            dt { "Lifecycle" } dd { (step(lifecycle)) }
            @for (label, text) in texts {
                @if let Some(text) = text { dt { (label) } dd { (text) } }
            }
            dt { "Aliases" }
            dd { (many(&service.aliases, |alias| html! { code.mark.none { (alias) } })) }
            @if !service.tags.nodes.is_empty() {
                dt { "Tags" }
                dd {
                    (many(&service.tags.nodes, tag))
                    @if service.tags.page_info.has_next_page { "and more" }
                }
            }
            (repositories(service, app_url))
            @if !service.documents.nodes.is_empty() || service.api_document_url.is_some() {
                dt { "API" }
                dd {
                    @for document in &service.documents.nodes {
                        div {
                            (external_link(document.html_url.as_deref(), &short(&document.title)))
                            " " span.soft { (document.format.to_string()) }
                        }
                    }
                    (pull(service, now))
                }
            }
            dt { "Added" }
            dd { (time(service.timestamps.created_at.0, now)) ", changed " (time(service.timestamps.updated_at.0, now)) }
        }
    }
}

/// Links to the repositories at their hosts, and to their pages.
fn repositories(service: &Service, app_url: &str) -> Markup {
    html! {
        @if !service.service_repositories.nodes.is_empty() {
            dt { "Repositories" }
            dd { @for link in &service.service_repositories.nodes {
                div {
                    (external_link(link.repository.url.as_deref(), link.display_name.as_deref().unwrap_or(&link.repository.name)))
                    " " a.soft href=(local(&link.repository.html_url, app_url)) { code { (link.repository.default_alias) } }
                    @if !matches!(&*link.base_directory, "" | "/") { " in " code { (link.base_directory) } }
                }
            } }
        }
    }
}

/// From which host the API document is pulled, and how that went.
fn pull(service: &Service, now: Timestamp) -> Markup {
    let (Some(url), Some(pull)) = (&service.api_document_url, &service.api_document_pull) else { return html! {} };
    html! {
        @match (&pull.pulled_at, &pull.error) {
            (Some(pulled_at), _) => div.soft { "Pulled from " (authority(url)) " " (time(pulled_at.0, now)) },
            (None, None) => div.soft { "Will be pulled from " (authority(url)) " within a minute" },
            (None, Some(_)) => {},
        }
        @if let Some(error) = &pull.error { div { span.mark.bad { "Not pulled" } " " (error) } }
    }
}

/// What helps when something is wrong: who owns the service, how to reach them, where to look, and what is broken.
fn at_a_glance(service: &Service, issues: &Issues, production: &Environments, now: Timestamp) -> Markup {
    let own = service.contacts.iter().flatten();
    let of_owner = service.owner.iter().flat_map(|owner| owner.contacts.iter().flatten());
    let contacts: Vec<&Contact> = own.chain(of_owner).collect();
    let (tools, here) = (&service.tools, address(&service.aliases));
    let left_out = usize::try_from(tools.total_count).unwrap_or_default().saturating_sub(tools.nodes.len());
    html! {
        dl.facts {
            dt { "Owner" }
            dd {
                (owner(service.owner.as_ref().map(|team| (&*team.alias, &*team.name))))
                @if let Some(manager) = service.owner.as_ref().and_then(|team| team.manager.as_ref()) {
                    ", led by " (manager.name) " (" (manager.email) ")"
                }
            }
            @if !service.on_calls.nodes.is_empty() {
                dt { "On call" }
                dd { (on_call(service, now)) }
            }
            @if !contacts.is_empty() {
                dt { "Contact" }
                dd {
                    ul.near { @for one in contacts.iter().take(NEAR) { li { (contact(one)) } } }
                    @if contacts.len() > NEAR { a href={ (here) "/contacts" } { (contacts.len() - NEAR) " more" } }
                }
            }
            @if !tools.nodes.is_empty() {
                dt { "Links" }
                dd {
                    ul.near { @for tool in &tools.nodes {
                        li {
                            (external_link(Some(&tool.url), &short(&tool.display_name)))
                            @if let Some(environment) = &tool.environment { " " span.soft { (environment) } }
                        }
                    } }
                    @if left_out > 0 { a href={ (here) "/tools" } { (left_out) " more" } }
                }
            }
            dt { "Last deploy" }
            dd { @match service.deploys.nodes.first() {
                Some(deploy) => {
                    a href="#deploys" { (time(deploy.deployed_at.0, now)) } " "
                    (status(deploy.deploy_status, deploy.status.as_deref()))
                    @if let Some(environment) = &deploy.environment { " " span.mark.none { (environment) } }
                },
                None => span.soft { "never" },
            } }
            (broken(service, issues, production))
        }
    }
}

/// Who is on call, until when, and which schedule says so.
fn on_call(service: &Service, now: Timestamp) -> Markup {
    let people = &service.on_calls;
    let left_out = usize::try_from(people.total_count).unwrap_or_default().saturating_sub(people.nodes.len());
    html! {
        ul.near { @for one in &people.nodes {
            li {
                @let name = one.name.as_deref().unwrap_or_default();
                @match &one.external_email {
                    Some(email) => a href={ "mailto:" (email) } { (name) },
                    None => (name),
                }
                @if let Some(ends_at) = &one.ends_at { " until " (time(ends_at.0, now)) }
                @if one.schedule.is_some() || one.url.is_some() {
                    " " span.soft { (external_link(one.url.as_deref(), one.schedule.as_deref().unwrap_or("schedule"))) }
                }
            }
        } }
        @if left_out > 0 { (left_out) " more" }
    }
}

/// What is broken, as far as the catalogue knows.
fn broken(service: &Service, issues: &Issues, production: &Environments) -> Markup {
    let mut deploys = service.deploys.nodes.iter();
    // A deploy without a status took place.
    let last = deploys.find(|deploy| {
        let is_finished = matches!(deploy.deploy_status, DeployStatusEnum::Success | DeployStatusEnum::Failure);
        production.contain(deploy.environment.as_deref()) && (is_finished || deploy.status.is_none())
    });
    let has_failed = last.is_some_and(|deploy| deploy.deploy_status == DeployStatusEnum::Failure);
    let severe = issues.severe();
    let is_raised = |link: &&AlertSourceService| link.status == AlertSourceStatusTypeEnum::Alert;
    let alerts: Vec<_> = service.alert_source_services.nodes.iter().filter(is_raised).collect();
    html! {
        @if has_failed || !severe.is_empty() || !alerts.is_empty() {
            dt { "Broken" }
            dd {
                @for link in alerts.iter().take(NEAR) {
                    span.mark.bad { (external_link(link.alert_source.url.as_deref(), &short(&link.alert_source.name))) } " "
                }
                @if alerts.len() > NEAR { span.mark.bad { (alerts.len() - NEAR) " more alerts" } " " }
                @if has_failed { a.mark.bad href="#deploys" { "the last deploy to production failed" } " " }
                @for number in severe { a.mark.bad href="#issues" { (number) } " " }
            }
        }
    }
}

/// The service's dependencies and dependents: a picture, and the first of them as lists.
fn dependencies(service: &Service, picture: &Markup) -> Markup {
    let entry = |node: &Neighbour, notes: Option<&str>, warning: Option<&str>| {
        html! {
            li {
                a href=(address(&node.aliases)) { (node.name) }
                @if let Some(tier) = &node.tier { " " span.mark.none { (tier.name) } }
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
            h2 #dependencies { "Dependencies" }
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
    }
}

/// The path of the list of services with this value.
fn alike(name: &str, text: &str) -> String {
    link("/services", &Fields::default().with(name, text))
}

fn tag(Tag { key, value }: &Tag) -> Markup {
    let both = if value.is_empty() { key.clone() } else { format!("{key}:{value}") };
    html! { a.mark.none href=(alike("tag", &both)) { (short(&format!("{key}{}{value}", if value.is_empty() { "" } else { ": " }))) } }
}

/// A list that shows the first items, and the rest on request.
fn many<T>(all: &[T], one: impl Fn(&T) -> Markup) -> Markup {
    let (first, rest) = all.split_at(all.len().min(SHOWN));
    let list = |part: &[T]| html! { ul.marks { @for item in part { li { (one(item)) } } } };
    html! {
        (list(first))
        @if !rest.is_empty() { details { summary { (rest.len()) " more" } (list(rest)) } }
    }
}
