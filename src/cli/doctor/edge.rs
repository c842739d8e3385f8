//! Checks the edge: conflicting settings, the server on this machine, and the proxy in front of it.

use std::time::Duration;

use super::Finding;
use crate::cli::ourselves::Ourselves;
use crate::cli::{healthcheck, serve};
use crate::config::{Serve, unknown_variables};
use crate::http::handlers::health::DOCTOR;
use crate::http::tls::Tls;
use crate::outgoing;

/// The timeout for the proxy.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest response that is read, in bytes.
const LONGEST_ANSWER: u64 = 4096;

/// An address reserved for documentation (RFC 5737), which no real client has.
const FORGED: &str = "192.0.2.1";

/// Checks for missing and conflicting settings.
pub(super) fn settings(settings: &Serve) -> Vec<Finding> {
    let about = "settings";
    let mut findings = Vec::new();
    let addresses = &settings.addresses;
    let tls = addresses.tls.both();
    if let Some(Err(reason)) = tls.map(|(certificate, key)| Tls::open(certificate, key)) {
        findings.push(Finding::problem(about, reason));
    }
    if let Err(reason) = settings.openid.clone().provider() {
        findings.push(Finding::problem(about, reason));
    }
    if let Err(reason) = settings.mail.mailer() {
        findings.push(Finding::problem(about, reason));
    }
    if let Err(reason) = serve::check_proxies(settings) {
        findings.push(Finding::problem(about, reason));
    }
    if let Err(reason) = serve::check_tokens(settings) {
        findings.push(Finding::problem(about, reason));
    }
    findings.extend(unknown_variables().iter().map(|unknown| Finding::advice(about, serve::unknown_variable(unknown))));
    let proxies = &settings.edge.trusted_proxies;
    match addresses.given_app_url() {
        None if !proxies.is_empty() && !addresses.proxy_protocol => {
            let says = "--app-url is not set: links use the host that trusted proxies name with X-Forwarded-Proto and \
                        X-Forwarded-Host, which they must set or remove in every request";
            findings.push(Finding::advice(about, says));
        }
        None if !addresses.listen.is_local() || !proxies.is_empty() => {
            let url = addresses.app_url(&addresses.listen);
            let says = format!("--app-url is not set: links for people and pipelines use {url}");
            findings.push(Finding::advice(about, says));
        }
        Some(url) if url.starts_with("http://") && !outgoing::is_loopback(url) => {
            let says = format!("--app-url {url} is not encrypted: tokens and sessions can be read in transit");
            findings.push(Finding::advice(about, says));
        }
        _ => {}
    }
    if let Some(why) = serve::untrusted_proxy(settings, &addresses.listen) {
        let says = format!(
            "{why}, and --trusted-proxies is not set: the limits see all its clients as one. Set --trusted-proxies to the \
             address that the proxy connects from"
        );
        findings.push(Finding::problem(about, says));
    }
    if findings.is_empty() {
        findings.push(Finding::fine(about, "they are consistent"));
    }
    findings
}

/// The server on this machine.
pub(super) struct Server {
    /// How to reach it. `None` if no server responds.
    pub(super) running: Option<Ourselves>,
    /// Whether it is ready.
    pub(super) finding: Finding,
}

/// Checks whether a server with these settings runs on this machine.
pub(super) fn server(settings: &Serve) -> Server {
    let (about, server) = ("server", Ourselves::new(&settings.addresses));
    if healthcheck::ask(&server, "/livez").is_err() {
        let finding = Finding::advice(about, format!("none responds at {server}; start it to check the proxy"));
        return Server { running: None, finding };
    }
    let finding = match healthcheck::ask(&server, "/readyz") {
        Ok(said) if said.contains("writes: ok") => Finding::fine(about, format!("the one at {server} is ready")),
        Ok(said) => Finding::problem(about, said.lines().last().unwrap_or_default()),
        Err(reason) => Finding::problem(about, reason),
    };
    Server { running: Some(server), finding }
}

/// Checks how the server sees a client that connects through the public URL. `None` if no such URL is set.
pub(super) fn proxy(settings: &Serve) -> Option<Finding> {
    let url = settings.addresses.given_app_url()?;
    let request = outgoing::agent().get(format!("{url}/livez")).header(DOCTOR, "1").header("x-forwarded-for", FORGED);
    let asked = request.config().timeout_global(Some(PATIENCE)).build().call();
    let answer = asked.and_then(|mut answer| {
        let text = answer.body_mut().with_config().limit(LONGEST_ANSWER).lossy_utf8(true).read_to_string()?;
        Ok((answer.status().as_u16(), text))
    });
    Some(match answer {
        Ok((200, text)) => judge(url, &text),
        Ok((status, _)) => Finding::problem("proxy", format!("{url}/livez returns {status}; it must reach rollcall")),
        Err(error) => Finding::problem("proxy", format!("{url}/livez cannot be reached: {error}")),
    })
}

fn judge(url: &str, said: &str) -> Finding {
    let of = |name: &str| said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let about = "proxy";
    let (Some(client), Some(forwarded), Some(host)) = (of("client"), of("forwarded"), of("host")) else {
        return Finding::problem(about, format!("{url} is not served by a rollcall of this version"));
    };
    let authority = outgoing::authority(url);
    let without_port = |host: &str, port: &str| host.strip_suffix(port).unwrap_or(host).to_ascii_lowercase();
    let port = if url.starts_with("https:") { ":443" } else { ":80" };
    if without_port(host, port) != without_port(authority, port) {
        let says = format!("it changes the Host header to {host}, so forms are refused. Make it pass on {authority}");
        return Finding::problem(about, says);
    }
    match forwarded {
        "absent" => Finding::problem(
            about,
            format!(
                "it sends no X-Forwarded-For: the limits count all its clients as {client}. Make it set the header"
            ),
        ),
        "ignored" => Finding::advice(
            about,
            format!(
                "rollcall sees this client as {client} and ignores X-Forwarded-For; if {client} is a proxy, all its clients \
                 are one to the limits: add --trusted-proxies {client}"
            ),
        ),
        "believed 1" if client == FORGED => Finding::problem(
            about,
            "it passes on X-Forwarded-For as clients send it: anyone can evade the limits. Make it append the client's \
             address, or replace the header",
        ),
        _ => Finding::fine(about, format!("{url} passes its clients' addresses to rollcall")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(said: &str) -> String {
        judge("https://catalogue.example.com", said).to_string().split(' ').next().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_proxy_is_judged_by_how_the_server_sees_its_clients() {
        let host = "host: Catalogue.example.com:443";
        for (said, expected) in [
            (format!("ok\nclient: 198.51.100.7\nforwarded: believed 2\n{host}\n"), "ok"),
            (format!("ok\nclient: 198.51.100.7\nforwarded: believed 1\n{host}\n"), "ok"),
            // The doctor itself may run at a trusted address.
            (format!("ok\nclient: 192.0.2.1\nforwarded: believed 2\n{host}\n"), "ok"),
            (format!("ok\nclient: 192.0.2.1\nforwarded: believed 1\n{host}\n"), "PROBLEM"),
            (format!("ok\nclient: 10.0.0.1\nforwarded: ignored\n{host}\n"), "advice"),
            (format!("ok\nclient: 10.0.0.1\nforwarded: absent\n{host}\n"), "PROBLEM"),
            ("ok\nclient: 198.51.100.7\nforwarded: believed 2\nhost: 127.0.0.1:8080\n".to_owned(), "PROBLEM"),
            ("ok\n".to_owned(), "PROBLEM"),
        ] {
            assert_eq!(level(&said), expected, "{said}");
        }
    }
}
