//! What servers remember for each other, and for the commands that run beside them: one text for each name.

use std::time::Duration;

use super::deploy::{Environments, PRODUCTION};
use super::prelude::*;
use super::token::Lifetimes;

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

crate::unrecorded!(Entity, left_out("where the other installation is reached, and what its server is told"));

/// The name of the address of the application: `--app-url` of the server that started last, or else where it listened.
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
    set(db, APP_URL, app_url.to_owned()).await
}

/// The name of the environments that count as production: `--production-environments` of the server that started last, as
/// a JSON list.
const PRODUCTION_ENVIRONMENTS: &str = "production_environments";

/// The environments that count as production for the server that started last, or by default if none has started. Whatever
/// evaluates checks asks here, so that a command means the same as the server.
pub async fn production(db: &dyn ReadHandle) -> Result<Environments, db::Error> {
    let known = value(db, PRODUCTION_ENVIRONMENTS).await?;
    let known = known.and_then(|known| serde_json::from_str::<Vec<String>>(&known).ok());
    Ok(Environments::production(&known.unwrap_or_else(|| PRODUCTION.map(str::to_owned).to_vec())))
}

/// Remembers the environments that count as production.
pub async fn set_production(db: &dyn WriteHandle, production: &Environments) -> Result<(), db::Error> {
    set(db, PRODUCTION_ENVIRONMENTS, serde_json::json!(production.keys()).to_string()).await
}

/// The name of how long tokens are valid: `--tokens-expire-after` and `--tokens-expire-within` of the server that started last,
/// in seconds, as a JSON list.
const TOKEN_LIFETIMES: &str = "token_lifetimes";

/// How long tokens are valid for the server that started last: for ever if none has started.
pub async fn token_lifetimes(db: &dyn ReadHandle) -> Result<Lifetimes, db::Error> {
    let known = value(db, TOKEN_LIFETIMES).await?;
    let known = known.and_then(|known| serde_json::from_str::<[Option<u64>; 2]>(&known).ok()).unwrap_or_default();
    let [default, most] = known.map(|seconds| seconds.map(Duration::from_secs));
    Ok(Lifetimes { default, most })
}

/// Remembers how long tokens are valid.
pub async fn set_token_lifetimes(db: &dyn WriteHandle, lifetimes: Lifetimes) -> Result<(), db::Error> {
    let Lifetimes { default, most } = lifetimes;
    let seconds = [default, most].map(|one| one.map(|one| one.as_secs()));
    set(db, TOKEN_LIFETIMES, serde_json::json!(seconds).to_string()).await
}

/// The name of the number of times that results of checks were stored.
const CHECK_ROUND: &str = "check_round";

/// The name of the time when all checks were last evaluated, in microseconds.
const CHECKED_AT: &str = "checked_at";

async fn value(db: &dyn ReadHandle, name: &str) -> Result<Option<String>, db::Error> {
    let row = db.all(Entity::find().filter(Column::Name.eq(name))).await?.pop();
    Ok(row.map(|row: Model| row.value))
}

/// Stores a value, whatever it was.
async fn set(db: &dyn WriteHandle, name: &str, value: String) -> Result<(), db::Error> {
    let row = ActiveModel { name: Set(name.to_owned()), value: Set(value) };
    let replace = OnConflict::column(Column::Name).update_column(Column::Value).to_owned();
    db.exec(Entity::insert(row).on_conflict(replace)).await.map(drop)
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

/// The name of the text that is written whenever a view is shared. Its value says nothing.
const SHARED_VIEWS: &str = "shared_views";

/// Lets one transaction at a time share views, until it ends: on PostgreSQL, others wait for the row that this writes.
pub async fn lock_shared_views(db: &dyn WriteHandle) -> Result<(), db::Error> {
    set(db, SHARED_VIEWS, String::new()).await
}

/// The name of the text that is written whenever the identity provider names a user. Its value says nothing.
const USER_NAMES: &str = "user_names";

/// Lets one transaction at a time name users, until it ends: no index compares the name of one with the address of another.
pub async fn lock_user_names(db: &dyn WriteHandle) -> Result<(), db::Error> {
    set(db, USER_NAMES, String::new()).await
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
