//! Elements shared by many pages: times, empty lists, pagination.

use std::borrow::Cow;
use std::str::FromStr;

use maud::{Markup, html};

use super::form::Mistakes;
use super::operations::{DeployStatusEnum, PageInfo};
use super::visit::{Fields, Trail, Visit};
use catalogue::deploy::days::DAY;
use catalogue::entity::pages::path;
use catalogue::entity::{TimeCursor, Timestamp};

/// A point in time in relative words, with the exact time as a tooltip.
pub fn time(moment: Timestamp, now: Timestamp) -> Markup {
    stamped(moment, &relative(moment, now))
}

/// The day of a point in time, with the exact time as a tooltip, where rounded words would mislead.
pub fn date(moment: Timestamp) -> Markup {
    stamped(moment, &day_of(moment))
}

/// The time of day of a point in time in UTC, with the exact time as a tooltip, below a heading that says the day.
pub fn time_of_day(moment: Timestamp) -> Markup {
    let exact = moment.to_string();
    stamped(moment, exact.get(11..16).unwrap_or(&exact))
}

/// A text about a point in time. The tooltip shows the time to the minute.
fn stamped(moment: Timestamp, text: &str) -> Markup {
    html! { time datetime=(moment) title=(moment.minute()) { (text) } }
}

/// The day of a point in time in UTC, such as `27 Nov 2026`.
pub fn day_of(moment: Timestamp) -> String {
    moment.day()
}

/// The day of a point in time in UTC, without the year if that is this year: `27 Nov`.
pub fn near_day(moment: Timestamp, now: Timestamp) -> String {
    let (day, today) = (day_of(moment), day_of(now));
    match day.rsplit_once(' ') {
        Some((start, year)) if today.ends_with(year) => start.to_owned(),
        _ => day,
    }
}

/// A point in time to the minute, for what begins or ends then: `27 Nov 22:40 UTC`.
pub fn clock(moment: Timestamp, now: Timestamp) -> Markup {
    let exact = moment.to_string();
    stamped(moment, &format!("{} {} UTC", near_day(moment, now), exact.get(11..16).unwrap_or_default()))
}

/// Formats a time relative to now, such as `3 minutes ago`, `in 2 days`, `just now`. A week or more away, it is a date.
pub fn relative(moment: Timestamp, now: Timestamp) -> String {
    let seconds = (now.as_micros() - moment.as_micros()) / 1_000_000;
    let (ahead, seconds) = (seconds < 0, seconds.unsigned_abs());
    if seconds >= 7 * 86_400 {
        return day_of(moment);
    }
    const UNITS: &[(u64, &str)] = &[(86_400, "day"), (3_600, "hour"), (60, "minute")];
    let Some((size, unit)) = UNITS.iter().find(|(size, _)| seconds >= *size) else { return "just now".to_owned() };
    let count = seconds / size;
    let plural = if count == 1 { "" } else { "s" };
    if ahead { format!("in {count} {unit}{plural}") } else { format!("{count} {unit}{plural} ago") }
}

/// The cursor of the next page, as it stands in the address.
pub fn cursor_text((at, id): TimeCursor) -> String {
    format!("{}_{id}", at.as_micros())
}

/// Reads [`cursor_text`] from the query: where a page begins. `None` on the first page, which one that is not valid is, too.
pub fn begins_at(query: &Fields, mistakes: &mut Mistakes) -> Option<TimeCursor> {
    let (at, id) = query.given("after")?.split_once('_').unwrap_or_default();
    let place = at.parse().ok().zip(id.parse().ok()).map(|(at, id)| (Timestamp::from_micros(at), id));
    if place.is_none() {
        mistakes.push("after", "The page in the address is not valid: this is the first one.");
    }
    place
}

/// Links to the first, the previous and the next page of a list at `path`. Keeps the other query parameters.
pub fn pages(visit: &Visit, path: &str, info: &PageInfo) -> Markup {
    page_links(visit, path, info.end_cursor.as_deref().filter(|_| info.has_next_page))
}

/// The same links, given the cursor of the next page.
pub fn page_links(visit: &Visit, path: &str, next: Option<&str>) -> Markup {
    let here = visit.query.given("after");
    let to = |after: &str, trail: &Trail| link(path, &trail.beside(visit.query.clone().and("after", after)));
    // A first page has none before it, whatever its address says.
    let previous = visit.trail.previous().filter(|_| here.is_some());
    html! {
        @if here.is_some() || next.is_some() {
            nav.pages aria-label="Pages" {
                @if here.is_some() { a href=(to("", &Trail::default())) { "First page" } }
                @if let Some((before, trail)) = previous { a rel="prev" href=(to(before, &trail)) { "Previous page" } }
                @if let Some(next) = next {
                    @let trail = if here.is_some() { visit.trail.onward(here) } else { Trail::default().onward(None) };
                    a rel="next" href=(to(next, &trail)) { "Next page" }
                }
            }
        }
    }
}

/// A filter in use as a chip, with a link to the list at `here` that removes it. `value` is in words.
pub fn chip(visit: &Visit, here: &str, name: &str, label: &str, value: &str) -> Markup {
    let without = link(here, &visit.query.without("after").without(name).query());
    html! {
        li { a href=(without) {
            (label) " " strong { (short(value)) } span aria-hidden="true" { " ×" } span.hidden { ", remove this filter" }
        } }
    }
}

/// Parses the order of a list from the query. `None` if the query has none, or one that the list does not know.
pub fn order<T: FromStr>(visit: &Visit, mistakes: &mut Mistakes) -> Option<T> {
    let order = visit.query.given("sort")?.parse().ok();
    if order.is_none() {
        mistakes.push("sort", "The list has no such order as the address says. This is its usual one.");
    }
    order
}

/// The heading of a column: a link that sorts the list at `path` by this column, or reverses the order if it is sorted by
/// this column already. `order` is the name of the SDL's order without `_ASC` and `_DESC`. The link leads to the first
/// page. Phones leave out a column that is `wide`.
pub fn sorted(visit: &Visit, path: &str, label: &str, order: &str, wide: bool) -> Markup {
    sorted_of(visit, path, (label, order), wide.then_some("wide"))
}

/// The same for a column whose cells have a class.
pub fn sorted_of(visit: &Visit, path: &str, named: (&str, &str), class: Option<&str>) -> Markup {
    let (now, link) = sort_link(visit, path, named);
    html! { th class=[class] scope="col" aria-sort=[now] { (link) } }
}

/// The link of such a heading, and how the list is sorted by it now.
pub fn sort_link(visit: &Visit, path: &str, (label, order): (&str, &str)) -> (Option<&'static str>, Markup) {
    let (up, down) = (format!("{order}_ASC"), format!("{order}_DESC"));
    let (now, mark, next) = match visit.query.get("sort") {
        sort if sort == up => (Some("ascending"), " ▲", down),
        sort if sort == down => (Some("descending"), " ▼", up),
        _ => (None, "", up),
    };
    let address = link(path, &visit.query.without("after").query_with("sort", &next));
    (now, html! { a href=(address) { (label) span aria-hidden="true" { (mark) } } })
}

/// Joins a path and a query, which may be empty.
pub fn link(path: &str, query: &str) -> String {
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// The text for an empty list, and what to do next.
pub fn empty(what: &str, next: Markup) -> Markup {
    html! { div.empty { p { strong { (what) } } (next) } }
}

/// A delete form behind a question, so that a single click deletes nothing, even without scripts.
pub fn delete_button(action: &str, label: &str, about: &str, question: &str) -> Markup {
    asked(action, label, about, question, ("confirm", Some("danger")))
}

/// The same for a form that replaces something, such as a secret. It is not red: nothing is lost.
pub fn replace_button(action: &str, label: &str, about: &str, question: &str) -> Markup {
    asked(action, label, about, question, ("confirm quiet", None))
}

/// A form behind a question. The classes are that of the question, and that of its button.
fn asked(action: &str, label: &str, about: &str, question: &str, classes: (&str, Option<&str>)) -> Markup {
    let (first, rest) = label.split_at(label.chars().next().map_or(0, char::len_utf8));
    html! {
        details class=(classes.0) {
            summary { (label) span.hidden { " " (about) } }
            form method="post" action=(action) {
                p { (question) }
                button class=[classes.1] { "Yes, " (first.to_lowercase()) (rest) span.hidden { " " (about) } }
            }
        }
    }
}

/// The path of a URL, if it leads to the application; otherwise the URL.
pub fn local<'u>(url: &'u str, app_url: &str) -> &'u str {
    url.strip_prefix(app_url).unwrap_or(url)
}

/// A link to another site, if its scheme is safe. Otherwise just the text.
pub fn external_link(address: Option<&str>, text: &str) -> Markup {
    let safe = address.filter(|address| address.starts_with("https://") || address.starts_with("http://"));
    html! {
        @if let Some(address) = safe { a href=(address) rel="noopener noreferrer" { (text) } } @else { (text) }
    }
}

/// A list of tags: keys and values, which may be empty.
pub fn tags<'t>(tags: impl IntoIterator<Item = (&'t str, &'t str)>) -> Markup {
    html! {
        ul.marks { @for (key, value) in tags { li { span.mark.none { (key) @if !value.is_empty() { ": " (value) } } } } }
    }
}

/// A tier as a chip: its position, with its name as a tooltip and for screen readers. It is calm in each list: a colour says
/// that something is wrong.
pub fn tier(index: i32, name: &str) -> Markup {
    html! { span.mark.brief.none title=(name) { "T" (index) span.hidden { " " (name) } } }
}

/// A level as a chip.
pub fn level(name: &str) -> Markup {
    html! { span.mark.none { (short(name)) } }
}

/// Links to the team that owns something.
pub fn owner(team: Option<(&str, &str)>) -> Markup {
    html! {
        @match team {
            Some((alias, name)) => a href=(path(["teams", alias])) { (name) },
            None => span.mark.warn { "none" },
        }
    }
}

/// The status of a deploy.
pub fn status(understood: DeployStatusEnum, sent: Option<&str>) -> Markup {
    // The normalised status, in the words of the webhook. The tooltip shows the pipeline's own word, if it is another.
    let (class, word) = match understood {
        DeployStatusEnum::Success => ("mark brief good", Some("succeeded")),
        DeployStatusEnum::Failure => ("mark brief bad", Some("failed")),
        DeployStatusEnum::Queued => ("mark brief warn", Some("queued")),
        DeployStatusEnum::Running => ("mark brief warn", Some("running")),
        DeployStatusEnum::Canceled => ("mark brief none", Some("cancelled")),
        DeployStatusEnum::NoStatus => ("mark none", sent),
    };
    let own = sent.filter(|own| Some(*own) != word);
    html! { @if let Some(word) = word { span class=(class) title=[own] { (word) } } }
}

/// Formats a number with its noun, such as `1 deploy`, `2,000 deploys`, `2 repositories`.
pub fn count(number: impl Into<i64>, noun: &str) -> String {
    let number = number.into();
    if number == 1 { format!("1 {noun}") } else { format!("{} {}", grouped(number), plural(noun)) }
}

fn plural(noun: &str) -> String {
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{noun}s"),
    }
}

/// Pages count lists up to this number. Counting more would take longer than reading the page.
pub const COUNTED: u32 = 10_000;

/// What a search finds is counted up to this number: a count reads each row that is found, not an entry of an index.
pub const FOUND: u32 = 1_000;

/// Like [`count`], for a list whose count stops at [`COUNTED`]: `10,000+ services`.
pub fn count_to_most(number: i32, noun: &str) -> String {
    count_to(COUNTED, number, noun)
}

/// Like [`count`], for a list whose count stops at `most`.
pub fn count_to(most: u32, number: i32, noun: &str) -> String {
    match i64::from(number) > i64::from(most) {
        true => format!("{}+ {}", grouped(most), plural(noun)),
        false => count(number, noun),
    }
}

/// Groups digits: `1,234,567`.
pub fn grouped(number: impl Into<i64>) -> String {
    let digits = number.into().to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Shortens a text to the start of its first line.
pub fn short(text: &str) -> Cow<'_, str> {
    const MOST: usize = 160;
    let line = text.trim_start().lines().next().unwrap_or_default();
    match line.char_indices().nth(MOST) {
        Some((end, _)) => Cow::Owned(format!("{}…", &line[..end])),
        None if line.len() < text.trim().len() => Cow::Owned(format!("{line} …")),
        None => Cow::Borrowed(line),
    }
}

/// Parses the period of a list from the query: the start of the day `from`, and the end of the day `until`, in UTC. The days
/// are like `2026-11-21`; one that is not is a mistake in its field, and no condition.
pub fn period(query: &Fields, mistakes: &mut Mistakes) -> (Option<Timestamp>, Option<Timestamp>) {
    let mut day = |name: &str| {
        let start = Timestamp::parse(&format!("{}T00:00:00Z", query.given(name)?)).ok();
        if start.is_none() {
            mistakes.push(name, "Write a day like 2026-11-21.");
        }
        start
    };
    let (from, until) = (day("from"), day("until"));
    if from.zip(until).is_some_and(|(from, until)| until < from) {
        mistakes.push("until", "The last day is before the first one.");
        return (from, None);
    }
    (from, until.map(|day| Timestamp::from_micros(day.as_micros() + DAY)))
}

/// The day of a point in time in UTC as a form's date, such as `2026-11-21`.
pub fn form_day(moment: Timestamp) -> String {
    moment.to_string().chars().take_while(|one| *one != 'T').collect()
}

/// Formats a duration, such as `2 h 5 min`, `40 s`.
pub fn duration(seconds: impl Into<i64>) -> String {
    let seconds = seconds.into().max(0);
    let ((size, unit), (small, rest)) = match seconds {
        0..60 => return format!("{seconds} s"),
        60..3_600 => ((60, "min"), (1, "s")),
        3_600..86_400 => ((3_600, "h"), (60, "min")),
        _ => ((86_400, "d"), (3_600, "h")),
    };
    match seconds % size / small {
        0 => format!("{} {unit}", seconds / size),
        more => format!("{} {unit} {more} {rest}", seconds / size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_relative_for_a_week_and_then_a_date_with_the_minute_in_its_tooltip() {
        let moment = |text| Timestamp::parse(text).expect("a moment");
        let now = moment("2026-11-27T22:40:28.551459Z");
        for (text, expected) in [
            ("2026-11-27T22:40:00Z", "just now"),
            ("2026-11-27T20:00:00Z", "2 hours ago"),
            ("2026-11-29T22:41:00Z", "in 2 days"),
            ("2026-11-13T16:02:00Z", "13 Nov 2026"),
            ("2027-02-05T22:40:00Z", "5 Feb 2027"),
        ] {
            assert_eq!(relative(moment(text), now), expected, "{text}");
        }
        assert!(time_of_day(now).into_string().ends_with(">22:40</time>"));
        let shown = time(now, now).into_string();
        assert!(shown.contains("title=\"27 Nov 2026 22:40 UTC\"") && shown.contains("28.551459Z"), "{shown}");
    }

    #[test]
    fn a_day_has_its_year_if_that_is_another_one() {
        let moment = |text| Timestamp::parse(text).expect("a moment");
        let now = moment("2026-11-27T22:40:28.551459Z");
        for (text, day, clock_time) in [
            ("2026-12-02T09:05:00Z", "2 Dec", "2 Dec 09:05 UTC<"),
            ("2027-01-01T00:00:00Z", "1 Jan 2027", "1 Jan 2027 00:00 UTC<"),
        ] {
            assert_eq!(near_day(moment(text), now), day);
            let shown = clock(moment(text), now).into_string();
            assert!(shown.contains(clock_time), "{shown}");
        }
    }

    #[test]
    fn a_count_that_has_stopped_says_so() {
        for (number, expected) in [(1, "1 service"), (10_000, "10,000 services"), (10_001, "10,000+ services")] {
            assert_eq!(count_to_most(number, "service"), expected);
        }
    }
}
