//! Tags: keys with values on services, repositories, teams and users.
//!
//! The database keeps that exactly one of the four owners has a value, and that an owner has a key once.

use sea_orm::Set;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::OnConflict;
use serde::Deserialize;

use super::service::Writable;
use super::text;
use crate::error::UserError;

/// A row of `tag`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "tag")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The key.
    pub key: String,
    /// The value; may be empty.
    pub value: String,
    /// The service that carries it, or
    pub service_id: Option<i64>,
    /// the repository, or
    pub repository_id: Option<i64>,
    /// the team, or
    pub team_id: Option<i64>,
    /// the user.
    pub user_id: Option<i64>,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// What can carry tags, with its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner<'a> {
    /// A service.
    Service(&'a Writable),
    /// A repository.
    Repository(i64),
    /// A team.
    Team(i64),
    /// A user.
    User(i64),
}

impl Owner<'_> {
    /// The column that names an owner of this kind.
    pub fn column(self) -> Column {
        match self {
            Self::Service(_) => Column::ServiceId,
            Self::Repository(_) => Column::RepositoryId,
            Self::Team(_) => Column::TeamId,
            Self::User(_) => Column::UserId,
        }
    }

    /// The key of the owner.
    pub fn id(self) -> i64 {
        match self {
            Self::Service(service) => service.id,
            Self::Repository(id) | Self::Team(id) | Self::User(id) => id,
        }
    }
}

/// A tag's key: `^[a-z][0-9a-z_./\\-]*$`, at most [`text::TAG_KEY`] characters.
pub fn check_key(key: &str) -> Result<String, UserError> {
    let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_./\\-".contains(letter);
    if !key.starts_with(|first: char| first.is_ascii_lowercase()) || !key.chars().all(fits) {
        let rule = "key must begin with a lowercase letter and go on with lowercase letters, digits, _, -, ., / and \\";
        return Err(UserError::new("key", rule));
    }
    text::at_most("key", key, text::TAG_KEY)
}

/// A value of at most [`text::TAG_VALUE`] characters; it may be empty.
pub fn check_value(value: &str) -> Result<String, UserError> {
    text::at_most("value", value, text::TAG_VALUE)
}

/// A tag that is not stored yet. Storing it fails on the unique index when the owner has the key.
pub fn new(owner: Owner<'_>, key: String, value: String) -> ActiveModel {
    let mut tag = ActiveModel { key: Set(key), value: Set(value), ..Default::default() };
    tag.set(owner.column(), owner.id().into());
    tag
}

/// Gives the owner's tag with each of these keys the value, making the tag where there is none, in one statement. The
/// tags come in the order of the keys, which differ.
pub async fn assign<C: ConnectionTrait>(
    db: &C,
    owner: Owner<'_>,
    tags: Vec<(String, String)>,
) -> Result<Vec<Model>, DbErr> {
    if tags.is_empty() {
        return Ok(Vec::new());
    }
    let same_key = OnConflict::columns([Column::Key, owner.column()])
        .target_and_where(owner.column().is_not_null())
        .update_column(Column::Value)
        .to_owned();
    let keys: Vec<String> = tags.iter().map(|(key, _)| key.clone()).collect();
    let rows = tags.into_iter().map(|(key, value)| new(owner, key, value));
    let mut rows = Entity::insert_many(rows).on_conflict(same_key).exec_with_returning(db).await?;
    // No order is promised of what a statement returns.
    rows.sort_by_cached_key(|row| keys.iter().position(|key| *key == row.key));
    Ok(rows)
}
