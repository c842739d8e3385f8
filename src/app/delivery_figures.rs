//! DORA's metrics of 12 weeks as figures: each with a chart of its weeks, how it was in the weeks before, and a link to the
//! deploys that it counts. The table behind the charts has the same of each week.

use maud::{Markup, html};

use super::deploy_filter::PRODUCTION;
use super::deploys::{frequency, frequency_like};
use super::parts::{count, day_of, duration, form_day, grouped, link, near_day};
use super::plot::{self, Bar};
use super::visit::Fields;
use catalogue::deploy::days::DAY;
use catalogue::deploy::delivery::{Delivery, WEEKS};
use catalogue::deploy::metrics::Metrics;
use catalogue::entity::Timestamp;

/// A week, in microseconds.
const WEEK: i64 = 7 * DAY;

/// The end of the weeks that are shown: that of the day (UTC), so that lists of deploys have the same days.
pub fn end(now: Timestamp) -> Timestamp {
    Timestamp::from_micros((now.as_micros().div_euclid(DAY) + 1) * DAY)
}

/// Shows the figures and their table. `about` has the nouns and the aliases that the delivery is of: none for all services.
pub fn show(found: &Delivery, about: &[(&str, &str)]) -> Markup {
    let sources = about.iter().fold(Fields::default(), |fields, (noun, alias)| fields.append(noun, alias));
    let sources = Sources(sources);
    html! {
        @if !found.is_whole { p.warning { "There are too many deploys: the earliest of these weeks are not counted." } }
        @else if found.weeks.len() < WEEKS {
            p.warning { "There are too many deploys for " (WEEKS) " weeks: these are the last " (count(found.weeks.len() as i64, "week")) "." }
        }
        @if !has_earlier(found) { p.soft { "There are no earlier deploys to compare with." } }
        (figures(found, &sources))
        (weeks(found, &sources))
    }
}

/// The figures of a team without their charts, for other pages. Nothing without deploys.
pub fn small(found: &Delivery, alias: &str) -> Markup {
    if is_empty(found) {
        return html! {};
    }
    let sources = Sources(Fields::one("team", alias));
    let shown =
        [often(found, &sources), lead_time(found, &sources), failures(found, &sources), recovery(found, &sources)];
    let weeks = count(found.weeks.len() as i64, "week");
    html! {
        dl.facts { @for figure in shown {
            dt title=(figure.name) { (figure.label) }
            dd {
                @match &figure.value { Some(value) => strong { (value) }, None => span.soft { "unknown" } }
                " " (changed(&figure))
            }
        } }
        p.soft {
            (weeks) @if has_earlier(found) { ", against the " (weeks) " before. " } @else { ". There are no earlier deploys. " }
            a href=(link("/delivery", &sources.0.query())) { "Week by week" }
        }
    }
}

/// Says in one line how a figure was before, and whether it is better now, or worse.
fn changed(figure: &Figure) -> Markup {
    let Some(before) = &figure.before else { return html! {} };
    // What reads alike is not said to differ.
    if figure.value.as_ref().is_some_and(|value| *before == format!("before: {value}")) {
        return html! { small { "as before" } };
    }
    html! {
        small {
            @match figure.is_better {
                Some(true) => { span.mark.good { "better" } " " }
                Some(false) => { span.mark.bad { "worse" } " " }
                None => {}
            }
            (before)
        }
    }
}

/// Whether there is nothing to show.
pub fn is_empty(found: &Delivery) -> bool {
    found.now == Metrics::default() && found.before == Metrics::default()
}

/// The lists of the deploys that figures count.
struct Sources(Fields);

impl Sources {
    /// The path of the list of some weeks, of deploys with a status, or of all.
    fn list(&self, found: &Delivery, (from, to): (usize, usize), status: &str) -> String {
        let last = Timestamp::from_micros(week(found, to).as_micros() - 1);
        let query = self.0.clone().and("from", &form_day(week(found, from))).and("until", &form_day(last));
        link("/deploys", &query.and(PRODUCTION, "1").and("status", status).query())
    }

    /// The list of the deploys that took place in some weeks. Some may have been sent without a status.
    fn took_place(&self, found: &Delivery, weeks: (usize, usize), metrics: &Metrics) -> String {
        self.list(found, weeks, if metrics.succeeded == metrics.deploys { "succeeded" } else { "" })
    }
}

/// A figure with its chart.
struct Figure {
    label: &'static str,
    /// DORA's name of it, which is longer.
    name: &'static str,
    value: Option<String>,
    /// DORA's level.
    level: &'static str,
    /// The same of the weeks before, in the same unit, in words. `None` if these weeks have no deploys at all.
    before: Option<String>,
    /// Whether it is better than before, or worse; `None` if it is the same or not known.
    is_better: Option<bool>,
    /// What it is made of: a text, and the list of these deploys.
    source: (String, String),
    bars: Vec<Bar>,
    /// What the height of a bar stands for.
    scale: fn(f64) -> String,
}

fn figures(found: &Delivery, sources: &Sources) -> Markup {
    let (now, last) = (Timestamp::now(), Timestamp::from_micros(week(found, found.weeks.len()).as_micros() - 1));
    let ends = [near_day(found.start, now), near_day(last, now)];
    let ends = [&*ends[0], &*ends[1]];
    let shown = [often(found, sources), lead_time(found, sources), failures(found, sources), recovery(found, sources)];
    html! {
        div.figures {
            @for figure in shown {
                div.figure {
                    span title=(figure.name) { (figure.label) }
                    @match &figure.value {
                        Some(value) => div.value { strong { (value) } " " span.mark.none { (figure.level) } },
                        None => div.value { strong.soft { "unknown" } },
                    }
                    a href=(figure.source.1) { (figure.source.0) }
                    (changed(&figure))
                    (plot::bars(&figure.bars, &format!("{} by week", figure.name), ends, figure.scale))
                }
            }
        }
    }
}

/// Compares two values, of which a smaller one is better.
fn is_better<T: PartialOrd>(now: Option<T>, before: Option<T>) -> Option<bool> {
    let (now, before) = (now?, before?);
    (now != before).then(|| now < before)
}

/// Whether there is something to compare with.
pub fn has_earlier(found: &Delivery) -> bool {
    found.before != Metrics::default()
}

/// How a figure was in the weeks before, if they have deploys.
fn earlier(found: &Delivery, value: Option<String>) -> Option<String> {
    has_earlier(found).then(|| format!("before: {}", value.as_deref().unwrap_or("unknown")))
}

/// A bar for each week.
fn bars(found: &Delivery, value: impl Fn(&Metrics) -> (Option<f64>, String), is_bad: bool) -> Vec<Bar> {
    let bar = |(at, metrics): (usize, &Metrics)| {
        let (value, text) = value(metrics);
        let title = format!("{text}, week of {}", day_of(week(found, at)));
        Bar { value, title, is_bad: is_bad && value > Some(0.0) }
    };
    found.weeks.iter().enumerate().map(bar).collect()
}

/// All weeks, as the lists of their deploys take them.
fn all(found: &Delivery) -> (usize, usize) {
    (0, found.weeks.len())
}

/// The start of a week.
fn week(found: &Delivery, at: usize) -> Timestamp {
    Timestamp::from_micros(found.start.as_micros() + at as i64 * WEEK)
}

fn often(found: &Delivery, sources: &Sources) -> Figure {
    let days = (found.weeks.len() * 7) as f64;
    let a_day = |metrics: &Metrics| metrics.deploys as f64 / days;
    let (now, before) = (a_day(&found.now), a_day(&found.before));
    Figure {
        label: "Deploys",
        name: "Deployment frequency",
        value: Some(if found.now.deploys == 0 { "none".to_owned() } else { frequency(now) }),
        level: level(-now, [-1.0, -1.0 / 7.0, -1.0 / 30.0]),
        before: earlier(found, Some(frequency_like(before, if found.now.deploys == 0 { before } else { now }))),
        // Without earlier deploys there is nothing to be better than.
        is_better: is_better(Some(-now), has_earlier(found).then_some(-before)),
        source: (count(found.now.deploys, "deploy"), sources.took_place(found, all(found), &found.now)),
        bars: bars(found, |week| (Some(week.deploys as f64), count(week.deploys, "deploy")), false),
        scale: |most| count(most as i64, "deploy"),
    }
}

fn lead_time(found: &Delivery, sources: &Sources) -> Figure {
    let median = |metrics: &Metrics| metrics.lead_time.map(|times| times.median);
    let (now, before) = (median(&found.now), median(&found.before));
    let measured = found.now.lead_time.map_or(0, |times| times.count);
    let source = format!("{} of {} with a commit date", grouped(measured), count(found.now.deploys, "deploy"));
    Figure {
        label: "Lead time",
        name: "Change lead time",
        value: now.map(duration),
        level: level(now.unwrap_or_default() as f64, [86_400.0, 7.0 * 86_400.0, 30.0 * 86_400.0]),
        before: earlier(found, before.map(duration)),
        is_better: is_better(now, before),
        source: (source, sources.took_place(found, all(found), &found.now)),
        bars: bars(found, |week| seconds(median(week)), false),
        scale: |most| duration(most as i64),
    }
}

fn failures(found: &Delivery, sources: &Sources) -> Figure {
    let rate = |metrics: &Metrics| {
        let all = metrics.succeeded + metrics.failed;
        (all > 0).then(|| metrics.failed as f64 / all as f64)
    };
    let (now, before) = (rate(&found.now), rate(&found.before));
    let percent = |rate: f64| format!("{:.0} %", rate * 100.0);
    let source = format!("{} of {} failed", grouped(found.now.failed), grouped(found.now.succeeded + found.now.failed));
    Figure {
        label: "Failure rate",
        name: "Change failure rate",
        value: now.map(percent),
        level: level(now.unwrap_or_default(), [0.05, 0.1, 0.15]),
        before: earlier(found, before.map(percent)),
        is_better: is_better(now, before),
        source: (source, sources.list(found, all(found), "failed")),
        bars: bars(found, |week| (Some(week.failed as f64), count(week.failed, "failure")), true),
        scale: |most| count(most as i64, "failure"),
    }
}

fn recovery(found: &Delivery, sources: &Sources) -> Figure {
    let median = |metrics: &Metrics| metrics.recovery_time.map(|times| times.median);
    let (now, before) = (median(&found.now), median(&found.before));
    let recovered = found.now.recovery_time.map_or(0, |times| times.count);
    let source = format!("{} of {} recovered", grouped(recovered), count(found.now.failed, "failure"));
    Figure {
        label: "Recovery",
        name: "Recovery time",
        value: now.map(duration),
        level: level(now.unwrap_or_default() as f64, [3_600.0, 86_400.0, 7.0 * 86_400.0]),
        before: earlier(found, before.map(duration)),
        is_better: is_better(now, before),
        source: (source, sources.list(found, all(found), "failed")),
        bars: bars(found, |week| seconds(median(week)), false),
        scale: |most| duration(most as i64),
    }
}

/// The height and the title of a bar for a duration.
fn seconds(median: Option<i64>) -> (Option<f64>, String) {
    (median.map(|median| median as f64), median.map_or_else(|| "none".to_owned(), duration))
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
fn weeks(found: &Delivery, sources: &Sources) -> Markup {
    let listed = |number: i64, list: String| {
        html! { @if number > 0 { a href=(list) { (grouped(number)) } } @else { (number) } }
    };
    html! {
        details {
            summary { "The weeks as a table" }
            div.scroll tabindex="0" role="region" aria-label="Weeks" {
                table {
                    thead { tr {
                        th scope="col" { "Week of" } th.number scope="col" { "Deploys" } th.number scope="col" { "Failed" }
                        th.number scope="col" { "Lead time" } th.number scope="col" { "Recovery time" }
                    } }
                    tbody { @for (at, metrics) in found.weeks.iter().enumerate() {
                        tr {
                            th scope="row" { (day_of(week(found, at))) }
                            td.number { (listed(metrics.deploys, sources.took_place(found, (at, at + 1), metrics))) }
                            td.number { (listed(metrics.failed, sources.list(found, (at, at + 1), "failed"))) }
                            td.number { @if let Some(times) = metrics.lead_time { (duration(times.median)) } }
                            td.number { @if let Some(times) = metrics.recovery_time { (duration(times.median)) } }
                        }
                    } }
                }
            }
        }
    }
}
