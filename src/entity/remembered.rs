//! What servers remember for each other, and for the commands that run beside them: one text for each name.

use sea_orm::Set;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::OnConflict;
use serde::Deserialize;

use super::Timestamp;
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
    value(db, APP_URL).await
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

/// The name of the number of times that results of checks were stored.
const CHECK_ROUND: &str = "check_round";

/// The name of the time when all checks were last evaluated, in microseconds.
const CHECKED_AT: &str = "checked_at";

async fn value(db: &dyn ReadHandle, name: &str) -> Result<Option<String>, db::Error> {
    let row = db.all(Entity::find().filter(Column::Name.eq(name))).await?.pop();
    Ok(row.map(|row: Model| row.value))
}

/// The number of times that results of checks were stored.
pub async fn check_round(db: &dyn ReadHandle) -> Result<Option<String>, db::Error> {
    value(db, CHECK_ROUND).await
}

/// Counts that results of checks are stored. Returns whether none were stored since `round` was read.
pub async fn next_check_round(db: &dyn WriteHandle, round: Option<&str>) -> Result<bool, db::Error> {
    let next = round.and_then(|round| round.parse::<u64>().ok()).map_or(1, |round| round + 1);
    replace(db, CHECK_ROUND, round, next.to_string()).await
}

/// The time when all checks were last evaluated, in microseconds.
pub async fn checked_at(db: &dyn ReadHandle) -> Result<Option<String>, db::Error> {
    value(db, CHECKED_AT).await
}

/// Sets the time when all checks were last evaluated. Returns whether nobody else has set it since `at` was read.
pub async fn set_checked_at(db: &dyn WriteHandle, at: Option<&str>, now: Timestamp) -> Result<bool, db::Error> {
    replace(db, CHECKED_AT, at, now.as_micros().to_string()).await
}

/// Stores a value in place of `old`. Returns whether that was the value.
async fn replace(db: &dyn WriteHandle, name: &str, old: Option<&str>, new: String) -> Result<bool, db::Error> {
    let rows = match old {
        None => {
            let row = ActiveModel { name: Set(name.to_owned()), value: Set(new) };
            let only_new = OnConflict::column(Column::Name).do_nothing().to_owned();
            db.exec(Entity::insert(row).on_conflict(only_new)).await?
        }
        Some(old) => {
            let change = Entity::update_many().col_expr(Column::Value, Expr::value(new));
            db.exec(change.filter(Column::Name.eq(name)).filter(Column::Value.eq(old))).await?
        }
    };
    Ok(rows == 1)
}
