//! Campaigns: their list on the page Standards, and the page of one.

use maud::{Markup, html};

use super::ask::ask;
use super::layout::{Head, page as framed};
use super::markdown::prose;
use super::operations::campaign::{Campaign, Stats};
use super::operations::types::Moment;
use super::operations::{self, CampaignStatusEnum as Status};
use super::parts::{count, date, local};
use super::scorecards::checks;
use super::standard_parts::governed;
use super::visit::{Session, Visit, path};
use super::{Answer, Fault, Site, standing};
use catalogue::entity::Timestamp;
use catalogue::entity::user::Role;

/// A campaign in the list.
struct Row {
    id: String,
    name: String,
    status: Status,
    target: Option<Moment>,
    progress: Markup,
}

/// The list of campaigns. Empty if there is none. Without figures in a catalogue that is too large to count them.
pub async fn list(site: &Site, visit: &Visit) -> Result<Markup, Fault> {
    let (rows, total) = match ask(site, visit, operations::Campaigns {}).await {
        Ok(found) => {
            let list = found.account.campaigns;
            let row = |one: operations::campaigns::Campaign| {
                let progress = one.service_stats.map(|stats| {
                    html! { ", " (stats.total_successful) " of " (count(stats.total, "service")) " done" }
                });
                let (id, name, status, target) = (one.id, one.name, one.status, one.target_date);
                Row { id, name, status, target, progress: progress.unwrap_or_default() }
            };
            (list.nodes.into_iter().map(row).collect::<Vec<_>>(), list.total_count)
        }
        Err(Fault::TooMuch(_)) => {
            let list = ask(site, visit, operations::CampaignNames {}).await?.account.campaigns;
            let row = |one: operations::campaign_names::Campaign| {
                let (id, name, status, target) = (one.id, one.name, one.status, one.target_date);
                Row { id, name, status, target, progress: html! {} }
            };
            (list.nodes.into_iter().map(row).collect(), list.total_count)
        }
        Err(fault) => return Err(fault),
    };
    if rows.is_empty() {
        return Ok(html! {});
    }
    let due = |target: &Option<Moment>| target.map(|target| html! { " by " (date(target.0)) });
    Ok(html! {
        section.card {
            h2 #campaigns { "Campaigns" }
            ul { @for Row { id, name, status, target, progress } in &rows {
                li {
                    a href=(address(id)) { (name) } " " (mark(*status))
                    span.soft { @if let Some(due) = due(target) { (due) } (progress) }
                }
            } }
            @if usize::try_from(total).unwrap_or_default() > rows.len() { p.soft { "The first " (rows.len()) " of " (total) "." } }
        }
    })
}

/// The path of a campaign's page.
pub fn address(id: &str) -> String {
    path(["standards", "campaigns", id])
}

fn mark(status: Status) -> Markup {
    match status {
        Status::Draft => html! { span.mark.none { "draft" } },
        Status::Scheduled => html! { span.mark.none { "scheduled" } },
        Status::InProgress => html! { span.mark.good { "in progress" } },
        Status::Delayed => html! { span.mark.bad { "delayed" } },
        Status::Ended => html! { span.mark.none { "ended" } },
    }
}

/// Shows a campaign: its dates and progress, and its checks with who does not pass each.
pub async fn detail(site: &Site, visit: &Visit, session: &Session, id: &str) -> Result<Answer, Fault> {
    let campaign = ask(site, visit, operations::Campaign { id }).await?.account.campaign.ok_or(Fault::NotFound)?;
    let app_url = &site.catalogue.settings().app_url;
    let main = html! {
        @if let Some(brief) = &campaign.project_brief { div.lead { (prose(brief)) } }
        div.two {
            div.stack { (checks(visit, &campaign.reports)) }
            div.stack {
                section.card { h2 { "Facts" } (facts(&campaign, app_url)) }
                (standing::trend(&campaign.history))
            }
        }
    };
    let actions = html! {
        @if session.user.role >= Role::StandardsAdmin { a.button href={ (address(id)) "/edit" } { "Edit" } }
    };
    let head =
        Head { chips: mark(campaign.status), actions, ..Head::with_parent(&campaign.name, "/standards", "Standards") };
    Ok(Answer::page(framed(visit, &head, main)))
}

fn facts(campaign: &Campaign, app_url: &str) -> Markup {
    let day = |name: &str, moment: &Option<Moment>| {
        html! {
            @if let Some(moment) = moment { dt { (name) } dd { (date(moment.0)) } }
        }
    };
    let share = |name: &str, stats: &Option<Stats>, done: &str| {
        html! {
            @if let Some(stats) = stats { dt { (name) } dd { (stats.total_successful) " of " (stats.total) " " (done) } }
        }
    };
    html! {
        dl.facts {
            @if let Some(owner) = &campaign.owner { dt { "Owner" } dd { a href=(path(["teams", &owner.alias])) { (owner.name) } } }
            dt { "For" }
            dd { @match &campaign.filter {
                Some(filter) => a href=(local(&filter.html_url, app_url)) { (filter.name) },
                None => "all services",
            } }
            (governed(campaign.locked_by.as_deref()))
            (day("Start", &campaign.start_date))
            (day("Target", &campaign.target_date))
            @if let Some(left) = left(campaign, Timestamp::now()) { dt { "Time" } dd { (left) } }
            (day("Ended", &campaign.ended_date))
            (share("Services", &campaign.service_stats, "pass all checks"))
            (share("Results", &campaign.check_stats, "passed"))
        }
    }
}

/// How many days a campaign that runs has left, or how long its target date has passed.
fn left(campaign: &Campaign, now: Timestamp) -> Option<String> {
    const DAY: i64 = 86_400_000_000;
    let micros = campaign.target_date?.0.as_micros() - now.as_micros();
    let days = count((micros.abs() + DAY - 1) / DAY, "day");
    match campaign.status {
        Status::InProgress => Some(format!("{days} left")),
        Status::Delayed => Some(format!("{days} over")),
        Status::Draft | Status::Scheduled | Status::Ended => None,
    }
}
