//! Custom events: any JSON that a tool posts to the webhook of an integration of the type `customEvent`. The newest are
//! kept, as they were sent.

use futures_util::future::BoxFuture;

use super::attributes::Mistake;
use super::json;
use crate::db::{self, Db};
use crate::entity::{Timestamp, custom_event, integration};

/// The type of the integrations that take custom events: a value of the SDL's `EventIntegrationEnum`.
pub const CUSTOM: &str = "customEvent";

/// The longest payload, in bytes.
pub const LONGEST: usize = 1 << 20;

/// Reads a body as JSON of any kind. Also says what was mended in it.
///
/// # Errors
/// It is not JSON.
pub fn payload(body: &str) -> Result<(String, Vec<String>), Mistake> {
    let about = |detail| Mistake::about("body", detail);
    match json::checked(body) {
        Ok(event) if event.text.len() <= LONGEST => Ok((event.text.into_owned(), event.notes)),
        Ok(_) => Err(about(format!("the event is longer than {LONGEST} bytes"))),
        Err(wrong) => Err(about(format!("the body is not JSON: {wrong}"))),
    }
}

/// Records an event, and forgets the oldest of its endpoint. When this returns `true`, it is stored. `false` if the
/// endpoint was deleted meanwhile.
pub fn record(db: &Db, integration_id: i64, payload: String) -> BoxFuture<'_, Result<bool, db::Error>> {
    Box::pin(async move {
        db.write(async |transaction| {
            // The event would violate the foreign key.
            if integration::lock_present(transaction, &[integration_id]).await?.is_empty() {
                return Ok(false);
            }
            custom_event::record(transaction, integration_id, payload.clone(), Timestamp::now()).await?;
            Ok(true)
        })
        .await
    })
}
