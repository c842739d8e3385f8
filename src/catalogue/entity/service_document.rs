//! API documents of services, posted or pulled. Their texts are rows of `service_document_content`.

use super::prelude::*;
use super::service;

super::table! {
    "service_document", Alone("ServiceDocument"), |row| Owner::Row(RowOf::new::<service::Entity>(row.service_id));

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

super::called!(noun "API document");

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
