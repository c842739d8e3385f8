//! The settings of `rollcall apply`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::StringValueParser;

use super::trimmed::{path, read_file, trimmed};
use super::{Database, Secret, value};

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
    /// Apply through the API of this server, such as https://rollcall.example.com, and not to a database
    #[arg(long, value_name = "URL", env = "ROLLCALL_SERVER", value_parser = trimmed(value::origin))]
    pub server: Option<String>,
    /// An API token of the server with the scope write
    #[arg(long, value_name = "TOKEN", env = "ROLLCALL_TOKEN", hide_env_values = true, value_parser = trimmed(Secret::parse))]
    token: Option<Secret>,
    /// A file with the token, to keep it out of the command line and the environment
    #[arg(long, value_name = "FILE", env = "ROLLCALL_TOKEN_FILE", conflicts_with = "token", value_parser = path())]
    token_file: Option<PathBuf>,
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
    /// Returns the API token.
    ///
    /// # Errors
    /// Why there is none, in one sentence.
    pub fn token(&self) -> Result<Secret, String> {
        let token = match &self.token_file {
            None => self.token.clone(),
            Some(file) => Some(Secret::from(&*read_file("the token", "--token-file or ROLLCALL_TOKEN_FILE", file)?)),
        };
        let token = token.filter(|token| !token.reveal().is_empty());
        token.ok_or_else(|| "--server needs a token: set ROLLCALL_TOKEN, or --token-file".to_owned())
    }
}
