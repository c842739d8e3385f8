//! The limits of one request.

use std::time::Duration;

use clap::Args;

use super::value;
use crate::budget::Limits;

/// What one request may use.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits of one request")]
pub struct Budget {
    /// Objects that a GraphQL request may ask for, by the sizes of its pages; it is refused before it runs
    #[arg(long, value_name = "OBJECTS", env = "ROLLCALL_MAX_ESTIMATE", default_value = "10000000")]
    pub max_estimate: u64,
    /// Objects that its answer may hold
    #[arg(long, value_name = "OBJECTS", env = "ROLLCALL_MAX_OBJECTS", default_value = "100000")]
    pub max_objects: u64,
    /// Bytes that its answer may have
    #[arg(long, value_name = "BYTES", env = "ROLLCALL_MAX_ANSWER", default_value = "8388608")]
    pub max_answer: u64,
    /// Bytes of the rows that may be read for it
    #[arg(long, value_name = "BYTES", env = "ROLLCALL_MAX_ROWS", default_value = "16777216")]
    pub max_rows: u64,
    /// Processor time that a GraphQL request, or a page, may take
    #[arg(
        long,
        value_name = "DURATION",
        env = "ROLLCALL_QUERY_PROCESSOR_TIME",
        default_value = "900ms",
        value_parser = value::duration
    )]
    pub query_processor_time: Duration,
    /// How long a GraphQL query, or a page, may take, waiting included; a mutation that has begun is never cut off
    #[arg(
        long,
        value_name = "DURATION",
        env = "ROLLCALL_QUERY_TIMEOUT",
        default_value = "30s",
        value_parser = value::duration
    )]
    pub query_timeout: Duration,
}

impl Budget {
    /// What one request may use once it runs.
    pub fn limits(&self) -> Limits {
        Limits {
            objects: self.max_objects,
            answer: self.max_answer,
            rows: self.max_rows,
            processor: self.query_processor_time,
            time: self.query_timeout,
        }
    }
}
