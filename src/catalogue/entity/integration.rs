//! Integrations: the tools that push to the catalogue.

use data_encoding::HEXLOWER;
use futures_util::future::BoxFuture;
use serde::Serialize;

use super::prelude::*;
use crate::db::Secret;

super::table! {
    "integration", Alone("Integration"), Members;

    /// The kind: the SDL's `type`.
    #[sea_orm(column_name = "type")]
    pub kind: Kind,
    /// The display name.
    pub name: String,
    /// The secret last part of the webhook's URL, a UUID; `None` for kinds without a webhook.
    pub webhook_id: Option<Secret>,
    /// The kind of system that posts to a deploy endpoint: a value of the SDL's `EventIntegrationEnum`. `None` for
    /// `deploy`.
    pub event_type: Option<String>,
    /// When it was last connected.
    pub installed_at: Option<Timestamp>,
    /// The settings of a connection with a cloud or a cluster, as JSON. [`settings`](Model::settings) parses them.
    pub settings: Option<String>,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

super::called!(class "Integration");

super::rules![FieldRule::text("name", Column::Name, text::SHORT).required()];

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
    /// An AWS account.
    Aws,
    /// An Azure subscription.
    AzureResources,
    /// Google Cloud projects.
    GoogleCloud,
    /// A Kubernetes cluster.
    Kubernetes,
    /// A New Relic account.
    NewRelic,
}

impl Kind {
    /// The display name.
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

/// The settings of a connection with a cloud or a cluster. Secrets are not stored, because nothing here uses them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IntegrationSettings {
    /// AWS: the role to assume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iam_role: Option<String>,
    /// AWS: the external id to send with the role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// Whether tags determine the owner of a resource, even if the catalogue names another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags_override_ownership: Option<bool>,
    /// The keys of the tags that name an owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ownership_tag_keys: Option<Vec<String>>,
    /// AWS: the regions, unless all count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region_override: Option<Vec<String>>,
    /// Azure: the subscription.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscription_id: Option<String>,
    /// Azure: the tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// Azure: the application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Google Cloud: the service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_email: Option<String>,
    /// Kubernetes: what to read from the cluster, as YAML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extract_definition: Option<String>,
    /// Kubernetes: how to transform what was read, as YAML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transform_definition: Option<String>,
    /// New Relic: the base URL of its API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
}

impl Model {
    /// Parses the settings. Returns the default if they are missing or malformed.
    pub fn settings(&self) -> IntegrationSettings {
        self.settings.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }
}

/// Finds the integration whose webhook's URL ends in `webhook_id`.
pub fn by_webhook<'f>(db: &'f dyn ReadHandle, webhook_id: &'f str) -> BoxFuture<'f, Result<Option<Model>, db::Error>> {
    Box::pin(async move { super::by_unique::<Entity>(db, Column::WebhookId, webhook_id).await })
}

/// Returns the deploy endpoints, oldest first.
pub async fn deploy_endpoints(db: &dyn ReadHandle) -> Result<Vec<Model>, db::Error> {
    db.all(Entity::find().filter(Column::Kind.eq(Kind::Deploy)).order_by_asc(Column::Id)).await
}

/// Creates an integration. Kinds with a webhook get a URL that nobody can guess.
pub async fn create(db: &dyn WriteHandle, kind: Kind, name: String, now: Timestamp) -> Result<Model> {
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
    Ok(db.insert(row).await?)
}

/// Gives an integration that has a webhook another URL that nobody can guess. Nothing is found by the old one.
pub fn with_new_webhook(row: Model) -> Result<ActiveModel> {
    Ok(ActiveModel { webhook_id: Set(Some(random_uuid()?)), ..row.into() })
}

/// Finds a deploy endpoint.
pub async fn deploy_endpoint(db: &dyn ReadHandle, id: i64) -> Result<Option<Model>, db::Error> {
    db.one(Entity::find_by_id(id).filter(Column::Kind.eq(Kind::Deploy))).await
}

/// Deletes a deploy endpoint and returns it; `None` if there was none. Its deploys stay.
pub async fn delete_deploy_endpoint(db: &dyn WriteHandle, id: i64) -> Result<Option<Model>, db::Error> {
    let Some(endpoint) = deploy_endpoint(db, id).await? else { return Ok(None) };
    let deleted = db.exec(Entity::delete_by_id(id)).await? > 0;
    Ok(deleted.then_some(endpoint))
}

/// Returns those of the integrations that exist, and locks them against deletion until the transaction ends.
pub async fn lock_present(db: &dyn ReadHandle, ids: &[i64]) -> Result<Vec<i64>, db::Error> {
    let found = Entity::find().select_only().column(Column::Id).filter(db::any(db, Column::Id, ids));
    db.rows(found.lock(LockType::KeyShare).as_query(), |row| row.get(0)).await
}

/// Generates a UUID of version 4, which nobody can guess.
fn random_uuid() -> Result<Secret> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(Error::internal)?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = HEXLOWER.encode(&bytes);
    Ok(Secret::new([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")))
}

/// The prefix of the paths of deploy endpoints.
pub const WEBHOOKS: &str = "/integrations/deploy/";
/// The prefix of the paths of endpoints for API documents.
pub const DOCUMENTS: &str = "/integrations/document/";

/// Whether a response may hold the URL of a webhook.
pub fn holds_webhook(response: &str) -> bool {
    [WEBHOOKS, DOCUMENTS].iter().any(|path| response.contains(path))
}

/// Returns the path that deploys or API documents are posted to.
pub fn webhook_path(kind: Kind, webhook_id: &str) -> String {
    let start = if kind == Kind::ApiDoc { DOCUMENTS } else { WEBHOOKS };
    format!("{start}{webhook_id}")
}
