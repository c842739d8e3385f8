//! What a deploy endpoint answered to posts that did not become deploys: the last ones of each, for whoever sets up a
//! pipeline. A post that became a deploy tells of itself.

use sea_orm::entity::prelude::*;
use sea_orm::{QueryOrder, QuerySelect, Set};
use serde::Deserialize;

use super::Timestamp;

/// A row of `delivery`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "delivery")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The endpoint.
    pub integration_id: i64,
    /// When it was answered.
    pub at: Timestamp,
    /// The answer's status.
    pub status: i32,
    /// The answer's body, cut short.
    pub answer: String,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// So many are kept of each endpoint.
pub const KEPT: u64 = 20;

/// The longest answer that is kept, in characters.
const ANSWER: usize = 1_000;

/// Notes an answer, and forgets the oldest of the endpoint. One whose endpoint is gone by now is not noted.
pub async fn note<C: ConnectionTrait>(
    db: &C,
    integration_id: i64,
    status: u16,
    answer: &str,
    now: Timestamp,
) -> Result<(), DbErr> {
    let row = ActiveModel {
        integration_id: Set(integration_id),
        at: Set(now),
        status: Set(status.into()),
        // PostgreSQL takes no text with a null character.
        answer: Set(answer.chars().filter(|letter| *letter != '\0').take(ANSWER).collect()),
        ..Default::default()
    };
    row.insert(db).await?;
    let newest = of_endpoint(integration_id).select_only().column(Column::Id).offset(KEPT).limit(1);
    if let Some(oldest) = newest.into_tuple::<i64>().one(db).await? {
        let old = Entity::delete_many().filter(Column::IntegrationId.eq(integration_id)).filter(Column::Id.lte(oldest));
        old.exec(db).await?;
    }
    Ok(())
}

/// What is kept of an endpoint, the newest first.
pub async fn last<C: ConnectionTrait>(db: &C, integration_id: i64) -> Result<Vec<Model>, DbErr> {
    of_endpoint(integration_id).limit(KEPT).all(db).await
}

fn of_endpoint(integration_id: i64) -> Select<Entity> {
    Entity::find().filter(Column::IntegrationId.eq(integration_id)).order_by_desc(Column::Id)
}
