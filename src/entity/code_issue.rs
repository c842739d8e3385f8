//! Code issues: what a scanner found.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::ExprTrait;

use super::Timestamp;
use crate::db::Read;

/// A row of `code_issue`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "code_issue")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The project it was found in.
    pub code_issue_project_id: i64,
    /// The id in the source system; unique within the project.
    pub external_id: String,
    /// The name as the source system writes it.
    pub name: String,
    /// The category its tool puts it in, as sent.
    pub issue_category: String,
    /// The type of problem, as sent.
    pub issue_type: Option<String>,
    /// How bad it is, as sent.
    pub severity: Option<String>,
    /// Where the issue is in the source system.
    pub external_url: Option<String>,
    /// When it came in.
    pub introduced_at: Option<Timestamp>,
    /// When the row was made.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// The issue that the source system calls `external_id`.
pub async fn by_external_id<C: Read>(
    db: &C,
    code_issue_project_id: i64,
    external_id: &str,
) -> Result<Option<Model>, DbErr> {
    let key = Column::CodeIssueProjectId.eq(code_issue_project_id).and(Column::ExternalId.eq(external_id));
    db.one(Entity::find().filter(key)).await
}
