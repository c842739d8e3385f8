//! The size that a field's arguments ask for.

use super::input::{Fields, Value};

/// The arguments of a field that determine its estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Sizing {
    /// The argument `first`.
    pub(super) first: Option<u64>,
    /// The days between the arguments `start` and `end`.
    pub(super) days: Option<u64>,
}

/// A day, in seconds.
const DAY: i64 = 86_400;

impl Sizing {
    /// Reads the sizes from a field's arguments.
    pub(super) fn from_arguments(arguments: &Fields) -> Self {
        let first = match arguments.get("first") {
            Some(Value::Number(first)) => first.as_u64(),
            _ => None,
        };
        let moment = |name: &str| match arguments.get(name) {
            Some(Value::String(text)) => text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second),
            _ => None,
        };
        let days = moment("start").map(|start| {
            let end = moment("end").unwrap_or_else(|| jiff::Timestamp::now().as_second());
            u64::try_from(end.saturating_sub(start) / DAY).unwrap_or(0) + 1
        });
        Self { first, days }
    }
}
