//! The addresses at which the service listens and is reached.

use std::net::SocketAddr;

use clap::Args;

use super::{TlsFiles, value};

/// The service's addresses.
#[derive(Debug, Clone, Args)]
pub struct Addresses {
    /// The address and port to listen on; port 0 picks a free one
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "ROLLCALL_LISTEN",
        default_value = "127.0.0.1:8080",
        value_parser = value::address
    )]
    pub listen: SocketAddr,
    /// The URL at which clients reach the API [default: http:// or https:// and the listening address]
    #[arg(long, value_name = "URL", env = "ROLLCALL_BASE_URL", value_parser = value::origin)]
    base_url: Option<String>,
    /// The URL at which people and CI systems reach the application [default: the same as the default of --base-url]
    #[arg(long, value_name = "URL", env = "ROLLCALL_APP_URL", value_parser = value::origin)]
    app_url: Option<String>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub tls: TlsFiles,
}

impl Addresses {
    /// The URL of the API without a trailing slash, given the actual listening address.
    pub fn base_url(&self, listening: SocketAddr) -> String {
        self.base_url.clone().unwrap_or_else(|| self.own(listening))
    }

    /// The URL of the application without a trailing slash, given the actual listening address.
    pub fn app_url(&self, listening: SocketAddr) -> String {
        self.app_url.clone().unwrap_or_else(|| self.own(listening))
    }

    /// The URL of the application, if it is set explicitly.
    pub fn given_app_url(&self) -> Option<&str> {
        self.app_url.as_deref()
    }

    fn own(&self, listening: SocketAddr) -> String {
        let scheme = if self.tls.both().is_some() { "https" } else { "http" };
        format!("{scheme}://{listening}")
    }
}
