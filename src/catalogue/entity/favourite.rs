//! Favourites: the services that people have marked with a star. A star belongs to its person, and goes along with them or
//! with the service. It says nothing about the service, so it is not [recorded](crate::db::Told); the audit has the
//! mutation.

use sea_orm::sea_query::SelectStatement;

use super::prelude::*;
use super::{row_lock, user};
use crate::db::any;

/// The most favourites of a person.
pub const MOST: u64 = 200;

super::table! {
    "favourite", unrecorded, exported;

    /// The person.
    pub user_id: i64,
    /// The service; at most once for a person.
    pub service_id: i64,
    /// When the row was created.
    pub created_at: Timestamp,
}

/// Makes a service a favourite. Does nothing if it is one already.
///
/// # Errors
/// The person has [`MOST`] already.
pub async fn add(db: &Transaction, user_id: i64, service_id: i64) -> Result<()> {
    // Of two that are added at once, the second is counted with the first.
    row_lock::row::<user::Entity>(db, user_id, LockType::NoKeyUpdate).await?;
    let own = || Entity::find().filter(Column::UserId.eq(user_id));
    if db.count(own().filter(Column::ServiceId.eq(service_id))).await? > 0 {
        return Ok(());
    }
    if db.count(own()).await? >= MOST {
        return Err(UserError::base(format!("you can have at most {MOST} favourites; remove one first")).into());
    }
    let row = ActiveModel {
        user_id: Set(user_id),
        service_id: Set(service_id),
        created_at: Set(Timestamp::now()),
        ..Default::default()
    };
    db.insert(row).await?;
    Ok(())
}

/// Makes a service no favourite any more. Does nothing if it is none.
pub async fn remove(db: &Transaction, user_id: i64, service_id: i64) -> Result<(), db::Error> {
    let own = Entity::delete_many().filter(Column::UserId.eq(user_id)).filter(Column::ServiceId.eq(service_id));
    db.exec(own).await.map(drop)
}

/// Those of the services that are favourites of a person.
pub async fn among(db: &dyn ReadHandle, user_id: i64, services: &[i64]) -> Result<Vec<i64>, db::Error> {
    let own = Entity::find().select_only().column(Column::ServiceId).filter(Column::UserId.eq(user_id));
    db.rows(own.filter(any(db, Column::ServiceId, services)).as_query(), |row| row.get(0)).await
}

/// Selects the favourites of a person.
pub fn of_user(user_id: i64) -> SelectStatement {
    Query::select().column(Column::ServiceId).from(Entity).and_where(Column::UserId.eq(user_id)).take()
}
