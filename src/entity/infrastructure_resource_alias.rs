//! The names that an infrastructure resource answers to. Each belongs to one resource at a time; [`AliasTable`] gives them
//! out.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::alias::{AliasTable, Kind};

/// A row of `infrastructure_resource_alias`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "infrastructure_resource_alias")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The resource.
    pub infrastructure_resource_id: i64,
    /// The alias, matched exactly; unique.
    pub value: String,
    /// Where it comes from: somebody gave it.
    pub kind: Kind,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl AliasTable for Entity {
    type Owner = i64;
    const NOUN: &'static str = "infrastructure resource";
    const OWNER: Column = Column::InfrastructureResourceId;
    const VALUE: Column = Column::Value;
    const KIND: Column = Column::Kind;

    fn key(owner: &i64) -> i64 {
        *owner
    }
}
