//! The commands and their arguments. What a command does is left to [`commands`](crate::commands).

use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;

use super::{Addresses, Database, Deploy, Serve, value};
use crate::entity::token::Scope;

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
    /// Check the settings, the database, the disk, the clock and the proxy, and say what to do. Status 1 when something
    /// does not work; advice alone is status 0
    Doctor(Box<Serve>),
    /// Ask the server on this machine whether it can answer requests, for containers. Status 1 when it cannot
    Healthcheck {
        /// Ask only whether the process lives
        #[arg(long)]
        live: bool,
        #[command(flatten)]
        #[allow(missing_docs)]
        addresses: Addresses,
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
    Export {
        /// Write to this file instead, which only its owner may read and which appears once it is whole
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Replace the file of --output if it exists
        #[arg(long, requires = "output")]
        replace: bool,
        #[command(flatten)]
        #[allow(missing_docs)]
        database: Database,
    },
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
        #[arg(long, value_name = "DURATION", value_parser = value::duration)]
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
