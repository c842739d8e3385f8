//! The limits of the HTTP edge.

use std::time::Duration;

use clap::Args;
use ipnet::IpNet;

use super::trimmed::{switch, trimmed};
use super::value;

/// The limits of the HTTP edge.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits")]
pub struct Edge {
    /// Requests per minute for each token; 0 means no limit
    #[arg(long, value_name = "REQUESTS", env = "ROLLCALL_TOKEN_LIMIT", default_value = "400", value_parser = trimmed(value::number::<u32>))]
    pub token_limit: u32,
    /// Requests per five minutes for each IP address; 0 means no limit
    #[arg(long, value_name = "REQUESTS", env = "ROLLCALL_IP_LIMIT", default_value = "10000", value_parser = trimmed(value::number::<u32>))]
    pub ip_limit: u32,
    /// Proxies whose X-Forwarded-For is trusted: addresses or networks, separated by commas
    #[arg(
        long,
        value_name = "NETWORKS",
        env = "ROLLCALL_TRUSTED_PROXIES",
        value_delimiter = ',',
        value_parser = trimmed(value::network)
    )]
    pub trusted_proxies: Vec<IpNet>,
    /// Origins of web pages that may call the API with a token, such as https://tools.example.com, separated by commas
    /// [default: none]
    #[arg(
        long,
        value_name = "ORIGINS",
        env = "ROLLCALL_CORS_ORIGINS",
        value_delimiter = ',',
        value_parser = trimmed(value::web_origin)
    )]
    pub cors_origins: Vec<String>,
    /// Let agents change the catalogue: offers the tool mutate to tokens that may write (`/mcp`)
    #[arg(long, env = "ROLLCALL_MCP_WRITES", value_parser = switch())]
    pub mcp_writes: bool,
    /// The maximum size of a GraphQL request's body, in bytes
    #[arg(long, value_name = "BYTES", env = "ROLLCALL_MAX_BODY", default_value = "1048576", value_parser = trimmed(value::number::<usize>))]
    pub max_body: usize,
    /// The maximum size of a deploy's body, in bytes
    #[arg(long, value_name = "BYTES", env = "ROLLCALL_MAX_WEBHOOK_BODY", default_value = "262144", value_parser = trimmed(value::number::<usize>))]
    pub max_webhook_body: usize,
    /// The maximum number of connections. When there are this many, a new one closes the longest idle one of whoever
    /// has most. One IP address (IPv6: one /64), unless it is a trusted proxy's, may have a quarter of them; further
    /// ones are closed
    #[arg(long, value_name = "CONNECTIONS", env = "ROLLCALL_MAX_CONNECTIONS", default_value = "10000", value_parser = trimmed(value::number::<u32>))]
    pub max_connections: u32,
    /// The timeout for the head of a new connection's first request
    #[arg(
        long,
        value_name = "DURATION",
        env = "ROLLCALL_HEADER_TIMEOUT",
        default_value = "10s",
        value_parser = trimmed(value::duration)
    )]
    pub header_timeout: Duration,
    /// The timeout for a request's body
    #[arg(long, value_name = "DURATION", env = "ROLLCALL_BODY_TIMEOUT", default_value = "30s", value_parser = trimmed(value::duration))]
    pub body_timeout: Duration,
    /// Close a connection after this long without a request, or without progress in sending a response
    #[arg(long, value_name = "DURATION", env = "ROLLCALL_IDLE_TIMEOUT", default_value = "60s", value_parser = trimmed(value::duration))]
    pub idle_timeout: Duration,
    /// How long to keep accepting connections after a stop signal, with 503 on /readyz
    #[arg(long, value_name = "DURATION", env = "ROLLCALL_DRAIN_DELAY", default_value = "0s", value_parser = trimmed(value::duration))]
    pub drain_delay: Duration,
    /// How long requests may take to finish after that
    #[arg(
        long,
        value_name = "DURATION",
        env = "ROLLCALL_DRAIN_DEADLINE",
        default_value = "30s",
        value_parser = trimmed(value::duration)
    )]
    pub drain_deadline: Duration,
}

impl Edge {
    /// The maximum number of connections of one address, or one IPv6 network of 64 bits: a quarter of all.
    pub fn connections_of_address(&self) -> usize {
        (self.max_connections as usize / 4).max(1)
    }
}
