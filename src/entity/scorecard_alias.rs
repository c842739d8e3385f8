//! Aliases of scorecards. Each belongs to one scorecard at a time; [`AliasTable`] assigns them.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::alias::{AliasTable, Kind};
use super::scorecard;
use crate::db::{Entry, Owner, RowOf, Table, Told};

/// A row of `scorecard_alias`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "scorecard_alias")]
pub struct Model {
    /// Primary key; never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The scorecard.
    pub scorecard_id: i64,
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
        Owner::Row(RowOf::to::<scorecard::Entity>(row.scorecard_id))
    }

    fn entry(row: &Model) -> Entry {
        Entry::text(&row.value)
    }
}

impl AliasTable for Entity {
    type Owner = i64;
    const NOUN: &'static str = "scorecard";
    const OWNER: Column = Column::ScorecardId;
    const VALUE: Column = Column::Value;
    const KIND: Column = Column::Kind;

    fn key(owner: &i64) -> i64 {
        *owner
    }
}
