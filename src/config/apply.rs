//! The settings of `rollcall apply`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::StringValueParser;

use super::remote::Remote;
use super::trimmed::trimmed;
use super::{Database, value};

/// The settings of `rollcall apply`.
#[derive(Debug, Args)]
pub struct Apply {
    /// YAML files, folders of them, or - for standard input; applies all of them or none
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// In folders, read only the files with this name, such as catalog-info.yaml; may be repeated
    #[arg(long, value_name = "NAME")]
    pub name: Vec<String>,
    /// Change nothing and print what would change; exits with status 3 if anything would, and with 0 if nothing would
    #[arg(long)]
    pub dry_run: bool,
    /// Unlock the services that other files of the repository govern and no file of this run describes
    #[arg(long)]
    pub release_missing: bool,
    /// Delete the levels, categories, filters, scorecards, checks and campaigns that standards files of these names govern
    /// and no longer describe
    #[arg(long)]
    pub delete_missing: bool,
    /// Applies through the API of this server, or of the context's, and not to a database.
    #[command(flatten)]
    pub remote: Remote,
    /// The URL of the repository that the files are in [default: from git, or from the pipeline]
    #[arg(long, value_name = "URL", env = "ROLLCALL_APPLY_REPOSITORY", value_parser = trimmed(StringValueParser::new()))]
    pub repository: Option<String>,
    /// The commit that the files are of [default: from git, or from the pipeline]
    #[arg(long, value_name = "HASH", env = "ROLLCALL_APPLY_COMMIT", value_parser = trimmed(StringValueParser::new()))]
    pub commit: Option<String>,
    /// How long to retry while the server is unreachable or busy
    #[arg(
        long,
        value_name = "DURATION",
        env = "ROLLCALL_APPLY_DEADLINE",
        default_value = "180s",
        value_parser = trimmed(value::duration)
    )]
    pub deadline: Duration,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub database: Database,
}

impl Apply {
    /// Whether a server applies the files: it is named, or a context is.
    pub fn has_server(&self) -> bool {
        self.remote.server.is_some() || self.remote.context.is_some()
    }
}
