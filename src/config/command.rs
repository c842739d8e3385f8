//! The commands and their arguments. [`cli`](crate::cli) implements them.

use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;
use clap_complete::Shell;

use super::scope::Scope;
use super::trimmed::{path, trimmed, word};
use super::{Addresses, Apply, Asking, Check, Database, Deploy, Reading, Remote, Serve, examples, value};
use crate::entity::token::Expiry;

/// The command to run.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Migrate the database and serve until stopped. The default command
    #[command(after_help = examples::SERVE)]
    Serve(Box<Serve>),
    /// API tokens: create, list and delete them
    #[command(subcommand, after_help = examples::TOKEN)]
    Token(TokenCommand),
    /// Deploy endpoints, which CI systems post deploys to: create, list and delete them
    #[command(subcommand, after_help = examples::DEPLOY_ENDPOINT)]
    DeployEndpoint(DeployEndpointCommand),
    /// Print a link that signs a user in to the application. It works once, within 15 minutes. While there is no
    /// administrator, the user is created if necessary and becomes the first one
    #[command(after_help = examples::SIGN_IN_LINK)]
    SignInLink {
        /// The user's email address
        #[arg(long, value_name = "ADDRESS", value_parser = trimmed(value::text))]
        email: String,
        /// The name of a new user [default: the part before the @]
        #[arg(long, value_name = "TEXT", value_parser = trimmed(value::text))]
        name: Option<String>,
        #[command(flatten)]
        #[allow(missing_docs)]
        addresses: Addresses,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
    /// Check the settings, database, disk, clock, mail server and proxy, and say what to do. Exits with status 1 if there is a
    /// problem, and with 0 if there is only advice
    #[command(after_help = examples::DOCTOR)]
    Doctor(Box<Serve>),
    /// Check whether the server on this machine is ready, for containers. Exits with status 1 if it is not
    #[command(after_help = examples::HEALTHCHECK)]
    Healthcheck {
        /// Check only whether the process is alive
        #[arg(long)]
        live: bool,
        #[command(flatten)]
        #[allow(missing_docs)]
        addresses: Addresses,
    },
    /// Migrate the database and exit
    #[command(after_help = examples::MIGRATE)]
    Migrate(Database),
    /// Copy an SQLite database to a new file, while it is in use
    #[command(after_help = examples::BACKUP)]
    Backup {
        /// The copy; must not exist yet, and appears once it is complete
        file: PathBuf,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
    /// Print the whole catalogue for `rollcall import`, without tokens, sessions and the audit
    #[command(after_help = examples::EXPORT)]
    Export {
        /// Write to this file instead; only its owner can read it, and it appears once it is complete
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Replace the file of --output if it exists
        #[arg(long, requires = "output")]
        replace: bool,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
    /// Fill an empty catalogue from an export; imports everything or nothing
    #[command(after_help = examples::IMPORT)]
    Import {
        /// The export, or - for standard input
        file: PathBuf,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
    /// The GraphQL schema: print it, or compare two versions of it
    #[command(subcommand, after_help = examples::SCHEMA)]
    Schema(SchemaCommand),
    /// Update the catalogue from service files, and lock the services in them against other changes. Exits with status 1 if
    /// nothing was applied, and with 3 if --dry-run finds a difference
    #[command(after_help = examples::APPLY)]
    Apply(Box<Apply>),
    /// Unlock a service that a service file manages, until the file is applied again
    #[command(after_help = examples::RELEASE)]
    Release {
        /// One of the service's aliases
        #[arg(value_parser = trimmed(value::text))]
        alias: String,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
    /// Report a deploy to a deploy endpoint, from a pipeline; prints the server's response
    #[command(after_help = examples::DEPLOY)]
    Deploy(Box<Deploy>),
    /// Evaluate the checks that concern the services of a repository on its checkout, and report the results, from a
    /// pipeline
    #[command(after_help = examples::CHECK)]
    Check(Box<Check>),
    /// Standards: what services lack, and the levels, categories, scorecards and checks that say so; rollcall apply applies
    /// files of them
    #[command(subcommand, after_help = examples::STANDARDS)]
    Standards(StandardsCommand),
    /// Commands that read from a server.
    #[command(flatten)]
    Reading(Reading),
    /// Print what a shell needs to complete the command line
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write manual pages, one for each command, into a folder that exists
    #[command(after_help = examples::MANUAL)]
    Manual {
        /// The folder, such as /usr/local/share/man/man1
        #[arg(value_parser = path())]
        folder: PathBuf,
    },
    /// Evaluate expressions for the server, which starts this command
    #[command(hide = true)]
    Evaluate,
    /// Fill an empty catalogue with an example company, and say where to look
    #[command(after_help = examples::DEMO)]
    Demo(Database),
    /// Fill an empty catalogue with generated services, for benchmarks and demonstrations
    #[command(after_help = examples::GENERATE)]
    Generate {
        /// The number of services
        #[arg(long, value_name = "NUMBER", value_parser = trimmed(value::number::<u64>))]
        services: u64,
        /// The number of deploys, spread over the past year
        #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = trimmed(value::number::<u64>))]
        deploys: u64,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
}

/// `rollcall standards …`
#[derive(Debug, Subcommand)]
pub enum StandardsCommand {
    /// Print what a service lacks: each check that it does not pass, also of scorecards and campaigns, what the check found,
    /// and how to pass it
    #[command(after_help = examples::MISSING)]
    Missing {
        /// The service, by an alias or its name. Several words are one name
        #[arg(required = true, value_name = "SERVICE", value_parser = trimmed(value::text))]
        service: Vec<String>,
        #[command(flatten)]
        #[allow(missing_docs)]
        asking: Asking,
    },
    /// Print which services do not pass a check, or the checks of a scorecard: at most 50 of each check
    #[command(after_help = examples::FAILING)]
    Failing {
        /// The check, the scorecard or the campaign, by its name; a scorecard also by an alias. Several words are one name
        #[arg(required = true, value_name = "CHECK|SCORECARD|CAMPAIGN", value_parser = trimmed(value::text))]
        name: Vec<String>,
        #[command(flatten)]
        #[allow(missing_docs)]
        asking: Asking,
    },
    /// List the checks: the name, the level, the category, the kind, and the scorecard or the campaign
    #[command(after_help = examples::CHECKS)]
    List {
        #[command(flatten)]
        #[allow(missing_docs)]
        asking: Asking,
    },
    /// Print the standards of a server as a file that rollcall apply takes
    #[command(after_help = examples::STANDARDS_EXPORT)]
    Export {
        #[command(flatten)]
        #[allow(missing_docs)]
        remote: Remote,
        /// How long to wait for each answer
        #[arg(long, value_name = "DURATION", env = "ROLLCALL_DEADLINE", default_value = "30s", value_parser = trimmed(value::duration))]
        deadline: Duration,
    },
    /// Unlock on a server what a standards file governs
    #[command(after_help = examples::STANDARDS_RELEASE)]
    Release {
        /// The name of the file, as it was applied
        #[arg(value_name = "FILE", value_parser = trimmed(value::text))]
        file: String,
        #[command(flatten)]
        #[allow(missing_docs)]
        remote: Remote,
        /// How long to wait for the answer
        #[arg(long, value_name = "DURATION", env = "ROLLCALL_DEADLINE", default_value = "30s", value_parser = trimmed(value::duration))]
        deadline: Duration,
    },
    /// Create the starter set on a server: ten checks, with the levels and categories that they need. Keeps what
    /// is there already
    #[command(after_help = examples::STANDARDS_STARTER)]
    Starter {
        #[command(flatten)]
        #[allow(missing_docs)]
        remote: Remote,
        /// How long to wait for the answer
        #[arg(long, value_name = "DURATION", env = "ROLLCALL_DEADLINE", default_value = "30s", value_parser = trimmed(value::duration))]
        deadline: Duration,
    },
}

/// `rollcall token …`
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Create a token and print it; it cannot be shown again
    #[command(after_help = examples::TOKEN_CREATE)]
    Create {
        /// The token's purpose
        #[arg(long, value_name = "TEXT", value_parser = trimmed(value::text))]
        description: String,
        /// The token's scope
        #[arg(long, default_value = "write", value_parser = word::<Scope>())]
        scope: Scope,
        /// How long the token is valid, such as 90d or 12h; the date on which it expires, such as 2027-01-31, when that day
        /// begins in UTC; or never [default: as --tokens-expire-after of the server says]
        #[arg(long, value_name = "DURATION", value_parser = trimmed(value::expiry))]
        expires: Option<Expiry>,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
    /// Print a line for each token, tab-separated: id, scope, created, last used, expires, description
    #[command(after_help = examples::TOKEN_LIST)]
    List(Database),
    /// Replace a token by a new one with the same description, scope and lifetime, and print it. The old one stays valid for
    /// a while
    #[command(after_help = examples::TOKEN_ROTATE)]
    Rotate {
        /// The token's id, as `token list` prints it
        #[arg(value_parser = trimmed(value::id))]
        id: i64,
        /// How long the old token stays valid, such as 1h or 7d; 0s for no longer
        #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = trimmed(value::duration))]
        overlap: Duration,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
    /// Delete a token; it stops working at once
    #[command(after_help = examples::TOKEN_DELETE)]
    Delete {
        /// The token's id, as `token list` prints it
        #[arg(value_parser = trimmed(value::id))]
        id: i64,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
}

/// `rollcall deploy-endpoint …`
#[derive(Debug, Subcommand)]
pub enum DeployEndpointCommand {
    /// Create a deploy endpoint and print its URL. A CI system needs nothing else, so treat the URL like a password
    #[command(after_help = examples::DEPLOY_ENDPOINT_CREATE)]
    Create {
        /// The endpoint's name
        #[arg(long, value_name = "TEXT", value_parser = trimmed(value::text))]
        name: String,
        #[command(flatten)]
        #[allow(missing_docs)]
        addresses: Addresses,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
    /// Print a line for each deploy endpoint, tab-separated: id, URL, name
    #[command(after_help = examples::DEPLOY_ENDPOINT_LIST)]
    List {
        #[command(flatten)]
        #[allow(missing_docs)]
        addresses: Addresses,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
    /// Delete a deploy endpoint; its URL stops working at once, its deploys stay
    #[command(after_help = examples::DEPLOY_ENDPOINT_DELETE)]
    Delete {
        /// The endpoint's id, as `deploy-endpoint list` prints it
        #[arg(value_parser = trimmed(value::id))]
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
    #[command(after_help = examples::SCHEMA_PRINT)]
    Print,
    /// Print the differences between two schema files; exits with status 1 if one breaks clients
    #[command(after_help = examples::SCHEMA_DIFF)]
    Diff {
        /// The current schema
        old: PathBuf,
        /// The new schema
        new: PathBuf,
    },
}
