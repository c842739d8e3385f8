//! API tokens. The token itself is shown once, when it is created. Only its hash is stored.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use futures_util::future::BoxFuture;
use sea_orm::sea_query::SelectStatement;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::audit::{self, Actor, Subject};
use super::prelude::*;
use super::text::ENTRIES;
use super::{change, remembered};
use crate::db::Shape;

super::table! {
    "token", unrecorded, left_out("a secret, valid for the installation that issued it"), Administrators,
    untold(Hash, LastUsedAt, DescriptionKey);

    /// What the token is for.
    pub description: String,
    /// SHA-256 of the token, 32 bytes; unique.
    pub hash: Vec<u8>,
    /// What the token may do.
    pub scope: Scope,
    /// When the token expires; `None` if never.
    pub expires_at: Option<Timestamp>,
    /// When the token was last used, approximately; `None` if never.
    pub last_used_at: Option<Timestamp>,
    /// When the row was created.
    pub created_at: Timestamp,
    /// The name of who created it; `None` for older tokens.
    pub created_by: Option<String>,
    /// The first characters of the token; `None` for older tokens.
    pub prefix: Option<String>,
    /// The address of its last use, or the first of its IPv6 /64 network; `None` if never used since this is recorded.
    pub last_used_from: Option<String>,
    /// The form in which descriptions are compared; unique. `None` for older tokens, and for those that were replaced.
    pub description_key: Option<String>,
    /// When it became an event that the token expires soon.
    pub expiry_told_at: Option<Timestamp>,
}

/// Marks the tokens that expire between two times, and that were not marked before. Returns them.
pub async fn tell_expiring(db: &db::Transaction, from: Timestamp, to: Timestamp) -> Result<Vec<Model>, db::Error> {
    let tell = Entity::update_many()
        .col_expr(Column::ExpiryToldAt, Expr::value(from))
        .filter(Column::ExpiresAt.gt(from))
        .filter(Column::ExpiresAt.lt(to))
        .filter(Column::ExpiryToldAt.is_null());
    db.updated(tell).await
}

/// A use is written only if the stored one is at least this old. A write per request would cost more than the request.
const NOTED_EVERY_MICROS: i64 = 60 * 1_000_000;

impl Model {
    /// Returns whether the token is valid at `now`.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }

    /// Whether it was not replaced by another token.
    pub fn is_current(&self) -> bool {
        self.description_key.is_some() || !self.description.starts_with(REPLACED)
    }

    /// The token as the subject of an audit entry.
    fn subject(&self) -> Subject {
        Subject::new("Token", Some(self.id), &self.description)
    }

    /// Returns whether to write a use at `now`.
    pub fn is_use_worth_noting(&self, now: Timestamp) -> bool {
        self.last_used_at.is_none_or(|last| now.as_micros().saturating_sub(last.as_micros()) >= NOTED_EVERY_MICROS)
    }
}

/// How long the tokens of a server are valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lifetimes {
    /// How long one is valid of which nobody says it; `None` for ever.
    pub default: Option<Duration>,
    /// How long one is valid at most.
    pub most: Option<Duration>,
}

/// When a token is to expire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expiry {
    /// As the server is set.
    #[default]
    Default,
    /// Never.
    Never,
    /// After a time.
    After(Duration),
    /// At a point in time.
    At(Timestamp),
}

impl Lifetimes {
    /// The lifetimes of a server that is told these. The default is never longer than the maximum.
    pub fn new(default: Option<Duration>, most: Option<Duration>) -> Self {
        let default = match (default, most) {
            (Some(default), Some(most)) => Some(default.min(most)),
            (default, most) => default.or(most),
        };
        Self { default, most }
    }

    /// When a token that is made now is to expire; `None` if never.
    ///
    /// # Errors
    /// That is in the past, or later than a token may be valid: in a sentence.
    pub fn end(self, expiry: Expiry, now: Timestamp) -> Result<Option<Timestamp>, String> {
        let end = match expiry {
            Expiry::Default => self.default.map(|rest| after(now, rest)),
            Expiry::Never => None,
            Expiry::After(rest) => Some(after(now, rest)),
            Expiry::At(end) => Some(end),
        };
        if end.is_some_and(|end| end <= now) {
            return Err("a token must expire later than now".to_owned());
        }
        self.check(end, now)?;
        Ok(end)
    }

    /// Fails if a token that is made now would be valid for too long.
    fn check(self, end: Option<Timestamp>, now: Timestamp) -> Result<(), String> {
        match self.most {
            Some(most) if end.is_none_or(|end| end > after(now, most)) => {
                Err(format!("a token of this server is valid for at most {}; let it expire earlier", span(most)))
            }
            _ => Ok(()),
        }
    }
}

fn after(now: Timestamp, rest: Duration) -> Timestamp {
    let rest = i64::try_from(rest.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_micros(now.as_micros().saturating_add(rest))
}

/// A lifetime in words: in days, or in hours if these are not whole.
pub fn span(span: Duration) -> String {
    let hours = span.as_secs() / 3_600;
    match (hours / 24, hours % 24) {
        (1, 0) => "1 day".to_owned(),
        (days, 0) => format!("{days} days"),
        _ => format!("{hours} hours"),
    }
}

/// What a token may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Queries.
    Read,
    /// Also mutations, except those about users.
    Write,
    /// Every mutation.
    Admin,
    /// Users and groups, by SCIM, and nothing else.
    Scim,
    /// Nothing here: a newer version has stored a word that this one does not know. Never stored.
    #[serde(other)]
    Unknown,
}

/// A token as its owner holds it: `rc_`, 256 random bits and a checksum. Secret scanners recognise the prefix. The
/// checksum tells a mistyped token from a wrong one without asking the database.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// The SHA-256 hash of a token.
pub type Hash = [u8; 32];

const PREFIX: &str = "rc_";
/// 32 bytes in base64url.
const RANDOM_LENGTH: usize = 43;

impl Secret {
    /// A new token.
    pub fn new() -> Result<Self> {
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(Error::internal)?;
        let text = format!("{PREFIX}{}", BASE64URL_NOPAD.encode(&random));
        let checksum = checksum(&text);
        Ok(Self(text + &checksum))
    }

    /// Parses a token. Checks its form and its checksum.
    pub fn read(text: &str) -> Option<Self> {
        let (body, end) = text.split_at_checked(PREFIX.len() + RANDOM_LENGTH)?;
        (body.starts_with(PREFIX) && checksum(body) == end).then(|| Self(text.to_owned()))
    }

    /// The hash of the text. Only the hash is stored.
    pub fn hash(&self) -> Hash {
        Sha256::digest(&self.0).into()
    }

    /// The token itself, to show to its owner.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Returns a checksum of six characters.
fn checksum(text: &str) -> String {
    BASE64URL_NOPAD.encode(&Sha256::digest(text)[..4])
}

/// Returns the form in which descriptions are compared: in lower case.
fn description_key(description: &str) -> String {
    description.to_lowercase()
}

fn taken() -> UserError {
    UserError::new("description", "another token has this description; choose one that tells them apart")
}

/// Creates a token and records that in the audit. Only this function and [`rotate`] return a token.
///
/// # Errors
/// The description is empty, longer than 255 characters, or contains control characters; another token has it, in any
/// case of its letters; there are already [`ENTRIES`] tokens; or it would be valid for longer than the server allows.
pub fn create<'f>(
    db: &'f dyn WriteHandle,
    actor: &'f Actor,
    description: &'f str,
    scope: Scope,
    expires_at: Option<Timestamp>,
    now: Timestamp,
) -> BoxFuture<'f, Result<Secret>> {
    Box::pin(async move {
        let description = text::required("description", description, text::SHORT)?;
        let allowed = remembered::token_lifetimes(db).await?.check(expires_at, now);
        allowed.map_err(|message| UserError::new("expires", message))?;
        // Older tokens have no key.
        if all(db)
            .await?
            .iter()
            .any(|token| token.is_current() && description_key(&token.description) == description_key(&description))
        {
            return Err(taken().into());
        }
        let secret = Secret::new()?;
        let row = ActiveModel {
            description_key: Set(Some(description_key(&description))),
            created_by: Set(Some(text::cleaned(&actor.name, text::SHORT))),
            prefix: Set(Some(secret.reveal().chars().take(SHOWN).collect())),
            last_used_from: Set(None),
            expiry_told_at: Set(None),
            description: Set(description),
            hash: Set(secret.hash().to_vec()),
            scope: Set(scope),
            expires_at: Set(expires_at),
            last_used_at: Set(None),
            created_at: Set(now),
            ..Default::default()
        };
        let made = db.insert(row).await.map_err(|error| match error.violation() {
            Some(db::Constraint::Unique(_)) => Error::from(taken()),
            _ => error.into(),
        })?;
        if db.count(Entity::find()).await? > ENTRIES as u64 {
            return Err(
                UserError::base(format!("a catalogue can have at most {ENTRIES} tokens; delete one first")).into()
            );
        }
        let detail = json!({ "changed": change::between(None, Some(&made)) });
        audit::record(db, actor, "tokenCreate", made.subject(), &detail).await?;
        Ok(secret)
    })
}

/// The number of characters of a token that the list of tokens shows.
const SHOWN: usize = 8;

/// Replaces a token by a new one with the same description, scope and lifetime, or the longest that the server allows, and
/// records both in the audit. The old one stays valid until `end`, or until its own end if that is earlier. Returns
/// `None` if there is no such token.
///
/// # Errors
/// This version does not know the token's scope; the token has expired or was replaced before; or as [`create`].
pub fn rotate<'f>(
    db: &'f dyn WriteHandle,
    actor: &'f Actor,
    id: i64,
    end: Timestamp,
    now: Timestamp,
) -> BoxFuture<'f, Result<Option<Secret>>> {
    Box::pin(async move {
        let Some(old) = db.one(Entity::find_by_id(id)).await? else { return Ok(None) };
        if old.scope == Scope::Unknown {
            return Err(UserError::base(
                "this server does not know the scope of the token; rotate it with a newer version",
            )
            .into());
        }
        if !old.is_valid(now) || !old.is_current() {
            return Err(UserError::base("only a valid token that was not replaced can be rotated").into());
        }
        let lifetime = old.expires_at.map(|end| end.as_micros() - old.created_at.as_micros());
        let expires_at = lifetime.map(|lifetime| Timestamp::from_micros(now.as_micros().saturating_add(lifetime)));
        let latest = remembered::token_lifetimes(db).await?.most.map(|most| after(now, most));
        let expires_at = [expires_at, latest].into_iter().flatten().min();
        let (before, description, scope) = (old.clone(), old.description.clone(), old.scope);
        let end = old.expires_at.map_or(end, |own| Ord::min(own, end));
        let mut row: ActiveModel = old.into();
        row.description = Set(text::cleaned(&format!("{REPLACED}{description}"), text::SHORT));
        row.description_key = Set(None);
        row.expires_at = Set(Some(end));
        let replaced = db.update(row).await?;
        let detail = json!({ "changed": change::between(Some(&before), Some(&replaced)) });
        audit::record(db, actor, "tokenRotate", replaced.subject(), &detail).await?;
        create(db, actor, &description, scope, expires_at, now).await.map(Some)
    })
}

/// The beginning of the description of a token that was replaced.
pub const REPLACED: &str = "replaced: ";

/// Returns all tokens, oldest first.
pub async fn all(db: &dyn ReadHandle) -> Result<Vec<Model>, db::Error> {
    db.all(Entity::find().order_by_asc(Column::Id)).await
}

/// Deletes a token and records that in the audit. Returns whether it existed.
pub fn delete<'f>(db: &'f dyn WriteHandle, actor: &'f Actor, id: i64) -> BoxFuture<'f, Result<bool, db::Error>> {
    Box::pin(async move {
        let Some(token) = db.one(Entity::find_by_id(id)).await? else { return Ok(false) };
        if db.exec(Entity::delete_by_id(id)).await? == 0 {
            return Ok(false);
        }
        let detail = json!({ "changed": change::between(Some(&token), None) });
        audit::record(db, actor, "tokenDelete", token.subject(), &detail).await?;
        Ok(true)
    })
}

/// Writes that a token was used at `now` from an address. Does nothing if the token no longer exists.
pub fn note_use(db: &dyn WriteHandle, id: i64, from: IpAddr, now: Timestamp) -> BoxFuture<'_, Result<(), db::Error>> {
    Box::pin(async move {
        let update = Entity::update_many()
            .col_expr(Column::LastUsedAt, Expr::value(now))
            .col_expr(Column::LastUsedFrom, Expr::value(from.to_string()));
        db.exec(update.filter(Column::Id.eq(id))).await.map(drop)
    })
}

/// Finds the token with this hash, valid or not.
pub fn by_hash<'f>(db: &'f dyn ReadHandle, hash: &'f Hash) -> BoxFuture<'f, Result<Option<Model>, db::Error>> {
    Box::pin(async move { super::by_unique::<Entity>(db, Column::Hash, &hash[..]).await })
}

/// Finds the tokens with these hashes, valid or not. For PostgreSQL only: on SQLite, [`by_hash`] is quicker for each.
pub fn by_hashes<'f>(db: &'f dyn ReadHandle, hashes: &'f [Hash]) -> BoxFuture<'f, Result<Vec<Model>, db::Error>> {
    Box::pin(async move {
        fn by_values(_: &Shape, _: Option<Expr>) -> SelectStatement {
            let none: &[Hash] = &[];
            super::select::<Entity>(db::any_bytes(Column::Hash, none).0)
        }
        let (_, list) = db::any_bytes(Column::Hash, hashes);
        db.all_like::<Entity>(super::shape(by_values, &[Column::Hash]), vec![list]).await
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_token_is_read_back() {
        let secret = Secret::new().expect("randomness");
        assert_eq!(secret.reveal().len(), 52);
        assert_eq!(Secret::read(secret.reveal()), Some(secret));
    }

    #[test]
    fn a_mistyped_token_is_not_read() {
        let right = Secret::new().expect("randomness").reveal().to_owned();
        let swapped = if right.as_bytes()[10] == b'x' { "y" } else { "x" };
        let mistyped = format!("{}{swapped}{}", &right[..10], &right[11..]);
        for text in ["", "rc_", "é", &right[..51], &format!("{right}x"), &right.to_uppercase(), &mistyped] {
            assert_eq!(Secret::read(text), None, "{text}");
        }
        let umlauts = "ä".repeat(26);
        assert_eq!(Secret::read(&umlauts), None);
    }

    #[test]
    fn a_token_expires_when_it_is_said_or_as_the_server_is_set() {
        let day = |days: u64| Some(Duration::from_secs(days * 86_400));
        let now = Timestamp::from_micros(1_000_000);
        let at = |days: i64| Timestamp::from_micros(now.as_micros() + days * 86_400_000_000);
        let too_long = Err("a token of this server is valid for at most 90 days; let it expire earlier".to_owned());
        let past = Err("a token must expire later than now".to_owned());
        let later = Expiry::After(Duration::from_secs(91 * 86_400));
        for (default, most, expiry, expected) in [
            (None, None, Expiry::Default, Ok(None)),
            (day(30), None, Expiry::Default, Ok(Some(at(30)))),
            (day(30), None, Expiry::Never, Ok(None)),
            (day(30), None, later, Ok(Some(at(91)))),
            (None, day(90), Expiry::Default, Ok(Some(at(90)))),
            (day(365), day(90), Expiry::Default, Ok(Some(at(90)))),
            (day(30), day(90), Expiry::At(at(90)), Ok(Some(at(90)))),
            (day(30), day(90), Expiry::At(at(91)), too_long.clone()),
            (day(30), day(90), later, too_long.clone()),
            (day(30), day(90), Expiry::Never, too_long),
            (None, None, Expiry::At(now), past.clone()),
            (None, None, Expiry::After(Duration::ZERO), past),
            (None, None, Expiry::After(Duration::MAX), Ok(Some(after(now, Duration::MAX)))),
        ] {
            assert_eq!(Lifetimes::new(default, most).end(expiry, now), expected, "{default:?} {most:?} {expiry:?}");
        }
        assert_eq!([span(Duration::from_secs(86_400)), span(Duration::from_secs(36 * 3_600))], ["1 day", "36 hours"]);
    }
}
