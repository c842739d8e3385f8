//! Reads for the pages what the API does not offer, from the database.
//!
//! These reads have the budget of a query, and places of their own: few run at a time, and one for each person.

use std::sync::Arc;
use std::time::{Duration, Instant};

use maud::{Markup, html};

use super::visit::{self, Reads, Visit};
use super::{Fault, Site};
use catalogue::budget::{Budget, Excess, Limits};
use catalogue::db::{ReadHandle, Snapshot};
use catalogue::graphql::request::places::{CallerKey, Lane, Place};

/// The reads of a page, all in one snapshot. While it exists, the page cannot ask the API, which could wait for the
/// connection that it holds: [`ask`](super::ask::ask) fails then, however much is free. So a page that does it is found the
/// first time that it is shown.
pub struct Reading {
    budget: Arc<Budget>,
    /// `None` if the visitor had no place in time, which exceeds the budget.
    begun: Option<Begun>,
    _reads: visit::Begun,
}

struct Begun {
    // Field order matters: the connection is returned before the place is free.
    snapshot: Snapshot,
    _place: Place,
}

impl Site {
    /// Begins to read for a page, when the visitor has a place.
    pub(super) async fn reading(&self, visit: &Visit) -> Result<Reading, Fault> {
        let key = visit.session.as_ref().ok_or(Fault::SignInFirst)?.caller().key();
        self.reading_of(key, &visit.reads).await
    }

    /// Begins to read for somebody, when they have a place.
    pub(super) async fn reading_of(&self, key: CallerKey, reads: &Reads) -> Result<Reading, Fault> {
        let limits = self.catalogue.settings().budget;
        let reads = reads.begin().ok_or_else(|| Fault::Internal("a page holds two connections to read".to_owned()))?;
        // Half of the page's time: the page is to be shown in time without what takes too long.
        let limits = Limits { time: limits.time / 2, ..limits };
        let budget = Arc::new(Budget::new(limits, Instant::now() + limits.time, false, Duration::ZERO));
        let begin = async {
            let place = self.places.take(Lane::Slow, key).await;
            let snapshot = self.db.begin_read(Some(Arc::clone(&budget))).await?;
            Ok::<_, Fault>(Begun { snapshot, _place: place })
        };
        let begun = budget.within(begin).await.ok().transpose()?;
        Ok(Reading { budget, begun, _reads: reads })
    }
}

impl Reading {
    /// Runs the reads of a part of the page. `None` once all reads together exceed the budget: the page is shown
    /// without this part.
    pub async fn optional<'r, T, E, F>(
        &'r self,
        reads: impl FnOnce(&'r dyn ReadHandle) -> F,
    ) -> Result<Option<T>, Fault>
    where
        E: Into<Fault>,
        F: Future<Output = Result<T, E>>,
    {
        let (Some(begun), None) = (&self.begun, self.budget.exceeded()) else { return Ok(None) };
        let done = self.budget.within(self.budget.metered(reads(&begun.snapshot))).await;
        match (done, self.budget.exceeded()) {
            // Reads that are finished are of use, however long they took.
            (Ok(Ok(read)), None | Some(Excess::Processor | Excess::Time)) => Ok(Some(read)),
            (Ok(Err(error)), None) => Err(error.into()),
            _ => Ok(None),
        }
    }

    /// Runs the reads without which there is no page. Fails once all reads together exceed the budget.
    pub async fn required<'r, T, E, F>(&'r self, reads: impl FnOnce(&'r dyn ReadHandle) -> F) -> Result<T, Fault>
    where
        E: Into<Fault>,
        F: Future<Output = Result<T, E>>,
    {
        let read = self.optional(reads).await?;
        read.ok_or_else(|| {
            let excess = self.budget.exceeded().unwrap_or(Excess::Time);
            Fault::TooMuch(excess.sentence(&self.budget.limits()))
        })
    }
}

/// Stands in the place of a part that was not read.
pub fn too_long() -> Markup {
    html! { p.soft { "This took too long to read. Reload the page to try again." } }
}
