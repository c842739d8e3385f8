//! API documents of services. Their texts are rows of `service_document_content`.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::Timestamp;

/// A row of `service_document`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "service_document")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The service.
    pub service_id: i64,
    /// What it was posted to; once per service.
    pub integration_id: i64,
    /// What it calls itself.
    pub title: String,
    /// What it is written in.
    pub format: Format,
    /// When the row was made.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// What a document is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// OpenAPI, as JSON or YAML.
    OpenApi,
    /// AsyncAPI, as JSON or YAML.
    AsyncApi,
    /// The schema language of GraphQL.
    GraphQl,
    /// Markdown.
    Markdown,
}
