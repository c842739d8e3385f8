//! Sign-in links: each begins one session, within a quarter of an hour. The secret is part of the link's address; only
//! its hash is kept.

use sea_orm::Set;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::ExprTrait;
use serde::Deserialize;

use super::key::Key;
use super::{Timestamp, user};
use crate::error::Result;

/// A row of `sign_in_link`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "sign_in_link")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// SHA-256 of the secret, 32 bytes; unique.
    pub hash: Vec<u8>,
    /// Who it is for; `None`: whoever becomes the first administrator of the installation.
    pub user_id: Option<i64>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops being valid.
    pub expires_at: Timestamp,
    /// When it was used.
    pub used_at: Option<Timestamp>,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// A link is valid for so long.
pub const LIFETIME_MICROS: i64 = 15 * 60 * 1_000_000;

/// What the paths of links begin with.
pub const PATH: &str = "/sign-in/";

/// The path of a link.
pub fn path(key: &Key) -> String {
    format!("{PATH}{}", key.reveal())
}

/// Makes a link for a user, or for the first administrator. Links that were made for the same before are void.
pub async fn create<C: ConnectionTrait>(db: &C, user_id: Option<i64>, now: Timestamp) -> Result<Key> {
    let of_same = match user_id {
        Some(id) => Column::UserId.eq(id),
        None => Column::UserId.is_null(),
    };
    Entity::delete_many().filter(of_same).exec(db).await?;
    let key = Key::new()?;
    let row = ActiveModel {
        hash: Set(key.hash().to_vec()),
        user_id: Set(user_id),
        created_at: Set(now),
        expires_at: Set(Timestamp::from_micros(now.as_micros().saturating_add(LIFETIME_MICROS))),
        used_at: Set(None),
        ..Default::default()
    };
    row.insert(db).await?;
    Ok(key)
}

/// Whether a link for the first administrator was made since a moment.
pub async fn first_was_made_since<C: ConnectionTrait>(db: &C, since: Timestamp) -> Result<bool, DbErr> {
    let of_first = Column::UserId.is_null().and(Column::CreatedAt.gt(since));
    Ok(Entity::find().filter(of_first).one(db).await?.is_some())
}

/// The link of a secret, where it can be used at the moment `now`.
pub async fn by_key<C: ConnectionTrait>(db: &C, key: &Key, now: Timestamp) -> Result<Option<Model>, DbErr> {
    let link = Entity::find().filter(Column::Hash.eq(key.hash().to_vec())).one(db).await?;
    let Some(link) = link.filter(|link| link.used_at.is_none() && now < link.expires_at) else { return Ok(None) };
    // The first administrator is the first but once.
    if link.user_id.is_none() && user::any_administrator(db).await? {
        return Ok(None);
    }
    Ok(Some(link))
}

/// Uses a link up. Of several who try at once one gets it.
pub async fn take<C: ConnectionTrait>(db: &C, key: &Key, now: Timestamp) -> Result<Option<Model>, DbErr> {
    let Some(link) = by_key(db, key, now).await? else { return Ok(None) };
    let unused = Entity::update_many()
        .col_expr(Column::UsedAt, Expr::value(now))
        .filter(Column::Id.eq(link.id))
        .filter(Column::UsedAt.is_null());
    let taken = unused.exec(db).await?.rows_affected > 0;
    Ok(taken.then_some(link))
}
