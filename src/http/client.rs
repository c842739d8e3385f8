//! The sender of a request: its id, address and host, as far as the headers can be trusted.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use data_encoding::HEXLOWER;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::{Request, Version};
use ipnet::IpNet;

use super::connection::{HEAD_BYTES, HEADERS};
use super::reply::Rejection;
use super::router::Route;
use super::serve::Peer;
use crate::spans::{self, Span};

/// The longest request id accepted from a caller.
const REQUEST_ID_LENGTH: usize = 128;

/// Returns the caller's `X-Request-Id` if it is safe to log, else a new id.
pub fn request_id(headers: &HeaderMap) -> String {
    let fits = |id: &&str| {
        (1..=REQUEST_ID_LENGTH).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
    };
    match headers.get("x-request-id").and_then(|id| id.to_str().ok()).filter(fits) {
        Some(id) => id.to_owned(),
        None => {
            // Distinct, not secret: the system's generator would cost a system call for each request.
            let mut random = [0; 12];
            fastrand::fill(&mut random);
            HEXLOWER.encode(&random)
        }
    }
}

/// Opens the span of a request, as a child of the span in `traceparent`.
pub(super) fn span<B>(request: &Request<B>, peer: Peer, id: &str) -> Span {
    let (headers, path) = (request.headers(), request.uri().path());
    let lines = |name: &str| headers.get_all(name).iter().map(HeaderValue::as_bytes);
    let caller = spans::parent(lines("traceparent"), lines("tracestate"));
    let route = Route::from_path(path);
    let head = spans::Request {
        method: super::router::method_name(request.method()),
        route: route.name(),
        path: route.shown(path),
        is_encrypted: peer.is_encrypted,
        version: match request.version() {
            Version::HTTP_2 => "2",
            Version::HTTP_10 => "1.0",
            _ => "1.1",
        },
        id,
    };
    spans::request(&head, caller)
}

/// Whether a canonical address is a trusted proxy's.
pub(super) fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|network| network.contains(&address))
}

/// Returns the client's address: the peer's, or, behind trusted proxies, the rightmost address in `X-Forwarded-For`
/// that is not a trusted proxy. Several lines are one list, and entries are bytes: what stands left of the entry that counts
/// is the client's own, and cannot hide it. Stops at an entry that is no address: nothing to the left of it is trusted.
pub fn address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let mut address = peer.to_canonical();
    let lines = headers.get_all("x-forwarded-for").iter().rev();
    let entries = lines.flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b',')).map(<[u8]>::trim_ascii);
    // A list may have empty entries (RFC 9110, section 5.6.1).
    for entry in entries.filter(|entry| !entry.is_empty()) {
        if !is_trusted(address, trusted) {
            break;
        }
        match str::from_utf8(entry).ok().and_then(forwarded) {
            Some(client) => address = client.to_canonical(),
            None => break,
        }
    }
    address
}

/// Returns the origin that people reach this service at, as a trusted proxy tells it: `X-Forwarded-Proto`, with
/// `X-Forwarded-Host` or else the host of the request. Takes one value of each header: with several, it is not known
/// which proxy has written which. `None` if the peer is not trusted, or does not say it so.
pub fn origin(peer: IpAddr, parts: &Parts, trusted: &[IpNet]) -> Option<String> {
    if !is_trusted(peer.to_canonical(), trusted) {
        return None;
    }
    let one = |name: &str| {
        let mut values = parts.headers.get_all(name).iter();
        let value = values.next()?;
        Some(value.to_str().ok().filter(|_| values.next().is_none()).unwrap_or_default())
    };
    let scheme = one("x-forwarded-proto")?;
    let scheme = ["https", "http"].into_iter().find(|known| known.eq_ignore_ascii_case(scheme))?;
    let authority = || parts.uri.authority().map(Authority::as_str);
    let host = one("x-forwarded-host").or_else(|| one("host")).or_else(authority)?;
    // As browsers write an origin: without the port that goes without saying.
    let shown = host.strip_suffix(if scheme == "https" { ":443" } else { ":80" }).unwrap_or(host);
    is_host(host).then(|| format!("{scheme}://{}", shown.to_ascii_lowercase()))
}

/// The longest host that is taken for an origin, with its port.
const HOST_LENGTH: usize = 255;

/// Whether a text is a name, an IPv4 address or an IPv6 address in brackets, with or without a port. Stricter than the
/// syntax of URIs, because it becomes part of links.
fn is_host(text: &str) -> bool {
    let (is_name, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, "")) => (address.parse::<Ipv6Addr>().is_ok(), None),
        Some((address, rest)) => {
            (address.parse::<Ipv6Addr>().is_ok(), Some(rest.strip_prefix(':').unwrap_or_default()))
        }
        None => match text.split_once(':') {
            Some((name, port)) => (is_name(name), Some(port)),
            None => (is_name(text), None),
        },
    };
    let is_port = |port: &str| {
        !port.starts_with('0') && port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
    };
    text.len() <= HOST_LENGTH && is_name && port.is_none_or(is_port)
}

/// Whether a text is labels joined by dots.
fn is_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    text.split('.').all(|label| {
        (1..=63).contains(&label.len())
            && label.bytes().all(is_allowed)
            && !label.starts_with('-')
            && !label.ends_with('-')
    })
}

/// How the `X-Forwarded-For` header of a connection was treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forwarded {
    /// The header is absent.
    Absent,
    /// Ignored, because the peer is not a trusted proxy.
    Ignored,
    /// Used, because the peer is a trusted proxy. Holds the number of addresses.
    Believed(usize),
}

impl Forwarded {
    /// See [`Forwarded`].
    pub fn from_headers(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> Self {
        let lines = headers.get_all("x-forwarded-for").iter();
        let addresses = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b',')).count();
        let peer = peer.to_canonical();
        match addresses {
            0 => Self::Absent,
            _ if !is_trusted(peer, trusted) => Self::Ignored,
            addresses => Self::Believed(addresses),
        }
    }
}

/// Whether an address could be a proxy's: it is on this machine or in a private network.
pub fn may_be_a_proxy(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback() || address.is_private(),
        IpAddr::V6(address) => address.is_loopback() || address.is_unique_local(),
    }
}

/// Parses an entry. Some proxies add the port.
fn forwarded(entry: &str) -> Option<IpAddr> {
    let address = entry.parse().or_else(|_| entry.parse::<SocketAddr>().map(|address| address.ip()));
    address.ok().or_else(|| entry.strip_prefix('[')?.strip_suffix(']')?.parse().ok())
}

/// Checks that the request names its host exactly once and in valid form (RFC 9112, section 3.2; RFC 9113, section
/// 8.3.1).
pub fn check_host(parts: &Parts) -> Result<(), Rejection> {
    let bad = |reason: &str| Err(Rejection::BadRequest(reason.to_owned()));
    let mut hosts = parts.headers.get_all(header::HOST).iter();
    let host = hosts.next();
    if hosts.next().is_some() {
        return bad("The request has more than one Host header.");
    }
    let host = match host.map(|host| host.to_str().map(str::parse::<Authority>)) {
        None => None,
        Some(Ok(Ok(host))) if !host.as_str().contains('@') => Some(host),
        Some(_) => return bad("The Host header is not a host."),
    };
    let authority = parts.uri.authority().filter(|_| parts.version == Version::HTTP_2);
    match (host, authority) {
        (Some(host), Some(authority)) if host != *authority => {
            bad("The Host header differs from the request's :authority.")
        }
        (Some(_), _) | (_, Some(_)) => Ok(()),
        (None, None) if parts.version < Version::HTTP_11 => Ok(()),
        (None, None) => bad("The request has no Host header."),
    }
}

/// Refuses an HTTP/2 request with too long a head, as [`refused`](super::refused) does for HTTP/1.1. hyper refuses far
/// longer heads itself.
pub fn check_head(parts: &Parts) -> Result<(), Rejection> {
    if parts.version < Version::HTTP_2 {
        return Ok(());
    }
    let is_too_large = parts.headers.len() > HEADERS || head_bytes(&parts.headers) > HEAD_BYTES;
    if is_too_large { Err(Rejection::HeadTooLarge) } else { Ok(()) }
}

/// The size of the headers, as HTTP/2 counts it: with 32 bytes of overhead for each (RFC 9113, section 6.5.2).
pub fn head_bytes(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address_of<L: AsRef<[u8]>>(peer: &str, forwarded: &[L], trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append("x-forwarded-for", HeaderValue::from_bytes(line.as_ref()).expect("a header"));
        }
        let trusted: Vec<IpNet> = trusted.iter().map(|network| network.parse().expect("a network")).collect();
        address(peer.parse().expect("an address"), &headers, &trusted).to_string()
    }

    #[test]
    fn an_untrusted_peer_cannot_name_another_address() {
        assert_eq!(address_of("203.0.113.9", &["198.51.100.1"], &[]), "203.0.113.9");
        assert_eq!(address_of("203.0.113.9", &["198.51.100.1"], &["10.0.0.0/8"]), "203.0.113.9");
    }

    #[test]
    fn behind_trusted_proxies_the_right_most_untrusted_address_counts() {
        let trusted = &["10.0.0.0/8", "fd00::/8"];
        for (forwarded, expected) in [
            (&["198.51.100.1"][..], "198.51.100.1"),
            (&["192.0.2.7, 198.51.100.1, 10.2.3.4"], "198.51.100.1"),
            (&["192.0.2.7", "198.51.100.1,10.2.3.4"], "198.51.100.1"),
            (&["198.51.100.1:4711"], "198.51.100.1"),
            (&["[2001:db8::1]:4711"], "2001:db8::1"),
            (&["[2001:db8::1]"], "2001:db8::1"),
            (&["::ffff:198.51.100.1"], "198.51.100.1"),
            (&["10.9.9.9, 10.2.3.4"], "10.9.9.9"),
            (&["198.51.100.1, unknown"], "10.0.0.1"),
            (&[""], "10.0.0.1"),
            (&[], "10.0.0.1"),
        ] {
            assert_eq!(address_of("10.0.0.1", forwarded, trusted), expected, "{forwarded:?}");
        }
        assert_eq!(address_of("::ffff:10.0.0.1", &["198.51.100.1"], trusted), "198.51.100.1");
    }

    #[test]
    fn bytes_that_are_not_ascii_do_not_hide_the_entries_right_of_them() {
        for (forwarded, expected) in [
            (&[&b"\xff, 198.51.100.1"[..]][..], "198.51.100.1"),
            (&[b"caf\xc3\xa9,198.51.100.1, 10.2.3.4"], "198.51.100.1"),
            (&[b"\xff\xfe", b"198.51.100.1"], "198.51.100.1"),
            (&[b"192.0.2.7\xff, 198.51.100.1"], "198.51.100.1"),
            (&[b"198.51.100.1, "], "198.51.100.1"),
            (&[b"198.51.100.1", b""], "198.51.100.1"),
            (&[b", ,198.51.100.1,, "], "198.51.100.1"),
            // Who wrote such an entry is not known: the trusted proxy right of it counts.
            (&[b"198.51.100.1, \xff"], "10.0.0.1"),
            (&[b"198.51.100.1, \xff, 10.2.3.4"], "10.2.3.4"),
            (&[b"198.51.100.1", b"\xa0"], "10.0.0.1"),
        ] {
            assert_eq!(address_of("10.0.0.1", forwarded, &["10.0.0.0/8"]), expected, "{forwarded:?}");
        }
        assert_eq!(address_of("203.0.113.9", &[&b"\xff, 198.51.100.1"[..]], &["10.0.0.0/8"]), "203.0.113.9");
    }
}
