//! The limits of one request.

use std::time::Duration;

use clap::Args;

use super::trimmed::trimmed;
use super::value;
use crate::budget::Limits;

/// The limits of one request.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits of one request")]
pub struct Budget {
    /// The maximum estimate of a GraphQL request, in objects, from its page sizes; a larger one is refused before it
    /// runs
    #[arg(long, value_name = "OBJECTS", env = "ROLLCALL_MAX_ESTIMATE", default_value = "10000000", value_parser = trimmed(value::number::<u64>))]
    pub max_estimate: u64,
    /// The maximum number of objects in the response
    #[arg(long, value_name = "OBJECTS", env = "ROLLCALL_MAX_OBJECTS", default_value = "100000", value_parser = trimmed(value::number::<u64>))]
    pub max_objects: u64,
    /// The maximum size of the response, in bytes
    #[arg(long, value_name = "BYTES", env = "ROLLCALL_MAX_ANSWER", default_value = "8388608", value_parser = trimmed(value::number::<u64>))]
    pub max_answer: u64,
    /// The maximum size of the rows read, in bytes
    #[arg(long, value_name = "BYTES", env = "ROLLCALL_MAX_ROWS", default_value = "16777216", value_parser = trimmed(value::number::<u64>))]
    pub max_rows: u64,
    /// The maximum processor time of a GraphQL request or a page
    #[arg(
        long,
        value_name = "DURATION",
        env = "ROLLCALL_QUERY_PROCESSOR_TIME",
        default_value = "900ms",
        value_parser = trimmed(value::duration)
    )]
    pub query_processor_time: Duration,
    /// The maximum time of a GraphQL query or a page, including waits; a mutation that has begun is never cancelled
    #[arg(
        long,
        value_name = "DURATION",
        env = "ROLLCALL_QUERY_TIMEOUT",
        default_value = "30s",
        value_parser = trimmed(value::duration)
    )]
    pub query_timeout: Duration,
}

impl Budget {
    /// The limits of a running request.
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
