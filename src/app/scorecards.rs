//! Scorecards: their list on the page Standards, and the page of one.

use maud::{Markup, html};

use super::ask::ask;
use super::lacks::{Asked, Has};
use super::layout::{Head, page as framed};
use super::operations::scorecard::{LevelCount, Scorecard};
use super::operations::{self, Failing, Measured as Report, Parameters};
use super::parts::{count, level as level_chip, local};
use super::standard_parts::{Miss, address, governed, misses, name, state};
use super::visit::{Session, Visit, path};
use super::{Answer, Fault, Site, manual, standing};
use catalogue::entity::user::Role;

/// The list of scorecards. Empty if there is none. Without figures in a catalogue that is too large to count them.
pub async fn list(site: &Site, visit: &Visit) -> Result<Markup, Fault> {
    let (rows, total) = match ask(site, visit, operations::Scorecards {}).await {
        Ok(found) => {
            let list = found.account.scorecards;
            let row = |one: operations::scorecards::Scorecard| {
                let services = i64::from(one.service_count);
                let figures = html! { ", " (count(services, "service")) ", " (one.passing_checks) " of " (count(one.total_checks, "result")) " passed" };
                (one.name, one.slug, figures)
            };
            (list.nodes.into_iter().map(row).collect::<Vec<_>>(), list.total_count)
        }
        Err(Fault::TooMuch(_)) => {
            let list = ask(site, visit, operations::ScorecardNames {}).await?.account.scorecards;
            (list.nodes.into_iter().map(|one| (one.name, one.slug, html! {})).collect(), list.total_count)
        }
        Err(fault) => return Err(fault),
    };
    if rows.is_empty() {
        return Ok(html! {});
    }
    Ok(html! {
        section.card {
            h2 #scorecards { "Scorecards" }
            ul { @for (name, slug, figures) in &rows {
                li { a href=(path(["standards", "scorecards", slug])) { (name) } span.soft { (figures) } }
            } }
            @if usize::try_from(total).unwrap_or_default() > rows.len() { p.soft { "The first " (rows.len()) " of " (total) "." } }
        }
    })
}

/// Shows a scorecard: its levels, and its checks with who does not pass each.
pub async fn detail(site: &Site, visit: &Visit, session: &Session, alias: &str) -> Result<Answer, Fault> {
    let found = ask(site, visit, operations::Scorecard { alias }).await?.account.scorecard;
    let scorecard = found.ok_or(Fault::NotFound)?;
    let app_url = &site.catalogue.settings().app_url;
    let main = html! {
        @if let Some(description) = &scorecard.description { div.lead { p { (description) } } }
        div.two {
            div.stack { (checks(visit, &scorecard.reports)) }
            div.stack {
                section.card { h2 { "Facts" } (facts(&scorecard, app_url)) }
                (standing::trend(&scorecard.history))
            }
        }
    };
    let edit = path(["standards", "scorecards", alias, "edit"]);
    let actions = html! { @if session.user.role >= Role::StandardsAdmin { a.button href=(edit) { "Edit" } } };
    let head = Head { actions, ..Head::with_parent(&scorecard.name, "/standards", "Standards") };
    Ok(Answer::page(framed(visit, &head, main)))
}

fn facts(scorecard: &Scorecard, app_url: &str) -> Markup {
    let levels: &[LevelCount] = scorecard.services_report.as_ref().map_or(&[], |report| &report.level_counts);
    html! {
        dl.facts {
            @if let Some(owner) = &scorecard.owner { dt { "Owner" } dd { a href=(path(["teams", &owner.alias])) { (owner.name) } } }
            dt { "Services" }
            dd {
                (scorecard.service_count) ": "
                @match &scorecard.filter {
                    Some(filter) => a href=(local(&filter.html_url, app_url)) { (filter.name) },
                    None => "all",
                }
            }
            (governed(scorecard.locked_by.as_deref()))
            dt { "Results" }
            dd { (scorecard.passing_checks) " of " (scorecard.total_checks) " passed" }
            dt { "Overall levels" }
            dd { @if scorecard.affects_overall_service_levels { "Its checks count" } @else { "Its checks do not count" } }
            @for count in levels { dt { (name(count.level.name.as_deref())) } dd { (count.service_count) } }
        }
    }
}

/// Lists the services that do not pass a check, given its parameters and its id, with links to answer a manual one, and to
/// the forms that mend them.
pub fn missing(visit: &Visit, parameters: &Parameters, check: &str, failing: &[Failing]) -> Markup {
    let asked = Asked::from(parameters);
    let may_answer = manual::may_answer_all(visit);
    let all: Vec<Miss<'_>> = failing
        .iter()
        .map(|result| {
            let alias = result.service_alias.as_deref();
            let name = result.service.as_ref().map(|service| &*service.name);
            let owner = result.service.as_ref().and_then(|service| service.owner.as_ref());
            let owner = owner.map(|owner| (&*owner.alias, &*owner.name));
            let tier = result.service.as_ref().and_then(|service| service.tier.as_ref()).map(|tier| tier.index);
            let mend = asked.mended(Has { owner: owner.is_some(), tier: tier.is_some() });
            let answer = manual::link(may_answer, asked.kind, check, alias);
            Miss {
                service: name.zip(alias),
                owner,
                status: Some(result.status),
                message: &result.message,
                answer,
                mend,
            }
        })
        .collect();
    misses(&all, may_answer)
}

/// Checks, each with how many services pass it, and which do not.
pub fn checks(visit: &Visit, reports: &[Report]) -> Markup {
    let one = |report: &Report| {
        let check = &report.check;
        let level = check.level.as_ref().and_then(|level| level.name.as_deref());
        let (missed, shown) = (report.failed + report.pending, report.failing.len());
        html! {
            section.card {
                h2 { strong { a href=(address(&check.id)) { (check.name) } } }
                p {
                    (report.passed) " of " (count(report.services, "service")) " passed"
                    @if let Some(level) = level { " " (level_chip(level)) }
                    " " (state(check.enabled, check.enable_on))
                }
                (missing(visit, &check.parameters, &check.id, &report.failing))
                @if usize::try_from(missed).unwrap_or_default() > shown { p.soft { "The first " (shown) " of " (missed) "." } }
            }
        }
    };
    html! {
        @if reports.is_empty() { section.card { h2 { "Checks" } p.soft { "It has no checks yet." } } }
        @for report in reports { (one(report)) }
    }
}
