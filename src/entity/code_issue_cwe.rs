//! The known weaknesses (CWE) that a code issue is about.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::code_issue;
use super::field_rule::{FieldRule, FieldRules};
use super::text;
use crate::db::{Entry, Owner, RowOf, Table, Told};

/// A row of `code_issue_cwe`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "code_issue_cwe")]
pub struct Model {
    /// Primary key; never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The issue.
    pub code_issue_id: i64,
    /// `CWE-…`, as sent. The order of the ids is the order in which they were sent.
    pub identifier: String,
    /// The URL of its description.
    pub url: Option<String>,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Table for Entity {
    const TOLD: Told = Told::In("cwes");

    fn owner(row: &Model) -> Owner {
        Owner::Row(RowOf::new::<code_issue::Entity>(row.code_issue_id))
    }

    fn entry(row: &Model) -> Entry {
        Entry::text(&row.identifier)
    }
}

impl FieldRules for Entity {
    const FIELDS: &'static [FieldRule<Column>] = &[
        FieldRule::text("identifier", Column::Identifier, text::SHORT).required(),
        FieldRule::text("url", Column::Url, text::URL),
    ];
}
