//! The addresses at which the service listens and is reached.

use clap::Args;

use super::{Listen, TlsFiles, value};

/// The service's addresses.
#[derive(Debug, Clone, Args)]
pub struct Addresses {
    /// The address and port to listen on, or a socket such as unix:/run/rollcall.sock; port 0 picks a free one. A socket
    /// that systemd passes takes its place
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "ROLLCALL_LISTEN",
        default_value = "127.0.0.1:8080",
        value_parser = Listen::parse
    )]
    pub listen: Listen,
    /// The permissions of the socket of --listen unix:…, in octal
    #[arg(long, value_name = "MODE", env = "ROLLCALL_LISTEN_MODE", default_value = "660", value_parser = value::mode)]
    pub listen_mode: u32,
    /// Connections from --trusted-proxies begin with a PROXY header, version 1 or 2, that names the client
    #[arg(long, env = "ROLLCALL_PROXY_PROTOCOL")]
    pub proxy_protocol: bool,
    /// The URL at which clients reach the API [default: http:// or https:// and the listening address]
    #[arg(long, value_name = "URL", env = "ROLLCALL_BASE_URL", value_parser = value::origin)]
    base_url: Option<String>,
    /// The URL at which people and CI systems reach the application [default: the host that a trusted proxy names, else
    /// as for --base-url]
    #[arg(long, value_name = "URL", env = "ROLLCALL_APP_URL", value_parser = value::origin)]
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

    /// The address itself. A Unix socket has none, so that a URL says no more than that it is on this machine.
    fn own(&self, listening: &Listen) -> String {
        let scheme = if self.tls.both().is_some() { "https" } else { "http" };
        match listening {
            Listen::Tcp(address) => format!("{scheme}://{address}"),
            Listen::Unix(_) => format!("{scheme}://localhost"),
        }
    }
}
