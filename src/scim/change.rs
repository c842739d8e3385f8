//! The transaction of a change: with its entries of the audit and its events, like a mutation of the API.

use serde_json::{Map, Value, json};

use super::{Error, Refusal, ScimType, Service};
use crate::db::{self, Before, Transaction};
use crate::entity::change::{Account, By, Told};
use crate::entity::{audit, check_due};
use crate::events;

/// The most rows that a request may change: the members of a group, and what these are given. A group with its most members
/// can be renamed or deleted at once if it gives up to three teams.
pub const MOST_CHANGED: usize = 100_000;

/// What a change has done, and what the audit says of it beside the changed fields.
pub struct Done<T> {
    /// What is answered.
    pub answer: T,
    /// For the first entry of the audit.
    pub detail: Map<String, Value>,
}

impl<T> Done<T> {
    /// What the audit tells by the changed fields.
    pub fn told(answer: T) -> Self {
        Self { answer, detail: Map::new() }
    }
}

/// Carries a change out, and tells it by the name of an action.
///
/// # Errors
/// It may [have lost a race](Error::is_lost_race). Whoever answers the request then starts over.
pub async fn carry_out<T>(
    service: &Service<'_>,
    action: &str,
    change: impl AsyncFnOnce(&Transaction) -> Result<Done<T>, Error>,
) -> Result<T, Error> {
    let told = service.db.write(async |transaction| {
        transaction.keep_record(MOST_CHANGED);
        let Done { answer, detail } = change(transaction).await?;
        tell(service, transaction, action, detail).await?;
        Ok(answer)
    });
    told.await
}

/// Stores what follows from a change: its events, and an entry of the audit for each object.
async fn tell(
    service: &Service<'_>,
    transaction: &Transaction,
    action: &str,
    detail: Map<String, Value>,
) -> Result<(), Error> {
    let (actor, wanted) = (&service.caller.actor, &service.catalogue.settings().events);
    let before = Before::Committed(service.db.committed());
    let account = Account::complete(before, transaction).await?.ok_or_else(|| {
        let message = format!("This changes more than {MOST_CHANGED} things. Remove members of the group first.");
        Refusal::new(ScimType::TooMany, message)
    })?;
    let told = account.told(before, transaction, By::Object).await?;
    events::note(transaction, wanted, (actor, action), &account, &told).await?;
    if wanted.has_checks() {
        check_due::note(transaction, (actor, action), &account.changes).await?;
    }
    let mut details = Some(detail);
    let entries: Vec<_> = told
        .into_iter()
        .map(|Told { subject, changed, .. }| {
            let mut detail = details.take().unwrap_or_default();
            detail.insert("changed".to_owned(), changed.into());
            (action, subject, json!(detail))
        })
        .collect();
    audit::record_all(transaction, actor, entries.into_iter()).await?;
    if account.is_searched() {
        db::find::refresh(transaction).await?;
    }
    Ok(())
}

/// The error of a write that meets a value of another row.
pub fn or_taken<T>(written: Result<T, db::Error>, detail: &str) -> Result<T, Error> {
    written.map_err(|error| match error.violation() {
        Some(db::Constraint::Unique(_)) => Refusal::new(ScimType::Uniqueness, detail).into(),
        _ => error.into(),
    })
}
