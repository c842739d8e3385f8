//! Code issue projects: the units that a scanner scans.

use sea_orm::sea_query::ExprTrait;

use super::prelude::*;
use crate::db::{Following, Follows};

super::table! {
    "code_issue_project", Alone("CodeIssueProject"), Members;

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

// They go along with their integration.
impl Follows<super::integration::Entity> for Entity {
    const FROM: Following = Following::Deletion;
}

super::rules![
    FieldRule::text("externalId", Column::ExternalId, text::SHORT).required(),
    FieldRule::text("name", Column::Name, text::SHORT).required(),
    FieldRule::text("url", Column::ExternalUrl, text::URL),
];

/// Finds a project by its id in the source system.
pub async fn by_external_id(
    db: &dyn ReadHandle,
    integration_id: i64,
    external_id: &str,
) -> Result<Option<Model>, db::Error> {
    let key = Column::IntegrationId.eq(integration_id).and(Column::ExternalId.eq(external_id));
    db.one(Entity::find().filter(key)).await
}
