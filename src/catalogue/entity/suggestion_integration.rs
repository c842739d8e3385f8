//! The integrations that pushed what suggestions are about.

use super::prelude::*;

super::table! {
    "suggestion_integration", unrecorded, exported;

    /// The suggestion.
    pub suggestion_id: i64,
    /// The integration; at most once per suggestion.
    pub integration_id: i64,
}
