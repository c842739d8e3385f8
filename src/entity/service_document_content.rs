//! The texts of API documents. They are stored separately, so that listing documents does not read them.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

/// A row of `service_document_content`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "service_document_content")]
pub struct Model {
    /// Primary key; never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The document; it has one text.
    pub document_id: i64,
    /// The text.
    pub content: String,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

crate::unrecorded!(Entity);
