//! The page of a service: its owner, repositories, deploys and code issues.

use maud::{Markup, html};

use super::ask::ask;
use super::deploys;
use super::layout::layout;
use super::markdown::prose;
use super::operations::service::{Service, Tag};
use super::operations::{self, types::Moment};
use super::operations::{Contact, ContactType, Neighbour};
use super::parts::{count, empty, link, outside, short, time};
use super::services::address;
use super::systems::link as link_to_system;
use super::visit::{Fields, Session, Visit, path};
use super::{Answer, Fault, Site, audit, issues};
use crate::deploy::days::{self, DAY, Day};
use crate::entity::deploy::Environments;
use crate::entity::user::Role;
use crate::entity::{Timestamp, service};
use crate::graphql::id::{self, Class};

/// The period of the metrics, in days.
const DAYS: usize = 30;
/// The number of aliases and tags shown at first, and the most contacts shown.
const SHOWN: usize = 12;

/// Shows the service with this alias.
pub async fn page(site: &Site, visit: &Visit, session: &Session, alias: &str) -> Result<Answer, Fault> {
    let now = Timestamp::now();
    let since = Timestamp::from_micros(now.as_micros() - DAYS as i64 * DAY);
    let found = ask(site, visit, operations::Service { alias, since: Moment(since), now: Moment(now) }).await?;
    let service = found.account.service.ok_or(Fault::NotFound)?;
    let (db, number) = (site.db.read(), id::number::<service::Entity>(&service.id).unwrap_or_default());
    let production = &site.catalogue.settings().production;
    let days = days::of_service(db, number, since, DAYS, production).await?;
    let main = html! {
        @if let Some(file) = &service.service_file {
            div.notice { p { "This service is managed by the file " code { (outside(file.url.as_deref(), &file.path)) }
                @if let Some(repository) = &file.repository { " in " (outside(Some(repository), repository)) }
                ". Change it there. To edit it here, run " code { "rollcall release" } " first." } }
        }
        @if let Some(description) = &service.description { (prose(description)) }
        (facts(&service, now))
        p.actions {
            @if session.user.role >= Role::User && !service.locked {
                a.button.quiet href={ (address(&service.aliases)) "/edit" } { "Edit" } " "
            }
            @if session.user.role == Role::Admin {
                a.button.quiet href=(audit::of(service::Entity::CLASS, number)) { "History" }
            }
        }
        @if let Some(note) = &service.note { h2 { "Notes" } (prose(note)) }
        (dependencies(&service))
        h2 #deploys { "Deploys" }
        (deploys_of(&service, &days, production, now))
        h2 #issues { "Code issues" }
        (issues::of_service(db, number).await?)
    };
    Ok(Answer::page(layout(visit, &service.name, main)))
}

fn deploys_of(service: &Service, days: &[Day], production: &Environments, now: Timestamp) -> Markup {
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
            @if total == 1 { "Find deploys by environment and day" } @else { "All " (count(total, "deploy")) ", by environment and day" }
        } }
    }
}

fn facts(service: &Service, now: Timestamp) -> Markup {
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
            (now_what(service))
            dt { "Owner" }
            dd { @match &service.owner {
                Some(owner) => {
                    a href=(path(["teams", &owner.alias])) { (owner.name) }
                    @if let Some(manager) = &owner.manager { ", led by " (manager.name) " (" (manager.email) ")" }
                },
                None => span.soft { "none" },
            } }
            @if let Some(system) = &service.parent {
                dt { "System" } dd { (link_to_system("systems", &system.aliases, &system.name)) }
            }
            @if !service.r#type.is_default { dt { "Type" } dd { (service.r#type.name) } }
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
            @if !service.service_repositories.nodes.is_empty() {
                dt { "Repositories" }
                dd { @for link in &service.service_repositories.nodes {
                    div {
                        (outside(link.repository.url.as_deref(), link.display_name.as_deref().unwrap_or(&link.repository.name)))
                        " " code.soft { (link.repository.default_alias) }
                        @if !matches!(&*link.base_directory, "" | "/") { " in " code { (link.base_directory) } }
                    }
                } }
            }
            dt { "Added" }
            dd { (time(service.timestamps.created_at.0, now)) ", changed " (time(service.timestamps.updated_at.0, now)) }
        }
    }
}

/// What helps when something is wrong: the contacts of the service and its owner, and the links.
fn now_what(service: &Service) -> Markup {
    let own = service.contacts.iter().flatten();
    let of_owner = service.owner.iter().flat_map(|owner| owner.contacts.iter().flatten());
    let contacts: Vec<&Contact> = own.chain(of_owner).collect();
    html! {
        @if !contacts.is_empty() {
            dt { "Contact" }
            // With an address of the greatest length each, all of them would make the page ten times as long.
            dd {
                ul.near { @for contact in contacts.iter().take(SHOWN) { li { (reach(contact)) } } }
                @if contacts.len() > SHOWN { "and " (contacts.len() - SHOWN) " more" }
            }
        }
        @if !service.tools.nodes.is_empty() {
            dt { "Links" }
            dd {
                ul.near { @for tool in &service.tools.nodes {
                    li {
                        (outside(Some(&tool.url), &tool.display_name))
                        @if let Some(environment) = &tool.environment { " " span.soft { (environment) } }
                    }
                } }
                @if service.tools.page_info.has_next_page { "and more" }
            }
        }
    }
}

/// A contact: a link where its address is one.
fn reach(contact: &Contact) -> Markup {
    let Contact { r#type: kind, address, display_name } = contact;
    let channel = match kind {
        ContactType::Email => "Email",
        ContactType::Github => "GitHub",
        ContactType::MicrosoftTeams => "Microsoft Teams",
        ContactType::Slack | ContactType::SlackHandle => "Slack",
        ContactType::Web => "Web",
    };
    let name = display_name.as_deref().unwrap_or(address);
    html! {
        span.soft { (channel) ": " }
        @match kind {
            ContactType::Email => a href={ "mailto:" (address) } { (short(name)) },
            ContactType::Web => (outside(Some(address), &short(name))),
            _ => { (short(name)) @if display_name.is_some() { " " span.soft { (short(address)) } } },
        }
    }
}

/// What the service depends on, and what depends on it.
fn dependencies(service: &Service) -> Markup {
    let less_critical = |other: &Neighbour| match (&service.tier, &other.tier) {
        (Some(own), Some(other)) => other.index > own.index,
        _ => false,
    };
    let entry = |node: &Neighbour, notes: Option<&str>, may_warn: bool| {
        html! {
            li {
                a href=(address(&node.aliases)) { (node.name) }
                @if let Some(tier) = &node.tier { " " span.mark.none { (tier.name) } }
                @if may_warn && less_critical(node) { " " span.mark.warn { "less critical than this service" } }
                @if let Some(notes) = notes { " " span.soft { (short(notes)) } }
            }
        }
    };
    let (needs, needed) = (&service.dependencies, &service.dependents);
    html! {
        @if needs.total_count > 0 || needed.total_count > 0 {
            h2 #dependencies { "Dependencies" }
            @if needs.total_count > 0 {
                h3 { "Depends on " (count(needs.total_count, "service")) }
                ul { @for edge in &needs.edges { (entry(&edge.node, edge.notes.as_deref(), true)) } }
            }
            @if needed.total_count > 0 {
                h3 { (count(needed.total_count, "service")) @if needed.total_count == 1 { " depends on it" } @else { " depend on it" } }
                ul { @for edge in &needed.edges { (entry(&edge.node, edge.notes.as_deref(), false)) } }
            }
        }
    }
}

/// The link to all services with the same value.
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
