//! How services have stood: charts of checks and levels by day, and the changes of a service.

use maud::{Markup, html};

use super::ask::ask;
use super::layout::{Head, page as framed};
use super::operations::service_standings::StandingChange;
use super::operations::{self, Results};
use super::parts::{count, day_of, empty, link, pages, time};
use super::plot::{self, Bar};
use super::standards::{address, name};
use super::visit::{Fields, Visit, path};
use super::{Answer, Fault, Site};
use crate::entity::Timestamp;

/// A card with the share of results that were passed on each day. Empty before the first day.
pub fn trend(history: &[Results]) -> Markup {
    let (Some(first), Some(last)) = (history.first(), history.last()) else { return html! {} };
    let share = |day: &Results| f64::from(day.passed) / f64::from(day.total.max(1));
    let bar = |day: &Results| Bar {
        value: share(day),
        title: format!("{}: {} of {}", day_of(day.day.0), day.passed, count(day.total, "result")),
        is_bad: false,
    };
    let bars: Vec<Bar> = history.iter().map(bar).collect();
    let ends = [day_of(first.day.0), day_of(last.day.0)];
    html! {
        section.card {
            h2 { "Trend" }
            div.figures {
                div.figure {
                    "Passed"
                    strong { (percent(share(last))) }
                    @if history.len() > 1 { span { (day_of(first.day.0)) ": " (percent(share(first))) } }
                    (plot::shares(&bars, "Results passed by day", [&*ends[0], &*ends[1]]))
                }
            }
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A card with the number of services at each level on each day. Empty before the first day.
pub async fn levels(site: &Site, visit: &Visit) -> Result<Markup, Fault> {
    let history = ask(site, visit, operations::StandardsHistory {}).await?.account.level_history;
    let (Some(first), Some(last)) = (history.first(), history.last()) else { return Ok(html! {}) };
    let ends = [day_of(first.day.0), day_of(last.day.0)];
    let all = |counts: &[operations::standards_history::LevelCount]| -> i32 {
        counts.iter().map(|count| count.service_count).sum()
    };
    Ok(html! {
        section.card {
            h2 #levels { "Levels" }
            div.figures {
                @for (place, level) in last.level_counts.iter().enumerate() {
                    @let of = |counts: &[operations::standards_history::LevelCount]| counts.get(place).map_or(0, |own| own.service_count);
                    @let label = name(level.level.name.as_deref());
                    @let bars: Vec<Bar> = history.iter().map(|day| {
                        let (own, all) = (of(&day.level_counts), all(&day.level_counts));
                        Bar {
                            value: f64::from(own) / f64::from(all.max(1)),
                            title: format!("{}: {}", day_of(day.day.0), count(own, "service")),
                            is_bad: false,
                        }
                    }).collect();
                    div.figure {
                        (label)
                        strong { (level.service_count) }
                        @if history.len() > 1 { span { (day_of(first.day.0)) ": " (of(&first.level_counts)) } }
                        (plot::shares(&bars, &format!("Services at the level {label} by day"), [&*ends[0], &*ends[1]]))
                    }
                }
            }
        }
    })
}

/// The card of a team: the levels of its services, and the checks to pass first. Empty as long as no check counts, or if
/// counting takes too long.
pub async fn of_team(site: &Site, visit: &Visit, alias: &str) -> Result<Markup, Fault> {
    let team = match ask(site, visit, operations::TeamStandards { alias }).await {
        Ok(found) => found.account.team,
        Err(Fault::TooMuch(_)) => None,
        Err(fault) => return Err(fault),
    };
    let Some(team) = team.filter(|team| team.level_counts.iter().any(|count| count.service_count > 0)) else {
        return Ok(html! {});
    };
    let list = |index: i32| link("/services", &Fields::one("owner", alias).and("level", &index.to_string()).query());
    Ok(html! {
        section.card {
            h2 #standards { "Standards" }
            dl { @for own in &team.level_counts {
                dt { (name(own.level.name.as_deref())) }
                dd { @match own.level.index {
                    Some(index) if own.service_count > 0 => a href=(list(index)) { (count(own.service_count, "service")) },
                    _ => (count(own.service_count, "service")),
                } }
            } }
            @if team.missed_checks.is_empty() { p { "Its services pass all of their checks." } } @else {
                p { "To pass, the next step first:" }
                ul { @for missed in &team.missed_checks { li {
                    a href=(address(&missed.check.id)) { (missed.check.name) }
                    @if let Some(level) = &missed.check.level { " " span.mark.none { (name(level.name.as_deref())) } }
                    " " span.soft { (count(missed.services, "service")) }
                } } }
            }
        }
    })
}

/// The path of the page with the changes of a service.
pub fn changes_of(alias: &str) -> String {
    path(["services", alias, "standards"])
}

/// Shows how a service has stood, newest first.
pub async fn page(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let asked = operations::ServiceStandings { alias, after: visit.query.given("after") };
    let service = ask(site, visit, asked).await?.account.service.ok_or_else(|| Fault::unknown("service", alias))?;
    let (changes, here, now) = (&service.standing_changes, changes_of(alias), Timestamp::now());
    let main = html! {
        @if changes.nodes.is_empty() {
            (empty("No changes yet.", html! { p { "What checks say of this service is kept from now on. Changes will appear here." } }))
        } @else {
            div.scroll tabindex="0" role="region" aria-label="Changes" {
                table {
                    thead { tr { @for heading in ["When", "What", "Change", "Found", "Cause"] { th scope="col" { (heading) } } } }
                    tbody { @for change in &changes.nodes { (row(change, now)) } }
                }
            }
        }
        (pages(visit, &here, &changes.page_info))
    };
    let level = service.maturity_report.as_ref().and_then(|report| report.overall_level.as_ref());
    let title = format!("Standards of {}", service.name);
    let head = Head {
        chips: html! { @if let Some(level) = level { span.mark.none { (name(level.name.as_deref())) } } },
        ..Head::below(&title, &path(["services", alias]), &service.name)
    };
    Ok(Answer::page(framed(visit, &head, main)))
}

fn row(change: &StandingChange, now: Timestamp) -> Markup {
    let word = |word: &Option<String>| html! { (word.as_deref().unwrap_or("none")) };
    html! {
        tr {
            td { (time(change.at.0, now)) }
            td { @match &change.check { Some(check) => a href=(address(&check.id)) { (check.name) }, None => "Level" } }
            td { (word(&change.before)) " → " (word(&change.after)) }
            td { (change.message.as_deref().unwrap_or_default()) }
            td { (change.cause) }
        }
    }
}
