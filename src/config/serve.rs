//! The settings of `rollcall serve`.

use std::net::SocketAddr;
use std::time::Duration;

use clap::Args;

use super::trimmed::{switch, trimmed};
use super::{Addresses, Budget, Database, Edge, Log, MailArgs, OpenIdArgs, ReadDatabase, Tracing, value};
use crate::api_document::hosts::Host;

/// The settings of `rollcall serve`.
#[derive(Debug, Clone, Args)]
pub struct Serve {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub addresses: Addresses,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub database: Database,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub read_database: ReadDatabase,
    /// The name of the account; an installation has one account
    #[arg(long, value_name = "NAME", env = "ROLLCALL_ACCOUNT_NAME", default_value = "rollcall", value_parser = trimmed(value::text))]
    pub account_name: String,
    /// The production environments, separated by commas: the default of deployMetrics
    #[arg(
        long,
        value_name = "NAMES",
        env = "ROLLCALL_PRODUCTION_ENVIRONMENTS",
        default_value = "production,prod",
        value_delimiter = ',',
        value_parser = trimmed(value::name)
    )]
    pub production_environments: Vec<String>,
    /// Hosts that API documents may be pulled from, separated by commas, each with a port if it is not the default one
    /// [default: none]
    #[arg(
        long,
        value_name = "HOSTS",
        env = "ROLLCALL_PULL_DOCUMENTS_FROM",
        value_delimiter = ',',
        value_parser = trimmed(value::document_host)
    )]
    pub pull_documents_from: Vec<Host>,
    /// Hosts with private addresses that events may be sent to, separated by commas, each with a port if it is not the
    /// default one. Without encryption, events are sent to these hosts alone [default: none]
    #[arg(
        long,
        value_name = "HOSTS",
        env = "ROLLCALL_SEND_EVENTS_TO",
        value_delimiter = ',',
        value_parser = trimmed(value::document_host)
    )]
    pub send_events_to: Vec<Host>,
    /// How long a new API token is valid by default, such as 365d, at least 1d [default: for ever]
    #[arg(long, value_name = "DURATION", env = "ROLLCALL_TOKENS_EXPIRE_AFTER", value_parser = trimmed(value::retention))]
    pub tokens_expire_after: Option<Duration>,
    /// How long a new API token is valid at most, such as 400d, at least 1d. Older tokens stay as they are until they are
    /// rotated [default: for ever]
    #[arg(long, value_name = "DURATION", env = "ROLLCALL_TOKENS_EXPIRE_WITHIN", value_parser = trimmed(value::retention))]
    pub tokens_expire_within: Option<Duration>,
    /// How long a code issue with the severity critical is open before an event is sent, such as 14d, at least 1d
    #[arg(
        long,
        value_name = "DURATION",
        env = "ROLLCALL_CODE_ISSUES_OVERDUE_AFTER",
        default_value = "30d",
        value_parser = trimmed(value::retention)
    )]
    pub code_issues_overdue_after: Duration,
    /// How long deploys are kept, such as 400d, at least 1d. The last deploy of each service is always kept. After a
    /// deploy is removed, another post with its dedup_id is a new deploy [default: forever]
    #[arg(long, value_name = "DURATION", env = "ROLLCALL_DEPLOY_RETENTION", value_parser = trimmed(value::retention))]
    pub deploy_retention: Option<Duration>,
    /// How long audit entries are kept, such as 400d, at least 1d [default: forever]
    #[arg(long, value_name = "DURATION", env = "ROLLCALL_AUDIT_RETENTION", value_parser = trimmed(value::retention))]
    pub audit_retention: Option<Duration>,
    /// Show everybody, without signing in, the level of each service as a picture at /badges/services/ALIAS.svg
    #[arg(long, env = "ROLLCALL_BADGES", value_parser = switch())]
    pub badges: bool,
    /// Members (the role user) change only their own teams and what those own, as team members do. Administrators and tokens
    /// are unaffected
    #[arg(long, env = "ROLLCALL_OWNER_ONLY_WRITES", value_parser = switch())]
    pub owner_only_writes: bool,
    /// The address and port that serve metrics at /metrics; port 0 picks a free one [default: none]
    #[arg(long, value_name = "ADDRESS", env = "ROLLCALL_METRICS_LISTEN", value_parser = trimmed(value::address))]
    pub metrics_listen: Option<SocketAddr>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub openid: OpenIdArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub mail: MailArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub edge: Edge,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub budget: Budget,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub log: Log,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub tracing: Tracing,
}
