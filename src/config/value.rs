//! Parsers of flag values. An error says how to write the value.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use ipnet::IpNet;
use jiff::{Span, SpanRelativeTo};

use crate::api_document::hosts::Host;

/// Parses durations such as `30s`, `90d`, `1h 30m`. A day is 24 hours.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let span: Span = text.parse().map_err(|_| "write it like 30s, 12h or 90d".to_owned())?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours());
    duration
        .ok()
        .and_then(|duration| duration.try_into().ok())
        .ok_or_else(|| "write it like 30s, 12h or 90d".to_owned())
}

/// Parses a whole number that is not negative.
pub(super) fn number<N: FromStr>(text: &str) -> Result<N, String> {
    text.trim().parse().map_err(|_| "write a whole number, such as 400".to_owned())
}

/// Parses the id of a row.
pub(super) fn id(text: &str) -> Result<i64, String> {
    text.trim().parse().map_err(|_| "write the id, which is a number: the first column of the list".to_owned())
}

/// Parses `127.0.0.1:8080`, `[::1]:8080` and `localhost:8080`.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let text = text.trim();
    let local = text.strip_prefix("localhost:").and_then(|port| port.parse::<u16>().ok());
    let local = local.map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let address = local.or_else(|| text.parse().ok());
    address
        .ok_or_else(|| "write it like 127.0.0.1:8080, or 0.0.0.0:8080 for all of this machine's addresses".to_owned())
}

/// Parses the permissions of a file in octal, such as `660`.
pub(super) fn mode(text: &str) -> Result<u32, String> {
    let mode = u32::from_str_radix(text.trim(), 8).ok().filter(|mode| *mode <= 0o777);
    mode.ok_or_else(|| "write the permissions in octal, such as 660".to_owned())
}

/// Parses a retention period. Refuses less than a day, which can only be a mistake.
pub(super) fn retention(text: &str) -> Result<Duration, String> {
    let keep = duration(text)?;
    if keep < Duration::from_secs(86_400) { Err("write at least 1d, such as 400d".to_owned()) } else { Ok(keep) }
}

/// Parses a name and trims it.
pub(super) fn name(text: &str) -> Result<String, String> {
    let name = text.trim();
    if name.is_empty() { Err("write a name, or several separated by commas".to_owned()) } else { Ok(name.to_owned()) }
}

/// Parses `docs.example.com` and `git.example.com:8443`.
pub(super) fn document_host(text: &str) -> Result<Host, String> {
    text.parse()
}

/// Parses `10.0.0.0/8` and `10.0.0.1`.
pub(super) fn network(text: &str) -> Result<IpNet, String> {
    let text = text.trim();
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

/// Parses a base URL.
pub(super) fn origin(text: &str) -> Result<String, String> {
    let url = text.trim_end_matches('/');
    let host = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let is_plain = |host: &str| host.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#\"<>\\".contains(&byte));
    match host {
        Some(host) if !host.is_empty() && is_plain(host) => Ok(url.to_owned()),
        _ => Err("write it like https://catalogue.example.com".to_owned()),
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
