//! The known vulnerabilities (CVE) that a code issue is about.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::field_rule::{FieldRule, FieldRules};
use super::text;

/// A row of `code_issue_cve`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "code_issue_cve")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The issue.
    pub code_issue_id: i64,
    /// `CVE-…`, as sent; the order of the ids is the order sent.
    pub identifier: String,
    /// Where it is described.
    pub url: Option<String>,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl FieldRules for Entity {
    const FIELDS: &'static [FieldRule<Column>] = &[
        FieldRule::text("identifier", Column::Identifier, text::SHORT).required(),
        FieldRule::text("url", Column::Url, text::URL),
    ];
}
