//! Services, the main objects of the catalogue.

use std::collections::HashMap;
use std::ops::Deref;

use sea_orm::{ActiveValue, JoinType};

use super::alias::{AliasKind, AliasTable};
use super::prelude::*;
use super::{document_pull, service_alias, service_file_note, tier};
use crate::column_groups;
use crate::db::Omitted;

super::table! {
    "service";

    /// The display name; not unique.
    pub name: String,
    /// The slug of the current name; also a row of `service_alias`.
    pub slug: String,
    /// What the service does.
    pub description: Option<String>,
    /// The main programming language.
    pub language: Option<String>,
    /// The main framework.
    pub framework: Option<String>,
    /// The product the service is a part of.
    pub product: Option<String>,
    /// Free text about the service.
    pub note: Option<String>,
    /// The team that owns it.
    pub owner_id: Option<i64>,
    /// Its tier.
    pub tier_id: Option<i64>,
    /// Its lifecycle.
    pub lifecycle_id: Option<i64>,
    /// The system it belongs to.
    pub system_id: Option<i64>,
    /// The component type; `None` for the default one.
    pub type_id: Option<i64>,
    /// The path of its API document in its repository.
    pub api_document_path: Option<String>,
    /// The URL from which its API document is pulled. [`document_pull`] knows when.
    pub api_document_url: Option<String>,
    /// Which of its API documents is preferred: a value of the SDL's `ApiDocumentSourceEnum`.
    pub preferred_api_document_source: Option<String>,
    /// The name of the service file that governs the service; `None` if the service is not locked.
    pub locked_by: Option<String>,
    /// How the service was created: `api`, `web`, `suggestion` or `service_file`; `None` for older rows.
    pub creation_source: Option<String>,
    /// The URL of the service file's repository, if known.
    pub locked_repository: Option<String>,
    /// The commit from which the service file was last applied.
    pub locked_commit: Option<String>,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

impl Table for Entity {
    const TOLD: Told = Told::Alone("Service");
    const UNTOLD: &'static [Column] = &[Column::CreationSource];
    const GROUPS: &'static [Omitted] = column_groups! {
        about: Description, Language, Framework;
        details: Product, Note, ApiDocumentPath, ApiDocumentUrl, PreferredApiDocumentSource, CreationSource,
            LockedRepository, LockedCommit;
        keys: OwnerId, TierId, LifecycleId, SystemId, TypeId;
    };

    fn owner(row: &Model) -> Owner {
        Owner::team(row.owner_id)
    }
}

super::rules![
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
    FieldRule::text("apiDocumentUrl", Column::ApiDocumentUrl, text::URL).checked(document_pull::check_url),
    FieldRule::text("note", Column::Note, text::NOTE).not_in_files(),
];

/// A service's label in a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The service.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// One of its aliases.
    pub slug: String,
    /// The index of its tier. The smallest index is the most critical tier.
    pub tier: Option<i32>,
}

/// Reads the labels of these services, in any order. Does not read their long texts.
pub async fn labels(db: &dyn ReadHandle, ids: &[i64]) -> Result<Vec<Label>, db::Error> {
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

/// The join of a service and its tier.
pub(super) fn tier_of() -> RelationDef {
    Entity::belongs_to(tier::Entity).from(Column::TierId).to(tier::Column::Id).into()
}

/// Returns the ids of the services whose `column` holds this id: oldest first, and at most `most`.
pub async fn ids_of(db: &dyn ReadHandle, column: Column, key: i64, most: u64) -> Result<Vec<i64>, db::Error> {
    let ids = Entity::find().select_only().column(Column::Id).filter(column.eq(key));
    db.rows(ids.order_by_asc(Column::Id).limit(most).as_query(), |row| row.get(0)).await
}

/// A service that the current transaction may write. No other transaction can change, delete or lock the service until
/// this one ends. Code that writes a service, its aliases, its tags or its repositories requires this type.
///
/// There are three ways to obtain one: [`writable`], for everything but service files; [`lock_for_service_file`], for
/// service files; and [`create`].
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

/// Checks that no service file governs a service. The statement that read the row must have locked it
/// ([`db::Transaction::locking`], [`super::row_lock`]): otherwise a service file could start to govern the service after the
/// check.
///
/// # Errors
/// A service file governs the service.
pub fn writable(locked: Model) -> Result<Writable> {
    match &locked.locked_by {
        None => Ok(Writable(locked)),
        Some(file) => {
            let message = format!("the service is locked: its service file {file} governs it; change it there");
            Err(UserError::new("locked", message).into())
        }
    }
}

/// Locks the rows of these services for a service file, and returns the services by id. Accepts services that a service
/// file governs. Leaves out services that no longer exist.
pub async fn lock_for_service_file(db: &dyn ReadHandle, ids: &[i64]) -> Result<HashMap<i64, Writable>, db::Error> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    // In the order of their ids, so that two transactions that write many services cannot deadlock.
    let held = Entity::find().filter(db::any(db, Column::Id, ids)).order_by_asc(Column::Id).lock(LockType::Update);
    Ok(db.all(held).await?.into_iter().map(|service| (service.id, Writable(service))).collect())
}

/// Unlocks a service: no service file governs it any more.
pub async fn unlock(db: &dyn WriteHandle, service: &Writable) -> Result<Model, db::Error> {
    db.exec(service_file_note::Entity::delete_by_id(service.id)).await?;
    let mut row: ActiveModel = service.0.clone().into();
    (row.locked_by, row.locked_repository, row.locked_commit) = (Set(None), Set(None), Set(None));
    db.update(row).await
}

/// Builds a service with this name that is not stored yet. `creation_source` says how it is created.
pub fn new(name: impl Into<String>, creation_source: &str) -> ActiveModel {
    let creation_source = Set(Some(creation_source.to_owned()));
    ActiveModel { name: Set(name.into()), creation_source, ..Default::default() }
}

/// Stores a new service and gives it the aliases that follow from its name. `row` must have a name.
pub async fn create(db: &dyn WriteHandle, row: ActiveModel) -> Result<Writable, db::Error> {
    let (name, now) = (row.name.try_as_ref().cloned().unwrap_or_default(), Timestamp::now());
    let row = ActiveModel { slug: Set(String::new()), created_at: Set(now), updated_at: Set(now), ..row };
    let service = Writable(db.insert(row).await?);
    let slug = claim_name(db, &service, &name).await?;
    let mut row: ActiveModel = service.0.into();
    (row.slug, row.updated_at) = (Set(slug), Set(now));
    let service = db.update(row).await?;
    document_pull::follow(db, service.id, None, service.api_document_url.as_deref()).await?;
    Ok(Writable(service))
}

/// Updates a service with the values that `row` sets. If these include a name, also gives the service the aliases that
/// follow from it.
pub async fn update(db: &dyn WriteHandle, service: &Writable, mut row: ActiveModel) -> Result<Model, db::Error> {
    let url_before = service.api_document_url.as_deref();
    let name = if let ActiveValue::Set(name) = &row.name { Some(name.clone()) } else { None };
    if let Some(name) = &name {
        row.slug = Set(claim_name(db, service, name).await?);
    }
    let service = db.update(row).await?;
    document_pull::follow(db, service.id, url_before, service.api_document_url.as_deref()).await?;
    Ok(service)
}

/// Gives a service the aliases that follow from a name: a slug, and the name itself if it is free. Returns the slug.
/// The caller stores the slug in the row.
pub async fn claim_name(db: &dyn WriteHandle, service: &Writable, name: &str) -> Result<String, db::Error> {
    let slug = service_alias::Entity::claim_slug(db, service, name).await?;
    service_alias::Entity::claim(db, service, name, AliasKind::Name).await?;
    Ok(slug)
}
