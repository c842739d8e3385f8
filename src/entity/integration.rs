//! Integrations: the tools that push to the catalogue.

use data_encoding::HEXLOWER;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::LockType;
use sea_orm::{QueryOrder, QuerySelect, Set};
use serde::Deserialize;

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
    /// The secret last part of a deploy endpoint's address, a UUID; `None` for the other kinds.
    pub webhook_id: Option<String>,
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
}

/// The deploy endpoint whose address ends in `webhook_id`.
pub async fn by_webhook<C: Read>(db: &C, webhook_id: &str) -> Result<Option<Model>, DbErr> {
    super::by_unique::<Entity>(db, Column::WebhookId, webhook_id).await
}

/// The deploy endpoints, the oldest first.
pub async fn deploy_endpoints<C: ConnectionTrait>(db: &C) -> Result<Vec<Model>, DbErr> {
    Entity::find().filter(Column::Kind.eq(Kind::Deploy)).order_by_asc(Column::Id).all(db).await
}

/// Makes an integration. One that receives deploys gets an address that nobody can guess.
pub async fn create<C: ConnectionTrait>(db: &C, kind: Kind, name: String, now: Timestamp) -> Result<Model> {
    let webhook_id = match kind {
        Kind::Deploy => Some(random_uuid()?),
        Kind::Custom => None,
    };
    let row = ActiveModel {
        kind: Set(kind),
        name: Set(name),
        webhook_id: Set(webhook_id),
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

/// The path that CI systems post the deploys of an endpoint to.
pub fn webhook_path(webhook_id: &str) -> String {
    format!("{WEBHOOKS}{webhook_id}")
}
