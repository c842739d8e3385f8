//! Who is on call for a service, as last reported by an on-call tool.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::field_rule::{FieldRule, FieldRules, ValueRule};
use super::service;
use super::{Timestamp, repository, text};
use crate::db::{Entry, Owner, RowOf, Table, Told};

/// A row of `on_call`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "on_call")]
pub struct Model {
    /// Primary key; never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The service.
    pub service_id: i64,
    /// The person's name.
    pub name: String,
    /// The person's email address, by which a user is found.
    pub external_email: Option<String>,
    /// The on-call schedule.
    pub schedule: Option<String>,
    /// The URL of the schedule.
    pub url: Option<String>,
    /// When the person's shift ends; `None` if unknown.
    pub ends_at: Option<Timestamp>,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Table for Entity {
    const TOLD: Told = Told::In("onCalls");

    fn owner(row: &Model) -> Owner {
        Owner::Row(RowOf::new::<service::Entity>(row.service_id))
    }

    fn entry(row: &Model) -> Entry {
        Entry::text(&row.name)
    }
}

impl FieldRules for Entity {
    const FIELDS: &'static [FieldRule<Column>] = &[
        FieldRule::text("name", Column::Name, text::SHORT).required(),
        FieldRule::text("externalEmail", Column::ExternalEmail, text::SHORT),
        FieldRule::text("schedule", Column::Schedule, text::SHORT),
        FieldRule::text("url", Column::Url, text::URL).checked(repository::check_url),
        FieldRule::new("endsAt", Column::EndsAt, ValueRule::Moment),
    ];
}
