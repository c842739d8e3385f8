//! The caller's span: `traceparent` and `tracestate` (W3C Trace Context, section 3).

use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId};

/// The longest accepted `tracestate`, in bytes: the length that everyone must support.
const STATE: usize = 512;

/// Parses the caller's span from the lines of both headers. `None` if `traceparent` is missing, malformed or repeated.
/// Without a valid `traceparent`, `tracestate` is ignored.
pub fn parent<'h>(
    parents: impl IntoIterator<Item = &'h [u8]>,
    states: impl IntoIterator<Item = &'h [u8]>,
) -> Option<SpanContext> {
    let mut parents = parents.into_iter();
    let (Some(parent), None) = (parents.next(), parents.next()) else { return None };
    let (trace, span, flags) = fields(parent.trim_ascii())?;
    let states: Vec<&[u8]> = states.into_iter().collect();
    let state = String::from_utf8(states.join(&b',')).ok().filter(|state| state.len() <= STATE);
    let state = state.and_then(|state| state.parse().ok()).unwrap_or_default();
    let found = SpanContext::new(trace, span, flags, true, state);
    found.is_valid().then_some(found)
}

/// Parses `version-trace-span-flags`. A newer version may append more fields.
fn fields(parent: &[u8]) -> Option<(TraceId, SpanId, TraceFlags)> {
    let (known, more) = parent.split_at_checked(55)?;
    let version = number(&known[..2])?;
    let ends_well = if version == 0 { more.is_empty() } else { more.first().is_none_or(|byte| *byte == b'-') };
    if version == 0xff || !ends_well || [2, 35, 52].iter().any(|dash| known[*dash] != b'-') {
        return None;
    }
    let trace = TraceId::from(number(&known[3..35])?);
    let span = SpanId::from(u64::try_from(number(&known[36..52])?).ok()?);
    let flags = TraceFlags::new(u8::try_from(number(&known[53..])?).ok()?) & TraceFlags::SAMPLED;
    Some((trace, span, flags))
}

/// A lower-case hexadecimal number.
fn number(digits: &[u8]) -> Option<u128> {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let text = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| is_digit(&byte)))?;
    u128::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const SPAN: &str = "b7ad6b7169203331";

    fn read(parents: &[&str], states: &[&str]) -> Option<SpanContext> {
        parent(parents.iter().map(|text| text.as_bytes()), states.iter().map(|text| text.as_bytes()))
    }

    #[test]
    fn a_traceparent_names_a_trace_and_a_span_and_says_whether_it_is_sampled() {
        for (text, sampled) in [
            (format!("00-{TRACE}-{SPAN}-01"), true),
            (format!(" 00-{TRACE}-{SPAN}-01\t"), true),
            (format!("00-{TRACE}-{SPAN}-00"), false),
            // Unknown flags.
            (format!("00-{TRACE}-{SPAN}-ff"), true),
            (format!("00-{TRACE}-{SPAN}-02"), false),
            // An unknown version.
            (format!("01-{TRACE}-{SPAN}-01"), true),
            (format!("fe-{TRACE}-{SPAN}-01-and more"), true),
        ] {
            let found = read(&[&text], &[]).expect(&text);
            let ids = (found.trace_id().to_string(), found.span_id().to_string());
            assert_eq!((ids, found.is_sampled()), ((TRACE.to_owned(), SPAN.to_owned()), sampled), "{text}");
            assert!(found.is_remote());
        }
    }

    #[test]
    fn a_malformed_traceparent_is_ignored() {
        let zeros = "0".repeat(32);
        for text in [
            String::new(),
            "nonsense".to_owned(),
            format!("00-{TRACE}-{SPAN}"),
            format!("00-{TRACE}-{SPAN}-"),
            format!("00-{TRACE}-{SPAN}-1"),
            format!("00-{TRACE}-{SPAN}-01-"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("01-{TRACE}-{SPAN}-01more"),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("0-{TRACE}-{SPAN}-01"),
            format!("+0-{TRACE}-{SPAN}-01"),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{TRACE}-{}-01", SPAN.to_uppercase()),
            format!("00-{TRACE}-{SPAN}-0A"),
            format!("00-{zeros}-{SPAN}-01"),
            format!("00-{TRACE}-{}-01", &zeros[..16]),
            format!("00-{}-{SPAN}-01", &TRACE[1..]),
            format!("00-{TRACE}0-{SPAN}-01"),
            format!("00_{TRACE}_{SPAN}_01"),
            format!("00-{TRACE}-{SPAN}-ü"),
            format!("00-{TRACE}-{SPAN}-01,00-{TRACE}-{SPAN}-01"),
        ] {
            assert_eq!(read(&[&text], &["vendor=1"]), None, "{text}");
        }
        let good = format!("00-{TRACE}-{SPAN}-01");
        assert_eq!(read(&[&good, &good], &[]), None, "two headers");
        assert_eq!(read(&[], &["vendor=1"]), None);
    }

    #[test]
    fn a_tracestate_is_passed_on_if_it_is_valid_and_short() {
        let good = format!("00-{TRACE}-{SPAN}-01");
        let long = format!("vendor={}", "x".repeat(STATE));
        for (states, expected) in [
            (&["vendor=1, other=2"][..], "vendor=1,other=2"),
            (&["vendor=1", "other=2"], "vendor=1,other=2"),
            (&["no pair"], ""),
            (&[&long], ""),
            (&[], ""),
        ] {
            assert_eq!(read(&[&good], states).expect("a parent").trace_state().header(), expected, "{states:?}");
        }
    }
}
