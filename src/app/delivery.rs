//! DORA's metrics week by week: of the organisation, a service, a team, a system or a domain.

use maud::{Markup, html};

use super::form::Mistakes;
use super::layout::{Head, page as framed};
use super::offers::{Offered, Offers};
use super::parts::{count, day_of, duration, empty, grouped, link};
use super::plot::{self, Bar};
use super::visit::{Fields, Visit, path};
use super::{Answer, Fault, Site, picker};
use crate::db::{Read, ReadHandle, any};
use crate::deploy::days::DAY;
use crate::deploy::delivery::{self, Delivery, GLANCED, READ, WEEKS};
use crate::deploy::list::SERVICES;
use crate::entity::Timestamp;

const HERE: &str = "/delivery";

/// The path of the delivery of a service, a team, a system or a domain.
pub fn address(noun: &str, alias: &str) -> String {
    link(HERE, &Fields::one(noun, alias).query())
}

/// Shows the delivery.
pub async fn page(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let end = delivery_figures::end(Timestamp::now());
    let production = &site.catalogue.settings().production;
    let named = NOUNS.into_iter().find_map(|(noun, ..)| Some((noun, visit.query.given(noun)?)));
    let about = match named {
        Some((noun, alias)) => site.reading(visit).await?.required(|db| scope::find(db, noun, alias)).await?,
        None => None,
    };
    let mut mistakes = Mistakes::none();
    if let (Some((noun, alias)), None) = (named, &about) {
        mistakes.push(noun, scope::unknown(noun, alias));
        let offers = Offers::read(site, visit, &OFFERED).await?;
        return Ok(Answer::with_status(404, framed(visit, &Head::new("Delivery"), choose(visit, &offers, &mistakes))));
    }
    let offers = Offers::read(site, visit, if named.is_none() { &OFFERED } else { &[] }).await?;
    let reading = site.reading(visit).await?;
    let found = match &about {
        Some(about) => reading.required(|db| delivery::of_services(db, &about.services, now, production, READ)).await?,
        None => reading.required(|db| delivery::of_all(db, now, production)).await?,
    };
    let weeks = count(found.weeks.len() as i64, "week");
    let main = html! {
        p.soft { "Deploys to production in the last " (weeks) ", against the " (weeks) " before. "
            a href="https://dora.dev/guides/dora-metrics/" { "DORA metrics" } "; the levels are those of DORA's report of 2023." }
        @if about.as_ref().is_some_and(scope::Scope::is_cut) {
            p.warning { "Only " (SERVICES) " services are counted." }
        }
        @if delivery_figures::is_empty(&found) {
            (empty("No deploys to production yet.", html! { p { "Deploys that succeed or fail will appear here." } }))
        } @else {
            (delivery_figures::show(&found, named))
        }
        @if about.is_none() { (choose(visit, &offers, &mistakes)) }
    };
    let title = about.as_ref().map_or("Delivery".to_owned(), |about| format!("Delivery of {}", about.name));
    let head = match &about {
        Some(about) => Head::with_parent(&title, &about.address, &about.name),
        None => Head::new(&title),
    };
    Ok(Answer::page(framed(visit, &head, main)))
}

/// The forms that choose a service, a team, a system or a domain.
fn choose(visit: &Visit, offers: &Offers, mistakes: &Mistakes) -> Markup {
    html! {
        h2 { "Of a service, a team, a system or a domain" }
        div.filters {
            @for (noun, of, label) in NOUNS {
                form.filters method="get" action=(HERE) {
                    (offers.show(of, (noun, label, ""), true, (&visit.query, mistakes)))
                    button.quiet { "Show" }
                }
            }
        }
    }
}

/// A figure with its chart.
struct Figure {
    label: &'static str,
    value: Option<String>,
    /// DORA's level.
    level: &'static str,
    /// The same of the weeks before.
    before: Option<String>,
    /// Whether it is better than before, or worse; `None` if it is the same or not known.
    is_better: Option<bool>,
    bars: Vec<Bar>,
}

/// The figures of a team without their charts, for other pages. Nothing without deploys.
pub fn small(found: &Delivery, alias: &str) -> Markup {
    let link = html! { a href=(address("team", alias)) { "Week by week" } };
    if found.now == Metrics::default() && found.before == Metrics::default() {
        return html! {};
    }
    if !found.is_whole {
        return html! { p.soft { "More than " (grouped(GLANCED as i64)) " deploys. " (link) } };
    }
    html! {
        dl.facts { @for figure in [often(found), lead_time(found), failures(found), recovery(found)] {
            dt { (figure.label) }
            dd {
                @match &figure.value { Some(value) => strong { (value) }, None => span.soft { "unknown" } }
                " " (better(figure.is_better))
                small { "before: " (figure.before.as_deref().unwrap_or("unknown")) }
            }
        } }
        p.soft { (WEEKS) " weeks, against the " (WEEKS) " before. " (link) }
    }
}

/// Says whether a figure is better than before, or worse.
fn better(is_better: Option<bool>) -> Markup {
    html! {
        @match is_better {
            Some(true) => span { span.mark.good { "better" } " " },
            Some(false) => span { span.mark.bad { "worse" } " " },
            None => {},
        }
    }
}

fn figures(found: &Delivery) -> Markup {
    let start = found.start;
    let ends = [day_of(start), day_of(Timestamp::from_micros(start.as_micros() + (WEEKS as i64) * 7 * DAY))];
    let ends = [&*ends[0], &*ends[1]];
    html! {
        div.figures {
            @for figure in [often(found), lead_time(found), failures(found), recovery(found)] {
                div.figure {
                    (figure.label)
                    @match &figure.value {
                        Some(value) => { strong { (value) } div { span.mark.none { (figure.level) } } },
                        None => strong.soft { "unknown" },
                    }
                    (better(figure.is_better))
                    @match &figure.before { Some(before) => span { "before: " (before) }, None => span { "before: unknown" } }
                    (plot::bars(&figure.bars, &format!("{} by week", figure.label), ends))
                }
            }
        }
    }
}

/// Compares two values, of which a smaller one is better.
fn is_better<T: PartialOrd>(now: Option<T>, before: Option<T>) -> Option<bool> {
    let (now, before) = (now?, before?);
    (now != before).then_some(now < before)
}

/// A bar for each week.
fn bars(found: &Delivery, value: impl Fn(&Metrics) -> (f64, String), is_bad: bool) -> Vec<Bar> {
    let bar = |(week, metrics): (usize, &Metrics)| {
        let (value, text) = value(metrics);
        Bar { value, title: format!("{text}, week of {}", week_of(found, week)), is_bad: is_bad && value > 0.0 }
    };
    found.weeks.iter().enumerate().map(bar).collect()
}

fn week_of(found: &Delivery, week: usize) -> String {
    day_of(Timestamp::from_micros(found.start.as_micros() + week as i64 * 7 * DAY))
}

fn often(found: &Delivery) -> Figure {
    let a_day = |metrics: &Metrics| metrics.deploys as f64 / PERIOD;
    let (now, before) = (a_day(&found.now), a_day(&found.before));
    Figure {
        label: "Deployment frequency",
        value: Some(frequency(now)),
        level: level(-now, [-1.0, -1.0 / 7.0, -1.0 / 30.0]),
        before: Some(frequency(before)),
        is_better: is_better(Some(-now), Some(-before)),
        bars: bars(found, |week| (week.deploys as f64, count(week.deploys, "deploy")), false),
    }
}

fn lead_time(found: &Delivery) -> Figure {
    let median = |metrics: &Metrics| metrics.lead_time.map(|times| times.median);
    let (now, before) = (median(&found.now), median(&found.before));
    Figure {
        label: "Change lead time",
        value: now.map(duration),
        level: level(now.unwrap_or_default() as f64, [86_400.0, 7.0 * 86_400.0, 30.0 * 86_400.0]),
        before: before.map(duration),
        is_better: is_better(now, before),
        bars: bars(found, |week| seconds(median(week)), false),
    }
}

fn failures(found: &Delivery) -> Figure {
    let rate = |metrics: &Metrics| {
        let all = metrics.succeeded + metrics.failed;
        (all > 0).then(|| metrics.failed as f64 / all as f64)
    };
    let (now, before) = (rate(&found.now), rate(&found.before));
    let percent = |rate: f64| format!("{:.0} %", rate * 100.0);
    Figure {
        label: "Change failure rate",
        value: now.map(percent),
        level: level(now.unwrap_or_default(), [0.05, 0.1, 0.15]),
        before: before.map(percent),
        is_better: is_better(now, before),
        bars: bars(found, |week| (week.failed as f64, count(week.failed, "failure")), true),
    }
}

fn recovery(found: &Delivery) -> Figure {
    let median = |metrics: &Metrics| metrics.recovery_time.map(|times| times.median);
    let (now, before) = (median(&found.now), median(&found.before));
    Figure {
        label: "Recovery time",
        value: now.map(duration),
        level: level(now.unwrap_or_default() as f64, [3_600.0, 86_400.0, 7.0 * 86_400.0]),
        before: before.map(duration),
        is_better: is_better(now, before),
        bars: bars(found, |week| seconds(median(week)), false),
    }
}

/// The height and the title of a bar for a duration.
fn seconds(median: Option<i64>) -> (f64, String) {
    median.map_or((0.0, "none".to_owned()), |median| (median as f64, duration(median)))
}

/// DORA's level of a value, of which a smaller one is better, given the bounds of the three upper ones.
fn level(value: f64, [elite, high, medium]: [f64; 3]) -> &'static str {
    match value {
        value if value <= elite => "elite",
        value if value <= high => "high",
        value if value <= medium => "medium",
        _ => "low",
    }
}

/// The table behind the charts.
fn weeks(found: &Delivery) -> Markup {
    html! {
        details {
            summary { "The weeks as a table" }
            div.scroll tabindex="0" role="region" aria-label="Weeks" {
                table {
                    thead { tr {
                        th scope="col" { "Week of" } th.number scope="col" { "Deploys" } th.number scope="col" { "Failed" }
                        th.number scope="col" { "Lead time" } th.number scope="col" { "Recovery time" }
                    } }
                    tbody { @for (at, week) in found.weeks.iter().enumerate() {
                        tr {
                            th scope="row" { (week_of(found, at)) }
                            td.number { (grouped(week.deploys)) } td.number { (grouped(week.failed)) }
                            td.number { @if let Some(times) = week.lead_time { (duration(times.median)) } }
                            td.number { @if let Some(times) = week.recovery_time { (duration(times.median)) } }
                        }
                    } }
                }
            }
        }
    }
}
