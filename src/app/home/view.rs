//! The parts of the home page.

use maud::{Markup, html};

use super::mine::{SUGGESTIONS, Steps};
use super::{LISTED, Read, SHOWN};
use crate::operations::home::Account;
use crate::parts::{COUNTED, count, count_to, form_day, grouped, link, near_day, short, time};
use crate::reading::too_long;
use crate::visit::{Fields, Session};
use crate::{all_deploys, on_call, service_name};
use catalogue::deploy::days::DAY;
use catalogue::deploy::failing::Failing;
use catalogue::deploy::list;
use catalogue::entity::user::Role;

/// The list of deploys that failed.
const FAILED: &str = "/deploys?status=failed";

/// The steps of a new installation that are not done. Nothing once all are; a sign-in provider is a choice.
pub fn checklist(steps: &Steps, has_provider: bool) -> Markup {
    let deploy = if steps.integration { "/integrations" } else { "/integrations/new?type=deploy" };
    let all = [
        (steps.team, "Add a team", "/new/team", "It owns services and has a manager."),
        (steps.deploy, "Let your pipelines post deploys", deploy, "Each unknown name becomes a suggestion."),
        (steps.service, "Add a service", "/new/service", "Or accept a suggestion, or apply service files."),
        (steps.colleague, "Invite your colleagues", "/users#invite", "Each gets a link to sign in with."),
    ];
    let are_done = all.iter().all(|(is_done, ..)| *is_done);
    html! {
        @if !are_done {
            section.card #set-up {
                h2 { "Set up" }
                ul.missing {
                    @for (_, name, address, why) in all.iter().filter(|(is_done, ..)| !is_done) {
                        li { span { a href=(address) { (name) } small { (why) } } }
                    }
                    @if !has_provider {
                        li { span {
                            a href="/users#provider" { "Connect your sign-in provider" }
                            small { "Optional. People then sign in with their account at work." }
                        } }
                    }
                }
            }
        }
    }
}

/// Since when the page tells what is new.
pub fn period(read: &Read) -> &'static str {
    if read.before.is_some() { "since your last visit" } else { "since yesterday" }
}

/// Since when the page tells of deploys, in days as the list of deploys has them.
fn days(read: &Read) -> String {
    match read.now.as_micros().div_euclid(DAY) - read.first_day.as_micros().div_euclid(DAY) {
        0 => "today".to_owned(),
        1 => "since yesterday".to_owned(),
        _ => format!("since {}", near_day(read.first_day, read.now)),
    }
}

/// The list of the deploys that the page counts.
fn counted(read: &Read) -> String {
    let teams = read.mine.teams.iter().fold(Fields::default(), |fields, team| fields.append("team", &team.alias));
    link("/deploys", &teams.and("from", &form_day(read.first_day)).query())
}

/// The four numbers at the top.
pub fn tiles(account: &Account, read: &Read, session: &Session) -> Markup {
    // Services without an owner concern whoever can give them one.
    let is_concerned = read.mine.services.is_none() || session.user.role == Role::Admin;
    let suggestions = account.service_suggestions.total_count;
    html! {
        div.figures {
            @let failing = if read.failing.as_ref().is_some_and(|all| !all.is_empty()) { "#failing" } else { FAILED };
            div.figure { a href=(failing) { "Failing in production" } (failing_now(read)) }
            div.figure { a href=(counted(read)) { "Deploys " (days(read)) } (deployed(read)) }
            @if is_concerned { div.figure { (unowned(account, read)) } }
            div.figure {
                a href="/suggestions" { "Suggestions" }
                strong { (number(suggestions)) }
                @match read.arrived {
                    _ if suggestions == 0 => "None is open.",
                    Some(arrived) if arrived > SUGGESTIONS => { (SUGGESTIONS) "+ new " (period(read)) },
                    Some(arrived) if arrived > 0 => { (arrived) " new " (period(read)) },
                    _ => "Names that no service has.",
                }
            }
        }
    }
}

fn failing_now(read: &Read) -> Markup {
    html! {
        @match read.failing.as_deref() {
            None => (too_long()),
            Some(failing) => {
                strong { (failing.len()) }
                @match failing {
                    [one] => span { (name(read, one.service_id)) ", " (time(one.since, read.now)) },
                    [one, others @ ..] => span { (name(read, one.service_id)) " and " a href="#failing" { (others.len()) " more" } },
                    [] => "No service's last deploy failed.",
                }
            },
        }
    }
}

fn deployed(read: &Read) -> Markup {
    html! {
        @match read.tally {
            None => (too_long()),
            Some([all, _, _]) if all > list::COUNTED => strong { (list::COUNTED) "+" },
            Some([0, ..]) => { strong { "0" } "None was recorded." },
            Some([all, succeeded, failed]) => { strong { (all) } (succeeded) " succeeded, " (failed) " failed" },
        }
    }
}

fn unowned(account: &Account, read: &Read) -> Markup {
    let services = &account.services;
    html! {
        a href="/services?unowned=1" { "Without an owner" }
        strong { (number(services.total_count)) }
        @match &*services.nodes {
            [] if !read.has_services => "There are no services yet.",
            [] => "Every service has one.",
            nodes => span { @for (at, service) in nodes.iter().enumerate() {
                @if at > 0 { ", " } a href=(service_name::address(&service.aliases)) { (short(&service.name)) }
            } },
        }
    }
}

/// A count, which stops at [`COUNTED`].
fn number(count: i32) -> String {
    match i64::from(count) > i64::from(COUNTED) {
        true => count_to(COUNTED, count, "").trim_end_matches([' ', 's']).to_owned(),
        false => grouped(count),
    }
}

/// A link to a service.
pub fn name(read: &Read, id: i64) -> Markup {
    on_call::service(&read.labels, id)
}

/// The services whose last deploy to production failed.
pub fn failing(read: &Read) -> Markup {
    let failing = read.failing.as_deref().unwrap_or_default();
    html! {
        @if !failing.is_empty() {
            section.card {
                h2 #failing { "Failing in production" a href=(FAILED) { "Failed deploys" } }
                (failures(read, failing.get(..SHOWN).unwrap_or(failing)))
                @if let Some(others @ [_, ..]) = failing.get(SHOWN..) {
                    details {
                        summary { (others.len()) " more" }
                        (failures(read, others.get(..LISTED - SHOWN).unwrap_or(others)))
                        @if failing.len() > LISTED { p.soft { "and " (failing.len() - LISTED) " that failed earlier." } }
                    }
                }
            }
        }
    }
}

fn failures(read: &Read, failing: &[Failing]) -> Markup {
    html! {
        ul.missing { @for one in failing {
            li { strong { (name(read, one.service_id)) } span { span.mark.bad { "failed" } " " (time(one.since, read.now)) } }
        } }
    }
}

/// The last deploys.
pub fn deploys(read: &Read) -> Markup {
    let title = if read.mine.services.is_some() { "Deploys of your services" } else { "Deploys" };
    html! {
        section.card {
            h2 #deploys { (title) " " (days(read)) a href="/deploys" { "All deploys" } }
            @match read.deploys.as_deref() {
                None => (too_long()),
                Some([]) => p.soft { "No deploy was recorded " (days(read)) "." },
                Some(deploys) => {
                    (all_deploys::table("Latest deploys", deploys, &read.labels, read.now))
                    (said_of(all_deploys::shown(deploys)))
                },
            }
        }
    }
}

/// Why a table has fewer rows than deploys.
fn said_of((deploys, rows): (usize, usize)) -> Markup {
    let number = |of: usize| i64::try_from(of).unwrap_or(i64::MAX);
    html! {
        @if rows < deploys {
            p.soft { (count(number(deploys), "deploy")) " in " (count(number(rows), "row"))
                ": a change that went to several environments is one row." }
        }
    }
}

/// The visitor's favourites. Nothing without any.
pub fn favourites(account: &Account) -> Markup {
    let favourites = &account.favourites;
    html! {
        @if !favourites.nodes.is_empty() {
            section.card {
                h2 #favourites { "Favourites" a href="/services?favourites=1" { "All " (favourites.total_count) } }
                ul.missing { @for service in &favourites.nodes {
                    li { a href=(service_name::address(&service.aliases)) { (short(&service.name)) } }
                } }
            }
        }
    }
}
