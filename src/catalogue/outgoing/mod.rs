//! The HTTP client for our own requests, to deploy endpoints, servers and OpenID providers.
//!
//! Invariants: it follows no redirects, so a trusted URL leads nowhere else. A message names the host of a URL, and
//! nothing else of it, because the rest can be a secret.

mod retry;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

pub use self::retry::{Attempt, Purpose, needs_tls, retry};
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

/// A blocking client. It trusts the machine's root certificates, uses the environment's proxies, and leaves statuses to
/// the caller. It follows no redirects: a POST would become a GET, and a trusted URL could lead to an untrusted one.
pub fn agent() -> Agent {
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .tls_config(tls)
        .user_agent(concat!("rollcall/", env!("CARGO_PKG_VERSION")))
        .build();
    Agent::new_with_config(config)
}

/// Splits a URL into its host, with the port if there is one, and everything behind it: path, query and fragment. Drops
/// the scheme, the user and the password.
pub fn split_url(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    (authority.rsplit_once('@').map_or(authority, |(_, host)| host), path)
}

/// The host of a URL, with the port if there is one. Nothing else of a URL may be shown: it can be secret.
pub fn authority(url: &str) -> &str {
    split_url(url).0
}

/// The host of a URL without the port. An IPv6 address keeps its brackets.
pub fn host(url: &str) -> &str {
    let authority = authority(url);
    let port = authority.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    port.map_or(authority, |(host, _)| host)
}

/// Whether the host of a URL is this machine.
pub fn is_loopback(url: &str) -> bool {
    let host = host(url);
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// The address at which this machine reaches a server that listens on `listen`. 0.0.0.0 and [::] cannot be connected
/// to.
pub fn reachable(listen: SocketAddr) -> SocketAddr {
    let address = match listen.ip() {
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        address => address,
    };
    SocketAddr::new(address, listen.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authority_of_a_url_has_no_secrets() {
        for (url, expected, expected_host, expected_path) in [
            ("https://catalogue.example.com", "catalogue.example.com", "catalogue.example.com", ""),
            ("http://127.0.0.1:8080/hooks/secret", "127.0.0.1:8080", "127.0.0.1", "/hooks/secret"),
            ("http://ada:pass@word@[::1]:80/x@y", "[::1]:80", "[::1]", "/x@y"),
            ("http://[::1]?x=/", "[::1]", "[::1]", "?x=/"),
        ] {
            assert_eq!((authority(url), host(url)), (expected, expected_host));
            assert_eq!(split_url(url), (expected, expected_path));
        }
    }

    #[test]
    fn a_server_on_all_addresses_is_reached_on_this_machine() {
        for (listen, expected) in [
            ("0.0.0.0:8080", "127.0.0.1:8080"),
            ("[::]:8080", "[::1]:8080"),
            ("192.0.2.1:80", "192.0.2.1:80"),
            ("[::1]:80", "[::1]:80"),
        ] {
            assert_eq!(reachable(listen.parse().expect("an address")).to_string(), expected);
        }
    }

    #[test]
    fn this_machine_is_known_by_its_names() {
        for url in
            ["http://localhost", "http://localhost:8080", "http://127.0.0.1:80", "http://[::1]:8080", "http://[::1]"]
        {
            assert!(is_loopback(url), "{url}");
        }
        for url in ["http://localhost.example.com", "http://10.0.0.1:80", "http://catalogue"] {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
