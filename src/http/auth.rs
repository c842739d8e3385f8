//! Authentication: from the `Authorization` header to a row of `token`.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::header::{self, HeaderMap};
use sea_orm::DbErr;
use tracing::warn;

use super::limits::{TOKEN, TOKEN_WINDOW, Window, is_exact};
use super::lookups::Lookups;
use super::reply::Rejection;
use crate::db::{self, Db};
use crate::entity::Timestamp;
use crate::entity::token::{self, Secret};

/// Checks API tokens.
///
/// Tokens are not cached. Each request reads the token's row by the unique index on its hash, so a deleted token is
/// refused at once by every process.
pub struct Tokens {
    db: Db,
    /// How several requests' tokens are read at once, which pays where a statement takes a round trip.
    lookups: Option<Lookups>,
    /// Whether the statement that reads a token also counts the request.
    counts: bool,
    /// Tokens whose time of last use is being written.
    noting: Arc<Mutex<HashSet<i64>>>,
}

impl Tokens {
    /// Checks tokens against `db`. `limit` is the limit of their requests; 0 is none.
    pub fn new(db: Db, limit: u32) -> Self {
        let counts = limit > 0 && is_exact(limit) && db.is_shared();
        let lookups = db.is_shared().then(|| Lookups::new(db.clone()));
        Self { db, lookups, counts, noting: Arc::default() }
    }

    /// Returns the valid token of a request received at `now`, and its window if the request was counted along the way.
    pub async fn check(
        &self,
        headers: &HeaderMap,
        now: Timestamp,
    ) -> Result<(token::Model, Option<Window>), Rejection> {
        let secret = credential(headers).and_then(|text| Secret::read(text).ok_or(NoToken::Mistyped));
        let secret = secret.map_err(Rejection::Unauthenticated)?;
        let found = self.find(&secret).await.map_err(|error| Rejection::of_database(&error))?;
        let (token, counted) = found.ok_or(Rejection::Unauthenticated(NoToken::Unknown))?;
        if let Some(end) = token.expires_at.filter(|_| !token.is_valid(now)) {
            return Err(Rejection::Unauthenticated(NoToken::Expired(end)));
        }
        if token.is_use_worth_noting(now) {
            self.note_use(token.id, now);
        }
        Ok((token, counted))
    }

    async fn find(&self, secret: &Secret) -> Result<Option<(token::Model, Option<Window>)>, DbErr> {
        let hash = secret.hash();
        if self.counts {
            let column = token::Column::Hash;
            let found = self.db.one_and_count::<token::Entity>(column, hash.to_vec().into(), TOKEN, TOKEN_WINDOW);
            match found.await {
                // Counting is a write. If the database accepts no writes, the token can still be read.
                Err(error) if db::accepts_no_writes(&error) => {}
                found => return Ok(found?.map(|(token, counted)| (token, Some(counted.into())))),
            }
        }
        let found = match &self.lookups {
            Some(lookups) => lookups.find(hash).await?,
            None => token::by_hash(self.db.read(), &hash).await?,
        };
        Ok(found.map(|token| (token, None)))
    }

    /// Records the last use of a token, without delaying the request.
    fn note_use(&self, id: i64, now: Timestamp) {
        if !lock(&self.noting).insert(id) {
            return;
        }
        let (db, noting) = (self.db.clone(), Arc::clone(&self.noting));
        tokio::spawn(async move {
            let noted = db.write(async |db| token::note_use(db, id, now).await).await;
            if let Err(error) = noted {
                warn!(token = id, error = db::reason(&error), "the last use of a token cannot be noted");
            }
            lock(&noting).remove(&id);
        });
    }
}

fn lock(noting: &Mutex<HashSet<i64>>) -> MutexGuard<'_, HashSet<i64>> {
    noting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the credential after `Bearer` or `Token`, the two schemes that clients use.
fn credential(headers: &HeaderMap) -> Result<&str, NoToken> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Err(NoToken::Absent) };
    let text = value.to_str().ok().filter(|_| values.next().is_none()).ok_or(NoToken::Malformed)?.trim();
    let (scheme, credential) = text.split_once(' ').unwrap_or((text, ""));
    let known = ["Bearer", "Token"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    match credential.trim() {
        _ if !known && !text.is_empty() => Err(NoToken::Malformed),
        "" => Err(NoToken::Absent),
        credential => Ok(credential),
    }
}

/// Why a request has no valid token. Tells a client that does not hold a token nothing about the tokens that exist:
/// whoever sends one that has expired must know all of it, and anybody can check the checksum of a mistyped one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoToken {
    /// There is no header, or no token in it.
    Absent,
    /// The header has another form, such as that of a password.
    Malformed,
    /// The text is not a token: its length or its checksum is wrong.
    Mistyped,
    /// No row has the token's hash.
    Unknown,
    /// The token expired at this time.
    Expired(Timestamp),
}

/// What is wrong and what to do, for the client.
impl fmt::Display for NoToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let create = "Create one on the page API tokens, or with `rollcall token create`.";
        match self {
            Self::Absent => f.write_str("There is no token. Send the header Authorization: Bearer <token>."),
            Self::Malformed => f.write_str("The Authorization header must read: Bearer <token>."),
            Self::Mistyped => f.write_str(
                "This is not a token of rollcall: one begins with rc_ and has 52 characters. Copy all of it.",
            ),
            Self::Unknown => {
                write!(f, "This token is not known here: it was deleted, or it belongs to another database. {create}")
            }
            Self::Expired(end) => write!(f, "This token expired at {end}. {create}"),
        }
    }
}
