//! The settings of the log.

use clap::{Args, ValueEnum};

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
