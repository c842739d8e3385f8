//! Links subjects of OpenID providers to users.
//!
//! An email address can pass from one person to another, but a subject cannot (OpenID Connect Core, section 5.7). So
//! the email address counts at the first sign-in only, and the subject after that.

use std::collections::HashSet;

use futures_util::future::BoxFuture;

use super::prelude::*;
use super::user;

super::table! {
    "identity", unrecorded, exported, Administrators;

    /// The issuer: the provider's name for itself.
    pub issuer: String,
    /// The provider's id for the person; unique within the issuer.
    pub subject: String,
    /// The user.
    pub user_id: i64,
    /// When the subject was linked to the user.
    pub created_at: Timestamp,
}

/// Finds the user that a subject is linked to.
pub fn user<'f>(
    db: &'f dyn ReadHandle,
    issuer: &'f str,
    subject: &'f str,
) -> BoxFuture<'f, Result<Option<user::Model>, db::Error>> {
    Box::pin(async move {
        let found =
            db.one(Entity::find().filter(Column::Issuer.eq(issuer)).filter(Column::Subject.eq(subject))).await?;
        let Some(identity) = found else { return Ok(None) };
        db.one(user::Entity::find_by_id(identity.user_id)).await
    })
}

/// Returns whether a subject of this issuer is linked to the user.
pub async fn is_known(db: &dyn ReadHandle, issuer: &str, user_id: i64) -> Result<bool, db::Error> {
    let known = Entity::find().filter(Column::UserId.eq(user_id)).filter(Column::Issuer.eq(issuer));
    Ok(db.one(known).await?.is_some())
}

/// Links a subject to a user. Returns the user that it is linked to now, which is another one if a concurrent request
/// was faster.
pub async fn remember(
    db: &dyn WriteHandle,
    issuer: &str,
    subject: &str,
    user_id: i64,
    now: Timestamp,
) -> Result<Option<user::Model>, db::Error> {
    let row = ActiveModel {
        issuer: Set(issuer.to_owned()),
        subject: Set(subject.to_owned()),
        user_id: Set(user_id),
        created_at: Set(now),
        ..Default::default()
    };
    let quicker = OnConflict::columns([Column::Issuer, Column::Subject]).do_nothing().to_owned();
    db.exec(Entity::insert(row).on_conflict(quicker)).await?;
    user(db, issuer, subject).await
}

/// Returns those of the users that are linked to a subject of any issuer.
pub async fn known(db: &dyn ReadHandle, users: impl IntoIterator<Item = i64>) -> Result<HashSet<i64>, db::Error> {
    let identities = db.all(Entity::find().filter(Column::UserId.is_in(users))).await?;
    Ok(identities.into_iter().map(|identity| identity.user_id).collect())
}

/// Removes all links to a user. Returns whether there were any.
pub async fn forget(db: &dyn WriteHandle, user_id: i64) -> Result<bool, db::Error> {
    Ok(db.exec(Entity::delete_many().filter(Column::UserId.eq(user_id))).await? > 0)
}
