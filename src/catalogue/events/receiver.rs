//! Where messages may be sent. Whoever can make a subscription could otherwise make the server send requests to any machine
//! that it reaches: its own, those of its network, and the metadata of its cloud.

use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use quick_cache::sync::Cache;
use ureq::Agent;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};

use crate::api_document::hosts::Hosts;
use crate::entity::document_pull::Address;
use crate::entity::text;
use crate::error::UserError;

/// The time for one message, from the look-up of the host's name to the end of the response.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// How long the addresses of a host are used that were looked up, and checked, for an earlier message.
pub const LOOKED_UP: Duration = Duration::from_secs(5);

/// Of how many hosts the addresses are kept.
pub const HOSTS: usize = 256;

/// How much of a response is read, in bytes.
pub const RESPONSE: usize = 1_000;

/// Checks the URL of a receiver, and returns its host, with the port if the URL states one. `private` are the hosts that may
/// have private addresses.
pub fn check(url: &str, private: &Hosts) -> Result<String, UserError> {
    let wrong = |what: &str| Err(UserError::new("receiverUrl", what.to_owned()));
    let Some(address) = Address::parse(url) else {
        return wrong("receiverUrl must be a URL such as https://hooks.example.com/a, without a user and a password");
    };
    if !private.contain(&address) {
        if !address.is_encrypted {
            return wrong("receiverUrl must begin with https://");
        }
        let literal = address.host.trim_matches(['[', ']']).parse::<IpAddr>();
        if address.host == "localhost" || literal.is_ok_and(|literal| !is_public(literal)) {
            return wrong(NOT_PUBLIC);
        }
    }
    Ok(match address.port {
        Some(port) => format!("{}:{port}", address.host),
        None => address.host,
    })
}

/// Why nothing is sent to a private address.
const NOT_PUBLIC: &str =
    "this address is private; an administrator of the server can allow its host with --send-events-to";

/// A response to a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) status: u16,
    /// The seconds of `Retry-After`.
    pub(super) retry_after: Option<u64>,
    /// The beginning of its body.
    pub(super) body: String,
}

/// A blocking client that connects to public addresses alone, but for hosts that may be private. The addresses that it has
/// checked are those that it connects to, so a name cannot lead elsewhere a moment later. It follows no redirects, and uses
/// no proxy, which would look up names itself.
pub(super) fn agent(private: &Hosts) -> Agent {
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .timeout_global(Some(TIMEOUT))
        .tls_config(tls)
        .user_agent(concat!("rollcall/", env!("CARGO_PKG_VERSION")))
        .build();
    Agent::with_parts(
        config,
        DefaultConnector::default(),
        Guarded { private: private.clone(), recent: Recent::default() },
    )
}

/// Sends a message and reads the response.
///
/// # Errors
/// Why there is none, in a few words without anything of the URL.
pub(super) fn send(agent: &Agent, url: &str, headers: &[(&str, &str)], body: &str) -> Result<Response, String> {
    let request = headers.iter().fold(agent.post(url), |request, (name, value)| request.header(*name, *value));
    let mut response = request.send(body).map_err(|error| why(&error))?;
    let status = response.status().as_u16();
    let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
    let retry_after = after.and_then(|seconds| seconds.trim().parse().ok());
    let mut start = Vec::new();
    // What it says matters only to people who look for a mistake.
    let _ = response.body_mut().as_reader().take(RESPONSE as u64).read_to_end(&mut start);
    let body = text::cleaned(&String::from_utf8_lossy(&start), RESPONSE);
    Ok(Response { status, retry_after, body })
}

fn why(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Other(cause) if cause.is::<Private>() => NOT_PUBLIC.to_owned(),
        ureq::Error::HostNotFound => "the host is not known".to_owned(),
        ureq::Error::Timeout(_) => format!("no response within {} s", TIMEOUT.as_secs()),
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => "the connection could not be encrypted".to_owned(),
        ureq::Error::ConnectionFailed => "the connection failed".to_owned(),
        ureq::Error::Io(cause) => format!("the connection failed: {}", cause.kind()),
        _ => "the response is not HTTP".to_owned(),
    }
}

/// The host has private addresses alone.
#[derive(Debug)]
struct Private;

impl std::fmt::Display for Private {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(NOT_PUBLIC)
    }
}

impl std::error::Error for Private {}

/// Looks up names, and leaves out private addresses.
#[derive(Debug)]
struct Guarded {
    private: Hosts,
    recent: Recent,
}

impl Guarded {
    fn look_up(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<Vec<SocketAddr>, ureq::Error> {
        let found = DefaultResolver::default().resolve(uri, config, timeout)?;
        if Address::parse(&uri.to_string()).is_some_and(|address| self.private.contain(&address)) {
            return Ok(found.to_vec());
        }
        let public: Vec<_> = found.iter().copied().filter(|address| is_public(address.ip())).collect();
        if public.is_empty() { Err(ureq::Error::Other(Box::new(Private))) } else { Ok(public) }
    }
}

impl Resolver for Guarded {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let host = format!("{}://{}", uri.scheme_str().unwrap_or_default(), uri.host().unwrap_or_default());
        let host = uri.port_u16().map_or_else(|| host.clone(), |port| format!("{host}:{port}"));
        let mut found = self.empty();
        for address in self.recent.get(&host, Instant::now(), || self.look_up(uri, config, timeout))? {
            found.push(address);
        }
        Ok(found)
    }
}

/// The addresses of hosts to which something was sent a moment ago. A look-up takes a thread of its own, and a receiver gets
/// many messages in a row.
#[derive(Debug)]
struct Recent(Cache<String, (Instant, Vec<SocketAddr>)>);

impl Default for Recent {
    fn default() -> Self {
        Self(Cache::new(HOSTS))
    }
}

impl Recent {
    /// The addresses of a host, looked up at most [`LOOKED_UP`] before `now`.
    fn get<E>(
        &self,
        host: &str,
        now: Instant,
        look_up: impl FnOnce() -> Result<Vec<SocketAddr>, E>,
    ) -> Result<Vec<SocketAddr>, E> {
        if let Some((at, found)) = self.0.get(host)
            && now.saturating_duration_since(at) < LOOKED_UP
        {
            return Ok(found);
        }
        let found = look_up()?;
        self.0.insert(host.to_owned(), (now, found.clone()));
        Ok(found)
    }
}

/// Whether an address is that of a machine on the internet: none of those that the registries of special addresses of
/// [RFC 6890](https://www.rfc-editor.org/rfc/rfc6890) reserve. One that contains an IPv4 address is as that is.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !matches!(
        (a, b, c),
        (0 | 10 | 127 | 224.., ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 168, _)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    )
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let embedded = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        // IPv4-mapped, and NAT64.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        // 6to4.
        [0x2002, high, low, ..] => embedded(high, low),
        // IETF assignments, with Teredo; and documentation.
        [0x2001, second, ..] => second > 0x1ff && second != 0xdb8,
        [0x3fff, second, ..] => second > 0xfff,
        // Global unicast.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::net::TcpListener;

    use super::*;

    fn hosts(names: &[&str]) -> Hosts {
        Hosts::from(names.iter().map(|name| name.parse().expect("a host")).collect::<Vec<_>>())
    }

    #[test]
    fn private_addresses_of_every_kind_are_known() {
        for private in [
            "0.0.0.0",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:a00:1::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "3fff::1",
            "5f00::1",
        ] {
            assert!(!is_public(private.parse().expect("an address")), "{private}");
        }
        for public in [
            "1.1.1.1",
            "100.63.0.1",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "192.167.0.1",
            "198.17.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "2002:101:101::1",
            "64:ff9b::1.1.1.1",
        ] {
            assert!(is_public(public.parse().expect("an address")), "{public}");
        }
    }

    #[test]
    fn only_named_hosts_may_be_private() {
        let none = hosts(&[]);
        let allowed = check("https://hooks.example.com/services/T0/B0", &none);
        assert_eq!(allowed.expect("a public host"), "hooks.example.com");
        let own = hosts(&["127.0.0.1:9000", "chat.internal"]);
        for url in ["http://127.0.0.1:9000/hook", "http://chat.internal/a", "https://hooks.example.com"] {
            assert!(check(url, &own).is_ok(), "{url}");
        }
        for url in [
            "http://hooks.example.com/a",
            "https://127.0.0.1/a",
            "https://localhost/a",
            "https://[::1]/a",
            "https://169.254.169.254/latest/meta-data",
            "https://ada:secret@example.com/",
            "https://0x7f.1/ ",
            "ftp://example.com",
            "/a",
            "",
        ] {
            assert!(check(url, &none).is_err(), "{url}");
        }
    }

    #[test]
    fn addresses_are_looked_up_again_after_some_seconds() {
        let (recent, now) = (Recent::default(), Instant::now());
        let at = |last: u8| Ok::<_, ()>(vec![SocketAddr::from(([1, 1, 1, last], 443))]);
        let get = |host: &str, after: Duration, last: u8| recent.get(host, now + after, || at(last));
        assert_eq!(recent.get("https://a", now, || Err(())), Err(()), "what was not found is not kept");
        assert_eq!(get("https://a", Duration::ZERO, 1), at(1));
        assert_eq!(get("https://a", LOOKED_UP / 2, 2), at(1));
        assert_eq!(get("https://b", LOOKED_UP / 2, 3), at(3), "each host has its own");
        assert_eq!(get("https://a", LOOKED_UP, 4), at(4));
    }

    #[test]
    fn a_name_that_leads_to_this_machine_is_not_connected_to() {
        let agent = agent(&hosts(&[]));
        for url in ["https://localhost:1/", "http://localhost:1/", "http://127.1:1/", "http://0x7f000001:1/"] {
            assert_eq!(send(&agent, url, &[], "{}"), Err(NOT_PUBLIC.to_owned()), "{url}");
        }
    }

    #[test]
    fn a_name_that_leads_to_this_machine_some_seconds_later_is_not_connected_to() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let host = format!("http://localhost:{}", listener.local_addr().expect("an address").port());
        // The name was looked up some time ago. Asked again, it leads to this machine.
        let sent = |earlier: SocketAddr, ago: Duration| {
            let recent = Recent::default();
            let at = Instant::now().checked_sub(ago).expect("a machine that runs for longer");
            recent.get(&host, at, || Ok::<_, ()>(vec![earlier])).expect("addresses");
            let config = agent(&hosts(&[])).config().clone();
            let guarded = Guarded { private: hosts(&[]), recent };
            let client = Agent::with_parts(config, DefaultConnector::default(), guarded);
            send(&client, &host, &[], "{}")
        };
        // What was looked up a moment ago is where it connects to, which here is a port without a listener.
        let nobody = sent(SocketAddr::from(([127, 0, 0, 1], 1)), Duration::ZERO);
        assert!(nobody.as_ref().is_err_and(|why| why.starts_with("the connection failed")), "{nobody:?}");
        let public = SocketAddr::from(([1, 1, 1, 1], 443));
        assert!(is_public(public.ip()));
        assert_eq!(sent(public, LOOKED_UP), Err(NOT_PUBLIC.to_owned()));
        listener.set_nonblocking(true).expect("a listener");
        assert_eq!(listener.accept().map_err(|error| error.kind()).err(), Some(ErrorKind::WouldBlock));
    }
}
