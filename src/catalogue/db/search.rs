//! Searches the names and aliases of services. A migration defines the tables and the query.

use futures_util::future::BoxFuture;
use sea_orm::DbBackend;

use super::{Backend, Bulk, Error, Ids, Prepared, Read, ReadHandle, Unrecorded, Write, WriteHandle, find};

/// The table of the index.
struct Index;

impl Unrecorded for Index {}

/// Writes the texts by which services are found. Replaces what was written for these services before. Each service must
/// occur only once.
pub(super) async fn write(db: &dyn WriteHandle, services: Vec<(i64, Vec<String>)>) -> Result<(), Error> {
    if services.is_empty() {
        return Ok(());
    }
    db.execute::<Index>(&migration::search::insert(db.backend(), services)).await.map(drop)
}

/// Derives both search indexes again, after many rows have been stored in bulk.
pub fn rebuild(db: &Bulk) -> BoxFuture<'_, Result<(), Error>> {
    Box::pin(async move {
        let mut prepared = Prepared::default();
        for table in ["service_search", "find_text"] {
            db.prepare(table, &mut prepared).await?;
        }
        migration::search::rebuild(db).await?;
        migration::find::rebuild(db).await?;
        db.complete(prepared).await?;
        take_statistics(db).await?;
        find::take_statistics(db).await
    })
}

/// Updates the statistics of the search table after many writes. PostgreSQL plans searches by them.
pub async fn take_statistics(db: &dyn WriteHandle) -> Result<(), Error> {
    if db.backend() == DbBackend::Postgres {
        db.script("ANALYZE service_search").await?;
    }
    Ok(())
}

/// The services whose name or an alias contains a text, ignoring case. The text must have at least one letter.
pub fn containing(db: &dyn Backend, text: &str) -> Ids {
    let (select, id) = migration::search::containing(db.backend(), text);
    Ids { select, id, may_repeat: false, page: None }
}

/// How many services [`page`] looks at, which takes about 2 ms.
const NEXT: u64 = 3_000;

/// Returns the first of the services that [`containing`] selects after an id, in the order of ids, if there are `full` of
/// them among the next few thousand services.
///
/// PostgreSQL would find and sort all: it expects few, because it takes the grams of a text for independent. SQLite reads
/// its index in the order of ids.
pub async fn page(db: &dyn ReadHandle, text: &str, after: i64, full: u64) -> Result<Option<Vec<i64>>, Error> {
    if db.backend() != DbBackend::Postgres {
        return Ok(None);
    }
    let next = migration::search::next_containing(text, after, NEXT, full);
    let ids: Vec<i64> = db.rows(&next, |row| row.get(0)).await?;
    Ok((ids.len() as u64 == full).then_some(ids))
}
