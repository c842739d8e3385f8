//! The hosts from which documents may be pulled. Without this list, whoever can change a service could make the server
//! send requests to any machine that it reaches.

use std::str::FromStr;

use crate::entity::document_pull::{Address, host_and_port};
use crate::entity::text;

/// A host that the administrator names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    name: String,
    /// `None` for the default port of the scheme.
    port: Option<u16>,
}

impl FromStr for Host {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = host_and_port(text::trim(text)).map(|(name, port)| Self { name, port });
        found.ok_or_else(|| "write host names such as docs.example.com or git.example.com:8443".to_owned())
    }
}

/// The hosts from which documents may be pulled. By default none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hosts(Vec<Host>);

impl From<Vec<Host>> for Hosts {
    fn from(hosts: Vec<Host>) -> Self {
        Self(hosts)
    }
}

impl Hosts {
    /// Whether documents may be pulled from a URL.
    pub fn contain(&self, url: &Address) -> bool {
        let is = |host: &Host| host.name == url.host && host.port.unwrap_or(url.default_port()) == url.port();
        self.0.iter().any(is)
    }

    /// Checks that documents may be pulled from a URL.
    ///
    /// # Errors
    /// What the administrator can do, in a sentence without anything of the URL but its host.
    pub fn check(&self, url: &str) -> Result<(), String> {
        let Some(address) = Address::parse(url) else { return Err("the URL cannot be read".to_owned()) };
        if self.contain(&address) {
            return Ok(());
        }
        let host = match address.port {
            Some(port) => format!("{}:{port}", address.host),
            None => address.host,
        };
        Err(format!(
            "this server does not pull documents from {host}; its administrator can allow it with \
             --pull-documents-from {host}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_hosts_and_ports_are_allowed() {
        let hosts = ["Docs.example.com", "git.example.com:8443", "[::1]:80", "localhost"];
        let hosts = Hosts(hosts.map(|host| host.parse().expect("a host")).to_vec());
        for url in [
            "https://docs.example.com/a",
            "https://DOCS.EXAMPLE.COM:443/a",
            "https://git.example.com:8443/a",
            "http://[::1]/a",
            "http://localhost",
        ] {
            assert_eq!(hosts.check(url), Ok(()), "{url}");
        }
        for url in [
            "https://docs.example.com:8443/a",
            "https://git.example.com/a",
            "https://api.docs.example.com/a",
            "https://example.com/docs.example.com",
            "http://localhost:8080",
            "https://docs.example.com@evil.example.com/",
        ] {
            assert!(hosts.check(url).is_err(), "{url}");
        }
        assert!(Hosts::default().check("https://docs.example.com/a").is_err());
        for wrong in ["", "https://docs.example.com", "docs.example.com/a", "*", "a b", "docs:x"] {
            assert!(wrong.parse::<Host>().is_err(), "{wrong}");
        }
    }
}
