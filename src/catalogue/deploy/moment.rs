//! Reads dates and times as programs print them. [`Timestamp::parse`] reads the forms that all of rollcall promises; here
//! are the others, of which each has exactly one meaning. A form that could be read in two ways is not read:
//! `11/12/2026`, a time zone by its name alone, `BST`.

use super::zone::{digits, offset, one_offset};
use crate::entity::Timestamp;

/// A date and time that was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub at: Timestamp,
    /// What was assumed, as the rest of a sentence about the attribute.
    pub assumed: Option<&'static str>,
}

/// The longest text that is read as a date, in bytes. The longest known form has 72.
const LONGEST: usize = 128;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// The date of a time that was never set: Go and .NET print the first moment of the year 1, and databases and PHP the year
/// 0 or its eve.
const NEVER: [&str; 4] = ["0001-01-01", "0000-00-00", "-0001-11-30", "0000-01-01"];

/// Reads a date and time, with or without blanks and quotation marks around it.
///
/// # Errors
/// Why it is none, as the rest of a sentence about the text.
pub(super) fn read(text: &str) -> Result<Moment, &'static str> {
    let shown = text.trim().trim_start_matches(['"', '\'', '+']);
    if NEVER.iter().any(|never| shown.starts_with(never)) {
        return Err("is what programs print for a time that was never set");
    }
    read_form(text).ok_or_else(|| match shown.split_once('-') {
        Some((year, _)) if year.len() > 3 && year.parse::<u64>().is_ok_and(|year| year >= 9_999) => {
            "is after 9999-12-30, the last day that can be recorded"
        }
        _ => "is not a date and time such as 2026-11-21T01:44:00Z or 2026-11-21 01:44:00",
    })
}

fn read_form(text: &str) -> Option<Moment> {
    let text = text.trim().trim_matches(['"', '\'', '`', '\u{201c}', '\u{201d}', '\u{201e}']).trim();
    if text.len() <= LONGEST && text.contains(['\u{2010}', '\u{2011}']) {
        return read_form(&text.replace(['\u{2010}', '\u{2011}'], "-"));
    }
    if let Ok(at) = Timestamp::parse(text) {
        return Some(Moment { at, assumed: None });
    }
    if text.len() > LONGEST {
        return None;
    }
    let seconds = text.strip_prefix('@').unwrap_or(text);
    iso(text).or_else(|| epoch(seconds)).or_else(|| iso(&of_the_calendar(text)?)).or_else(|| in_words(text))
}

/// Writes a date of ISO 8601 by the day of the year (`2026-324`), or by the week (`2026-W47-5`), as one by the month. What
/// follows the date stays.
fn of_the_calendar(text: &str) -> Option<String> {
    let (year, rest) = digits(text, 4, 4)?;
    let (is_dashed, rest) = rest.strip_prefix('-').map_or((false, rest), |rest| (true, rest));
    let first = Timestamp::parse(&format!("{year:04}-01-01T00:00:00Z")).ok()?.as_micros();
    // From 1, which is Monday.
    let weekday = (first.div_euclid(DAY) + 3).rem_euclid(7) + 1;
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let (day, rest) = match rest.strip_prefix(['W', 'w']) {
        Some(rest) => {
            let (week, rest) = digits(rest, 2, 2)?;
            let (number, rest) = digits(if is_dashed { rest.strip_prefix('-')? } else { rest }, 1, 1)?;
            let weeks = if weekday == 4 || is_leap && weekday == 3 { 53 } else { 52 };
            if !(1..=weeks).contains(&week) || !(1..=7).contains(&number) {
                return None;
            }
            // The first week has the first Thursday.
            let monday = if weekday <= 4 { 1 - weekday } else { 8 - weekday };
            (monday + 7 * (i64::from(week) - 1) + i64::from(number) - 1, rest)
        }
        None => {
            let (number, rest) = digits(rest, 3, 3)?;
            if !(1..=365 + u32::from(is_leap)).contains(&number) {
                return None;
            }
            (i64::from(number) - 1, rest)
        }
    };
    if rest.starts_with(|next: char| next.is_alphanumeric() && !matches!(next, 'T' | 't')) {
        return None;
    }
    let date = Timestamp::from_micros(first + day * DAY).to_string();
    Some(format!("{}{rest}", date.get(..10)?))
}

/// A date and a time of day, before its zone is known.
#[derive(Default)]
struct Civil {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    fraction: String,
}

impl Civil {
    /// The moment, given its offset from UTC in seconds.
    fn at(&self, offset: i32) -> Option<Timestamp> {
        let Self { year, month, day, hour, minute, second, fraction } = self;
        // The end of a day is the beginning of the next.
        let is_end = *hour == 24 && *minute == 0 && *second == 0 && fraction.bytes().all(|digit| digit == b'0');
        let (hour, more) = if is_end { (&0, DAY) } else { (hour, 0) };
        let point = if fraction.is_empty() { "" } else { "." };
        let fraction = fraction.get(..9).unwrap_or(fraction);
        let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{point}{fraction}Z");
        let utc = Timestamp::parse(&text).ok()?.as_micros();
        Some(Timestamp::from_micros(utc.checked_add(more)?.checked_sub(i64::from(offset) * 1_000_000)?))
    }

    /// Reads `10:00`, `10:00:00` or `10:00:00.5` from the start of a text, or `10` before a zone; without colons if it is
    /// `compact`. Returns the rest of the text.
    fn read_time<'t>(&mut self, text: &'t str, compact: bool) -> Option<&'t str> {
        let next = |text: &'t str| if compact { Some(text) } else { text.strip_prefix(':') };
        let (hour, rest) = digits(text, if compact { 2 } else { 1 }, 2)?;
        if rest.trim_start().starts_with(['Z', 'z', '+', '-', '\u{2212}']) {
            self.hour = hour;
            return Some(rest);
        }
        let (minute, mut rest) = digits(next(rest)?, 2, 2)?;
        (self.hour, self.minute) = (hour, minute);
        if let Some((second, after)) = next(rest).and_then(|rest| digits(rest, 2, 2)) {
            (self.second, rest) = (second, after);
            if let Some(fraction) = rest.strip_prefix(['.', ',']) {
                let length = fraction.bytes().take_while(u8::is_ascii_digit).count();
                if length == 0 {
                    return None;
                }
                self.fraction = fraction[..length].to_owned();
                rest = &fraction[length..];
            }
        }
        // A leap second counts as the second before it.
        self.second = if self.second == 60 { 59 } else { self.second };
        Some(rest)
    }

    /// Moves the hour of a twelve-hour clock. Returns whether it was one.
    fn is_twelve_hours(&mut self, half: &str) -> Option<bool> {
        let is_after_noon = match half.to_ascii_lowercase().as_str() {
            "am" | "a.m." => false,
            "pm" | "p.m." => true,
            _ => return Some(false),
        };
        if !(1..=12).contains(&self.hour) {
            return None;
        }
        self.hour = self.hour % 12 + if is_after_noon { 12 } else { 0 };
        Some(true)
    }
}

/// Reads a date that begins with its year: ISO 8601 in the forms that [`Timestamp::parse`] does not read (no seconds, no
/// punctuation, a comma before the fraction, a zone's name in brackets), and with `/` or `.` in the date.
fn iso(text: &str) -> Option<Moment> {
    let mut civil = Civil::default();
    let (year, rest) = digits(text, 4, 4)?;
    let mark = rest.chars().next().filter(|mark| matches!(mark, '-' | '/' | '.'));
    let between = |rest| match mark {
        Some(mark) => str::strip_prefix(rest, mark),
        None => Some(rest),
    };
    let least = if mark.is_some() { 1 } else { 2 };
    let (month, rest) = digits(between(rest)?, least, 2)?;
    let (day, rest) = digits(between(rest)?, least, 2)?;
    (civil.year, civil.month, civil.day) = (year, month, day);
    if rest.is_empty() {
        return Some(Moment { at: civil.at(0)?, assumed: Some("has no time of day, and is taken as 00:00 UTC") });
    }
    let time = match rest.strip_prefix(['T', 't', '_']) {
        Some(time) => time,
        None if rest.starts_with(char::is_whitespace) => rest.trim_start(),
        // Fourteen digits.
        None if mark.is_none() => rest,
        None => return None,
    };
    let is_compact = time.as_bytes().get(2).is_some_and(u8::is_ascii_digit);
    let rest = civil.read_time(time, is_compact)?.trim_start();
    let half = rest.split(|letter: char| letter.is_whitespace()).next().unwrap_or_default();
    let rest = if civil.is_twelve_hours(half)? { &rest[half.len()..] } else { rest };
    Some(Moment { at: civil.at(offset(rest)?)?, assumed: None })
}

/// Reads the time since 1970: ten digits are seconds, 13 milliseconds, 16 microseconds and 19 nanoseconds, from the years
/// 2001 to 2286. A fraction and an exponent may follow, or an offset, which says nothing more. `/Date(…)/` may be around
/// it.
fn epoch(text: &str) -> Option<Moment> {
    let inner = text.strip_prefix("/Date(").and_then(|rest| rest.strip_suffix(")/"));
    let number = match inner {
        Some(inner) => inner.split(['+', '-']).next()?,
        None => match text.split_once(' ') {
            Some((number, zone)) => one_offset(zone).map(|_| number)?,
            None => text,
        },
    };
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let exponent: usize = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok().filter(|most| *most <= 20)?;
    let (whole, fraction) = mantissa.split_once(['.', ',']).unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}{}", "0".repeat(exponent.saturating_sub(fraction.len())));
    if whole.is_empty() || whole.starts_with('0') || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let length = whole.len() + exponent;
    let (places, assumed) = match length {
        10 => (16, "is taken as seconds since 1970"),
        13 => (16, "is taken as milliseconds since 1970"),
        16 => (16, "is taken as microseconds since 1970"),
        19 => (16, "is taken as nanoseconds since 1970"),
        _ => return None,
    };
    // Each has ten digits of whole seconds, so six more are the microseconds.
    let micros = format!("{all:0<places$}");
    Some(Moment { at: Timestamp::from_micros(micros.get(..places)?.parse().ok()?), assumed: Some(assumed) })
}

/// Reads a date whose month is a word, in any order: RFC 2822, HTTP, `Date` of JavaScript and Java, `date`, git.
fn in_words(text: &str) -> Option<Moment> {
    let comment = text.find('(').unwrap_or(text.len());
    let (mut civil, mut has_time, mut year) = (Civil::default(), false, None);
    let mut zone = String::new();
    let words = text[..comment].split(|letter: char| letter.is_whitespace() || letter == ',');
    // `20-Nov-26` is three words.
    let is_dashed = |word: &str| word.split('-').nth(1).is_some_and(|month| number_of(&MONTHS, month).is_some());
    let words = words.flat_map(|word| word.split(move |mark| mark == '-' && is_dashed(word)));
    for word in words.filter(|word| !word.is_empty()) {
        if let Some(month) = number_of(&MONTHS, word) {
            if civil.month != 0 {
                return None;
            }
            civil.month = month;
        } else if number_of(&WEEKDAYS, word).is_some() || word.eq_ignore_ascii_case("at") {
            // The date says it already.
        } else if word.contains(':') && word.starts_with(|first: char| first.is_ascii_digit()) && !has_time {
            has_time = true;
            let rest = civil.read_time(word, false)?;
            if !civil.is_twelve_hours(rest)? {
                zone.push_str(rest);
            }
        } else if word.bytes().all(|byte| byte.is_ascii_digit()) && word.len() <= 4 {
            let number = word.parse().ok()?;
            match word.len() {
                1 | 2 if civil.day == 0 => civil.day = number,
                // As HTTP's obsolete form has it.
                2 if year.is_none() => year = Some(number + if number < 70 { 2_000 } else { 1_900 }),
                4 if year.is_none() => year = Some(number),
                _ => return None,
            }
        } else if has_time && civil.is_twelve_hours(word)? {
            // The hour has moved.
        } else {
            zone.push(' ');
            zone.push_str(word);
        }
    }
    zone.push_str(&text[comment..]);
    let is_whole = has_time && civil.month != 0 && civil.day != 0;
    civil.year = year.filter(|_| is_whole)?;
    Some(Moment { at: civil.at(offset(&zone)?)?, assumed: None })
}

/// The number, from 1, of the name that begins with this word of at least three letters.
fn number_of(names: &[&str], word: &str) -> Option<u32> {
    let word = word.trim_end_matches('.').to_ascii_lowercase();
    let found = names.iter().position(|name| word.len() >= 3 && name.starts_with(&word))?;
    u32::try_from(found + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_programs_print_them() {
        const TEN: &str = "2026-11-20T10:00:00Z";
        for (text, expected) in [
            // ISO 8601 without seconds, without marks, with a comma, with a zone's name.
            ("2026-11-20T10:00Z", TEN),
            ("2026-11-20 11:00 +0100", TEN),
            ("20261120T100000Z", TEN),
            ("20261120T110000+0100", TEN),
            ("20261120100000", TEN),
            ("2026-11-20T10:00:00,5Z", "2026-11-20T10:00:00.5Z"),
            ("2026-11-20T10:00:00.12345678901Z", "2026-11-20T10:00:00.123456Z"),
            ("2026-11-20T11:00:00+01:00[Europe/Berlin]", TEN),
            ("2026-11-20T10:00Z[UTC]", TEN),
            ("2026-11-20T10:00:00[Etc/UTC]", TEN),
            ("2026-11-20T05:00:00-05:00[America/New_York]", TEN),
            ("2026-11-20T10:00:00+00:00:30", "2026-11-20T09:59:30Z"),
            ("2026/11/20 10:00:00", TEN),
            ("2026.11.20 10:00", TEN),
            ("2026-11-20  10:00:00  UTC", TEN),
            ("2026-11-20T10:00:00 GMT", TEN),
            ("2026-11-20 10:00:00 EST", "2026-11-20T15:00:00Z"),
            ("2026-11-20 03:00:00 PM", "2026-11-20T15:00:00Z"),
            ("2026-11-20T12:00:00\u{2212}02:00", "2026-11-20T14:00:00Z"),
            ("\t2026-11-20T10:00:00Z\r\n", TEN),
            ("2026-11-20", "2026-11-20T00:00:00Z"),
            ("\"2026-11-20T10:00:00Z\"", TEN),
            (" '2026-11-20 10:00:00 ' ", TEN),
            ("\u{201c}2026-11-20T10:00Z\u{201d}", TEN),
            ("2026\u{2011}11\u{2011}20T10:00:00Z", TEN),
            ("2026\u{2010}11\u{2010}20T05:00:00\u{2011}05:00", TEN),
            ("2026-11-19T24:00:00Z", "2026-11-20T00:00:00Z"),
            ("2026-12-31 24:00", "2027-01-01T00:00:00Z"),
            ("2026-11-20T24:00:00.000+01:00", "2026-11-20T23:00:00Z"),
            ("2026-11-20T10Z", TEN),
            ("2026-11-20T11+01:00", TEN),
            ("20261120T10Z", TEN),
            ("2026-11-20 11:00:00 CET", TEN),
            ("2026-07-20 12:00:00 CEST", "2026-07-20T10:00:00Z"),
            ("2026-W47-5T10:00:00Z", TEN),
            ("2026W475T100000Z", TEN),
            ("2026-W47-5", "2026-11-20T00:00:00Z"),
            ("2026-W01-1", "2025-12-29T00:00:00Z"),
            ("2021-W01-1", "2021-01-04T00:00:00Z"),
            ("2026-W53-7", "2027-01-03T00:00:00Z"),
            ("2026-324T10:00:00Z", TEN),
            ("2026324T100000Z", TEN),
            ("2026-324 11:00 +0100", TEN),
            ("2028-366", "2028-12-31T00:00:00Z"),
            // RFC 2822, HTTP and what git, date, Java, JavaScript and Go print.
            ("Fri, 20 Nov 2026 10:00:00 +0000", TEN),
            ("20 Nov 2026 11:00 +0100", TEN),
            ("Fri, 20 Nov 2026 10:00:00 GMT", TEN),
            ("Friday, 20-Nov-26 10:00:00 GMT", TEN),
            ("Fri Nov 20 10:00:00 2026", TEN),
            ("Fri Nov 20 11:00:00 2026 +0100", TEN),
            ("Fri Nov 20 10:00:00 UTC 2026", TEN),
            ("Fri Nov 20 10:00:00 AM UTC 2026", TEN),
            ("Fri Nov 20 2026 11:00:00 GMT+0100 (Central European Standard Time)", TEN),
            ("Nov 20, 2026, 10:00:00\u{202f}AM", TEN),
            ("Nov 20, 2026 12:00:00 AM", "2026-11-20T00:00:00Z"),
            ("November 20, 2026 at 10:00:00 PM UTC", "2026-11-20T22:00:00Z"),
            ("2026-11-20 11:00:00 +0100 CET m=+0.1", TEN),
            ("Fri, 20 Nov 2026 10:00:00 +0000 (UTC)", TEN),
            // Since 1970.
            ("1795168800", TEN),
            ("1795168800000", TEN),
            ("1795168800000000", TEN),
            ("1795168800000000000", TEN),
            ("@1795168800", TEN),
            ("@1795168800.25", "2026-11-20T10:00:00.25Z"),
            ("1795168800.25", "2026-11-20T10:00:00.25Z"),
            ("1795168800,25", "2026-11-20T10:00:00.25Z"),
            ("1795168800123.9", "2026-11-20T10:00:00.1239Z"),
            ("1.7951688e9", TEN),
            ("1.7951688001e+12", "2026-11-20T10:00:00.1Z"),
            ("1795168800 +0100", TEN),
            ("/Date(1795168800000)/", TEN),
            ("/Date(1795168800000+0100)/", TEN),
        ] {
            let read = read(text).map(|moment| moment.at.to_string());
            assert_eq!(read.as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_assumed_is_said() {
        for (text, assumed) in [
            ("1795168800", "is taken as seconds since 1970"),
            ("1795168800000", "is taken as milliseconds since 1970"),
            ("1795168800000000", "is taken as microseconds since 1970"),
            ("1795168800000000000", "is taken as nanoseconds since 1970"),
            ("2026-11-20", "has no time of day, and is taken as 00:00 UTC"),
        ] {
            assert_eq!(read(text).map(|moment| moment.assumed), Ok(Some(assumed)), "{text}");
        }
        assert_eq!(read("2026-11-20T10:00Z").map(|moment| moment.assumed), Ok(None));
    }

    #[test]
    fn what_has_two_meanings_or_none_is_not_read() {
        for text in [
            "",
            "now",
            "yesterday",
            "11/12/2026 10:00",
            "20.11.2026 10:00",
            "2026-11-20T10:00:00[Europe/Berlin]",
            "2026-11-20 10:00:00 BST",
            "2026-11-20 10:00:00 +0100 UTC",
            "2026-11-20T10:00:00+01:00[Europe/Berlin",
            "2026-11-20T25:00Z",
            "2026-02-30T10:00Z",
            "2026-13-01",
            "2026-11-20T10",
            "2026-11-20T24:00:01Z",
            "2026-11-20T24:30",
            "2026-W47",
            "2026-W54-1",
            "2025-W53-1",
            "2026-W47-8",
            "2026-000",
            "2026-366",
            "2026-32",
            "@now",
            "@@1795168800",
            "2026-11-20T10:00:00.Z",
            "2026-11-20 13:00 PM",
            "Fri Nov 2026 10:00:00",
            "Fri Nov 20 2026",
            "Nov Nov 20 2026 10:00",
            "20 Nov 2026 10:00 11:00",
            "1",
            "2026",
            "179516880",
            "17951688000",
            "-1795168800",
            "0001795168800",
            "1795168800e99",
            "0x6B0000000",
            "١٧٩٥١٦٨٨٠٠",
        ] {
            let why = read(text).expect_err(text);
            assert!(why.starts_with("is not a date and time such as"), "{text}: {why}");
        }
        assert_eq!(read_form(&format!("2026-11-20T10:00:00.{}Z", "1".repeat(200))), None);
    }

    #[test]
    fn a_time_that_was_never_set_or_is_too_late_is_told_apart() {
        for text in [
            "0001-01-01T00:00:00Z",
            "0001-01-01 00:00:00 +0000 UTC",
            "\"0001-01-01T00:00:00\"",
            "0000-00-00 00:00:00",
            "-0001-11-30T00:00:00+00:00",
        ] {
            assert_eq!(read(text), Err("is what programs print for a time that was never set"), "{text}");
        }
        for text in [
            "9999-12-31T23:59:59Z",
            "+010000-01-01T00:00:00Z",
            "99999-12-31",
            "58858-03-01T10:00:00Z",
            "12026-11-20T10:00:00Z",
        ] {
            assert_eq!(read(text), Err("is after 9999-12-30, the last day that can be recorded"), "{text}");
        }
        assert!(read("9999-12-30T10:00:00Z").is_ok());
    }
}
