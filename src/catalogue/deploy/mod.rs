//! The deploy webhook: from the body of a request to a row that survives a power cut.
//!
//! Invariants: nothing here knows HTTP or GraphQL. A deploy is answered as recorded only after its transaction has
//! committed.
//!
//! - [`record`] parses a post and reports all its mistakes, with [`attributes`], [`json`] (slices of a body, and JSON
//!   with slips), [`moment`] (dates as programs print them) and [`zone`].
//! - [`commit`] commits queued posts together. [`store`] does the work of that transaction: duplicates, services,
//!   numbers, suggestions. [`deliveries`] records the responses to refused posts, [`event`] custom events.
//! - [`metrics`] computes metrics, with [`figures`] of whole periods; [`days`] says how long a day is. [`list`] lists
//!   deploys for the pages, [`failing`] finds services whose last deploy failed, [`delivery`] measures weeks, and
//!   [`recoveries`] finds the success after a failure. [`retention`] removes expired deploys.

mod attributes;
pub mod commit;
pub mod days;
mod deliveries;
pub mod delivery;
pub mod event;
pub mod failing;
pub mod figures;
mod json;
pub mod list;
pub mod metrics;
mod moment;
pub mod record;
mod recoveries;
pub mod retention;
mod store;
mod zone;

pub use attributes::Mistake;
pub use commit::{Deploys, Failure};
pub use deliveries::Deliveries;
pub use record::{Reading, Record};

use futures_util::future::BoxFuture;

use crate::db::{self, WriteHandle};
use crate::entity::service_last_deploy;
use crate::error::quoted;

/// Derives what the triggers of the table of deploys keep, after deploys were stored in bulk without them.
pub fn derive_all(db: &dyn WriteHandle) -> BoxFuture<'_, Result<(), db::Error>> {
    Box::pin(async move {
        figures::build::forget_all(db).await?;
        service_last_deploy::derive_all(db).await
    })
}

/// A valid record, and the endpoint it was posted to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// The integration.
    pub integration_id: i64,
    /// The record.
    pub record: Record,
}

/// The outcome of a post that was recorded. docs/deploys.md lists the answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The deploy is recorded for a service.
    Ok {
        /// The alias of the service, if it was spelt otherwise in the post.
        alias: Option<String>,
    },
    /// The deploy is recorded, but no service has this alias.
    NoServiceFound {
        /// The alias that was sent.
        alias: String,
    },
    /// A deploy with the same `dedup_id` exists. This one is not recorded.
    Duplicate,
}

impl Outcome {
    /// Its code in the response.
    pub fn result(&self) -> &'static str {
        match self {
            Self::Ok { .. } => "ok",
            Self::NoServiceFound { .. } => "no_service_found",
            Self::Duplicate => "duplicate_deploy",
        }
    }

    /// How what is recorded differs from what was sent, as far as only the database knows it.
    pub fn note(&self) -> Option<String> {
        match self {
            Self::Ok { alias: Some(alias) } => Some(format!("service is taken as the alias {}", quoted(alias))),
            _ => None,
        }
    }

    /// Its sentence in the response.
    pub fn message(&self) -> Option<String> {
        match self {
            Self::Ok { .. } => None,
            Self::NoServiceFound { alias } => Some(format!(
                "No service has the alias \"{alias}\". The deploy is recorded, and the alias is recorded as a suggestion."
            )),
            Self::Duplicate => {
                Some("No deploy was created because of an existing deploy with identical dedup_id.".to_owned())
            }
        }
    }
}
