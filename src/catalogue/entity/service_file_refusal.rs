//! The refused service files that were told, until a file that describes the service is accepted.

use std::time::Duration;

use super::prelude::*;

/// A row of `service_file_refusal`: a service whose file was refused.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "service_file_refusal")]
pub struct Model {
    /// The service.
    #[sea_orm(primary_key, auto_increment = false)]
    pub service_id: i64,
    /// The hash of the file that was told last.
    pub content: String,
    /// When it was told.
    pub told_at: Timestamp,
}

/// Empty: related rows are read in batches, for example by [`ByIds`](super::ByIds).
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

crate::unrecorded!(Entity, left_out("who was told of the other installation is not told of this one"));

/// How long after a refusal that was told another one of the same service is told, at the earliest.
pub const PAUSE: Duration = Duration::from_secs(86_400);

impl Model {
    /// Whether the refusal of a file with this hash is told at `now`, after this one.
    pub fn is_followed_by(&self, content: &str, now: Timestamp) -> bool {
        let pause = i64::try_from(PAUSE.as_micros()).unwrap_or(i64::MAX);
        self.content != content && now.as_micros().saturating_sub(self.told_at.as_micros()) >= pause
    }
}

/// Marks a refusal as told, in place of the one that was told `before`. Returns whether nobody else did meanwhile.
pub async fn tell(
    db: &dyn WriteHandle,
    service_id: i64,
    content: &str,
    before: Option<&Model>,
    now: Timestamp,
) -> Result<bool, db::Error> {
    let told = match before {
        None => {
            let row = ActiveModel { service_id: Set(service_id), content: Set(content.to_owned()), told_at: Set(now) };
            let once = OnConflict::column(Column::ServiceId).do_nothing().to_owned();
            db.exec(Entity::insert_many([row]).on_conflict(once)).await?
        }
        Some(before) => {
            let update = Entity::update_many()
                .col_expr(Column::Content, Expr::value(content))
                .col_expr(Column::ToldAt, Expr::value(now))
                .filter(Column::ServiceId.eq(service_id))
                .filter(Column::ToldAt.eq(before.told_at));
            db.exec(update).await?
        }
    };
    Ok(told > 0)
}

/// Forgets what was told of these services: a file that describes them was accepted.
pub async fn forget(db: &dyn WriteHandle, services: &[i64]) -> Result<(), db::Error> {
    if services.is_empty() {
        return Ok(());
    }
    db.exec(Entity::delete_many().filter(db::any(db, Column::ServiceId, services))).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_file_is_told_after_a_pause_and_the_same_one_never() {
        let told = Model { service_id: 1, content: "a".to_owned(), told_at: Timestamp::from_micros(7) };
        let day = Timestamp::from_micros(7 + 86_400_000_000);
        assert!(told.is_followed_by("b", day));
        assert!(!told.is_followed_by("b", Timestamp::from_micros(day.as_micros() - 1)));
        assert!(!told.is_followed_by("a", day));
    }
}
