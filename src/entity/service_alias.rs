//! Aliases of services. Each belongs to one service at a time; [`AliasTable`] assigns them.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::alias::{AliasTable, Kind};
use super::service;
use super::service::Writable;
use crate::db::{Entry, Owner, RowOf, Table, Told};

/// A row of `service_alias`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "service_alias")]
pub struct Model {
    /// Primary key; never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The service.
    pub service_id: i64,
    /// The alias, matched exactly; unique.
    pub value: String,
    /// The origin of the alias.
    pub kind: Kind,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Table for Entity {
    const TOLD: Told = Told::In("aliases");

    fn owner(row: &Model) -> Owner {
        Owner::Row(RowOf::to::<service::Entity>(row.service_id))
    }

    fn entry(row: &Model) -> Entry {
        Entry::text(&row.value)
    }
}

impl AliasTable for Entity {
    type Owner = Writable;
    const NOUN: &'static str = "service";
    const OWNER: Column = Column::ServiceId;
    const VALUE: Column = Column::Value;
    const KIND: Column = Column::Kind;

    fn key(owner: &Writable) -> i64 {
        owner.id
    }
}
