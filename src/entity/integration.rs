//! Integrations: the tools that push to the catalogue.

use data_encoding::HEXLOWER;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::LockType;
use sea_orm::{QueryOrder, QuerySelect, Set};
use serde::{Deserialize, Serialize};

use super::field_rule::{FieldRule, FieldRules};
use super::{Timestamp, text};
use crate::db::{self, Read};
use crate::error::{Error, Result};

/// A row of `integration`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "integration")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// What the tool may push: the SDL's `type`.
    #[sea_orm(column_name = "type")]
    pub kind: Kind,
    /// The name as people write it.
    pub name: String,
    /// The secret last part of a webhook's address, a UUID; `None` for kinds without one.
    pub webhook_id: Option<String>,
    /// What kind of system posts to a deploy endpoint: a word of the SDL's `EventIntegrationEnum`. `None` for `deploy`.
    pub event_type: Option<String>,
    /// When it was last connected.
    pub installed_at: Option<Timestamp>,
    /// What is set of a connection with a cloud or a cluster, as JSON: [`settings`](Model::settings) reads it.
    pub settings: Option<String>,
    /// When the row was made.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl FieldRules for Entity {
    const FIELDS: &'static [FieldRule<Column>] = &[FieldRule::text("name", Column::Name, text::SHORT).required()];
}

/// What an integration is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Receives deploys at a webhook.
    Deploy,
    /// Holds the code issue projects that a tool upserts.
    Custom,
    /// Receives API documents at a webhook.
    ApiDoc,
    /// An account at Amazon's cloud.
    Aws,
    /// A subscription at Microsoft's cloud.
    AzureResources,
    /// Projects at Google's cloud.
    GoogleCloud,
    /// A cluster.
    Kubernetes,
    /// An account at New Relic.
    NewRelic,
}

impl Kind {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deploy => "Deploy",
            Self::Custom => "Custom",
            Self::ApiDoc => "API documents",
            Self::Aws => "AWS",
            Self::AzureResources => "Azure",
            Self::GoogleCloud => "Google Cloud",
            Self::Kubernetes => "Kubernetes",
            Self::NewRelic => "New Relic",
        }
    }
}

/// What is set of a connection with a cloud or a cluster. Secrets are not kept: nothing here uses them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Amazon's role to take on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iam_role: Option<String>,
    /// What Amazon is told with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// Whether tags say who owns a resource, whatever the catalogue says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags_override_ownership: Option<bool>,
    /// The tags that name an owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ownership_tag_keys: Option<Vec<String>>,
    /// Amazon's regions, where not all count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region_override: Option<Vec<String>>,
    /// Azure's subscription.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscription_id: Option<String>,
    /// Azure's tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// Azure's application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Google's service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_email: Option<String>,
    /// What is read of a cluster, as YAML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extract_definition: Option<String>,
    /// What becomes of it, as YAML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transform_definition: Option<String>,
    /// Where New Relic is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
}

impl Model {
    /// What is set of a connection with a cloud or a cluster.
    pub fn settings(&self) -> Settings {
        self.settings.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }
}

/// The integration whose address ends in `webhook_id`.
pub async fn by_webhook<C: Read>(db: &C, webhook_id: &str) -> Result<Option<Model>, DbErr> {
    super::by_unique::<Entity>(db, Column::WebhookId, webhook_id).await
}

/// The deploy endpoints, the oldest first.
pub async fn deploy_endpoints<C: ConnectionTrait>(db: &C) -> Result<Vec<Model>, DbErr> {
    Entity::find().filter(Column::Kind.eq(Kind::Deploy)).order_by_asc(Column::Id).all(db).await
}

/// Makes an integration. One that receives something gets an address that nobody can guess.
pub async fn create<C: ConnectionTrait>(db: &C, kind: Kind, name: String, now: Timestamp) -> Result<Model> {
    let webhook_id = match kind {
        Kind::Deploy | Kind::ApiDoc => Some(random_uuid()?),
        _ => None,
    };
    let row = ActiveModel {
        kind: Set(kind),
        name: Set(name),
        webhook_id: Set(webhook_id),
        installed_at: Set(Some(now)),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    Ok(row.insert(db).await?)
}

/// Deletes a deploy endpoint and answers what it was, if there was one. Its deploys stay.
pub async fn delete_deploy_endpoint<C: ConnectionTrait>(db: &C, id: i64) -> Result<Option<Model>, DbErr> {
    let found = Entity::find_by_id(id).filter(Column::Kind.eq(Kind::Deploy)).one(db).await?;
    let Some(endpoint) = found else { return Ok(None) };
    let deleted = Entity::delete_by_id(id).exec(db).await?.rows_affected > 0;
    Ok(deleted.then_some(endpoint))
}

/// Which of these are there, and stay until the transaction ends.
pub async fn lock_present<C: ConnectionTrait>(db: &C, ids: &[i64]) -> Result<Vec<i64>, DbErr> {
    let found = Entity::find().select_only().column(Column::Id).filter(db::any(db, Column::Id, ids));
    found.lock(LockType::KeyShare).into_tuple().all(db).await
}

/// A UUID of version 4.
fn random_uuid() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(Error::internal)?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = HEXLOWER.encode(&bytes);
    Ok([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"))
}

/// What the paths of deploy endpoints begin with.
pub const WEBHOOKS: &str = "/integrations/deploy/";
/// What the paths of endpoints for API documents begin with.
pub const DOCUMENTS: &str = "/integrations/document/";

/// The path that deploys, or API documents, are posted to.
pub fn webhook_path(kind: Kind, webhook_id: &str) -> String {
    let start = if kind == Kind::ApiDoc { DOCUMENTS } else { WEBHOOKS };
    format!("{start}{webhook_id}")
}
