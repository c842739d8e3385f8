//! Lifecycles: how far along a service is.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::field_rule::{FieldRule, FieldRules, ValueRule};
use super::text;
use crate::db::{self, Owner, ReadHandle, Table, Told};

/// A row of `lifecycle`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "lifecycle")]
pub struct Model {
    /// Primary key; never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The alias in the API; unique.
    pub alias: String,
    /// The display name.
    pub name: String,
    /// What the lifecycle means for a service.
    pub description: Option<String>,
    /// The position in the list.
    pub index: i32,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Table for Entity {
    const TOLD: Told = Told::Alone("Lifecycle");

    fn owner(_: &Model) -> Owner {
        Owner::Nobody
    }
}

impl FieldRules for Entity {
    const FIELDS: &'static [FieldRule<Column>] = &[
        FieldRule::text("name", Column::Name, text::SHORT).required(),
        FieldRule::text("alias", Column::Alias, text::SHORT).required(),
        FieldRule::text("description", Column::Description, text::DESCRIPTION),
        FieldRule::new("index", Column::Index, ValueRule::Place).required(),
    ];
}

impl super::ByAlias for Entity {
    async fn by_alias(db: &dyn ReadHandle, alias: &str) -> Result<Option<Model>, db::Error> {
        super::by_unique::<Entity>(db, Column::Alias, alias).await
    }
}
