//! The texts of API documents, apart from the documents, so that a list of those does not read them.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

/// A row of `service_document_content`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "service_document_content")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The document, which has one text.
    pub document_id: i64,
    /// The text.
    pub content: String,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
