//! What a server remembers of its settings for the commands that run beside it: one text for each name.

use sea_orm::Set;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::OnConflict;
use serde::Deserialize;

use crate::db::{self, Read, ReadHandle, Write, WriteHandle};

/// A row of `remembered`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "remembered")]
pub struct Model {
    /// Primary key.
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    /// The text.
    pub value: String,
}

/// Empty: nothing refers to these rows.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

crate::unrecorded!(Entity);

/// The name of the address of the application: `--app-url` of the server that started last, if it had one.
const APP_URL: &str = "app_url";

/// Returns the address of the application, if the server that started last had one.
pub async fn app_url(db: &dyn ReadHandle) -> Result<Option<String>, db::Error> {
    let row = db.all(Entity::find().filter(Column::Name.eq(APP_URL))).await?.pop();
    Ok(row.map(|row: Model| row.value))
}

/// Forgets the address of the application.
pub async fn forget_app_url(db: &dyn WriteHandle) -> Result<(), db::Error> {
    db.exec(Entity::delete_by_id(APP_URL)).await.map(drop)
}

/// Remembers the address of the application.
pub async fn set_app_url(db: &dyn WriteHandle, app_url: &str) -> Result<(), db::Error> {
    let row = ActiveModel { name: Set(APP_URL.to_owned()), value: Set(app_url.to_owned()) };
    let replace = OnConflict::column(Column::Name).update_column(Column::Value).to_owned();
    db.exec(Entity::insert(row).on_conflict(replace)).await.map(drop)
}
