//! Feeds: what a feed reader may read for a user, by a token in the address that it asks. The token is shown once, when
//! it is made. Only its hash is stored.

use std::time::Duration;

use futures_util::future::BoxFuture;
use sea_orm::sea_query::{ExprTrait, Func};
use serde_json::json;

use super::audit::{self, Actor};
use super::key::Key;
use super::prelude::*;
use super::{row_lock, user};

super::table! {
    "feed", unrecorded, left_out("a secret, in the addresses of the installation that issued it");

    /// SHA-256 of the token, 32 bytes; unique.
    pub hash: Vec<u8>,
    /// The user it belongs to. It goes along with a deleted one.
    pub user_id: i64,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When it was last read, to about a day; `None` if never.
    pub last_used_at: Option<Timestamp>,
}

/// The prefix of the paths of feeds, before the token.
pub const PATH: &str = "/feeds/";

/// The most feeds of a user.
pub const MOST: u64 = 5;

/// A use is written only if the stored one is at least this old. Feed readers ask again and again.
const NOTED_EVERY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// How long a feed is kept that nobody reads, or that nobody has read since it was made.
pub const UNUSED: Duration = Duration::from_secs(180 * 24 * 60 * 60);

/// How old the stored use of a feed is, at least, when the feed is removed. It may have been read a little later than that
/// says.
pub const KEPT: Duration = UNUSED.saturating_add(Duration::from_micros(NOTED_EVERY_MICROS.unsigned_abs()));

impl Model {
    /// Returns whether to write a use at `now`.
    pub fn is_use_worth_noting(&self, now: Timestamp) -> bool {
        self.last_used_at.is_none_or(|last| now.as_micros().saturating_sub(last.as_micros()) >= NOTED_EVERY_MICROS)
    }
}

/// Makes a feed of a user and records that in the audit. Only this function returns the token.
///
/// # Errors
/// The user has [`MOST`] feeds already, or is deactivated.
pub fn create<'f>(
    db: &'f Transaction,
    actor: &'f Actor,
    user: &'f user::Model,
    now: Timestamp,
) -> BoxFuture<'f, Result<Key>> {
    Box::pin(async move {
        // Of two that are made at once, the second is counted with the first. Whoever deactivates the user waits, or came before.
        let user = row_lock::row::<user::Entity>(db, user.id, LockType::NoKeyUpdate).await?;
        if let Some(why) = user.refusal() {
            return Err(UserError::base(why).into());
        }
        if db.count(Entity::find().filter(Column::UserId.eq(user.id))).await? >= MOST {
            return Err(UserError::base(format!("a user can have at most {MOST} feeds; revoke one first")).into());
        }
        let key = Key::new()?;
        let row = ActiveModel {
            hash: Set(key.hash().to_vec()),
            user_id: Set(user.id),
            created_at: Set(now),
            last_used_at: Set(None),
            ..Default::default()
        };
        let made = db.insert(row).await?;
        audit::record(db, actor, "feedCreate", user.subject(), &json!({ "feed": made.id })).await?;
        Ok(key)
    })
}

/// Finds the feed of a token. A feed of somebody who is deactivated is none.
pub fn by_key<'f>(db: &'f dyn ReadHandle, key: &'f Key) -> BoxFuture<'f, Result<Option<Model>, db::Error>> {
    Box::pin(async move {
        let Some(feed) = super::by_unique::<Entity>(db, Column::Hash, key.hash().to_vec()).await? else {
            return Ok(None);
        };
        let user = db.one(user::Entity::find_by_id(feed.user_id)).await?;
        Ok(user.filter(user::Model::is_active).map(|_| feed))
    })
}

/// Returns the feeds of a user, newest first.
pub async fn of_user(db: &dyn ReadHandle, user_id: i64) -> Result<Vec<Model>, db::Error> {
    db.all(Entity::find().filter(Column::UserId.eq(user_id)).order_by_desc(Column::Id)).await
}

/// Revokes a feed of a user and records that in the audit. Returns whether it existed.
pub async fn revoke(db: &dyn WriteHandle, actor: &Actor, user: &user::Model, id: i64) -> Result<bool, db::Error> {
    let own = Entity::delete_many().filter(Column::Id.eq(id)).filter(Column::UserId.eq(user.id));
    if db.exec(own).await? == 0 {
        return Ok(false);
    }
    audit::record(db, actor, "feedRevoke", user.subject(), &json!({ "feed": id })).await?;
    Ok(true)
}

/// Revokes all feeds of a user for somebody else, and records that in the audit.
pub async fn revoke_for(db: &dyn WriteHandle, actor: &Actor, user: &user::Model) -> Result<(), db::Error> {
    let revoked = revoke_all(db, user.id).await?;
    if revoked > 0 {
        audit::record(db, actor, "feedsRevoke", user.subject(), &json!({ "revokedFeeds": revoked })).await?;
    }
    Ok(())
}

/// Revokes all feeds of a user and returns their number.
pub async fn revoke_all(db: &dyn WriteHandle, user_id: i64) -> Result<u64, db::Error> {
    db.exec(Entity::delete_many().filter(Column::UserId.eq(user_id))).await
}

/// Removes at most `most` feeds whose stored use, or whose making if there is none, is before a time. Returns their number.
pub async fn remove_unused(db: &dyn WriteHandle, before: Timestamp, most: u64) -> Result<u64, db::Error> {
    let last = || Expr::from(Func::coalesce([Column::LastUsedAt, Column::CreatedAt].map(ColumnTrait::into_expr)));
    let is_unused = || last().lt(Expr::value(before));
    let unused = Entity::find().select_only().column(Column::Id).filter(is_unused());
    let unused: Vec<i64> = db.rows(unused.order_by_asc(Column::Id).limit(most).as_query(), |row| row.get(0)).await?;
    // One that is read meanwhile stays.
    let own = Entity::delete_many().filter(db::any(db, Column::Id, &unused)).filter(is_unused());
    db.exec(own).await
}

/// Writes that a feed was read at `now`. Does nothing if it no longer exists.
pub fn note_use(db: &dyn WriteHandle, id: i64, now: Timestamp) -> BoxFuture<'_, Result<(), db::Error>> {
    Box::pin(async move {
        let update = Entity::update_many().col_expr(Column::LastUsedAt, Expr::value(now));
        db.exec(update.filter(Column::Id.eq(id))).await.map(drop)
    })
}
