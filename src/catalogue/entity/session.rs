//! Sessions of people who are signed in to the application. The secret is a cookie. Only its hash is stored.

use futures_util::future::BoxFuture;
use sea_orm::sea_query::ExprTrait;

use super::key::Key;
use super::prelude::*;
use super::user;

super::table! {
    "session", unrecorded, left_out("a secret that lasts hours");

    /// SHA-256 of the secret, 32 bytes; unique.
    pub hash: Vec<u8>,
    /// The signed-in user.
    pub user_id: i64,
    /// The browser's user agent.
    pub user_agent: Option<String>,
    /// When the session began.
    pub created_at: Timestamp,
    /// When the session was last used, approximately.
    pub last_seen_at: Timestamp,
    /// When the session ends, even if it is in use.
    pub expires_at: Timestamp,
    /// When the user's visit before this one ended; `None` if this is the first. See [`Model::visit_before`].
    pub last_visit_ended_at: Option<Timestamp>,
}

const MINUTE: i64 = 60 * 1_000_000;
const DAY: i64 = 24 * 60 * MINUTE;

/// How long a session lasts from its beginning, in microseconds.
pub const LIFETIME_MICROS: i64 = 30 * DAY;
/// How long a session lasts from its last use.
pub const IDLE_MICROS: i64 = 7 * DAY;
/// A use is written only if the stored one is at least this old.
const NOTED_EVERY_MICROS: i64 = 5 * MINUTE;
/// A visit ends when the session was not used for this long.
const BETWEEN_VISITS_MICROS: i64 = 60 * MINUTE;
/// The most sessions of a user. Another one ends the oldest.
pub const MOST: u64 = 100;
/// The maximum length of a stored user agent, in characters.
const USER_AGENT: usize = 255;

impl Model {
    /// Returns whether the session is valid at `now`.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        now < self.expires_at && now.as_micros().saturating_sub(self.last_seen_at.as_micros()) < IDLE_MICROS
    }

    /// Returns when the user's visit before that at `now` ended.
    pub fn visit_before(&self, now: Timestamp) -> Option<Timestamp> {
        let is_another = now.as_micros().saturating_sub(self.last_seen_at.as_micros()) >= BETWEEN_VISITS_MICROS;
        if is_another { Some(self.last_seen_at) } else { self.last_visit_ended_at }
    }

    /// Returns whether to write a use at `now`.
    pub fn is_use_worth_noting(&self, now: Timestamp) -> bool {
        now.as_micros().saturating_sub(self.last_seen_at.as_micros()) >= NOTED_EVERY_MICROS
    }
}

/// Begins a session, and stores the time in the user's row. Only this function returns the secret.
pub fn begin<'f>(
    db: &'f dyn WriteHandle,
    user_id: i64,
    user_agent: Option<&'f str>,
    now: Timestamp,
) -> BoxFuture<'f, Result<(Key, Model)>> {
    Box::pin(async move {
        let key = Key::new()?;
        let named = |agent: &str| text::cleaned(agent, USER_AGENT);
        let last = Entity::find().filter(Column::UserId.eq(user_id)).order_by_desc(Column::LastSeenAt);
        let before = match db.one(last).await? {
            Some(last) => last.visit_before(now),
            None => db.one(user::Entity::find_by_id(user_id)).await?.and_then(|user| user.last_sign_in_at),
        };
        let row = ActiveModel {
            hash: Set(key.hash().to_vec()),
            user_id: Set(user_id),
            user_agent: Set(user_agent.map(named)),
            created_at: Set(now),
            last_seen_at: Set(now),
            expires_at: Set(Timestamp::from_micros(now.as_micros().saturating_add(LIFETIME_MICROS))),
            last_visit_ended_at: Set(before),
            ..Default::default()
        };
        let row = db.insert(row).await?;
        let signed_in = user::Entity::update_many().col_expr(user::Column::LastSignInAt, Expr::value(now));
        db.exec(signed_in.filter(user::Column::Id.eq(user_id))).await?;
        Ok((key, row))
    })
}

/// Finds the session of a secret, and its user. Returns `None` if the session is not valid at `now`, or the user is
/// deactivated.
pub fn by_key<'f>(
    db: &'f dyn ReadHandle,
    key: &'f Key,
    now: Timestamp,
) -> BoxFuture<'f, Result<Option<(Model, user::Model)>, db::Error>> {
    Box::pin(async move {
        let found = db.one(Entity::find().filter(Column::Hash.eq(key.hash().to_vec()))).await?;
        let Some(session) = found.filter(|session| session.is_valid(now)) else { return Ok(None) };
        let user = db.one(user::Entity::find_by_id(session.user_id)).await?;
        Ok(user.filter(user::Model::is_active).map(|user| (session, user)))
    })
}

/// Writes that a session was used at `now`. Does nothing if the session no longer exists.
pub fn note_use(db: &dyn WriteHandle, id: i64, now: Timestamp) -> BoxFuture<'_, Result<(), db::Error>> {
    Box::pin(async move {
        let seen = || Expr::col(Column::LastSeenAt.as_column_ref());
        let is_another = seen().lte(Timestamp::from_micros(now.as_micros().saturating_sub(BETWEEN_VISITS_MICROS)));
        let before = Expr::case(is_another, seen()).finally(Expr::col(Column::LastVisitEndedAt.as_column_ref()));
        let update = Entity::update_many().col_expr(Column::LastVisitEndedAt, before.into());
        db.exec(update.col_expr(Column::LastSeenAt, Expr::value(now)).filter(Column::Id.eq(id))).await.map(drop)
    })
}

/// Returns the sessions of a user that are valid at `now`, newest first.
pub fn of_user(db: &dyn ReadHandle, user_id: i64, now: Timestamp) -> BoxFuture<'_, Result<Vec<Model>, db::Error>> {
    Box::pin(async move {
        let sessions = db.all(Entity::find().filter(Column::UserId.eq(user_id)).order_by_desc(Column::Id)).await?;
        Ok(sessions.into_iter().filter(|session| session.is_valid(now)).collect())
    })
}

/// Ends a session of a user. Returns whether it existed.
pub fn end(db: &dyn WriteHandle, user_id: i64, id: i64) -> BoxFuture<'_, Result<bool, db::Error>> {
    Box::pin(async move {
        let session = Entity::delete_many().filter(Column::Id.eq(id)).filter(Column::UserId.eq(user_id));
        Ok(db.exec(session).await? > 0)
    })
}

/// Ends all sessions of a user and returns their number.
pub async fn end_all(db: &dyn WriteHandle, user_id: i64) -> Result<u64, db::Error> {
    db.exec(Entity::delete_many().filter(Column::UserId.eq(user_id))).await
}

/// Deletes the sessions of a user that have expired at `now`, and makes room for another one among the [`MOST`] newest.
/// Sessions that ended because they were idle stay until then.
pub async fn make_room(db: &dyn WriteHandle, user_id: i64, now: Timestamp) -> Result<(), db::Error> {
    let own = Column::UserId.eq(user_id);
    db.exec(Entity::delete_many().filter(own.clone()).filter(Column::ExpiresAt.lte(now))).await?;
    super::keep_newest::<Entity>(db, &own, Column::Id, MOST - 1).await
}
