//! Reads for the pages what the API does not offer, from the database.
//!
//! These reads have the budget of a query, and places of their own: few run at a time, and one for each person.

use std::sync::Arc;
use std::time::{Duration, Instant};

use maud::{Markup, html};

use super::visit::Visit;
use super::{Fault, Site};
use crate::budget::{Budget, Excess, Limits};
use crate::db::Snapshot;
use crate::graphql::places::{Lane, Place};

/// The reads of a page, all in one snapshot. Do not call the API while it exists: the API could wait for the
/// connection that it holds.
pub struct Reading {
    // Field order matters: the connection is returned before the place is free.
    snapshot: Snapshot,
    budget: Arc<Budget>,
    _place: Place,
}

impl Site {
    /// Begins to read for a page, when the visitor has a place.
    pub(super) async fn reading(&self, visit: &Visit) -> Result<Reading, Fault> {
        let who = visit.session.as_ref().ok_or(Fault::SignInFirst)?.caller().who();
        let limits = self.catalogue.settings().budget;
        // Half of the page's time: the page is to be shown in time without what takes too long.
        let limits = Limits { time: limits.time / 2, ..limits };
        let budget = Arc::new(Budget::new(limits, Instant::now() + limits.time, false, Duration::ZERO));
        let begin = async {
            let place = self.places.take(Lane::Slow, who).await;
            let snapshot = self.db.begin_read(Some(Arc::clone(&budget))).await?;
            Ok::<_, Fault>((snapshot, place))
        };
        let begun = budget.within(begin).await;
        let (snapshot, place) = begun.map_err(|excess| Fault::TooMuch(excess.sentence(&limits)))??;
        Ok(Reading { snapshot, budget, _place: place })
    }
}

impl Reading {
    /// The snapshot to read from, within [`Self::part`] or [`Self::within`].
    pub fn db(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Runs the reads of a part of the page. `None` once all reads together exceed the budget: the page is shown
    /// without this part.
    pub async fn part<T, E: Into<Fault>>(&self, reads: impl Future<Output = Result<T, E>>) -> Result<Option<T>, Fault> {
        if self.budget.exceeded().is_some() {
            return Ok(None);
        }
        let done = self.budget.within(self.budget.metered(reads)).await;
        match (done, self.budget.exceeded()) {
            // Reads that are finished are of use, however long they took.
            (Ok(Ok(read)), None | Some(Excess::Processor | Excess::Time)) => Ok(Some(read)),
            (Ok(Err(error)), None) => Err(error.into()),
            _ => Ok(None),
        }
    }

    /// Runs the reads without which there is no page. Fails once all reads together exceed the budget.
    pub async fn within<T, E: Into<Fault>>(&self, reads: impl Future<Output = Result<T, E>>) -> Result<T, Fault> {
        let done = self.budget.within(self.budget.metered(reads)).await;
        match (self.budget.exceeded(), done) {
            (None, Ok(done)) => done.map_err(Into::into),
            (Some(excess), _) | (None, Err(excess)) => Err(Fault::TooMuch(excess.sentence(self.budget.limits()))),
        }
    }
}

/// What was read. `None` if it exceeds the budget, or could not begin in time.
pub fn unless_too_much<T>(read: Result<T, Fault>) -> Result<Option<T>, Fault> {
    match read {
        Err(Fault::TooMuch(_)) => Ok(None),
        read => read.map(Some),
    }
}

/// Stands in the place of a part that was not read.
pub fn too_long() -> Markup {
    html! { p.soft { "This took too long to read. Reload the page to try again." } }
}
