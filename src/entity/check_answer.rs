//! What people answered to manual checks: at most one answer for each service and check.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::field_rule::{FieldRule, FieldRules};
use super::{Timestamp, check, service, text};
use crate::db::{Entry, Owner, RowOf, Table, Told, Word};

/// A row of `check_answer`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "check_answer")]
pub struct Model {
    /// Primary key; never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The check.
    pub check_id: i64,
    /// The service.
    pub service_id: i64,
    /// Who answered, if a person did.
    pub user_id: Option<i64>,
    /// Whether the service passes.
    pub passed: bool,
    /// Why.
    pub comment: Option<String>,
    /// When the answer was given.
    pub answered_at: Timestamp,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Table for Entity {
    const TOLD: Told = Told::In("checkAnswers");

    fn owner(row: &Model) -> Owner {
        Owner::Row(RowOf::new::<service::Entity>(row.service_id))
    }

    fn entry(row: &Model) -> Entry {
        // The time too: the same answer, given again, counts for longer.
        let answer = format!("{} at {}", if row.passed { "passed" } else { "failed" }, row.answered_at);
        let value = row.comment.as_ref().map_or(answer.clone(), |comment| format!("{answer}: {comment}"));
        Entry { name: vec![Word::NameOf(RowOf::new::<check::Entity>(row.check_id))], value: Some(value) }
    }
}

impl FieldRules for Entity {
    const FIELDS: &'static [FieldRule<Column>] = &[FieldRule::text("comment", Column::Comment, text::DESCRIPTION)];
}
