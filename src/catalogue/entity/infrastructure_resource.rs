//! Infrastructure that services run on: databases, queues, clusters and the like.

use super::prelude::*;
use super::repository;

super::table! {
    "infrastructure_resource", Alone("InfrastructureResource"), |row| Owner::team(row.owner_id);

    /// The type: the name of a built-in schema.
    pub r#type: String,
    /// The name, taken from `data`.
    pub name: String,
    /// A JSON object that conforms to the schema, as JSON text.
    pub data: String,
    /// The provider's name for this type of resource.
    pub provider_resource_type: Option<String>,
    /// The name of the provider.
    pub provider_name: Option<String>,
    /// The account at the provider.
    pub account_name: Option<String>,
    /// The URL at the provider.
    pub external_url: Option<String>,
    /// The team that owns it.
    pub owner_id: Option<i64>,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

super::rules![
    FieldRule::text("providerResourceType", Column::ProviderResourceType, text::SHORT),
    FieldRule::text("providerName", Column::ProviderName, text::SHORT),
    FieldRule::text("accountName", Column::AccountName, text::SHORT).required(),
    FieldRule::text("externalUrl", Column::ExternalUrl, text::URL).checked(repository::check_url),
    FieldRule::new("ownerId", Column::OwnerId, ValueRule::Id(Reference::Team)),
];
