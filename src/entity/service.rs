//! Services: what the catalogue is about.

use sea_orm::Set;
use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::alias::{AliasTable, Kind};
use super::{Timestamp, service_alias, service_search};
use crate::db::Read;

/// A row of `service`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "service")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The name as people write it; two services may share one.
    pub name: String,
    /// The slug of the present name; also a row of `service_alias`.
    pub slug: String,
    /// What the service does.
    pub description: Option<String>,
    /// The main programming language.
    pub language: Option<String>,
    /// The main framework.
    pub framework: Option<String>,
    /// The product the service is a part of.
    pub product: Option<String>,
    /// Free text beside the service.
    pub note: Option<String>,
    /// The team that owns it.
    pub owner_id: Option<i64>,
    /// Its tier.
    pub tier_id: Option<i64>,
    /// Its lifecycle.
    pub lifecycle_id: Option<i64>,
    /// The name of the service file that governs the service; `None`: it is not locked.
    pub locked_by: Option<String>,
    /// When the row was made.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// The service that has this alias, of whatever kind.
pub async fn by_alias<C: Read>(db: &C, alias: &str) -> Result<Option<Model>, DbErr> {
    super::by_alias::<Entity, service_alias::Entity>(db, Column::Id, alias).await
}

/// Creates a service with this name, the aliases that follow from it, and what else `fill` gives it.
pub async fn create<C: ConnectionTrait>(
    db: &C,
    name: String,
    fill: impl FnOnce(&mut ActiveModel),
) -> Result<Model, DbErr> {
    let now = Timestamp::now();
    let mut row = ActiveModel {
        name: Set(name.clone()),
        slug: Set(String::new()),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    fill(&mut row);
    let service = row.insert(db).await?;
    let slug = claim_name(db, service.id, &name).await?;
    let mut row: ActiveModel = service.into();
    row.slug = Set(slug);
    let service = row.update(db).await?;
    service_search::keep(db, service.id).await?;
    Ok(service)
}

/// Gives a service the aliases that follow from its name, a slug and the name itself where it is free, and answers the
/// slug. The caller changes the row, and then keeps what is [searched](service_search::keep).
pub async fn claim_name<C: ConnectionTrait>(db: &C, id: i64, name: &str) -> Result<String, DbErr> {
    let slug = service_alias::Entity::claim_slug(db, id, name).await?;
    service_alias::Entity::claim(db, id, name, Kind::Name).await?;
    Ok(slug)
}
