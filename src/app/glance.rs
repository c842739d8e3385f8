//! The strip at the top of a service's page: who owns it, how to reach them, where to look, and what is broken.

use maud::{Markup, html};

use super::contact_form::contact;
use super::issues::Issues;
use super::operations::service::{AlertSourceService, Service};
use super::operations::{AlertSourceStatusTypeEnum, Contact, Deploy, DeployStatusEnum};
use super::parts::{clock, external_link, owner, short, status, time};
use super::service_name::address;
use catalogue::entity::Timestamp;
use catalogue::entity::deploy::Environments;

/// The number of contacts and links shown at first, so that the first screen shows all that helps when something is
/// wrong.
const NEAR: usize = 5;
/// The number of contacts in the strip.
const CONTACTS: usize = 3;

/// What helps when something is wrong.
pub fn at_a_glance(service: &Service, issues: &Issues, production: &Environments, now: Timestamp) -> Markup {
    let own = service.contacts.iter().flatten();
    let of_owner = service.owner.iter().flat_map(|owner| owner.contacts.iter().flatten());
    let contacts: Vec<&Contact> = own.chain(of_owner).collect();
    let here = address(&service.aliases);
    let failed = failed(service, production);
    // What is broken says it, then.
    let has_status = failed.is_none_or(|(_, has_later)| has_later);
    html! {
        dl.now {
            div {
                dt { "Owner" }
                dd {
                    @match &service.owner {
                        Some(team) => (owner(Some((&team.alias, &team.name)))),
                        None => span.mark.warn { "none" },
                    }
                    @if let Some(manager) = service.owner.as_ref().and_then(|team| team.manager.as_ref()) {
                        small { "led by " a href={ "mailto:" (manager.email) } { (manager.name) } }
                    }
                }
            }
            div {
                dt { "On call" }
                dd {
                    @if service.on_calls.nodes.is_empty() { span.soft { "nobody is recorded" } } @else { (on_call(service, now)) }
                    small { a href={ (here) "/on-call" } { "Who is on call" } }
                }
            }
            div {
                dt { "Contact" }
                dd {
                    @if contacts.is_empty() { span.soft { "none" } }
                    @for one in contacts.iter().take(CONTACTS) { div { (contact(one)) } }
                    @if contacts.len() > CONTACTS { small { a href={ (here) "/contacts" } { (contacts.len() - CONTACTS) " more" } } }
                    @else { small { a href={ (here) "/contacts" } { "All contacts" } } }
                }
            }
            div {
                dt { "Last deploy" }
                dd { (last_deploy(service, has_status, now)) }
                (broken(service, failed, issues, now))
            }
            (links(service, &here))
        }
    }
}

/// When and where it was deployed last, with the result if `has_status`.
fn last_deploy(service: &Service, has_status: bool, now: Timestamp) -> Markup {
    html! {
        @match service.deploys.nodes.first() {
            Some(deploy) => {
                a href="#deploys" { (time(deploy.deployed_at.0, now)) } " "
                @if has_status { (status(deploy.deploy_status, deploy.status.as_deref())) }
                @if let Some(environment) = &deploy.environment { small { (environment) } }
            },
            None => span.soft { "never" },
        }
    }
}

/// The links as buttons.
fn links(service: &Service, here: &str) -> Markup {
    let tools = &service.tools;
    let left_out = usize::try_from(tools.total_count).unwrap_or_default().saturating_sub(tools.nodes.len());
    html! {
        @if !tools.nodes.is_empty() {
            div.all {
                dt { "Links" }
                dd { ul.near {
                    @for tool in &tools.nodes {
                        li {
                            (external_link(Some(&tool.url), &short(&tool.display_name)))
                            @if let Some(environment) = &tool.environment { " " span.soft { (environment) } }
                        }
                    }
                    li { small { a href={ (here) "/tools" } { @if left_out > 0 { (left_out) " more" } @else { "All links" } } } }
                } }
            }
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
                @if let Some(ends_at) = &one.ends_at { small { "until " (clock(ends_at.0, now)) } }
                @if one.schedule.is_some() || one.url.is_some() {
                    small { (external_link(one.url.as_deref(), one.schedule.as_deref().unwrap_or("schedule"))) }
                }
            }
        } }
        @if left_out > 0 { (left_out) " more" }
    }
}

/// The last deploy to production that ended, if it failed, and whether there are later deploys, such as cancelled ones and
/// those to elsewhere.
fn failed<'s>(service: &'s Service, production: &Environments) -> Option<(&'s Deploy, bool)> {
    // A deploy without a status took place.
    let (place, last) = service.deploys.nodes.iter().enumerate().find(|(_, deploy)| {
        let is_finished = matches!(deploy.deploy_status, DeployStatusEnum::Success | DeployStatusEnum::Failure);
        production.contain(deploy.environment.as_deref()) && (is_finished || deploy.status.is_none())
    })?;
    (last.deploy_status == DeployStatusEnum::Failure).then_some((last, place > 0))
}

/// What is broken, as far as the catalogue knows. `failed` is what [`failed`] says.
fn broken(service: &Service, failed: Option<(&Deploy, bool)>, issues: &Issues, now: Timestamp) -> Markup {
    let severe = issues.severe();
    let is_raised = |link: &&AlertSourceService| link.status == AlertSourceStatusTypeEnum::Alert;
    let alerts: Vec<_> = service.alert_source_services.nodes.iter().filter(is_raised).collect();
    html! {
        @if failed.is_some() || !severe.is_empty() || !alerts.is_empty() {
            dt { "Broken" }
            dd {
                @for link in alerts.iter().take(NEAR) {
                    span.mark.bad { (external_link(link.alert_source.url.as_deref(), &short(&link.alert_source.name))) } " "
                }
                @if alerts.len() > NEAR { span.mark.bad { (alerts.len() - NEAR) " more alerts" } " " }
                @if let Some((deploy, has_later)) = failed {
                    a.mark.bad href="#deploys" {
                        @if has_later {
                            "failed in " (deploy.environment.as_deref().unwrap_or("production")) ", " (time(deploy.deployed_at.0, now))
                        } @else { "the last deploy failed" }
                    } " "
                    @if has_later { small { "No later deploy there succeeded." } }
                }
                @for number in severe { a.mark.bad href="#issues" { (number) } " " }
            }
        }
    }
}
