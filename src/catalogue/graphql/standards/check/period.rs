//! Periods of calendar time, in UTC.

use jiff::tz::TimeZone;
use jiff::{Span, Zoned};

use crate::entity::Timestamp;

/// The maximum number of units in a period.
pub const UNITS: i32 = 1_000;

/// A span of `count` units: a word of the SDL's `FrequencyTimeScale` or `CodeIssueResolutionTimeUnitEnum`.
fn span(unit: &str, count: i64) -> Span {
    match unit {
        "week" => Span::new().weeks(count),
        "month" => Span::new().months(count),
        "year" => Span::new().years(count),
        _ => Span::new().days(count),
    }
}

fn zoned(moment: Timestamp) -> Zoned {
    jiff::Timestamp::from_microsecond(moment.as_micros()).unwrap_or_default().to_zoned(TimeZone::UTC)
}

fn moment(zoned: &Zoned) -> Timestamp {
    Timestamp::from_micros(zoned.timestamp().as_microsecond())
}

/// The moment so many units before `now`.
pub(super) fn before(now: Timestamp, unit: &str, count: i32) -> Timestamp {
    // Outside of the range of dates, nothing is older.
    zoned(now).checked_sub(span(unit, count.into())).map_or(Timestamp::from_micros(i64::MIN), |then| moment(&then))
}

/// The beginning of the period that `now` lies in, if the first one begins at `start` and each has `count` units. `None`
/// before the first.
pub(super) fn current(start: Timestamp, unit: &str, count: i32, now: Timestamp) -> Option<Timestamp> {
    let (first, now) = (zoned(start), zoned(now));
    if now < first {
        return None;
    }
    // No period is longer than this many days, so that at most so many of them have passed for certain.
    let longest = i64::from(count)
        * [("week", 7), ("month", 31), ("year", 366)]
            .iter()
            .find(|(word, _)| *word == unit)
            .map_or(1, |(_, days)| *days);
    let days = now.timestamp().as_second().saturating_sub(first.timestamp().as_second()) / 86_400;
    let nth = |number: i64| first.checked_add(span(unit, number * i64::from(count))).ok();
    let mut number = days / longest;
    while nth(number + 1).is_some_and(|next| next <= now) {
        number += 1;
    }
    nth(number).map(|start| moment(&start))
}

/// The words for so many units: `2 weeks`.
pub(super) fn in_words(unit: &str, count: i32) -> String {
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a date")
    }

    #[test]
    fn a_period_begins_at_each_multiple_of_its_length() {
        for (start, unit, count, now, expected) in [
            ("2026-01-01T00:00:00Z", "day", 1, "2026-01-05T12:00:00Z", Some("2026-01-05T00:00:00Z")),
            ("2026-01-01T00:00:00Z", "week", 2, "2026-01-14T23:59:59Z", Some("2026-01-01T00:00:00Z")),
            ("2026-01-01T00:00:00Z", "week", 2, "2026-01-15T00:00:00Z", Some("2026-01-15T00:00:00Z")),
            ("2024-01-31T00:00:00Z", "month", 1, "2024-03-01T00:00:00Z", Some("2024-02-29T00:00:00Z")),
            ("1990-06-01T00:00:00Z", "month", 3, "2026-11-28T00:00:00Z", Some("2026-09-01T00:00:00Z")),
            ("2020-02-29T00:00:00Z", "year", 1, "2026-11-28T00:00:00Z", Some("2026-02-28T00:00:00Z")),
            ("2027-01-01T00:00:00Z", "year", 1, "2026-11-28T00:00:00Z", None),
        ] {
            let found = current(at(start), unit, count, at(now));
            assert_eq!(found, expected.map(at), "{count} {unit} from {start} at {now}");
        }
    }

    #[test]
    fn a_moment_before_is_counted_by_the_calendar() {
        assert_eq!(before(at("2026-03-31T00:00:00Z"), "month", 1), at("2026-02-28T00:00:00Z"));
        assert_eq!(before(at("2026-03-31T00:00:00Z"), "week", 1), at("2026-03-24T00:00:00Z"));
        assert!(before(at("2026-03-31T00:00:00Z"), "year", UNITS) < at("1026-04-01T00:00:00Z"));
    }
}
