//! The commands that read from a server. [`cli::reading`](crate::cli) implements them.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::examples;
use super::remote::{Asking, Output, Remote};
use super::trimmed::{trimmed, word};
use super::value;
use crate::entity::Timestamp;

/// What `rollcall show` can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum Shown {
    Service,
    Team,
    System,
    Domain,
    User,
    Repository,
    #[value(alias = "infrastructure_resource")]
    Infrastructure,
}

/// The arguments of `rollcall show` and `rollcall open`.
#[derive(Debug, Args)]
pub struct Named {
    /// The kind and the name, such as `service cart`, or the name alone; a name is an alias, an email address or what
    /// the search finds exactly. Several words are one name
    #[arg(required = true, num_args = 1.., value_name = "NAME", value_parser = trimmed(value::text))]
    pub words: Vec<String>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub asking: Asking,
}

/// The arguments of `rollcall impact`.
#[derive(Debug, Args)]
pub struct Impact {
    /// The kind and the name, such as `service cart`, `system shop` or `infrastructure orders-db`, or the name alone.
    /// Several words are one name
    #[arg(required = true, num_args = 1.., value_name = "NAME", value_parser = trimmed(value::text))]
    pub words: Vec<String>,
    /// Print at most this many rows, up to 10000
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = trimmed(value::number::<usize>))]
    pub limit: usize,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub asking: Asking,
}

/// The arguments of `rollcall list`.
#[derive(Debug, Args)]
pub struct List {
    /// What to list
    #[arg(value_parser = word::<Listed>())]
    pub listed: Listed,
    /// Only services that match: KEY=VALUE, KEY!=VALUE, KEY~TEXT (contains), KEY (has one) or !KEY (has none); several
    /// must all match. The keys are owner, tier, lifecycle, level, system, domain, type, and those of the API's
    /// ServiceFilterEnum. Of teams: parent=TEAM, parent or !parent. Of infrastructure: owner=TEAM, owner, !owner and
    /// type=TYPE, also with !=
    #[arg(long, short, value_name = "CONDITION", value_parser = trimmed(value::text))]
    pub filter: Vec<String>,
    /// Only services or infrastructure of this team: its alias or its name
    #[arg(long, value_name = "TEAM", value_parser = trimmed(value::text))]
    pub owner: Option<String>,
    /// Only services of this tier: its alias or its index
    #[arg(long, value_name = "TIER", value_parser = trimmed(value::text))]
    pub tier: Option<String>,
    /// Only services, teams or infrastructure with this text in their name or an alias
    #[arg(long, value_name = "TEXT", value_parser = trimmed(value::text))]
    pub search: Option<String>,
    /// Print at most this many rows, up to 10000
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = trimmed(value::number::<usize>))]
    pub limit: usize,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub asking: Asking,
}

/// What `rollcall list` can list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum Listed {
    Services,
    Teams,
    Systems,
    Domains,
    Repositories,
    Users,
    Infrastructure,
}

/// The arguments of `rollcall deploys`.
#[derive(Debug, Args)]
pub struct Deploys {
    /// Only deploys of this service: an alias or its name
    #[arg(long, value_name = "SERVICE", value_parser = trimmed(value::text))]
    pub service: Option<String>,
    /// Only deploys to this environment; may be repeated
    #[arg(long, short, value_name = "NAME", value_parser = trimmed(value::text))]
    pub environment: Vec<String>,
    /// Only deploys with this status; may be repeated
    #[arg(long, value_name = "STATUS", value_parser = word::<Outcome>())]
    pub status: Vec<Outcome>,
    /// Only deploys of the services that this team owns: its alias or its name
    #[arg(long, value_name = "TEAM", value_parser = trimmed(value::text))]
    pub team: Option<String>,
    /// Only deploys since then: 1d for a day ago, a date such as 2026-11-28, yesterday, or an instant such as
    /// 2026-11-28T20:00:00Z. Days begin in UTC
    #[arg(long, value_name = "WHEN", value_parser = trimmed(value::since))]
    pub since: Option<Timestamp>,
    /// Only deploys until then, written like that; a day belongs to it as a whole
    #[arg(long, value_name = "WHEN", value_parser = trimmed(value::until))]
    pub until: Option<Timestamp>,
    /// Print at most this many rows, up to 10000
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = trimmed(value::number::<usize>))]
    pub limit: usize,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub asking: Asking,
}

/// How deploys ended, as `rollcall deploys` asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Outcome {
    /// It is complete and live
    #[value(alias = "success")]
    Succeeded,
    /// It failed
    #[value(alias = "failure")]
    Failed,
    /// It is in progress
    Running,
    /// It waits
    Queued,
    /// Somebody stopped it
    #[value(alias = "canceled")]
    Cancelled,
    /// It was sent without a status, or with an unknown word
    None,
}

/// The arguments of `rollcall history`.
#[derive(Debug, Args)]
pub struct History {
    /// The kind and the name, such as `team payments`, or the name alone: of a service, a team, a system or a domain.
    /// Several words are one name
    #[arg(required = true, num_args = 1.., value_name = "NAME", value_parser = trimmed(value::text))]
    pub words: Vec<String>,
    /// Only changes since then: 1d for a day ago, a date such as 2026-11-28, or an instant
    #[arg(long, value_name = "WHEN", value_parser = trimmed(value::since))]
    pub since: Option<Timestamp>,
    /// Print at most this many rows, up to 10000
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = trimmed(value::number::<usize>))]
    pub limit: usize,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub asking: Asking,
}

/// The arguments of `rollcall revert`.
#[derive(Debug, Args)]
pub struct Revert {
    /// The change's id, as `rollcall history` prints it
    #[arg(value_name = "ID", value_parser = trimmed(value::text))]
    pub id: String,
    /// Change nothing; print what would be done, and what stands in its way
    #[arg(long)]
    pub dry_run: bool,
    /// The form of the output
    #[arg(long, short, value_name = "FORM", default_value = "table", value_parser = word::<Output>())]
    pub output: Output,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub remote: Remote,
    /// How long to wait for the answer
    #[arg(long, value_name = "DURATION", env = "ROLLCALL_DEADLINE", default_value = "30s", value_parser = trimmed(value::duration))]
    pub deadline: Duration,
}

/// The arguments of `rollcall delivery`.
#[derive(Debug, Args)]
pub struct Delivery {
    /// The kind and the name, such as `team payments`, or the name alone: of a team, a system, a domain or a service.
    /// Several words are one name [default: all services]
    #[arg(num_args = 0.., value_name = "NAME", value_parser = trimmed(value::text))]
    pub words: Vec<String>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub asking: Asking,
}

/// The arguments of `rollcall query`.
#[derive(Debug, Args)]
pub struct Query {
    /// A file with a GraphQL document, - for standard input, or the document itself, which begins with a brace, or with
    /// `query` or `mutation` and a blank
    pub document: String,
    /// The variables, as a JSON object
    #[arg(long, value_name = "JSON", value_parser = trimmed(value::text))]
    pub variables: Option<String>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub remote: Remote,
    /// How long to retry while the server is unreachable or busy
    #[arg(long, value_name = "DURATION", env = "ROLLCALL_DEADLINE", default_value = "10s", value_parser = trimmed(value::duration))]
    pub deadline: Duration,
}

/// The arguments of `rollcall login`.
#[derive(Debug, Args)]
pub struct Login {
    /// The name of the context [default: the host of the server]
    #[arg(long, value_name = "NAME", value_parser = trimmed(value::text))]
    pub name: Option<String>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub remote: Remote,
}

/// `rollcall context …`
#[derive(Debug, Subcommand)]
pub enum ContextCommand {
    /// Print a line for each context, tab-separated: * for the current one, name, server
    #[command(after_help = examples::CONTEXT_LIST)]
    List,
    /// Make a context the current one
    #[command(after_help = examples::CONTEXT_USE)]
    Use {
        /// Its name
        #[arg(value_parser = trimmed(value::text))]
        name: String,
    },
    /// Forget a context and its token
    #[command(after_help = examples::CONTEXT_DELETE)]
    Delete {
        /// Its name
        #[arg(value_parser = trimmed(value::text))]
        name: String,
    },
}

/// A command that reads from a server, or says which one.
#[derive(Debug, Subcommand)]
pub enum Reading {
    /// Print what a service, team, system, domain, user, repository or infrastructure resource is: who owns it, who is on
    /// call, where its links lead, what was deployed
    #[command(after_help = examples::SHOW)]
    Show(Named),
    /// Print the address of a page of the catalogue
    #[command(after_help = examples::OPEN)]
    Open(Named),
    /// Print what breaks if a service, a system or an infrastructure resource is down: the services that depend on it,
    /// directly or through others, the nearest first, with owner and who is on call
    #[command(after_help = examples::IMPACT)]
    Impact(Impact),
    /// List services, teams, systems, domains, repositories, users or infrastructure resources
    #[command(after_help = examples::LIST)]
    List(Box<List>),
    /// Search names, aliases and email addresses; a mistyped word is found too
    #[command(after_help = examples::SEARCH)]
    Search {
        /// What to search for
        #[arg(required = true, value_name = "WORD")]
        words: Vec<String>,
        #[command(flatten)]
        #[allow(missing_docs)]
        asking: Asking,
    },
    /// List the newest deploys
    #[command(after_help = examples::DEPLOYS)]
    Deploys(Box<Deploys>),
    /// Print what was changed of a service, a team, a system or a domain and of what belongs to it, and by whom, newest first
    #[command(after_help = examples::HISTORY)]
    History(History),
    /// Revert a change: its fields get the values from before. Needs a token that may write
    #[command(after_help = examples::REVERT)]
    Revert(Revert),
    /// Print how a team, a system, a domain, a service or all of them deliver to production: the last 12 weeks beside the 12
    /// weeks before
    #[command(after_help = examples::DELIVERY)]
    Delivery(Delivery),
    /// Print who owns a file or folder of a checkout, or a repository: the services there and their teams
    #[command(after_help = examples::WHO_OWNS)]
    WhoOwns {
        /// A path in a git checkout, or a repository: its URL or its alias, such as github.com:org/name
        #[arg(value_name = "PATH|REPOSITORY")]
        what: PathBuf,
        #[command(flatten)]
        #[allow(missing_docs)]
        asking: Asking,
    },
    /// Speak the Model Context Protocol on standard input and output, for an agent on this machine: passes its messages on
    /// to the server's `/mcp`, with the token
    #[command(after_help = examples::MCP)]
    Mcp {
        #[command(flatten)]
        #[allow(missing_docs)]
        remote: Remote,
        /// How long to wait for the answer to a message
        #[arg(long, value_name = "DURATION", env = "ROLLCALL_DEADLINE", default_value = "30s", value_parser = trimmed(value::duration))]
        deadline: Duration,
    },
    /// Run a GraphQL document and print the response; exits with status 1 if the response has errors
    #[command(after_help = examples::QUERY)]
    Query(Box<Query>),
    /// Keep a server and a token as a context, so that commands need neither; reads the token from standard input unless
    /// it is given
    #[command(after_help = examples::LOGIN)]
    Login(Login),
    /// Contexts, which `rollcall login` makes: list, choose and delete them
    #[command(subcommand, after_help = examples::CONTEXT)]
    Context(ContextCommand),
}
