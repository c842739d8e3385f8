//! Authentication: from the `Authorization` header to a row of `token`. Also records when tokens, sessions and feeds
//! were last used.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use hyper::header::{self, HeaderMap};
use tokio::sync::Mutex;
use tracing::warn;

use super::limits::{TOKEN, TOKEN_WINDOW, Window, is_exact};
use super::lookups::Lookups;
use super::reply::Rejection;
use crate::db::{self, Db};
use crate::entity::token::{self, Scope, Secret};
use crate::entity::{Timestamp, feed, session, text};

const ONLY_SCIM: &str = "This token has the scope scim: it is for /scim/v2 and for nothing else.";

const UNKNOWN_SCOPE: &str = "This token has a scope that this server does not know, so it may do nothing here: a newer version of \
     rollcall has made it. Use it once this server is upgraded, or create another one on the page API tokens.";

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
    /// Records the last uses of tokens, sessions and feeds.
    pub last_uses: LastUses,
}

impl Tokens {
    /// Checks tokens against `db`. `limit` is the limit of their requests; 0 is none.
    pub fn new(db: Db, limit: u32) -> Self {
        let counts = limit > 0 && is_exact(limit) && db.is_shared();
        let lookups = db.is_shared().then(|| Lookups::new(db.clone()));
        let last_uses = LastUses::new(db.clone());
        Self { db, lookups, counts, last_uses }
    }

    /// Returns the valid token of a request received at `now` from an address, and its window if the request was counted
    /// along the way. Refuses the tokens of identity providers, which may use SCIM and nothing else.
    pub async fn check(
        &self,
        headers: &HeaderMap,
        from: IpAddr,
        now: Timestamp,
    ) -> Result<(token::Model, Option<Window>), Rejection> {
        let (token, counted) = self.any(headers, from, now).await?;
        match token.scope {
            Scope::Scim => Err(Rejection::Forbidden(ONLY_SCIM)),
            Scope::Unknown => Err(Rejection::Forbidden(UNKNOWN_SCOPE)),
            Scope::Read | Scope::Write | Scope::Admin => Ok((token, counted)),
        }
    }

    /// The same for a token of any scope that this version knows.
    pub async fn any(
        &self,
        headers: &HeaderMap,
        from: IpAddr,
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
            self.last_uses.note(LastUse::Token(token.id, from), now);
        }
        if token.scope == Scope::Unknown {
            return Err(Rejection::Forbidden(UNKNOWN_SCOPE));
        }
        Ok((token, counted))
    }

    async fn find(&self, secret: &Secret) -> Result<Option<(token::Model, Option<Window>)>, db::Error> {
        let hash = secret.hash();
        if self.counts {
            let column = token::Column::Hash;
            let found = self.db.one_and_count::<token::Entity>(column, hash.to_vec().into(), TOKEN, TOKEN_WINDOW);
            match found.await {
                // Counting is a write. If the database accepts no writes, the token can still be read.
                Err(error) if error.accepts_no_writes() => {}
                found => return Ok(found?.map(|(token, counted)| (token, Some(counted.into())))),
            }
        }
        let found = match &self.lookups {
            Some(lookups) => lookups.find(hash).await?,
            None => token::by_hash(self.db.read(), &hash).await?,
        };
        Ok(found.map(|token| (token, None)))
    }
}

/// The last use of a token, a session or a feed.
#[derive(Debug, Clone, Copy)]
pub enum LastUse {
    /// The id of a token, and the address of the client.
    Token(i64, IpAddr),
    /// The id of a session.
    Session(i64),
    /// The id of a feed.
    Feed(i64),
}

/// Records the last uses of tokens, sessions and feeds, one at a time, without delaying requests.
///
/// While commits stall, a write for each of them would occupy all connections that read tokens and sessions. A use is not
/// recorded while another one is: the next request with the same token or session records it.
pub struct LastUses {
    db: Db,
    /// Locked during a write.
    turn: Arc<Mutex<()>>,
}

impl LastUses {
    fn new(db: Db) -> Self {
        Self { db, turn: Arc::default() }
    }

    /// Records a use at `now` in the background, unless another one is being recorded.
    pub fn note(&self, used: LastUse, now: Timestamp) {
        let Ok(turn) = Arc::clone(&self.turn).try_lock_owned() else { return };
        let db = self.db.clone();
        tokio::spawn(async move {
            let _turn = turn;
            let noted = db.write(async |tx| match used {
                LastUse::Token(id, from) => token::note_use(tx, id, from, now).await,
                LastUse::Session(id) => session::note_use(tx, id, now).await,
                LastUse::Feed(id) => feed::note_use(tx, id, now).await,
            });
            let Err(error) = noted.await else { return };
            let error = error.reason();
            match used {
                LastUse::Token(id, _) => warn!(token = id, error, "the last use of a token cannot be noted"),
                LastUse::Session(id) => warn!(session = id, error, "the last use of a session cannot be noted"),
                LastUse::Feed(id) => warn!(feed = id, error, "the last use of a feed cannot be noted"),
            }
        });
    }
}

/// Returns the credential after `Bearer` or `Token`, the two schemes that clients use.
fn credential(headers: &HeaderMap) -> Result<&str, NoToken> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Err(NoToken::Absent) };
    let text = read_text(value.as_bytes()).filter(|_| values.next().is_none()).ok_or(NoToken::Malformed)?;
    let text = text::trim(text);
    let (scheme, credential) = text.split_once(text::is_blank).unwrap_or((text, ""));
    let known = ["Bearer", "Token"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    match text::trim(credential) {
        _ if !known && !text.is_empty() => Err(NoToken::Malformed),
        "" => Err(NoToken::Absent),
        credential => Ok(credential),
    }
}

/// The text of a header, without the no-break spaces that clients send in Latin-1 at its end.
fn read_text(value: &[u8]) -> Option<&str> {
    let end = value.iter().rposition(|byte| *byte != 0xa0).map_or(0, |last| last + 1);
    str::from_utf8(value).or_else(|_| str::from_utf8(&value[..end])).ok()
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

#[cfg(test)]
mod tests {
    use tokio::task::yield_now;

    use hyper::header::HeaderValue;

    use super::*;
    use crate::entity::audit::Actor;
    use crate::entity::user::{self, ProvisionedBy, Role};

    #[test]
    fn blanks_around_a_token_mean_nothing() {
        for header in [
            &b"Bearer rc_x"[..],
            b"Bearer\trc_x",
            b"bearer   rc_x ",
            "Bearer rc_x\u{a0}".as_bytes(),
            b"Bearer rc_x\xa0",
            "Token\u{a0}rc_x\u{200b}".as_bytes(),
            "\u{feff}Bearer \u{2003}rc_x".as_bytes(),
        ] {
            let value = HeaderValue::from_bytes(header).expect("a header");
            let headers = HeaderMap::from_iter([(header::AUTHORIZATION, value)]);
            assert_eq!(credential(&headers), Ok("rc_x"), "{header:?}");
        }
        let value = HeaderValue::from_bytes(b"Bearer \xff").expect("a header");
        assert_eq!(credential(&HeaderMap::from_iter([(header::AUTHORIZATION, value)])), Err(NoToken::Malformed));
    }

    #[tokio::test]
    async fn the_last_uses_of_tokens_and_sessions_are_recorded_one_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite://{}", folder.path().join("uses.db").display());
        let db = db::connect(&url).await.expect("a database");
        db::migrate(&db).await.expect("migrations");
        let now = Timestamp::now();
        let before = Timestamp::from_micros(now.as_micros() - 3_600_000_000);
        let made = db.write(async |tx| {
            token::create(tx, &Actor::command_line(), "CI", token::Scope::Read, None, before).await?;
            let ada = user::create(tx, "ada@example.com", None, Role::User, ProvisionedBy::CommandLine, before).await?;
            session::begin(tx, ada.id, None, before).await
        });
        let (key, session) = made.await.expect("a token and a session");
        let token = token::all(db.read()).await.expect("tokens")[0].id;
        let last_used = async || token::all(db.read()).await.expect("tokens")[0].last_used_at;
        let last_seen = async || {
            let found = session::by_key(db.read(), &key, now).await.expect("a read");
            found.map(|(session, _)| session.last_seen_at)
        };

        let uses = LastUses::new(db.clone());
        let writer = db.begin_write().await.expect("a transaction");
        uses.note(LastUse::Token(token, IpAddr::from([127, 0, 0, 1])), now);
        uses.note(LastUse::Session(session.id), now);
        drop(writer);
        while last_used().await.is_none() {
            yield_now().await;
        }
        // Begins after all writes that wait.
        drop(db.begin_write().await.expect("a transaction"));
        assert_eq!(last_seen().await, Some(before), "only the first is recorded");
        while last_seen().await != Some(now) {
            uses.note(LastUse::Session(session.id), now);
            yield_now().await;
        }
    }
}
