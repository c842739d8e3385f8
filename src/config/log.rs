//! The settings of the log.

use clap::builder::StringValueParser;
use clap::{Args, ValueEnum};

use super::trimmed::{trimmed, word};

/// The settings of the log.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Log")]
pub struct Log {
    /// The format of log lines
    #[arg(long, value_name = "FORMAT", env = "ROLLCALL_LOG_FORMAT", default_value = "text", value_parser = word::<LogFormat>())]
    pub log_format: LogFormat,
    /// What to log: error, warn, info, debug or trace, optionally by module (info,rollcall::http=debug)
    #[arg(long, value_name = "FILTER", env = "ROLLCALL_LOG", default_value = "info,sea_orm_migration=warn", value_parser = trimmed(StringValueParser::new()))]
    pub log: String,
}

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people
    Text,
    /// For programs: one JSON object per line
    Json,
}
