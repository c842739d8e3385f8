//! Days, in which deploys are shown and counted.

/// A day of 24 hours, in microseconds.
pub const DAY: i64 = 86_400 * 1_000_000;
