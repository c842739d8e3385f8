//! Sign-in links. Each begins one session and expires after 15 minutes. The secret is part of the link's URL. Only its
//! hash is stored.

use futures_util::future::BoxFuture;
use sea_orm::sea_query::ExprTrait;

use super::key::Key;
use super::prelude::*;
use super::user;

super::table! {
    "sign_in_link", unrecorded, left_out("a secret that lasts minutes"), Administrators;

    /// SHA-256 of the secret, 32 bytes; unique.
    pub hash: Vec<u8>,
    /// The user it is for; `None` for whoever becomes the first administrator of the installation.
    pub user_id: Option<i64>,
    /// When the link was created.
    pub created_at: Timestamp,
    /// When the link expires.
    pub expires_at: Timestamp,
    /// When it was used.
    pub used_at: Option<Timestamp>,
}

/// How long a link is valid, in microseconds.
pub const LIFETIME_MICROS: i64 = 15 * 60 * 1_000_000;

/// The prefix of the paths of links.
pub const PATH: &str = "/sign-in/";

/// Returns the path of a link.
pub fn path(key: &Key) -> String {
    format!("{PATH}{}", key.reveal())
}

/// Creates a link for a user, or for the first administrator. Deletes earlier links for the same person.
///
/// # Errors
/// The user is deactivated.
pub fn create(db: &dyn WriteHandle, user_id: Option<i64>, now: Timestamp) -> BoxFuture<'_, Result<Key>> {
    Box::pin(async move {
        let of_same = match user_id {
            Some(id) => Column::UserId.eq(id),
            None => Column::UserId.is_null(),
        };
        if let Some(id) = user_id
            && let Some(why) = db.one(user::Entity::find_by_id(id)).await?.and_then(|user| user.refusal())
        {
            return Err(UserError::base(why).into());
        }
        db.exec(Entity::delete_many().filter(of_same)).await?;
        let key = Key::new()?;
        let row = ActiveModel {
            hash: Set(key.hash().to_vec()),
            user_id: Set(user_id),
            created_at: Set(now),
            expires_at: Set(Timestamp::from_micros(now.as_micros().saturating_add(LIFETIME_MICROS))),
            used_at: Set(None),
            ..Default::default()
        };
        db.insert(row).await?;
        Ok(key)
    })
}

/// Returns whether a link for the first administrator was created after `since`.
pub async fn first_was_made_since(db: &dyn ReadHandle, since: Timestamp) -> Result<bool, db::Error> {
    let of_first = Column::UserId.is_null().and(Column::CreatedAt.gt(since));
    Ok(db.one(Entity::find().filter(of_first)).await?.is_some())
}

/// Deletes the links for a user.
pub async fn void_all(db: &dyn WriteHandle, user_id: i64) -> Result<(), db::Error> {
    db.exec(Entity::delete_many().filter(Column::UserId.eq(user_id))).await.map(drop)
}

/// Finds the link of a secret. Returns `None` if the link cannot be used at `now`, or its user is deactivated.
pub fn by_key<'f>(
    db: &'f dyn ReadHandle,
    key: &'f Key,
    now: Timestamp,
) -> BoxFuture<'f, Result<Option<Model>, db::Error>> {
    Box::pin(async move {
        let link = db.one(Entity::find().filter(Column::Hash.eq(key.hash().to_vec()))).await?;
        let Some(link) = link.filter(|link| link.used_at.is_none() && now < link.expires_at) else { return Ok(None) };
        let is_void = match link.user_id {
            Some(id) => !db.one(user::Entity::find_by_id(id)).await?.is_some_and(|user| user.is_active()),
            // Once there is an administrator, a link for the first one is void.
            None => user::any_administrator(db).await?,
        };
        Ok((!is_void).then_some(link))
    })
}

/// Uses a link up. Of several concurrent callers, only one gets it.
pub async fn consume(db: &dyn WriteHandle, key: &Key, now: Timestamp) -> Result<Option<Model>, db::Error> {
    let Some(link) = by_key(db, key, now).await? else { return Ok(None) };
    let unused = Entity::update_many()
        .col_expr(Column::UsedAt, Expr::value(now))
        .filter(Column::Id.eq(link.id))
        .filter(Column::UsedAt.is_null());
    let taken = db.exec(unused).await? > 0;
    Ok(taken.then_some(link))
}
