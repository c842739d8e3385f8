//! Which repositories a service's source is in.

use sea_orm::Set;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::OnConflict;
use serde::Deserialize;

use super::field_rule::{FieldRule, FieldRules};
use super::service::Writable;
use super::text;

/// A row of `service_repository`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "service_repository")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The service.
    pub service_id: i64,
    /// The repository.
    pub repository_id: i64,
    /// The folder of the repository that holds the service, without slashes at its ends; empty for all of it. Once for
    /// each service and repository.
    pub base_directory: String,
    /// What the link is called.
    pub display_name: Option<String>,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl FieldRules for Entity {
    const FIELDS: &'static [FieldRule<Column>] = &[
        FieldRule::text("baseDirectory", Column::BaseDirectory, text::SHORT),
        FieldRule::text("displayName", Column::DisplayName, text::SHORT),
    ];
}

/// A folder as it is stored.
pub fn folder(given: Option<String>) -> String {
    given.map(|folder| folder.trim_matches('/').to_owned()).unwrap_or_default()
}

/// Links a service to a repository, and answers the link; nothing when the two are linked already by this folder.
pub async fn link<C: ConnectionTrait>(
    db: &C,
    service: &Writable,
    repository: i64,
    base_directory: Option<String>,
    display_name: Option<String>,
) -> Result<Option<Model>, DbErr> {
    let row = ActiveModel {
        service_id: Set(service.id),
        repository_id: Set(repository),
        base_directory: Set(folder(base_directory)),
        display_name: Set(display_name),
        ..Default::default()
    };
    let pair = [Column::ServiceId, Column::RepositoryId, Column::BaseDirectory];
    let unless_linked = OnConflict::columns(pair).do_nothing().to_owned();
    let made = Entity::insert(row).on_conflict(unless_linked).exec_with_returning_many(db).await?;
    Ok(made.into_iter().next())
}
