//! Requests that we make ourselves, to deploy endpoints and OpenID providers: one way of doing it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

/// A client that trusts whom the machine trusts, takes the proxies of the environment, follows no redirect (a post would
/// become a get, and an address that we were given could lead to one that we were not), and leaves it to the caller what
/// a status means. Blocks.
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

/// A client for the server on this machine: through no proxy. Whose certificate the server shows does not matter, because
/// nothing secret is sent and the address is the machine's own. Blocks.
pub fn agent_to_ourselves() -> Agent {
    let tls = TlsConfig::builder().disable_verification(true).build();
    let config = Agent::config_builder().http_status_as_error(false).max_redirects(0).proxy(None).tls_config(tls);
    Agent::new_with_config(config.build())
}

/// The address at which this machine reaches a server that listens on `listen`: 0.0.0.0 and [::] are no address to go to.
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
}
