//! The addresses at which the service listens and is reached.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, FromArgMatches};

use super::trimmed::{switch, trimmed};
use super::{Listen, TlsFiles, value};
use crate::outgoing;

/// The service's addresses.
#[derive(Debug, Clone, Args)]
pub struct Addresses {
    // Before `listen`: parsing takes a value from the matches, and its source with it.
    #[command(flatten)]
    is_listen_given: IsListenGiven,
    /// The address and port to listen on, or a socket such as unix:/run/rollcall.sock; port 0 picks a free one. A socket
    /// that systemd passes takes its place
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "ROLLCALL_LISTEN",
        default_value = "127.0.0.1:8080",
        value_parser = trimmed(Listen::parse)
    )]
    pub listen: Listen,
    /// The permissions of the socket of --listen unix:…, in octal
    #[arg(long, value_name = "MODE", env = "ROLLCALL_LISTEN_MODE", default_value = "660", value_parser = trimmed(value::mode))]
    pub listen_mode: u32,
    /// Connections from --trusted-proxies begin with a PROXY header, version 1 or 2, that names the client
    #[arg(long, env = "ROLLCALL_PROXY_PROTOCOL", value_parser = switch())]
    pub proxy_protocol: bool,
    /// The URL at which clients reach the API [default: http:// or https:// and the listening address]
    #[arg(long, value_name = "URL", env = "ROLLCALL_BASE_URL", value_parser = trimmed(value::origin))]
    base_url: Option<String>,
    /// The URL at which people and CI systems reach the application [default: the host that a trusted proxy names, else
    /// as for --base-url]
    #[arg(long, value_name = "URL", env = "ROLLCALL_APP_URL", value_parser = trimmed(value::app_url))]
    app_url: Option<String>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub tls: TlsFiles,
}

impl Addresses {
    /// The URL of the API without a trailing slash, given where the server actually listens.
    pub fn base_url(&self, listening: &Listen) -> String {
        self.base_url.clone().unwrap_or_else(|| self.own(listening))
    }

    /// The URL of the application without a trailing slash, given where the server actually listens.
    pub fn app_url(&self, listening: &Listen) -> String {
        self.app_url.clone().unwrap_or_else(|| self.own(listening))
    }

    /// The URL of the application, if it is set explicitly.
    pub fn given_app_url(&self) -> Option<&str> {
        self.app_url.as_deref()
    }

    /// The URL of the application, if `--app-url` or `--listen` names it explicitly. A Unix socket, or an address that
    /// stands for all addresses of this machine, names no URL that people can open.
    pub fn named_app_url(&self) -> Option<String> {
        let is_url = match &self.listen {
            Listen::Tcp(address) => !address.ip().is_unspecified(),
            Listen::Unix(_) => false,
        };
        let is_named = self.app_url.is_some() || (self.is_listen_given.0 && is_url);
        is_named.then(|| self.app_url(&self.listen))
    }

    /// The URL of the application as it will be at the next start, too, given where the server actually listens: for the
    /// commands beside it. `None` for a Unix socket, which has none, and for a port that was just free.
    pub fn lasting_app_url(&self, listening: &Listen) -> Option<String> {
        let is_picked = matches!(&self.listen, Listen::Tcp(address) if address.port() == 0);
        let own = match listening {
            Listen::Tcp(address) if !is_picked => Some(self.own(&Listen::Tcp(outgoing::reachable(*address)))),
            _ => None,
        };
        self.app_url.clone().or(own)
    }

    /// The address itself. A Unix socket has none, so that a URL says no more than that it is on this machine.
    fn own(&self, listening: &Listen) -> String {
        let scheme = if self.tls.both().is_some() { "https" } else { "http" };
        match listening {
            Listen::Tcp(address) => format!("{scheme}://{address}"),
            Listen::Unix(_) => format!("{scheme}://localhost"),
        }
    }
}

/// Whether `--listen` or its variable is given, and the default does not apply.
#[derive(Debug, Clone, Copy)]
struct IsListenGiven(bool);

impl FromArgMatches for IsListenGiven {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let source = matches.value_source("listen");
        Ok(Self(matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable))))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// It has no argument of its own.
impl Args for IsListenGiven {
    fn augment_args(command: clap::Command) -> clap::Command {
        command
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        command
    }
}
