//! Requests that we make ourselves, to deploy endpoints and OpenID providers: one way of doing it.

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
