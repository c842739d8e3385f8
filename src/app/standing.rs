//! How services have stood: charts of checks and levels by day, and of a service its checks now and what changed.

use maud::{Markup, html};

use super::ask::ask;
use super::layout::{Head, page as framed};
use super::operations::service_standards::CheckResult;
use super::operations::service_standings::StandingChange;
use super::operations::{self, CheckStatus, LevelServices, Levels, Missed, Results};
use super::parts::{count, date, day_of, empty, level as level_chip, link, pages, time};
use super::plot::{self, Bar};
use super::standard_parts::{address, mark, name, told};
use super::visit::{Fields, Visit, path};
use super::{Answer, Fault, Site};
use catalogue::entity::{Timestamp, action};

/// The number of checks of a service that its page shows, those that it does not pass first.
pub const CHECKS: usize = 100;
/// The least number of days of a chart: fewer show no trend.
const DAYS: usize = 3;

/// A card with the share of results that were passed on each day. Empty before the first day.
pub fn trend(history: &[Results]) -> Markup {
    html! {
        @if !history.is_empty() { section.card { h2 { "Trend" } div.figures { (shares("Passed", history)) } } }
    }
}

/// The share of results that are passed, with a chart of how it was on each day.
fn shares(label: &str, history: &[Results]) -> Markup {
    let (Some(first), Some(last)) = (history.first(), history.last()) else { return html! {} };
    let share = |day: &Results| f64::from(day.passed) / f64::from(day.total.max(1));
    let bar = |day: &Results| Bar {
        value: Some(share(day)),
        title: format!("{}: {} of {}", day_of(day.day.0), day.passed, count(day.total, "result")),
        is_bad: false,
    };
    let bars: Vec<Bar> = history.iter().map(bar).collect();
    let ends = [day_of(first.day.0), day_of(last.day.0)];
    let is_drawn = history.len() >= DAYS && history.iter().any(|day| day.total > 0);
    html! {
        div.figure {
            (label)
            strong { @if last.total > 0 { (percent(share(last))) } @else { "–" } }
            @if is_drawn {
                span { (day_of(first.day.0)) ": " (percent(share(first))) }
                (plot::shares(&bars, &format!("{label}: results passed by day"), [&*ends[0], &*ends[1]]))
            } @else { span { (begins(first.day.0)) } }
        }
    }
}

/// What stands in the place of a chart.
fn begins(day: Timestamp) -> Markup {
    html! { "History begins " (day_of(day)) "." }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Cards with the number of services at each level, and with the results of each category, on each day. Empty before the
/// first day.
pub async fn trends(site: &Site, visit: &Visit) -> Result<Markup, Fault> {
    let account = ask(site, visit, operations::StandardsHistory {}).await?.account;
    let categories = account.rubric.into_iter().flat_map(|rubric| rubric.categories.nodes);
    let categories: Vec<_> = categories.filter(|category| !category.history.is_empty()).collect();
    Ok(html! {
        @if !account.level_history.is_empty() {
            section.card { h2 #levels { "Levels" } (levels(&account.level_history)) }
        }
        @if !categories.is_empty() {
            section.card {
                h2 #categories { "Categories" }
                div.figures { @for category in &categories { (shares(&category.name, &category.history)) } }
            }
        }
    })
}

/// The number of services at each level, with a chart of how it was on each day.
fn levels(history: &[Levels]) -> Markup {
    let (Some(first), Some(last)) = (history.first(), history.last()) else { return html! {} };
    let ends = [day_of(first.day.0), day_of(last.day.0)];
    let services_at = |day: &Levels, place: usize| day.level_counts.get(place).map_or(0, |own| own.service_count);
    let all = |day: &Levels| -> i32 { day.level_counts.iter().map(|count| count.service_count).sum() };
    let is_drawn = history.len() >= DAYS && history.iter().any(|day| all(day) > 0);
    html! {
        @if !is_drawn { p.soft { (begins(first.day.0)) } }
        div.figures {
            @for (place, level) in last.level_counts.iter().enumerate() {
                @let label = name(level.level.name.as_deref());
                @let bars: Vec<Bar> = history.iter().map(|day| Bar {
                    value: Some(f64::from(services_at(day, place)) / f64::from(all(day).max(1))),
                    title: format!("{}: {}", day_of(day.day.0), count(services_at(day, place), "service")),
                    is_bad: false,
                }).collect();
                div.figure {
                    (label)
                    strong { (level.service_count) }
                    @if is_drawn {
                        span { (day_of(first.day.0)) ": " (services_at(first, place)) }
                        (plot::shares(&bars, &format!("Services at the level {label} by day"), [&*ends[0], &*ends[1]]))
                    }
                }
            }
        }
    }
}

/// The card of a team. Empty as long as no check counts, or if counting takes too long.
pub async fn of_team(site: &Site, visit: &Visit, alias: &str) -> Result<Markup, Fault> {
    let Some(team) = unless_too_much(ask(site, visit, operations::TeamStandards { alias }).await)? else {
        return Ok(html! {});
    };
    let list = |index: i32| link("/services", &Fields::one("owner", alias).and("level", &index.to_string()).query());
    let card = |team: operations::team_standards::Team| {
        of_group(&team.level_counts, &team.level_history, &team.missed_checks, Some(&list))
    };
    Ok(team.account.team.map_or_else(|| html! {}, card))
}

/// The card of a system. Empty as long as no check counts, or if counting takes too long.
pub async fn of_system(site: &Site, visit: &Visit, alias: &str) -> Result<Markup, Fault> {
    let Some(system) = unless_too_much(ask(site, visit, operations::SystemStandards { alias }).await)? else {
        return Ok(html! {});
    };
    let card = |system: operations::system_standards::System| {
        of_group(&system.level_counts, &system.level_history, &system.missed_checks, None)
    };
    Ok(system.account.system.map_or_else(|| html! {}, card))
}

fn unless_too_much<T>(answer: Result<T, Fault>) -> Result<Option<T>, Fault> {
    match answer {
        Err(Fault::TooMuch(_)) => Ok(None),
        answer => answer.map(Some),
    }
}

/// The card of a group of services: their levels, and the checks to pass first. `list` is the address of the services at a
/// level, by its index.
fn of_group(
    counts: &[LevelServices],
    history: &[Levels],
    missed: &[Missed],
    list: Option<&dyn Fn(i32) -> String>,
) -> Markup {
    if counts.iter().all(|count| count.service_count == 0) {
        return html! {};
    }
    html! {
        section.card {
            h2 #standards { "Standards" }
            // The facts below say how many there are now.
            @if history.len() >= DAYS { (levels(history)) }
            @else if let Some(first) = history.first() { p.soft { (begins(first.day.0)) } }
            dl.facts { @for own in counts {
                dt { (name(own.level.name.as_deref())) }
                dd { @match (own.level.index, list) {
                    (Some(index), Some(list)) if own.service_count > 0 => {
                        a href=(list(index)) { (count(own.service_count, "service")) }
                    }
                    _ => (count(own.service_count, "service")),
                } }
            } }
            @if missed.is_empty() { p { "Its services pass all of their checks." } } @else {
                p { "To pass, the next step first:" }
                ul { @for missed in missed { li {
                    a href=(address(&missed.check.id)) { (missed.check.name) }
                    @if let Some(level) = &missed.check.level { " " (level_chip(name(level.name.as_deref()))) }
                    " " span.soft { (count(missed.services, "service")) }
                } } }
            }
        }
    }
}

/// The path of the page with the changes of a service.
pub fn changes_of(alias: &str) -> String {
    path(["services", alias, "standards"])
}

/// The checks of a service and how each stands. Empty as long as none counts, or if evaluating all takes too long.
async fn checks(site: &Site, visit: &Visit, alias: &str) -> Result<Markup, Fault> {
    let service = match ask(site, visit, operations::ServiceStandards { alias }).await {
        Ok(found) => found.account.service,
        Err(Fault::TooMuch(_) | Fault::BadRequest(_)) => None,
        Err(fault) => return Err(fault),
    };
    let report = service.and_then(|service| service.maturity_report);
    let mut results = report.and_then(|report| report.latest_check_results).unwrap_or_default();
    let place = |result: &CheckResult| match result.status {
        CheckStatus::Failed => 0,
        CheckStatus::Pending => 1,
        CheckStatus::Upcoming => 2,
        CheckStatus::Passed => 3,
    };
    results.sort_by_key(|result| (place(result), result.check.level.as_ref().and_then(|level| level.index)));
    let left_out = results.len().saturating_sub(CHECKS);
    Ok(html! {
        @if !results.is_empty() {
            h2 #checks { "Checks now" }
            div.scroll tabindex="0" role="region" aria-label="Checks" {
                table.stacked {
                    thead { tr { @for heading in ["Check", "Result", "Why"] { th scope="col" { (heading) } } } }
                    tbody { @for result in results.iter().take(CHECKS) { (standing(result)) } }
                }
            }
            @if left_out > 0 { p.soft { "and " (left_out) " more" } }
        }
    })
}

fn standing(result: &CheckResult) -> Markup {
    let level = result.check.level.as_ref().and_then(|level| level.name.as_deref());
    html! {
        tr {
            th scope="row" {
                a href=(address(&result.check.id)) { (result.check.name) }
                @if let Some(level) = level { small { (level_chip(level)) } }
            }
            td {
                (mark(result.status))
                @if let Some(since) = result.since { small { "since " (date(since.0)) } }
            }
            td { (told(&result.message)) }
        }
    }
}

/// Shows how a service stands, and how it has stood, newest first.
pub async fn page(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let asked = operations::ServiceStandings { alias, after: visit.query.given("after") };
    let service = ask(site, visit, asked).await?.account.service.ok_or_else(|| Fault::unknown("service", alias))?;
    let (changes, here, now) = (&service.standing_changes, changes_of(alias), Timestamp::now());
    // Further pages are of what changed.
    let checks = if visit.query.given("after").is_none() {
        checks(site, visit, alias).await?
    } else {
        html! {}
    };
    let main = html! {
        (checks)
        h2 #changes { "How it has stood" }
        @if changes.nodes.is_empty() {
            (empty("No changes yet.", html! { p { "What checks say of this service is kept from now on. Changes will appear here." } }))
        } @else {
            div.scroll tabindex="0" role="region" aria-label="Changes" {
                table.lined {
                    thead { tr {
                        @for heading in ["What", "Change"] { th scope="col" { (heading) } }
                        @for heading in ["Found", "Cause"] { th.wide scope="col" { (heading) } }
                        th.number scope="col" { "When" }
                    } }
                    tbody { @for change in &changes.nodes { (row(change, now)) } }
                }
            }
        }
        (pages(visit, &here, &changes.page_info))
    };
    let level = service.maturity_report.as_ref().and_then(|report| report.overall_level.as_ref());
    let title = format!("Standards of {}", service.name);
    let head = Head {
        chips: html! { @if let Some(level) = level { (level_chip(name(level.name.as_deref()))) } },
        ..Head::below(visit, &title, &[(&*path(["services", alias]), &*service.name)])
    };
    Ok(Answer::page(framed(visit, &head, main)))
}

fn row(change: &StandingChange, now: Timestamp) -> Markup {
    let word = |word: &Option<String>| html! { (word.as_deref().unwrap_or("none")) };
    html! {
        tr {
            th scope="row" {
                @match &change.check { Some(check) => a href=(address(&check.id)) { (check.name) }, None => "Level" }
            }
            td {
                (word(&change.before)) " → " (word(&change.after))
                @if let Some(message) = &change.message { small.on-phones { (told(message)) } }
            }
            td.wide { (told(change.message.as_deref().unwrap_or_default())) }
            td.wide { (action::causes(&change.cause)) }
            td.number { (time(change.at.0, now)) }
        }
    }
}
