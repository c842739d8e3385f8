//! What a saved filter asks of a service, in the order in which it was given.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

/// A row of `filter_predicate`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "filter_predicate")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The filter.
    pub filter_id: i64,
    /// What is compared: a word of the SDL's `PredicateKeyEnum`.
    pub key: String,
    /// Which of several: the key of a tag, the definition of a property.
    pub key_data: Option<String>,
    /// How it is compared: a word of the SDL's `PredicateTypeEnum`.
    pub r#type: String,
    /// What it is compared with.
    pub value: Option<String>,
    /// Whether the case of letters counts.
    pub case_sensitive: Option<bool>,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
