//! Idempotency keys: a request with an `Idempotency-Key` can be retried safely
//! (draft-ietf-httpapi-idempotency-key-header).
//!
//! A request claims its key before it runs. Each mutation increments the counter in the key's row, in its own
//! transaction. So the row says whether the request has changed anything, even if the process dies. At the end the
//! response is stored in the row. If nothing was changed, the key is released instead, so that the request can be
//! retried.

use std::pin::pin;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::time::{self, sleep};
use tracing::warn;

use super::caller::Caller;
use super::context::RequestOutcome;
use super::places::Place;
use crate::db::{self, Db, Transaction};
use crate::engine::Prepared;
use crate::engine::Response;
use crate::entity::Timestamp;
use crate::entity::audit::ActorKind;
use crate::entity::idempotency_key::{self as entity, MAX_ANSWER_BYTES, Owner};
use crate::entity::integration;
use crate::error::{Result, UserError};
use crate::graphql::Catalogue;

/// How long a request without a response counts as running. After that, if it has changed nothing, a retry may take
/// over its key; the first request can then commit nothing more.
pub const CLAIM_TIMEOUT: Duration = Duration::from_secs(120);

/// The same for a request with a mutation that changes many things.
pub const BULK_CLAIM_TIMEOUT: Duration = Duration::from_secs(660);

/// The pause between attempts to settle a key.
const SETTLE_RETRY: Duration = Duration::from_secs(1);

/// The hashes of a key and of its request.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// SHA-256 of the key.
    pub key: [u8; 32],
    /// SHA-256 of the request's body.
    pub request: [u8; 32],
}

/// A key that this request has claimed, and the place that the request runs in.
#[derive(Debug)]
pub struct Claim {
    pub(in crate::graphql) held: Held,
    pub(in crate::graphql) place: Place,
}

/// A claimed key: its row, and when it was claimed.
#[derive(Debug, Clone, Copy)]
pub(in crate::graphql) struct Held {
    id: i64,
    since: Timestamp,
}

/// The result of claiming a key.
#[derive(Debug)]
pub enum Claimed {
    /// The request may run.
    New(Claim),
    /// The request ran before. This was its response.
    Answered(String),
    /// The request ran before. Its response holds the URL of a webhook, which the caller may no longer see.
    Hidden,
    /// The request ran before, but its response was not stored.
    Done,
    /// The request is still running.
    Running,
    /// The key was used before, for a different request.
    Reused,
    /// Other requests with mutations kept this one waiting for too long.
    Late,
}

impl Catalogue {
    /// Claims a key for a request with mutations, before it runs. The request takes its place first, so that claims
    /// cannot use up the connections while commits stall.
    pub fn claim<'f>(
        &'f self,
        caller: &'f Caller,
        key: Key,
        prepared: &'f Prepared,
    ) -> BoxFuture<'f, Result<Claimed, db::Error>> {
        Box::pin(async move {
            Ok(match self.claim_or_replay(caller, key, prepared).await? {
                // The response was made for the role that the caller had then.
                Claimed::Answered(answer) if !caller.sees_webhooks() && integration::holds_webhook(&answer) => {
                    Claimed::Hidden
                }
                claimed => claimed,
            })
        })
    }

    async fn claim_or_replay(&self, caller: &Caller, key: Key, prepared: &Prepared) -> Result<Claimed, db::Error> {
        let owner = match (caller.actor.kind, caller.actor.id, caller.user) {
            (_, _, Some((user, _))) => Owner::User(user),
            (ActorKind::Token, Some(id), None) => Owner::Token(id),
            _ => return Err(db::Error::fault("only a token and a user have keys")),
        };
        let timeout = if self.0.takes_long(&prepared.plan) { BULK_CLAIM_TIMEOUT } else { CLAIM_TIMEOUT };
        let mut place = pin!(self.0.places.take(self.0.lane(&prepared.plan), caller.key()));
        let place = match place.as_mut().now_or_never() {
            Some(place) => place,
            None => {
                // Whoever repeats a request does not wait for it.
                if let Some(row) = entity::find(self.0.db.read(), owner, key.key).await?
                    && let Some(known) = known(&row, key, Timestamp::now(), timeout)
                {
                    return Ok(known);
                }
                match time::timeout(self.0.settings.budget.time, place).await {
                    Ok(place) => place,
                    Err(_) => return Ok(Claimed::Late),
                }
            }
        };
        let claimed = self.0.db.write(async |tx| claim(tx, owner, key, timeout).await).await?;
        Ok(claimed.map_or_else(|other| other, |held| Claimed::New(Claim { held, place })))
    }
}

/// Claims a key, or says what has become of it.
async fn claim(
    tx: &Transaction,
    owner: Owner,
    key: Key,
    timeout: Duration,
) -> Result<std::result::Result<Held, Claimed>, db::Error> {
    let now = Timestamp::now();
    if let Some(id) = entity::insert(tx, owner, key.key, key.request, now).await? {
        return Ok(Ok(Held { id, since: now }));
    }
    // The key was released in between. The client is told to retry.
    let Some(row) = entity::find(tx, owner, key.key).await? else { return Ok(Err(Claimed::Running)) };
    if let Some(known) = known(&row, key, now, timeout) {
        return Ok(Err(known));
    }
    let is_ours = entity::take_over(tx, &row, key.request, now).await?;
    Ok(if is_ours { Ok(Held { id: row.id, since: now }) } else { Err(Claimed::Running) })
}

/// What has become of a request that has claimed the key. `None` if it has ended without a change: the key can be taken
/// over.
fn known(row: &entity::Model, key: Key, now: Timestamp, timeout: Duration) -> Option<Claimed> {
    let age = now.as_micros().saturating_sub(row.created_at.as_micros());
    let has_ended = row.has_ended || age > i64::try_from(timeout.as_micros()).unwrap_or(i64::MAX);
    if has_ended && row.mutations == 0 {
        return None;
    }
    Some(match &row.answer {
        _ if row.request_hash != key.request => Claimed::Reused,
        Some(answer) => Claimed::Answered(answer.clone()),
        None if has_ended => Claimed::Done,
        None => Claimed::Running,
    })
}

impl Held {
    /// Counts a mutation, in its transaction. Fails if another request has taken over the key.
    pub(in crate::graphql) async fn count_mutation(&self, tx: &Transaction) -> Result<()> {
        match entity::count_mutation(tx, self.id, self.since).await? {
            true => Ok(()),
            false => Err(UserError::base("Another request with the same Idempotency-Key has taken over.").into()),
        }
    }

    /// Settles the key: stores the response, or releases the key if nothing was changed.
    pub(in crate::graphql) async fn end(&self, catalogue: &Catalogue, outcome: &RequestOutcome, response: &Response) {
        // A response that reports a database failure is not stored: the counter says more.
        let answer = std::str::from_utf8(&response.text).ok();
        let answer =
            answer.filter(|text| text.len() <= MAX_ANSWER_BYTES && !outcome.database_failed()).map(str::to_owned);
        let (claim, db, has_written) = (*self, catalogue.0.db.clone(), outcome.has_written());
        let Err(error) = claim.settle(&db, answer.as_ref(), has_written).await else { return };
        warn!(%error, "an idempotency key is settled later");
        // Retry in the background, so that the client can repeat the request once the database is back.
        tokio::spawn(async move {
            let began = Instant::now();
            while began.elapsed() < CLAIM_TIMEOUT {
                sleep(SETTLE_RETRY).await;
                if claim.settle(&db, answer.as_ref(), has_written).await.is_ok() {
                    return;
                }
            }
        });
    }

    async fn settle(self, db: &Db, answer: Option<&String>, has_written: bool) -> Result<(), db::Error> {
        let settle = db.write(async |tx| match has_written {
            true => entity::end(tx, self.id, self.since, answer.cloned()).await,
            false => entity::release(tx, self.id, self.since).await,
        });
        settle.await
    }
}
