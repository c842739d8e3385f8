//! The scalar `ISO8601DateTime`: written in UTC as RFC 3339, read in any form that the webhook reads.

use async_graphql::Value;

use crate::engine::input::{Input, InputError};
use crate::engine::write::{Scalar, Writer};
use crate::entity::Timestamp;

impl Scalar for Timestamp {
    fn write(&self, out: &mut Writer<'_>) {
        out.raw("\"");
        self.write_rfc3339(out.text());
        out.raw("\"");
    }
}

impl Input for Timestamp {
    fn read(value: &Value) -> Result<Self, InputError> {
        let read = match value {
            Value::String(text) => Self::parse(text).ok(),
            _ => None,
        };
        read.ok_or_else(|| InputError::new("expected a date and time such as \"2026-11-21T01:44:00Z\""))
    }
}
