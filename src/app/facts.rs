//! The facts of a service: the narrow column of its page, and what is missing from it.

use maud::{Markup, html};

use super::groups::link as link_to_system;
use super::lacks;
use super::operations::service::{Service, Tag};
use super::parts::{external_link, link, local, short, time};
use super::properties;
use super::service_name::address;
use super::visit::Fields;
use catalogue::entity::Timestamp;
use catalogue::outgoing::authority;

/// The number of aliases and tags shown at first.
const SHOWN: usize = 12;

/// Lists what a service should have and has not, each with the form that adds it.
pub fn missing(service: &Service, may: bool) -> Markup {
    let here = address(&service.aliases);
    let part = |name: &str| format!("{here}/{name}");
    let of_owner = service.owner.as_ref().and_then(|owner| owner.contacts.as_ref());
    let has_contact = [service.contacts.as_ref(), of_owner].into_iter().flatten().any(|contacts| !contacts.is_empty());
    let wanted = [
        (service.owner.is_none(), "Owner", part(lacks::OWNER)),
        (service.tier.is_none(), "Tier", part(lacks::TIER)),
        (service.description.is_none(), "Description", part(lacks::DESCRIPTION)),
        (service.tools.total_count == 0, "Links, such as the runbook", part(lacks::LINKS)),
        (!has_contact, "Contact", part("contacts")),
        (service.on_calls.total_count == 0, "On call", part("on-call")),
        (service.service_repositories.nodes.is_empty(), "Repository", part(lacks::REPOSITORIES)),
        (service.dependencies.total_count == 0, "Dependency", part(lacks::DEPENDENCIES)),
    ];
    let missing: Vec<_> = wanted.into_iter().filter(|(is_missing, ..)| *is_missing).collect();
    html! {
        @if !missing.is_empty() {
            section.card {
                h2 { "Missing" }
                ul.missing { @for (_, name, form) in &missing {
                    li { span.mark.warn { (name) } @if may { a.button.quiet href=(form) { "Add" span.hidden { " " (name) } } } }
                } }
            }
        }
    }
}

/// The card with the facts.
pub fn section(service: &Service, app_url: &str, may: bool, now: Timestamp) -> Markup {
    html! {
        section.card {
            h2 { "Facts" }
            (list(service, app_url, may, now))
        }
    }
}

/// The card with the properties. `may` says that there are properties that the visitor may set.
pub fn properties(service: &Service, may: bool) -> Markup {
    let here = address(&service.aliases);
    let (properties, has_more) = (&service.properties.nodes, service.properties.page_info.has_next_page);
    html! {
        @if may || !properties.is_empty() {
            section.card {
                h2 #properties { "Properties" @if may { a href={ (here) "/properties" } { "Change" } } }
                @if properties.is_empty() { p.soft { "None has a value." } }
                (properties::list(properties, has_more))
            }
        }
    }
}

fn list(service: &Service, app_url: &str, may: bool, now: Timestamp) -> Markup {
    let texts = [("Language", &service.language), ("Framework", &service.framework), ("Product", &service.product)];
    html! {
        dl.facts {
            dt { "Type" } dd { (service.r#type.name) }
            @if let Some(system) = &service.parent {
                dt { "System" } dd { (link_to_system("systems", &system.aliases, &system.name)) }
            }
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
            (repositories(service, app_url, may))
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
            dt { "Added" } dd { (time(service.timestamps.created_at.0, now)) }
            dt { "Changed" } dd { (time(service.timestamps.updated_at.0, now)) }
        }
    }
}

/// Links to the repositories at their hosts, and to their pages.
fn repositories(service: &Service, app_url: &str, may: bool) -> Markup {
    html! {
        @if !service.service_repositories.nodes.is_empty() {
            dt { "Repositories" }
            dd { @for link in &service.service_repositories.nodes {
                div {
                    (external_link(link.repository.url.as_deref(), link.display_name.as_deref().unwrap_or(&link.repository.name)))
                    " " a.soft href=(local(&link.repository.html_url, app_url)) { code { (link.repository.default_alias) } }
                    @if !matches!(&*link.base_directory, "" | "/") { " in " code { (link.base_directory) } }
                }
            }
                @if may { div { a href={ (address(&service.aliases)) "/repositories" } { "Change" span.hidden { " the repositories" } } } }
            }
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

/// The path of the list of services with this value.
fn alike(name: &str, text: &str) -> String {
    link("/services", &Fields::default().query_with(name, text))
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
