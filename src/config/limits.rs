//! The limits of the HTTP edge.

use std::time::Duration;

use clap::Args;
use ipnet::IpNet;

use super::value;

/// What the edge bears.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits")]
pub struct Edge {
    /// Requests in one minute by one token; 0 is no limit
    #[arg(long, value_name = "REQUESTS", env = "ROLLCALL_TOKEN_LIMIT", default_value = "400")]
    pub token_limit: u32,
    /// Requests in five minutes from one IP address; 0 is no limit
    #[arg(long, value_name = "REQUESTS", env = "ROLLCALL_IP_LIMIT", default_value = "10000")]
    pub ip_limit: u32,
    /// Proxies whose X-Forwarded-For is believed: addresses or networks, with commas between them
    #[arg(
        long,
        value_name = "NETWORKS",
        env = "ROLLCALL_TRUSTED_PROXIES",
        value_delimiter = ',',
        value_parser = value::network
    )]
    pub trusted_proxies: Vec<IpNet>,
    /// The longest body of a GraphQL request, in bytes
    #[arg(long, value_name = "BYTES", env = "ROLLCALL_MAX_BODY", default_value = "1048576")]
    pub max_body: usize,
    /// The longest body of a deploy, in bytes
    #[arg(long, value_name = "BYTES", env = "ROLLCALL_MAX_WEBHOOK_BODY", default_value = "262144")]
    pub max_webhook_body: usize,
    /// Connections at one time; more wait to be accepted
    #[arg(long, value_name = "CONNECTIONS", env = "ROLLCALL_MAX_CONNECTIONS", default_value = "10000")]
    pub max_connections: u32,
    /// How long a new connection may take to send its first request's head
    #[arg(
        long,
        value_name = "DURATION",
        env = "ROLLCALL_HEADER_TIMEOUT",
        default_value = "10s",
        value_parser = value::duration
    )]
    pub header_timeout: Duration,
    /// How long a request's body may take
    #[arg(long, value_name = "DURATION", env = "ROLLCALL_BODY_TIMEOUT", default_value = "30s", value_parser = value::duration)]
    pub body_timeout: Duration,
    /// How long a connection may stay without a request, or without taking any of an answer
    #[arg(long, value_name = "DURATION", env = "ROLLCALL_IDLE_TIMEOUT", default_value = "60s", value_parser = value::duration)]
    pub idle_timeout: Duration,
    /// How long to go on accepting connections after being told to stop, with 503 on /readyz
    #[arg(long, value_name = "DURATION", env = "ROLLCALL_DRAIN_DELAY", default_value = "0s", value_parser = value::duration)]
    pub drain_delay: Duration,
    /// How long requests may take to finish after that
    #[arg(
        long,
        value_name = "DURATION",
        env = "ROLLCALL_DRAIN_DEADLINE",
        default_value = "30s",
        value_parser = value::duration
    )]
    pub drain_deadline: Duration,
}
