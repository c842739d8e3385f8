//! The command line and the settings: the only reader of flags and of the environment.
//!
//! Every setting is a flag and a variable, and `--help` shows both. What a setting does is left to whoever is given
//! it; what a command does, to [`commands`](crate::commands).

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;
use std::{env, fs};

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use ipnet::IpNet;
use jiff::{Span, SpanRelativeTo};

use crate::entity::token::Scope;

mod deploy;
mod openid;
mod scope;

pub use deploy::{Deploy, Pipeline, SecretUrl};
pub use openid::{OpenId, OpenIdArgs, Secret};

/// The command line of this process. Wrong usage ends the process with status 2, `--help` and `--version` with 0.
pub fn read() -> Command {
    CommandLine::parse_from(command_first(env::args_os())).command()
}

/// The command line `arguments`, the program's name first.
///
/// # Errors
/// Wrong usage, and the texts of `--help` and `--version`.
pub fn parse<A: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = A>) -> Result<Command, clap::Error> {
    CommandLine::try_parse_from(command_first(arguments.into_iter().map(Into::into))).map(CommandLine::command)
}

/// Flags before a command mean the same as behind it: `rollcall --database-url URL token list` becomes
/// `rollcall token list --database-url URL`. Whether the command has such a flag is then found out as ever.
fn command_first(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let program = <CommandLine as CommandFactory>::command();
    let takes_value = |flag: &str| {
        let own = |argument: &&clap::Arg| argument.get_long() == flag.strip_prefix("--");
        program.get_arguments().find(own).is_some_and(|argument| argument.get_action().takes_values())
    };
    // Past the flags that come first.
    let mut end = 1;
    while let Some(flag) = arguments.get(end).and_then(|argument| argument.to_str()) {
        match flag.split_once('=') {
            Some((flag, _)) if takes_value(flag) => end += 1,
            None if takes_value(flag) => end += 2,
            _ => break,
        }
    }
    // Past the command, which can be two words.
    let (mut place, mut command) = (end, &program);
    while let Some(inner) = arguments.get(place).and_then(|word| command.find_subcommand(word)) {
        (place, command) = (place + 1, inner);
    }
    if end < place {
        arguments[1..place].rotate_left(end - 1);
    }
    arguments
}

/// What the environment of this process says of the pipeline that it is a part of.
pub fn pipeline() -> Pipeline {
    Pipeline::of(|name| env::var(name).ok().filter(|value| !value.trim().is_empty()))
}

/// A service catalogue that a team runs itself: a GraphQL API and a deploy webhook.
#[derive(Debug, Parser)]
#[command(name = "rollcall", version, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: Serve,
}

impl CommandLine {
    fn command(self) -> Command {
        self.command.unwrap_or_else(|| Command::Serve(Box::new(self.serve)))
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Bring the database up to date and serve until told to stop. The same as no command
    Serve(Box<Serve>),
    /// API tokens: make, list and delete them
    #[command(subcommand)]
    Token(TokenCommand),
    /// Addresses that CI systems post deploys to: make, list and delete them
    #[command(subcommand)]
    DeployEndpoint(DeployEndpointCommand),
    /// Print a link that signs a user in to the application: once, within 15 minutes. Where nobody is an administrator
    /// yet, the user becomes the first one, and is made where there is none
    SignInLink {
        /// The user's email address
        #[arg(long, value_name = "ADDRESS")]
        email: String,
        /// The name of a user who is made; what stands before the @ when left out
        #[arg(long, value_name = "TEXT")]
        name: Option<String>,
        #[command(flatten)]
        #[allow(missing_docs)]
        addresses: Addresses,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
    /// Bring the database up to date, and do nothing else
    Migrate(Database),
    /// Copy the database to a new file, while it is used: of an SQLite file
    Backup {
        /// The copy; it is not to be there yet, and appears once it is whole
        file: PathBuf,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
    /// Print the whole catalogue, for `rollcall import`: without tokens, sessions and the audit
    Export(Database),
    /// Fill an empty catalogue with what `rollcall export` printed: all of it, or nothing
    Import {
        /// The export; - for standard input
        file: PathBuf,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
    /// The GraphQL schema: print it, compare two versions of it
    #[command(subcommand)]
    Schema(SchemaCommand),
    /// Make the catalogue what service files say, and lock the services that they govern
    Apply {
        /// YAML files, folders of them, and - for standard input; all of them are applied, or none
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
    /// Unlock a service that a service file governs, until the file is applied again
    Release {
        /// One of the service's aliases
        alias: String,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
    /// Tell a deploy endpoint of a deploy, from a pipeline; prints what the server answers
    Deploy(Box<Deploy>),
    /// Fill an empty catalogue with invented services, for benches and demonstrations
    Generate {
        /// How many services
        #[arg(long, value_name = "NUMBER")]
        services: u64,
        /// How many deploys of theirs, in the year until now
        #[arg(long, value_name = "NUMBER", default_value_t = 0)]
        deploys: u64,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
}

/// `rollcall token …`
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token and print it: the one time that it is shown
    Create {
        /// What the token is for
        #[arg(long, value_name = "TEXT")]
        description: String,
        /// What the token may do
        #[arg(long, default_value = "write")]
        scope: Scope,
        /// How long the token is valid, such as 90d or 12h; for ever when left out
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        expires: Option<Duration>,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
    /// Print a line for each token: id, scope, made, last used, expires, description; tabs between them
    List(Database),
    /// Delete a token. It stops working at once
    Delete {
        /// The token's id, as `token list` prints it
        id: i64,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
}

/// `rollcall deploy-endpoint …`
#[derive(Debug, Subcommand)]
pub enum DeployEndpointCommand {
    /// Make a deploy endpoint and print its URL, which is all that a CI system needs: treat it as a password
    Create {
        /// What the endpoint is called
        #[arg(long, value_name = "TEXT")]
        name: String,
        #[command(flatten)]
        #[allow(missing_docs)]
        addresses: Addresses,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
    /// Print a line for each deploy endpoint: id, URL, name; tabs between them
    List {
        #[command(flatten)]
        #[allow(missing_docs)]
        addresses: Addresses,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
    /// Delete a deploy endpoint. Its URL stops working at once; the deploys stay
    Delete {
        /// The endpoint's id, as `deploy-endpoint list` prints it
        id: i64,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
}

/// `rollcall schema …`
#[derive(Debug, Subcommand)]
pub enum SchemaCommand {
    /// Print the schema that this program serves
    Print,
    /// Print what changed between two schema files; status 1 when a change breaks clients
    Diff {
        /// The schema that clients know
        old: PathBuf,
        /// The schema that is to take its place
        new: PathBuf,
    },
}

/// The settings of `rollcall serve`.
#[derive(Debug, Clone, Args)]
pub struct Serve {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub addresses: Addresses,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub database: Database,
    /// The name of the account: one installation serves one
    #[arg(long, value_name = "NAME", env = "ROLLCALL_ACCOUNT_NAME", default_value = "rollcall")]
    pub account_name: String,
    /// How long deploys are kept, such as 400d, at least 1d; the last deploy of a service is always kept, and a post with
    /// the dedup_id of one that was removed is a new deploy [default: for ever]
    #[arg(long, value_name = "DURATION", env = "ROLLCALL_DEPLOY_RETENTION", value_parser = retention)]
    pub deploy_retention: Option<Duration>,
    /// How long the audit is kept, such as 400d, at least 1d [default: for ever]
    #[arg(long, value_name = "DURATION", env = "ROLLCALL_AUDIT_RETENTION", value_parser = retention)]
    pub audit_retention: Option<Duration>,
    /// The address and the port to show figures on, at /metrics; port 0 takes a free one [default: nowhere]
    #[arg(long, value_name = "ADDRESS", env = "ROLLCALL_METRICS_LISTEN")]
    pub metrics_listen: Option<SocketAddr>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub openid: OpenIdArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub edge: Edge,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub log: Log,
}

/// Where the service is.
#[derive(Debug, Clone, Args)]
pub struct Addresses {
    /// The address and the port to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", env = "ROLLCALL_LISTEN", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// Where clients reach the API [default: http:// or https:// and the listening address]
    #[arg(long, value_name = "URL", env = "ROLLCALL_BASE_URL", value_parser = origin)]
    base_url: Option<String>,
    /// Where people and CI systems reach the application [default: the same as the default of --base-url]
    #[arg(long, value_name = "URL", env = "ROLLCALL_APP_URL", value_parser = origin)]
    app_url: Option<String>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub tls: TlsFiles,
}

impl Addresses {
    /// Where clients reach the API, when the service listens on `listening`; no slash at its end.
    pub fn base_url(&self, listening: SocketAddr) -> String {
        self.base_url.clone().unwrap_or_else(|| self.own(listening))
    }

    /// Where people and CI systems reach the application, when the service listens on `listening`; no slash at its
    /// end.
    pub fn app_url(&self, listening: SocketAddr) -> String {
        self.app_url.clone().unwrap_or_else(|| self.own(listening))
    }

    fn own(&self, listening: SocketAddr) -> String {
        let scheme = if self.tls.both().is_some() { "https" } else { "http" };
        format!("{scheme}://{listening}")
    }
}

/// What connections are encrypted with: both files, or none.
#[derive(Debug, Clone, Args)]
pub struct TlsFiles {
    /// Encrypt connections with the certificate chain in this PEM file. SIGHUP reads both files again
    #[arg(long, value_name = "FILE", env = "ROLLCALL_TLS_CERTIFICATE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// The PEM file of the certificate's private key
    #[arg(long, value_name = "FILE", env = "ROLLCALL_TLS_KEY", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
}

impl TlsFiles {
    /// The files of the certificate and of the key, where connections are to be encrypted.
    pub fn both(&self) -> Option<(PathBuf, PathBuf)> {
        self.tls_certificate.clone().zip(self.tls_key.clone())
    }
}

/// Where the catalogue is kept.
#[derive(Debug, Clone, Args)]
pub struct Database {
    /// Where the catalogue is kept: sqlite://FILE or postgres://USER:PASSWORD@HOST/DATABASE
    #[arg(
        long,
        value_name = "URL",
        env = "DATABASE_URL",
        hide_env_values = true,
        default_value = "sqlite://rollcall.db"
    )]
    database_url: String,
    /// A file that holds the database URL, to keep it out of the command line and the environment
    #[arg(long, value_name = "FILE", env = "DATABASE_URL_FILE", conflicts_with = "database_url")]
    database_url_file: Option<PathBuf>,
}

impl Database {
    /// The database URL.
    ///
    /// # Errors
    /// A sentence, when the file that should hold it cannot be read.
    pub fn url(&self) -> Result<String, String> {
        match &self.database_url_file {
            None => Ok(self.database_url.clone()),
            Some(file) => fs::read_to_string(file)
                .map(|url| url.trim().to_owned())
                .map_err(|error| format!("the database URL cannot be read from {}: {error}", file.display())),
        }
    }
}

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
        value_parser = network
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
        value_parser = duration
    )]
    pub header_timeout: Duration,
    /// How long a request's body may take
    #[arg(long, value_name = "DURATION", env = "ROLLCALL_BODY_TIMEOUT", default_value = "30s", value_parser = duration)]
    pub body_timeout: Duration,
    /// How long a GraphQL query may take; a mutation is always let finish
    #[arg(
        long,
        value_name = "DURATION",
        env = "ROLLCALL_QUERY_TIMEOUT",
        default_value = "30s",
        value_parser = duration
    )]
    pub query_timeout: Duration,
    /// How long a connection may stay without a request, or without taking any of an answer
    #[arg(long, value_name = "DURATION", env = "ROLLCALL_IDLE_TIMEOUT", default_value = "60s", value_parser = duration)]
    pub idle_timeout: Duration,
    /// How long to go on accepting connections after being told to stop, with 503 on /readyz
    #[arg(long, value_name = "DURATION", env = "ROLLCALL_DRAIN_DELAY", default_value = "0s", value_parser = duration)]
    pub drain_delay: Duration,
    /// How long requests may take to finish after that
    #[arg(
        long,
        value_name = "DURATION",
        env = "ROLLCALL_DRAIN_DEADLINE",
        default_value = "30s",
        value_parser = duration
    )]
    pub drain_deadline: Duration,
}

/// How to log.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Log")]
pub struct Log {
    /// What a line of the log looks like
    #[arg(long, value_name = "FORMAT", env = "ROLLCALL_LOG_FORMAT", default_value = "text")]
    pub log_format: LogFormat,
    /// What to log: error, warn, info, debug or trace, also for one module (info,rollcall::http=debug)
    #[arg(long, value_name = "FILTER", env = "ROLLCALL_LOG", default_value = "info,sea_orm_migration=warn")]
    pub log: String,
}

/// What a line of the log looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people
    Text,
    /// For programs: one object on each line
    Json,
}

/// Reads `30s`, `90d`, `1h 30m`. A day is 24 hours.
fn duration(text: &str) -> Result<Duration, String> {
    let span: Span = text.parse().map_err(|_| "write it like 30s, 12h or 90d".to_owned())?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours());
    duration
        .ok()
        .and_then(|duration| duration.try_into().ok())
        .ok_or_else(|| "write it like 30s, 12h or 90d".to_owned())
}

/// The same, but not so little that it can only be a slip of the pen.
fn retention(text: &str) -> Result<Duration, String> {
    let keep = duration(text)?;
    if keep < Duration::from_secs(86_400) { Err("write at least 1d, such as 400d".to_owned()) } else { Ok(keep) }
}

/// Reads `10.0.0.0/8` and `10.0.0.1`.
fn network(text: &str) -> Result<IpNet, String> {
    let text = text.trim();
    text.parse::<IpNet>()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| "write it like 10.0.0.1, 10.0.0.0/8 or fd00::/8".to_owned())
}

/// Reads a URL that paths can be appended to.
fn origin(text: &str) -> Result<String, String> {
    let url = text.trim_end_matches('/');
    let host = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let is_plain = |host: &str| host.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#\"<>\\".contains(&byte));
    match host {
        Some(host) if !host.is_empty() && is_plain(host) => Ok(url.to_owned()),
        _ => Err("write it like https://catalogue.example.com".to_owned()),
    }
}
