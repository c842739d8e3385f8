//! Requests that may be sent again: those with an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header).
//!
//! The key is claimed before anything runs. Each mutation counts itself in its own transaction, so the row says whether
//! the request has changed anything, whatever happens to the process. Then the answer is kept beside it. The key of a
//! request that has changed nothing is forgotten, so that it can be sent again.

use std::time::{Duration, Instant};

use sea_orm::{DatabaseTransaction, DbErr};
use tokio::time::sleep;
use tracing::warn;

use super::Catalogue;
use super::caller::Caller;
use super::context::{Fate, takes_long};
use crate::db::Db;
use crate::engine::Prepared;
use crate::engine::Response;
use crate::entity::Timestamp;
use crate::entity::audit::ActorKind;
use crate::entity::idempotency_key::{self as entity, ANSWER, Owner};
use crate::error::{Result, UserError};

/// A request without an answer is believed to run for this long. Nothing that it does later is committed once another
/// has taken its key over.
pub const RUNS: Duration = Duration::from_secs(120);

/// The same for a mutation that changes many things.
const RUNS_LONG: Duration = Duration::from_secs(660);

/// The pause before another attempt to settle a key.
const AGAIN: Duration = Duration::from_secs(1);

/// The hashes of a key and of the request that it came with.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// SHA-256 of the key.
    pub key: [u8; 32],
    /// SHA-256 of the request's body.
    pub request: [u8; 32],
}

/// A key that this request has claimed.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    id: i64,
    since: Timestamp,
}

/// What became of a key.
#[derive(Debug)]
pub enum Claimed {
    /// The request may run.
    New(Claim),
    /// It ran before, with this answer.
    Answered(String),
    /// It ran before, and its answer was not kept.
    Done,
    /// It is running.
    Running,
    /// Another request came with the same key.
    Reused,
}

impl Catalogue {
    /// Claims a key for a request with mutations.
    pub async fn claim(&self, caller: &Caller, key: Key, prepared: &Prepared) -> Result<Claimed, DbErr> {
        let owner = match (caller.actor.kind, caller.actor.id, caller.user) {
            (_, _, Some((user, _))) => Owner::User(user),
            (ActorKind::Token, Some(id), None) => Owner::Token(id),
            _ => return Err(DbErr::Custom("only a token and a user have keys".to_owned())),
        };
        let runs = if takes_long(&prepared.plan) { RUNS_LONG } else { RUNS };
        self.0.db.write(async |tx| claim(tx, owner, key, runs).await).await
    }
}

async fn claim(tx: &DatabaseTransaction, owner: Owner, key: Key, runs: Duration) -> Result<Claimed, DbErr> {
    let now = Timestamp::now();
    if let Some(id) = entity::insert(tx, owner, key.key, key.request, now).await? {
        return Ok(Claimed::New(Claim { id, since: now }));
    }
    // It may have been forgotten in between: the client asks again.
    let Some(row) = entity::find(tx, owner, key.key).await? else { return Ok(Claimed::Running) };
    let age = now.as_micros().saturating_sub(row.created_at.as_micros());
    let has_ended = row.has_ended || age > i64::try_from(runs.as_micros()).unwrap_or(i64::MAX);
    if has_ended && row.mutations == 0 {
        let is_ours = entity::take_over(tx, &row, key.request, now).await?;
        return Ok(if is_ours { Claimed::New(Claim { id: row.id, since: now }) } else { Claimed::Running });
    }
    Ok(match row.answer {
        _ if row.request_hash != key.request => Claimed::Reused,
        Some(answer) => Claimed::Answered(answer),
        None if has_ended => Claimed::Done,
        None => Claimed::Running,
    })
}

impl Claim {
    /// Counts a mutation, in its transaction.
    pub(super) async fn count_mutation(&self, tx: &DatabaseTransaction) -> Result<()> {
        match entity::count_mutation(tx, self.id, self.since).await? {
            true => Ok(()),
            false => Err(UserError::base("Another request with the same Idempotency-Key has taken over.").into()),
        }
    }

    /// Keeps the answer, or forgets the key of a request that has changed nothing.
    pub(super) async fn end(&self, catalogue: &Catalogue, fate: &Fate, response: &Response) {
        // The answer to a request whose database went away says less than the count.
        let answer = std::str::from_utf8(&response.text).ok();
        let answer = answer.filter(|text| text.len() <= ANSWER && !fate.was_in_need()).map(str::to_owned);
        let (claim, db, has_written) = (*self, catalogue.0.db.clone(), fate.has_written());
        let Err(error) = claim.settle(&db, answer.as_ref(), has_written).await else { return };
        warn!(%error, "an idempotency key is settled later");
        // The client may repeat the request as soon as the database is back.
        tokio::spawn(async move {
            let began = Instant::now();
            while began.elapsed() < RUNS {
                sleep(AGAIN).await;
                if claim.settle(&db, answer.as_ref(), has_written).await.is_ok() {
                    return;
                }
            }
        });
    }

    async fn settle(self, db: &Db, answer: Option<&String>, has_written: bool) -> Result<(), DbErr> {
        let settle = db.write(async |tx| match has_written {
            true => entity::end(tx, self.id, self.since, answer.cloned()).await,
            false => entity::release(tx, self.id, self.since).await,
        });
        settle.await
    }
}
