//! The last responses of each deploy endpoint to posts that did not become deploys. They help people who set up a
//! pipeline. Posts that became deploys are not recorded here: the deploys themselves show that they arrived.

use super::prelude::*;

super::table! {
    "delivery", unrecorded, left_out("short-lived help in setting up a pipeline");

    /// The endpoint.
    pub integration_id: i64,
    /// When the endpoint responded.
    pub at: Timestamp,
    /// The status code of the response.
    pub status: i32,
    /// The body of the response, truncated.
    pub answer: String,
}

/// The number of rows kept per endpoint.
pub const KEPT: u64 = 20;

/// The maximum length of a stored body, in characters.
const ANSWER: usize = 1_000;

/// Records a response and removes the endpoint's oldest rows. Fails if the endpoint no longer exists.
pub async fn note(
    db: &dyn WriteHandle,
    integration_id: i64,
    status: u16,
    answer: &str,
    now: Timestamp,
) -> Result<(), db::Error> {
    let row = ActiveModel {
        integration_id: Set(integration_id),
        at: Set(now),
        status: Set(status.into()),
        // PostgreSQL cannot store NUL.
        answer: Set(answer.chars().filter(|letter| *letter != '\0').take(ANSWER).collect()),
        ..Default::default()
    };
    db.insert(row).await?;
    super::keep_newest::<Entity>(db, &Column::IntegrationId.eq(integration_id), Column::Id, KEPT).await
}

/// Returns the rows of an endpoint, newest first.
pub async fn latest(db: &dyn ReadHandle, integration_id: i64) -> Result<Vec<Model>, db::Error> {
    db.all(of_endpoint(integration_id).limit(KEPT)).await
}

fn of_endpoint(integration_id: i64) -> Select<Entity> {
    Entity::find().filter(Column::IntegrationId.eq(integration_id)).order_by_desc(Column::Id)
}
