//! The server that a command asks, and the token that it sends.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::secret::Secret;
use super::trimmed::{path, trimmed};
use super::value;

/// The server that a command asks.
#[derive(Debug, Args)]
pub struct Remote {
    /// The server, such as https://rollcall.example.com [default: that of the context]
    #[arg(long, value_name = "URL", env = "ROLLCALL_SERVER", value_parser = trimmed(value::origin))]
    pub server: Option<String>,
    /// An API token of the server [default: that of the context]
    #[arg(long, value_name = "TOKEN", env = "ROLLCALL_TOKEN", hide_env_values = true, value_parser = trimmed(Secret::parse))]
    token: Option<Secret>,
    /// A file with the token, to keep it out of the command line and the environment
    #[arg(long, value_name = "FILE", env = "ROLLCALL_TOKEN_FILE", conflicts_with = "token", value_parser = path())]
    token_file: Option<PathBuf>,
    /// The context whose server and token to use, as `rollcall login` has stored them [default: the current one]
    #[arg(long, value_name = "NAME", env = "ROLLCALL_CONTEXT", value_parser = trimmed(value::text))]
    pub context: Option<String>,
}

impl Remote {
    /// The token that is given. `None` if there is none, or a blank one.
    ///
    /// # Errors
    /// The file with the token cannot be read, in one sentence.
    pub fn token(&self) -> Result<Option<Secret>, String> {
        let file = (self.token_file.as_ref(), "--token-file or ROLLCALL_TOKEN_FILE");
        Secret::given("the token", self.token.as_ref(), file)
    }
}

/// How a command that reads asks, and prints.
#[derive(Debug, Args)]
pub struct Asking {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub remote: Remote,
    /// How long to retry while the server is unreachable or busy
    #[arg(long, value_name = "DURATION", env = "ROLLCALL_DEADLINE", default_value = "10s", value_parser = trimmed(value::duration))]
    pub deadline: Duration,
    /// The form of the output
    #[arg(long, short, value_name = "FORM", default_value = "table", value_parser = super::trimmed::word::<Output>())]
    pub output: Output,
}

/// The form of a command's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// Aligned columns, for people
    Table,
    /// JSON, as the API answers
    Json,
    /// Comma-separated values with a line of names (RFC 4180)
    Csv,
}
