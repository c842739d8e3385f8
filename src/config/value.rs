//! Parsers of flag values. An error says what is wrong, or how to write the value. They get the value
//! [trimmed](super::trimmed).

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use ipnet::IpNet;
use jiff::{Span, SpanRelativeTo};

use crate::api_document::hosts::Host;
use crate::entity::token::Expiry;
use crate::entity::{Timestamp, text};

/// Parses durations such as `30s`, `90d`, `1h 30m`. A day is 24 hours.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    const RULE: &str = "write it like 30s, 12h or 90d";
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("it has no unit: {RULE}"));
    }
    let span: Span = text.parse().map_err(|_| RULE.to_owned())?;
    if span.is_negative() {
        return Err(format!("it is negative: {RULE}"));
    }
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours());
    duration.ok().and_then(|duration| duration.try_into().ok()).ok_or_else(|| RULE.to_owned())
}

/// Parses a whole number that is not negative.
pub(super) fn number<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| {
        let is_whole = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_whole { "it is too large".to_owned() } else { "write a whole number, such as 400".to_owned() }
    })
}

/// Parses the id of a row.
pub(super) fn id(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "write the id, which is a number: the first column of the list".to_owned())
}

/// Parses `127.0.0.1:8080`, `[::1]:8080` and `localhost:8080`.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let local = text.strip_prefix("localhost:").and_then(|port| port.parse::<u16>().ok());
    let local = local.map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let address = local.or_else(|| text.parse().ok());
    address
        .ok_or_else(|| "write it like 127.0.0.1:8080, or 0.0.0.0:8080 for all of this machine's addresses".to_owned())
}

/// Parses the permissions of a file in octal, such as `660`.
pub(super) fn mode(text: &str) -> Result<u32, String> {
    let mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o777);
    mode.ok_or_else(|| "write the permissions in octal, such as 660".to_owned())
}

/// Parses when a token expires: `90d`, `2027-01-31` or `never`.
pub(super) fn expiry(text: &str) -> Result<Expiry, String> {
    let is_date = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    match text {
        "never" => Ok(Expiry::Never),
        day if is_date => Timestamp::at_start_of(day).map(Expiry::At).map_err(|_| "it is no date".to_owned()),
        _ => duration(text).map(Expiry::After).map_err(|why| format!("{why}, as a date like 2027-01-31, or as never")),
    }
}

/// Parses since when: `1d` for a day ago, a date such as `2026-11-28`, `today`, `yesterday`, or an instant such as
/// `2026-11-28T20:00:00Z`. A day begins in UTC.
pub(super) fn since(text: &str) -> Result<Timestamp, String> {
    moment(text, 0)
}

/// Parses until when, like [`since`]. A day belongs to it as a whole.
pub(super) fn until(text: &str) -> Result<Timestamp, String> {
    moment(text, 1)
}

/// The moment that a text says. Of a day, it is its beginning, and so many days later.
fn moment(text: &str, days: i64) -> Result<Timestamp, String> {
    const DAY: i64 = 86_400_000_000;
    let now = Timestamp::now();
    let today = now.as_micros().div_euclid(DAY);
    let day = |number: i64| Timestamp::from_micros((number + days).saturating_mul(DAY));
    if text == "today" {
        return Ok(day(today));
    }
    if text == "yesterday" {
        return Ok(day(today - 1));
    }
    if let Ok(start) = Timestamp::at_start_of(text) {
        return Ok(day(start.as_micros().div_euclid(DAY)));
    }
    if let Ok(instant) = Timestamp::parse(text) {
        return Ok(instant);
    }
    let ago = duration(text)
        .map_err(|why| format!("{why}, as a date like 2026-11-28, or as an instant like 2026-11-28T20:00:00Z"))?;
    let ago = i64::try_from(ago.as_micros()).unwrap_or(i64::MAX);
    Ok(Timestamp::from_micros(now.as_micros().saturating_sub(ago)))
}

/// Parses a retention period. Refuses less than a day, which can only be a mistake.
pub(super) fn retention(text: &str) -> Result<Duration, String> {
    let keep = duration(text)?;
    if keep < Duration::from_secs(86_400) { Err("write at least 1d, such as 400d".to_owned()) } else { Ok(keep) }
}

/// Parses an entry of a list of names.
pub(super) fn name(name: &str) -> Result<String, String> {
    if name.is_empty() { Err("write a name, or several separated by commas".to_owned()) } else { Ok(name.to_owned()) }
}

/// Parses a text that must not be blank.
pub(super) fn text(text: &str) -> Result<String, String> {
    match text::fault(text, text::SHORT) {
        _ if text.is_empty() => Err("it is blank: write a text, or remove the setting".to_owned()),
        Some(fault) => Err(format!("it {fault}")),
        None => Ok(text.to_owned()),
    }
}

/// Parses any text, and trims it. For what is sent to a server, which says what it takes.
pub(super) fn any(text: &str) -> Result<String, Infallible> {
    Ok(text::trim(text).to_owned())
}

/// Parses `docs.example.com` and `git.example.com:8443`.
pub(super) fn document_host(text: &str) -> Result<Host, String> {
    text.parse()
}

/// Parses `10.0.0.0/8` and `10.0.0.1`.
pub(super) fn network(text: &str) -> Result<IpNet, String> {
    let network = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
    network.map(canonical).map_err(|_| "write it like 10.0.0.1, 10.0.0.0/8 or fd00::/8".to_owned())
}

/// Converts a network of IPv4 addresses that are written as IPv6 ones (`::ffff:10.0.0.0/104`), because addresses are
/// compared as IPv4 ones.
fn canonical(network: IpNet) -> IpNet {
    const MAPPED: u8 = 96;
    let address = network.addr().to_canonical();
    let length = network.prefix_len().checked_sub(MAPPED).filter(|_| address.is_ipv4() && network.addr().is_ipv6());
    length.and_then(|length| IpNet::new(address, length).ok()).unwrap_or(network)
}

/// Parses the base URL of an API, which may be below a path of a proxy.
pub(super) fn origin(text: &str) -> Result<String, String> {
    const RULE: &str = "write it like https://catalogue.example.com";
    let url = text.trim_end_matches('/');
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let Some(rest) = rest.filter(|rest| !rest.is_empty()) else { return Err(RULE.to_owned()) };
    let host = rest.split('/').next().unwrap_or_default();
    if rest.contains(['?', '#']) {
        return Err(format!("it must end with the host or a path, without ? and #: {RULE}"));
    }
    if host.contains('@') {
        return Err(format!("it must not hold a user or a password: {RULE}"));
    }
    if host.is_empty() || !rest.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\".contains(&byte)) {
        return Err(RULE.to_owned());
    }
    // The colons of an IPv6 address stand in brackets.
    let port = host.rsplit(']').next().and_then(|rest| rest.split_once(':'));
    match port {
        Some((_, port)) if !port.parse().is_ok_and(|port: u16| port != 0) => {
            Err(format!("its port must be a number from 1 to 65535: {RULE}"))
        }
        _ => Ok(url.to_owned()),
    }
}

/// Parses the URL of the application. Refuses a path: every link, redirect, asset and cookie of a page is at the root of
/// its host, and would lead a browser out of the path of a proxy.
pub(super) fn app_url(text: &str) -> Result<String, String> {
    let url = origin(text)?;
    let (_, rest) = url.split_once("://").unwrap_or_default();
    match rest.split_once('/') {
        None => Ok(url),
        Some((_, path)) => Err(format!(
            "the application cannot be served below the path /{path}, only at the root of a host: give it a host of its \
             own, such as https://rollcall.example.com"
        )),
    }
}

/// Parses the origin of a web page: a scheme, a host and a port if it is not the default one.
pub(super) fn web_origin(text: &str) -> Result<String, String> {
    let url = origin(text)?;
    let (_, rest) = url.split_once("://").unwrap_or_default();
    match rest.split_once('/') {
        None => Ok(url.to_ascii_lowercase()),
        Some((host, _)) => Err(format!("an origin has no path: write it like https://{host}")),
    }
}

/// Parses a base URL or an empty text, which means that the variable is not set.
pub(super) fn origin_or_none(text: &str) -> Result<String, String> {
    if text.is_empty() { Ok(String::new()) } else { origin(text) }
}

/// Parses a number from 0 to 1.
pub(super) fn ratio(text: &str) -> Result<f64, String> {
    let ratio = text.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
    ratio.ok_or_else(|| "write a number from 0 to 1, such as 0.1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_duration_a_day_or_an_instant() {
        let at = |text: &str| Timestamp::parse(text).expect("an instant");
        assert_eq!(since("2026-11-28"), Ok(at("2026-11-28T00:00:00Z")));
        assert_eq!(until("2026-11-28"), Ok(at("2026-11-29T00:00:00Z")), "a day belongs to it as a whole");
        assert_eq!(since("2026-11-28T20:00:00Z"), Ok(at("2026-11-28T20:00:00Z")));
        assert_eq!(until("2026-11-28 20:00:00"), Ok(at("2026-11-28T20:00:00Z")));
        let day = |later: Result<Timestamp, String>, earlier: Result<Timestamp, String>| {
            later.expect("a day").as_micros() - earlier.expect("a day").as_micros()
        };
        assert_eq!(day(until("yesterday"), since("yesterday")), 86_400_000_000);
        assert!(since("1d").expect("an instant") < since("1h").expect("an instant"));
        for text in ["", "7", "-1d", "2026-13-01", "soon"] {
            let refused = since(text).expect_err(text);
            assert!(refused.contains("2026-11-28T20:00:00Z"), "{text}: {refused}");
        }
    }
}
