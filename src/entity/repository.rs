//! Repositories: where the source of services is kept.

use sea_orm::entity::prelude::*;

use super::Timestamp;

/// A row of `repository`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "repository")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The name, as `owner/name` where the host has owners.
    pub name: String,
    /// Host and name, `github.com:owner/name`; unique.
    pub default_alias: String,
    /// The branch that others start from.
    pub default_branch: Option<String>,
    /// Where the repository is on the web.
    pub url: Option<String>,
    /// Whether only invited people see it at its host.
    pub private: bool,
    /// Whether the catalogue lists it.
    pub visible: bool,
    /// When it was archived; `None`: it is in use.
    pub archived_at: Option<Timestamp>,
    /// When the row was made.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// The repository that has this alias.
pub async fn by_alias<C: ConnectionTrait>(db: &C, alias: &str) -> Result<Option<Model>, DbErr> {
    Entity::find().filter(Column::DefaultAlias.eq(alias)).one(db).await
}
