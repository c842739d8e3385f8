//! API documents of services, posted or pulled. Their texts are rows of `service_document_content`.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::Timestamp;
use super::service;
use crate::db::{Owner, RowOf, Table, Told};

/// A row of `service_document`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "service_document")]
pub struct Model {
    /// Primary key; never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The service.
    pub service_id: i64,
    /// The integration that it was posted to, or `None` if it was pulled. A service has at most one document per
    /// integration, and one that was pulled.
    pub integration_id: Option<i64>,
    /// The title that the document states.
    pub title: String,
    /// The format.
    pub format: Format,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Table for Entity {
    const TOLD: Told = Told::Alone("ServiceDocument");

    fn owner(row: &Model) -> Owner {
        Owner::Row(RowOf::new::<service::Entity>(row.service_id))
    }
}

/// The format of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// OpenAPI, as JSON or YAML.
    OpenApi,
    /// AsyncAPI, as JSON or YAML.
    AsyncApi,
    /// The GraphQL schema language.
    GraphQl,
    /// Markdown.
    Markdown,
}
