//! Services: what the catalogue is about.

use std::collections::HashMap;
use std::ops::Deref;

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::LockType;
use sea_orm::{ActiveValue, JoinType, QueryOrder, QuerySelect, QueryTrait, Set};
use serde::Deserialize;

use super::alias::{AliasTable, Kind};
use super::field_rule::{FieldRule, FieldRules, Reference, ValueRule};
use super::timestamp::touch;
use super::{Timestamp, row_lock, service_alias, service_search, text, tier};
use crate::db::{self, Read};
use crate::error::{Result, UserError};

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
    /// The system it belongs to.
    pub system_id: Option<i64>,
    /// What it is; `None`: what the default component type says.
    pub type_id: Option<i64>,
    /// The path of its API document in its repository.
    pub api_document_path: Option<String>,
    /// Which of its API documents to prefer: a word of the SDL's `ApiDocumentSourceEnum`.
    pub preferred_api_document_source: Option<String>,
    /// The name of the service file that governs the service; `None`: it is not locked.
    pub locked_by: Option<String>,
    /// How it came into the catalogue: `api`, `web`, `suggestion` or `service_file`; `None` for older rows.
    pub creation_source: Option<String>,
    /// The URL of the repository that the file is in, if it is known.
    pub locked_repository: Option<String>,
    /// The commit at which the file was applied last.
    pub locked_commit: Option<String>,
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
    const FIELDS: &'static [FieldRule<Column>] = &[
        FieldRule::text("name", Column::Name, text::SHORT).required(),
        FieldRule::text("description", Column::Description, text::DESCRIPTION),
        FieldRule::new("ownerInput", Column::OwnerId, ValueRule::Identified(Reference::Team)),
        FieldRule::new("tierAlias", Column::TierId, ValueRule::Named(Reference::Tier)),
        FieldRule::new("lifecycleAlias", Column::LifecycleId, ValueRule::Named(Reference::Lifecycle)),
        FieldRule::new("parent", Column::SystemId, ValueRule::Identified(Reference::System)),
        FieldRule::new("type", Column::TypeId, ValueRule::Identified(Reference::ComponentType)),
        FieldRule::text("product", Column::Product, text::SHORT),
        FieldRule::text("language", Column::Language, text::SHORT),
        FieldRule::text("framework", Column::Framework, text::SHORT),
        FieldRule::text("note", Column::Note, text::NOTE).not_in_files(),
    ];
}

/// What a picture shows of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The service.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// One of its aliases.
    pub slug: String,
    /// The place of its tier: the smallest is the most critical.
    pub tier: Option<i32>,
}

/// The labels of these services, in any order, without their long texts.
pub async fn labels(db: &impl Read, ids: &[i64]) -> Result<Vec<Label>, DbErr> {
    let select = Entity::find()
        .select_only()
        .columns([Column::Id, Column::Name, Column::Slug])
        .column(tier::Column::Index)
        .join(JoinType::LeftJoin, tier_of())
        .filter(db::any(db, Column::Id, ids));
    let label =
        |row: &db::Row<'_>| Ok(Label { id: row.get(0)?, name: row.get(1)?, slug: row.get(2)?, tier: row.get(3)? });
    db.rows(select.as_query(), label).await
}

/// How a service and its tier are joined.
fn tier_of() -> RelationDef {
    Entity::belongs_to(tier::Entity).from(Column::TierId).to(tier::Column::Id).into()
}

/// The ids of the services whose `column` holds this key, the oldest first, and at most `most`.
pub async fn ids_of(db: &impl Read, column: Column, key: i64, most: u64) -> Result<Vec<i64>, DbErr> {
    let ids = Entity::find().select_only().column(Column::Id).filter(column.eq(key));
    db.rows(ids.order_by_asc(Column::Id).limit(most).as_query(), |row| row.get(0)).await
}

/// A service that this transaction may write: nobody else changes, deletes or locks it before the transaction ends. What
/// writes a service, its aliases, its tags or its repositories asks for one.
///
/// There are three ways to one: [`writable`], for everybody but a service file; [`governed`], for service files; and
/// [`create`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writable(Model);

impl Deref for Writable {
    type Target = Model;

    fn deref(&self) -> &Model {
        &self.0
    }
}

impl From<Writable> for Model {
    fn from(service: Writable) -> Self {
        service.0
    }
}

/// Holds a service that was found in this transaction, and then looks whether it is locked. The other way round, a service
/// file could lock it in between.
///
/// # Errors
/// A service file governs the service.
pub async fn writable<C: ConnectionTrait>(db: &C, found: Model) -> Result<Writable> {
    let service = match db::has_one_writer(db) {
        true => found,
        false => row_lock::row::<Entity>(db, found.id, LockType::Update).await?,
    };
    match &service.locked_by {
        None => Ok(Writable(service)),
        Some(file) => {
            let message = format!("the service is locked: its service file {file} governs it; change it there");
            Err(UserError::new("locked", message).into())
        }
    }
}

/// Holds the services with these ids for a service file, locked or not, by their ids. Those that are gone are left out.
pub async fn governed<C: ConnectionTrait>(db: &C, ids: &[i64]) -> Result<HashMap<i64, Writable>, DbErr> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    // In one order, so that two who write many of them do not wait for each other.
    let held = Entity::find().filter(db::any(db, Column::Id, ids)).order_by_asc(Column::Id).lock(LockType::Update);
    Ok(held.all(db).await?.into_iter().map(|service| (service.id, Writable(service))).collect())
}

/// Unlocks a service.
pub async fn release<C: ConnectionTrait>(db: &C, service: &Writable) -> Result<Model, DbErr> {
    let mut row: ActiveModel = service.0.clone().into();
    (row.locked_by, row.locked_repository, row.locked_commit) = (Set(None), Set(None), Set(None));
    touch(&mut row.updated_at);
    row.update(db).await
}

impl super::ByAlias for Entity {
    async fn by_alias<C: Read>(db: &C, alias: &str) -> Result<Option<Model>, DbErr> {
        super::by_own_alias::<Entity, service_alias::Entity>(db, Column::Id, alias).await
    }
}

/// A service of this name that is not stored yet, and how it comes into the catalogue.
pub fn new(name: impl Into<String>, creation_source: &str) -> ActiveModel {
    let creation_source = Set(Some(creation_source.to_owned()));
    ActiveModel { name: Set(name.into()), creation_source, ..Default::default() }
}

/// Stores a new service, which has a name at least, and gives it the aliases that follow from its name.
pub async fn create<C: ConnectionTrait>(db: &C, row: ActiveModel) -> Result<Writable, DbErr> {
    let (name, now) = (row.name.try_as_ref().cloned().unwrap_or_default(), Timestamp::now());
    let row = ActiveModel { slug: Set(String::new()), created_at: Set(now), updated_at: Set(now), ..row };
    let service = Writable(row.insert(db).await?);
    let slug = claim_name(db, &service, &name).await?;
    let mut row: ActiveModel = service.0.into();
    row.slug = Set(slug);
    let service = row.update(db).await?;
    service_search::refresh(db, service.id).await?;
    Ok(Writable(service))
}

/// Changes a service to what `row` sets, and gives it the aliases of its new name, if it has one.
pub async fn update<C: ConnectionTrait>(db: &C, service: &Writable, mut row: ActiveModel) -> Result<Model, DbErr> {
    let name = if let ActiveValue::Set(name) = &row.name { Some(name.clone()) } else { None };
    if let Some(name) = &name {
        row.slug = Set(claim_name(db, service, name).await?);
    }
    touch(&mut row.updated_at);
    let service = row.update(db).await?;
    if name.is_some() {
        service_search::refresh(db, service.id).await?;
    }
    Ok(service)
}

/// Gives a service the aliases that follow from its name, a slug and the name itself where it is free, and answers the
/// slug. The caller changes the row, and then keeps what is [searched](service_search::refresh).
pub async fn claim_name<C: ConnectionTrait>(db: &C, service: &Writable, name: &str) -> Result<String, DbErr> {
    let slug = service_alias::Entity::claim_slug(db, service, name).await?;
    service_alias::Entity::claim(db, service, name, Kind::Name).await?;
    Ok(slug)
}
