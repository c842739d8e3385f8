//! Authentication: from the `Authorization` header to a row of `token`.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::header::{self, HeaderMap};
use tracing::warn;

use super::reply::Rejection;
use crate::db::Db;
use crate::entity::Timestamp;
use crate::entity::token::{self, Secret};

/// Checks API tokens.
///
/// Tokens are not cached. Each request reads the token's row by the unique index on its hash, so a deleted token is
/// refused at once by every process.
pub struct Tokens {
    db: Db,
    /// Tokens whose time of last use is being written.
    noting: Arc<Mutex<HashSet<i64>>>,
}

impl Tokens {
    /// Checks tokens against `db`.
    pub fn new(db: Db) -> Self {
        Self { db, noting: Arc::default() }
    }

    /// Returns the valid token of a request received at `now`.
    pub async fn check(&self, headers: &HeaderMap, now: Timestamp) -> Result<token::Model, Rejection> {
        let secret = credential(headers).and_then(Secret::read).ok_or(Rejection::Unauthenticated)?;
        let found = token::by_hash(self.db.read(), &secret.hash()).await;
        let found = found.map_err(|error| Rejection::of_database(&error))?;
        let token = found.filter(|token| token.is_valid(now)).ok_or(Rejection::Unauthenticated)?;
        if token.is_use_worth_noting(now) {
            self.note_use(token.id, now);
        }
        Ok(token)
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
                warn!(token = id, %error, "the last use of a token cannot be noted");
            }
            lock(&noting).remove(&id);
        });
    }
}

fn lock(noting: &Mutex<HashSet<i64>>) -> MutexGuard<'_, HashSet<i64>> {
    noting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the credential after `Bearer` or `Token`, the two schemes that clients use.
fn credential(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, credential) = value.to_str().ok()?.trim().split_once(' ')?;
    let known = ["Bearer", "Token"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    known.then(|| credential.trim())
}
