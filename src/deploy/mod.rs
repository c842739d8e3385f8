//! Deploys that are posted to a webhook: from the body of a request to a row that survives a power cut.
//!
//! [`record`] reads a post and says all that is wrong with it. [`commit`] takes the posts that wait, and commits them
//! together. [`store`] is what happens in that one transaction: whether a post is a duplicate, whose deploy it is, which
//! number it gets, what it suggests. [`metrics`] is what many deploys amount to, [`days`] how many there were; [`retention`] removes those that are too
//! old. [`deliveries`] notes what came in and did not become one. HTTP is left to the edge, and reading deploys one by one to the API.

mod attributes;
pub mod commit;
pub mod days;
mod deliveries;
pub mod metrics;
pub mod record;
pub mod retention;
mod store;

pub use attributes::Mistake;
pub use commit::{Deploys, Failure};
pub use deliveries::Deliveries;
pub use record::Record;

/// A checked record, and the endpoint it was posted to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// The integration.
    pub integration_id: i64,
    /// What was posted.
    pub record: Record,
}

/// What became of a post (the specification's "Deploy webhook", response bodies).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The deploy is recorded for a service.
    Ok,
    /// The deploy is recorded, but no service has this alias.
    NoServiceFound {
        /// The alias that was sent.
        alias: String,
    },
    /// A deploy with the same `dedup_id` was there already; this one is not recorded.
    Duplicate,
}

impl Outcome {
    /// The word that stands for it.
    pub fn result(&self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::NoServiceFound { .. } => "no_service_found",
            Self::Duplicate => "duplicate_deploy",
        }
    }

    /// The sentence that goes with it.
    pub fn message(&self) -> Option<String> {
        match self {
            Self::Ok => None,
            Self::NoServiceFound { alias } => Some(format!(
                "No service has the alias \"{alias}\". The deploy is recorded, and the alias is recorded as a suggestion."
            )),
            Self::Duplicate => {
                Some("No deploy was created because of an existing deploy with identical dedup_id.".to_owned())
            }
        }
    }
}
