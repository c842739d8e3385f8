//! Whom an OpenID provider means: one of its subjects is one of our users. An address can pass from one person to another, a
//! subject cannot (OpenID Connect Core, section 5.7), so after the first time the subject counts and not the address.

use std::collections::HashSet;

use sea_orm::Set;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::OnConflict;
use serde::Deserialize;

use super::{Timestamp, user};

/// A row of `identity`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "identity")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The provider, as it calls itself.
    pub issuer: String,
    /// Whom it means, in its own words; unique beside the issuer.
    pub subject: String,
    /// Who that is here.
    pub user_id: i64,
    /// When that was found out.
    pub created_at: Timestamp,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// Who the subject is here.
pub async fn user<C: ConnectionTrait>(db: &C, issuer: &str, subject: &str) -> Result<Option<user::Model>, DbErr> {
    let found = Entity::find().filter(Column::Issuer.eq(issuer)).filter(Column::Subject.eq(subject)).one(db).await?;
    let Some(identity) = found else { return Ok(None) };
    user::Entity::find_by_id(identity.user_id).one(db).await
}

/// Whether the provider knows the user, as whomever.
pub async fn is_known<C: ConnectionTrait>(db: &C, issuer: &str, user_id: i64) -> Result<bool, DbErr> {
    let known = Entity::find().filter(Column::UserId.eq(user_id)).filter(Column::Issuer.eq(issuer));
    Ok(known.one(db).await?.is_some())
}

/// Keeps that the subject is this user, and answers who it is now: somebody else may have been quicker to say so.
pub async fn remember<C: ConnectionTrait>(
    db: &C,
    issuer: &str,
    subject: &str,
    user_id: i64,
    now: Timestamp,
) -> Result<Option<user::Model>, DbErr> {
    let row = ActiveModel {
        issuer: Set(issuer.to_owned()),
        subject: Set(subject.to_owned()),
        user_id: Set(user_id),
        created_at: Set(now),
        ..Default::default()
    };
    let quicker = OnConflict::columns([Column::Issuer, Column::Subject]).do_nothing().to_owned();
    Entity::insert(row).on_conflict(quicker).exec_without_returning(db).await?;
    user(db, issuer, subject).await
}

/// Which of the users some provider knows.
pub async fn known<C: ConnectionTrait>(db: &C, users: impl IntoIterator<Item = i64>) -> Result<HashSet<i64>, DbErr> {
    let identities = Entity::find().filter(Column::UserId.is_in(users)).all(db).await?;
    Ok(identities.into_iter().map(|identity| identity.user_id).collect())
}

/// Forgets whom providers mean by the user, and says whether there was anything to forget.
pub async fn forget<C: ConnectionTrait>(db: &C, user_id: i64) -> Result<bool, DbErr> {
    Ok(Entity::delete_many().filter(Column::UserId.eq(user_id)).exec(db).await?.rows_affected > 0)
}
