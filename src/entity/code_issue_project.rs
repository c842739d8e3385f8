//! Code issue projects: the units that a scanner scans.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::ExprTrait;
use serde::Deserialize;

use super::field_rule::{FieldRule, FieldRules};
use super::{Timestamp, text};
use crate::db::{self, Owner, Read, ReadHandle, Table, Told};

/// A row of `code_issue_project`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "code_issue_project")]
pub struct Model {
    /// Primary key; never reused.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The custom integration it belongs to.
    pub integration_id: i64,
    /// The id in the source system; unique within the integration.
    pub external_id: String,
    /// The name. A service or repository with the same name is connected to the project automatically.
    pub name: String,
    /// The URL of the project in the source system.
    pub external_url: Option<String>,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Table for Entity {
    const TOLD: Told = Told::Alone("CodeIssueProject");

    fn owner(_: &Model) -> Owner {
        Owner::Nobody
    }
}

impl FieldRules for Entity {
    const FIELDS: &'static [FieldRule<Column>] = &[
        FieldRule::text("externalId", Column::ExternalId, text::SHORT).required(),
        FieldRule::text("name", Column::Name, text::SHORT).required(),
        FieldRule::text("url", Column::ExternalUrl, text::URL),
    ];
}

/// Finds a project by its id in the source system.
pub async fn by_external_id(
    db: &dyn ReadHandle,
    integration_id: i64,
    external_id: &str,
) -> Result<Option<Model>, db::Error> {
    let key = Column::IntegrationId.eq(integration_id).and(Column::ExternalId.eq(external_id));
    db.one(Entity::find().filter(key)).await
}
