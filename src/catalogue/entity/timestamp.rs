//! Timestamps: microseconds since 1970 in UTC for the database, RFC 3339 for clients.

use std::fmt;

use jiff::civil::DateTime;
use jiff::fmt::temporal::DateTimePrinter;
use jiff::tz::Offset;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ActiveValue, ColumnTrait, DeriveValueType, Set};
use serde::Deserialize;

/// A time from 0001-01-01T00:00:00Z to 9999-12-30T22:00:00Z, the last one that jiff supports, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, DeriveValueType, Deserialize)]
pub struct Timestamp(i64);

/// Where a page or a portion of a list in the order of time ends: the time and the id of a row.
pub type TimeCursor = (Timestamp, i64);

/// A text that is not one of the accepted forms of a date and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotATimestamp;

/// From the start of year 1 to jiff's last timestamp, so that four digits suffice for the year.
const RANGE: std::ops::RangeInclusive<i64> = -62_135_596_800_000_000..=253_402_207_200_000_000;

impl Timestamp {
    /// The present moment.
    pub fn now() -> Self {
        Self::from_micros(jiff::Timestamp::now().as_microsecond())
    }

    /// The present moment, or `last` if the clock has been set back since.
    pub fn now_after(last: Self) -> Self {
        Ord::max(last, Self::now())
    }

    /// The time this many microseconds after the start of 1970, clamped to the supported range.
    pub fn from_micros(micros: i64) -> Self {
        Self(micros.clamp(*RANGE.start(), *RANGE.end()))
    }

    /// The microseconds since the start of 1970, negative before.
    pub fn as_micros(self) -> i64 {
        self.0
    }

    /// Parses a date and time. Accepts:
    ///
    /// - RFC 3339 (`2026-11-21T01:44:00Z`), with up to nine fraction digits, and with `Z` or an offset
    /// - the same with a space for the `T`, with `UTC` for the `Z`, with a space before the zone, or without a zone,
    ///   which means UTC
    /// - Go's default format (`2026-11-21 01:44:00.5 +0000 UTC`), with or without the reading of its monotonic clock
    ///   (`m=+0.123`)
    ///
    /// Truncates to microseconds.
    pub fn parse(text: &str) -> Result<Self, NotATimestamp> {
        read(text.as_bytes()).ok_or(NotATimestamp)
    }

    /// The time at which a day begins in UTC: `2026-11-21`.
    pub fn at_start_of(day: &str) -> Result<Self, NotATimestamp> {
        // With more before the time, it would be another form.
        if day.len() == 10 { Self::parse(&format!("{day}T00:00:00Z")) } else { Err(NotATimestamp) }
    }

    /// Appends the time as RFC 3339 in UTC: `2026-11-21T01:44:00Z`, with a fraction only if there is one.
    pub fn write_rfc3339(self, buffer: &mut Vec<u8>) {
        // Writing to memory cannot fail.
        let _ = DateTimePrinter::new().print_timestamp(&self.to_jiff(), buffer);
    }

    /// The day in UTC in the words of pages and messages: `27 Nov 2026`.
    pub fn day(self) -> String {
        const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let exact = self.to_string();
        let date = exact.split('T').next().unwrap_or_default();
        let mut parts = date.rsplitn(3, '-');
        let (Some(day), Some(month), Some(year)) = (parts.next(), parts.next(), parts.next()) else { return exact };
        let month = month.parse::<usize>().ok().and_then(|month| MONTHS.get(month.wrapping_sub(1)));
        format!("{} {} {year}", day.trim_start_matches('0'), month.unwrap_or(&""))
    }

    /// The time to the minute, in the same words: `27 Nov 2026 22:40 UTC`.
    pub fn minute(self) -> String {
        format!("{} {} UTC", self.day(), self.to_string().get(11..16).unwrap_or_default())
    }

    fn to_jiff(self) -> jiff::Timestamp {
        // Never the default: the range lies within jiff's.
        jiff::Timestamp::from_microsecond(self.0).unwrap_or_default()
    }
}

/// Sets the `updated_at` of a row to now. Never moves it back.
pub fn touch(updated_at: &mut ActiveValue<Timestamp>) {
    let last = updated_at.try_as_ref().copied();
    *updated_at = Set(last.map_or_else(Timestamp::now, Timestamp::now_after));
}

/// The new value of the column in an `UPDATE` statement. Like [`touch`], never moves it back.
pub fn touched(updated_at: impl ColumnTrait) -> Expr {
    let (last, now) = (Expr::col(updated_at.as_column_ref()), Expr::value(Timestamp::now()));
    Expr::case(last.clone().gt(now.clone()), last).finally(now).into()
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_jiff().fmt(f)
    }
}

impl fmt::Display for NotATimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a date and time such as 2026-11-21T01:44:00Z or 2026-11-21 01:44:00")
    }
}

impl std::error::Error for NotATimestamp {}

impl std::str::FromStr for Timestamp {
    type Err = NotATimestamp;

    fn from_str(text: &str) -> Result<Self, NotATimestamp> {
        Self::parse(text)
    }
}

/// Parses by hand, because jiff's parser accepts much more than what we promise (week dates, no seconds, annotations).
/// jiff decides whether the date exists.
fn read(text: &[u8]) -> Option<Timestamp> {
    let (fixed, rest) = text.split_at_checked("YYYY-MM-DDTHH:MM:SS".len())?;
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T' | b't' | b' ', ref time @ ..] = fixed else { return None };
    let &[hour1, hour2, b':', min1, min2, b':', sec1, sec2] = time else { return None };
    // As in jiff, a leap second counts as the second before it.
    let second = number(&[sec1, sec2]).map(|second| if second == 60 { 59 } else { second })?;
    let (nanosecond, zone) = match rest {
        [b'.', rest @ ..] => fraction(rest)?,
        _ => (0, rest),
    };
    let civil = DateTime::new(
        number(&[y1, y2, y3, y4])?,
        number(&[m1, m2])?.try_into().ok()?,
        number(&[d1, d2])?.try_into().ok()?,
        number(&[hour1, hour2])?.try_into().ok()?,
        number(&[min1, min2])?.try_into().ok()?,
        second.try_into().ok()?,
        nanosecond,
    )
    .ok()?;
    let zone = zone.strip_prefix(b" ").unwrap_or(zone);
    let offset = offset(zone).or_else(|| named_offset(zone))?;
    let moment = offset.to_timestamp(civil).ok()?;
    let micros = i64::try_from(moment.as_nanosecond().div_euclid(1000)).ok()?;
    RANGE.contains(&micros).then_some(Timestamp(micros))
}

/// Parses up to nine fraction digits as nanoseconds. Also returns the rest of the text.
fn fraction(text: &[u8]) -> Option<(i32, &[u8])> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=9).contains(&length) {
        return None;
    }
    let (digits, rest) = text.split_at(length);
    let padded = digits.iter().copied().chain(std::iter::repeat(b'0')).take(9);
    Some((padded.fold(0, |sum, digit| sum * 10 + i32::from(digit - b'0')), rest))
}

fn offset(zone: &[u8]) -> Option<Offset> {
    let (sign, hours, minutes) = match *zone {
        [] | [b'Z' | b'z'] | [b'U', b'T', b'C'] => return Some(Offset::UTC),
        [sign, h1, h2, b':', m1, m2] | [sign, h1, h2, m1, m2] => (sign, [h1, h2], [m1, m2]),
        [sign, h1, h2] => (sign, [h1, h2], *b"00"),
        _ => return None,
    };
    let (hours, minutes) = (number(&hours)?, number(&minutes)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let seconds = (i32::from(hours) * 60 + i32::from(minutes)) * 60;
    match sign {
        b'+' => Offset::from_seconds(seconds).ok(),
        b'-' => Offset::from_seconds(-seconds).ok(),
        _ => None,
    }
}

/// An offset with a zone's name, as Go prints them: `+0200 CEST`, `+0300 +03`, `+0000 UTC m=+0.123`. Uses the offset. A
/// name that is a different offset is an error.
fn named_offset(zone: &[u8]) -> Option<Offset> {
    let mut words = zone.split(|byte| *byte == b' ');
    let (digits, name, clock) = (words.next()?, words.next()?, words.next());
    if digits.len() != "+0000".len() || !clock.is_none_or(is_clock) || words.next().is_some() {
        return None;
    }
    let own = offset(digits)?;
    let is_abbreviation = (3..=5).contains(&name.len()) && name.iter().all(u8::is_ascii_alphabetic);
    let fits = match name {
        b"UTC" | [b'+' | b'-', ..] => offset(name) == Some(own),
        _ => is_abbreviation,
    };
    fits.then_some(own)
}

/// Whether this is a reading of Go's monotonic clock: `m=+0.123456789`, in seconds.
fn is_clock(text: &[u8]) -> bool {
    let [b'm', b'=', b'+' | b'-', reading @ ..] = text else { return false };
    let mut parts = reading.split(|byte| *byte == b'.');
    let is_number =
        |part: Option<&[u8]>| part.is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit));
    is_number(parts.next()) && is_number(parts.next()) && parts.next().is_none()
}

/// Parses at most four digits.
fn number(digits: &[u8]) -> Option<i16> {
    digits.iter().try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + i16::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_accepted_form_is_read() {
        for (text, expected) in [
            ("2026-11-21T01:44:00Z", "2026-11-21T01:44:00Z"),
            ("2026-11-21t01:44:00z", "2026-11-21T01:44:00Z"),
            ("2026-11-21T01:44:00.123456789Z", "2026-11-21T01:44:00.123456Z"),
            ("2026-11-21T01:44:00.5Z", "2026-11-21T01:44:00.5Z"),
            ("2026-01-02T03:04:05-05:00", "2026-01-02T08:04:05Z"),
            ("2026-01-02T03:04:05+05:30", "2026-01-01T21:34:05Z"),
            ("2026-01-02T03:04:05", "2026-01-02T03:04:05Z"),
            ("2026-11-21 01:44:00", "2026-11-21T01:44:00Z"),
            ("2026-11-21 01:44:00.25", "2026-11-21T01:44:00.25Z"),
            ("2026-11-21 01:44:00 UTC", "2026-11-21T01:44:00Z"),
            ("2026-11-21 01:44:00UTC", "2026-11-21T01:44:00Z"),
            ("2026-11-21 01:44:00 +0200", "2026-11-20T23:44:00Z"),
            ("2026-11-21 01:44:00+02", "2026-11-20T23:44:00Z"),
            ("2026-11-21 01:44:00.000001 -01:00", "2026-11-21T02:44:00.000001Z"),
            ("2026-11-21 01:44:00.123456789 +0000 UTC", "2026-11-21T01:44:00.123456Z"),
            ("2026-11-21 01:44:00 +0200 CEST", "2026-11-20T23:44:00Z"),
            ("2026-11-21 01:44:00 -0330 -0330", "2026-11-21T05:14:00Z"),
            ("2026-11-21 01:44:00 +0300 +03", "2026-11-20T22:44:00Z"),
            ("2026-11-21 01:44:00.5 +0000 UTC m=+0.123", "2026-11-21T01:44:00.5Z"),
            ("2026-11-21 01:44:00 -0500 EST m=-12.000000001", "2026-11-21T06:44:00Z"),
            ("2028-02-29T12:00:00Z", "2028-02-29T12:00:00Z"),
            ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
            ("9999-12-30T22:00:00Z", "9999-12-30T22:00:00Z"),
        ] {
            let read = Timestamp::parse(text).map(|moment| moment.to_string());
            assert_eq!(read.as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "now",
            "2026-11-21",
            "2026-11-21T01:44Z",
            "20261121T014400Z",
            "2026-11-21T01:44:00.Z",
            "2026-11-21T01:44:00.1234567890Z",
            "2026-11-21T01:44:00,5Z",
            "2026-11-21T01:44:00  UTC",
            "2026-11-21T01:44:00Z ",
            " 2026-11-21T01:44:00Z",
            "2026-11-21T01:44:00 CET",
            "2026-11-21 01:44:00 +0200 UTC",
            "2026-11-21 01:44:00 +0300 +02",
            "2026-11-21 01:44:00 +0000 utc +0000",
            "2026-11-21 01:44:00 +0000 ",
            "2026-11-21 01:44:00 +0000  UTC",
            "2026-11-21 01:44:00 +0000 U",
            "2026-11-21 01:44:00 +0000 UTC ",
            "2026-11-21 01:44:00 +0000 UTC m=",
            "2026-11-21 01:44:00 +0000 UTC m=+0",
            "2026-11-21 01:44:00 +0000 UTC m=+.5",
            "2026-11-21 01:44:00 +0000 UTC m=+0.5.5",
            "2026-11-21 01:44:00 +0000 UTC m=+0.5 ",
            "2026-11-21 01:44:00 +0000 m=+0.5",
            "2026-11-21 01:44:00 UTC UTC",
            "2026-11-21 01:44:00 +00:00 UTC",
            "2026-11-21T01:44:00+24:00",
            "2026-11-21T01:44:00+05:60",
            "2026-11-21T01:44:00Z[UTC]",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-11-21T24:00:00Z",
            "2026-11-21T01:44:61Z",
            "0000-12-31T23:59:59Z",
            "0001-01-01T00:00:00+01:00",
            "9999-12-31T23:59:59Z",
            "-026-11-21T01:44:00Z",
            "２０２６-11-21T01:44:00Z",
            "1763689440",
        ] {
            assert_eq!(Timestamp::parse(text), Err(NotATimestamp), "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for micros in [0, 1, -1, 1_795_225_440_000_000, *RANGE.start(), *RANGE.end(), i64::MIN, i64::MAX] {
            let moment = Timestamp::from_micros(micros);
            let mut written = Vec::new();
            moment.write_rfc3339(&mut written);
            assert_eq!(String::from_utf8(written), Ok(moment.to_string()));
            assert_eq!(Timestamp::parse(&moment.to_string()), Ok(moment));
        }
    }

    #[test]
    fn a_moment_before_1970_is_cut_towards_the_past_like_any_other() {
        let moment = Timestamp::parse("1969-12-31T23:59:59.9999999Z");
        assert_eq!(moment.map(Timestamp::as_micros), Ok(-1));
    }
}
